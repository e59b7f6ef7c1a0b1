"""What a drill found, as a text, as JSON and as a page of the documentation."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from tests.e2e.drill.fault import Fault
from tests.e2e.drill.verdict import Check

GOAL_S = 10.0
"""The next game should begin within that time after a fault has ended."""


@dataclass
class Hit:
    """A fault that was done: when it began and ended (seconds since the epoch), and when the next game began."""

    fault: Fault
    began: float
    ended: float
    note: str
    problem: str = ""
    recovery_s: float | None = None


@dataclass
class Report:
    """One drill of one topology."""

    topology: str
    seed: int
    games: int
    seconds: float = 0.0
    hits: list[Hit] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    voids: dict[str, int] = field(default_factory=dict)
    """Attempts that came to nothing and were played again, by reason."""
    remarks: list[str] = field(default_factory=list)

    @property
    def has_passed(self) -> bool:
        """Whether everything holds."""
        return all(check.has_passed for check in self.checks)

    def recoveries(self) -> dict[str, list[float]]:
        """Seconds to the next game by kind of fault, and of all."""
        found: dict[str, list[float]] = {}
        for hit in self.hits:
            if hit.recovery_s is not None:
                found.setdefault(hit.fault.label, []).append(hit.recovery_s)
        return dict(sorted(found.items()))

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        begin = self.hits[0].began if self.hits else 0.0
        times = self.recoveries()
        return {
            "topology": self.topology,
            "seed": self.seed,
            "games": self.games,
            "seconds": round(self.seconds, 1),
            "passed": self.has_passed,
            "faults": [
                {
                    "number": hit.fault.number,
                    "fault": hit.fault.label,
                    "at_s": round(hit.began - begin, 1),
                    "lasted_s": round(hit.ended - hit.began, 1),
                    "recovery_s": hit.recovery_s if hit.recovery_s is None else round(hit.recovery_s, 2),
                    "note": hit.note,
                    "problem": hit.problem,
                }
                for hit in self.hits
            ],
            "recovery_s": {name: _spread(values) for name, values in times.items()},
            "recovery_of_all_s": _spread([value for values in times.values() for value in values]),
            "goal_s": GOAL_S,
            "voids": self.voids,
            "checks": [{**asdict(check), "passed": check.has_passed} for check in self.checks],
            "remarks": self.remarks,
        }

    def lines(self) -> list[str]:
        """For people."""
        begin = self.hits[0].began if self.hits else 0.0
        head = f"{self.topology}: {self.games} games, {len(self.hits)} faults, seed {self.seed}, {self.seconds:.0f} s"
        lines = [head, "", "  nr      at  lasted  next game  fault"]
        for hit in self.hits:
            after = "        -" if hit.recovery_s is None else f"{hit.recovery_s:7.2f} s"
            lines.append(
                f"  {hit.fault.number:2} {hit.began - begin:5.0f} s {hit.ended - hit.began:5.1f} s  {after}"
                f"  {hit.fault.label}: {hit.note}{'  PROBLEM: ' + hit.problem if hit.problem else ''}"
            )
        lines += ["", "  seconds from the end of a fault to the next game:  min  median  max"]
        times = self.recoveries()
        every = [value for values in times.values() for value in values]
        for name, values in [*times.items(), ("all", every)]:
            if values:
                spread = f"{min(values):6.2f} {median(values):6.2f} {max(values):6.2f}"
                lines.append(f"  {name:40} {spread}  ({len(values)} times)")
        late = sum(value > GOAL_S for value in every)
        lines.append(f"  {late} of {len(every)} later than {GOAL_S:g} s")
        voids = ", ".join(f"{count} {name}" for name, count in sorted(self.voids.items())) or "none"
        lines += ["", f"  attempts played again: {voids}"]
        lines += [f"  {remark}" for remark in self.remarks]
        lines.append("")
        for check in self.checks:
            mark = "ok  " if check.has_passed else "FAIL"
            lines.append(f"  {mark} {check.name}{f' ({check.detail})' if check.detail else ''}")
            lines += [f"         {problem}" for problem in check.problems[:20]]
        return lines


def write(folder: Path, texts: Sequence[str], *, has_passed: bool) -> Path:
    """Write the reports of several drills as a page with the date in its name; return the file."""
    today = datetime.now(UTC)
    words = shlex.join(sys.argv[1:])
    command = f'make drill ARGS="{words}"' if words else "make drill"
    machine = f"{os.cpu_count()} cores ({platform.machine()}) with Python {platform.python_version()}"
    blocks = "\n".join(f"    {line}".rstrip() for text in texts for line in [*text.splitlines(), ""])
    path = folder / f"{today:%Y-%m-%d}-drill.md"
    path.write_text(
        f"# Drill, {today.day} {today:%B %Y}\n\n"
        "Faults are injected into a running tournament. Afterwards every game must have exactly one result, and no\n"
        f"bot may have lost by a fault. The drill {'passed' if has_passed else 'failed'}.\n\n"
        f"Measured on {machine}, at a load of {os.getloadavg()[0]:.0f} at the end.\n\n"
        f"    {command}\n\n## Faults and checks\n\n{blocks}",
        encoding="utf-8",
    )
    return path


def _spread(values: Sequence[float]) -> dict[str, float] | None:
    if not values:
        return None
    return {
        "min": round(min(values), 2),
        "median": round(median(values), 2),
        "max": round(max(values), 2),
        "count": len(values),
    }
