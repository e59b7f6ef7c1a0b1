"""The games of `arena play`: a new plan, or the continuation of an earlier run."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

from arena.cli.terminal import output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.text_input import read_text
from referee.bot.argument import typed_options
from referee.bot.settings import read_each
from referee.check.probe import Candidate, GameConditions, probe_all
from referee.game.adjudication import read_draw_rule, read_resign_rule
from referee.game.opening_source import read_source
from referee.game.openings import chosen_openings, is_dealt, is_source, opened_by_each, openings
from referee.game.plan import TournamentPlan, pairs_of, schedule
from referee.game.record import GameRecord
from referee.game.spec import Adjudication, BotLimits, BotSpec, PlannedGame, TimeControl, digest, read_time_control
from referee.machine.run_folder import FolderError, RunFolder
from referee.machine.sample_warmup import have_warm
from referee.machine.warmup import get_ready
from referee.rules.rules import Ruleset

_IDENTITY = (
    "family",
    "variant",
    "option",
    "games",
    "tc",
    "format",
    "openings",
    "draw",
    "resign",
    "max_plies",
    "seed",
    "memory",
    "margin",
    "pondering",
    "sides",
    "each",
)
"""The arguments that make a run what it is: continuing it needs the same ones."""


class UnkeptRun:
    """A run that is not stored: it has the interface of `RunFolder`."""

    def __init__(self) -> None:
        self.records: list[GameRecord] = []

    def open(self) -> None:
        return None

    def begin(self, header: Mapping[str, Any]) -> None:
        pass

    def resume(self, games: Sequence[PlannedGame]) -> list[GameRecord]:
        return self.records

    def append(self, record: GameRecord) -> None:
        self.records.append(record)

    def __enter__(self) -> UnkeptRun:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def limits_of(arguments: argparse.Namespace) -> BotLimits:
    """Return the resources that bots may use."""
    return replace(BotLimits(), margin_ms=arguments.margin, memory_bytes=arguments.memory * 2**20)


def games_of(
    arguments: argparse.Namespace,
    plan: TournamentPlan,
    folder: RunFolder | UnkeptRun,
    header: Mapping[str, Any] | None,
    pool: Executor,
) -> list[PlannedGame]:
    """Return the schedule, after reading the finished games of the run into `folder.records`.

    `header` is the stored header of the run; None for a new run. The bots of a new run are introduced in a slot
    of `pool`; for a continued run, a slot loads the kernel. Raises FolderError for a folder that holds another run,
    UnintroducedError, IneligibleError, ValueError, WorkerLostError.
    """
    if header is None:
        named = _introduced(arguments, plan, pool)
    else:
        pool.submit(get_ready, arguments.family)
        named = remembered(arguments, header, plan.bots)
    games = schedule(replace(plan, bots=named))
    known = digest([game.id for game in games])
    if header is None:
        known_bots = [
            {
                "name": bot.name,
                "version": bot.version,
                "capabilities": dict(bot.capabilities),
                "options": [list(option) for option in bot.options],
            }
            for bot in named
        ]
        folder.begin({"arguments": identity_of(arguments), "bots": known_bots, "games": len(games), "schedule": known})
    elif header.get("schedule") != known:
        raise FolderError(
            f"{arguments.out}: was planned by another version of the rules or program; use another folder"
        )
    folder.resume(games)
    return games


def _introduced(arguments: argparse.Namespace, plan: TournamentPlan, pool: Executor) -> tuple[BotSpec, ...]:
    """Return the bots after their handshakes; meanwhile compile the kernels of the samples among them."""
    output.note(f"{len(plan.bots)} bots, asking each for its name ...")
    is_shown = any(opening.position for opening in plan.openings)
    also = opened_by_each(plan.ruleset) if plan.sides == "random" else ()
    terms = GameConditions.of(plan.ruleset, plan.limits, plan.time, is_shown=is_shown, also=also)
    each = read_each(arguments.each).options
    guests = [Candidate(bot, typed_options(text), each) for bot, text in zip(plan.bots, arguments.bots, strict=True)]
    asked = pool.submit(probe_all, guests, terms)
    import arena.cli.local.results  # noqa: F401 - needed for the first result: loaded while the bots start

    if len(os.sched_getaffinity(0)) > 1:
        have_warm(plan.bots, arguments.family)
    named = asked.result()
    if isinstance(named, ValueError):
        raise named
    _tell_of_each(each, named)
    output.note(*filter(None, (_too_fast_for(bot, bot.time or plan.time) for bot in named)))
    return named


def _tell_of_each(each: Sequence[tuple[str, str]], bots: Sequence[BotSpec]) -> None:
    """Report the bots without an option that `--each` sets. Raises ValueError if no bot has it."""
    for name, _ in each:
        without = [bot.name for bot in bots if name not in dict(bot.options)]
        if len(without) == len(bots):
            raise ValueError(f"--each: no bot has an option {name!r}; `arena check BOT` shows what a bot announces")
        if without:
            output.note(f"{', '.join(without)}: no option {name!r}, so that --each changes nothing there")


def _too_fast_for(bot: BotSpec, time: TimeControl) -> str:
    """Return a warning if a check found that the bot needs more time for a move than it gets; else an empty text."""
    needs_ms, has_ms = bot.capabilities.get("fit_from_ms", 0), time.move_ms
    if has_ms is None or needs_ms <= has_ms:
        return ""
    return f"{bot.name} was found fit from {needs_ms / 1000:g} s a move, and {time} is faster: it may lose on time"


def identity_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments that identify a run."""
    return {name: getattr(arguments, name) for name in _IDENTITY} | {"bots": arguments.bots}


def remembered(
    arguments: argparse.Namespace, header: Mapping[str, Any], bots: Sequence[BotSpec]
) -> tuple[BotSpec, ...]:
    """Return the bots with the names, versions, capabilities and options that `header` stores for them.

    Raises FolderError for a different run.
    """
    before = header.get("arguments", {})
    changed = [name for name, value in identity_of(arguments).items() if before.get(name) != value]
    if changed:
        raise FolderError(
            f"{arguments.out}: holds a run with another {', '.join(changed)}; "
            "give the same arguments to continue it, or another folder"
        )
    try:
        return tuple(_remembered(bot, **known) for bot, known in zip(bots, header["bots"], strict=True))
    except (KeyError, TypeError, ValueError):
        raise FolderError(f"{arguments.out}/run.json: names no bots; the run is left as it is") from None


def _book(name: str) -> str:
    """Return the text of an opening book. Raises CommandError if the file does not exist, OSError."""
    if not os.path.exists(name):
        raise CommandError(
            f"--openings: no such file: {name[:200]}; name a book, or write auto, none, random:PLIES:SEED or "
            "setups:VARIANT:SEED",
            Exit.NOT_FOUND,
        )
    return read_text(name)


def _remembered(bot: BotSpec, *, options: Iterable[Sequence[str]] | None = None, **known: Any) -> BotSpec:
    """Return the bot with the fields stored for it.

    `options` is None in a file by an earlier version of the program; the bot then keeps its own.
    """
    if options is not None:
        known["options"] = tuple((name, value) for name, value in options)
    return replace(bot, **known)


def plan_of(arguments: argparse.Namespace, ruleset: Ruleset, bots: tuple[BotSpec, ...]) -> TournamentPlan:
    """Return the plan that the arguments describe. Raises ValueError, ParseError, OSError.

    Cheap checks come first: openings may need compiled rules.
    """
    time = read_time_control(arguments.tc)
    adjudication = Adjudication(max_plies=arguments.max_plies)
    if arguments.draw:
        adjudication = read_draw_rule(arguments.draw, adjudication)
    if arguments.resign:
        adjudication = read_resign_rule(arguments.resign, adjudication)
    source = read_source(arguments.openings)
    text = None if is_source(source.place) else _book(source.place)
    deals = text is None and is_dealt(ruleset, arguments.openings)
    count = pairs_of(len(bots), arguments.format, arguments.games) if deals else (arguments.games + 1) // 2
    return TournamentPlan(
        ruleset=ruleset,
        bots=bots,
        openings=tuple(
            openings(ruleset, source.place, count, arguments.seed)
            if text is None
            else chosen_openings(ruleset, text, count, source, arguments.seed)
        ),
        games=arguments.games,
        format=arguments.format,
        time=time,
        adjudication=adjudication,
        limits=limits_of(arguments),
        pondering=arguments.pondering,
        seed=arguments.seed,
        event="local",
        sides=arguments.sides,
    )
