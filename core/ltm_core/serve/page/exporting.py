"""Everything of the user as a file."""

from __future__ import annotations

import functools
from typing import Any

from fastapi import Response
from starlette.responses import StreamingResponse

from ltm_core.serve.page.rendering import HEADERS
from ltm_core.serve.page.visit import Visit
from ltm_core.serve.streams import LINES


async def form(visit: Visit) -> Response:
    """What the file holds, and the button."""
    return visit.page("export.html")


async def export(visit: Visit) -> Response:
    """The file, written while it is sent."""
    lines: Any = await visit.run("export_user", functools.partial(visit.memory.export_user, visit.user_id))
    # The name tells nothing of the user: files lie about.
    headers = {**HEADERS, "Content-Disposition": 'attachment; filename="memory-export.jsonl"'}
    return StreamingResponse(lines, media_type=LINES, headers=headers)


__all__ = ["export", "form"]
