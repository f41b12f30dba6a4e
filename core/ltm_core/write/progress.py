"""How an order, a ticket, a contract stands, told right after its number ("工单 88213 处理完了")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from ltm_core.write.lexicon import Lexicon

_LONGEST = 60


def state_of(rest: str, language: str, lexicon: Lexicon) -> str | None:
    """The state that ``rest`` tells, in its words; None when it tells none.

    ``rest`` is what follows an identifier in its clause, whose question, condition or quotation were ruled out
    before. What equates ("is for my sister"), asks for something or speaks of a person's deeds is no state.
    """
    rules = _rules(lexicon).get(language)
    if rules is None or not rest.strip(" .。!！"):
        return None
    told = rules["says"].search(rest.rstrip(" .。!！~"))
    if told is None:
        return None
    state = told["state"].strip()
    ended = "ended" in rules and rules["ended"].search(rest.rstrip(" .。!！~"))
    if not ended and not rules["holds"].search(state):
        return None
    state = rules["trim"].sub("", state).strip()
    return state if 1 < len(state) <= _LONGEST or (state and language != "en") else None


def _rules(lexicon: Lexicon) -> Mapping[str, Mapping[str, re.Pattern[str]]]:
    words = sorted({w for s in lexicon.identifier_words.values() for w in s.split("|")}, key=len, reverse=True)
    rows = tuple((lang, tuple(rules.items())) for lang, rules in lexicon.progress.items())
    return _compiled(rows, "|".join(re.escape(w) for w in words if not w.isascii()))


@cache
def _compiled(
    rows: tuple[tuple[str, tuple[tuple[str, str], ...]], ...], words: str
) -> Mapping[str, Mapping[str, re.Pattern[str]]]:
    return {
        language: {name: re.compile(match.replace("{words}", words), re.I) for name, match in named}
        for language, named in rows
    }
