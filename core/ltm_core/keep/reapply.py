"""Erasures that a backup does not know, done again on what it holds.

They are known by keyed hashes alone: from the store that the backup takes the place of, or from the list beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from ltm_core.keep.asked import delete_facts
from ltm_core.keep.consolidate.retire import bring_back
from ltm_core.keep.documents import reapply_documents
from ltm_core.keep.erase import supported_by, unlabel
from ltm_core.keep.erased import texts_in
from ltm_core.keep.sources import blank
from ltm_core.write.incoming.forgotten import PHRASE_WORDS, holds_forgotten
from ltm_core.write.incoming.statuses import content_key, message_key

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.store.base import MessageRow, Reader, Writer
    from ltm_core.store.rows import News

_PAGE = 500


class _Newly:
    """Knows only the new tombstones, so that what the copy had accepted before is left alone."""

    def __init__(self, news: News, mac: Callable[[str], str]) -> None:
        self._news, self._mac = news, mac

    def is_tombstoned(self, kind: str, value: str) -> datetime | None:
        return _EVER if self._news.has(kind, self._mac(value)) else None


_EVER = datetime(1, 1, 1, tzinfo=UTC)


class Judged:
    """What the news say of the turns of one user."""

    def __init__(self, reader: Reader, news: News, *, mac: Callable[[str], str]) -> None:
        self._reader, self._news, self._mac = reader, news, mac
        self._newly = _Newly(news, mac)
        self._phrases = bool(news.macs.get(PHRASE_WORDS))
        self._explained = {mac(content_key(said)) for said in news.deleted.values()}

    def turn(self, row: MessageRow) -> Literal["gone", "wiped", ""]:
        """Whether it was deleted, or words in it were overwritten."""
        news, mac = self._news, self._mac
        place = (self._reader.label(row.session_id), row.at, row.sequence)
        if news.deleted.get(place) is not None or news.has("session", mac(row.session_id)):
            return "gone"
        said = mac(content_key(row.content_mac or self._reader.content_mac(row.content)))
        by_id = row.has_caller_id and news.has("message", mac(message_key(row.session_id, row.id)))
        by_words = news.has("content", said) and said not in self._explained
        wiped = by_id or by_words or self.holds([row.content, row.name or "", *texts_in(row.metadata)])
        return "wiped" if wiped else ""

    def holds(self, texts: Iterable[str]) -> bool:
        """Whether a phrase that was forgotten stands in one of them."""
        return self._phrases and any(holds_forgotten(self._newly, t, lambda at: at is not None) for t in texts if t)


def reapply(
    writer: Writer,
    news: News,
    *,
    mac: Callable[[str], str],
    present: Reader | None,
    config: Config,
    now: datetime,
) -> Counter[str]:
    """Nothing that the news name is left of the writer's user: turns and facts are deleted, words that were
    overwritten are overwritten as they are at ``present`` (the store that gives way), else whole; so are documents.
    Counts per kind."""
    done: Counter[str] = Counter()
    if news.everything:
        done["users"] = 1
        writer.erase_user(now=now)
        return done
    judged = Judged(writer, news, mac=mac)
    holds = judged.holds
    gone: list[MessageRow] = []
    wiped: list[MessageRow] = []
    for row in _messages(writer):
        what = judged.turn(row)
        if what:
            (gone if what == "gone" else wiped).append(row)
    done["facts"] = _facts(writer, news, gone, holds, mac=mac, now=now)
    if gone:
        writer.add_ghosts(gone)
        done["messages_deleted"] = writer.delete_messages([m.item for m in gone])
    for row in wiped:
        blank(writer, row, config=config, now=now, present=_same(present, row))
    done["messages_redacted"] = len(wiped)
    held = [s.item for s in writer.summaries() if holds([s.text, s.topic])]
    done["summaries"] = writer.delete_summaries(held)
    bring_back(writer, config=config)
    done["sessions"] = _sessions(writer, news, mac=mac)
    done["slots"] = writer.delete_slots(lambda slot: True)
    done.update(reapply_documents(writer, news, mac=mac, holds=holds, present=present, config=config))
    return +done


def _messages(writer: Writer) -> list[MessageRow]:
    found: list[MessageRow] = []
    last = 0
    while page := writer.messages(after_item=last, limit=_PAGE):
        found += page
        last = page[-1].item
    return found


def _same(present: Reader | None, row: MessageRow) -> MessageRow | None:
    """The turn as it is now."""
    found = [] if present is None else present.messages(items=[row.item])
    return next((m for m in found if (m.id, m.session_id) == (row.id, row.session_id)), None)


def _facts(
    writer: Writer,
    news: News,
    gone: list[MessageRow],
    holds: Callable[[Iterable[str]], bool],
    *,
    mac: Callable[[str], str],
    now: datetime,
) -> int:
    """The forgotten facts are gone, and no other fact carries a forgotten phrase in its metadata or tags."""
    orphans, others = supported_by(writer, gone) if gone else ([], [])
    going = {f.id: f for f in orphans}
    # Versions before this one did not note which facts were forgotten, only what they said.
    noted = bool(news.macs.get("fact"))
    for fact in writer.facts():
        if news.has("fact", mac(fact.id)) or (not noted and holds([fact.object])):
            going[fact.id] = fact
        elif holds([*fact.tags, *texts_in(fact.metadata)]):
            writer.update_fact(replace(fact, tags=(), metadata={}), now=now)
    if going:
        delete_facts(writer, list(going.values()), reason="forgotten after the backup", now=now)
    left = [f for f in others if f.id not in going]
    for session_id in {f.session_id for f in left if f.session_id is not None}:
        if news.has("session", mac(session_id)):
            unlabel(writer, left, session_id)
    return len(going)


def _sessions(writer: Writer, news: News, *, mac: Callable[[str], str]) -> int:
    if not news.macs.get("session"):
        return 0
    found = [r.session.id for r in writer.session_rows(limit=2**31)]
    return sum(writer.delete_session(s) for s in found if news.has("session", mac(s)))


__all__ = ["Judged", "reapply"]
