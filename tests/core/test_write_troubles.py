"""A thing or a process that goes wrong again and again is told to be mended; it is nothing lasting about the user."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm_core import LongTermMemory
from ltm_core.embed.base import Embedder
from ltm_core.types import Message

AT = datetime(2026, 6, 17, 10, tzinfo=UTC)


def stated(words: str, encoder: Embedder, tmp_path: Path) -> list[str]:
    """What of the words was taken for a lasting fact."""
    with LongTermMemory.open(tmp_path, clock=lambda: AT, embedder=encoder, timezone="UTC") as memory:
        told = Message(role="user", content=words, at=AT)
        found = memory.observe(user_id="u", session_id="s", messages=[told]).anchors
    return [a.text for a in found if a.kind == "stated_fact"]


@pytest.mark.parametrize(
    "words",
    [
        "My pastry comes out soggy every time.",
        "The freezer door won't stay shut.",
        "The puppy howls whenever we leave the house.",
        "My scales keep losing the connection every few days.",
        "Pigeons are eating all my seedlings.",
        "I can't get the twins to sleep in their own room.",
        "The extractor fan rattles like crazy.",
        "Excel shows my phone numbers as ####.",
        "The tap in the utility room has started dripping.",
        "My fern's leaves are turning brown at the tips.",
        "家里的净水器老是漏水",
        "我那辆小电驴一过坎就响",
        "蒸出来的馒头总是塌",
        "我家投影仪每次开机都黑屏",
        "宝宝晚上总蹬被子，怎么弄都不行",
        "孩子晚上不肯刷牙",
        "泡的蒜老是发绿发苦，今年都倒两罐了",
        "店里的收银机动不动就死机",
    ],
)
def test_a_complaint_is_no_fact(words: str, encoder: Embedder, tmp_path: Path) -> None:
    assert not stated(words, encoder, tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        "My left knee keeps giving way.",
        "My daughter wakes up at six every morning.",
        "My husband snores every night.",
        "My mum drops the kids off every morning.",
        "I can't eat gluten.",
        "My wife never eats breakfast.",
        "Penicillin brings me out in a rash every time.",
        "My stepson can't eat anything with nuts.",
        "我一闻花粉就打喷嚏",
        "我总是五点起床练字",
        "我妈膝盖老是疼",
        "我天天刷招行的信用卡",
        "我每次出门都带保温杯",
        "我老家在安康",
    ],
)
def test_what_lasts_is_kept(words: str, encoder: Embedder, tmp_path: Path) -> None:
    assert stated(words, encoder, tmp_path)
