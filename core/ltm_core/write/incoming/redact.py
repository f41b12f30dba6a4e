"""Personal data masked before anything is stored: phone, id card, bank card, email, passport.

Order, contract and tracking numbers survive: a number is masked for its form and checksum, or for the word
before it, never only for its length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from ltm_core.write.words.load import redaction_words

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,4}[A-Za-z]{2,24}(?![\w-])")
_ID_CARD = re.compile(
    r"(?<![\dA-Za-z])\d{6}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?![\dA-Za-z])"
)
_CARD = re.compile(r"(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])")
_MOBILE = re.compile(r"(?<![\dA-Za-z_-])(?:(?:\+|00)86[ -]?)?1[3-9]\d(?:[ -]?\d{4}){2}(?![\dA-Za-z_])")
_LANDLINE = re.compile(r"(?<![\dA-Za-z_-])(?:\(0\d{2,3}\)|0\d{2,3})[ -]?[2-9]\d{6,7}(?:-\d{1,5})?(?![\dA-Za-z_-])")
_INTERNATIONAL = re.compile(r"(?<![\dA-Za-z_])\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}(?![\dA-Za-z_])")
_NANP = re.compile(r"(?<![\w.-])\(?[2-9]\d{2}\)?[ .-][2-9]\d{2}[ .-]\d{4}(?![\w-])")
_PHONE_VALUE = r"\+?\(?\d[\d ().-]{5,18}\d(?![\dA-Za-z])"
_PASSPORT_VALUE = r"[A-Z]{1,3}[- ]?\d(?:[A-Z0-9-]{3,14})[A-Z0-9]|[A-Z0-9]{6,12}(?<=\d)|[A-Z]{2}-\d{3,8}(?:-[A-Z]+)?"
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CHECK = "10X98765432"
_CONTEXT = 24


@cache
def _after_label(name: str, value: str) -> re.Pattern[str]:
    """A value behind a word that says what it is ("phone", "护照号")."""
    tables = redaction_words(name), redaction_words(f"{name}_links")
    words, links = ("|".join(w for language in table.values() for w in language) for table in tables)
    return re.compile(rf"(?P<label>(?:{words})(?: ?(?:{links}|[:：#]))* ?)(?P<value>{value})", re.I)


@cache
def _order_word() -> re.Pattern[str]:
    """A word by which a number belongs to an order, at the end of what stands before it."""
    table = redaction_words("order")
    latin, others = "|".join(table["en"]), "|".join([*table["zh"], *table["ja"]])
    return re.compile(rf"(?:(?<![A-Za-z])(?:{latin})|{others})[\w号#: ：.是为]{{0,12}}$", re.I)


def redact(text: str) -> tuple[str, dict[str, int]]:
    """The text with personal data replaced by ``[phone]``, ``[id card]``, ``[bank card]``, ``[email]`` or
    ``[passport]``, and how many of each. Masking a masked text changes nothing."""
    counts: Counter[str] = Counter()
    if not any(c.isdigit() for c in text) and "@" not in text:
        return text, {}
    text = _sub(_EMAIL, text, "email", counts)
    passport, phone = _after_label("passport", _PASSPORT_VALUE), _after_label("phone", _PHONE_VALUE)
    text = _labelled(passport, text, "passport", counts, lambda v: sum(c.isdigit() for c in v) >= 3)
    text = _sub(_ID_CARD, text, "id card", counts, is_id_card)
    text = _labelled(phone, text, "phone", counts, lambda v: 7 <= sum(c.isdigit() for c in v) <= 15)
    text = _sub(_MOBILE, text, "phone", counts, ordered=True)
    text = _sub(_INTERNATIONAL, text, "phone", counts, lambda v: 8 <= sum(c.isdigit() for c in v) <= 15)
    text = _sub(_LANDLINE, text, "phone", counts, ordered=True)
    text = _sub(_NANP, text, "phone", counts, ordered=True)
    text = _sub(_CARD, text, "bank card", counts, is_bank_card, ordered=True)
    return text, dict(counts)


def redact_value(value: Any) -> Any:
    """JSON with every string in it masked, keys included; numbers that are personal data become masks."""
    if isinstance(value, str):
        return redact(value)[0]
    if isinstance(value, Mapping):
        return {(redact(k)[0] if isinstance(k, str) else k): redact_value(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [redact_value(v) for v in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**9:
        masked, found = redact(str(value))
        return masked if found else value
    return value


def is_id_card(value: str) -> bool:
    """Whether the check digit of an 18-digit PRC id card is right."""
    total = sum(w * int(d) for w, d in zip(_WEIGHTS, value[:17], strict=True))
    return _CHECK[total % 11] == value[17].upper()


def is_bank_card(value: str) -> bool:
    """Whether 13 to 19 digits pass the Luhn check and are not one digit repeated."""
    digits = [int(c) for c in value if c.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [d if i % 2 == 0 else d * 2 - 9 * (d > 4) for i, d in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def _sub(
    pattern: re.Pattern[str],
    text: str,
    name: str,
    counts: Counter[str],
    check: Callable[[str], bool] | None = None,
    *,
    ordered: bool = False,
) -> str:
    def mask(m: re.Match[str]) -> str:
        if check is not None and not check(m.group()):
            return m.group()
        if ordered and _order_word().search(m.string[max(0, m.start() - _CONTEXT) : m.start()]):
            return m.group()
        counts[name] += 1
        return f"[{name}]"

    return pattern.sub(mask, text)


def _labelled(
    pattern: re.Pattern[str], text: str, name: str, counts: Counter[str], check: Callable[[str], bool]
) -> str:
    def mask(m: re.Match[str]) -> str:
        if not check(m["value"]):
            return m.group()
        counts[name] += 1
        return f"{m['label']}[{name}]"

    return pattern.sub(mask, text)
