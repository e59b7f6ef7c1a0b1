"""Common parts of `arena datagen`, `tune` and `atlas`: arguments, the bot, and the executor of its games."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import option
from arena.cli.terminal.rules_arguments import RulesArguments, family_option, memory_option, sandbox_option
from referee.machine.cores import usable_cores
from referee.machine.sample_warmup import have_warm
from referee.machine.warmup import get_ready

if TYPE_CHECKING:
    from protocol.options import OptionDecl
    from referee.game.spec import BotSpec
    from referee.machine.run_folder import RunFolder
    from referee.tournament.document import Document

JOBS_PER_SLOT = 2
"""Jobs submitted for each slot: no slot waits for the planning of the next one."""


def executor_option(needs: str) -> Any:
    """Declare the option `--executor`; `needs` says what a cluster must provide."""
    return option(
        f"where games are played: local (default), or dask://HOST:PORT, {needs}", metavar="EXECUTOR", default="local"
    )


@dataclass(frozen=True, kw_only=True)
class GamesArguments(RulesArguments):
    """The bot of a run, the rules of its games, and where they are played."""

    bot: str
    family: str = family_option()
    seed: int = option(
        "seed; the same seed gives the same games (default 0)", metavar="SEED", type=argument.whole, default=0
    )
    max_plies: int = option(
        "adjudicate a draw after COUNT plies (default 0: never)", metavar="COUNT", type=argument.whole, default=0
    )
    concurrency: int = option("play COUNT games at once", metavar="COUNT", type=argument.positive, default=1)
    executor: str = executor_option("where the same bot must be installed")
    memory: int = memory_option()
    sandbox: str = sandbox_option()


@dataclass(frozen=True, slots=True)
class IntroducedBot:
    """The bot of a run after its handshake, the options that it announced, and the sandbox in which it starts."""

    bot: BotSpec
    sandbox: str
    announced: Mapping[str, OptionDecl]


def read_document(
    name: str, arguments: GamesArguments, bots: Sequence[str], time_control: str, openings: str = "none"
) -> Document:
    """Return the settings of all games of a run, between `bots`. Raises UnknownNameError, ParseError, CommandError."""
    from arena.cli.local.tournament_input import opening_settings
    from referee.tournament.document import read
    from referee.tournament.part import SettingsError

    argument.refuse_concurrency(arguments.concurrency)
    ruleset = arguments.settle()
    try:
        return read(
            {
                "name": name,
                "family": arguments.family,
                "variant": arguments.variant,
                "rule_options": argument.read_options(arguments.options),
                "time_control": time_control,
                "seed": arguments.seed,
                "entries": {"bots": list(bots)},
                "adjudication": {"max_plies": arguments.max_plies},
                "limits": {"memory_bytes": arguments.memory * 2**20},
                **opening_settings(openings, ruleset, arguments.seed),
            }
        )
    except SettingsError as error:
        raise CommandError(str(error)) from None


def introduce_bot(arguments: GamesArguments, document: Document) -> IntroducedBot:
    """Choose the sandbox, start the bot once, and return it with its announced options. Raises CommandError."""
    from referee.bot.argument import read_bot, typed_options
    from referee.bot.bot import LocalBot
    from referee.bot.settings import is_of_game
    from referee.check.probe import Candidate, GameConditions, IneligibleError, ProbeError, probe
    from referee.play.sandbox_choice import choose

    try:
        spec, limits = read_bot(arguments.bot, arguments.family), document.game_limits
        sandbox, notes = choose(arguments.sandbox, [spec], limits)
        output.note(*notes)
        terms = GameConditions.of(document.ruleset, limits, document.control)
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
        return IntroducedBot(
            spec, sandbox.name, {name: option for name, option in bot.session.options.items() if not is_of_game(name)}
        )
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
def game_executor(arguments: GamesArguments, played: IntroducedBot) -> Iterator[tuple[Executor, Callable[[], int]]]:
    """Yield the executor of the games, and a function that returns how many jobs to submit at once. Raises
    CommandError.
    """
    if arguments.executor == "local":
        from arena.cli.local.play_run import open_slots

        with open_slots(arguments.concurrency, played.sandbox, is_pinned=False) as pool:
            pool.submit(get_ready, arguments.family)
            if usable_cores() > 1:
                have_warm([played.bot], arguments.family)
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
    from arena.config_file import read_settings
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
    if hasattr(executor, "abort"):
        executor.abort()
