"""What Linux tells of processes: children, processor time, memory."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def children(pid: int) -> list[int]:
    """Processes that this one started and that run; the oldest first."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            fields = _stat(int(entry.name))
            if fields and int(fields[1]) == pid and fields[0] != "Z":
                found.append((int(fields[19]), int(entry.name)))
    return [child for _, child in sorted(found)]


def is_worker(pid: int) -> bool:
    """Whether a child of a server works for it: Python's own helper processes do not."""
    try:
        return b"resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def processor_seconds(pid: int) -> float:
    """Seconds of processor time that the process used, 0 when it is gone."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / _TICKS if fields else 0.0


def resident_megabytes(pid: int) -> float:
    """Memory that the process holds now, 0 when it is gone."""
    fields = _stat(pid)
    return int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 2**20 if fields else 0.0


def _stat(pid: int) -> list[str]:
    """The fields after the name, state first."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return []


__all__ = ["children", "is_worker", "processor_seconds", "resident_megabytes"]
