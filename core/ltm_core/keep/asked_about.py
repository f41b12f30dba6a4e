"""Which facts a request in the chat names, whatever name it uses. Pure.

The surest way of naming that finds a fact decides: a relative, a relation, the words themselves; only then other
names of the topic. What is erased is gone for good, so names that may miss what is meant serve requests to be silent
alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from ltm_core.keep.matching import facts_named
from ltm_core.keep.meant import facts_meant, of_request
from ltm_core.keep.nearest import OF_RELATIVE, QUIET, VectorsOf, nearest
from ltm_core.types import Fact
from ltm_core.write.plan import ForgetRequest
from ltm_core.write.requests.topic_zh import Topic
from ltm_core.write.words.load import default_lexicon
from ltm_core.write.words.request_words import request_words

_MOST_LOOSE = 3
"""Facts that a topic may name by another name and still be erased; more are named by no one's intent."""
_CHILDREN = ("child", "son", "daughter")
_LEAST_PIECE = 2
"""Characters that a topic and a fact must share."""
_COMMA = 2
"""Characters between clauses of one sentence."""


def facts_asked_about(facts: Sequence[Fact], request: ForgetRequest, vectors: VectorsOf | None = None) -> list[Fact]:
    """The facts that the request names, with the clauses that only go on with what those say."""
    topic = request.topic
    if topic is None:
        return list(facts_meant(facts, request))
    quiet = request.mode == "suppress"
    return _with_rest(_found(facts, request, topic, vectors), facts, topic, quiet=quiet)


def _found(facts: Sequence[Fact], request: ForgetRequest, topic: Topic, vectors: VectorsOf | None) -> list[Fact]:
    """What the topic names; of two things named together what each of them names."""
    for way in _ways(facts, request, topic, vectors):
        if found := way():
            return found
    return []


def _ways(
    facts: Sequence[Fact], request: ForgetRequest, topic: Topic, vectors: VectorsOf | None
) -> Iterator[Callable[[], list[Fact]]]:
    loose = request.mode == "suppress"
    if topic.whose:
        whose = _CHILDREN if topic.whose == "child" else (topic.whose,)
        theirs = [f for f in facts if f.subject in whose]
        if not topic.names:
            yield lambda: [f for f in facts if f in theirs or (f.is_about_user and _mentions(f, topic.called))]
            if loose:  # "前男友" of "和男友分手了"
                yield lambda: _told([f for f in facts if f.is_about_user], topic.told)
            return
        yield lambda: [f for f in theirs if f.relation in topic.relations]
        yield lambda: [f for name in topic.names for f in facts_named(theirs, name)]
        yield lambda: facts_named(facts, request.target)
        yield lambda: _few(_told(theirs, (*topic.split, *topic.told)), most=len(theirs))
        yield lambda: _sharing(theirs, topic.names[:1], loose=loose)
        if loose:
            yield lambda: [f for name in topic.looser for f in facts_named(theirs, name)]
            yield lambda: [f for f in facts if f.is_about_user and _mentions(f, topic.called)]
        if loose:
            yield lambda: nearest(theirs, topic.meant, vectors, OF_RELATIVE)
        return
    yield lambda: [f for f in facts if f.relation == f"attribute:{topic.attribute}" and f.is_about_user]
    if request.relations:
        yield lambda: facts_named(facts, request.target, relations=request.relations)
    own = [f for f in facts if f.is_about_user]
    # "我的工资" is not what the wife earns; "我的狗" is told of the dog.
    named = own if topic.own and request.relations else facts
    yield from (partial(facts_named, named, name) for name in (request.target, *topic.names))
    if topic.parts:
        each = (replace(request, target=p.meant, relations=()) for p in topic.parts)
        yield lambda: [f for r, p in zip(each, topic.parts, strict=True) for f in _found(facts, r, p, vectors)]
    yield lambda: _few(_told(own, topic.split), most=len(own) if loose else 1)
    yield lambda: _few(_told(own, topic.told), most=len(own) if loose else _MOST_LOOSE)
    if loose:
        yield lambda: [f for name in topic.looser for f in facts_named(facts, name)]
        yield lambda: [f for f in own if _is_member(f, topic)]
    others = own if topic.own else facts
    yield lambda: _few(_told(others, (*topic.split, *topic.told)), most=1)
    yield lambda: _sharing(others, topic.names[-1:], loose=False)
    if loose and not request.relations:  # the phone number that nobody told is not the phone
        yield lambda: nearest(others, topic.meant, vectors, QUIET)


def _mentions(fact: Fact, names: Sequence[str]) -> bool:
    return any(name in fact.text for name in names)


def _told(facts: Sequence[Fact], expressions: Sequence[str]) -> list[Fact]:
    return [f for f in facts if any(of_request(e).search(f"{f.text} | {f.object}") for e in expressions)]


def _few(facts: list[Fact], *, most: int) -> list[Fact]:
    return facts if len(facts) <= most else []


def _sharing(facts: Sequence[Fact], names: Sequence[str], *, loose: bool) -> list[Fact]:
    """The facts that share the longest piece with the topic, when it is a good half of it ("存折里的钱数"). What is
    erased is not the game by the name of its racket ("羽毛球拍")."""
    words = request_words()
    for name in names:
        least = max(_LEAST_PIECE, (len(name) + 1) // 2)
        for n in range(len(name), least - 1, -1):
            places = [i for i in range(len(name) - n + 1) if words["common_piece"].search(name[i : i + n]) is None]
            shared = {i: [f for f in facts if name[i : i + n] in f.text] for i in places}
            if any(shared.values()):
                kept = [i for i in shared if loose or words["thing_for"].search(name[i + n :]) is None]
                meant = [f for f in facts if any(f in shared[i] for i in kept)]
                return _few(meant, most=_MOST_LOOSE if loose else 1)
    return []


def _is_member(fact: Fact, topic: Topic) -> bool:
    """Whether the fact is about a thing of the class that the topic names ("运动", "海鲜")."""
    lexicon = default_lexicon()
    classes = {lexicon.class_names[n] for n in topic.names if n in lexicon.class_names}
    return any(m in fact.object for c in classes for m in lexicon.classes.get(c, ()) if len(m) > 1)


def _with_rest(found: Sequence[Fact], facts: Sequence[Fact], topic: Topic, *, quiet: bool) -> list[Fact]:
    """The facts, those read from the clause behind theirs that names nothing of its own ("叫舍曲林"), and those
    beside theirs that tell the same topic in other words ("在投简历，想跳槽").

    What else was told of a relative in the same breath is only hidden.
    """
    goes_on = request_words()["goes_on"]
    out = list(dict.fromkeys(f.id for f in found))
    by_id = {f.id: f for f in facts}
    for fact in facts:
        bare = fact.relation in ("about", "goal") and goes_on.match(fact.text) is not None
        beside = [o for o in out if fact.id not in out and _follows(fact, by_id[o])]
        same = quiet and not fact.is_about_user and any(by_id[o].subject == fact.subject for o in beside)
        also = fact.id not in out and _told([fact], topic.told) and any(_beside(fact, by_id[o]) for o in out)
        if (beside and (bare or same)) or also:
            out.append(fact.id)
    return [by_id[i] for i in out]


def _beside(fact: Fact, other: Fact) -> bool:
    return fact.subject == other.subject and (_follows(fact, other) or _follows(other, fact))


def _follows(fact: Fact, other: Fact) -> bool:
    return any(
        a.message_id == b.message_id and 1 <= a.start - b.end <= _COMMA for a in fact.evidence for b in other.evidence
    )
