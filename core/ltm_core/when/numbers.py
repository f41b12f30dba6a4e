"""Counts in words and digits. "A few" is a range, so every count is a pair."""

from __future__ import annotations

_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "○": 0, "元": 1}
_SMALL = {"十": 10, "百": 100}
FEW = (2.0, 5.0)


def chinese(word: str) -> int | None:
    """The value of a Chinese numeral up to 999, read by place ("二十三") or digit by digit ("二〇一九")."""
    word = word.replace("廿", "二十").replace("卅", "三十")
    if not any(c in _SMALL for c in word):
        digits = [_DIGITS.get(c) for c in word]
        if not digits or None in digits:
            return None
        return int("".join(str(d) for d in digits))
    total, pending = 0, 0
    for char in word:
        if char in _SMALL:
            total += (pending or 1) * _SMALL[char]
            pending = 0
        elif char in _DIGITS:
            pending = _DIGITS[char]
        else:
            return None
    return total + pending


def count(word: str, named: dict[str, int | str]) -> tuple[float, float] | None:
    """The least and the greatest value of a count; equal unless the count is vague."""
    word = " ".join(word.split())
    if word in named:
        value = named[word]
        if isinstance(value, int):
            return float(value), float(value)
        low, _, high = value.partition("-")
        return float(low), float(high or low)
    if word.isascii():
        try:
            return float(word), float(word)
        except ValueError:
            return None
    if word.endswith("几"):
        ten = chinese(word[:-1])
        return (ten + 1.0, ten + 9.0) if ten else FEW
    value_of = chinese(word)
    return None if value_of is None else (float(value_of), float(value_of))


def integer(word: str, named: dict[str, int | str]) -> int | None:
    """A single whole number, or None when the word is vague or no number."""
    pair = count(word, named)
    return int(pair[0]) if pair and pair[0] == pair[1] else None
