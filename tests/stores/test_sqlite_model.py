"""The SQLite store against a model made of dictionaries: any order of calls, two users, two store objects."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ltm_core.config import Config
from ltm_core.store.base import MessageRow
from ltm_core.store.sqlite import SqliteStore, open_store
from ltm_core.testing.builders import DIMENSION, T0, at, chunk, fact, say, vector
from ltm_core.types import Fact

USERS = ("ana", "Ana")
users = st.sampled_from(USERS)
words = st.lists(st.sampled_from(["oboe", "red", "car", "茶", "a'b"]), min_size=1, max_size=4)
which = st.booleans()


@dataclass
class Model:
    messages: dict[int, MessageRow] = field(default_factory=dict)
    words: dict[int, list[str]] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)


class StoreMachine(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="ltm-model-"))
        self.stores = [open_store(self.path, config=Config.make()) for _ in range(2)]
        self.stores[0].operations().set_embedder_identity("e", dimension=DIMENSION, now=T0)
        self.models = {u: Model() for u in USERS}
        self.count = 0

    def teardown(self) -> None:
        for store in getattr(self, "stores", []):
            store.close()
        if hasattr(self, "path"):
            shutil.rmtree(self.path)

    def store(self, second: bool) -> SqliteStore:
        return self.stores[second]

    @rule(user=users, text=words, minutes=st.integers(0, 3), second=which, fails=st.booleans())
    def observe(self, user: str, text: list[str], minutes: int, second: bool, fails: bool) -> None:
        self.count += 1
        try:
            with self.store(second).write(user) as w:
                row = say(w, f"m{self.count}", " ".join(text), seed=self.count, at=at(minutes))
                new = fact(f"f{self.count}", text[0], user_id=user, source_message_ids=(), evidence=())
                w.add_fact(new)
                if fails:
                    raise RuntimeError
        except RuntimeError:
            return
        model = self.models[user]
        model.messages[row.item], model.words[row.item], model.facts[new.id] = row, text, new

    @rule(user=users, pick=st.integers(0, 99), second=which)
    def delete(self, user: str, pick: int, second: bool) -> None:
        model = self.models[user]
        if model.messages:
            item = sorted(model.messages)[pick % len(model.messages)]
            with self.store(second).write(user) as w:
                assert w.delete_messages([item]) == 1
            del model.messages[item], model.words[item]

    @rule(user=users, pick=st.integers(0, 99), text=words, second=which)
    def index_again(self, user: str, pick: int, text: list[str], second: bool) -> None:
        model = self.models[user]
        if model.messages:
            item = sorted(model.messages)[pick % len(model.messages)]
            number = int(model.messages[item].id[1:])
            with self.store(second).write(user) as w:
                w.set_chunks("message", item, [chunk({t: text.count(t) for t in text}, number)], at=T0)
            model.words[item] = text

    @rule(user=users, pick=st.integers(0, 99), second=which)
    def close_fact(self, user: str, pick: int, second: bool) -> None:
        from dataclasses import replace

        model = self.models[user]
        if model.facts:
            id = sorted(model.facts)[pick % len(model.facts)]
            model.facts[id] = replace(model.facts[id], valid_to=at(5), is_current=False)
            with self.store(second).write(user) as w:
                w.update_fact(model.facts[id], now=at(5))

    @rule(user=users, second=which)
    def erase(self, user: str, second: bool) -> None:
        with self.store(second).write(user) as w:
            w.erase_user(now=T0)
        self.models[user] = Model()

    @invariant()
    def both_stores_show_the_model(self) -> None:
        for store in getattr(self, "stores", []):
            for user, model in self.models.items():
                with store.read(user) as r:
                    rows = sorted(model.messages.values(), key=lambda m: (m.at, m.sequence))
                    assert r.messages() == rows
                    assert {f.id: f for f in r.facts(current_at=at(10))} == {
                        k: f for k, f in model.facts.items() if f.valid_to is None
                    }
                    snapshot = r.snapshot()
                    owners = snapshot.rows.owner.tolist()
                    assert sorted(owners) == sorted(model.messages)
                    for i, owner in enumerate(owners):
                        number = int(model.messages[owner].id[1:])
                        assert snapshot.cosine(vector(number))[i] >= 0.999
                    for word in ("oboe", "茶", "none"):
                        index, counts = snapshot.postings([word])[0]
                        found = {owners[i]: int(c) for i, c in zip(index.tolist(), counts.tolist(), strict=True)}
                        wanted = {k: t.count(word) for k, t in model.words.items() if word in t}
                        assert found == wanted


StoreMachine.TestCase.settings = settings(
    max_examples=25,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestStoreMachine = StoreMachine.TestCase
