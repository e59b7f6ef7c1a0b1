"""`arena demo`: play every family with the sample bots, rate them, and serve pages, without any setup."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arena.cli.terminal import argument
from arena.cli.terminal.argument import refuse_concurrency
from arena.cli.terminal.fields import option
from referee.machine.cores import usable_cores


@dataclass(frozen=True, kw_only=True)
class DemoArguments:
    once: bool = option("exit after the games, and serve no pages", default=False)
    games: int = option("play COUNT games per pairing", metavar="COUNT", default=2, type=argument.up_to(1000))
    tc: str = option("time control", metavar="TIME", default="0.5+0.02")
    family: tuple[str, ...] = option(
        "play only this family; may be repeated (default: all)", metavar="FAMILY", type=argument.family, default=()
    )
    concurrency: int = option(
        "play COUNT games at once (default: one per processor)",
        metavar="COUNT",
        type=argument.positive,
        default=usable_cores(),
    )
    data: Path = option("data folder (default ./data)", metavar="DIR", default=Path("data"))
    bind: str = option("address of the pages", metavar="HOST", default="127.0.0.1")
    port: int = option(
        "port of the pages (default 8000, 0 = a free one)", metavar="PORT", type=argument.port, default=8000
    )


def run(arguments: DemoArguments) -> int:
    """Play games, print results, serve pages. Invalid arguments are rejected before anything is opened or compiled."""
    from referee.game.spec import read_time_control
    from referee.rules import families, load

    refuse_concurrency(arguments.concurrency)
    names = arguments.family or list(families())
    for name in names:
        load(name)
    read_time_control(arguments.tc)
    from arena.cli.server.demo_run import play_and_show

    return play_and_show(list(dict.fromkeys(names)), arguments)
