"""Packaged data of the text layer, read once, when first asked for."""

from __future__ import annotations

from functools import cache


def read(name: str) -> str:
    """The text of ``lexicon/<name>``."""
    from importlib import resources  # imported here: it costs more than the rest of this package

    return resources.files("ltm_core.lexicon").joinpath(name).read_text(encoding="utf-8")


@cache
def words(name: str) -> frozenset[str]:
    """The entries of ``lexicon/<name>``: separated by white space, ``#`` starts a comment line."""
    lines = (line for line in read(name).split("\n") if not line.startswith("#"))
    return frozenset(" ".join(lines).split())


@cache
def characters(name: str) -> frozenset[str]:
    """Every single character of the entries of ``lexicon/<name>``."""
    return frozenset("".join(words(name)))


@cache
def json_text(name: str) -> str:
    """The text of a JSON file of the lexicon; the caller parses it into its own shape."""
    return read(name)
