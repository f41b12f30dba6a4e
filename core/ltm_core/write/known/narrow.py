"""What is left of a fact that names several things when one of them is over: of "two cats, Olive and Bean" the cat
Bean, of "Netflix and Mubi" Netflix. English only; pure.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ltm_core.types import Fact
from ltm_core.write.known.match import singular
from ltm_core.write.known.mentions import content
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, trim

_SPACES = re.compile(r" {2,}")
_MOST_PARTS = 6


def remainder(fact: Fact, words: str, lexicon: Lexicon) -> Fact | None:
    """The fact without the things that ``words`` name as over; None when nothing would be left, or when it names but
    one thing. Which of several it was must be said: words that name none of them leave nothing."""
    value = fact.object
    if not value.isascii() or value not in fact.text:
        return None
    parts = lexicon.rules("en").parts
    own = fact.relation in lexicon.sets["own_words"] and value == fact.text
    lead = parts["listing_lead"].match(value) if own else None
    head = lead.end() if lead is not None else 0
    if own and lead is None:  # "have an Italian lesson, and Greek on Fridays", whose subject stands elsewhere
        lead = parts["listing_lead"].match(f"i {value}")
        head = max(0, lead.end() - 2) if lead is not None else 0
    if own and not head:
        return None
    listed = value[head:]
    if parts["one_named"].match(listed):
        return None
    cuts = list(parts["listing_joint"].finditer(listed))
    if not 0 < len(cuts) < _MOST_PARTS or parts["all_of_them"].search(words):
        return None
    edges = [0, *(e for m in cuts for e in m.span()), len(listed)]
    items = [listed[edges[i] : edges[i + 1]] for i in range(0, len(edges), 2)]
    group = parts["several_of"].match(items[0])
    if group is not None:
        items = [*([group["first"]] if group["first"] else []), *items[1:]]
    named = set(content(words, lexicon))
    kept = [item for item in items if not set(content(item, lexicon)) & named]
    if len(kept) == len(items) or not any(content(k, lexicon) for k in kept):
        return None
    if group is not None:
        one = f"a {singular(group['noun'])} called" if len(kept) == 1 else group["noun"]
        kept = [f"{one} {_joined(kept)}"]
    elif own and not parts["listing_noun"].match(kept[0]):
        head = value.find(" ") + 1  # "I train with the club and do the choir": the other has a verb of its own
    left = value[:head] + _joined(kept)
    return replace(
        fact,
        object=trim(left),
        object_normalized=fold(left),
        text=_SPACES.sub(" ", fact.text.replace(value, trim(left), 1)),
    )


def _joined(items: list[str]) -> str:
    items = [i.strip() for i in items]
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
