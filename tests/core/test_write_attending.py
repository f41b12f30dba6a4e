"""The nets that read a sentence and a fact word by word, and who asks them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_core.embed.resolve import resolve_embedder
from ltm_core.embed.use import pieces
from ltm_core.write.incoming.vectors import pieces_of
from ltm_core.write.known.judged import Judge
from ltm_core.write.known.news import PAIRED, Held, Sentence, load_news
from ltm_core.write.learned.attending import MOST_PIECES
from ltm_core.write.learned.layers import Pieces
from ltm_core.write.learned.pairing import MOST

NEWS = load_news()
NO_CUES = np.zeros(0, np.float32)


def sentence(text: str, turn: float = 2.0) -> Sentence:
    return Sentence(text, text, "", NO_CUES, resolve_embedder(None).embed_documents([text])[0], turn)


def held(text: str) -> Held:
    return Held(text, text, "about", resolve_embedder(None).embed_documents([text])[0])


def odds(judge: Judge, said: str, fact: str) -> float:
    s, f = sentence(said), held(fact)
    return judge.odds(s, f, NEWS.compare(s, f))


def test_pieces_are_those_of_the_embedder() -> None:
    ids, vectors = pieces("我住在杭州, I live in Hangzhou.")
    assert ids.ndim == 1 and vectors.shape == (len(ids), 512) and vectors.dtype == np.float32
    again, _ = pieces("我住在杭州, I live in Hangzhou.")
    assert (ids == again).all() and len(set(ids[1:-1])) > 5
    assert np.isfinite(vectors).all()
    assert len(pieces("")[0]) >= 1  # the marks of begin and end


def test_a_longer_text_is_read_to_its_fortieth_piece() -> None:
    long = pieces_of("I sold the boat " + "and then we went on talking " * 20)
    cut = Pieces(long.ids[:MOST_PIECES], long.vectors[:MOST_PIECES])
    fact, said, seen = pieces_of("I own a boat"), np.ones(512) / np.sqrt(512), np.zeros(len(PAIRED))
    for net in NEWS.attending:
        assert net.log_odds(long, fact, said, said, seen) == net.log_odds(cut, fact, said, said, seen)


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_texts_have_finite_odds(one: str, two: str) -> None:
    said, seen = np.ones(512) / np.sqrt(512), np.zeros(len(PAIRED))
    for net in NEWS.attending:
        assert -MOST <= net.log_odds(pieces_of(one), pieces_of(two), said, said, seen) <= MOST


@pytest.mark.parametrize(
    ("said", "over", "stays"),
    [
        ("I sold the boat on Sunday", "I own a boat", "My sister is a nurse"),
        ("We buried Biscuit under the apple tree", "We have a guinea pig called Biscuit", "My brother lives in Cork"),
        ("我把车卖了，现在骑车上班", "我开车上班", "我妹妹是护士"),
        ("昨天把最后一箱书搬进通州的新家了", "我住在回龙观", "我对花生过敏"),
    ],
)
def test_what_is_over_has_higher_odds(said: str, over: str, stays: str) -> None:
    judge = Judge(NEWS, pieces_of)
    assert odds(judge, said, over) > 0 > odds(judge, said, stays)


def test_without_pieces_the_nets_over_vectors_decide() -> None:
    s, f = sentence("I sold the boat"), held("I own a boat")
    compared = NEWS.compare(s, f)
    assert Judge(NEWS).odds(s, f, compared) != Judge(NEWS, pieces_of).odds(s, f, compared)
    plain = Sentence("I sold the boat", "i sold the boat", "en", NO_CUES)
    assert np.isfinite(Judge(NEWS, pieces_of).odds(plain, f, NEWS.compare(plain, f)))


def test_a_value_named_in_full_needs_less() -> None:
    judge = Judge(NEWS, pieces_of)
    s = sentence("I sold the boat")
    named, loose = (
        NEWS.compare(s, Held(t, o, "about", held(t).vector)) for t, o in (("a boat", "boat"), ("a car", "car"))
    )
    needed, other = (np.log(p / (1 - p)) for p in (NEWS.thresholds["pair_named"], NEWS.thresholds["pair"]))
    assert judge.may_end(needed, named) and not judge.may_end(needed - 0.01, named)
    assert judge.may_end(other, loose) and not judge.may_end(other - 0.01, loose)
    assert judge.is_sure(6.0) and not judge.is_sure(0.0)
