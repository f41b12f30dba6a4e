"""Labelled conversations against the whole write path: what is known afterwards, and what was taken for an anchor.

A story is one JSON object a line: ``id``, ``lang``, ``kind``, ``turns`` (``session``, ``at``, ``role``, ``text``),
``current`` (what must be true at the end: ``object_contains``, with ``subject`` and ``relation`` where they matter),
``not_current`` (what must not be), ``anchors`` (``turn``, ``kind``, ``contains``), ``not_anchors``,
``no_anchor_turns`` (turns that hold nothing worth keeping), ``no_facts`` (nothing may be known at the end).
Every list may be absent.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltm_core.errors import InvalidInputError
from ltm_core.lexicon import default_lexicon
from ltm_core.types import Anchor, Fact, Message

if TYPE_CHECKING:
    from ltm_core.embed.base import Embedder

USER = "story"
Story = Mapping[str, Any]


@dataclass(slots=True)
class Score:
    """Counts of one kind of story in one language. A share of nothing is 1."""

    stories: int = 0
    wanted: int = 0
    """Facts that must be current."""
    current: int = 0
    """Those of them that are."""
    ended: int = 0
    """Those that were known and ended, although nothing said so."""
    denied: int = 0
    """Facts that must not be current."""
    stale: int = 0
    """Those of them that are."""
    anchors: int = 0
    found: int = 0
    """Anchors wanted, and those of them found."""
    judged: int = 0
    false: int = 0
    """Anchors given in turns that say what is right, and those of them that are wrong."""
    crashes: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, other: Score) -> None:
        """The counts of both."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.failures += other.failures

    @property
    def recall(self) -> float:
        """Share of the facts that must be current and are."""
        return _share(self.current, self.wanted)

    @property
    def precision(self) -> float:
        """Share of the judged facts shown as current that are."""
        return _share(self.current, self.current + self.stale)

    @property
    def stale_share(self) -> float:
        """Share of the facts that must not be current and yet are."""
        return self.stale / self.denied if self.denied else 0.0

    @property
    def anchor_recall(self) -> float:
        """Share of the wanted anchors that were found."""
        return _share(self.found, self.anchors)

    @property
    def anchor_precision(self) -> float:
        """Share of the judged anchors that are right."""
        return _share(self.judged - self.false, self.judged)


_COUNTS = (
    "stories", "wanted", "current", "ended", "denied", "stale", "anchors", "found", "judged", "false", "crashes"
)  # fmt: skip


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def load(path: Path) -> Iterator[Story]:
    """The stories of a file; InvalidInputError names the first line that is none."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                story = json.loads(line)
                times = [datetime.fromisoformat(t["at"]) for t in story["turns"] if t["role"] and t["text"]]
                sound = bool(times) and all(t.tzinfo is not None for t in times)
                sound = sound and isinstance(story["lang"], str) and isinstance(story["kind"], str)
            except (ValueError, KeyError, TypeError, AttributeError):
                sound = False
            if not sound:
                raise InvalidInputError(f"line {number} is no story: it needs lang, kind and turns with dated text")
            yield story


def score_all(stories: Iterable[Story], *, embedder: Embedder | None = None) -> dict[tuple[str, str], Score]:
    """The score of every language and kind, by (lang, kind). Each story has a new, empty memory."""
    scores: dict[tuple[str, str], Score] = {}
    for story in stories:
        scores.setdefault((story["lang"], story["kind"]), Score()).add(score(story, embedder=embedder))
    return scores


def macro(scores: Mapping[tuple[str, str], Score], language: str) -> dict[str, float]:
    """Means over the kinds of a language, each kind counting once; sums where an event must not happen."""
    mine = [s for (lang, _), s in scores.items() if lang == language]

    def mean(name: str, counted: str) -> float:
        of = [getattr(s, name) for s in mine if getattr(s, counted)]
        return sum(of) / len(of) if of else 1.0

    return {
        "recall": mean("recall", "wanted"),
        "stale": sum(s.stale for s in mine) / max(1, sum(s.denied for s in mine)),
        "anchor_recall": mean("anchor_recall", "anchors"),
        "anchor_precision": mean("anchor_precision", "judged"),
        "collateral": float(sum(s.ended for s in mine)),
        "crashes": float(sum(s.crashes for s in mine)),
    }


def score(story: Story, *, embedder: Embedder | None = None) -> Score:
    """One story told to an empty memory, turn by turn, and what is known afterwards against its labels."""
    made = Score(stories=1)
    try:
        current, past, anchors = _told(story, embedder)
    except Exception as e:  # noqa: BLE001  whatever the memory raises is a crash to be counted
        made.crashes = 1
        made.wanted = len(story.get("current", ()))
        made.failures.append(f"{story.get('id', '')} crashed: {type(e).__name__}: {e}")
        return made
    _score_facts(story, current, past, made)
    _score_anchors(story, anchors, made)
    return made


def _told(story: Story, embedder: Embedder | None) -> tuple[list[Fact], list[Fact], dict[int, list[Anchor]]]:
    from ltm_core.memory import LongTermMemory

    now = datetime.fromisoformat(story["turns"][0]["at"])
    clock = [now]
    anchors: dict[int, list[Anchor]] = {}
    with (
        tempfile.TemporaryDirectory() as place,
        LongTermMemory.open(place, clock=lambda: clock[0], embedder=embedder, timezone="UTC") as memory,
    ):
        for number, turn in enumerate(story["turns"]):
            at = datetime.fromisoformat(turn["at"])
            clock[0] = max(clock[0], at)
            said = Message(role=turn["role"], content=turn["text"], at=at)
            seen = memory.observe(user_id=USER, session_id=turn.get("session", "s1"), messages=[said])
            anchors[number] = [a for a in seen.anchors if turn["role"] == "user"]
        current = list(memory.facts(user_id=USER))
        known = {f.id for f in current}
        past = [f for f in memory.facts(user_id=USER, include_superseded=True) if f.id not in known]
    return current, past, anchors


def _score_facts(story: Story, current: Sequence[Fact], past: Sequence[Fact], made: Score) -> None:
    name = story.get("id", "")
    for wanted in story.get("current", ()):
        made.wanted += 1
        if any(_fits(f, wanted) for f in current):
            made.current += 1
            continue
        made.failures.append(f"{name} not current: {_shown(wanted)}")
        if any(_fits(f, wanted) and f.modality != "past" and f.expires_at is None for f in past):
            made.ended += 1
            made.failures.append(f"{name} ended without cause: {_shown(wanted)}")
    for denied in story.get("not_current", ()):
        made.denied += 1
        if any(_fits(f, denied) for f in current):
            made.stale += 1
            made.failures.append(f"{name} still current: {_shown(denied)}")
    if story.get("no_facts"):
        made.denied += 1
        made.stale += bool(current)
        made.failures += [f"{name} knows: {f.subject}|{f.relation}|{f.object}" for f in current]


def _fits(fact: Fact, wanted: Mapping[str, Any]) -> bool:
    words = wanted["object_contains"]
    told = f"{fact.object}\n{fact.text}".casefold()
    subject, relation = wanted.get("subject"), wanted.get("relation")
    if relation == "lives_in" and fact.relation not in ("lives_in", "home", "about", "address"):
        return False
    if relation and relation != "lives_in" and fact.relation.split(":")[0] != relation.split(":")[0]:
        return False
    if subject and not _is_subject(fact.subject, subject):
        return False
    if wanted.get("polarity") == "positive" and not fact.is_positive:
        return False
    return all(w.casefold() in told for w in ([words] if isinstance(words, str) else words))


def _is_subject(held: str, wanted: str) -> bool:
    """Whether both name the same one; a relative may be known by name or by a narrower word as well."""
    if wanted == "user" or held == "user":
        return held == wanted
    one, two = held.casefold(), wanted.casefold()
    names = {two, *(r.kin[two] for r in default_lexicon().languages.values() if two in r.kin)}
    names |= {r.pets[two] for r in default_lexicon().languages.values() if two in r.pets}
    return any(one == n or one in n or n in one for n in names)


def _score_anchors(story: Story, given: Mapping[int, Sequence[Anchor]], made: Score) -> None:
    name = story.get("id", "")
    wanted = list(story.get("anchors", ()))
    for w in wanted:
        made.anchors += 1
        if any(_is_anchor(a, w) for a in given.get(w["turn"], ())):
            made.found += 1
            made.judged += 1
        else:
            made.failures.append(f"{name} no {w['kind']} in turn {w['turn']}: {w.get('contains', '')}")
    for turn in story.get("no_anchor_turns", ()):
        for a in given.get(turn, ()):
            made.judged += 1
            made.false += 1
            made.failures.append(f"{name} {a.kind} in turn {turn}: {a.text}")
    for w in story.get("not_anchors", ()):
        if any(_is_anchor(a, w) for a in given.get(w["turn"], ())):
            made.judged += 1
            made.false += 1
            made.failures.append(f"{name} {w['kind']} in turn {w['turn']}: {w.get('contains', '')}")


def _is_anchor(anchor: Anchor, wanted: Mapping[str, Any]) -> bool:
    return anchor.kind == wanted["kind"] and wanted.get("contains", "").casefold() in anchor.text.casefold()


def _shown(wanted: Mapping[str, Any]) -> str:
    words = wanted["object_contains"]
    parts = [
        wanted.get("subject") or "",
        wanted.get("relation") or "",
        words if isinstance(words, str) else "&".join(words),
    ]
    return "|".join(parts)


def table(scores: Mapping[tuple[str, str], Score]) -> Iterator[str]:
    """The scores as lines of text: a row per language and kind, then the means of each language."""
    head = f"{'':<9}{'kind':<18}{'n':>4}  {'current':>8} {'stale':>7} {'collat.':>7}"
    yield f"{head}  {'anchors R':>9} {'P':>6}  crashes"
    for (language, kind), s in sorted(scores.items()):
        yield (
            f"{language:<9}{kind:<18}{s.stories:>4}  {s.current:>3}/{s.wanted:<4} {s.stale:>3}/{s.denied:<3} "
            f"{s.ended:>7}  {s.found:>4}/{s.anchors:<4} {s.anchor_precision:>6.3f}  {s.crashes}"
        )
    for language in sorted({k[0] for k in scores}):
        m = macro(scores, language)
        yield (
            f"{language:<9}macro: current {m['recall']:.3f}  stale {m['stale']:.3f}  collateral "
            f"{m['collateral']:.0f}  anchors R {m['anchor_recall']:.3f} P {m['anchor_precision']:.3f}  "
            f"crashes {m['crashes']:.0f}"
        )
