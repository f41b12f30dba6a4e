"""Who is signed in: a cookie that only the service can have made, and a token that only its own forms carry. Pure."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ltm_core.serve.keys import ApiKey

_MOST_COOKIE = 4096
"""Characters; browsers keep no longer cookie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSession:
    """One sign-in: by which key, until when (seconds since 1970), for whose memory."""

    key: ApiKey
    secret: bytes = field(repr=False)
    """The service's own, the same in all its workers and in no file."""
    sign_in: str
    """Random, the same from signing in to signing out."""
    id: str
    """Random, new with every sign-in and with every choice of a user, so that a form shown for one user is refused
    once another is chosen."""
    expires: int
    user_id: str | None = None
    """Chosen with an app's or an administrator's key; a user's key has its own."""

    def of(self, user_id: str) -> PageSession:
        """The same sign-in for another user's memory."""
        return replace(self, id=secrets.token_urlsafe(16), user_id=user_id)

    def sealed(self) -> str:
        """The cookie. Its seal is made with the service's secret and the key's stored hash: every worker can check
        it, nobody else can make it, also not with a copy of the file of keys, and it opens nothing once the key is
        revoked or the sign-in was signed out."""
        payload = ".".join((self.key.id, self.sign_in, self.id, str(self.expires), _text(self.user_id)))
        return f"{payload}.{_mac(self.secret, self.key, 'session', payload)}"

    @property
    def token(self) -> str:
        """What every form of this session carries."""
        return _mac(self.secret, self.key, "form", f"{self.id}.{_text(self.user_id)}")

    def sent(self, token: str) -> bool:
        """Whether a form came from this session; takes the same time for any token."""
        return hmac.compare_digest(self.token.encode(), token.encode())


def begun(key: ApiKey, *, now: float, seconds: float, secret: bytes) -> PageSession:
    """A new sign-in."""
    sign_in, id_ = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
    return PageSession(key=key, secret=secret, sign_in=sign_in, id=id_, expires=int(now + seconds))


def opened(
    cookie: str,
    *,
    known: Callable[[str], ApiKey | None],
    ended: Callable[[str], bool],
    now: float,
    secret: bytes,
) -> PageSession | None:
    """The session that the cookie seals; None when it is forged, too old, signed out, or its key is no more."""
    parts = cookie.split(".")
    if len(cookie) > _MOST_COOKIE or len(parts) != 6:
        return None
    key_id, sign_in, id_, expires, user, mac = parts
    key = known(key_id)
    if key is None:
        return None
    right = _mac(secret, key, "session", ".".join(parts[:5]))
    if not hmac.compare_digest(right.encode(), mac.encode()):
        return None
    # Only what the seal covers is read from here on.
    if int(expires) <= now or ended(sign_in):
        return None
    return PageSession(key=key, secret=secret, sign_in=sign_in, id=id_, expires=int(expires), user_id=_untext(user))


def _mac(secret: bytes, key: ApiKey, what: str, payload: str) -> str:
    own = hmac.digest(secret, f"ltm page {what} {key.sha256}".encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(hmac.digest(own, payload.encode(), hashlib.sha256)).decode().rstrip("=")


def _text(user_id: str | None) -> str:
    """An id in the alphabet of cookies; None and every id differ."""
    return "" if user_id is None else "u" + base64.urlsafe_b64encode(user_id.encode()).decode().rstrip("=")


def _untext(text: str) -> str | None:
    if not text:
        return None
    return base64.urlsafe_b64decode(text[1:] + "=" * (-len(text[1:]) % 4)).decode()


__all__ = ["PageSession", "begun", "opened"]
