"""The story of the demo: what two people say, what they ask later, and what must be true then."""

from __future__ import annotations

from dataclasses import dataclass

from ltm_core.types import Role

ANA, LIN = "ana", "lin"


@dataclass(frozen=True, slots=True)
class Said:
    """One turn. ``days_ago`` dates it; ``point`` tells the reader why it is in the story."""

    user: str
    session: str
    days_ago: int
    role: Role
    text: str
    point: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to the second process: what its context must hold, and what its facts must not."""

    user: str
    before: str
    """A turn of the same conversation, said just before."""
    question: str
    holds: str
    never_a_fact: str


STORY = (
    Said(ANA, "hello", 30, "user", "Hi, I'm Ana. I live in Lisbon and I'm allergic to peanuts.", "facts"),
    Said(ANA, "hello", 30, "assistant", "Nice to meet you, Ana!"),
    Said(ANA, "hello", 30, "user", "If I moved to Berlin, would I need a car?", "hypothetical"),
    Said(ANA, "hello", 30, "user", "My sister Marta works at a bakery.", "about someone else"),
    Said(LIN, "nihao", 25, "user", "我叫林晓，住在杭州，喜欢喝绿茶。", "facts"),
    Said(LIN, "nihao", 25, "user", "如果我搬到上海，房租会贵很多吗？", "hypothetical"),
    Said(LIN, "nihao", 25, "user", "我妹妹在北京当医生。", "about someone else"),
    Said(LIN, "nihao", 25, "user", "我的生日是5月3号。", "a mistake"),
    Said(ANA, "vpn", 12, "user", "Why does the office VPN drop every few minutes?"),
    Said(ANA, "vpn", 12, "assistant", "Switch the VPN protocol to IKEv2, then restart the client.", "a proposal"),
    Said(ANA, "vpn", 12, "user", "That worked, thanks!", "a confirmed fix"),
    Said(LIN, "gengzheng", 6, "user", "不对，我的生日是5月8号。", "a correction"),
    Said(LIN, "banjia", 3, "user", "我搬到苏州了。", "a move"),
    Said(ANA, "move", 2, "user", "I moved to Porto.", "a move"),
)

QUESTIONS = (
    Asked(
        ANA,
        "Good morning! I want to cook for some neighbours.",
        "Which city do I live in now?",
        "Porto",
        "Berlin",
    ),
    Asked(ANA, "", "The VPN is unstable again. What worked last time?", "IKEv2", "Berlin"),
    Asked(LIN, "早上好，今天想请朋友来家里吃饭。", "我现在住在哪个城市？", "苏州", "上海"),
    Asked(LIN, "", "我的生日是哪天？", "5月8号", "上海"),
)

BELIEVED = {
    ANA: ("Ana", "Porto", "peanuts"),
    LIN: ("林晓", "苏州", "绿茶", "5月8号"),
}
"""What is true of each of them at the end, and nothing else is."""

SECRETS = ("Lisbon", "Porto", "peanuts", "IKEv2", "Marta")
"""Words that only Ana said: after she is erased, no file may hold them."""
KEPT = "苏州"
"""A word that only Lin said: it must survive."""
