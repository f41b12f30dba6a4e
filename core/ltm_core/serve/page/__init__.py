"""The page: what is remembered, why, and how to correct and forget it, in a browser and without a script."""

from __future__ import annotations

from ltm_core.serve.page.routes import add_page

__all__ = ["add_page"]
