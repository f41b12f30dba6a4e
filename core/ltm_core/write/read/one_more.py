"""One more thing of the sort just told, without the rest of the sentence: "I'm allergic to penicillin." "Sulfa drugs,
too." It is read as the last statement with the new thing in the place of the old one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ltm_core.types import Evidence
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, trim

RULE = "en.one_more"


def one_more(
    reads: Sequence[Read], i: int, told: Callable[[], Sequence[Candidate]], utterance: Utterance, lexicon: Lexicon
) -> Candidate | None:
    """What the bare thing at place ``i`` adds to the last statement; None when it adds none."""
    r = reads[i]
    parts = lexicon.rules(r.clause.language).parts
    if "thing_too" not in parts or r.veto:
        return None
    m = parts["thing_too"].match(r.clause.norm)
    end = r.clause.end
    if m is None:
        after = reads[i + 1] if i + 1 < len(reads) else None
        m = parts["thing_alone"].match(r.clause.norm)
        joined = after is not None and after.clause.sentence == r.clause.sentence
        if m is None or after is None or not joined or parts["too_alone"].match(after.clause.norm) is None:
            return None
        end = after.clause.end
    last = next(reversed(told()), None)
    if last is None or not last.object or last.relation not in lexicon.sets["goes_on_with"] or last.move == "cease":
        return None
    value = trim(r.clause.text[m.start("object") : m.end("object")])
    if fold(value) == last.object_normalized or last.object not in last.text:
        return None
    return replace(
        last,
        object=value,
        object_normalized=fold(value),
        text=last.text.replace(last.object, value, 1),
        move="state",
        wrong_object=None,
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=(Evidence(message_id=utterance.message_id, start=r.clause.start, end=end),),
        rule=RULE,
    )
