"""One service per test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Any]:
    from ltm_core.testing.service import service_at

    one = service_at(tmp_path / "store")
    with one.http:
        yield one
