"""The floor in force for a store: the one calibrated here, else the packaged one of its embedder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING

from ltm_core.embed.base import identity
from ltm_core.errors import InvalidInputError, UnavailableError
from ltm_core.recall.data import Floor, floor
from ltm_core.text.chunks import CHUNKER_VERSION, TEMPLATE_VERSION
from ltm_core.types import Calibration

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ltm_core.embed.base import Embedder
    from ltm_core.recall.calibration import Rule
    from ltm_core.runtime import Runtime
    from ltm_core.store.base import Store


def floor_in_force(store: Store, embedder: Embedder) -> Floor:
    """The calibrated floor of this embedder in this store, else the packaged one."""
    if embedder.dimension == 0:
        return floor(embedder.name)
    stored = store.operations().setting(_key(embedder))
    if stored is None:
        return floor(embedder.name)
    values = json.loads(stored)
    return Floor(**{f.name: float(values[f.name]) for f in fields(Floor)})


def calibrate_floor(
    runtime: Runtime, rows: Iterable[tuple[int, object]], *, rule: Rule, cross: bool, dry_run: bool
) -> Calibration:
    """The floor that the rows call for is in force here and in every memory of this store opened later.

    With ``dry_run`` nothing changes. InvalidInputError names bad rows, before any text is embedded.
    """
    from ltm_core.recall.calibration import calibrate, scored
    from ltm_core.recall.pairs import pairs_of

    if not runtime.has_vectors:
        raise InvalidInputError("there is no embedder, so there is no similarity to calibrate")
    if not dry_run and runtime.store.read_only:
        raise UnavailableError("the store is open for reading only; dry_run=True prints without writing")
    pairs = pairs_of(rows, cross=cross)
    seen = scored(
        pairs,
        embed=lambda texts: _all(runtime, texts),
        # Not the cached one: pairs are no questions of a user and would push those out.
        embed_query=lambda text: runtime.embedder.embed_query(text),
        now=runtime.now(),
        config=runtime.config,
    )
    # The rest of the floor is the packaged one's, so that the same pairs always give the same.
    chosen, account = calibrate(seen, present=floor(runtime.embedder.name), rule=rule, embedder=runtime.embedder.name)
    account = replace(account, written=not dry_run)
    if not dry_run:
        value = {**asdict(chosen), "rule": account.rule, "pairs": account.pairs, "at": runtime.now().isoformat()}
        runtime.store.operations().set_setting(_key(runtime.embedder), json.dumps(value))
        runtime.floor = chosen
        runtime.recalls.clear()
    return account


def _key(embedder: Embedder) -> str:
    return "floor:" + identity(embedder, template_version=TEMPLATE_VERSION, chunker_version=CHUNKER_VERSION)


def _all(runtime: Runtime, texts: Sequence[str]) -> NDArray[np.float32]:
    return runtime.embedder.embed_documents(texts)


__all__ = ["calibrate_floor", "floor_in_force"]
