"""``ltm serve`` and ``ltm keys``: the memory as a service, and who may use it."""

from __future__ import annotations

import os
import secrets
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ltm_core.commands.base import Options, command
from ltm_core.commands.show import console, counted, print_json, say, table
from ltm_core.errors import InvalidInputError, InvalidScopeError, MissingExtraError

if TYPE_CHECKING:
    from ltm_core.serve.keys import Keyring
    from ltm_core.serve.settings import ServeSettings


@command
def serve(
    options: Options,
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on (127.0.0.1).")] = None,
    port: Annotated[int | None, typer.Option("--port", help="Port to listen on (8710).")] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, max=64, help="Processes that share the store.")] = 1,
) -> None:
    """Serve the memory over HTTP. The first start makes an administrator's key and prints it once.

    Further settings are LTM_SERVE_* variables: docs/service.md.
    """
    try:
        import uvicorn

        from ltm_core.serve.keys import KEYS_FILE, Keyring
        from ltm_core.serve.metrics import MULTIPROCESS
        from ltm_core.serve.settings import ServeSettings
    except ImportError:
        raise MissingExtraError("ltm serve", "server") from None
    given: dict[str, Any] = {"host": host, "port": port}
    settings = ServeSettings.load(**{k: v for k, v in given.items() if v is not None})
    if not settings.page_secret:
        settings = settings.model_copy(update={"page_secret": secrets.token_hex(32)})
    options.open(create=True).close()
    keys = Keyring(_folder(options, settings) / KEYS_FILE)
    if not keys.all():
        token, _ = keys.add("admin", now=datetime.now(UTC), label="first start")
        say(f"Administrator's key, shown only now:\n\n    {token}\n")
    os.environ |= settings.environment() | {"LTM_STORE": options.store.absolute}
    if options.embedder:
        os.environ["LTM_EMBEDDER"] = options.embedder
    if options.config:
        os.environ["LTM_CONFIG"] = str(options.config.resolve())
    with tempfile.TemporaryDirectory(prefix="ltm-metrics-") as figures:
        if workers > 1:
            os.environ[MULTIPROCESS] = figures
        uvicorn.run(
            "ltm_core.serve.main:app",
            factory=True,
            host=settings.host,
            port=settings.port,
            workers=workers,
            access_log=False,
            server_header=False,
            proxy_headers=False,
        )


@command
def mcp(
    options: Options,
    http: Annotated[bool, typer.Option("--http", help="Listen for requests with keys, instead of stdio.")] = False,
    port: Annotated[int | None, typer.Option("--port", help="Port to listen on with --http (8710).")] = None,
) -> None:
    """Serve remember, recall, correct, forget and list as tools of the Model Context Protocol.

    On stdio the user is --user or LTM_USER; with --http it is the one of the request's key, at /mcp.
    """
    try:
        from ltm_core.serve.keys import KEYS_FILE, Keyring
        from ltm_core.serve.mcp import create_server, http_app
        from ltm_core.serve.settings import ServeSettings
    except ImportError:
        raise MissingExtraError("ltm mcp", "mcp") from None
    if http:
        import uvicorn

        given: dict[str, Any] = {} if port is None else {"port": port}
        settings = ServeSettings.load(**given)
        with options.open(create=True) as memory:
            served = http_app(memory, Keyring(_folder(options, settings) / KEYS_FILE), settings)
            uvicorn.run(served, host=settings.host, port=settings.port, access_log=False, server_header=False)
        return
    user = options.user or os.environ.get("LTM_USER")
    if not user:
        raise InvalidScopeError("whose memory? name the user with --user ID or LTM_USER")
    with options.open(create=True) as memory:
        create_server(memory, lambda _: user).run("stdio")


keys = typer.Typer(help="API keys of `ltm serve`: made once, shown once, kept as hashes.", no_args_is_help=True)


@keys.command("add")
@command
def add(
    options: Options,
    kind: Annotated[str, typer.Option("--kind", help="user (with --user), app (with --app) or admin.")] = "user",
    app: Annotated[str | None, typer.Option("--app", metavar="ID", help="The app that an app key is for.")] = None,
    label: Annotated[str, typer.Option("--label", help="What it is for.")] = "",
) -> None:
    """A new key, printed once."""
    from ltm_core.arguments import one_of
    from ltm_core.serve.keys import Kind

    chosen: Kind = one_of(kind, Kind, "kind") or "user"
    if chosen == "user" and options.user is None:
        raise InvalidScopeError("whose key? name the user with --user ID; other keys are --kind app and --kind admin")
    if chosen == "app" and app is None:
        raise InvalidScopeError("which app's key? name the app with --app ID")
    token, made = _ring(options).add(chosen, now=datetime.now(UTC), user_id=options.user, app_id=app, label=label)
    print_json({"key": token, "id": made.id}) if options.json else say(f"{token}\n(id {made.id}; shown only now)")


@keys.command("list")
@command
def list_(options: Options) -> None:
    """Who holds a key; never the keys."""
    found = _ring(options).all()
    if options.json:
        print_json([replace(k, sha256="") for k in found])
        return
    rows = [(k.id, k.kind, k.user_id or k.app_id or "", k.label, k.created_at) for k in found]
    console().print(table(counted(len(rows), "key"), ("id", "kind", "of", "label", "made"), rows))


@keys.command("revoke")
@command
def revoke(options: Options, key_id: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """The key opens nothing any more, at once and in every worker."""
    _ring(options).revoke(key_id)
    print_json({"revoked": key_id}) if options.json else say(f"{key_id} is revoked.")


def _ring(options: Options) -> Keyring:
    from ltm_core.serve.keys import KEYS_FILE, Keyring
    from ltm_core.serve.settings import ServeSettings

    folder = _folder(options, ServeSettings.load())
    if not folder.is_dir():
        raise InvalidInputError(f"{options.store} holds no store; name one with --store (or LTM_STORE)")
    return Keyring(folder / KEYS_FILE)


def _folder(options: Options, settings: ServeSettings) -> Path:
    """Where the service's own files are."""
    return Path(settings.directory) if settings.directory else options.store.folder()
