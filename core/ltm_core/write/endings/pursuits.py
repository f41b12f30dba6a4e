"""Which English facts tell of what somebody gives up doing, somewhere or for somebody. Pure."""

from __future__ import annotations

from ltm_core.types import Fact
from ltm_core.write.known.match import goes_on
from ltm_core.write.known.mentions import content
from ltm_core.write.plan import Candidate
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold

_LEAST_PLACE = 4
"""Characters of the name of a place of work that is looked for in other words."""


def is_activity_of(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether an English fact tells of what is given up, at whatever times and places ("do yoga every morning",
    "stopped doing yoga"; "I teach zumba at the centre", "packed in the zumba teaching")."""
    if candidate.relation != "does" or not (candidate.object + fact.text).isascii():
        return False
    times = lexicon.shared["of_time"]
    given_up = set(content(times.sub(" ", candidate.object), lexicon)) - lexicon.sets["bare_verbs"]
    if fact.relation in ("habit", "does"):
        return bool(given_up) and given_up <= set(content(times.sub(" ", fact.object), lexicon))
    if fact.relation in lexicon.sets["own_words"] and given_up:  # "we fly to Tenerife every winter", "stopped flying"
        told = content(fact.text, lexicon)
        begins = told[:1] == content(candidate.object, lexicon)[:1] and candidate.object.split()[0].endswith("ing")
        return begins and given_up <= set(told)
    done = len(given_up) > 1 and any(w.endswith("ing") for w in candidate.object.split())
    return done and fact.relation in lexicon.sets["done_for"] and given_up <= set(content(fact.text, lexicon))


def is_job_at(fact: Fact, candidate: Candidate, lexicon: Lexicon) -> bool:
    """Whether an English fact tells of a job at the place that is left ("a Saturday job at the garden centre")."""
    place, said = candidate.object_normalized, fold(fact.text)
    job = lexicon.rules("en").parts["a_job"].search(said)
    return job is not None and len(place) >= _LEAST_PLACE and place in said[job.end() :]


def is_some_of(fact: Fact, candidate: Candidate) -> bool:
    """Whether English words deny what the fact tells more of: "kittens" of "kittens for the shelter"."""
    if candidate.move != "cease" or fact.relation != candidate.relation:
        return False
    return goes_on(fact.object_normalized, candidate.object_normalized)
