"""How an order, a ticket, a quote stands, told in words that no pattern knows: "工单#A70312还没人接"."""

from __future__ import annotations

from ltm_core.write.identifiers import Identifier
from ltm_core.write.lexicon import Lexicon
from ltm_core.write.norm import fold, trim
from ltm_core.write.plan import Candidate, Utterance
from ltm_core.write.scopes import Read

_NOT = ("question", "command", "conditional", "plan", "goal")


def status_told(r: Read, identifier: Identifier, utterance: Utterance, lexicon: Lexicon) -> Candidate | None:
    """What the clause says behind an identifier, as its status; None when it says nothing of the kind."""
    pattern = lexicon.rules(r.clause.language).parts.get("stands")
    if pattern is None or r.veto or any(r[w] for w in _NOT):
        return None
    at = identifier.end - r.clause.start
    m = pattern.match(r.clause.norm[at:])
    if m is None:
        return None
    begin = at + m.start("object")
    value = trim(r.clause.text[begin : at + m.end("object")])
    if not value:
        return None
    return Candidate(
        subject=f"{identifier.kind}:{identifier.text}",
        relation="status",
        object=value,
        object_normalized=fold(value),
        text=trim(r.clause.text),
        kind="status",
        is_about_user=False,
        confidence=0.8,
        relation_confidence=0.8,
        importance="high",
        single_valued=True,
        valid_from=utterance.at,
        said_at=utterance.at,
        evidence=(r.evidence(utterance.message_id),),
        rule="stands",
    )
