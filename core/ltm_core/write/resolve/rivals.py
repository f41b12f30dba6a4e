"""Which known values a new one takes the place of. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ltm_core.types import Fact
from ltm_core.write.endings.ended import may_end
from ltm_core.write.endings.other_side import is_of_other_side
from ltm_core.write.endings.telling_of import tells_of_part
from ltm_core.write.endings.touching import is_other_slot, only_touches, tells_of_another
from ltm_core.write.extract.renew import RULE as RENEWED
from ltm_core.write.known.details import is_detail_of
from ltm_core.write.known.match import counts, same_activity, same_thing
from ltm_core.write.known.revalued_zh import revalued
from ltm_core.write.known.rows import UNTOUCHED
from ltm_core.write.plan import Candidate
from ltm_core.write.resolve.replaces import done_with, only_provider, same_verb, switched, takes_place
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold


def rivals(c: Candidate, mine: Sequence[Fact], taken: set[str], lexicon: Lexicon, *, sure_from: float) -> list[Fact]:
    """Other values of the same single-valued slot."""
    mine = [f for f in mine if not is_of_other_side(f, c.text, lexicon)]
    again = [
        f
        for f in mine
        if _may_be_revalued(f, c, taken) and revalued(f, c, lexicon) and not only_touches(f, c.text, lexicon)
    ]
    if again and len({e.message_id for f in again for e in f.evidence[:1]}) == 1:
        return again
    if c.is_positive and c.rule in ("open", RENEWED) and c.move in ("change", "revert") and not c.single_valued:
        return renewed(c, mine, taken, lexicon)
    if not c.is_positive or c.relation_confidence < sure_from:
        return []
    slot = [
        f
        for f in mine
        if f.relation == c.relation
        and f.is_positive
        and f.modality not in UNTOUCHED
        and f.id not in taken
        and not equal(f, c, lexicon)
        and not only_touches(f, c.text, lexicon, whole=False)
    ]
    if c.relation == "lives_in" and c.move == "change" and c.subject.isascii():
        slot += [f for f in mine if f.id not in taken and is_home(f, c, lexicon)]
    if c.single_valued and not (c.move == "change" and (not slot or c.relation.startswith("single:"))):
        return slot
    if c.move not in ("change", "correct", "revert"):
        return slot if c.single_valued else []
    new = renewed(c, mine, taken, lexicon)
    if new or c.single_valued:
        return list({f.id: f for f in (*slot, *new)}.values()) if c.single_valued else new
    recounted = [
        f
        for f in slot
        if same_thing(f, c.object_normalized) or (c.relation == "habit" and same_activity(f, c, lexicon))
    ]
    if recounted:
        return recounted
    return slot if lexicon.relation(c.relation).replaces and len(slot) == 1 and not taken else []


def _may_be_revalued(f: Fact, c: Candidate, taken: set[str]) -> bool:
    told = {e.message_id for e in c.evidence}
    free = f.modality not in UNTOUCHED and f.id not in taken and not any(e.message_id in told for e in f.evidence)
    return free and c.move in ("change", "revert") and f.kind not in ("solution", "procedure")


def is_home(f: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether words kept as they are say where somebody lives ("I'm in Austin, near Zilker")."""
    told = {e.message_id for e in c.evidence}
    return (
        f.relation in lexicon.sets["own_words"]
        and may_end(f)
        and lexicon.shared["lives_there"].match(f.text) is not None
        and not any(e.message_id in told for e in f.evidence)
    )


def renewed(c: Candidate, mine: Sequence[Fact], taken: set[str], lexicon: Lexicon) -> list[Fact]:
    """What a value said to be new takes the place of, known under another name of the same thing."""
    told = {e.message_id for e in c.evidence}
    free = [
        f
        for f in mine
        if f.is_positive
        and f.modality not in UNTOUCHED
        and f.id not in taken
        and not equal(f, c, lexicon)
        and not any(e.message_id in told for e in f.evidence)
        and (switched(f, c, lexicon) or done_with(f, c, lexicon) or not only_touches(f, c.text, lexicon))
        and not tells_of_another(f, c.text, lexicon)
        and not tells_of_part(f, c, lexicon)
        and not is_other_slot(f, c.relation, lexicon)
    ]
    out = [f for f in free if takes_place(f, c, lexicon)] or only_provider(free, c, lexicon)
    if c.relation == "dose" and len(out) > 1:
        return []  # of which medicine is not said
    if ":" not in c.relation and c.single_valued and len(out) > 1:
        out = [f for f in out if f.relation == c.relation]  # which of several budgets is not said
    if c.rule != RENEWED:
        done = [] if out else same_verb(free, c, lexicon)
        return done if len(done) == 1 else out
    held = {f.id for f in out}
    return out + [f for f in mine if f.id not in held and any(is_detail_of(f, o) for o in out)]


def equal(f: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    """Whether a fact and a candidate give the same value, as often as each counts it."""
    same = (f.object_normalized or fold(f.object)) == c.object_normalized
    return same and counts(f.object, lexicon) == counts(c.object, lexicon)
