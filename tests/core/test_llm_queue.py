"""The queue of extraction: durable, each job once, a few tries, and nothing written after an erasure."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ltm_core import ConfigError, ExtractedFact, InvalidInputError, LongTermMemory, UnavailableError
from ltm_core.cli import app
from ltm_core.protocols import ExtractionRequest
from ltm_core.testing.clock import Clock
from ltm_core.testing.extractors import ScriptedChat, ScriptedExtractor
from ltm_core.testing.openai_server import OpenAIServer

SAID = "With my oboe I can breathe again."
OBOE = [ExtractedFact(relation="plays", object="oboe")]
ANSWER = '{"facts": [{"clause": "c1", "subject": "user", "relation": "plays", "object": "oboe"}]}'


class Gone(RuntimeError):
    """A host's own error, with words in it."""


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime(2026, 6, 17, 10, tzinfo=UTC), timedelta(milliseconds=1))


def opened(place: Any, extractor: Any, clock: Clock | None = None, **options: Any) -> LongTermMemory:
    settings: dict[str, Any] = {"embedder": "none", "timezone": "UTC", "extract_in_background": False, **options}
    return LongTermMemory.open(place, extractor=extractor, clock=clock, **settings)


def say(memory: LongTermMemory, words: str = SAID, user: str = "ana", **options: Any) -> None:
    memory.observe(user_id=user, session_id="s", user=words, **options)


def objects(memory: LongTermMemory, user: str = "ana") -> list[str]:
    return [f.object for f in memory.facts(user_id=user)]


def wait_for(true: Callable[[], bool], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    return true()


class TestDurable:
    def test_a_job_is_a_row_with_the_turn_and_outlives_the_process(self, tmp_path: Path) -> None:
        with opened(tmp_path, ScriptedExtractor()) as memory:
            say(memory)
            assert memory.stats().jobs == 1 and objects(memory) == []
        with opened(tmp_path, ScriptedExtractor(OBOE)) as memory:
            assert memory.work().jobs_done == 1 and objects(memory) == ["oboe"]
            assert memory.stats().jobs == 0 and memory.work().jobs_done == 0

    def test_rules_write_at_once(self, tmp_path: Path) -> None:
        with opened(tmp_path, ScriptedExtractor()) as memory:
            say(memory, f"I live in Porto. {SAID}")
            assert objects(memory) == ["Porto"]

    def test_no_extractor_no_job(self, tmp_path: Path) -> None:
        with opened(tmp_path, None) as memory:
            say(memory)
            assert memory.stats().jobs == 0
            with pytest.raises(ConfigError, match="extractor="):
                memory.work()
        with opened(tmp_path, ScriptedExtractor(OBOE), read_only=True) as memory, pytest.raises(ConfigError):
            memory.work()

    def test_a_duplicate_is_not_read_again_and_an_edit_is(self, tmp_path: Path) -> None:
        extractor = ScriptedExtractor()
        with opened(tmp_path, extractor) as memory:
            say(memory, message_id="m1")
            say(memory, message_id="m1")
            assert memory.work().jobs_done == 1
            say(memory, "My tuba keeps me going.", message_id="m1")
            assert memory.work().jobs_done == 1
        assert extractor.read == [SAID, "My tuba keeps me going."]

    def test_a_history_is_read_in_few_requests(self, tmp_path: Path) -> None:
        extractor = ScriptedExtractor()
        history = [{"role": "user", "content": f"My oboe number {n} keeps me sane."} for n in range(20)]
        with opened(tmp_path, extractor) as memory:
            memory.observe(user_id="ana", session_id="s", messages=history)
            assert memory.work().jobs_done == 3
        assert len(extractor.read) == 20 and len(extractor.requests) == 3

    def test_a_long_document_is_cut_to_the_likeliest_clauses(self, tmp_path: Path) -> None:
        extractor = ScriptedExtractor()
        with opened(tmp_path, extractor) as memory:
            say(memory, " ".join(f"My oboe number {n} keeps me sane." for n in range(300)))
            memory.work()
        assert len(extractor.requests) == 1 and 1 <= len(extractor.read) <= 48

    def test_limit_and_maintain(self, tmp_path: Path) -> None:
        with opened(tmp_path, ScriptedExtractor(OBOE)) as memory:
            for n in range(3):
                say(memory, user=f"u{n}")
            assert memory.work(limit=1).jobs_done == 1
            assert memory.maintain(dry_run=True).jobs_done == 2 and memory.stats().jobs == 2
            assert memory.maintain().jobs_done == 2 and memory.stats().jobs == 0
            with pytest.raises(InvalidInputError):
                memory.work(limit=0)

    def test_the_outcome_is_in_the_feed_and_can_be_explained(self, tmp_path: Path) -> None:
        with opened(tmp_path, ScriptedExtractor([*OBOE, ExtractedFact(object="harp")])) as memory:
            say(memory)
            report = memory.work()
            assert report.changes == {"add": 1} and report.rejected == {"unsupported": 1}
            (change,) = memory.changes(user_id="ana").items
            assert change.op == "add" and change.reason == "llm/scripted" == change.fact.rule


class TestFailing:
    @pytest.mark.parametrize(
        "said",
        [f"```json\n{ANSWER}\n```", f"Sure! {ANSWER} hope it helps", f'<think>{{"facts":[]}}</think>{ANSWER}',
         f"[{ANSWER[11:-2]}]", ANSWER.replace("}]}", "},]}"), ANSWER.replace('"user"', r'"user \uD83D"'[:-8] + '"'),
         '{"facts": {"c1": {"relation": "plays", "object": "oboe"}}}'],
        ids=["fenced", "chatty", "thoughts", "list", "comma", "escape", "dicts"],
    )  # fmt: skip
    def test_whatever_can_be_read_gives_the_fact(self, said: str) -> None:
        """B53, first half."""
        with opened(":memory:", ScriptedChat(said)) as memory:
            say(memory)
            memory.work()
            assert objects(memory) == ["oboe"]

    @pytest.mark.parametrize("said", ["", "null", ANSWER[:40], "I cannot do that.", "{"])
    def test_the_rest_leaves_the_rules_one_warning_and_no_error(
        self, said: str, clock: Clock, caplog: pytest.LogCaptureFixture
    ) -> None:
        """B53, second half."""
        with opened(":memory:", ScriptedChat(said), clock) as memory:
            say(memory, f"I play the tuba. {SAID}")
            with caplog.at_level(logging.WARNING, "ltm"):
                report = memory.work()
            assert report.jobs_retried == 1 and objects(memory) == ["the tuba"]
        warnings = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
        assert len(warnings) == 1 and "ExtractionError" in warnings[0] and "oboe" not in warnings[0]

    def test_three_tries_with_growing_waits_then_a_dead_letter(self, clock: Clock) -> None:
        def fail(_: ExtractionRequest) -> list[ExtractedFact]:
            raise Gone(f"I cannot read {SAID!r}")

        extractor = ScriptedExtractor(fail)
        with opened(":memory:", extractor, clock, job_retry_seconds=60.0) as memory:
            say(memory)
            for tries, wait in ((1, 60), (2, 120)):
                assert memory.work().jobs_retried == 1
                clock.now += timedelta(seconds=wait - 5)
                assert memory.work().jobs_retried == 0 and len(extractor.requests) == tries
                clock.now += timedelta(seconds=6)
            assert memory.work().jobs_dead == 1 and len(extractor.requests) == 3
            assert memory.work().jobs_dead == 0 and memory.stats().dead_jobs == memory.stats().jobs == 1
            (letter,) = memory.dead_letters()
            assert (letter.kind, letter.user_id, letter.attempts) == ("extract", "ana", 3)
            assert "Gone" in letter.error and "oboe" not in letter.error

            extractor._reply = OBOE
            assert memory.retry_dead_letters([letter.id]) == 1 and memory.retry_dead_letters() == 0
            assert memory.work().jobs_done == 1 and objects(memory) == ["oboe"]

    def test_dead_letters_are_dropped_and_paged(self, clock: Clock) -> None:
        with opened(":memory:", ScriptedChat(""), clock, job_attempts=1) as memory:
            for n in range(5):
                say(memory, user=f"u{n}")
            assert memory.work().jobs_dead == 5
            page = memory.dead_letters(limit=2)
            assert len(page) == 2 and page.next_cursor and len(list(page)) == 5
            assert memory.drop_dead_letters([page[0].id, 10**9]) == 1
            assert memory.drop_dead_letters() == 4 and list(memory.dead_letters()) == []
            for wrong in ("12", ["x"], [0], [2**70]):
                with pytest.raises(InvalidInputError):
                    memory.drop_dead_letters(wrong)  # type: ignore[arg-type]

    def test_an_unreachable_model_stops_the_pass_and_costs_one_try(self, clock: Clock) -> None:
        def down(_: ExtractionRequest) -> list[ExtractedFact]:
            raise UnavailableError("chat server 127.0.0.1 could not be reached")

        extractor = ScriptedExtractor(down)
        with opened(":memory:", extractor, clock) as memory:
            for n in range(5):
                say(memory, user=f"u{n}")
            report = memory.work()
            assert report.stopped and report.jobs_retried == 1 and len(extractor.requests) == 1

    def test_a_job_whose_worker_died_is_run_by_another(self, tmp_path: Path, clock: Clock) -> None:
        def die(_: ExtractionRequest) -> list[ExtractedFact]:
            raise KeyboardInterrupt

        with opened(tmp_path, ScriptedExtractor(die), clock) as memory:
            say(memory)
            with pytest.raises(KeyboardInterrupt):
                memory.work()
        with opened(tmp_path, ScriptedExtractor(OBOE), clock, job_lease_seconds=900.0) as memory:
            assert memory.work().jobs_done == 0
            clock.now += timedelta(seconds=901)
            assert memory.work().jobs_done == 1 and objects(memory) == ["oboe"]

    def test_a_job_that_kills_its_workers_ends_as_a_dead_letter(self, tmp_path: Path, clock: Clock) -> None:
        def die(_: ExtractionRequest) -> list[ExtractedFact]:
            raise KeyboardInterrupt

        with opened(tmp_path, ScriptedExtractor(die), clock) as memory:
            say(memory)
            for _ in range(3):
                with pytest.raises(KeyboardInterrupt):
                    memory.work()
                clock.now += timedelta(seconds=901)
            assert memory.work().jobs_dead == 1
            assert "ended" in next(iter(memory.dead_letters())).error


class TestOvertaken:
    """What happens while the model thinks counts more than what it answers."""

    def run(self, memory: LongTermMemory, extractor: ScriptedExtractor, meanwhile: Callable[[], Any]) -> Any:
        def reply(_: ExtractionRequest) -> list[ExtractedFact]:
            if len(extractor.requests) == 1:
                meanwhile()
            return OBOE

        extractor._reply = reply
        return memory.work()

    def test_a_fact_forgotten_meanwhile_does_not_come_back(self, tmp_path: Path) -> None:
        """B63: forget while the extraction runs, then the same transcript again."""
        extractor = ScriptedExtractor()
        transcript = [{"role": "user", "content": f"I play the oboe. {SAID}"}]
        with opened(tmp_path, extractor) as memory:
            memory.observe(user_id="ana", session_id="s", messages=transcript)
            self.run(memory, extractor, lambda: memory.forget_matching("oboe", user_id="ana", dry_run=False))
            memory.observe(user_id="ana", session_id="s", messages=transcript)
            memory.work()
            every = memory.facts(user_id="ana", include_superseded=True)
            assert not any("oboe" in f.text + f.object for f in every)
            assert "oboe" not in "".join(m.content for m in memory.messages(user_id="ana", session_id="s"))
            say(memory, "With my oboe I can breathe again, as before.")
            memory.work()
            assert objects(memory) == ["oboe"]

    def test_a_fact_forgotten_while_its_words_are_kept_stays_forgotten(self, tmp_path: Path) -> None:
        with opened(tmp_path, ScriptedExtractor(OBOE)) as memory:
            say(memory, f"I play the oboe. {SAID}")
            (fact,) = memory.facts(user_id="ana")
            memory.forget(fact.id, user_id="ana", sources="keep")
            assert memory.work().rejected == {"forgotten": 1} and objects(memory) == []
            say(memory, "With my oboe I can breathe again, as before.")
            memory.work()
            assert objects(memory) == ["oboe"]

    def test_an_erased_user_stays_erased(self, tmp_path: Path) -> None:
        extractor = ScriptedExtractor()
        with opened(tmp_path, extractor) as memory:
            say(memory)
            report = self.run(memory, extractor, lambda: memory.forget_user("ana"))
            assert report.jobs_done == 0 and memory.stats().users == memory.stats().jobs == 0
        assert not any(b"oboe" in p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())

    def test_waiting_jobs_go_with_the_user(self, tmp_path: Path) -> None:
        extractor = ScriptedExtractor(OBOE)
        with opened(tmp_path, extractor) as memory:
            say(memory)
            say(memory, user="ben")
            receipt = memory.forget_user("ana")
            assert receipt.counts["jobs"] == 1 and memory.work().jobs_done == 1
            assert objects(memory, "ben") == ["oboe"] and memory.stats().users == 1

    @pytest.mark.parametrize("how", ["session", "message"])
    def test_erased_turns_are_not_read(self, tmp_path: Path, how: str) -> None:
        extractor = ScriptedExtractor(OBOE)
        with opened(tmp_path, extractor) as memory:
            say(memory, message_id="m1")
            if how == "session":
                memory.forget_session("s", user_id="ana")
            else:
                memory.delete_messages(["m1"], user_id="ana", session_id="s")
            assert memory.work().jobs_done == 1 and extractor.requests == [] and objects(memory) == []

    def test_an_edit_meanwhile_is_read_instead(self, tmp_path: Path) -> None:
        extractor = ScriptedExtractor()
        with opened(tmp_path, extractor) as memory:
            say(memory, message_id="m1")
            self.run(memory, extractor, lambda: say(memory, "My tuba keeps me going.", message_id="m1"))
            memory.work()
            assert objects(memory) == [] and "My tuba keeps me going." in extractor.read

    def test_a_pause_meanwhile_keeps_the_job(self, tmp_path: Path) -> None:
        extractor = ScriptedExtractor()
        with opened(tmp_path, extractor) as memory:
            say(memory)
            self.run(memory, extractor, lambda: memory.pause("ana"))
            assert objects(memory) == [] and memory.stats().jobs == 1
            assert memory.work().jobs_done == 0 and len(extractor.requests) == 1
            memory.resume("ana")
            assert memory.work().jobs_done == 1 and objects(memory) == ["oboe"]

    def test_a_lost_claim_writes_nothing(self, tmp_path: Path, clock: Clock) -> None:
        """Slower than its lease: another worker has done the job meanwhile."""
        slow, quick = ScriptedExtractor(), ScriptedExtractor(OBOE)
        with opened(tmp_path, slow, clock) as one, opened(tmp_path, quick, clock) as two:
            say(one)

            def meanwhile() -> None:
                clock.now += timedelta(seconds=901)
                assert two.work().jobs_done == 1

            assert self.run(one, slow, meanwhile).jobs_done == 0
            (fact,) = one.facts(user_id="ana")
            assert fact.support_count == 1 and one.stats().jobs == 0


class TestTogether:
    def test_threads_run_each_job_once(self, tmp_path: Path) -> None:
        extractor = ScriptedExtractor(OBOE)
        with opened(tmp_path, extractor) as memory:
            for n in range(12):
                say(memory, user=f"u{n}")
            threads = [threading.Thread(target=memory.work) for _ in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            assert len(extractor.requests) == 12 and memory.stats().jobs == 0
            assert all(objects(memory, f"u{n}") == ["oboe"] for n in range(12))

    def test_processes_run_each_job_once(self, tmp_path: Path) -> None:
        with OpenAIServer() as server, opened(tmp_path / "store", ScriptedExtractor()) as memory:
            server.chat(ANSWER)
            for n in range(12):
                say(memory, user=f"u{n}")
            code = textwrap.dedent(f"""
                from ltm_core import LongTermMemory
                with LongTermMemory.open({str(tmp_path / "store")!r}, embedder="none", timezone="UTC",
                                         extractor="openai:{server.base_url}#m", extract_in_background=False) as m:
                    print(m.work().jobs_done)
            """)
            workers = [
                subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)
            ]
            done = [int(w.communicate(timeout=90)[0]) for w in workers]
            assert sum(done) == 12 == len(server.requests) and memory.stats().jobs == 0

    def test_a_thread_reads_in_the_background(self, tmp_path: Path) -> None:
        with opened(tmp_path, ScriptedExtractor(OBOE), extract_in_background=True) as memory:
            say(memory)
            assert wait_for(lambda: objects(memory) == ["oboe"])
        assert not any(t.name == "ltm-extract" and t.is_alive() for t in threading.enumerate())

    def test_what_a_dead_process_left_is_begun_at_the_next_opening(self, tmp_path: Path) -> None:
        with opened(tmp_path, ScriptedExtractor()) as memory:
            say(memory)
        with opened(tmp_path, ScriptedExtractor(OBOE), extract_in_background=True) as memory:
            assert wait_for(lambda: objects(memory) == ["oboe"])

    def test_closing_waits_for_the_model_and_not_for_ever(self, tmp_path: Path) -> None:
        asked, go = threading.Event(), threading.Event()

        def slow(_: ExtractionRequest) -> list[ExtractedFact]:
            asked.set()
            go.wait(30)
            return OBOE

        options: dict[str, Any] = {"extract_in_background": True, "close_wait_seconds": 0.05}
        memory = opened(tmp_path, ScriptedExtractor(slow), **options)
        say(memory)
        assert asked.wait(20)
        memory.close()
        go.set()
        with opened(tmp_path, ScriptedExtractor(OBOE)) as again:
            assert again.stats().jobs == 1 and objects(again) == []

    def test_observing_never_waits_for_the_model(self, tmp_path: Path) -> None:
        go = threading.Event()

        def slow(_: ExtractionRequest) -> list[ExtractedFact]:
            go.wait(30)
            return OBOE

        with opened(tmp_path, ScriptedExtractor(slow), extract_in_background=True) as memory:
            started = time.monotonic()
            for n in range(5):
                say(memory, user=f"u{n}")
            assert time.monotonic() - started < 20
            go.set()

    @pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork here")
    def test_a_forked_child_has_a_thread_of_its_own(self, tmp_path: Path) -> None:
        code = textwrap.dedent(f"""
            import os, time, warnings
            warnings.simplefilter("ignore")
            from ltm_core import ExtractedFact, LongTermMemory
            from ltm_core.testing.extractors import ScriptedExtractor
            x = ScriptedExtractor([ExtractedFact(relation="plays", object="oboe")])
            m = LongTermMemory.open({str(tmp_path / "store")!r}, embedder="none", timezone="UTC", extractor=x)
            pid = os.fork()
            if pid == 0:
                m.observe(user_id="ana", session_id="s", user={SAID!r})
                end = time.monotonic() + 20
                while not list(m.facts(user_id="ana")) and time.monotonic() < end:
                    time.sleep(0.02)
                os._exit(0 if list(m.facts(user_id="ana")) and x.requests else 1)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            m.close()
            print(code, len(x.requests))
        """)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        assert done.stdout.split() == ["0", "0"], done.stderr


class TestCommands:
    def ltm(self, *args: str) -> Result:
        return CliRunner().invoke(app, args)

    def test_work_and_deadletter(self, tmp_path: Path) -> None:
        store, none = ("--store", str(tmp_path / "store")), ("--embedder", "none")
        with OpenAIServer() as server:
            with opened(tmp_path / "store", ScriptedExtractor(), job_attempts=1) as memory:
                say(memory)
            model = ("--extractor", f"openai:{server.base_url}#m")
            (tmp_path / "ltm.toml").write_text("job_attempts = 1\n")
            config = ("--config", str(tmp_path / "ltm.toml"))
            server.chat("no JSON here")
            failed = self.ltm("work", *store, *none, *model, *config, "--json")
            assert json.loads(failed.stdout)["jobs_dead"] == 1 and "ExtractionError" in failed.stderr
            listed = json.loads(self.ltm("deadletter", *store, *none, "--json").stdout)
            assert [d["user_id"] for d in listed] == ["ana"] and "oboe" not in json.dumps(listed)
            assert self.ltm("deadletter", *store, *none, "--retry", "--drop").exit_code == 2
            assert "1 due again" in self.ltm("deadletter", *store, *none, "--retry").stdout
            server.chat(ANSWER)
            done = self.ltm("work", *store, *none, *model)
            assert done.exit_code == 0 and "1 add" in done.stdout
        assert self.ltm("work", *store, *none).exit_code == 2
        with opened(tmp_path / "store", None) as memory:
            assert objects(memory) == ["oboe"]


def test_twins_do_the_same(tmp_path: Path) -> None:
    import asyncio

    async def go() -> list[Any]:
        extractor = ScriptedExtractor(OBOE)
        async with await LongTermMemory.aopen(
            tmp_path, embedder="none", timezone="UTC", extractor=extractor, extract_in_background=False
        ) as memory:
            await memory.aobserve(user_id="ana", session_id="s", user=SAID)
            report = await memory.awork(limit=5)
            assert list(await memory.adead_letters()) == []
            return [
                report.jobs_done,
                report.changes,
                await memory.aretry_dead_letters(),
                await memory.adrop_dead_letters(),
            ]

    assert asyncio.run(go()) == [1, {"add": 1}, 0, 0]
    with opened(tmp_path, None) as memory:
        assert not hasattr(memory.bind("ana"), "work") and not hasattr(memory.bind("ana"), "dead_letters")
