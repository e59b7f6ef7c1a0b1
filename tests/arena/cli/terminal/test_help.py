"""The help of all commands: every argument is explained, and values are named by words."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import pytest

from arena.cli.terminal.parser import Parser, build
from arena.cli.terminal.run import run

UNITS = ("MS", "MB", "MU", "ID", "AT")


def parsers(parser: Parser) -> Iterator[Parser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from parsers(inner)


@pytest.fixture(scope="module")
def commands() -> list[Parser]:
    parser = build()
    parser.fill_all()
    return list(parsers(parser))


def test_every_argument_has_help(commands: list[Parser]) -> None:
    silent = [
        f"{parser.prog} {action.option_strings or action.dest}"
        for parser in commands
        for action in parser._actions
        if not action.help and not isinstance(action, argparse._SubParsersAction)
    ]
    assert silent == []


def test_values_are_named_by_words(commands: list[Parser]) -> None:
    short = [
        f"{parser.prog} {action.option_strings or action.dest}: {action.metavar}"
        for parser in commands
        for action in parser._actions
        if isinstance(action.metavar, str) and len(action.metavar) <= 2 and action.metavar not in (*UNITS, "N")
    ]
    assert short == []


def test_usage_of_a_command_with_many_options_names_the_required_ones(capsys: Any) -> None:
    run(["worker", "--help"])
    assert capsys.readouterr().out.startswith("usage: arena worker [OPTIONS] --scheduler URL\n")


def test_overview_fits_eighty_columns(capsys: Any) -> None:
    run(["--help"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
