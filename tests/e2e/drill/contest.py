"""The tournament of the drill, as a user makes it: bots uploaded, a document sent, results read back.

Its bots are the sample bot in C behind a shell script that takes its time over every move, so that games last about a
second without using the processor.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from arena.__main__ import main
from arena.client import ApiClient
from tests.e2e.drill.machine import Timeout

ROOT = Path(__file__).parents[3]
BOTS = {"brisk": 1, "calm": 2, "deep": 2}
"""Name -> plies it looks ahead."""
MAX_PLIES = 20
CHECK_S = 300.0
"""How long the check of a bot may take."""
_POLL_INTERVAL_S = 0.25

_PACED = """#!/bin/sh
# The bot, but every move takes a while.
./loa_bot | while IFS= read -r line; do
    case $line in bestmove*) sleep {pause} ;; esac
    printf '%s\\n' "$line"
done
"""


class DrillError(Exception):
    """The drill itself could not do what it had to; the message says what and why."""


def command(*words: str, environment: Mapping[str, str], codes: tuple[int, ...] = (0,)) -> str:
    """Run an arena command to its end in this process; its standard output. Raises DrillError.

    One at a time. A process of its own would first load for a second what is loaded here.
    """
    output, errors = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    before = dict(os.environ)
    try:
        os.environ.clear()
        os.environ.update(environment)
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = main(words)
    finally:
        os.environ.clear()
        os.environ.update(before)
    if code not in codes:
        raise DrillError(f"arena {' '.join(words[:3])} ended with {code}: {errors.getvalue().strip()[-500:]}")
    output.seek(0)
    return output.read()


def build(folder: Path, pause_ms: int) -> dict[str, Path]:
    """The bundles, each in a folder. Raises DrillError without a C compiler."""
    source = folder / "source"
    shutil.copytree(ROOT / "bots" / "examples" / "loa", source, ignore=shutil.ignore_patterns("bin"))
    try:
        subprocess.run(["make", "-s", "-C", str(source)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise DrillError(f"the bot in C cannot be built: {error}; install gcc and make") from None
    bundles = {}
    for number, (name, depth) in enumerate(BOTS.items()):
        bundle = folder / name
        bundle.mkdir()
        shutil.copy(source / "bin" / "loa_bot", bundle / "loa_bot")
        paced = bundle / "paced.sh"
        # Pauses differ a little, so that no two bundles are the same and games do not end all at once.
        paced.write_text(_PACED.format(pause=f"{(pause_ms + number) / 1000:.3f}"), encoding="utf-8")
        paced.chmod(0o755)
        manifest = f'name = "{name}"\nfamilies = ["loa"]\ncommand = ["./paced.sh"]\noptions = {{ Depth = {depth} }}\n'
        (bundle / "bot.toml").write_text(manifest, encoding="utf-8")
        bundles[name] = bundle
    return bundles


def pairings() -> int:
    """How many pairings a round robin of the bots has."""
    return len(list(combinations(BOTS, 2)))


class Contest:
    """Bots and a tournament on a server."""

    time_control: str

    def __init__(self, url: str, token: str, folder: Path) -> None:
        self._folder = folder
        clean = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
        self._environment = {**clean, "ARENA_SERVER": url, "ARENA_TOKEN": token, "XDG_CONFIG_HOME": str(folder)}
        self._client = ApiClient(url, token)
        self.numbers: list[int] = []
        self.games = 0

    def _ask(self, *words: str) -> Any:
        return json.loads(command(*words, environment=self._environment))

    def submit(self, pause_ms: int) -> None:
        """Upload the bots and wait for their checks, which are made at the same time."""
        waiting = []
        for name, bundle in build(self._folder / "bundles", pause_ms).items():
            waiting.append(self._ask("bot", "submit", str(bundle), "--name", name, "--family", "loa", "--json"))
        timeout = Timeout(CHECK_S)
        for submission in waiting:
            while submission["state"] in ("uploaded", "checking"):
                if timeout.is_over():
                    raise DrillError(f"{submission['name']} was not checked within {CHECK_S:g} s")
                time.sleep(_POLL_INTERVAL_S)
                submission = self._client.get(f"/submissions/{submission['id']}")
            if submission["state"] != "active":
                raise DrillError(f"{submission['name']} was not taken: {submission['state']}, {submission['problem']}")

    def create(self, games: int, seed: int) -> None:
        """Another round robin of at least so many games, which begins at once."""
        games_each = -(-games // pairings())
        games_each += games_each % 2
        self.games += games_each * pairings()
        document = self._folder / "drill.toml"
        document.write_text(
            f"""name = "Drill {seed}, {len(self.numbers) + 1}"
family = "loa"
games = {games_each}
time_control = "{self.time_control}"
openings = "random:6:{seed}"
seed = {seed}
adjudication = {{ max_plies = {MAX_PLIES} }}
entries = {{ bots = {json.dumps(list(BOTS))} }}
""",
            encoding="utf-8",
        )
        answer = self._ask("tournament", "create", str(document), "--json")
        self.numbers.append(int(answer["id"]))

    def show(self, number: int) -> dict[str, Any]:
        """A tournament with its standings."""
        found: dict[str, Any] = self._ask("tournament", "show", str(number), "--json")
        return found

    def crosstable(self, number: int) -> list[dict[str, Any]]:
        """Everybody against everybody."""
        rows: list[dict[str, Any]] = self._client.get(f"/tournaments/{number}/crosstable")["items"]
        return rows

    def export(self, number: int) -> list[dict[str, Any]]:
        """The records of all games of a tournament, as exported."""
        text = command("tournament", "export", str(number), environment=self._environment)
        return [json.loads(line) for line in text.splitlines() if line]
