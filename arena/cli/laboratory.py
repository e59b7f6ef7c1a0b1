"""What the commands of the laboratory share: how games are played, where, and the bot that plays them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.cli import choice, output
from arena.cli.exit import CommandError, Exit
from arena.cli.play import add_memory, add_sandbox, open_slots
from referee.sample_warmup import have_warm
from referee.warmup import get_ready

if TYPE_CHECKING:
    from protocol.options import OptionDecl
    from referee.rules.rules import Ruleset
    from referee.run_folder import RunFolder
    from referee.spec import BotSpec

AHEAD = 2
"""So many jobs for each game played at once wait or run: none waits for the next one to be planned."""


def add_games(parser: argparse.ArgumentParser) -> None:
    """The arguments that say by which rules and where games are played."""
    parser.add_argument("--family", required=True, metavar="F", type=choice.family, help="a family of games")
    parser.add_argument("--variant", metavar="V", help="a variant of the family (default: its first)")
    parser.add_argument("--option", action="append", default=[], metavar="K=V", help="a rule option; may be repeated")
    parser.add_argument("--seed", type=choice.whole, default=0, metavar="S", help="same seed, same games (default 0)")
    parser.add_argument(
        "--max-plies", type=choice.whole, default=0, metavar="N", help="draw after N plies (default 0: by the rules)"
    )
    parser.add_argument("--concurrency", type=choice.positive, default=1, metavar="C", help="games at once (default 1)")
    add_executor(parser, "where the bot must be installed alike")
    add_memory(parser)
    add_sandbox(parser)
    parser.set_defaults(affinity="off", format="round-robin", first="swap", pondering="frozen", draw=None, resign=None)


def add_executor(parser: argparse.ArgumentParser, needs: str) -> None:
    """The argument that says where games are played; a cluster `needs` something there."""
    parser.add_argument(
        "--executor",
        default="local",
        metavar="E",
        help=f"where games are played: local (default), or dask://HOST:PORT, {needs}",
    )


@dataclass(frozen=True, slots=True)
class Played:
    """The bot of a run, introduced, and the options of its own that it announced."""

    bot: BotSpec
    announced: Mapping[str, OptionDecl]


def settled(arguments: argparse.Namespace) -> Ruleset:
    """The rules the arguments name. Raises UnknownNameError, ParseError, CommandError."""
    from referee.rules import load
    from referee.spec import Limits

    choice.refuse_concurrency(arguments.concurrency)
    arguments.margin = Limits().margin_ms
    return load(arguments.family).settle(arguments.variant, choice.read_options(arguments.option))


def introduced(arguments: argparse.Namespace, ruleset: Ruleset, tc: str) -> Played:
    """The bot named by the arguments, and its options; the sandbox is settled. Raises CommandError."""
    from arena.cli.local_run import limits_of
    from referee.bot import Bot
    from referee.bot_argument import read_bot, typed_options
    from referee.bot_settings import is_of_game
    from referee.introduction import Guest, IneligibleError, Terms, UnintroducedError, introduce
    from referee.sandbox_choice import choose
    from referee.spec import read_time_control

    try:
        spec, limits = read_bot(arguments.bot, arguments.family), limits_of(arguments)
        sandbox, notes = choose(arguments.sandbox, [spec], limits)
        output.note(*notes)
        arguments.sandbox = sandbox.name
        terms = Terms.of(ruleset, limits, read_time_control(tc))
        spec = introduce(Guest(spec, typed_options(arguments.bot)), terms, sandbox)
    except UnintroducedError as error:
        raise CommandError(str(error), Exit.FAILED) from None
    except IneligibleError as error:
        raise CommandError(str(error)) from None
    except ValueError as error:
        if type(error) is ValueError:
            raise CommandError(str(error)) from None
        raise
    bot = Bot(spec, limits, sandbox)
    try:
        bot.start()
        bot.handshake()
        return Played(spec, {name: one for name, one in bot.session.options.items() if not is_of_game(name)})
    finally:
        bot.close()


def claim(folder: RunFolder, identity: Mapping[str, Any]) -> None:
    """Make a folder that of this run, or see that it is. Raises CommandError."""
    from referee.run_folder import FolderError

    try:
        header = folder.open()
        if header is None:
            folder.begin(identity)
    except FolderError as error:
        raise CommandError(str(error)) from None
    if header is not None and header != identity:
        changed = sorted(name for name in header.keys() | identity.keys() if header.get(name) != identity.get(name))
        raise CommandError(
            f"{folder.path}: holds a run with another {', '.join(changed)}; "
            "give the same arguments to continue it, or another folder"
        )


@contextmanager
def opened(arguments: argparse.Namespace, bot: BotSpec) -> Iterator[tuple[Executor, Callable[[], int]]]:
    """What plays the games, and how many jobs to give it at once. Raises CommandError."""
    if arguments.executor == "local":
        with open_slots(arguments) as pool:
            pool.submit(get_ready, arguments.family)
            if len(os.sched_getaffinity(0)) > 1:
                have_warm([bot], arguments.family)
            yield pool, lambda: AHEAD * pool.size
        return
    with cluster(arguments.executor) as (executor, at_once):
        yield executor, at_once


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, Callable[[], int]]]:
    """The slots of a cluster, and how many jobs to give it at once. Raises CommandError."""
    from arena.cluster.spool import Spool
    from arena.config import read_settings
    from arena.coordinator.executors import open_executor, slots_of
    from arena.events.bus import Bus

    try:
        settings = read_settings(None, executor=address)
        executor = open_executor(settings, Bus(), Spool(settings.spool_folder))
    except ValueError as error:
        if type(error) is ValueError:
            raise CommandError(str(error)) from None
        raise
    try:
        yield executor, lambda: AHEAD * slots_of(executor)
    finally:
        executor.shutdown(wait=False)


def abort(executor: Executor) -> None:
    """Call off the games being played."""
    if hasattr(executor, "abort"):
        executor.abort()
