"""Commands of this process on a pseudo-terminal, at a server with an empty and with a rich arena."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shlex
import shutil
import signal
import struct
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import structlog

from arena.cli.terminal.parser import Parser, build
from arena.cli.terminal.run import run
from arena.store import Store
from referee.rules import families, load
from tests.arena.api.server import Server, settings_in
from tests.arena.pages.stage import Stage, restore
from tests.test_site import parsers

SAMPLES = {"random": "bots.samples.random_mover", "greedy": "bots.samples.greedy"}
HOME = ("COLUMNS", "COLORFGBG", "NO_COLOR", "ARENA_SERVER", "ARENA_TOKEN", "ARENA_DATA", "ARENA_CONFIG")
"""Variables of whoever runs the tests that commands are not to see."""


@cache
def commands() -> Mapping[str, Any]:
    """Return the parser of every command and action that does something, by its words."""
    parser: Parser = build()
    parser.fill_all()
    return {name.removeprefix("arena "): inner for name, inner in parsers(parser) if not inner._actions_of}


def command_of(line: str) -> str:
    """Return the words of a command line that name its command."""
    words = line.split()
    return " ".join(words[:2]) if " ".join(words[:2]) in commands() else words[0]


@dataclass(frozen=True)
class Look:
    """A terminal of a width with these variables, or for 0 columns a pipe."""

    columns: int
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_colour(self) -> bool:
        return bool(self.columns) and not self.environment.keys() & {"NO_COLOR", "TERM"}


PLAIN = Look(80, {"NO_COLOR": "1"})


class Place:
    """A server, and its data folder."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder, self.store = folder, store
        self.store.samples.ensure(SAMPLES, {name: [load(name).variants[0].name] for name in families()})
        self.server = Server(self.store, settings_in(folder))
        self.server.unlimited()
        self.stage: Stage | None = None
        self.token = ""

    def words(self, line: str) -> list[str]:
        """Return the words of a command line, with where the arena is: the server, or the data folder."""
        known = commands()[command_of(line)]._option_string_actions
        where = ["--server", self.server.url] if "--server" in known else []
        where = where or (["--data", str(self.folder)] if "--data" in known else [])
        words = shlex.split(line)
        return words if {"--server", "--data", "--database"} & {*words} else [*words, *where]

    def run(self, line: str, *more: str, look: Look = PLAIN, **streams: Any) -> int:
        """Run a command in this process, as a user with a token; return its exit code."""
        environment = {"ARENA_TOKEN": self.token, "XDG_CONFIG_HOME": str(self.folder), "TERM": "xterm"}
        with pytest.MonkeyPatch.context() as patch:
            for name in HOME:
                patch.delenv(name, raising=False)
            for name, value in {**environment, **look.environment}.items():
                patch.setenv(name, value)
            for name, stream in streams.items():
                patch.setattr(sys, name, stream)
            try:
                return run([*self.words(line), *more])
            finally:  # some commands configure their log
                structlog.configure(logger_factory=structlog.ReturnLoggerFactory())

    def screen(self, line: str, look: Look = PLAIN, *, stdin: str = os.devnull, until: str = "") -> tuple[int, str]:
        """Run a command on a terminal, or in a pipe; return its exit code and what it wrote.

        A command that does not end by itself is interrupted, as by Ctrl-C, when it has written `until`.
        """
        if look.columns:
            reading, writing = pty.openpty()
            fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", 24, look.columns, 0, 0))
        else:
            reading, writing = os.pipe()
        shown = bytearray()

        def read() -> None:
            is_awaited = bool(until)
            with suppress(OSError):  # Linux: the other side is closed
                while part := os.read(reading, 65536):
                    shown.extend(part)
                    if is_awaited and until.encode() in shown:
                        is_awaited = False
                        os.kill(os.getpid(), signal.SIGINT)

        reader = Thread(target=read)
        reader.start()
        with open(writing, "w", encoding="utf-8") as terminal, open(stdin, encoding="utf-8") as given:
            code = self.run(line, look=look, stdin=given, stdout=terminal, stderr=terminal, __stdout__=terminal)
        reader.join()
        os.close(reading)
        return code, shown.decode().replace("\r\n", "\n")

    def close(self) -> None:
        self.server.close()
        self.store.close()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("empty")
    shutil.copy(sqlite_template, folder / "arena.sqlite3")
    place = Place(folder, Store.in_folder(folder))
    place.store.users.add("zoe", "author", None)
    place.token = place.server.person("yan", "admin")
    yield place
    place.close()


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory, filled_template: Path) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("rich")
    stage = restore(filled_template, folder)
    place = Place(folder, stage.store)
    place.stage = stage
    place.token = place.server.person("yan", "admin")
    yield place
    place.close()


def lines_of(shown: str) -> list[str]:
    """Return the lines as they stand on a terminal: without styles, and without what was written over."""
    lines = [line.rpartition("\r")[2] for line in shown.split("\n")]
    return [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in lines]
