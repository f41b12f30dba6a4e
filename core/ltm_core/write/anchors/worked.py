"""Chinese replies that tell what came of a proposal: "滴了油就不响了", "照你教的小火炖，果然软烂", "那办法管用".

Such a reply does two things: it points at the proposal (it says that it is the assistant's, names something of it,
or begins with the deed it asked for), and it tells that things are better. Either alone says nothing: "楼上不吵了" is
news of the day, "滴了油" only a report.
"""

from __future__ import annotations

from collections.abc import Sequence

from ltm_core.write.anchors.agreement import SAYS
from ltm_core.write.anchors.undone import refutes
from ltm_core.write.endings.ends import thing_ended
from ltm_core.write.known.news import words
from ltm_core.write.plan import Turn, Utterance
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import normal, script

_LONGEST = 120
"""Characters of a reply that does nothing else."""
_ACKNOWLEDGED = 16
"""Characters of a turn that only takes note of a proposal ("好，我晚上弄")."""
_LEAST_ADVICE = 6
"""Characters of an answer that may hold advice."""
_SAYS_NO = ("fiction", "quotation", "injection", "irony", "question")


def worked(utterance: Utterance, reads: Sequence[Read], proposal: Turn, problem: str, lexicon: Lexicon) -> bool:
    """Whether the reply points at the proposal and tells that things are better for it."""
    if not reads or reads[0].clause.language != "zh" or len(utterance.content) > _LONGEST:
        return False
    parts = lexicon.rules("zh").parts
    planned = any(r["plan"] for r in reads) and not any(parts["reply_after_all"].search(r.clause.norm) for r in reads)
    if planned or any(r.veto in _SAYS_NO or parts["reply_asks"].search(r.clause.norm) for r in reads):
        return False
    if any(asks_for_form(r, lexicon) or parts["reply_nods"].match(r.clause.norm) for r in reads):
        return False
    if not any(parts["reply_good"].search(r.clause.norm) or _undone(r, problem, lexicon) for r in reads):
        return False
    if any(thing_ended(r.clause.norm, lexicon.rules("zh")) for r in reads) and any(
        parts["changed_to"].match(r.clause.norm) and not does([r], proposal.content, lexicon) for r in reads
    ):
        return False  # "跑步停了，改游泳了，膝盖舒服多了" is news of the speaker's life
    if any(_replaced(r, problem, proposal, lexicon) for r in reads):
        return False
    if any(parts["reply_points"].search(r.clause.norm) for r in reads):
        return True
    if not follows(utterance, proposal, lexicon):
        return False
    # "弄了", "买来用了三晚": told without its object, the deed is the one that was advised
    done = any(parts["reply_did"].match(r.clause.norm) for r in reads)
    return done or does(reads, proposal.content, lexicon) or _only_well(utterance, reads, proposal, problem, lexicon)


def _replaced(r: Read, problem: str, proposal: Turn, lexicon: Lexicon) -> bool:
    """Whether a clause tells that another of what gave trouble was got, which nobody advised ("换了新沙发")."""
    parts = lexicon.rules("zh").parts
    m = parts["reply_replaced"].search(r.clause.norm)
    return m is not None and m["thing"] in problem and parts["reply_get"].search(proposal.content) is None


def _only_well(utterance: Utterance, reads: Sequence[Read], proposal: Turn, problem: str, lexicon: Lexicon) -> bool:
    """Whether the first word after advice on a problem is how well things are now ("字清清楚楚的了")."""
    if not problem or not utterance.before or utterance.before[-1] is not proposal:
        return False
    told = [r for r in reads if r.veto != "smalltalk"]
    well = lexicon.rules("zh").parts["reply_well"]
    advises = lexicon.rules("zh").flags["proposal"].search(normal(proposal.content)) is not None
    return advises and bool(told) and all(not r["first_person"] and well.match(r.clause.norm) for r in told)


def says(reads: Sequence[Read], proposal: str, lexicon: Lexicon) -> tuple[str, ...]:
    """In which of the known ways a Chinese reply speaks of a proposal; cues of the learned model."""
    parts = lexicon.rules("zh").parts
    norms = [r.clause.norm for r in reads if r.clause.language == "zh"]
    found = [s for s in SAYS if f"reply_{s}" in parts and any(parts[f"reply_{s}"].search(n) for n in norms)]
    return (*found, "does") if norms and does(reads, proposal, lexicon) else tuple(found)


def points(reads: Sequence[Read], lexicon: Lexicon) -> bool:
    """Whether a Chinese reply says that it speaks of what the assistant advised ("你教的那招")."""
    if not reads or reads[0].clause.language != "zh":
        return False
    return any(lexicon.rules("zh").parts["reply_points"].search(r.clause.norm) for r in reads)


def advice(turns: Sequence[Turn], lexicon: Lexicon) -> tuple[Turn | None, str]:
    """The last turn of the assistant that says anything which may be followed, whatever its words, and the user's
    words of the problem: what came of it is clear only if the reply points at it."""
    own = lexicon.rules("zh").parts["own_act"]
    for i in range(len(turns) - 1, -1, -1):
        turn = turns[i]
        text = normal(turn.content).strip()
        if turn.role != "assistant" or len(text) < _LEAST_ADVICE:
            continue
        if script(text) != "zh" or own.match(text) or text.endswith("?"):
            return None, ""
        asked = next((t.content for t in reversed(turns[:i]) if t.role == "user"), "")
        return turn, asked
    return None, ""


def does(reads: Sequence[Read], proposal: str, lexicon: Lexicon) -> bool:
    """Whether the reply names something of the proposal, or tells that a deed of it was done ("清完就好了" to "清一下
    缓存")."""
    function = lexicon.gate.function
    offered = normal(proposal)
    told = " ".join(r.clause.norm for r in reads)
    if words(told, function) & words(offered, function):
        return True
    done = lexicon.rules("zh").parts["reply_done"]
    found = [m for r in reads if (m := done.match(r.clause.norm)) is not None]
    return any((m["verb"] or m["thing"]) in offered for m in found)


def follows(utterance: Utterance, proposal: Turn, lexicon: Lexicon) -> bool:
    """Whether nothing was said since the proposal but that it is noted."""
    turns = utterance.before if proposal in utterance.before else utterance.earlier
    place = next((i for i, t in enumerate(turns) if t is proposal), None)
    if place is None:
        return False
    said = [t.content for t in turns[place + 1 :] if t.role == "user"]
    return all(len(s) <= _ACKNOWLEDGED and not refutes(s, lexicon) for s in said)


def asks_for_form(r: Read, lexicon: Lexicon) -> bool:
    """Whether a Chinese clause asks for what the assistant wrote in another form ("再短点", "换成法语")."""
    edits = lexicon.rules(r.clause.language).parts.get("reply_edits")
    return edits is not None and edits.match(r.clause.norm) is not None


def elsewhere(reads: Sequence[Read], problem: str, proposal: Turn, lexicon: Lexicon) -> bool:
    """Whether a Chinese reply turns to something else: the street, the weather, the assistant itself, or another form
    for what was written."""
    parts = lexicon.rules("zh").parts
    if any(asks_for_form(r, lexicon) or parts["reply_nods"].match(r.clause.norm) for r in reads):
        return True
    if not any(parts["reply_elsewhere"].match(r.clause.norm) for r in reads):
        return False
    function = lexicon.gate.function
    told = " ".join(r.clause.norm for r in reads)
    return not words(told, function) & words(normal(f"{problem} {proposal.content}"), function)


def _undone(r: Read, problem: str, lexicon: Lexicon) -> bool:
    """Whether a clause says that what was the problem is so no more ("不响了" of something that creaks)."""
    m = lexicon.rules("zh").parts["reply_no_more"].search(r.clause.norm)
    asked = normal(problem)
    if thing_ended(r.clause.norm, lexicon.rules("zh")):
        return False
    return m is not None and any(m[g] is not None and m[g] in asked for g in ("what", "what2"))
