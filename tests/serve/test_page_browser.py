"""The page in a real browser. Needs Chromium and the Python package playwright; skipped without them."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")
pytest.importorskip("httpx")
pytest.importorskip("jinja2")
uvicorn = pytest.importorskip("uvicorn")
playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

from ltm_core.testing.service import Service, service_at

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")]
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""The browser calls nobody of its own accord; it runs as root in containers."""
HOSTILE = "<script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Service, str]]:
    service = service_at(tmp_path / "store")
    service.memory.observe(user_id="ana", session_id="monday", user="I live in Lisbon.", at="2026-01-05")
    service.memory.observe(user_id="ana", session_id="friday", user=f"I moved to Porto. {HOSTILE}", at="2026-02-06")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = uvicorn.Config(service.http.app, host="127.0.0.1", port=port, log_level="error", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.02)
    yield service, f"http://127.0.0.1:{port}/page/"
    server.should_exit = True
    thread.join()


@pytest.fixture
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()


def _signed_in(browser: Any, address: str, key: str, **options: Any) -> Any:
    page = browser.new_context(locale="en-US", **options).new_page()
    page.on("pageerror", lambda e: pytest.fail(f"a script ran: {e}"))
    page.goto(address)
    # With the keyboard alone: the field for the key has the focus, which the browser gives it once the page is there.
    page.wait_for_selector("#key:focus")
    page.keyboard.type(key)
    page.keyboard.press("Enter")
    page.wait_for_url("**/timeline")
    return page


def test_from_signing_in_to_forgetting(site: tuple[Service, str], chromium: Any) -> None:
    service, address = site
    page = _signed_in(chromium, address, service.ana)
    assert HOSTILE in page.inner_text("main") and page.title().startswith("Timeline")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.click("text=Facts")
    page.click("a[aria-label='Why Porto?']")
    page.wait_for_selector("mark")
    assert page.inner_text("mark").startswith("I moved to Porto.")
    page.click("text=Correct")
    page.fill("#right", "I live in Faro.")
    page.click("text=Check")
    page.click("main button:has-text('Correct')")
    page.wait_for_selector("[role=status]")
    assert [f.object for f in service.memory.facts(user_id="ana")] == ["Faro"]
    page.click("nav >> text=Forget")
    page.fill("#words", "Lisbon")
    page.click("section button >> nth=0")
    page.click("text=Forget for good")
    page.wait_for_selector("[role=status]")
    assert not any("Lisbon" in m.content for m in service.memory.messages(user_id="ana"))
    page.click("nav >> text=Export")
    with page.expect_download() as waiting:
        page.click("text=Download")
    assert "Faro" in Path(waiting.value.path()).read_text(encoding="utf-8")
    page.click("text=Sign out")
    page.wait_for_url("**/sign-in")


@pytest.mark.parametrize("width", [320, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_can_be_read(site: tuple[Service, str], chromium: Any, width: int, scheme: str) -> None:
    service, address = site
    size = {"width": width, "height": 720}
    page = _signed_in(chromium, address, service.ana, viewport=size, color_scheme=scheme)
    for path in ("timeline", "facts", "recall", "forget", "pause", "export"):
        page.goto(address + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        links = "[...document.querySelectorAll('nav a')].every(a => a.getBoundingClientRect().right <= innerWidth)"
        assert page.evaluate(links), "a link beside the screen is found by nobody"
        ink, ground = page.evaluate("(s => [s.color, s.backgroundColor])(getComputedStyle(document.body))")
        assert (_light(ink) < _light(ground)) == (scheme == "light") and abs(_light(ink) - _light(ground)) > 150
    page.goto(address + "recall")
    page.fill("#question", "Where do I live?")
    page.click("main button")
    page.wait_for_selector("pre")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    heights = page.evaluate("[...document.querySelectorAll('thead th')].map(h => h.getBoundingClientRect().height)")
    assert heights and max(heights) < 40, "the words of a table's head are not broken"


def _light(color: str) -> float:
    """How bright ``rgb(r, g, b)`` is, 0 to 255."""
    return sum(int(part) for part in color.removeprefix("rgb(").rstrip(")").split(",")) / 3
