"""Run bots in a sandbox: prefix a bot's command with a chain of small programs, each of which executes the next.

    Sandbox.confine(command, folder, limits) -> Launch

Four levels, strongest first: `bwrap`, `landlock`, `rlimits`, `none`. `preexec_fn` is not used: it would force a slow
fork of the large referee process.
"""

from __future__ import annotations

from referee.sandbox.launch import Launch
from referee.sandbox.level import LEVELS, Assessment, Sandbox, assess, open_sandbox, refusal

__all__ = ["LEVELS", "Assessment", "Launch", "Sandbox", "assess", "open_sandbox", "refusal"]
