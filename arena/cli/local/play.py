"""`arena play`: a tournament of executables on this machine, resumable, without server or database."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from arena.cli.local.tournament_input import read_document
from arena.cli.local.tournament_options import EXAMPLE, add_options
from arena.cli.terminal import argument
from arena.cli.terminal.fields import add_fields, option, read_fields
from arena.cli.terminal.printer import Printer, add_output
from arena.cli.terminal.rules_arguments import sandbox_option
from arena.documents.query import query_fields

MACHINE = "machine, not in files"
"""Heading of the options of the machine."""


@dataclass(frozen=True, kw_only=True)
class MachineOptions:
    """The options of the machine and of the terminal, which are not those of the tournament."""

    concurrency: int = option(
        "play COUNT games at once", metavar="COUNT", type=argument.positive, default=1, group=MACHINE
    )
    sandbox: str = sandbox_option(MACHINE)
    affinity: str = option(
        "auto pins each game to a core of its own (default off)", choices=("auto", "off"), default="off", group=MACHINE
    )
    out: Path | None = option("store the run in DIR; the same command continues it", metavar="DIR", group=MACHINE)
    log: bool = option("print the reason and standard error of every forfeit", default=False, group=MACHINE)
    rating_interval: int = option(
        "show score, Elo, LOS, draws and LLR after every COUNT games (default 0: only at the end)",
        metavar="COUNT",
        type=argument.whole,
        default=0,
        group=MACHINE,
    )


def add(parser: argparse.ArgumentParser) -> None:
    parser.usage = "arena play [OPTIONS] --family FAMILY BOT BOT [BOT ...]"
    parser.add_argument(
        "bots",
        nargs="*",
        default=argparse.SUPPRESS,
        metavar="BOT",
        help="path, quoted command, sample:NAME, 'bridge:NAME …', tcp:HOST:PORT, folder or bot.toml; "
        "name it by NAME=BOT; give it settings by 'BOT;tc=5+0.05;option.Hash=64'",
    )
    parser.add_argument(
        "--each",
        nargs="+",
        action="append",
        default=[],
        metavar="SETTING",
        help="settings of all bots: 'tc=5+0.05;option.Hash=64', or several texts; a bot's own settings have priority",
    )
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help='read the tournament from a file as "arena tournament create" does, with bots as on the command line; '
        "options of the command line override the file (example below)",
    )
    add_options(parser)
    add_fields(parser, MachineOptions)
    add_output(parser, "csv", meanings={"ndjson": "a game record on each line"})
    example = "\n".join(f"  {line}" for line in EXAMPLE.splitlines())
    parser.epilog = f"{parser.epilog or ''}\n\na file for --config:\n{example}".lstrip()


def machine_options() -> frozenset[str]:
    """Return the names of the options that a file must not have."""
    return frozenset({"--output", "--json", *(field.option for field in query_fields(MachineOptions))})


def run(arguments: argparse.Namespace) -> int:
    """Play, and print the standings, the crosstable and the ratings."""
    machine = MachineOptions(**read_fields(arguments, MachineOptions))
    argument.refuse_concurrency(machine.concurrency)
    document = read_document(arguments, machine_options())
    from arena.cli.local.play_run import play_tournament

    return play_tournament(document, machine, Printer(arguments))
