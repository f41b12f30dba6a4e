"""``ltm demo``: one process is told a story; a second one, knowing only the files, answers, explains and erases.

It fails when anything is not as the story promises.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ltm_core.commands.base import INCOMPLETE, guarded
from ltm_core.commands.demo_scan import places
from ltm_core.commands.demo_story import ANA, BELIEVED, KEPT, LIN, QUESTIONS, SECRETS, STORY, Asked, Said
from ltm_core.commands.facts import why
from ltm_core.commands.show import console, speak_utf8, state, table

if TYPE_CHECKING:
    from ltm_core.memory import LongTermMemory
    from ltm_core.types import Context, Fact, Observation, Receipt

_WIDTH = 110
_SUBJECT = 18
"""Characters of a subject that a row of the demo shows."""


class Checks:
    """What must be true; it remembers what is not."""

    def __init__(self) -> None:
        self.met = 0
        self.failed: list[str] = []

    def that(self, what: str, holds: bool) -> None:
        if holds:
            self.met += 1
        else:
            self.failed.append(what)

    def close(self) -> int:
        """The number of expectations that failed, told to the person."""
        for what in self.failed:
            _print(f"✗ expected: {what}", style="bold red")
        return len(self.failed)


def demo(
    embedder: Annotated[str | None, typer.Option("--embedder", metavar="NAME", help="Another embedder.")] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """A bilingual story in two processes: told, moved, corrected, asked, explained, erased. Writes nothing
    outside a temporary directory."""
    guarded(lambda: _demo(embedder), debug=debug)


def _demo(embedder: str | None) -> None:
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="ltm-demo-", ignore_cleanup_errors=True) as folder:
        store = Path(folder) / "store"
        failed = _first(store, embedder)
        command = [sys.executable, "-m", "ltm_core.commands.demo", "--second", str(store)]
        command += ["--embedder", embedder] if embedder else []
        sys.stdout.flush()
        second = subprocess.run(command, check=False, stdin=subprocess.DEVNULL)
    if failed or second.returncode:
        _print("The demo did not go as it should.", style="bold red")
        raise typer.Exit(INCOMPLETE)
    _print(f"Everything was as promised ({time.perf_counter() - started:.0f} s).", style="bold green")


def _open(store: Path, embedder: str | None) -> LongTermMemory:
    from ltm_core.memory import LongTermMemory

    return LongTermMemory.open(store, embedder=embedder, timezone="UTC")


# the first process: told ---------------------------------------------------------------------------------
def _first(store: Path, embedder: str | None) -> int:
    _head("1", "A first process is told things", "Two people, two languages; the time is shown as days ago.")
    now = datetime.now(UTC)
    rows = []
    with _open(store, embedder) as memory:
        for number, said in enumerate(STORY):
            at = now - timedelta(days=said.days_ago) + timedelta(seconds=number)
            seen = _observe(memory, said, number, at)
            rows.append((said.user, f"-{said.days_ago} d", _line(said), said.point, _learnt(seen)))
    _show(table("", ("user", "when", "said", "", "what became of it"), rows))
    return 0


def _observe(memory: LongTermMemory, said: Said, number: int, at: datetime) -> Observation:
    id_ = f"turn-{number}"
    if said.role == "assistant":
        return memory.observe(user_id=said.user, session_id=said.session, assistant=said.text, at=at, message_id=id_)
    return memory.observe(user_id=said.user, session_id=said.session, user=said.text, at=at, message_id=id_)


def _line(said: Said) -> str:
    return said.text if said.role == "user" else f"(assistant) {said.text}"


def _learnt(seen: Observation) -> str:
    signs = {"add": "+", "supersede": "+", "reinforce": "=", "retract": "−", "close": "−"}
    out = []
    for change in seen.changes:
        fact = change.fact
        if change.op == "skip":
            continue
        about = "" if fact.subject == "user" else f"{_brief(fact.subject)}: "
        old = change.previous if change.op in ("supersede", "reinforce") else None
        instead = f"  (was: {old.object})" if old is not None and change.op == "supersede" else ""
        out.append(f"{signs.get(change.op, change.op)} {about}{fact.relation} {fact.object}{instead}")
    return "\n".join(out) or "kept as words, no fact"


# the second process: asked, explained, erased ------------------------------------------------------------
def second(store: Path, embedder: str | None) -> int:
    """The number of expectations that were not met."""
    checks = Checks()
    text = f"Process {os.getpid()} was started now. It knows what is in the files, nothing else."
    _head("2", "A second process answers", text)
    with _open(store, embedder) as memory:
        for number, asked in enumerate(QUESTIONS):
            _answer(memory, asked, f"today-{asked.user}", number, checks)
        _head("3", "What is true, what was, and why", "Nothing that changed is lost; each change has its reason.")
        for user in (ANA, LIN):
            _explain(memory, user, checks)
        _head("4", "Ana asks to be forgotten", "The files are searched byte by byte, by this demo itself.")
        _erase(memory, store, checks)
    return checks.close()


def _answer(memory: LongTermMemory, asked: Asked, session: str, number: int, checks: Checks) -> None:
    if asked.before:
        memory.observe(user_id=asked.user, session_id=session, user=asked.before)
    question = f"question-{number}"
    memory.observe(user_id=asked.user, session_id=session, user=asked.question, message_id=question)
    found = memory.context(
        asked.question, user_id=asked.user, session_id=session, exclude_message_ids=[question], max_tokens=400
    )
    _panel(found, f"{asked.user} asks: {asked.question}")
    checks.that(f"the context of {asked.question!r} holds {asked.holds}", asked.holds in found.text)
    checks.that(f"{asked.question!r} fits its budget", found.token_count <= 400)
    other = KEPT if asked.user == ANA else SECRETS[0]
    checks.that(f"nothing of the other user is in the context of {asked.question!r}", other not in found.text)
    invented = [f.text for f in memory.facts(user_id=asked.user) if asked.never_a_fact in f.object]
    checks.that(f"the hypothetical {asked.never_a_fact} is no fact", not invented)


def _panel(found: Context, title: str) -> None:
    from rich.panel import Panel
    from rich.text import Text

    body = Text()
    tiers = (
        ("semantic: facts", found.semantic),
        ("episodic: what was said", found.episodic),
        ("working: this conversation", found.working),
    )
    for name, items in tiers:
        body.append(f"{name}\n", style="bold cyan")
        for item in items[:4]:
            past = "" if item.is_current else "(previously) "
            body.append(f"  {item.at:%Y-%m-%d}  {past}{item.text}\n")
        if not items:
            body.append("  none\n", style="dim")
    tokens = next((n for n in found.notes if n.startswith("tokens:")), "tokens:")
    subtitle = f"{tokens}; with headings {found.token_count} of {found.max_tokens}"
    _show(Panel(body, title=Text(title), subtitle=subtitle, title_align="left", subtitle_align="right"))


def _explain(memory: LongTermMemory, user: str, checks: Checks) -> None:
    known = list(memory.facts(user_id=user, include_superseded=True))
    reasons = why(memory, user, {f.id for f in known})
    now = datetime.now(UTC)
    rows = [
        (
            _brief(f.subject),
            f.relation,
            f.object,
            f.valid_from.date(),
            state(f, now=now),
            "; ".join(reasons.get(f.id, ())),
        )
        for f in known
    ]
    _show(table(f"Facts of {user}", ("about", "relation", "value", "since", "state", "why"), rows))
    current = {f.object: f for f in known if f.is_current}
    own = sorted(f.object for f in current.values() if f.subject == "user")
    checks.that(f"of {user} exactly this is believed: {BELIEVED[user]}", own == sorted(BELIEVED[user]))
    past = {f.object: f for f in known if not f.is_current}
    if user == ANA:
        checks.that("Porto is where Ana lives", _user_fact(current, "Porto"))
        checks.that("Lisbon was replaced, not lost", _has(past, "Lisbon") and not _has(current, "Lisbon"))
        checks.that("the allergy to peanuts stands", _has(current, "peanut"))
        checks.that("the fix is a solution that was confirmed", _solution(current.values()))
        checks.that("the sister's job is not Ana's", not _user_fact(current, "bakery"))
    else:
        checks.that("苏州 is where Lin lives", _user_fact(current, "苏州"))
        checks.that("杭州 was replaced, not lost", _has(past, "杭州") and not _has(current, "杭州"))
        checks.that("the wrong birthday was taken back", any(f.retracted_at for f in past.values()))
        checks.that("the right one holds instead", _has(current, "5月8号") and not _has(current, "5月3号"))
        checks.that("the sister's job is not Lin's", not _user_fact(current, "医生"))
    versions = [v for f in past.values() if f.superseded_by for v in memory.history(f.id, user_id=user)]
    checks.that(f"the history of {user}'s home has both cities", len(versions) >= 2)


def _brief(subject: str) -> str:
    return subject if len(subject) <= _SUBJECT else f"{subject[: _SUBJECT - 1]}…"


def _has(facts: dict[str, Fact], word: str) -> bool:
    return any(word in f.object for f in facts.values())


def _user_fact(facts: dict[str, Fact], word: str) -> bool:
    return any(word in f.object and f.subject == "user" for f in facts.values())


def _solution(facts: Iterable[Fact]) -> bool:
    return any(f.kind == "solution" and f.asserted_by == "assistant_confirmed" and "IKEv2" in f.text for f in facts)


def _erase(memory: LongTermMemory, store: Path, checks: Checks) -> None:
    before = {word: places(store, word) for word in (*SECRETS, KEPT)}
    receipt = memory.forget_user(ANA)
    after = {word: places(store, word) for word in before}
    rows = [(word, ANA if word in SECRETS else LIN, before[word], after[word]) for word in before]
    _show(table("Places in the files", ("word", "of", "before", "after"), rows, numbers=("before", "after")))
    _print(_summary(receipt))
    checks.that("the scan finds Ana's words before", all(before[w] for w in SECRETS))
    checks.that("no byte of Ana's words is left", not any(after[w] for w in SECRETS))
    checks.that("Lin's words are still there", after[KEPT] > 0)
    checks.that("the receipt says so too", receipt.bytes_clean)
    checks.that("nothing of Ana is known", not memory.facts(user_id=ANA) and not memory.messages(user_id=ANA))
    old = datetime.now(UTC) - timedelta(days=STORY[0].days_ago)
    again = _observe(memory, STORY[0], 0, old)
    checks.that("an old log cannot bring it back", [m.status for m in again.messages] == ["erased"])
    checks.that("Lin is still known", bool(memory.facts(user_id=LIN)))


def _summary(receipt: Receipt) -> str:
    rows = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in receipt.counts.items() if count)
    return f"Receipt: {rows}. The old log is replayed: refused. Lin keeps everything."


# what a person sees --------------------------------------------------------------------------------------
def _print(text: str, *, style: str | None = None) -> None:
    _show(text, style=style)


def _show(what: object, *, style: str | None = None) -> None:
    shown = console()
    shown.width = min(shown.width, _WIDTH)
    shown.print(what, style=style)


def _head(number: str, title: str, text: str) -> None:
    from rich.rule import Rule

    _show(Rule(f"{number}  {title}", align="left"))
    _print(text, style="dim")


def _main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--second", type=Path, required=True)
    parser.add_argument("--embedder")
    given = parser.parse_args(arguments)
    speak_utf8()
    return INCOMPLETE if second(given.second, given.embedder) else 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
