"""``ltm chat``: talk to a model, and see at every turn what it was given and what was remembered."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ltm_core.commands.base import Options, command
from ltm_core.commands.show import counted, note, say
from ltm_core.errors import UnavailableError

if TYPE_CHECKING:
    from ltm_core.memory import LongTermMemory
    from ltm_core.types import Context, Observation

Model = Callable[[list[dict[str, str]]], str]
"""Answers a list of messages with roles."""
_HELP = "/facts shows what is true now, /why what the last prompt held, /forget WORDS erases, /quit ends."


@command
def chat(
    options: Options,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", metavar="NAME", envvar="LTM_CHAT_MODEL", help="openai:URL#MODEL; none when left out."
        ),
    ] = None,
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", metavar="N", help="Budget of the memory.")] = None,
) -> None:
    """Talk, and see what is remembered. Without a model the memory itself answers with what it would have given."""
    answer = _model(model)
    user, session = options.user or "me", options.session or "chat"
    with options.open(create=True) as memory:
        note(f"{user} in session {session}. {_HELP}")
        last: Context | None = None
        for line in _lines():
            if line == "/quit":
                return
            if line.startswith("/"):
                _ask(memory, user, line, last)
                continue
            last = _turn(memory, answer, user, session, line, max_tokens)


def _turn(
    memory: LongTermMemory, answer: Model | None, user: str, session: str, line: str, max_tokens: int | None
) -> Context:
    """One turn: stored, recalled, answered, and the answer stored beside it."""
    seen = memory.observe(user_id=user, session_id=session, user=line)
    _tell(seen)
    context = memory.context(line, user_id=user, session_id=session, max_tokens=max_tokens)
    facts, turns = counted(len(context.semantic), "fact"), counted(len(context.episodic), "earlier turn")
    note(f"{context.token_count} tokens: {facts}, {turns}")
    if answer is None:
        said = " ".join(i.text for i in context.semantic) or "(nothing is known that fits)"
    else:
        system = [{"role": "system", "content": context.text}] if context.text else []
        try:
            said = answer([*system, {"role": "user", "content": line}])
        except UnavailableError as e:
            note(f"the model did not answer: {e}")
            return context
    say(said)
    if answer is None:
        return context  # nobody answered: what is known already is not said anew
    last = seen.messages[-1].id if seen.messages else None
    memory.observe(user_id=user, session_id=session, assistant=said, reply_to=last)
    return context


def _tell(seen: Observation) -> None:
    for change in seen.changes:
        past = f" (was: {change.previous.text})" if change.op == "supersede" and change.previous else ""
        note(f"{change.op}: {change.fact.text}{past}")


def _ask(memory: LongTermMemory, user: str, line: str, last: Context | None) -> None:
    word, _, rest = line.partition(" ")
    if word == "/facts":
        for fact in memory.facts(user_id=user):
            say(f"[{fact.valid_from.date()}] {fact.text}")
    elif word == "/why":
        say(last.explain() if last is not None else "Nothing was asked yet.")
    elif word == "/forget" and rest.strip():
        receipt: Any = memory.forget_matching(rest.strip(), user_id=user, dry_run=False)
        say(f"Erased: {', '.join(f'{n} {k}' for k, n in receipt.counts.items() if n) or 'nothing'}.")
    else:
        note(_HELP)


def _lines() -> Iterator[str]:
    """What is typed, line by line; a prompt only for a person."""
    while True:
        if sys.stdin.isatty():
            sys.stderr.write("> ")
            sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            return
        if line.strip():
            yield line.strip()


def _model(spec: str | None) -> Model | None:
    """The model of ``openai:URL#MODEL``; None for none."""
    if spec is None:
        return None
    from ltm_core.llm.openai_compatible import OpenAICompatibleModel

    return OpenAICompatibleModel.from_spec(spec.removeprefix("openai:")).reply
