"""What is shipped for operators fits the service: names of metrics, labels, settings, files; no image but one."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import combinations
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")
pytest.importorskip("httpx")
yaml = pytest.importorskip("yaml")

from ltm_core import LongTermMemory
from ltm_core.config import Config
from ltm_core.serve.metrics import Metrics
from ltm_core.serve.operations import OPERATIONS
from ltm_core.serve.settings import ENV_PREFIX, ServeSettings
from ltm_core.store.postgres.location import place_of
from ltm_core.testing.embedders import HashEmbedder

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DATA = Path(__file__).parent / "data"
IMAGE = "python:3.11-slim"
PANELS = json.loads((DEPLOY / "grafana" / "ltm.json").read_text(encoding="utf-8"))
RULES = [r for g in yaml.safe_load((DEPLOY / "alerts.yml").read_text(encoding="utf-8"))["groups"] for r in g["rules"]]
POSTGRES = yaml.safe_load((DEPLOY / "compose.postgres.yaml").read_text(encoding="utf-8"))
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
QUERIES = {
    **{f"alert {r['alert']}": r["expr"] for r in RULES},
    **{f"panel {p['title']} {t['refId']}": t["expr"] for p in PANELS["panels"] for t in p["targets"]},
}
SHIPPED = [*DEPLOY.glob("compose*.yaml"), DEPLOY / "Dockerfile", DEPLOY / "try.sh", ROOT / "docs" / "operations.md"]
SHELL = {
    f"LTM_{name}" for name in ("CONFIG", "EMBEDDER", "EXTRACTOR", "EXTRAS", "MEMORY", "POSTGRES_MEMORY", "STORE")
}
"""Read by the command line, or by compose.yaml itself, and not by settings."""


def steps() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, in order."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    text = re.sub(r"^\s*#.*\n", "", text, flags=re.M).replace("\\\n", " ")
    return [(w, rest.strip()) for w, _, rest in (line.partition(" ") for line in text.splitlines() if line.strip())]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, set[str]]]:
    """The series that the service gives out, each with its labels."""
    place = tmp_path_factory.mktemp("store")
    with LongTermMemory.open(place, embedder=HashEmbedder(), timezone="UTC") as memory:
        metrics = Metrics(memory)
        labels = {c._name: set(c._labelnames) for c in vars(metrics).values() if hasattr(c, "_labelnames")}
        found: dict[str, set[str]] = {"up": set()}
        for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", metrics.text().decode(), re.M):
            own = labels.get(name.removesuffix("_total"), set())
            if kind == "histogram":
                found |= {f"{name}_bucket": own | {"le"}, f"{name}_sum": own, f"{name}_count": own}
            else:
                found[name] = own
        yield found


def selectors(query: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Each series that a query names, with what it asks of labels."""
    for name, inside in re.findall(r"\b(up|ltm_\w+|process_\w+)\b(?:\{([^}]*)\})?", query):
        yield name, dict(re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"', inside))


@pytest.mark.parametrize("where", QUERIES, ids=lambda w: w.replace(" ", "-"))
def test_every_query_asks_for_what_the_service_gives(known: Mapping[str, set[str]], where: str) -> None:
    query = QUERIES[where]
    asked = list(selectors(query))
    assert asked
    for name, labels in asked:
        assert name in known, f"{name} is no figure of the service"
        assert set(labels) - {"job", "instance"} <= known[name], name
        assert "job" in labels, "other services may have a figure of this name"
        for operation in filter(None, labels.get("operation", "").split("|")):
            assert operation in {o.method for o in OPERATIONS}
        assert labels.get("found", "no") in ("yes", "no") and labels.get("taken", "no") in ("yes", "no")
    for opening, closing in ("()", "{}", "[]"):
        assert query.count(opening) == query.count(closing)
    grouped = {x for by in re.findall(r"\bby \(([^)]*)\)", query) for x in re.split(r",\s*", by)}
    assert grouped - {"job"} <= set().union(*(known[name] for name, _ in asked))


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs Prometheus")
def test_every_alert_fires_when_it_should_and_at_no_other_time(tmp_path: Path) -> None:
    for file in (DEPLOY / "alerts.yml", DEPLOY / "prometheus.yml", DATA / "alerts.test.yml"):
        shutil.copy(file, tmp_path)
    (tmp_path / "ltm-admin-key").write_text("x", "utf-8")
    checks = (("check", "config", "prometheus.yml"), ("test", "rules", "alerts.test.yml"))
    for arguments in checks:
        done = subprocess.run(["promtool", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    tested = set(re.findall(r"alertname: (\w+)", (DATA / "alerts.test.yml").read_text("utf-8")))
    assert tested == {r["alert"] for r in RULES}


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="needs hadolint")
def test_the_dockerfile_has_no_bad_habits() -> None:
    done = subprocess.run(["hadolint", str(DEPLOY / "Dockerfile")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_alert_says_what_to_do() -> None:
    assert len({r["alert"] for r in RULES}) == len(RULES) >= 8
    for rule in RULES:
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
        assert re.fullmatch(r"\d+[mh]", rule["for"]) and rule["labels"]["severity"] in ("critical", "warning")
        assert set(rule["annotations"]) == {"summary", "description"}


def test_the_dashboard_shows_every_figure(known: Mapping[str, set[str]]) -> None:
    shown = {re.sub(r"_(bucket|sum|count)$", "", n) for q in QUERIES.values() for n, _ in selectors(q)}
    given = {re.sub(r"_(bucket|sum|count)$", "", n) for n in known if n.startswith("ltm_")}
    # Made only when the embedder caches what it embeds; the store of this test has another one.
    assert given - {n for n in given if n.endswith("_created")} <= shown
    places = [p["gridPos"] for p in PANELS["panels"]]
    assert len({p["id"] for p in PANELS["panels"]}) == len(places)
    for a, b in combinations(places, 2):
        apart = a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"]
        assert apart or a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"]
    assert all(p["x"] + p["w"] <= 24 for p in places)
    assert {v["name"] for v in PANELS["templating"]["list"]} == {"datasource", "job"}
    assert {p["datasource"]["uid"] for p in PANELS["panels"]} == {"${datasource}"}


def test_prometheus_reads_the_service_with_a_key() -> None:
    text = (DEPLOY / "prometheus.yml").read_text(encoding="utf-8")
    (job,) = yaml.safe_load(text)["scrape_configs"]
    assert job["job_name"] == "ltm" and job["metrics_path"] == "/metrics"
    assert job["authorization"]["credentials_file"] and "ltm_" not in text
    ((host, port),) = (t.split(":") for t in job["static_configs"][0]["targets"])
    assert host in COMPOSE["services"] and int(port) == ServeSettings().port
    assert f":-{host}}}" in COMPOSE["services"][host]["environment"]["LTM_SERVE_ALLOWED_HOSTS"]


def settings_named(text: str) -> set[str]:
    return set(re.findall(r"\bLTM_[A-Z_]+[A-Z]\b", text))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.name)
def test_every_setting_exists(path: Path) -> None:
    serve = {f"{ENV_PREFIX}{n.upper()}" for n in ServeSettings.model_fields}
    library = {f"LTM_{n.upper()}" for n in Config.model_fields}
    assert settings_named(path.read_text(encoding="utf-8")) - serve - library - SHELL == set()


def test_the_image_is_small_in_rights_and_made_of_what_is_here() -> None:
    done = steps()
    stages: set[str] = set()
    for word, rest in done:
        if word == "FROM":
            base, *name = rest.split()
            assert base == IMAGE or base in stages
            stages |= set(name[1:])
    assert len([w for w, _ in done if w == "FROM"]) == 2 and "ADD" not in {w for w, _ in done}
    last = done[max(i for i, (w, _) in enumerate(done) if w == "FROM") :]
    (user,) = (r for w, r in last if w == "USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    words = [w for w, _ in last]
    assert words.index("USER") > max(i for i, w in enumerate(words) if w in ("RUN", "COPY"))
    assert {"HEALTHCHECK", "ENTRYPOINT", "VOLUME", "STOPSIGNAL"} <= set(words)
    for word, rest in last:
        if word in ("ENTRYPOINT", "CMD"):
            assert all(isinstance(part, str) for part in json.loads(rest))


def test_what_the_image_copies_is_there_and_goes_to_the_builder() -> None:
    ignored = [x for x in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if x and x[0] != "#"]
    for word, rest in steps():
        if word != "COPY" or rest.startswith("--from"):
            continue
        *sources, _ = shlex.split(rest)
        for source in sources:
            assert (ROOT / source).exists()
            sent = True
            for line in ignored:
                if fnmatch.fnmatch(source, line.removeprefix("!")):
                    sent = line.startswith("!")
            assert sent, f"{source} is kept from the builder"
    assert ignored[0] == "*" and not {"!.git", "!tests", "!ltm-data"} & set(ignored)


def test_the_image_installs_extras_that_exist_and_packages_that_build() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)
    (extras,) = (r.partition("=")[2] for w, r in steps() if w == "ARG" and r.startswith("LTM_EXTRAS="))
    assert any('".[$LTM_EXTRAS]"' in r for w, r in steps() if w == "RUN")
    given = POSTGRES["services"]["ltm"]["build"]["args"]["LTM_EXTRAS"]
    for chosen in (extras.split(","), given.split(",")):
        assert set(chosen) <= set(project["project"]["optional-dependencies"]) and "server" in chosen
    assert "postgres" in given.split(",")
    copied = " ".join(r for w, r in steps() if w == "COPY")
    for package in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        assert package.split("/")[0] in copied
    assert project["project"]["readme"] in copied and project["project"]["license-files"][0] in copied


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_health_check_tells_ready_from_not(status: int, code: int) -> None:
    (check,) = (r for w, r in steps() if w == "HEALTHCHECK")
    python, *arguments = json.loads(check[check.index("CMD") + 3 :])
    assert python == "python"
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Tests print nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        environment = {**os.environ, "LTM_SERVE_PORT": str(server.server_port), "http_proxy": "http://127.0.0.1:9"}
        done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, check=False)
        server.shutdown()
        thread.join()
    assert done.returncode == code and asked == ["/ready"]


def test_the_model_check_of_the_image_runs() -> None:
    (check,) = (re.findall(r'-c "([^"]+)"', r) for w, r in steps() if w == "RUN" and "resolve_embedder" in r)
    compile(check[0], "Dockerfile", "exec")
    from ltm_core.embed.base import Embedder
    from ltm_core.embed.resolve import resolve_embedder

    assert callable(resolve_embedder) and hasattr(Embedder, "embed_query")
    assert "resolve_embedder(None)" in check[0] and ".embed_query(" in check[0]


def test_compose_gives_no_more_than_is_needed() -> None:
    ((name, service),) = COMPOSE["services"].items()
    assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["init"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert all(p.startswith("127.0.0.1:") for p in service["ports"])
    assert (DEPLOY / service["build"]["context"]).resolve() == ROOT
    assert (ROOT / service["build"]["dockerfile"]).is_file()
    assert {v.split(":")[0] for v in service["volumes"]} == set(COMPOSE["volumes"])
    assert name == "ltm" and "privileged" not in service and service["stop_grace_period"].endswith("s")


def test_postgres_is_reached_with_secrets_in_files_and_by_nobody_else() -> None:
    both = POSTGRES["services"]
    assert set(both) == {"ltm", "postgres"} and set(both["ltm"]) <= {"build", "depends_on", "environment", "secrets"}
    assert "ports" not in both["postgres"] and both["postgres"]["image"].partition(":")[2] not in ("", "latest")
    assert set(POSTGRES["secrets"]) == set(both["ltm"]["secrets"]) | set(both["postgres"]["secrets"])
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    for name, secret in POSTGRES["secrets"].items():
        assert secret["file"] == f"secrets/{name}" and "deploy/secrets/" in ignored
    environment = both["ltm"]["environment"]
    place = place_of(environment["LTM_STORE"])
    parts = urlsplit(place.conninfo)
    assert parts.password is None and parts.hostname in both
    files = {str(place.key_file), dict(parse_qsl(parts.query))["passfile"]}
    assert files == {f"/run/secrets/{name}" for name in both["ltm"]["secrets"]}
    database = both["postgres"]["environment"]
    assert (parts.username, parts.path) == (database["POSTGRES_USER"], f"/{database['POSTGRES_DB']}")
    assert database["POSTGRES_PASSWORD_FILE"] == "/run/secrets/postgres-password"
    assert {v.split(":")[0] for v in both["postgres"]["volumes"]} == set(POSTGRES["volumes"])
    # Keys and locks of the service are on its own volume.
    settings = ServeSettings.load(environment)
    volumes = [v.split(":")[1] for v in COMPOSE["services"]["ltm"]["volumes"]]
    assert [settings.directory] == volumes


@pytest.mark.skipif(shutil.which("docker-compose") is None, reason="needs docker-compose")
@pytest.mark.parametrize("files", [["compose.yaml"], ["compose.yaml", "compose.postgres.yaml"]], ids=len)
def test_compose_files_are_valid_together(tmp_path: Path, files: list[str]) -> None:
    for file in files:
        text = (DEPLOY / file).read_text(encoding="utf-8")
        # Version 1 of the tool, which needs no engine to check, does not know the project's name.
        (tmp_path / file).write_text(re.sub(r"^name: .*\n", "", text, flags=re.M), "utf-8")
    named = [argument for file in files for argument in ("-f", str(tmp_path / file))]
    done = subprocess.run(["docker-compose", *named, "config"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(yaml.safe_load(done.stdout)["services"]) == ({"ltm"} if len(files) == 1 else {"ltm", "postgres"})


def test_the_script_of_the_steps_is_one() -> None:
    done = subprocess.run(["sh", "-n", str(DEPLOY / "try.sh")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    installed = re.findall(r"\[([a-z,]+)\]", (DEPLOY / "try.sh").read_text(encoding="utf-8"))
    assert ("ARG", f"LTM_EXTRAS={installed[0]}") in steps(), "what is tried is what the image holds"


def test_the_settings_of_compose_are_taken_as_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = COMPOSE["services"]["ltm"]["environment"]
    given = {k: re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", str(v)) for k, v in environment.items()}
    serve = ServeSettings.load(given)
    assert serve.allowed_hosts == ("ltm",) and serve.webhook_url == "" and serve.log_file.startswith("/data/")
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert Config.load().maintain_every_seconds == 900


def test_nothing_names_a_place_to_download_from() -> None:
    for path in [*DEPLOY.rglob("*"), ROOT / ".dockerignore"]:
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert set(re.findall(r"https?://([^/\s'\"]+)", text)) <= {"127.0.0.1:", "127.0.0.1:8719"}, path
            assert "index-url" not in text
