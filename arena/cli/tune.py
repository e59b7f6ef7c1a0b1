"""`arena tune`: spin options of a bot, tuned by games of the bot against itself."""

from __future__ import annotations

import argparse
import json
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from arena.cli import choice, laboratory, output, source
from arena.cli.exit import CommandError, Exit

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.laboratory.parameter import Parameter
    from arena.laboratory.spsa import Spsa, Trial
    from referee.plan import Plan
    from referee.rules.rules import Ruleset
    from referee.spec import BotSpec, PlannedGame

CURVES, RESULT = "curves.html", "result.json"
MOST_GAMES = 1_000_000
MOST_OPENINGS = 2_000
"""As many different ones are drawn; then they begin anew."""
DRAWN_S = 20
"""How often curves are drawn."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("bot", metavar="BOT", help="as for arena play: path, quoted command, sample:NAME, folder …")
    parser.add_argument(
        "--parameter",
        action="append",
        default=[],
        metavar="P",
        help="NAME or NAME:MIN:MAX:START:STEP, a spin option; what is not given is what the bot announced, "
        "and for STEP a twentieth of the range; may be repeated",
    )
    parser.add_argument("--parameters", metavar="FILE", help="TOML: a table [NAME] for each, with min max start step")
    parser.add_argument("--games", required=True, type=_games, metavar="N", help="games in all, in pairs")
    parser.add_argument("--tc", default="1+0.01", metavar="TC", help="1+0.01 (s, the default), 0.1/move, nodes:1000")
    parser.add_argument(
        "--openings",
        default="random:4",
        metavar="O",
        help="none, random:PLIES:SEED (default random:4), setups:VARIANT:SEED or a file",
    )
    parser.add_argument(
        "--rate", type=float, metavar="R", help="how far values go for a point more than even, in steps (default 0.02)"
    )
    laboratory.add_games(parser)
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep everything there; the same command continues it")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def _games(text: str) -> int:
    return choice.between(text, 2, MOST_GAMES)


def run(arguments: argparse.Namespace) -> int:
    """Play, and print what was found."""
    from arena.laboratory.parameter import read_parameters
    from arena.laboratory.spsa import RATE, Spsa

    rate = RATE if arguments.rate is None else arguments.rate
    if not 0 < rate <= 1:
        raise CommandError("--rate: a number above 0, at most 1; 0.02 is usual")
    ruleset = laboratory.settled(arguments)
    file = source.read_text(arguments.parameters) if arguments.parameters else None
    played = laboratory.introduced(arguments, ruleset, arguments.tc)
    parameters = read_parameters(arguments.parameter, file, played.announced)
    if fixed := sorted({one.name for one in parameters} & dict(played.bot.options).keys()):
        raise CommandError(f"{fixed[0]} is set for the bot and is to be tuned: take one of them out")
    plan = _plan(arguments, ruleset, played.bot)
    spsa = Spsa(parameters, (arguments.games + 1) // 2, seed=arguments.seed, rate=rate)
    identity = {
        "tune": arguments.bot,
        "family": arguments.family,
        "variant": ruleset.variant.name,
        "option": arguments.option,
        "games": arguments.games,
        "tc": arguments.tc,
        "openings": arguments.openings,
        "max_plies": arguments.max_plies,
        "seed": arguments.seed,
        "rate": rate,
        "parameters": [[one.name, one.least, one.most, one.start, one.step] for one in parameters],
    }
    return _tune(arguments, spsa, parameters, plan, identity)


def _plan(arguments: argparse.Namespace, ruleset: Ruleset, bot: BotSpec) -> Plan:
    """What the pairs have in common. Raises CommandError."""
    from arena.cli.local_run import plan_of

    few = argparse.Namespace(**vars(arguments))
    few.games = min(arguments.games, MOST_OPENINGS)
    try:
        return plan_of(few, ruleset, (bot, bot))
    except ValueError as error:
        if type(error) is ValueError:
            raise CommandError(str(error)) from None
        raise


def _tune(
    arguments: argparse.Namespace, spsa: Spsa, parameters: list[Parameter], plan: Plan, identity: dict[str, Any]
) -> int:
    from arena.cli.interrupt import InterruptThread
    from arena.cli.pace import Pace
    from arena.laboratory.tuning import PAIRS, PairFile, Tuner
    from referee.run_folder import RunFolder

    with ExitStack() as stack:
        path = arguments.out or Path(stack.enter_context(TemporaryDirectory(prefix="arena-tune-")))
        folder = stack.enter_context(RunFolder(path))
        laboratory.claim(folder, identity)
        file = stack.enter_context(PairFile(path / PAIRS))
        file.read(spsa)
        if spsa.told:
            output.note(f"{2 * spsa.told} of {2 * spsa.pairs} games are there already")
        pace, drawn_s = Pace(2 * spsa.told, 2 * spsa.pairs), time.monotonic()

        def tell() -> None:
            nonlocal drawn_s
            output.progress(f"{pace.line(2 * spsa.told)}  {setting(parameters, spsa)}", is_last=spsa.is_done)
            if time.monotonic() - drawn_s > DRAWN_S:
                drawn_s = time.monotonic()
                _draw(folder, arguments.bot, parameters, spsa)

        tuner = Tuner(spsa, file, _pairs(plan, parameters), tell)
        if not spsa.is_done:
            executor, at_once = stack.enter_context(laboratory.opened(arguments, plan.bots[0]))

            def again() -> None:
                tuner.stop()
                laboratory.abort(executor)

            with InterruptThread(tuner.stop, again):
                tuner.run(executor, at_once)
        found = summary(arguments.bot, parameters, spsa, identity)
        folder.write(RESULT, json.dumps(found, ensure_ascii=False, indent=1))
        _draw(folder, arguments.bot, parameters, spsa)
    if arguments.json:
        output.document(found)
    else:
        _show(found, arguments.out)
    return Exit.DONE if spsa.is_done else Exit.INTERRUPTED


def _pairs(plan: Plan, parameters: list[Parameter]) -> Callable[[Trial], list[PlannedGame]]:
    """What plans the two games of a trial."""
    from referee.openings import opening_of
    from referee.plan import schedule

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
    """The values found so far, as they are written behind a bot."""
    values = zip(parameters, spsa.values.tolist(), strict=True)
    return ";".join(f"option.{one.name}={round(value)}" for one, value in values)


def summary(bot: str, parameters: list[Parameter], spsa: Spsa, identity: dict[str, Any]) -> dict[str, Any]:
    """What came of a run, as data."""
    end = spsa.course[spsa.applied].tolist()
    return {
        "bot": f"{bot};{setting(parameters, spsa)}",
        "games": 2 * spsa.told,
        "of": 2 * spsa.pairs,
        "pentanomial": spsa.pentanomial,
        "parameters": [
            {
                "name": one.name,
                "min": one.least,
                "max": one.most,
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
    output.table(("option", "start", "found", "last"), rows, numbers=("start", "found", "last"))
    output.text("", f"{found['games']:,} of {found['of']:,} games; found is the mean of the second half", found["bot"])
    if folder:
        output.note(f"curves are in {folder / CURVES}")
    output.note("whether it is better a match says: arena play NEW OLD --sprt elo0=0,elo1=10 …")


def _draw(folder: Any, bot: str, parameters: list[Parameter], spsa: Spsa) -> None:
    """A page with a curve for each parameter, which reads itself anew while the run goes on."""
    from arena.pages.drawing.chart_page import page
    from arena.pages.drawing.plot import Axis, Point, Series, lines, thin

    charts = []
    for column, one in enumerate(parameters):
        course = spsa.course[: spsa.applied + 1, column].tolist()
        points = thin([Point(2 * number, value) for number, value in enumerate(course)])
        title = f"{one.name}: {one.start} to {round(spsa.values[column])}, over {2 * spsa.applied} games"
        charts.append((title, lines(title, [Series(one.name, points)], Axis(text="{:,.0f}".format))))
    refresh_s = 0 if spsa.is_done else DRAWN_S
    folder.write(CURVES, page(f"Tuning {bot}", charts, refresh_s))
