"""Chinese words that say that something is so once more: "宽带又办回联通了", "重新交给奶奶带了", "又是寸头了".

The words name what holds again and, as a rule, not what held meanwhile. What is meant is known beside the store: a
fact that was replaced and of which the words name what its heir does not say; or, when the change between was never
read as one, a fact that still holds beside a later one of the same matter. Pure but for the reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ltm_core.types import Fact
from ltm_core.write.endings.comebacks import TookPlace
from ltm_core.write.known.news import words
from ltm_core.write.known.revalued_zh import in_one_group
from ltm_core.write.known.rows import told_before
from ltm_core.write.plan import Candidate
from ltm_core.write.read.scopes import Read
from ltm_core.write.words.lexicon import Lexicon

if TYPE_CHECKING:
    from ltm_core.store.base import Reader

_UNSURE = ("negation", "past", "third_person", "ephemeral")
"""Cues of clauses in which a bare "又" only counts what happened ("昨天又去了趟超市")."""
_MOST = 60
"""Newest facts among which the one that holds again is looked for."""
_LEAST = 3
"""Pairs of characters that a mere "again" must name of a fact that nothing was read to have replaced."""


def says_again(read: Read, lexicon: Lexicon) -> bool:
    """Whether a Chinese clause says that something is so once more."""
    if read.clause.language != "zh":
        return False
    parts, norm = lexicon.rules("zh").parts, read.clause.norm
    if parts["again_said"].search(norm) is None or parts["so_again_not"].search(norm) is not None:
        return False
    if parts["so_again_surely"].search(norm) is not None:
        return True
    return parts["so_again"].search(norm) is not None and not any(read[w] for w in _UNSURE)


def pointed_at(read: Read, before: Read | None, after: Read | None, lexicon: Lexicon) -> str:
    """A clause that says surely that something is so again and only points at it, with the clause of its sentence
    that names it: "龚主任援藏结束，我又转回他名下了", "我又被调回去了，还在窗口"; "" for any other."""
    if read.clause.language != "zh" or not says_again(read, lexicon):
        return ""
    parts, text = lexicon.rules("zh").parts, read.clause.text
    beside = [b for b in (before, after) if b is not None and b.clause.sentence == read.clause.sentence]
    if parts["back_to_him"].search(text) and before in beside and before is not None:
        return f"{before.clause.text}{text}"
    if parts["back_there"].search(text) and after in beside and after is not None:
        return f"{text}{after.clause.text}"
    return ""


def holds_again(
    reader: Reader, c: Candidate, *, now: datetime, lexicon: Lexicon, took_place: TookPlace
) -> tuple[Fact, list[Fact]] | None:
    """The fact that the words say holds again, and those that held in its place; None when it is not clear."""
    function, parts = lexicon.gate.function, lexicon.rules("zh").parts
    surely = parts["so_again_surely"].search(c.text)
    mark = surely or parts["so_again"].search(c.text)
    if mark is None:
        return None
    said = words(c.text[mark.start() :], function)  # of whom it tells stands before
    if c.object != c.text:
        said |= words(c.object, function) - words(c.text, function)
    open_ = [f for f in reader.facts(current_at=now, newest_first=True, limit=_MOST) if _is_told_before(f, c)]
    current = [f for f in open_ if _may_be(f, c, lexicon)]
    held = {f.id: f for f in current}
    for back in reader.facts(past_at=now, newest_first=True, limit=_MOST):
        heir = held.get(back.superseded_by or "")
        if heir is None or not _is_told_of(back, c):
            continue
        if _may_be(back, c, lexicon) and back.retracted_at is None and _names(said, back, heir, lexicon):
            return back, [heir, *_told_with(heir, back, current, lexicon)]
        if _is_post_again(c.text, back, lexicon):
            return back, [heir]
    turned = parts["came_instead"]
    bare = {w for w in said if w[:1] != "又" and w[-1:] != "了"}
    for heir in open_:
        for back in current:
            if back.recorded_at >= heir.recorded_at or not (_is_of_one(back, heir) and _is_told_of(back, c)):
                continue
            groups = in_one_group(heir.text, back.text, lexicon.sets["slots_zh"])
            is_turn = turned.search(heir.text) is not None
            whole = bool(bare) and bare <= words(back.text, function)
            if not _names(said, back, heir, lexicon, least=1 if surely is not None or whole else _LEAST):
                continue
            matter = is_turn and (
                words(heir.text, function) & (words(back.text, function) | said)
                or _same_deed(heir.text, back.text + c.text[mark.start() :], lexicon)
                or took_place(heir, back)
            )
            if matter or groups:
                return back, [heir, *_told_with(heir, back, current, lexicon)]
    return None


def _same_deed(one: str, other: str, lexicon: Lexicon) -> bool:
    """Whether both tell what is done in one verb ("地由我自己种", "租给合作社种")."""
    deed = lexicon.rules("zh").parts["deed"]
    return bool({m.group() for m in deed.finditer(one)} & {m.group() for m in deed.finditer(other)})


def _names(said: set[str], back: Fact, heir: Fact, lexicon: Lexicon, *, least: int = 1) -> bool:
    """Whether the words name more of what the one fact alone says than of what the other does."""
    one, two = (_told(f"{f.text} {f.object}", lexicon) for f in (back, heir))
    return len((one - two) & said) >= max(least, 1 + len((two - one) & said))


def _is_post_again(text: str, back: Fact, lexicon: Lexicon) -> bool:
    """Whether the speaker holds once more the post that the fact gives him ("又选我当社长")."""
    if back.relation not in lexicon.sets["held_posts"]:
        return False
    m = lexicon.rules("zh").parts["post_again"].search(text)
    return m is not None and back.object.endswith(m["post"])


def _told(text: str, lexicon: Lexicon) -> set[str]:
    return {w for w in words(text, lexicon.gate.function) if not w.endswith("了")}


def _may_be(f: Fact, c: Candidate, lexicon: Lexicon) -> bool:
    if lexicon.relation(f.relation).slot == "residence" and not lexicon.shared["returns_home"].search(c.text):
        return False  # one goes back to a town without living there again
    return _is_told_before(f, c)


def _is_told_before(f: Fact, c: Candidate) -> bool:
    same = (f.speaker or None) == (c.speaker or None)
    return same and bool(f.evidence) and not f.text.isascii() and told_before(f, c)


def _is_of_one(one: Fact, other: Fact) -> bool:
    """Whether both may tell of the same one: a clause without a subject is kept as the speaker's."""
    return one.subject == other.subject or "user" in (one.subject, other.subject)


def _is_told_of(back: Fact, c: Candidate) -> bool:
    """Whether the words may tell of the one whom the fact is about: what a husband does again is his."""
    return c.subject in (back.subject, "user") or c.subject == c.speaker or c.is_about_user


def _told_with(heir: Fact, back: Fact, current: Sequence[Fact], lexicon: Lexicon) -> list[Fact]:
    """What else the same message told in place of it, of the matter of either in so many words."""
    told = {e.message_id for e in heir.evidence}
    matter = words(f"{back.text} {heir.text}", lexicon.gate.function)
    came = lexicon.rules("zh").parts["came_instead"]
    return [
        f
        for f in current
        if f.id != heir.id
        and any(e.message_id in told for e in f.evidence)
        and words(f.text, lexicon.gate.function) & matter
        and (came.search(f.text) is not None or _same_deed(f.text, back.text, lexicon))
    ]
