"""Signatures of webhook deliveries: made by the service, checked by who receives. Standard library alone."""

from __future__ import annotations

import hashlib
import hmac
import re
import time

SIGNATURE_HEADER = "LTM-Signature"
TOLERANCE_SECONDS = 300.0
"""How old a signature may be: clocks differ by minutes, and what was recorded is worth nothing after them."""
_FORM = re.compile(r"t=(\d{1,12}),v1=([0-9a-f]{64})")


def sign(secret: str, body: bytes, *, now: float) -> str:
    """The header's value: ``t=`` the time (seconds since 1970), ``v1=`` HMAC-SHA256 of ``t.body`` in hex digits."""
    at = int(now)
    return f"t={at},v1={_mac(secret, at, body)}"


def is_signed(
    secret: str, header: str, body: bytes, *, now: float | None = None, tolerance: float = TOLERANCE_SECONDS
) -> bool:
    """Whether who sent ``body`` knows the secret and signed it within ``tolerance`` seconds of ``now`` (this moment
    when left out). ``body`` is what arrived, byte by byte: check before it is parsed."""
    found = _FORM.fullmatch(header.strip())
    if found is None:
        return False
    at = int(found[1])
    fresh = abs((time.time() if now is None else now) - at) <= tolerance
    return hmac.compare_digest(_mac(secret, at, body), found[2]) and fresh


def _mac(secret: str, at: int, body: bytes) -> str:
    return hmac.new(secret.encode(), b"%d." % at + body, hashlib.sha256).hexdigest()


__all__ = ["SIGNATURE_HEADER", "TOLERANCE_SECONDS", "is_signed", "sign"]
