"""The application as a server process makes it: from the environment that `ltm serve` sets."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_core.config import Config
from ltm_core.errors import ConfigError
from ltm_core.locations import Location
from ltm_core.memory import LongTermMemory
from ltm_core.serve.app import create_app
from ltm_core.serve.keys import KEYS_FILE, Keyring
from ltm_core.serve.settings import ServeSettings
from ltm_core.write.known.news import load_news
from ltm_core.write.learned.gate import load_gate

if TYPE_CHECKING:
    from fastapi import FastAPI


def app() -> FastAPI:
    """For ``uvicorn --factory ltm_core.serve.main:app``: the store of ``LTM_STORE``, the settings of ``LTM_*`` and
    ``LTM_SERVE_*``."""
    store = os.environ.get("LTM_STORE")
    if not store:
        raise ConfigError("LTM_STORE must name the store's directory, or the URL of its database")
    config = Config.load()
    if not config.timezone:
        config = config.replaced(timezone="UTC")
    memory = LongTermMemory.open(
        store,
        config=config,
        embedder=os.environ.get("LTM_EMBEDDER") or None,
        extractor=os.environ.get("LTM_EXTRACTOR") or None,
    )
    settings = ServeSettings.load()
    folder = Path(settings.directory) if settings.directory else Location(store).folder()
    served = create_app(memory, Keyring(folder / KEYS_FILE), settings, close=True)
    _settle(memory)
    return served


def _settle(memory: LongTermMemory) -> None:
    """Models and word lists are loaded before the first request, and the garbage collector leaves alone what is there
    by now: a full collection over all modules stops every thread, the event loop's too, for tens of milliseconds."""
    memory._runtime.embed_query("hello")
    load_gate(), load_news()
    gc.collect()
    gc.freeze()


__all__ = ["app"]
