"""What was asked of a bot under examination, and what was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from protocol.capabilities import Capabilities


@dataclass(slots=True)
class Step:
    """One thing asked of the bot. `needed` steps decide fitness; `advice` says what to fix."""

    name: str
    needed: bool = True
    passed: bool = False
    detail: str = ""
    advice: str = ""
    lines: list[str] = field(default_factory=list)


@dataclass(slots=True)
class CheckReport:
    """All steps in order, and what was found."""

    command: tuple[str, ...]
    family: str
    steps: list[Step] = field(default_factory=list)
    name: str = ""
    author: str = ""
    capabilities: Capabilities = field(default_factory=Capabilities.default)
    log: str = ""
    peak_bytes: int = 0
    """The most memory it was seen to hold between the steps."""

    @property
    def is_fit(self) -> bool:
        """Whether the bot may play: every needed step passed."""
        return bool(self.steps) and all(step.passed for step in self.steps if step.needed)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "command": list(self.command),
            "family": self.family,
            "fit": self.is_fit,
            "name": self.name,
            "author": self.author,
            "capabilities": self.capabilities.as_json(),
            "steps": [
                {
                    "name": step.name,
                    "needed": step.needed,
                    "passed": step.passed,
                    "detail": step.detail,
                    "advice": step.advice,
                    "lines": step.lines,
                }
                for step in self.steps
            ],
            "log": self.log,
            "peak_bytes": self.peak_bytes,
        }
