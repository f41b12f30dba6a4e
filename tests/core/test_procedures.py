"""How a task is done: told once, found by a similar task, replaced, kept apart by agent."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm_core import InvalidInputError, LongTermMemory
from ltm_core.testing.clock import Clock

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
REFUND = ("Look the order up by its number", "Check that it is not older than 30 days", "Refund to the same card")
退款 = ("按订单号查询订单", "确认未超过三十天", "退回原支付卡")


@pytest.fixture(scope="module")
def model_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LongTermMemory]:
    """With the built-in embedder, filled once."""
    with LongTermMemory.open(
        tmp_path_factory.mktemp("p") / "s", clock=Clock(START), timezone="UTC", forgetting=["decay"]
    ) as memory:
        memory.remember_procedure("Refund a customer", REFUND, user_id="ana", outcome="refund done in one call")
        memory.remember_procedure("Rotate the database password", ["Make a new one", "Restart"], user_id="ana")
        memory.remember_procedure("给客户退款", 退款, user_id="ben", outcome="一次完成")
        memory.remember_procedure("更换数据库密码", ["生成新密码", "重启服务"], user_id="ben")
        for user in ("ana", "ben"):
            memory.observe(user_id=user, session_id="s", user="I live in Porto.")
        yield memory


@pytest.mark.parametrize(
    ("user", "question", "step"),
    [
        ("ana", "How do I give a customer their money back?", REFUND[2]),
        ("ana", "A customer wants a refund, what are the steps?", REFUND[0]),
        ("ben", "客户要求退款，怎么处理？", 退款[2]),
        ("ben", "数据库密码怎么换？", "重启服务"),
    ],
)
def test_it_is_found_by_the_task(model_memory: LongTermMemory, user: str, question: str, step: str) -> None:
    found = model_memory.context(question, user_id=user)
    assert any(step in i.text for i in found.semantic)
    best = model_memory.search(question, user_id=user, tiers=["semantic"])[0]
    assert step in best.text


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LongTermMemory]:
    with LongTermMemory.open(tmp_path / "s", embedder="none", clock=Clock(START), timezone="UTC") as opened:
        yield opened


def test_it_is_a_fact_with_its_parts(memory: LongTermMemory) -> None:
    change = memory.remember_procedure(
        " Refund  a customer ", REFUND, user_id="ana", outcome="done", metadata={"ticket": 7}, actor="agent-1"
    )
    fact = change.fact
    assert (change.op, fact.kind, fact.asserted_by, fact.is_about_user) == ("add", "procedure", "app", False)
    assert fact.metadata == {
        "ticket": 7,
        "procedure": {"task": "Refund a customer", "steps": list(REFUND), "outcome": "done"},
    }
    assert fact.text == f"Refund a customer: (1) {REFUND[0]} (2) {REFUND[1]} (3) {REFUND[2]} → done"
    assert next(iter(memory.facts(user_id="ana", relation="procedure"))).id == fact.id
    assert [e.actor for e in memory.audit("ana") if e.action == "remember_procedure"] == ["agent-1"]


def test_a_better_way_replaces_it_and_the_same_way_confirms_it(memory: LongTermMemory) -> None:
    first = memory.remember_procedure("Refund a customer", REFUND, user_id="ana")
    again = memory.remember_procedure("refund a customer", REFUND, user_id="ana")
    assert again.op == "reinforce" and again.fact.support_count == 2
    better = memory.remember_procedure("Refund a customer", REFUND[1:], user_id="ana", outcome="faster")
    assert better.op == "supersede" and better.previous is not None and better.previous.id == first.fact.id
    memory.remember_procedure("Greet a customer", ["Say hello"], user_id="ana")
    assert len(list(memory.facts(user_id="ana"))) == 2
    assert len(list(memory.history(better.fact.id, user_id="ana"))) == 2


def test_agents_have_ways_of_their_own(memory: LongTermMemory) -> None:
    for agent, step in ((None, "Ask the desk"), ("a1", "Use the tool"), ("a2", "Write a mail")):
        memory.remember_procedure("Refund a customer", [step], user_id="ana", agent_id=agent)
    memory.remember_procedure("Refund a customer", ["Call the bank"], user_id="ana", agent_id="a2")

    def seen(**labels: str) -> str:
        return " ".join(i.text for i in memory.search("refund a customer", user_id="ana", **labels))  # type: ignore[arg-type]

    assert "desk" in seen(agent_id="a1") and "tool" in seen(agent_id="a1") and "bank" not in seen(agent_id="a1")
    assert "bank" in seen(agent_id="a2") and "mail" not in seen(agent_id="a2")
    assert all(word in seen() for word in ("desk", "tool", "bank"))


@pytest.mark.parametrize(
    ("task", "steps"),
    [("", ["x"]), ("x", []), ("x", "steps"), ("x", ["  "]), ("x", ["y"] * 101), ("x", ["y" * 8000]), (3, ["x"])],
)
def test_bad_procedures_are_refused(memory: LongTermMemory, task: str, steps: list[str]) -> None:
    with pytest.raises(InvalidInputError):
        memory.remember_procedure(task, steps, user_id="ana")
    assert memory.stats().users == 0


def test_it_is_forgotten_with_its_parts(memory: LongTermMemory, tmp_path: Path) -> None:
    fact = memory.remember_procedure("Open the zanzibar vault", ["Turn the quagga wheel"], user_id="ana").fact
    receipt = memory.forget(fact.id, user_id="ana")
    assert receipt.bytes_clean
    data = b"".join(p.read_bytes() for p in (tmp_path / "s").rglob("*") if p.is_file())
    assert b"zanzibar" not in data and b"quagga" not in data


def test_it_comes_along_with_an_export_and_its_vector_is_of_the_task(model_memory: LongTermMemory) -> None:
    model_memory.import_user(list(model_memory.export_user("ana")), user_id="copy", trust=True)
    best = model_memory.search("How do I give a customer their money back?", user_id="copy", tiers=["semantic"])[0]
    mine = model_memory.search("How do I give a customer their money back?", user_id="ana", tiers=["semantic"])[0]
    assert best.similarity == pytest.approx(mine.similarity, abs=1e-6) and REFUND[0] in best.text
