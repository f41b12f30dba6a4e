"""With redact_pii nothing that a caller gives is stored with personal data in it."""

from __future__ import annotations

from pathlib import Path

from ltm_core import LongTermMemory, Message

PHONE, MAIL = "13800138000", "ana@example.com"


def test_no_door_stores_a_phone_or_a_mail_address(tmp_path: Path) -> None:
    said = {"note": f"call {PHONE}", "number": int(PHONE), PHONE: [MAIL], "plain": "oboe"}
    with LongTermMemory.open(tmp_path / "s", embedder="none", timezone="UTC", redact_pii=True) as memory:
        memory.observe(user_id="ana", session_id="s", user=f"My mail is {MAIL}.", metadata=said)
        memory.observe(
            user_id="ana",
            session_id="s",
            messages=[Message(role="user", content="I play the oboe.", name=f"Ana {MAIL}", metadata=said)],
        )
        memory.replace_messages(
            [Message(role="user", content=f"Call {PHONE}.", name=PHONE, metadata=said)],
            user_id="ana",
            session_id="w",
        )
        memory.remember(f"I like tea, ask {MAIL}", user_id="ana", metadata=said, tags=[MAIL])
        change = memory.assert_fact(
            f"customer {PHONE}",
            "note",
            f"wrote from {MAIL}",
            user_id="ana",
            source=f"crm {MAIL}",
            text=f"customer {PHONE} wrote from {MAIL}",
            metadata=said,
        )
        fact = next(f for f in memory.facts(user_id="ana") if (f.relation == "note" and f.object == "oboe") or f.tags)
        memory.correct(fact_id=fact.id, right=f"I like {MAIL}", user_id="ana")
        memory.set_slot("contact", said, user_id="ana", session_id="s")
        shown = repr(
            [
                *memory.messages(user_id="ana"),
                *memory.facts(user_id="ana", include_superseded=True),
                *memory.changes(user_id="ana"),
                memory.slots(user_id="ana", session_id="s"),
            ]
        )
        assert "oboe" in shown and change.fact.metadata["plain"] == "oboe"
        assert change.fact.text == "customer [phone] wrote from [email]"
        memory.maintain()
    for path in (tmp_path / "s").iterdir():
        data = path.read_bytes()
        assert PHONE.encode() not in data and MAIL.encode() not in data, path.name
    assert PHONE not in shown and MAIL not in shown
