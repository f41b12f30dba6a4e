"""Values that name nothing outside the conversation: "the second one", "your tool", "那个礼物"."""

from __future__ import annotations

from ltm_core.write.extract.draft import Draft
from ltm_core.write.words.lexicon import Lexicon
from ltm_core.write.words.norm import fold, trim


def names_nothing(draft: Draft, lexicon: Lexicon) -> bool:
    """Whether what the draft states is only about this conversation: its value points at something shown or said
    here, or its attribute is a part of the talk itself ("my question")."""
    if not draft.about_user or not draft.positive or draft.move is not None or draft.wrong:
        return False
    value = fold(trim(draft.object))
    base, _, noun = draft.relation.partition(":")
    if base == "attribute":
        return bool(lexicon.shared["of_talk"].search(noun))
    if base in lexicon.sets["places"] and value in lexicon.sets["anywhere"] and not value.isascii():
        return True  # "我一直在那里生活"
    if base in lexicon.sets["placed"]:
        return lexicon.shared["pronoun_alone"].match(value) is not None
    return base in lexicon.sets["pointed"] and lexicon.shared["points_here"].match(value) is not None
