"""Every command that lists something, on a terminal of 80 columns, with an empty and with a rich arena."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import struct
import sys
import termios
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from rich.cells import cell_len

from arena.cli.terminal.parser import build
from arena.cli.terminal.run import run
from arena.store import Store
from tests.arena.api.server import Server, settings_in
from tests.arena.cli.terminal.test_help import parsers
from tests.arena.pages.stage import Stage, fill
from tests.with_features import is_on

WIDTH = 80
LISTS = (
    "archive list",
    "archive search",
    *(["atlas show loa"] if is_on("atlas") else []),
    "bot list --retired",
    "bot quota",
    "dump list",
    "explore loa",
    "leaderboard loa",
    *(["problems list"] if is_on("problems") else []),
    "rules list",
    "schedule list",
    "tournament list",
    "user list",
    "user tokens zoe",
)
SHOWN = ("bot show ada", "tournament show 1", "tournament show 2")
"""Commands that print lists with what they show; an empty arena has none of it."""
LOCAL = ("dump", "user")
"""Commands of a data folder; the others ask the server."""


class Place:
    """A server, and its data folder."""

    def __init__(self, folder: Path, template: Path) -> None:
        shutil.copy(template, folder / "arena.sqlite3")
        self.folder, self.store = folder, Store.in_folder(folder)
        self.server = Server(self.store, settings_in(folder))
        self.server.unlimited()
        self.stage: Stage | None = None
        self.token = ""

    def run(self, command: str, *more: str, **streams: Any) -> int:
        """Run a command in this process, as a user with a token; return its exit code."""
        where = {"atlas": (), "rules": ()}.get(command.split(maxsplit=1)[0], ("--server", self.server.url))
        where = ("--data", str(self.folder)) if command.startswith(LOCAL) else where
        environment = {"ARENA_TOKEN": self.token, "NO_COLOR": "1", "TERM": "xterm", "XDG_CONFIG_HOME": str(self.folder)}
        with pytest.MonkeyPatch.context() as patch:
            for name in ("COLUMNS", "ARENA_SERVER"):
                patch.delenv(name, raising=False)
            for name, value in environment.items():
                patch.setenv(name, value)
            for name, stream in streams.items():
                patch.setattr(sys, name, stream)
            return run([*command.split(), *where, *more])

    def screen(self, command: str) -> tuple[int, str]:
        """Run a command on a terminal; return its exit code and what stands there."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
        shown = bytearray()

        def read() -> None:
            with suppress(OSError):  # Linux: the other side is closed
                while part := os.read(master, 65536):
                    shown.extend(part)

        reader = Thread(target=read)
        reader.start()
        with open(slave, "w", encoding="utf-8") as terminal:
            code = self.run(command, stdout=terminal, stderr=terminal, __stdout__=terminal)
        reader.join()
        os.close(master)
        return code, shown.decode().replace("\r\n", "\n")

    def close(self) -> None:
        self.server.close()
        self.store.close()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Place]:
    place = Place(tmp_path_factory.mktemp("empty"), sqlite_template)
    place.token = place.server.person("zoe")
    yield place
    place.close()


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Place]:
    place = Place(tmp_path_factory.mktemp("rich"), sqlite_template)
    place.stage = fill(place.store)
    place.token = place.server.person("yan")
    yield place
    place.close()


def _check(command: str, code: int, shown: str) -> None:
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", line) for line in shown.splitlines()]
    assert "Traceback" not in shown, shown
    assert code == 0, shown
    assert any(lines), "nothing is shown"
    assert not [line for line in lines if cell_len(line) > WIDTH], shown


@pytest.mark.parametrize("command", LISTS)
def test_list_of_an_empty_arena_fits_a_terminal(empty: Place, command: str) -> None:
    _check(command, *empty.screen(command))


@pytest.mark.parametrize("command", [*LISTS, *SHOWN])
def test_list_of_a_rich_arena_fits_a_terminal(rich: Place, command: str) -> None:
    _check(command, *rich.screen(command))


def test_every_list_command_is_tested() -> None:
    parser = build()
    parser.fill_all()
    found = {one.prog.removeprefix("arena ") for one in parsers(parser) if one.prog.endswith(" list")}
    assert found
    assert found <= {" ".join(command.split()[:2]) for command in LISTS}
