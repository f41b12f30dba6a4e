"""The settings of keeping and forgetting; all of it is off until it is named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ltm_core.types import FactKind, ForgetReason
from ltm_core.types.names import ORDINARY

KINDS: tuple[str, ...] = ("message", *get_args(FactKind))


class RetentionClass(BaseModel):
    """How long one class of users is remembered."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    half_life_days: float = Field(
        30.0, ge=0, description="Days after which an unused memory is worth half; 0: it does not fade."
    )
    capacity: int = Field(5000, ge=0, description="Most turns and facts of one user; 0: no bound.")


DEEP: Mapping[str, RetentionClass] = {"deep": RetentionClass(half_life_days=3650.0, capacity=0)}
"""The class that is there unless a configured one takes its name."""


class KeepingConfig(BaseModel):
    """What `Config` says about forgetting."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    forgetting: tuple[ForgetReason, ...] = Field(
        (),
        description='Policies that maintain() applies: "decay", "capacity", "ttl". None by default: a memory that '
        "forgets unasked is a bug to whoever did not ask.",
    )
    retention_half_life_days: float = Field(
        30.0,
        ge=0,
        description="Days after which an unused memory of an ordinary user is worth half; each recall makes it "
        "longer. Not ranking_decay_per_day, which orders what is recalled. 0: it does not fade.",
    )
    retention_floor: float = Field(
        0.1,
        ge=0,
        le=1,
        description="Share of its first value that a memory keeps however old it is: what is important (1.0) never "
        "falls below forget_below by age alone.",
    )
    forget_below: float = Field(
        0.1,
        ge=0,
        le=1,
        description='Value under which "decay" drops a memory: with a half-life of 30 days, one of low importance '
        "after 58 days unused, of medium after 113, of high importance never.",
    )
    capacity_per_user: int = Field(
        5000,
        ge=0,
        description='Turns and facts of an ordinary user that "capacity" keeps, the least valuable go first; a year '
        "of 14 turns a day. 0: no bound.",
    )
    ttl_days: Mapping[str, float] = Field(
        {},
        description='Days that "ttl" keeps a kind after it was last said: message, fact, preference, solution, '
        "procedure, status. Kinds that are not named stay.",
    )
    retention_classes: Mapping[str, RetentionClass] = Field(
        DEEP,
        description='Further classes of users, for set_retention(); "deep" fades over ten years and has no bound, '
        "and is there unless you define it yourself.",
    )
    tiers_by_age: bool = Field(
        False,
        description="Whether recall looks at turns of the last hot_days first, and at older ones only when too few "
        "answer or a time is asked for. Off: all at once, which costs the same (docs/keeping.md).",
    )
    hot_days: float = Field(30.0, gt=0, description="Age up to which a turn is hot.")
    hot_enough: int = Field(
        3, ge=1, le=1000, description="Hot turns that answer, from which older ones are not searched."
    )
    cold_after_days: float = Field(
        0.0,
        ge=0,
        description="Days without being said or recalled after which maintain() moves turns that nothing needs into "
        'Parquet files (the extra "archive"); 365 is a year. 0: never.',
    )
    archive_url: str = Field(
        "",
        description="Folder or fsspec URL (s3://bucket/path) of these files; empty: a folder in the store's own.",
    )
    audit_days: float = Field(
        0.0,
        ge=0,
        description="Days that maintain() keeps rows of the audit log; each turn writes one of about 130 bytes. "
        "0: for good.",
    )
    changes_days: float = Field(
        0.0,
        ge=0,
        description="Days that maintain() keeps the feed of changes; who follows it must ask more often than that. "
        "0: for good.",
    )
    replay_days: float = Field(
        0.0,
        ge=0,
        description="Days for which a turn that a policy dropped is refused when it is told again (a host that "
        "sends its whole history, an import), since it was said, or, with an id of the host, since it was dropped; "
        "each takes 70 bytes. What somebody asked to forget is always refused. 0: for good.",
    )
    maintain_every_seconds: float = Field(
        0.0,
        ge=0,
        description="How often an open memory runs maintain() in a thread; 0: never, a cron job or the program does. "
        "Of the processes that share a store one runs at a time.",
    )
    count_uses: bool = Field(
        True,
        description="Whether what recall returned is counted (access_count); what is used fades slower. Written "
        "with later writes, never by the recall.",
    )

    @field_validator("ttl_days", "retention_classes", mode="before")
    @classmethod
    def _from_environment(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except json.JSONDecodeError as e:
            raise ValueError(f"must be a table in TOML, or JSON in the environment: {e.msg}") from e

    @field_validator("forgetting", mode="before")
    @classmethod
    def _none_is_none(cls, value: Any) -> Any:
        return () if value in ("none", ("none",), ["none"]) else value

    @field_validator("ttl_days")
    @classmethod
    def _known_kinds(cls, value: Mapping[str, float]) -> Mapping[str, float]:
        for kind, days in value.items():
            if kind not in KINDS:
                raise ValueError(f"{kind[:40]!r} is not one of {', '.join(KINDS)}")
            if days <= 0:
                raise ValueError(f"{kind}: days must be more than 0, not {days:g}")
        return value

    @field_validator("retention_classes")
    @classmethod
    def _beside_ordinary_and_deep(cls, value: Mapping[str, RetentionClass]) -> Mapping[str, RetentionClass]:
        if ORDINARY in value:
            raise ValueError("ordinary is set by retention_half_life_days and capacity_per_user")
        if any(not name.strip() or len(name) > 40 for name in value):
            raise ValueError("names of classes are non-blank and have at most 40 characters")
        return {**DEEP, **value}

    def retention_class(self, name: str | None) -> RetentionClass:
        """The class of this name; one that is not configured any more counts as ordinary."""
        found = self.retention_classes.get(name or ORDINARY)
        if found is not None:
            return found
        return RetentionClass(half_life_days=self.retention_half_life_days, capacity=self.capacity_per_user)


__all__ = ["KINDS", "KeepingConfig", "RetentionClass"]
