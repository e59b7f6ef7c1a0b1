"""The report of a check: its steps and findings."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from protocol.capabilities import Capabilities
from referee.check.timing import Timing


@dataclass(slots=True)
class CheckStep:
    """One step of a check. If it is `needed`, a bot that fails it is unfit. `advice` says what to fix.

    `said` is the end of the bot's standard error, if the step failed.
    """

    name: str
    needed: bool = True
    passed: bool = False
    detail: str = ""
    advice: str = ""
    said: str = ""
    is_late: bool = False
    """True if it failed because the bot was too slow, so that the load of the machine may be the cause."""
    lines: list[str] = field(default_factory=list)


@dataclass(slots=True)
class CheckReport:
    """All steps in order and the findings. The first required step that fails is the last step.

    `refused` maps the variants that the bot cannot play to the options it would have to announce.
    """

    command: tuple[str, ...]
    family: str
    steps: list[CheckStep] = field(default_factory=list)
    name: str = ""
    author: str = ""
    capabilities: Capabilities = field(default_factory=Capabilities.default)
    timing: Timing = field(default_factory=Timing)
    variants: list[str] = field(default_factory=list)
    """Variants in which the bot played legal moves."""
    refused: dict[str, str] = field(default_factory=dict)
    log: str = ""
    peak_bytes: int = 0
    """The peak memory of the bot, as measured after each step."""
    seconds: float = 0.0
    """Duration of the check."""
    load: float = 0.0
    """The highest one-minute load average of the machine during the check."""
    cores: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))

    def measure_load(self) -> bool:
        """Read the machine's load average, and return whether it exceeds the number of its cores."""
        load = os.getloadavg()[0]
        self.load = max(self.load, load)
        return load > self.cores

    @property
    def was_busy(self) -> bool:
        """True if the machine was busy at a step of the check, so that a time may be longer than the bot needs."""
        return self.load > self.cores

    @property
    def load_words(self) -> str:
        """The load in words: `load 0.8 on 2 cores`."""
        return f"load {self.load:.1f} on {self.cores} cores"

    @property
    def fault(self) -> CheckStep | None:
        """The required step that failed; None when the bot may play."""
        return next((step for step in self.steps if step.needed and not step.passed), None)

    @property
    def is_fit(self) -> bool:
        """True if every required step passed."""
        return bool(self.steps) and self.fault is None

    def as_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        timing = self.timing
        return {
            "command": list(self.command),
            "family": self.family,
            "fit": self.is_fit,
            "fit_from_ms": timing.fit_from_ms,
            "overshoot_ms": {"p50": timing.quantile(0.5), "p95": timing.overshoot_ms},
            "first_overshoot_ms": timing.first_overshoot_ms,
            "name": self.name,
            "author": self.author,
            "variants": self.variants,
            "refused": self.refused,
            "capabilities": self.capabilities.as_json(),
            "steps": [
                {
                    "name": step.name,
                    "needed": step.needed,
                    "passed": step.passed,
                    "detail": step.detail,
                    "advice": step.advice,
                    "said": step.said,
                    "lines": step.lines,
                }
                for step in self.steps
            ],
            "log": self.log,
            "peak_bytes": self.peak_bytes,
            "seconds": round(self.seconds, 1),
            "load": {"average": round(self.load, 1), "cores": self.cores},
        }
