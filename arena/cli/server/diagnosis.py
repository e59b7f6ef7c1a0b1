"""The diagnosis of one component of an arena, as `arena doctor` prints it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "weak", "broken"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The state of one component: `weak` if it works but could be better, `broken` if not. `fix` says what to do."""

    name: str
    state: State
    detail: str
    fix: str = ""
