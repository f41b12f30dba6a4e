"""What a model says of some turns, as far as the turns hold it. Pure.

A sentence is dropped when it holds a number, an identifier or a name that none of its turns holds, or when most of
its words are not theirs. Nothing is mended: what is left stands as the model wrote it.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from ltm_core.keep.redaction import FILLER
from ltm_core.protocols import SummaryRequest, SummarySentence, SummaryTurn
from ltm_core.text.data import read, words
from ltm_core.text.normalize import clean, fold, nfkc
from ltm_core.text.sentences import sentences
from ltm_core.text.terms import terms

LONGEST = 600
"""Characters of one sentence of a summary."""
MOST = 24
"""Sentences of one summary."""
SHARE = 0.5
"""Share of the content words of a Latin sentence that its turns must hold."""
_FIGURE = re.compile(r"[A-Za-z0-9_]*\d(?:[\w.,:/@+#-]*\w)?")
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_HAN = re.compile(r"[㐀-鿿豈-﫿]+")


@cache
def tables() -> Mapping[str, Any]:
    """``lexicon/llm/summary.toml``."""
    return tomllib.loads(read("llm/summary.toml"))


def checked(
    said: str | Sequence[SummarySentence], request: SummaryRequest, rejected: Counter[str]
) -> tuple[SummarySentence, ...]:
    """The sentences that hold, each with the ids of the turns it rests on; why the others do not is counted."""
    given = [SummarySentence(text=t) for t in _split(said)] if isinstance(said, str) else list(said)
    turns = {t.id: t for t in request.turns}
    found: dict[str, SummarySentence] = {}
    for sentence in given:
        if not isinstance(sentence, SummarySentence) or not isinstance(sentence.text, str):
            rejected["malformed"] += 1
            continue
        text = " ".join(clean(sentence.text).split())
        why = "" if text else "empty"
        if len(text) > LONGEST or FILLER in text:
            why = "too long" if len(text) > LONGEST else "overwritten words"
        own = [turns[i] for i in dict.fromkeys(sentence.sources) if i in turns] or _resting(text, request.turns)
        why = why or ("rests on nothing" if not own else unsupported(text, own))
        if why:
            rejected[why] += 1
        else:
            found.setdefault(text, SummarySentence(text=text, sources=tuple(t.id for t in own)))
    over = list(found.values())[MOST:]
    if over:
        rejected["too many"] += len(over)
    return tuple(list(found.values())[:MOST])


def unsupported(text: str, turns: Sequence[SummaryTurn]) -> str:
    """Why the turns do not hold the sentence; "" when they do."""
    source = fold(" \n ".join(f"{t.speaker} {t.text}" for t in turns))
    days = {part for t in turns for part in (t.on.isoformat(), str(t.on.year), str(t.on.month), str(t.on.day))}
    folded = fold(text)
    if not _figures_hold(folded, source, days):
        return "a number that no turn holds"
    if not _number_words_hold(folded, source):
        return "a number that no turn holds"
    if not _names_hold(nfkc(text), source):
        return "a name that no turn holds"
    if not _han_holds(folded, source):
        return "words that no turn holds"
    own = [t for t in terms(text) if not _HAN.match(t)]
    held = set(terms(source))
    may = _may_begin()
    content = [t for t in own if t not in may]
    if content and sum(t in held for t in content) < SHARE * len(content):
        return "words that no turn holds"
    return ""


def _split(text: str) -> list[str]:
    return [s.of(text).lstrip("-*• ") for s in sentences(text[: LONGEST * MOST])]


def _resting(text: str, turns: Sequence[SummaryTurn]) -> list[SummaryTurn]:
    """The turns that share words with the sentence: all that share at least half of what the best one does."""
    own = set(terms(text))
    shares = [(len(own & set(terms(t.text))), t) for t in turns]
    best = max((n for n, _ in shares), default=0)
    return [t for n, t in shares if best and 2 * n >= best]


def _figures_hold(text: str, source: str, days: Iterable[str]) -> bool:
    known = set(_FIGURE.findall(source)) | set(days)
    numbers = {n for k in known for n in _NUMBER.findall(k)}
    for figure in _FIGURE.findall(text):
        if figure in known:
            continue
        # "2024-05-03" beside a turn of that day, "1,200" for "1200 euros": every run of digits is somebody's.
        letters = re.sub(r"[\d\W_]", "", figure)
        if letters or any(n not in numbers for n in _NUMBER.findall(figure)):
            return False
    return True


def _number_words_hold(text: str, source: str) -> bool:
    spelled = set(tables()["numbers"]["words"])
    there = set(_WORD.findall(source))
    if any(w in spelled and w not in there for w in _WORD.findall(text)):
        return False
    han = tables()["numbers"]["han"]
    return all(run in source for run in re.findall(f"[{han}]{{2,}}", text))


def _names_hold(text: str, source: str) -> bool:
    there = set(_WORD.findall(source)) | set(re.findall(r"[^\W\d_]+", source))
    stems = set(terms(source))
    may = _may_begin() | words("stopwords/en.txt")
    for m in _WORD.finditer(text):
        word = m[0]
        if not word[:1].isupper():
            continue
        bare = fold(re.sub(r"['’]s$", "", word))
        begins = (
            not text[: m.start()].strip(" \"'“‘(-*•") or text[: m.start()].rstrip(" \"'“‘(")[-1:] in ".!?。！？:："
        )
        if bare in there or (bare in may and (begins or len(bare) == 1)):
            continue
        if begins and any(t in stems for t in terms(bare)):
            continue
        return False
    return True


def _han_holds(text: str, source: str) -> bool:
    """Whether the Han characters are mostly those of the turns, and no name or place among them is new."""
    joins = tables()["joins"]
    for word in joins["words"]:
        if word not in source:
            text = text.replace(word, " ")
    total = held = 0
    for run in _HAN.findall(text):
        pairs = [run[i : i + 2] for i in range(len(run) - 1)]
        total += len(pairs)
        held += sum(p in source for p in pairs)
        for start, end in _new_runs(run, source):
            new = run[start:end]
            if len(new) >= 2 and (new[-1] in joins["suffixes"] or (len(new) <= 3 and new[0] in joins["surnames"])):
                return False
    return bool(held >= joins["share"] * total)


def _new_runs(run: str, source: str) -> list[tuple[int, int]]:
    """Stretches of characters of which no two neighbours stand together in the source."""
    known = [False] * len(run)
    for i in range(len(run) - 1):
        if run[i : i + 2] in source:
            known[i] = known[i + 1] = True
    out: list[tuple[int, int]] = []
    for i, k in enumerate(known):
        if k:
            continue
        if out and out[-1][1] == i:
            out[-1] = (out[-1][0], i + 1)
        else:
            out.append((i, i + 1))
    return out


@cache
def _may_begin() -> frozenset[str]:
    found = frozenset(tables()["may_begin"]["words"])
    return found | frozenset(t for w in found for t in terms(w))


__all__ = ["checked", "tables", "unsupported"]
