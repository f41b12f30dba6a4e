"""The settings of consolidation; all of it is off until a number of days is named."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class ConsolidationConfig(BaseModel):
    """What `Config` says about summaries."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    consolidate_after_days: float | None = Field(
        None,
        ge=0,
        description="Whole days after which maintain() summarises a finished day of a user by topic; None: never. "
        "7 leaves a week in which turns change most (corrections, edits, forgetting).",
    )
    consolidate_weekly_after_days: float = Field(
        28.0,
        ge=0,
        description="Whole days after the end of a week at which its day summaries become one per topic; 0 keeps "
        "the days. Four weeks: by then nobody asks for one day of them by its date.",
    )
    consolidate_min_turns: int = Field(
        6, ge=2, description="Turns a day needs to be summarised: of fewer the summary would be as long as they are."
    )
    consolidate_topic_turns: int = Field(
        3, ge=1, description="Turns a topic of a day needs; smaller ones join the nearest."
    )
    consolidate_over_turns: int = Field(
        0,
        ge=0,
        description="More turns of a user than this without a summary make the oldest finished days due before "
        "their age does; 0: age alone counts.",
    )
    consolidate_per_run: int = Field(
        200, ge=1, le=100_000, description="Summaries that one maintain() makes; the next one goes on."
    )
    summary_tokens: int = Field(
        160, ge=20, le=4000, description="About how long a summary may be: an eighth of the default context budget."
    )
    retire_sources: bool = Field(
        False,
        description="Turns are no longer searched once a summary that was found by its own topic stands for them. "
        "Never those with an anchor, a fact, an identifier or high importance.",
    )
    retire_coverage: float = Field(
        0.5,
        ge=0,
        le=1,
        description="Share of a turn's words that the lines which rest on it must hold for it to be retired; turns "
        "that say nothing by themselves go with it. 0 retires all that may be.",
    )


__all__ = ["ConsolidationConfig"]
