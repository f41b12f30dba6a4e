"""The files when a backup takes the place of a store: those it lists are there, without what was erased since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ltm_core.errors import ConfigError, CorruptError
from ltm_core.ids import UUID7
from ltm_core.keep.archive.files import COLD_JOB, spanning
from ltm_core.keep.archive.move import limits_of
from ltm_core.keep.archive.place import FOLDER, SUFFIX, Place
from ltm_core.keep.archive.table import Cold, digest_of, packed, unpacked
from ltm_core.keep.redaction import FILLER
from ltm_core.store.base import Job

if TYPE_CHECKING:
    from ltm_core.config import Config
    from ltm_core.store.base import MessageRow, Reader, Store, Writer
    from ltm_core.store.rows import ColdFile

Verdict = Callable[["MessageRow"], Literal["gone", "wiped", ""]]
_USERS = 500


class Carried:
    """The files of one restore. Those at a URL of their own stay where they are; those in the store's directory are
    taken from the store that gives way, else from the backup."""

    def __init__(self, backup: Path, location: Path, *, config: Config, now: datetime) -> None:
        self._config, self._now, self._new_id = config, now, UUID7()
        self._backup, self._location = backup.absolute() / FOLDER, location.absolute() / FOLDER
        self._url = config.archive_url

    def clean(
        self,
        store: Store,
        draft: Path,
        writer: Writer,
        verdict: Verdict,
        present: Reader | None,
    ) -> Counter[str]:
        """No listed file of the writer's user holds a turn that was erased, or words of one that was overwritten:
        those are as in the store that gives way, else whole. A file that nobody can read any more is not listed,
        lest it come back by hand; what the store that gives way has of it in its own files is kept."""
        done: Counter[str] = Counter()
        folder, embedder = store.mac(writer.user_id), store.operations().embedder_identity() or ""

        def now() -> dict[int, Cold]:
            return self._of(present, folder, embedder)

        for file in writer.cold_files():
            data = self._read(draft, folder, file)
            turns = None if data is None else unpacked(writer, data, embedder=embedder)
            known = {t.item for t in writer.cold_turns(files=[file.item])}
            left, counts = self._left(turns, known, verdict, now)
            if turns is not None and left == turns:
                continue
            by = None
            if left:
                data = packed(writer, left, embedder=embedder)
                name = f"{self._new_id()}{SUFFIX}"
                self._target(draft).write(folder, name, data)
                by = spanning(name, left, digest_of(data))
            writer.replace_cold_file(file.item, by, keep=[t.item for t in left])
            payload = {"folder": folder, "name": file.name}
            writer.add_job(Job(kind=COLD_JOB, user_id=writer.user_id, payload=payload, run_after=self._now))
            done.update(counts)
        return done

    def settle(self, store: Store, draft: Path, *, sealed_now: bool) -> None:
        """Every listed file that can be found is in the draft or at the URL, and a job of the store deletes each file
        of the store that gives way that is listed no more.

        ConfigError when the files are plain and the store was encrypted just now (``sealed_now``).
        """
        listed: dict[str, set[str]] = {}
        owners: dict[str, str] = {}
        for user, files in _listed(store):
            folder = store.mac(user)
            owners[folder] = user
            listed[folder] = {f.name for f in files}
            if files and sealed_now:
                raise ConfigError(
                    f"{len(files)} files of the backup's archive hold turns in plain: restore it without a master "
                    "key, restore_archive, and encrypt the store then"
                )
            for file in files if not self._url else ():
                data = self._read(draft, folder, file)
                if data is not None:
                    self._target(draft).write(folder, file.name, data)
        if not self._url and not self._location.is_dir():
            return
        for folder, name in sorted(self._place(self._location).files()):
            owner = owners.get(folder)
            if name in listed.get(folder, ()) or (self._url and owner is None):
                continue
            job = Job(kind=COLD_JOB, user_id=owner, payload={"folder": folder, "name": name}, run_after=self._now)
            if owner is None:
                store.operations().add_job(job)
            else:
                with store.write(owner) as writer:
                    writer.add_job(job)

    def publish(self, draft: Path) -> None:
        """The draft's files are beside those of the store that gives way; it does not list them yet."""
        for path in sorted((draft / FOLDER).glob(f"*/*{SUFFIX}")):
            target = self._location / path.parent.name / path.name
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.replace(target)

    def _left(
        self, turns: list[Cold] | None, known: set[int], verdict: Verdict, of_present: Callable[[], dict[int, Cold]]
    ) -> tuple[list[Cold], Counter[str]]:
        counts: Counter[str] = Counter()
        if turns is None:
            now = of_present()
            left = [now[i] for i in sorted(known) if i in now]
            counts["messages_lost"] = len(known) - len(left)
            return left, counts
        left, now = [], {}
        looked = False
        for turn in turns:
            row, _ = turn.row(limits_of(self._config))
            what = verdict(row)
            if what == "wiped":
                now = now if looked else of_present()
                looked = True
                left.append(now.get(turn.item) or _blank(turn))
            elif not what:
                left.append(turn)
            counts["messages_deleted"] += what == "gone"
            counts["messages_redacted"] += what == "wiped"
        return left, counts

    def _of(self, present: Reader | None, folder: str, embedder: str) -> dict[int, Cold]:
        """The turns in the files of the store that gives way."""
        found: dict[int, Cold] = {}
        for file in () if present is None else present.cold_files():
            data = self._place(self._location).read(folder, file.name)
            if present is not None and data is not None and digest_of(data) == file.digest:
                found |= {t.item: t for t in unpacked(present, data, embedder=embedder)}
        return found

    def _read(self, draft: Path, folder: str, file: ColdFile) -> bytes | None:
        places = [self._location] if self._url else [draft / FOLDER, self._location, self._backup]
        for place in places:
            data = self._place(place).read(folder, file.name)
            if data is not None and digest_of(data) == file.digest:
                return data
        return None

    def _target(self, draft: Path) -> Place:
        return self._place(draft / FOLDER)

    def _place(self, local: Path) -> Place:
        return Place(self._url or str(local))


def _listed(store: Store) -> Iterator[tuple[str, Sequence[ColdFile]]]:
    operations, last = store.operations(), None
    while page := operations.users(after=last, limit=_USERS):
        for user in page:
            try:
                with store.read(user) as reader:
                    files = reader.cold_files()
            except CorruptError:
                # Its key is lost: nobody reads its files either.
                continue
            yield user, files
        last = page[-1]


def _blank(turn: Cold) -> Cold:
    """The turn keeps its place and says nothing any more."""
    line = {k: v for k, v in turn.line.items() if k not in ("name", "metadata", "anchors")}
    line["content"] = FILLER * len(str(turn.line["content"]))
    return Cold(item=turn.item, line={**line, "anchors": []}, spans=[(s, e, None) for s, e, _ in turn.spans])


__all__ = ["Carried", "Verdict"]
