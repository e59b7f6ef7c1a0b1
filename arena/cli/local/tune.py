"""`arena tune`: tune spin options of a bot by self-play."""

from __future__ import annotations

import argparse
import json
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from arena.cli.local import laboratory
from arena.cli.terminal import argument, output, text_input
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.laboratory.parameter import Parameter
    from arena.laboratory.spsa import Spsa, Trial
    from referee.game.plan import TournamentPlan
    from referee.game.spec import BotSpec, PlannedGame
    from referee.rules.rules import Ruleset

CURVES, RESULT = "curves.html", "result.json"
MAX_GAMES = 1_000_000
MAX_OPENINGS = 2_000
"""This many different openings are drawn; then they repeat."""
DRAW_INTERVAL_S = 20
"""Seconds between two drawings of the curves."""


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bot", metavar="BOT", help="bot, as in arena play: path, quoted command, sample:NAME, folder …")
    parser.add_argument(
        "--parameter",
        action="append",
        default=[],
        metavar="SPEC",
        help="tune a spin option: NAME or NAME:MIN:MAX:START:STEP; missing values are those the bot announces, "
        "STEP a twentieth of the range; may be repeated",
    )
    parser.add_argument(
        "--parameters",
        metavar="FILE",
        help="read the parameters from TOML: a table [NAME] for each, with min, max, start and step",
    )
    parser.add_argument("--games", required=True, type=_games, metavar="COUNT", help="games to play, in pairs")
    parser.add_argument(
        "--tc",
        default="1+0.01",
        metavar="TIME",
        help="time control: 1+0.01 (seconds, the default), 0.1/move, nodes:1000",
    )
    parser.add_argument(
        "--openings",
        default="random:4",
        metavar="OPENINGS",
        help="openings: none, random:PLIES:SEED (default random:4), setups:VARIANT:SEED or a file",
    )
    parser.add_argument(
        "--learning-rate",
        type=float,
        metavar="NUMBER",
        help="change values by NUMBER steps for each point above an even score (default 0.02)",
    )
    laboratory.add_games(parser)
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="folder of the run; the same command continues an interrupted one"
    )
    add_output(parser)


def _games(text: str) -> int:
    return argument.between(text, 2, MAX_GAMES)


def run(arguments: argparse.Namespace) -> int:
    """Play the games and print the values."""
    from arena.laboratory.parameter import read_parameters
    from arena.laboratory.spsa import LEARNING_RATE, Spsa

    rate = LEARNING_RATE if arguments.learning_rate is None else arguments.learning_rate
    if not 0 < rate <= 1:
        raise CommandError("--learning-rate: expected a number above 0, at most 1; 0.02 is usual")
    ruleset = laboratory.read_ruleset(arguments)
    file = text_input.read_text(arguments.parameters) if arguments.parameters else None
    played = laboratory.introduce_bot(arguments, ruleset, arguments.tc)
    parameters = read_parameters(arguments.parameter, file, played.announced)
    if fixed := sorted({one.name for one in parameters} & dict(played.bot.options).keys()):
        raise CommandError(f"{fixed[0]} is both set for the bot and tuned: remove one of them")
    plan = _plan(arguments, ruleset, played.bot)
    spsa = Spsa(parameters, (arguments.games + 1) // 2, seed=arguments.seed, rate=rate)
    identity = {
        "tune": arguments.bot,
        "family": arguments.family,
        "variant": ruleset.variant.name,
        "option": arguments.options,
        "games": arguments.games,
        "tc": arguments.tc,
        "openings": arguments.openings,
        "max_plies": arguments.max_plies,
        "seed": arguments.seed,
        "rate": rate,
        "parameters": [[one.name, one.minimum, one.maximum, one.start, one.step] for one in parameters],
    }
    return _tune(arguments, spsa, parameters, plan, identity)


def _plan(arguments: argparse.Namespace, ruleset: Ruleset, bot: BotSpec) -> TournamentPlan:
    """Return the plan that all pairs of games share. Raises CommandError."""
    from arena.cli.local.play_run import plan_of

    few = argparse.Namespace(**vars(arguments))
    few.games = min(arguments.games, MAX_OPENINGS)
    try:
        return plan_of(few, ruleset, (bot, bot))
    except ValueError as error:
        if type(error) is ValueError:
            raise CommandError(str(error)) from None
        raise


def _tune(
    arguments: argparse.Namespace,
    spsa: Spsa,
    parameters: list[Parameter],
    plan: TournamentPlan,
    identity: dict[str, Any],
) -> int:
    from arena.cli.terminal.interrupt import InterruptThread
    from arena.cli.terminal.progress import RunProgress
    from arena.laboratory.tuning import PAIRS, PairFile, Tuner
    from referee.machine.run_folder import RunFolder

    with ExitStack() as stack:
        path = arguments.out or Path(stack.enter_context(TemporaryDirectory(prefix="arena-tune-")))
        folder = stack.enter_context(RunFolder(path))
        laboratory.claim(folder, identity)
        file = stack.enter_context(PairFile(path / PAIRS))
        file.read(spsa)
        if spsa.result_count:
            output.note(f"{2 * spsa.result_count} of {2 * spsa.pairs} games were played before")
        pace, drawn_s = RunProgress(2 * spsa.result_count, 2 * spsa.pairs), time.monotonic()

        def tell() -> None:
            nonlocal drawn_s
            output.progress(f"{pace.line(2 * spsa.result_count)}  {setting(parameters, spsa)}", is_last=spsa.is_done)
            if time.monotonic() - drawn_s > DRAW_INTERVAL_S:
                drawn_s = time.monotonic()
                _draw(folder, arguments.bot, parameters, spsa)

        tuner = Tuner(spsa, file, _pairs(plan, parameters), tell)
        if not spsa.is_done:
            executor, at_once = stack.enter_context(laboratory.game_executor(arguments, plan.bots[0]))

            def again() -> None:
                tuner.stop()
                laboratory.abort(executor)

            with InterruptThread(tuner.stop, again):
                tuner.run(executor, at_once)
        found = summary(arguments.bot, parameters, spsa, identity)
        folder.write(RESULT, json.dumps(found, ensure_ascii=False, indent=1))
        _draw(folder, arguments.bot, parameters, spsa)
    Printer(arguments).result(found, lambda: _show(found, arguments.out))
    return Exit.DONE if spsa.is_done else Exit.INTERRUPTED


def _pairs(plan: TournamentPlan, parameters: list[Parameter]) -> Callable[[Trial], list[PlannedGame]]:
    """Return the function that plans the two games of a trial."""
    from referee.game.openings import opening_of
    from referee.game.plan import schedule

    def games_of(trial: Trial) -> list[PlannedGame]:
        bots = tuple(
            replace(
                bot,
                name=name,
                options=(
                    *bot.options,
                    *((one.name, str(value)) for one, value in zip(parameters, values, strict=True)),
                ),
            )
            for bot, name, values in zip(plan.bots, ("plus", "minus"), (trial.plus, trial.minus), strict=True)
        )
        opening = opening_of(plan.openings, trial.number, trial.number)
        event = f"tune {plan.seed} {trial.number}"
        return schedule(replace(plan, bots=bots, openings=(opening,), games=2, event=event))

    return games_of


def setting(parameters: list[Parameter], spsa: Spsa) -> str:
    """Format the present values as settings to append to a bot argument."""
    values = zip(parameters, spsa.values.tolist(), strict=True)
    return ";".join(f"option.{one.name}={round(value)}" for one, value in values)


def summary(bot: str, parameters: list[Parameter], spsa: Spsa, identity: dict[str, Any]) -> dict[str, Any]:
    """Summarise a run as JSON data."""
    end = spsa.trajectory[spsa.applied].tolist()
    return {
        "bot": f"{bot};{setting(parameters, spsa)}",
        "games": 2 * spsa.result_count,
        "of": 2 * spsa.pairs,
        "pentanomial": spsa.pentanomial,
        "parameters": [
            {
                "name": one.name,
                "min": one.minimum,
                "max": one.maximum,
                "start": one.start,
                "step": one.step,
                "value": round(value),
                "mean": round(value, 3),
                "last": round(last, 3),
            }
            for one, value, last in zip(parameters, spsa.values.tolist(), end, strict=True)
        ],
        "run": identity,
    }


def _show(found: dict[str, Any], folder: Path | None) -> None:
    rows = [[one["name"], str(one["start"]), str(one["value"]), f"{one['last']:z.1f}"] for one in found["parameters"]]
    output.table(("option", "start", "value", "last"), rows, numbers=("start", "value", "last"))
    output.text(
        "",
        f"{found['games']:,} of {found['of']:,} games; the value is the mean of the second half of the run",
        found["bot"],
    )
    if folder:
        output.note(f"curves are in {folder / CURVES}")
    output.note("verify the improvement by a match: arena play NEW OLD --sprt elo0=0,elo1=10 …")


def _draw(folder: Any, bot: str, parameters: list[Parameter], spsa: Spsa) -> None:
    """Write a page with a curve for each parameter; the page reloads itself during the run."""
    from arena.pages.drawing.plot import Axis, Point, Series, lines, page, thin

    charts = []
    for column, one in enumerate(parameters):
        trajectory = spsa.trajectory[: spsa.applied + 1, column].tolist()
        points = thin([Point(2 * number, value) for number, value in enumerate(trajectory)])
        title = f"{one.name}: {one.start} to {round(spsa.values[column])}, over {2 * spsa.applied} games"
        charts.append((title, lines(title, [Series(one.name, points)], Axis(text="{:,.0f}".format))))
    refresh_s = 0 if spsa.is_done else DRAW_INTERVAL_S
    folder.write(CURVES, page(f"Tuning {bot}", charts, refresh_s))
