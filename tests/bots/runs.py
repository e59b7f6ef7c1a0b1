"""Matches of the sample bots by `arena play`, for the reports of their strength."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bots.driver import ROOT

UNEXPECTED = ("time", "stalled", "crashed", "illegal-move", "resigned")
"""Terminations that no sample bot may cause."""


def command(one: str, two: str, family: str, *more: str) -> list[str]:
    """The words of `arena play` for two bots, each a sample's name or `NAME=BOT`."""
    bots = [bot if "=" in bot else f"sample:{bot}" for bot in (one, two)]
    return ["arena", "play", *bots, "--family", family, *more]


def warm(families: Sequence[str]) -> None:
    """Compile what is not compiled yet, so that no bot does it while the referee waits for `readyok`."""
    subprocess.run(
        [sys.executable, "-m", "bots.samples.warmup", *families], cwd=ROOT, stderr=subprocess.DEVNULL, check=True
    )


def run(words: list[str], out: Path | None = None) -> list[dict[str, Any]]:
    """The records of the games; with `out`, a run that was interrupted goes on. Raises CalledProcessError."""
    kept = ["--out", str(out)] if out is not None else []
    line = [sys.executable, "-m", *words, "--json", "--quiet", *kept]
    done = subprocess.run(line, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)["games"]
    return found
