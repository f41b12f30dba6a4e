"""The rows that the nets of `ltm_core.write.learned.weighing` learn from: what speaks for and against a sentence
ending a fact, with whether it does.

Every story that is learned from is told to a memory, turn by turn, and every pair of a fact and a later sentence that
ends or only touches it (``turns_near``, ``turns_over``, ``turns_close_*``); before what a turn may end is decided by
the nets, their numbers are written down for each known fact. Part of it is told to one who has told of other matters
before, so that the nets see facts that a sentence has nothing to do with. The nets of news that are asked meanwhile
have not learned from the file: those that have are far too sure of it.
"""

from __future__ import annotations

import datetime as dt
import json
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any
from unittest import mock

from gate_data import fold_of
from news_data import _ending_turns, story_files
from numpy.typing import NDArray

from ltm_core.embed.base import Embedder
from ltm_core.embed.resolve import resolve_embedder
from ltm_core.lexicon import default_lexicon
from ltm_core.memory import LongTermMemory
from ltm_core.stories import _fits, load
from ltm_core.types import Fact, Message
from ltm_core.write import statements
from ltm_core.write.endings.weighed import compared
from ltm_core.write.known.known import Known
from ltm_core.write.known.news import make_news
from ltm_core.write.plan import Candidate, Decision
from ltm_core.write.resolve import resolve

KINDS = (
    "supersede", "accumulate", "cessation", "reversal", "correction", "aba", "temporary", "late", "third_party",
    "crossref", "status", "dedup", "numbers", "collateral",
)  # fmt: skip
"""Kinds of stories that say of a known fact whether a later turn ends it; requests to forget end nothing by news."""
PAIRS = ("turns_near", "turns_over", "turns_close")
"""Files of pairs of which some end a fact and others only touch it."""
OTHER_MATTERS = 4
"""Facts that are told before a part of them."""
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Row:
    """What speaks for and against a sentence ending a fact, with whether it does."""

    traits: Array
    label: int
    language: str
    source: str
    story: str
    said: str
    fact: str
    ended: bool
    """Whether the rules end it."""


class Recorder:
    """Stands in the place of the nets: writes down what they would see, and ends nothing."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Fact, Array]] = []

    def __call__(self, c: Candidate, decisions: list[Decision], known: Any, **given: Any) -> list[Decision]:
        whole = {"vectors": given["vectors"], "judge": given["judge"], "lexicon": given["lexicon"]}
        session = given["labels"].session_id
        self.seen += [(c.text, r.fact, r.traits) for r in compared(c, decisions, known, **whole, session_id=session)]
        over = {f.id: f for f in map(_as_before, decisions) if f is not None}
        if over:
            # What the rules end teaches the nets too: as if they had found nothing.
            held = Known(sorted([*known.values(), *over.values()], key=lambda f: (f.recorded_at, f.id)))
            told = [replace(d, op="add", previous=None) for d in decisions if d.op in ("add", "supersede")]
            rows = compared(c, told, held, **whole, session_id=session)
            self.seen += [(c.text, r.fact, r.traits) for r in rows if r.fact.id in over]
        return decisions


def _as_before(d: Decision) -> Fact | None:
    """The fact that a decision ends, as it was."""
    row = {"supersede": d.previous, "close": d.fact, "retract": d.fact}.get(d.op)
    if row is None:
        return None
    return replace(row, valid_to=None, superseded_by=None, retracted_at=None, is_current=True)


@cache
def _embedder() -> Embedder:
    return resolve_embedder(None)


class Told:
    """A memory to which the stories and pairs of one file are told, each by a user of its own."""

    def __init__(self, folder: str, recorder: Recorder, others: dict[str, list[str]]) -> None:
        self.now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
        self.recorder, self.others = recorder, others
        self.memory = LongTermMemory.open(folder, clock=lambda: self.now, embedder=_embedder(), timezone="UTC")

    def tell(self, user: str, text: str, *, role: str = "user", session: str = "s1") -> None:
        """What is found of the message is in the recorder afterwards."""
        self.recorder.seen.clear()
        message = Message(role=role, content=text, at=self.now)
        self.memory.observe(user_id=user, session_id=session, messages=[message])

    def other_matters(self, user: str, language: str, seed: int) -> None:
        """Facts that have nothing to do with what follows."""
        pool = self.others[language]
        for k in range(OTHER_MATTERS):
            self.tell(user, pool[(seed // 7 + k * 7919) % len(pool)], session="before")

    def facts(self, user: str) -> list[Fact]:
        """What is known as true."""
        return self.memory.facts(user_id=user)


def rows_of(path: Path, others: dict[str, list[str]], unseen: Path) -> list[Row]:
    """The rows of a file of stories or pairs. ``unseen``: folder of ``news_N.json``, nets that have not learned from
    the Nth part of the files."""
    recorder = Recorder()
    data = json.loads((unseen / f"news_{fold_of(path)}.json").read_text(encoding="utf-8"))
    news = make_news(data, default_lexicon().gate.function)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        stack.enter_context(mock.patch.object(resolve, "weigh", recorder))
        for module in (resolve, statements):
            stack.enter_context(mock.patch.object(module, "load_news", lambda: news))
        told = Told(folder, recorder, others)
        stack.callback(told.memory.close)
        if path.suffix == ".tsv":
            return list(_of_pairs(path, told))
        stories = [s for s in load(path) if s["kind"] in KINDS and s["lang"][:2] in ("en", "zh")]
        return [r for story in stories for r in _of_story(story, path.stem, told)]


def _of_story(story: dict[str, Any], source: str, told: Told) -> Iterator[Row]:
    language, user, turns = story["lang"][:2], story["id"], story["turns"]
    told.now = dt.datetime.fromisoformat(turns[0]["at"]) - dt.timedelta(days=30)
    seed = zlib.crc32(story["id"].encode())
    if seed % 2:
        told.other_matters(user, language, seed)
    first_told: dict[str, int] = {f.id: -1 for f in told.facts(user)}
    for n, turn in enumerate(turns):
        told.now = max(told.now, dt.datetime.fromisoformat(turn["at"]))
        told.tell(user, turn["text"], role=turn["role"], session=turn.get("session", "s1"))
        now = {f.id for f in told.facts(user)}
        for id_, best in _nearest(told.recorder.seen).items():
            said, fact, traits = best
            label = _label(story, fact, first_told.get(id_), n)
            if label is not None:
                yield Row(traits, label, language, source, story["id"], said, fact.text, id_ not in now)
        for id_ in now:
            first_told.setdefault(id_, n)


def _of_pairs(path: Path, told: Told) -> Iterator[Row]:
    """Every pair told for itself; those that end in the same words once more together, to one who has told all of
    their facts."""
    language = path.stem.rpartition("_")[2]
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    for number, (said, some) in enumerate(groupby(lines, key=lambda line: line[3].replace("{", "").replace("}", ""))):
        pairs = [(label != "N", fact) for _, label, fact, _ in some]
        for k, pair in enumerate(pairs):
            yield from _pair_rows([pair], said, told, f"{path.stem}/{number}/{k}", language)
        if len(pairs) > 1:
            yield from _pair_rows(pairs, said, told, f"{path.stem}/{number}", language)


def _pair_rows(pairs: Sequence[tuple[bool, str]], said: str, told: Told, user: str, language: str) -> Iterator[Row]:
    told.now += dt.timedelta(minutes=1)
    seed = zlib.crc32(user.encode())
    if seed % 4 == 0:
        told.other_matters(user, language, seed)
    of: dict[str, int] = {f.id: -1 for f in told.facts(user)}
    for n, (_, fact) in enumerate(pairs):
        told.now += dt.timedelta(hours=1)
        told.tell(user, fact, session=f"told {n}")
        of |= {f.id: n for f in told.facts(user) if f.id not in of}
    told.now += dt.timedelta(days=9)
    told.tell(user, said, session="later")
    now = {f.id for f in told.facts(user)}
    best: dict[int, float] = {}
    found = _nearest(told.recorder.seen)
    for id_, (_, _, traits) in found.items():
        n = of.get(id_, -1)
        best[n] = max(best.get(n, -99.0), float(traits[0]))
    for id_, (text, fact, traits) in found.items():
        n = of.get(id_)
        if n is None:
            continue
        ends = n >= 0 and pairs[n][0]
        if ends and traits[0] < best[n]:
            continue  # a message may have told of more than what is over
        yield Row(traits, int(ends), language, user.partition("/")[0], user, text, fact.text, id_ not in now)


def _nearest(seen: Sequence[tuple[str, Fact, Array]]) -> dict[str, tuple[str, Fact, Array]]:
    """For every fact the sentence of the turn that is likeliest to end it."""
    best: dict[str, tuple[str, Fact, Array]] = {}
    for row in seen:
        known = best.get(row[1].id)
        if known is None or known[2][0] < row[2][0]:
            best[row[1].id] = row
    return best


def _label(story: dict[str, Any], fact: Fact, told: int | None, n: int) -> int | None:
    """Whether turn ``n`` ends the fact; None when the story does not say."""
    if told is None:
        return None
    if told < 0:
        return 0
    gone = [d for d in story.get("not_current", ()) if d.get("turn") == told and _fits(fact, d)]
    wanted = any(_fits(fact, w) for w in story.get("current", ()))
    if gone and not wanted:
        ends = _ending_turns(story, told)
        return int(n == ends[0]) if len(ends) == 1 and n <= ends[0] else None
    if wanted and not gone:
        # In between, what comes back at the end was over.
        return None if story["kind"] == "aba" and n < len(story["turns"]) - 1 else 0
    return None


def collect(data: Path, unseen: Path) -> list[Row]:
    """The rows of all stories and pairs that are learned from."""
    paths = story_files(data)
    others: dict[str, list[str]] = {"en": [], "zh": []}
    for path in paths:
        for story in load(path):
            told = next((t["text"] for t in story["turns"] if t["role"] == "user"), "")
            if story["kind"] in ("state", "supersede", "collateral") and story["lang"] in others and len(told) < 120:
                others[story["lang"]].append(told)
    paths += [p for start in PAIRS for p in sorted(data.glob(f"{start}_*.tsv"))]
    with ProcessPoolExecutor(2) as pool:
        made = [pool.submit(rows_of, path, others, unseen) for path in paths]
        return [r for rows in made for r in rows.result()]
