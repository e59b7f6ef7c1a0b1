"""What was asked of a bot under examination, and what was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from protocol.capabilities import Capabilities
from referee.check.timing import Timing


@dataclass(slots=True)
class Step:
    """One thing asked of the bot. `needed` steps decide fitness; `advice` says what to fix.

    `said` is the end of its standard error where it failed by ending.
    """

    name: str
    needed: bool = True
    passed: bool = False
    detail: str = ""
    advice: str = ""
    said: str = ""
    lines: list[str] = field(default_factory=list)


@dataclass(slots=True)
class CheckReport:
    """All steps in order, and what was found. The first needed step that fails is the last: the cause.

    `refused`: the variants that the bot cannot play, each with what it would have to announce.
    """

    command: tuple[str, ...]
    family: str
    steps: list[Step] = field(default_factory=list)
    name: str = ""
    author: str = ""
    capabilities: Capabilities = field(default_factory=Capabilities.default)
    timing: Timing = field(default_factory=Timing)
    variants: list[str] = field(default_factory=list)
    """Those in which it was found to play legal moves."""
    refused: dict[str, str] = field(default_factory=dict)
    log: str = ""
    peak_bytes: int = 0
    """The most memory it was seen to hold between the steps."""
    seconds: float = 0.0
    """How long the examination took."""

    @property
    def fault(self) -> Step | None:
        """The needed step that failed; None when the bot may play."""
        return next((step for step in self.steps if step.needed and not step.passed), None)

    @property
    def is_fit(self) -> bool:
        """Whether the bot may play: every needed step passed."""
        return bool(self.steps) and self.fault is None

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
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
        }
