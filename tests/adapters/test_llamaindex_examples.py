"""The examples run as they are, with their scripted model and with one behind an OpenAI-compatible address."""

from __future__ import annotations

import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ltm_core.testing.openai_server import OpenAIServer

ROOT = Path(__file__).parents[2]
EXPECTED = {"chat": "Porto", "query": "allergic to peanuts", "agent": "Porto", "workflow": "Porto"}


def run(name: str, where: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setattr(sys, "argv", [name, str(where)])
    runpy.run_path(str(ROOT / "examples" / f"llamaindex_{name}.py"), run_name="__main__")
    return capsys.readouterr().out


@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    out = run(name, tmp_path, monkeypatch, capsys)
    # The answer to the last question: what the model was shown begins with the memories of earlier conversations.
    last = out.rpartition("\nI was shown:\n" if name != "workflow" else "live again?\nI was shown:\n")[2]
    assert EXPECTED[name] in last.partition("</memory")[0]


def test_an_example_runs_as_a_program(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "llamaindex_chat.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert "Porto" in done.stdout


def _completion(body: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "Said by the server."}
    if body.get("tools") and body["messages"][-1]["role"] == "user":
        names = [t["function"]["name"] for t in body["tools"]]
        arguments = '{"town": "Porto"}' if "next_train" in names else '{"to_agent": "planner", "reason": "x"}'
        function = {"name": names[0], "arguments": arguments}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        }
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


@pytest.mark.skipif(find_spec("openai") is None, reason="needs llama-index-llms-openai-like")
@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_runs_with_a_server(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with OpenAIServer() as server:
        server.route("/v1/chat/completions", _completion)
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_MODEL", "any")
        assert run(name, tmp_path, monkeypatch, capsys).count("Said by the server.") == 2
        asked = server.requests[-1].body["messages"]
    assert EXPECTED[name] in str(asked).partition("</memory")[0]
