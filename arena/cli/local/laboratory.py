"""Common parts of `arena datagen`, `tune` and `atlas`: arguments, the bot, and the executor of its games."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.cli.local.play import add_memory, add_sandbox, open_slots
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from referee.machine.sample_warmup import have_warm
from referee.machine.warmup import get_ready

if TYPE_CHECKING:
    from protocol.options import OptionDecl
    from referee.game.spec import BotSpec
    from referee.machine.run_folder import RunFolder
    from referee.rules.rules import Ruleset

JOBS_PER_SLOT = 2
"""Jobs submitted for each slot: no slot waits for the planning of the next one."""


def add_games(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that choose the rules of games and where they are played."""
    parser.add_argument("--family", required=True, metavar="FAMILY", type=argument.family, help="family of games")
    argument.add_rules(parser, has_family=False)
    parser.add_argument(
        "--seed",
        type=argument.whole,
        default=0,
        metavar="SEED",
        help="seed; the same seed gives the same games (default 0)",
    )
    parser.add_argument(
        "--max-plies",
        type=argument.whole,
        default=0,
        metavar="COUNT",
        help="adjudicate a draw after COUNT plies (default 0: never)",
    )
    parser.add_argument(
        "--concurrency", type=argument.positive, default=1, metavar="COUNT", help="play COUNT games at once (default 1)"
    )
    add_executor(parser, "where the same bot must be installed")
    add_memory(parser)
    add_sandbox(parser)
    parser.set_defaults(
        affinity="off", format="round-robin", sides="alternate", pondering="frozen", draw=None, resign=None
    )


def add_executor(parser: argparse.ArgumentParser, needs: str) -> None:
    """Add the argument `--executor`; `needs` says what a cluster must provide."""
    parser.add_argument(
        "--executor",
        default="local",
        metavar="EXECUTOR",
        help=f"where games are played: local (default), or dask://HOST:PORT, {needs}",
    )


@dataclass(frozen=True, slots=True)
class IntroducedBot:
    """The bot of a run after its handshake, and the options that it announced."""

    bot: BotSpec
    announced: Mapping[str, OptionDecl]


def read_ruleset(arguments: argparse.Namespace) -> Ruleset:
    """Return the rules named by the arguments. Raises UnknownNameError, ParseError, CommandError."""
    from referee.game.spec import BotLimits

    argument.refuse_concurrency(arguments.concurrency)
    arguments.margin = BotLimits().margin_ms
    return argument.settle(arguments)


def introduce_bot(arguments: argparse.Namespace, ruleset: Ruleset, tc: str) -> IntroducedBot:
    """Choose the sandbox, start the bot once, and return it with its announced options. Raises CommandError."""
    from arena.cli.local.play_run import limits_of
    from referee.bot.argument import read_bot, typed_options
    from referee.bot.bot import LocalBot
    from referee.bot.settings import is_of_game
    from referee.check.probe import Candidate, GameConditions, IneligibleError, ProbeError, probe
    from referee.game.spec import read_time_control
    from referee.play.sandbox_choice import choose

    try:
        spec, limits = read_bot(arguments.bot, arguments.family), limits_of(arguments)
        sandbox, notes = choose(arguments.sandbox, [spec], limits)
        output.note(*notes)
        arguments.sandbox = sandbox.name
        terms = GameConditions.of(ruleset, limits, read_time_control(tc))
        spec = probe(Candidate(spec, typed_options(arguments.bot)), terms, sandbox)
    except ProbeError as error:
        raise CommandError(str(error), Exit.FAILED) from None
    except IneligibleError as error:
        raise CommandError(str(error)) from None
    except ValueError as error:
        if type(error) is ValueError:
            raise CommandError(str(error)) from None
        raise
    bot = LocalBot(spec, limits, sandbox)
    try:
        bot.start()
        bot.handshake()
        return IntroducedBot(spec, {name: one for name, one in bot.session.options.items() if not is_of_game(name)})
    finally:
        bot.close()


def claim(folder: RunFolder, identity: Mapping[str, Any]) -> None:
    """Mark a folder as belonging to this run, or check that it does. Raises CommandError."""
    from referee.machine.run_folder import FolderError

    try:
        header = folder.open()
        if header is None:
            folder.begin(identity)
    except FolderError as error:
        raise CommandError(str(error)) from None
    if header is not None and header != identity:
        changed = sorted(name for name in header.keys() | identity.keys() if header.get(name) != identity.get(name))
        raise CommandError(
            f"{folder.path}: holds a run with a different {', '.join(changed)}; "
            "give the same arguments to continue it, or choose another folder"
        )


@contextmanager
def game_executor(arguments: argparse.Namespace, bot: BotSpec) -> Iterator[tuple[Executor, Callable[[], int]]]:
    """Yield the executor of the games, and a function that returns how many jobs to submit at once. Raises
    CommandError.
    """
    if arguments.executor == "local":
        with open_slots(arguments) as pool:
            pool.submit(get_ready, arguments.family)
            if len(os.sched_getaffinity(0)) > 1:
                have_warm([bot], arguments.family)
            yield pool, lambda: JOBS_PER_SLOT * pool.size
        return
    with cluster_executor(arguments.executor) as (executor, at_once):
        yield executor, at_once


@contextmanager
def cluster_executor(address: str) -> Iterator[tuple[Executor, Callable[[], int]]]:
    """Yield the executor of a cluster, and a function that returns how many jobs to submit at once. Raises
    CommandError.
    """
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
        yield executor, lambda: JOBS_PER_SLOT * slots_of(executor)
    finally:
        executor.shutdown(wait=False)


def abort(executor: Executor) -> None:
    """Abort the running games."""
    if hasattr(executor, "abort"):
        executor.abort()
