"""Templates to answers: every value escaped, no script, nothing from elsewhere."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime, tzinfo
from functools import cache
from importlib import resources
from typing import Any

from fastapi import Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from ltm_core.serve.page.language import LANGUAGES, Words
from ltm_core.text.normalize import printable

ROOT = "/page"
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": _POLICY,
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # With "no-referrer" browsers send "Origin: null" with the page's own forms, which no gate can tell from others.
    "Referrer-Policy": "same-origin",
}


@cache
def environment() -> Environment:
    """The templates; a value that a template names and was not given is an error, not a blank."""
    made = Environment(
        loader=PackageLoader("ltm_core.serve.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["shown"] = printable
    return made


def rendered(template: str, words: Words, values: Mapping[str, Any], *, zone: tzinfo, status: int) -> Response:
    """The page as an answer."""

    def day(moment: datetime) -> str:
        return moment.astimezone(zone).strftime("%Y-%m-%d")

    def clock(moment: datetime) -> str:
        return moment.astimezone(zone).strftime("%H:%M")

    text = (
        environment()
        .get_template(template)
        .render(t=words, words=words, languages=LANGUAGES, root=ROOT, css=css_name(), day=day, clock=clock, **values)
    )
    return HTMLResponse(text, status_code=status, headers=dict(HEADERS))


@cache
def css() -> bytes:
    """The style sheet."""
    return resources.files("ltm_core.serve.page").joinpath("static/page.css").read_bytes()


@cache
def css_name() -> str:
    """Its address; another text has another one, so that it may be kept for long."""
    return f"{ROOT}/page-{hashlib.sha256(css()).hexdigest()[:12]}.css"


__all__ = ["HEADERS", "ROOT", "css", "css_name", "environment", "rendered"]
