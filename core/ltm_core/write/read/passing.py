"""What is said beside a figure and is over with the moment: what a thing cost, what became of a code; the fault of a
thing for which help is asked; and what goes wrong again and again and wants mending."""

from __future__ import annotations

from collections.abc import Sequence

from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon

_PASSING = ("price_told", "moment_told", "spelled_surname")
_BRIEF = ("passing_reason", "passing_end")
_LASTS = ("change", "habitual", "lasting", "hard_cessation")


def passing(reads: Sequence[Read], lexicon: Lexicon) -> tuple[Read, ...]:
    """The clauses that only spell a surname, tell a price, a model or a date of what is at hand, or tell of a code
    for one use or of a number to ring now in the sentence that names it; and why, and until when, something is so
    for a few days."""
    secret = {r.clause.sentence for r in reads if _says(r, "secret_told", lexicon)}
    # "我电话是138…，打不通就发短信": a number to ring just now
    rung = {r.clause.sentence for r in reads if _says(r, "contact_told", lexicon)}
    # "车送去保养，这两天先借姐夫的开，周五就还"
    brief = {r.clause.sentence for r in reads if r["temporary"] or r.veto == "one_off"}
    secret |= rung & {r.clause.sentence for r in reads if _says(r, "contact_now", lexicon)}
    helped = any(_says(r, "help_asked", lexicon) for r in reads)
    wrong = [r for r in reads if _is_trouble(r, lexicon)]
    troubles, troubled = {r.clause.start for r in wrong}, {r.clause.sentence for r in wrong}
    return tuple(
        r
        for r in reads
        if _is_fault(r, lexicon, helped=helped)
        or r.clause.start in troubles
        or (r.clause.sentence in troubled and _says(r, "trouble_more", lexicon))
        or any(_says(r, part, lexicon) for part in _PASSING)
        or (r.clause.sentence in brief and any(_says(r, part, lexicon) for part in _BRIEF))
        or (r.clause.sentence in secret and not any(r[w] for w in _LASTS))
    )


def _is_fault(r: Read, lexicon: Lexicon, *, helped: bool) -> bool:
    """Whether a clause tells the code of an error, or of a fault for which help is asked: what ails the speaker or
    his own lasts."""
    if r["first_person"] or r["own_kin"]:
        return False
    return _says(r, "error_told", lexicon) or (helped and _says(r, "fault_told", lexicon))


def _is_trouble(r: Read, lexicon: Lexicon) -> bool:
    """Whether a clause complains of a thing or a process that goes wrong again and again ("my dough never rises",
    "外卖箱老是晃"): it is told to be mended. What ails the speaker's body and how his people are lasts."""
    if not _says(r, "trouble_told", lexicon) or _says(r, "trouble_lasts", lexicon):
        return False
    return not r["first_person"] or _says(r, "trouble_own", lexicon)


def _says(read: Read, part: str, lexicon: Lexicon) -> bool:
    pattern = lexicon.rules(read.clause.language).parts.get(part)
    return pattern is not None and pattern.search(read.clause.norm) is not None
