"""``ltm chat`` and ``ltm config`` as a person uses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ltm_core.cli import app
from ltm_core.commands.settings import options_table
from ltm_core.testing.openai_server import OpenAIServer

ROOT = Path(__file__).parents[2]


def run(*arguments: str, typed: str = "", env: dict[str, str] | None = None) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(arguments), input=typed, env=env)
    return done.exit_code, done.output


def test_a_chat_shows_what_is_remembered_and_the_next_one_knows_it(tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "store"), "--embedder", "none", "--user", "ana"]
    code, shown = run("chat", *store, typed="I live in Lisbon.\nI moved to Porto.\n/quit\n")
    assert code == 0 and "add: I live in Lisbon" in shown and "(was: I live in Lisbon)" in shown
    code, shown = run(
        "chat", *store, "--session", "b", typed="Where do I live?\n/why\n/facts\n/forget Porto\n/facts\n"
    )
    assert code == 0 and shown.count("I moved to Porto") >= 3 and "question: Where do I live?" in shown
    assert "Erased:" in shown and shown.rindex("Porto") < shown.index("Erased:")


def test_a_model_gets_the_memory_as_data(tmp_path: Path) -> None:
    asked = []

    def answer(body: dict[str, Any]) -> str:
        asked.append(body["messages"])
        return "You live in Porto."

    with OpenAIServer() as server:
        server.chat(answer)
        code, shown = run(
            "chat", "--store", str(tmp_path / "store"), "--embedder", "none",
            "--model", f"openai:{server.base_url}#small", typed="I live in Porto.\nWhere do I live?\n",
        )  # fmt: skip
    assert code == 0 and shown.count("You live in Porto.") == 2
    assert "Porto" in json.dumps(asked[1]) and "<memory " in asked[1][0]["content"]


def test_a_model_that_is_down_ends_no_chat(tmp_path: Path) -> None:
    code, shown = run(
        "chat", "--store", str(tmp_path / "store"), "--embedder", "none",
        "--model", "openai:http://127.0.0.1:9/v1#small", typed="I live in Porto.\n/facts\n",
    )  # fmt: skip
    assert code == 0 and "did not answer" in shown and "I live in Porto" in shown


def test_config_says_where_a_value_comes_from(tmp_path: Path) -> None:
    file = tmp_path / "ltm.toml"
    file.write_text("max_tokens = 700\nwindow_turns = 4\n", encoding="utf-8")
    code, shown = run("config", "--config", str(file), "--json", env={"LTM_WINDOW_TURNS": "5"})
    found = json.loads(shown)
    assert code == 0 and found["max_tokens"] == {"value": 700, "source": str(file)}
    assert found["window_turns"] == {"value": 5, "source": "LTM_WINDOW_TURNS"}
    assert found["durability"]["source"] == "default"
    file.write_text("max_tokens = -1\n", encoding="utf-8")
    assert run("config", "--config", str(file))[0] == 2


@pytest.mark.parametrize("page", ["docs/configuration.md"])
def test_the_page_holds_the_table_of_this_version(page: str) -> None:
    assert options_table() in (ROOT / page).read_text(encoding="utf-8")
