"""Guides that lead through a session: their commands, run in order by one shell, with the files that they give.

What other pages show is run in tests/arena/cli/test_shown_commands.py.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import INTERPRETED
from tests.guard import mark
from tests.port import free_port
from tests.program import ENDS_S, finished

DOCS = Path(__file__).parents[1] / "docs"
TIMEOUT_S = 300
BLOCK = re.compile(r"^ *```(\w+)(?: (\S+))?\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SERVE = "exec 4< <(exec arena serve {} --port $PORT 2> serve.log); server=$!; read -r -u 4 address"
LOGIN = "sed -n 's/^password *//p' admin | arena login --user admin"
STOP = "kill -INT $server; wait $server"


BOTS = "arena new-bot python-plain loa new\nfor name in one two three four mybot.py; do cp new/my_bot.py $name; done\n"
"""Commands that make bots which play any legal move."""


class Guide(NamedTuple):
    """A page, the pages whose files it uses, replacements of its words in the test, and words of its output.

    `before` are commands of the test that come first.
    """

    page: str
    uses: tuple[str, ...]
    replacements: Mapping[str, str]
    expected: tuple[str, ...]
    before: str = ""


GUIDES = (
    Guide(
        "tutorials/first-tournament.md",
        (),
        {
            'time_control = "1+0.05"': 'time_control = "nodes:9"',
            "arena init ": "arena init | tee admin ",
            "arena serve ": f"{SERVE.format('')} ",
            "arena login --user admin": LOGIN,
            "arena leaderboard loa": f"arena leaderboard loa\n{STOP}",
        },
        ("First tournament: loa standard, round-robin, finished, 6 of 6 games", "alphabeta"),
    ),
    Guide(
        "tutorials/season.md",
        ("tutorials/first-bot.md",),
        {
            'time_control = "1+0.05"': 'time_control = "nodes:9"',
            'time_control = "2+0.1"': 'time_control = "nodes:9"',
            "arena init --data season": "arena init --data season | tee admin",
            "arena serve --data season ": f"{SERVE.format('--data season')} ",
            "arena login --user admin": LOGIN,
            "arena ratings rebuild --check --data season": f"arena ratings rebuild --check --data season\n{STOP}",
        },
        ("/register?invitation=", "plain v1  active", "qualifying: loa standard, swiss, finished, 6 of 6 games"),
    ),
    Guide(
        "how-to/debug-a-bot.md",
        ("tutorials/first-bot.md",),
        {"--tc 1+0.05": "--tc nodes:9", "--nodes 200": "--nodes 10"},
        ("bestmove", "accuracy", "d1a4"),
    ),
    Guide(
        "how-to/play-local-matches.md",
        (),
        {
            "--games 20 --tc 1+0.05": "--games 2 --tc nodes:9 --out runs/first",
            "--format swiss --rounds 4": "--format swiss --rounds 2 --tc nodes:9",
            "--knockout third_place=true,tiebreak_pairs=3": "--knockout third_place=true,tiebreak_pairs=3 --tc nodes:9",
            "--race top=1,confidence=0.9 --games 400": "--race top=1,confidence=0.9 --games 6 --tc nodes:9",
            "arena analyse runs/first/games.ndjson": "arena analyse runs/first/games.ndjson --nodes 10",
        },
        ("third place", "accuracy"),
        before=BOTS,
    ),
)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with the commands `arena` and `python`."""
    tmp_path.chmod(0o755)  # bots run as a user with fewer rights
    folder = tmp_path / "tools"
    folder.mkdir()
    for name, command in (("python", ""), ("arena", "-m arena")):
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


def blocks(page: str) -> list[tuple[str, str, str]]:
    """The code blocks of a page: language, name of a file, text."""
    return BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))


@pytest.mark.long
@pytest.mark.timeout(TIMEOUT_S + 2 * ENDS_S)
@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.page)
def test_guide_run_in_order_succeeds(guide: Guide, tools: Path) -> None:
    all_blocks = [block for page in (*guide.uses, guide.page) for block in blocks(page)]
    commands = "".join(text for kind, _, text in blocks(guide.page) if kind == "sh")
    files = {name: text for kind, name, text in all_blocks if name and kind != "sh"}
    for words, instead in guide.replacements.items():
        assert sum(text.count(words) for text in (commands, *files.values())) == 1, f"{words!r} is not there once"
        commands = commands.replace(words, instead)
        files = {name: text.replace(words, instead) for name, text in files.items()}
    for name, text in files.items():
        (tools.parent / name).write_text(text, encoding="utf-8")
    port = str(free_port())
    environment = {
        **mark(),
        **INTERPRETED,
        "ARENA_LADDER_TIME_CONTROL": "nodes:9",  # nobody waits for its games, and the champions think for minutes
        "HOME": str(tools.parent / "home"),
        "XDG_CONFIG_HOME": "",
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(DOCS.parent),
        "PORT": port,
        "ARENA_SERVER": f"http://127.0.0.1:{port}",
    }
    script = f"set -euxo pipefail\n{guide.before}{commands}"
    done = finished(["bash", "-c", script], TIMEOUT_S, cwd=tools.parent, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    shown = f"{done.stdout}{done.stderr}"
    for words in guide.expected:
        assert words.lower() in shown.lower(), shown
