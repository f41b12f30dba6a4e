"""The encrypted store passes the contract of every store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from ltm_core.config import Config
from ltm_core.store.base import Store
from ltm_core.store.keys import LocalKeys
from ltm_core.store.sqlite import open_store
from ltm_core.testing.store_contract import StoreContract

pytest.importorskip("cryptography")
KEYS = LocalKeys(b"\x07" * 32)


class TestEncrypted(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        with closing(open_store(tmp_path / "data", config=Config.make(), keys=KEYS)) as store:
            yield store

    @pytest.fixture
    def reopen(self, store: Store) -> Iterator[Callable[[], Store]]:
        with ExitStack() as stack:
            yield lambda: stack.enter_context(closing(open_store(store.location, config=Config.make(), keys=KEYS)))
