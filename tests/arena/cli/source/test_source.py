"""The archive of a server: an import is followed until it is over."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from arena.cli.source import source as source_module
from arena.cli.source.source import GameFile, ServerSource
from arena.cli.terminal import output
from arena.cli.terminal.exit import CommandError, Exit
from referee.rules import load


class Client:
    """A client of a server whose import goes through these states."""

    def __init__(self, *states: str) -> None:
        self.states = list(states)

    def ask(self, *_: Any, **__: Any) -> Any:
        return SimpleNamespace(data=self._next())

    def get(self, path: str) -> dict[str, Any]:
        assert path == "/archive/imports/7"
        return self._next()

    def _next(self) -> dict[str, Any]:
        return {"id": 7, "state": self.states.pop(0), "problem": "it needs more than 60 s", "file": "club"}


def source(*states: str) -> ServerSource:
    return ServerSource(Client(*states))  # type: ignore[arg-type]


def test_import_of_a_file_is_followed_until_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "_POLL_INTERVAL_S", 0)
    one = GameFile("games/old.txt", "1. b1b3", load("loa").settle(), None)
    assert source("waiting", "waiting", "done").import_files([one])[0]["file"] == "games/old.txt"
    with pytest.raises(CommandError, match=r"games/old\.txt: it needs more than 60 s") as caught:
        source("waiting", "failed").import_files([one])
    assert caught.value.code is Exit.FAILED


@pytest.mark.parametrize(("silent_s", "notes"), [(-1.0, 1), (1000.0, 0)])
def test_an_import_that_waits_says_once_for_what(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, silent_s: float, notes: int
) -> None:
    monkeypatch.setattr(source_module, "_POLL_INTERVAL_S", 0)
    monkeypatch.setattr(output, "SPEAKS_AFTER_S", silent_s)
    one = GameFile("old.txt", "1. b1b3", load("loa").settle(), None)
    source("waiting", "waiting", "waiting", "done").import_files([one])
    assert capsys.readouterr().err.count("waiting until the server's referee has read old.txt") == notes
