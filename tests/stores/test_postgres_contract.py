"""The PostgreSQL store passes the contract of every store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from ltm_core.config import Config
from ltm_core.errors import UnavailableError
from ltm_core.store.base import Store
from ltm_core.store.keys import LocalKeys
from ltm_core.store.postgres import open_store
from ltm_core.testing.store_contract import StoreContract

pytestmark = pytest.mark.servers
KEYS = LocalKeys(b"\x07" * 32)


class TestPostgres(StoreContract):
    """Each test with the one store of the class, emptied."""

    @pytest.fixture
    def store(self, empty_place: str) -> Iterator[Store]:
        with closing(open_store(empty_place, config=Config.make())) as store:
            yield store

    @pytest.fixture
    def reopen(self, empty_place: str, store: Store) -> Iterator[Callable[[], Store]]:
        with ExitStack() as stack:
            yield lambda: stack.enter_context(closing(open_store(empty_place, config=Config.make())))

    def test_a_backup_is_new_and_its_list_follows(self, store: Store, tmp_path: Path) -> None:
        """Backups are the server's."""
        with pytest.raises(UnavailableError, match=r"pg_dump.*store\.key.*docs/postgresql\.md"):
            store.operations().back_up(tmp_path / "copy")
        assert not (tmp_path / "copy").exists()


class TestEncryptedPostgres(TestPostgres):
    """The same under a master key."""

    @pytest.fixture
    def store(self, empty_place: str) -> Iterator[Store]:
        pytest.importorskip("cryptography")
        with closing(open_store(empty_place, config=Config.make(), keys=KEYS)) as store:
            yield store

    @pytest.fixture
    def reopen(self, empty_place: str, store: Store) -> Iterator[Callable[[], Store]]:
        with ExitStack() as stack:
            yield lambda: stack.enter_context(closing(open_store(empty_place, config=Config.make(), keys=KEYS)))
