"""`arena doctor`: what this machine offers the arena, one line for each part, and how to get the rest.

Refuses to change anything: it tries things in temporary places and cleans up.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from arena.cli import machine, neighbours, output
from arena.cli.exit import Exit
from arena.cli.output import Style
from arena.cli.part import Part, State
from arena.config import Settings, read_settings

_COLOURS: dict[State, Style] = {"ok": "green", "weak": "yellow", "broken": "red"}


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--data", type=Path, metavar="DIR", help="data folder (default ./data)")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings (default arena.toml in the data folder)")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(arguments: argparse.Namespace) -> int:
    """Look at every part; exit code 1 when one is broken."""
    settings = read_settings(arguments.config, data=arguments.data)
    found = []
    for part in examine(settings):
        found.append(part)
        if not arguments.json:
            output.text(f"{output.styled(f'{part.state:<6}', _COLOURS[part.state])}  {part.name:<15} {part.detail}")
            if part.fix:
                output.text(f"{'':24}fix: {part.fix}")
    if arguments.json:
        output.document({"parts": [asdict(part) for part in found]})
    return Exit.FAILED if any(part.state == "broken" for part in found) else Exit.DONE


def examine(settings: Settings) -> Iterator[Part]:
    """Every part, as it is looked at."""
    yield machine.python()
    yield machine.sandbox()
    yield machine.uploads()
    yield machine.user()
    yield machine.groups()
    yield from machine.programs()
    yield machine.rules()
    yield machine.kernels()
    yield machine.cores()
    yield machine.memory()
    yield machine.clock()
    yield machine.lag_meter()
    yield neighbours.data_folder(settings)
    yield neighbours.sqlite(settings)
    yield neighbours.service("database", "database", settings.database, "SQLite in the data folder")
    yield neighbours.broker(settings)
    yield neighbours.cluster(settings) if settings.is_clustered else Part("executor", "ok", settings.executor)
