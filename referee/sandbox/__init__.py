"""Turns a bot's command into the command that is really run: a chain of small programs, each execing the next.

    Sandbox.confine(command, folder, limits) -> Launch

Four levels, strongest first: `bwrap`, `landlock`, `rlimits`, `none`. No `preexec_fn`: it would force a slow fork of a
big parent. Refuses to know the protocol and the game.
"""

from __future__ import annotations

from referee.sandbox.assessment import Assessment, assess, open_sandbox, refusal
from referee.sandbox.launch import Launch
from referee.sandbox.level import LEVELS, Sandbox

__all__ = ["LEVELS", "Assessment", "Launch", "Sandbox", "assess", "open_sandbox", "refusal"]
