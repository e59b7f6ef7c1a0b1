"""The arguments of `arena play`."""

from __future__ import annotations

import argparse

import pytest

from arena.cli import local_run, play
from referee.run_folder import FolderError
from referee.spec import BotSpec


def test_every_default_stands_in_the_help() -> None:
    parser = argparse.ArgumentParser()
    play.add(parser)
    unsaid = [
        action.dest
        for action in parser._actions
        if action.default not in (None, False, [], argparse.SUPPRESS)
        and not (str(action.default) in (action.help or "") and "default" in (action.help or ""))
    ]
    assert unsaid == []


def test_a_run_is_continued_with_the_arguments_it_began_with() -> None:
    parser = argparse.ArgumentParser()
    play.add(parser)
    bots = [BotSpec("", ("./a",)), BotSpec("", ("./b",))]
    names = [{"name": "a", "version": "", "capabilities": {}}, {"name": "b", "version": "", "capabilities": {}}]

    first = local_run.identity_of(parser.parse_args(["./a", "./b", "--family", "loa"]))
    older = {name: value for name, value in first.items() if name not in ("margin", "pondering")}

    def remembered(words: str, before: dict[str, object]) -> list[str]:
        arguments = parser.parse_args(["./a", "./b", "--family", "loa", *words.split()])
        return [bot.name for bot in local_run.remembered(arguments, {"arguments": before, "bots": names}, bots)]

    assert remembered("", first) == remembered("", older) == ["a", "b"]
    for words, name in (("--tc 5+0", "tc"), ("--pondering pinned", "pondering"), ("--margin 30", "margin")):
        with pytest.raises(FolderError, match=f"holds a run with another {name};"):
            remembered(words, first)
