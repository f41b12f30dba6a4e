"""The page: who sees what, that no form works twice over or from elsewhere, and that stored words stay words."""

from __future__ import annotations

import json
import re
import stat
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")
pytest.importorskip("httpx")
pytest.importorskip("jinja2")

from starlette.testclient import TestClient

from ltm_core.errors import ConfigError
from ltm_core.serve.app import create_app
from ltm_core.serve.keys import ApiKey
from ltm_core.serve.page.bars import WIDTH, bars
from ltm_core.serve.page.ended import ENDED_FILE, Ended
from ltm_core.serve.page.language import LANGUAGES, chosen, table
from ltm_core.serve.page.looking import cut
from ltm_core.serve.page.rendering import environment
from ltm_core.serve.page.session import begun, opened
from ltm_core.serve.settings import ServeSettings
from ltm_core.testing.service import Service, service_at
from ltm_core.types import Evidence, Fact, FactSpan

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus='alert(1)",
    "javascript:alert(1)",
    "</textarea><style>*{display:none}</style>",
    "{{ 7 * 7 }} {% raw %}",
    "\u202egnp.exe\u202c",
)


@dataclass
class Browser:
    """One person's browser: it keeps the cookies and reads the forms of the page at hand."""

    service: Service
    text: str = ""

    def get(self, path: str, **options: Any) -> Any:
        return self._seen(self.service.http.get("/page" + path, **options))

    def post(self, path: str, **data: str) -> Any:
        token = re.search(r'name="token" value="([^"]+)"', self.text)
        return self._seen(self.service.http.post("/page" + path, data={"token": token[1] if token else "", **data}))

    def sign_in(self, key: str) -> Any:
        self.get("/sign-in")
        mark = re.search(r'name="mark" value="([^"]+)"', self.text)
        assert mark is not None
        return self._seen(self.service.http.post("/page/sign-in", data={"key": key, "mark": mark[1]}))

    def fact(self) -> str:
        """Id of the first fact on the page of facts."""
        self.get("/facts")
        found = re.search(r'href="/page/facts/([0-9a-f-]{36})"', self.text)
        assert found is not None
        return found[1]

    def _seen(self, answer: Any) -> Any:
        if "text/html" in answer.headers.get("content-type", ""):
            self.text = answer.text
        return answer


@pytest.fixture
def browser(service: Service) -> Iterator[Browser]:
    yield Browser(service)


@pytest.fixture
def ana(browser: Browser) -> Browser:
    browser.service.memory.observe(user_id="ana", session_id="monday", user="I live in Lisbon.", at="2026-01-05")
    browser.service.memory.observe(user_id="ana", session_id="friday", user="I moved to Porto.", at="2026-02-06")
    browser.service.memory.observe(user_id="ben", session_id="private", user="My locker code is 7421.")
    assert browser.sign_in(browser.service.ana).url.path == "/page/timeline"
    return browser


READ = ("/timeline", "/facts", "/recall", "/forget", "/pause", "/export", "/user", "/facts/x", "/facts/x/correct")
ACT = ("/recall", "/forget", "/pause", "/export", "/user", "/facts/x/correct", "/facts/x/revise", "/sign-out")


def test_nothing_without_signing_in(browser: Browser) -> None:
    for path in READ:
        answer = browser.get(path, follow_redirects=False)
        assert answer.status_code == 303 and answer.headers["location"] == "/page/sign-in", path
    for path in ACT:
        answer = browser.service.http.post("/page" + path, data={"what": "pause"}, follow_redirects=False)
        assert answer.status_code == 303, path


def test_a_wrong_key_opens_nothing(browser: Browser) -> None:
    wrong = browser.service.ana[:-1] + ("x" if browser.service.ana[-1] != "x" else "y")
    for key in ("", "ltm_", wrong, "é" * 50):
        answer = browser.sign_in(key)
        assert answer.status_code == 401 and "ltm_session" not in browser.service.http.cookies
        assert len(key) < 9 or key not in answer.text


def test_cookies_and_headers_are_strict(ana: Browser) -> None:
    ana.get("/sign-in")
    mark = re.search(r'name="mark" value="([^"]+)"', ana.text)
    assert mark is not None
    answer = ana.service.http.post(
        "/page/sign-in",
        data={"key": ana.service.ana, "mark": mark[1]},
        headers={"Origin": "https://localhost"},
        follow_redirects=False,
    )
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and "path=/page" in cookie and "secure" in cookie
    assert ana.service.ana not in cookie
    page = ana.get("/timeline")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src" not in policy and "unsafe" not in policy
    assert page.headers["cache-control"] == "no-store" and page.headers["referrer-policy"] == "same-origin"


def test_a_form_of_elsewhere_does_nothing(ana: Browser) -> None:
    ana.get("/pause")
    http = ana.service.http
    for token in ("", "x", "é"):
        sent = http.post("/page/pause", data={"token": token, "what": "pause", "confirm": "yes"})
        assert sent.status_code == 403
    for path in ACT:
        assert http.post("/page" + path, data={"what": "user", "confirm": "yes"}).status_code == 403, path
    strange = {"Origin": "https://evil.example"}
    assert http.post("/page/pause", data={"what": "pause"}, headers=strange).status_code == 403
    assert http.post("/page/sign-in", data={"key": ana.service.ben, "mark": "x"}).status_code == 403
    assert not ana.service.memory.profile("ana").paused


def test_a_user_sees_no_other_user(ana: Browser) -> None:
    (bens,) = ana.service.memory.facts(user_id="ben").items
    (turn,) = ana.service.memory.messages(user_id="ben").items
    pages = [ana.get(p) for p in ("/timeline", "/timeline?session=private", "/facts", "/forget")]
    pages.append(ana.get(f"/facts/{bens.id}"))
    assert pages[-1].status_code == 404
    ana.get("/recall")
    pages.append(ana.post("/recall", question="What is my locker code?"))
    for what, target in (("fact", bens.id), ("message", turn.id), ("session", "private")):
        for confirm in ("", "yes"):
            pages.append(ana.post("/forget", what=what, target=target, confirm=confirm))
    pages.append(ana.post("/forget", what="user", target="ben", confirm="yes", typed="ben"))
    pages.append(ana.post("/user", user="ben"))
    pages.append(ana.post(f"/facts/{bens.id}/correct", right="My locker code is 1.", confirm="yes"))
    pages.append(ana.post("/export"))
    assert not any("7421" in page.text for page in pages)
    assert ana.service.memory.messages(user_id="ben").items == (turn,)
    assert ana.service.memory.facts(user_id="ben").items == (bens,)


def test_an_administrator_names_the_user(ana: Browser) -> None:
    ana.post("/sign-out")
    assert ana.sign_in(ana.service.admin).url.path == "/page/user"
    assert ana.get("/timeline").url.path == "/page/user"
    assert ana.post("/user", user=" ").status_code == 400
    assert "7421" in ana.post("/user", user="ben").text
    stale = ana.text
    ana.get("/user")
    assert "7421" not in ana.post("/user", user="ana").text
    ana.text = stale
    assert ana.post("/forget", what="user", confirm="yes", typed="ana").status_code == 403
    assert ana.service.memory.messages(user_id="ana").items


def test_revoking_the_key_ends_the_session(ana: Browser) -> None:
    assert ana.get("/timeline").url.path == "/page/timeline"
    ana.service.keys.revoke(ana.service.ids["ana"])
    assert ana.get("/timeline").url.path == "/page/sign-in"


def test_signing_out_ends_it(ana: Browser) -> None:
    ana.post("/sign-out")
    assert ana.get("/facts").url.path == "/page/sign-in"


def test_signing_out_ends_copied_cookies_in_every_worker(tmp_path: Path) -> None:
    one = service_at(tmp_path / "one", page_secret="shared")
    with one.http:
        app = create_app(one.memory, one.keys, ServeSettings(page_secret="shared"))
        browser = Browser(one)
        browser.sign_in(one.admin)
        copied = dict(one.http.cookies)
        browser.post("/user", user="ana")
        chosen_user = dict(one.http.cookies)
        others = [TestClient(app, base_url="http://localhost", cookies=c) for c in (copied, chosen_user)]
        elsewhere = Browser(
            service=Service(**{**vars(one), "http": TestClient(one.http.app, base_url="http://localhost")})
        )
        elsewhere.sign_in(one.admin)
        assert all(o.get("/page/user").url.path == "/page/user" for o in others)
        browser.post("/sign-out")
        assert all(o.get("/page/user").url.path == "/page/sign-in" for o in others)
        # Another sign-in with the same key is another person's, or another browser's.
        assert elsewhere.get("/user").url.path == "/page/user"
        assert stat.S_IMODE((one.keys.place / ENDED_FILE).stat().st_mode) == 0o600


def test_the_list_of_ended_sign_ins_stays_short(tmp_path: Path) -> None:
    ended = Ended(tmp_path)
    for now in range(0, 1000, 100):
        session = begun(_key(), now=now, seconds=250, secret=b"s")
        ended.add(session, now=now)
        assert ended.has(session.sign_in) and Ended(tmp_path).has(session.sign_in)
    assert len(json.loads((tmp_path / ENDED_FILE).read_text("utf-8"))) == 3
    (tmp_path / ENDED_FILE).write_text("[1]", "utf-8")
    with pytest.raises(ConfigError, match="ended sign-ins"):
        ended.has("x")


def test_timeline_facts_and_why(ana: Browser) -> None:
    text = ana.get("/timeline").text
    assert text.index("I moved to Porto.") < text.index("I live in Lisbon.") and "2026-02-06" in text
    only = ana.get("/timeline?session=monday").text
    assert "I live in Lisbon." in only and "I moved to Porto." not in only
    text = ana.get("/facts").text
    assert "Lisbon" in text and "replaced" in text and "<rect" in text and "2026-01-05 to 2026-02-06" in text
    text = ana.get(f"/facts/{ana.fact()}").text
    assert "<mark>I live in Lisbon.</mark>" in text and "replaced by Porto" in text and "en.frame.lives_in" in text


def test_recall_shows_candidates_drops_and_prompt(ana: Browser) -> None:
    ana.get("/recall")
    text = ana.post("/recall", question="Where do I live?", tokens="400").text
    assert "&lt;memory " in text and "of 400 tokens" in text and "superseded by" in text and "<meter" in text
    for tokens in ("-1", "1e9", "²", "9" * 30):
        assert ana.post("/recall", question="Where?", tokens=tokens).status_code == 400
    assert ana.post("/recall", question="  ").status_code == 400


def test_correcting_asks_first(ana: Browser) -> None:
    memory = ana.service.memory
    (before,) = memory.facts(user_id="ana").items
    ana.get(f"/facts/{before.id}/correct")
    assert "Correct it?" in ana.post(f"/facts/{before.id}/correct", right="I live in Faro.").text
    assert memory.facts(user_id="ana").items == (before,)
    text = ana.post(f"/facts/{before.id}/correct", right="I live in Faro.", confirm="yes").text
    assert "It is corrected." in text and "I live in Faro" in text
    assert [f.object for f in memory.facts(user_id="ana")] == ["Faro"]
    actors = {e.actor for e in memory.audit("ana")}
    assert f"page (key:{ana.service.ids['ana']})" in actors


def test_holding_back_and_restoring_ask_first(ana: Browser) -> None:
    memory = ana.service.memory
    (fact,) = memory.facts(user_id="ana").items
    for what, current in (("suppress", 0), ("unsuppress", 1)):
        ana.get(f"/facts/{fact.id}")
        held = len(memory.facts(user_id="ana"))
        assert ana.post(f"/facts/{fact.id}/revise", what=what).status_code == 200
        assert len(memory.facts(user_id="ana")) == held
        assert "It is done." in ana.post(f"/facts/{fact.id}/revise", what=what, confirm="yes").text
        assert len(memory.facts(user_id="ana")) == current
    assert ana.post(f"/facts/{fact.id}/revise", what="forget", confirm="yes").status_code == 400


@pytest.mark.parametrize("what", ["fact", "message", "words", "session", "user"])
def test_forgetting_shows_asks_and_proves(ana: Browser, what: str) -> None:
    memory = ana.service.memory
    fact = next(f for f in memory.facts(user_id="ana", include_superseded=True) if f.object == "Lisbon")
    named = {"fact": fact.id, "message": fact.source_message_ids[0], "session": "monday", "words": "", "user": ""}
    given = {"what": what, "target": named[what], **({"words": "Lisbon"} if what == "words" else {})}
    ana.get("/forget")
    shown = ana.post("/forget", **given)
    assert shown.status_code == 200 and "Lisbon" in shown.text and "Forget for good" in shown.text
    assert len(memory.messages(user_id="ana")) == 2
    if what == "user":
        assert ana.post("/forget", **given, confirm="yes", typed="ben").status_code == 400
        assert len(memory.messages(user_id="ana")) == 2
        given["typed"] = "ana"
    done = ana.post("/forget", **given, confirm="yes")
    assert done.status_code == 200 and "It is forgotten." in done.text and "no copy is left" in done.text
    assert not any("Lisbon" in m.content for m in memory.messages(user_id="ana"))
    assert not any("Lisbon" in f.text for f in memory.facts(user_id="ana", include_superseded=True))


def test_a_long_preview_says_that_there_is_more(ana: Browser) -> None:
    for n in range(52):
        ana.service.memory.assert_fact(f"order:A-{n}", "status", "shipped", user_id="ana", source="shop")
    ana.get("/forget")
    assert "and more facts" in ana.post("/forget", what="user").text
    first = ana.get("/facts")
    following = re.search(r'rel="next" href="/page([^"]+)"', first.text)
    assert following is not None and "A-51" not in first.text
    assert ana.get(following[1].replace("&amp;", "&")).status_code == 200 and "A-30" in ana.text


def test_an_odd_session_id_is_forgotten_and_no_other(ana: Browser) -> None:
    memory, odd = ana.service.memory, "a\nb%20\u200b c"
    memory.observe(user_id="ana", session_id=odd, user="The shed is green.")
    memory.observe(user_id="ana", session_id="a b", user="The barn is red.")
    text = ana.get("/forget").text
    sent = next(v for v in re.findall(r'<option value="([^"]*)"', text) if v.startswith("a%0A"))
    ana.post("/forget", what="session", target=sent)
    hidden = re.search(r'name="target" value="([^"]*)"', ana.text)
    assert hidden is not None
    assert ana.post("/forget", what="session", target=hidden[1], confirm="yes").status_code == 200
    kept = {m.session_id for m in memory.messages(user_id="ana")}
    assert "a b" in kept and odd not in kept


def test_pausing_asks_first(ana: Browser) -> None:
    for what, paused in (("pause", True), ("resume", False)):
        ana.get("/pause")
        ana.post("/pause", what=what)
        assert ana.service.memory.profile("ana").paused is not paused
        ana.post("/pause", what=what, confirm="yes")
        assert ana.service.memory.profile("ana").paused is paused


def test_the_export_is_a_file(ana: Browser) -> None:
    ana.get("/export")
    answer = ana.post("/export")
    assert answer.headers["content-disposition"].startswith("attachment") and "Lisbon" in answer.text
    assert answer.headers["content-type"].startswith("application/x-ndjson")


class _Parts(HTMLParser):
    """Every tag and attribute that a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.labelled: set[str] = set()
        self.fields: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {k: v or "" for k, v in attrs}
        self.tags.add(tag)
        self.attributes += values.items()
        if tag == "label":
            self.labelled.add(values["for"])
        if tag in ("input", "select", "textarea") and values.get("type") != "hidden":
            self.fields.add(values["id"])


@pytest.mark.parametrize("hostile", HOSTILE)
def test_stored_words_stay_words(browser: Browser, hostile: str) -> None:
    memory = browser.service.memory
    memory.observe(user_id="ana", session_id=f"s {hostile}", user=f"My locker code is 7421. {hostile}")
    memory.remember(f"My favourite dish is {hostile}", user_id="ana")
    fact = memory.assert_fact(f"thing {hostile}", "status", hostile, user_id="ana", source="shop").fact
    browser.sign_in(browser.service.ana)
    pages = [browser.get(p).text for p in ("/timeline", "/facts", "/forget", f"/facts/{fact.id}")]
    pages.append(browser.get(f"/facts/{fact.id}/correct").text)
    pages.append(browser.post(f"/facts/{fact.id}/correct", right=hostile).text)
    pages.append(browser.post(f"/facts/{fact.id}/revise", what="suppress").text)
    pages.append(browser.post("/recall", question=f"locker code {hostile}", session=hostile).text)
    pages.append(browser.post("/forget", what="words", words=hostile).text)
    pages.append(browser.post("/forget", what="fact", target=fact.id).text)
    for text in pages:
        parts = _Parts()
        parts.feed(text)
        assert not parts.tags & {"script", "style", "img", "iframe", "object", "base"}
        for name, value in parts.attributes:
            assert not name.startswith("on") and name != "style"
            assert not (name in ("href", "action", "src") and value.lower().startswith("javascript"))
        assert "49 {" not in text and "\u202e" not in re.sub(r'(value="[^"]*"|<textarea.*?</textarea>)', "", text)


def test_every_field_has_a_label_and_every_page_its_headings(ana: Browser) -> None:
    for path in ("/timeline", "/facts", "/recall", "/forget", "/pause", "/export", f"/facts/{ana.fact()}"):
        text = ana.get(path).text
        parts = _Parts()
        parts.feed(text)
        assert parts.fields <= parts.labelled, path
        assert text.count("<h1") == 1 and '<a class="skip" href="#main">' in text and '<html lang="en">' in text
        levels = [int(n) for n in re.findall(r"<h([1-6])", text)]
        assert all(b - a <= 1 for a, b in pairwise(levels)), path
        assert text.count("<table") == text.count("<caption")


def test_chinese_when_asked_or_preferred(ana: Browser) -> None:
    assert '<html lang="zh-Hans">' in ana.get("/facts", headers={"Accept-Language": "zh-CN,en;q=0.5"}).text
    assert "居住地" in ana.get("/facts?lang=zh").text
    assert "时间线" in ana.get("/timeline").text  # it is kept
    assert "Timeline" in ana.get("/timeline?lang=en").text


def test_a_language_is_kept_on_the_way_to_the_sign_in(browser: Browser) -> None:
    for address in ("/?lang=zh", "?lang=zh", "/facts?lang=zh", "/user?lang=zh"):
        browser.service.http.cookies.clear()
        assert '<html lang="zh-Hans">' in browser.get(address).text, address
        assert '<html lang="zh-Hans">' in browser.get("/sign-in").text, address
    browser.service.http.cookies.clear()
    # A redirect that began on another site carries no strict cookie.
    away = browser.get("/?lang=zh", follow_redirects=False).headers["location"]
    browser.service.http.cookies.clear()
    assert away.endswith("?lang=zh") and '<html lang="zh-Hans">' in browser.service.http.get(away).text
    assert browser.get("/?lang=xx", follow_redirects=False).headers["location"] == "/page/sign-in"


def test_the_first_language_that_is_known_counts() -> None:
    assert chosen("xx", None, "fr, zh;q=0.2, en;q=0.1") == "zh"
    assert chosen(None, None, ";;q=,q=nan,*") == "en"


def test_the_languages_say_the_same_things() -> None:
    tables = {code: tomllib.loads(table(code)) for code in LANGUAGES}
    holes = re.compile(r"\{(\w+)\}")
    english = tables["en"]
    for code, words in tables.items():
        assert words.keys() == english.keys(), code
        for section in english:
            if section == "relation":  # what a language has no word for is shown as it is written
                continue
            assert words[section].keys() == english[section].keys(), (code, section)
            for name, sentence in english[section].items():
                assert set(holes.findall(words[section][name])) == set(holes.findall(sentence)), (code, name)


def test_every_sentence_of_the_templates_is_there() -> None:
    english = tomllib.loads(table("en"))
    loader = environment().loader
    assert loader is not None
    names = loader.list_templates()
    assert len(names) > 10
    for name in names:
        source = loader.get_source(environment(), name)[0]
        for section, key in re.findall(r't\("(\w+)\.(\w+)"[,)]', source):
            assert key in english[section], (name, section, key)


def test_the_page_can_be_left_out(tmp_path: Path) -> None:
    one = service_at(tmp_path / "s", page=False)
    with one.http:
        assert one.http.get("/page/sign-in").status_code == 404


def test_workers_with_one_secret_share_the_sign_ins(tmp_path: Path) -> None:
    one = service_at(tmp_path / "one", page_secret="shared")
    with one.http:
        browser = Browser(one)
        browser.sign_in(one.ana)
        cookies = dict(one.http.cookies)
        for secret, path in (("shared", "/page/facts"), ("", "/page/sign-in")):
            app = create_app(one.memory, one.keys, ServeSettings(page_secret=secret))
            other = TestClient(app, base_url="http://localhost", cookies=cookies)
            assert other.get("/page/facts").url.path == path


def _key(secret: str = "a" * 64, **more: Any) -> ApiKey:
    return ApiKey(id="0" * 12, kind="admin", sha256=secret, **more)


def test_a_session_is_sealed_and_ends() -> None:
    key = _key()
    session = begun(key, now=100, seconds=60, secret=b"s").of("á b.c/7")
    keys: dict[str, ApiKey] = {key.id: key}
    nobody: dict[str, ApiKey] = {}

    def never(_: str) -> bool:
        return False

    assert opened(session.sealed(), known=keys.get, ended=never, now=159, secret=b"s") == session
    assert opened(session.sealed(), known=keys.get, ended=never, now=160, secret=b"s") is None
    assert opened(session.sealed(), known=nobody.get, ended=never, now=101, secret=b"s") is None
    assert opened(session.sealed(), known=lambda _: _key("b" * 64), ended=never, now=101, secret=b"s") is None
    sealed = session.sealed()
    assert opened(sealed, known=keys.get, ended=lambda s: s == session.sign_in, now=101, secret=b"s") is None
    assert opened(sealed, known=keys.get, ended=never, now=101, secret=b"t") is None
    for place in range(len(sealed)):
        other = sealed[:place] + ("A" if sealed[place] != "A" else "B") + sealed[place + 1 :]
        assert opened(other, known=lambda _: key, ended=never, now=101, secret=b"s") is None, place
    for broken in ("", ".", ".....", "a.b.c.d.e.f", sealed + ".x", "é.é.é.é.é.é", "x" * 9000):
        assert opened(broken, known=lambda _: key, ended=never, now=101, secret=b"s") is None
    assert session.sent(session.token) and not session.sent("") and not session.of("ben").sent(session.token)


def _span(since: datetime, until: datetime | None) -> FactSpan:
    fact = Fact(
        id="f",
        user_id="ana",
        subject="user",
        relation="lives_in",
        object="x",
        object_normalized="x",
        text="x",
        valid_from=since,
        recorded_at=since,
        last_seen_at=since,
    )
    return FactSpan(fact=fact, since=since, until=until, state="holds")


def test_bars_lie_on_one_line() -> None:
    day, t0 = timedelta(days=1), datetime(2026, 1, 1, tzinfo=UTC)
    spans = [_span(t0, t0 + 5 * day), _span(t0 + 5 * day, None), _span(t0 + 10 * day, t0 + 10 * day)]
    first, second, third = bars(spans, now=t0 + 10 * day)
    assert (first.start, first.width, second.start, second.width) == (0, 500, 500, 500)
    assert third.start + third.width == WIDTH and third.width > 0
    assert bars([_span(t0, None)], now=t0)[0].width > 0 and bars([], now=t0) == ()
    (future,) = bars([_span(t0 + day, None)], now=t0)
    assert future.start >= 0 and future.start + future.width <= WIDTH


def test_evidence_is_cut_without_losing_a_word() -> None:
    text = "0123456789"
    for spans in ([], [(2, 4)], [(0, 99)], [(5, 7), (2, 6)], [(-3, 2)], [(8, 3)]):
        pieces = cut(text, [Evidence(message_id="m", start=a, end=b) for a, b in spans])
        assert "".join(p for p, _ in pieces) == text
    assert cut(text, [Evidence(message_id="m", start=2, end=4)])[1] == ("23", True)
