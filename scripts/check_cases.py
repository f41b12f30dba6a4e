"""Check the labelled cases and print what they hold.

    python scripts/check_cases.py [FILE ...]

Without a FILE: every tests/cases/natural_*.jsonl and stories_*.yaml. The exit status is 1 when a label is wrong.

What the labels of a natural message mean:

* A segment states a fact when it tells something lasting about the user, the user's own people, pets, things
  and identifiers, or how the assistant should behave from now on. A state of some weeks or more, or with a stated
  end that far away, is a fact with the marker ``temporary``; a state of today or of this week is none. A plan is
  none, a declared goal is one.
* ``positive`` is false when the words deny the value: ``negation`` (is not so), ``cessation`` (is so no more),
  the wrong half of a ``correction``. A fact of the ``past`` is positive unless the words also say that it ceased.
  The value is the thing itself, without "not".
* "Hates X" is ``dislikes`` X, positive; "doesn't like X" is ``likes`` X, not positive; what is not eaten or drunk
  at all is ``diet``, not positive.
* ``change`` marks the value that is new, not the one that it replaces.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

CASES = Path(__file__).resolve().parent.parent / "tests/cases"


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LANGUAGES = words("zh zh-Hant ja en mixed")
VOICES = words("service companion coding personal work group")
NEGATIVE_KINDS = words("""
    question hypothetical plan quote roleplay fiction translate irony command third_party mood general
    ephemeral temporary_state chat
""")
MARKERS = words("change correction cessation negation temporary past explicit_remember")
RELATIONS = words("""
    name assistant_name user_called birthday age gender lives_in hometown works_at role studies_at
    education major income allergy health_condition diet medication likes dislikes hobby habit has_pet
    pet_name owns drives family marital_status child_count language nationality religion uses_tool
    tech_stack prefers project goal schedule working_hours contact email phone address order contract
    quote ticket parcel status style note other
""")
FAVORITE = re.compile(r"favorite_[a-z]+")
SUBJECT = re.compile(r"[a-z_]+(:\S+)?")
VERBS = words("say bot tool sys now ask")
CHECKS = words("active past never count ctx+ ctx-")


def wrong_in_fact(fact: dict[str, Any], text: str) -> Iterator[str]:
    """What is wrong with one fact of the segment ``text``."""
    value, start, end = fact["value"], fact["value_start"], fact["value_end"]
    markers = set(fact["markers"])
    if not value or text[start:end] != value or value != value.strip():
        yield f"value {value!r} is not at {start}:{end}"
    if fact["relation"] not in RELATIONS and not FAVORITE.fullmatch(fact["relation"]):
        yield f"unknown relation {fact['relation']!r}"
    if not SUBJECT.fullmatch(fact["subject"]):
        yield f"odd subject {fact['subject']!r}"
    if markers - MARKERS or len(markers) != len(fact["markers"]):
        yield f"unknown or repeated markers {fact['markers']}"
    if markers & {"negation", "cessation"} and fact["positive"]:
        yield f"{value!r} is denied, yet positive"
    if not fact["positive"] and not markers & {"negation", "cessation", "correction"}:
        yield f"{value!r} is not positive, yet nothing denies it"


def wrong_in_message(row: dict[str, Any]) -> Iterator[str]:
    """What is wrong with one natural message."""
    segments = row["segments"]
    if "".join(s["text"] for s in segments) != row["text"] or not all(s["text"] for s in segments):
        yield "segments do not join to the text"
    if row["lang"] not in LANGUAGES or row["voice"] not in VOICES or row["split"] not in {"train", "held"}:
        yield "unknown lang, voice or split"
    if row["kind"] != "positive" and row["kind"] not in NEGATIVE_KINDS:
        yield f"unknown kind {row['kind']!r}"
    if (row["kind"] == "positive") != any(s["stated_fact"] for s in segments):
        yield "kind and segments disagree"
    for segment in segments:
        if segment["stated_fact"]:
            if not segment.get("facts") or "why" in segment:
                yield f"a stated fact has facts and no why: {segment['text']!r}"
            for fact in segment.get("facts", ()):
                yield from wrong_in_fact(fact, segment["text"])
        elif segment.get("facts") or segment.get("why") not in NEGATIVE_KINDS:
            yield f"a segment without a fact has a known why and no facts: {segment['text']!r}"


def wrong_in_messages(rows: list[dict[str, Any]]) -> Iterator[str]:
    """What is wrong across messages: repeats, and pairs that are not pairs."""
    for text, times in Counter(r["text"] for r in rows).items():
        if times > 1:
            yield f"{times} times: {text!r}"
    for pair in sorted({r["pair"] for r in rows}):
        of_pair = [r for r in rows if r["pair"] == pair]
        if len({r["split"] for r in of_pair}) > 1:
            yield f"{pair} is in both splits"
        if {r["kind"] == "positive" for r in of_pair} != {True, False}:
            yield f"{pair} lacks its positive or its negative"


def wrong_in_story(story: dict[str, Any]) -> Iterator[str]:
    """What is wrong with one story."""
    said, asked = set(), set()
    for verb, who, payload in story["in"]:
        user = str(who).partition("/")[0]
        if verb not in VERBS or not isinstance(payload, str) or not payload:
            yield f"odd step {[verb, who, payload]}"
        elif verb == "now":
            if datetime.fromisoformat(payload).tzinfo is None:
                yield f"{payload} has no offset"
        else:
            said.add(user)
            if verb == "ask":
                asked.add(user)
    if not story["right"]:
        yield "nothing is checked"
    for kind, user, wanted in story["right"]:
        if kind not in CHECKS or user not in said or (kind == "count") != isinstance(wanted, int):
            yield f"odd check {[kind, user, wanted]}"
        if kind.startswith("ctx") and user not in asked:
            yield f"{kind} of {user}, who asked nothing"


def table(title: str, counts: Counter[str]) -> None:
    print(f"  {title}: " + ", ".join(f"{name} {n}" for name, n in counts.most_common()))


def check_messages(path: Path) -> list[str]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    wrong = [f"{path.name}:{n}: {w}" for n, row in enumerate(rows, 1) for w in wrong_in_message(row)]
    wrong += [f"{path.name}: {w}" for w in wrong_in_messages(rows)]
    segments = [s for row in rows for s in row["segments"]]
    facts = [f for s in segments for f in s.get("facts", ())]
    print(
        f"{path.name}: {len(rows)} messages, {len({r['pair'] for r in rows})} pairs, {len(segments)} segments,",
        end="",
    )
    print(f" {sum(s['stated_fact'] for s in segments)} of them with facts, {len(facts)} facts")
    for field in ("split", "lang", "voice", "kind"):
        table(field, Counter(row[field] for row in rows))
    table("why", Counter(s["why"] for s in segments if not s["stated_fact"]))
    for split in ("train", "held"):
        chosen = [f for r in rows if r["split"] == split for s in r["segments"] for f in s.get("facts", ())]
        table(f"markers, {split}", Counter(m for f in chosen for m in f["markers"]))
    table("relation", Counter(f["relation"] for f in facts))
    return wrong


def check_stories(path: Path) -> list[str]:
    import yaml

    stories = yaml.safe_load(path.read_text(encoding="utf-8"))
    wrong = [f"{path.name}: {s['id']}: {w}" for s in stories for w in wrong_in_story(s)]
    repeated = [name for name, times in Counter(s["id"] for s in stories).items() if times > 1]
    wrong += [f"{path.name}: {name} is there twice" for name in repeated]
    print(f"{path.name}: {len(stories)} stories")
    table("kind", Counter(s["kind"] for s in stories))
    table("steps", Counter(step[0] for s in stories for step in s["in"]))
    table("checks", Counter(check[0] for s in stories for check in s["right"]))
    return wrong


def main(arguments: list[str]) -> int:
    paths = [Path(a) for a in arguments]
    paths = paths or sorted([*CASES.glob("natural_*.jsonl"), *CASES.glob("stories_*.yaml")])
    wrong = []
    for path in paths:
        wrong += check_messages(path) if path.suffix == ".jsonl" else check_stories(path)
    for line in wrong:
        print(f"WRONG {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
