"""Every number of the service, with its unit and its reason; from ``LTM_SERVE_*`` variables or code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ltm_core.errors import ConfigError
from ltm_core.serve.webhook import checked_url

ENV_PREFIX = "LTM_SERVE_"


class ServeSettings(BaseModel):
    """Immutable settings of one service; unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    host: str = Field("127.0.0.1", description="Address to listen on; only this machine by default.")
    port: int = Field(8710, ge=0, le=65535, description="Port to listen on; 0 takes any free one.")
    directory: str = Field(
        "",
        description="Folder of the API keys and of what the service keeps for itself; the store's own when left out, "
        "or one of the user who runs it when the store is in a database. Services on one database share one.",
    )
    allowed_hosts: tuple[str, ...] = Field(
        (),
        description="Further names in a request's Host header; localhost and the address listened on are always "
        "taken. Another name is refused, so that no page of another site reaches the service by its name.",
    )
    allowed_origins: tuple[str, ...] = Field(
        (), description="Origins of web pages that may call the API from a browser, such as https://crm.example.org."
    )
    max_body_bytes: int = Field(
        8 * 1024 * 1024, ge=1024, description="Largest body of a request but an import (8 MB): a long message fits."
    )
    max_import_bytes: int = Field(
        4 * 1024**3, ge=1024, description="Largest import (4 GB); it is read line by line, never as a whole."
    )
    requests_per_minute: int = Field(
        6000, ge=0, description="Per key and process, in the long run; 0 sets no limit. 6000 is 100 a second."
    )
    burst: int = Field(400, ge=1, description="Requests that a key may send at once before that rate holds.")
    timeout_seconds: float = Field(
        30.0,
        gt=0,
        le=3600,
        description="How long a request waits for its answer; longer than the store's busy timeout helps nobody.",
    )
    batch_items: int = Field(100, ge=1, le=10_000, description="Most turns in one batch.")
    threads: int = Field(
        16, ge=1, le=256, description="Calls of one process that run at once; SQLite writes one at a time anyway."
    )
    wait_seconds: float = Field(
        25.0, ge=0, le=300, description="Longest wait of a request for changes; proxies cut at 30 to 60 seconds."
    )
    docs: bool = Field(True, description="Whether the OpenAPI document is served, at /openapi.json.")
    page: bool = Field(
        True, description="Whether the page for people is served, at /page; it needs a key to sign in."
    )
    page_session_seconds: float = Field(
        8 * 3600.0, ge=60, le=30 * 86400, description="How long a sign-in to the page lasts: a day's work (8 hours)."
    )
    page_secret: str = Field(
        "",
        repr=False,
        description="Seals the sign-ins to the page; all workers need the same. `ltm serve` makes one at each start, "
        "so that a start ends the sign-ins; set one to keep them, or when another program starts several workers.",
    )

    webhook_url: str = Field(
        "",
        repr=False,
        description="Where changes of facts are sent as they happen; https, but for this machine. None when empty.",
    )
    webhook_secret: str = Field(
        "",
        repr=False,
        description="Signs what is sent there, at least 32 characters: shorter ones can be searched for.",
    )
    webhook_batch: int = Field(100, ge=1, le=1000, description="Most changes in one delivery: some 100 KB.")
    webhook_timeout_seconds: float = Field(
        10.0,
        gt=0,
        le=300,
        description="How long a receiver may take to answer; better it works on the batch later.",
    )
    log_file: str = Field(
        "", description="File of one JSON line per request, without what was said or asked. None when empty."
    )
    log_bytes: int = Field(
        10 * 1024 * 1024, ge=1024, description="Size at which a new log file is begun (10 MB, some 50,000 requests)."
    )
    log_files: int = Field(5, ge=1, le=1000, description="Older log files that are kept, beside the one written to.")

    @model_validator(mode="after")
    def _webhook_is_safe(self) -> Self:
        if self.webhook_url:
            checked_url(self.webhook_url)
            if len(self.webhook_secret) < 32:
                raise ValueError("webhook_url needs webhook_secret, of at least 32 characters")
        return self

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None, **overrides: Any) -> ServeSettings:
        """Settings of the environment; ``overrides`` win. ConfigError names what was refused."""
        source = os.environ if environment is None else environment
        values: dict[str, Any] = {}
        for field, info in cls.model_fields.items():
            raw = source.get(f"{ENV_PREFIX}{field.upper()}")
            if raw is not None:
                many = str(info.annotation).startswith("tuple")
                values[field] = tuple(p.strip() for p in raw.split(",") if p.strip()) if many else raw
        try:
            return cls(**{**values, **overrides})
        except ValidationError as e:
            told = (f"{'.'.join(map(str, x['loc'])) or 'webhook'}: {x['msg']}" for x in e.errors())
            # The cause is left out: it would print what was given, a secret among it.
            raise ConfigError("; ".join(told)) from None

    def environment(self) -> dict[str, str]:
        """What `load` reads in another process."""
        return {
            f"{ENV_PREFIX}{name.upper()}": ",".join(value) if isinstance(value, tuple) else str(value)
            for name, value in self.model_dump().items()
        }


__all__ = ["ENV_PREFIX", "ServeSettings"]
