"""The diagnosis of one component of an arena, as `arena doctor` prints it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "weak", "broken"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One component: `weak` works but could be better, `broken` does not. `fix` says what to do."""

    name: str
    state: State
    detail: str
    fix: str = ""
