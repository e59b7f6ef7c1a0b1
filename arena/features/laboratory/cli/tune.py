"""`arena tune`: tune spin options of a bot by self-play."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import MISSING, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from arena.cli.local import self_play
from arena.cli.terminal import argument, output, text_input
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import option, positional
from arena.cli.terminal.printer import Output, Printer
from arena.documents.table import Column, text_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.features.laboratory.parameter import Parameter
    from arena.features.laboratory.tuning import Spsa, Trial
    from referee.game.openings import Opening
    from referee.game.spec import PlannedGame
    from referee.tournament.document import Document

CURVES, RESULT = "curves.html", "result.json"
MAX_GAMES = 1_000_000
MAX_OPENINGS = 2_000
"""Openings for this many games are drawn, or all of a book; then they repeat."""
DRAW_INTERVAL_S = 20
"""Seconds between two drawings of the curves."""


def _games(text: str) -> int:
    return argument.between(text, 2, MAX_GAMES)


@dataclass(frozen=True, kw_only=True)
class TuneArguments(self_play.GamesArguments, Output):
    bot: str = positional("bot, as in arena play: path, quoted command, sample:NAME, folder …", "BOT")
    parameter: tuple[str, ...] = option(
        "tune a spin option: NAME or NAME:MIN:MAX:START:STEP; missing values are those the bot announces, STEP a "
        "twentieth of the range; may be repeated",
        metavar="SPEC",
        default=(),
    )
    parameters: str | None = option(
        "read the parameters from TOML: a table [NAME] for each, with min, max, start and step", metavar="FILE"
    )
    games: int = option("games to play, in pairs", metavar="COUNT", type=_games, default=MISSING)
    tc: str = option(
        "time control: 1+0.01 in seconds, 0.1/move, nodes:1000",
        metavar="TIME",
        default="1+0.01",
    )
    openings: str = option(
        "openings: none, random:PLIES:SEED (default random:4), setups:VARIANT:SEED or a file",
        metavar="OPENINGS",
        default="random:4",
    )
    learning_rate: float | None = option(
        "change values by NUMBER steps for each point above an even score (default 0.02)", metavar="NUMBER"
    )
    out: Path | None = option("folder of the run; the same command continues an interrupted one", metavar="DIR")


def run(arguments: TuneArguments) -> int:
    """Play the games and print the values."""
    from arena.features.laboratory.parameter import read_parameters
    from arena.features.laboratory.tuning import LEARNING_RATE, Spsa
    from referee.tournament import openings
    from referee.tournament.part import SettingsError

    rate = LEARNING_RATE if arguments.learning_rate is None else arguments.learning_rate
    if not 0 < rate <= 1:
        raise CommandError("--learning-rate: expected a number above 0, at most 1; 0.02 is usual")
    document = self_play.read_document("tune", arguments, ("plus", "minus"), arguments.tc, arguments.openings)
    file = text_input.read_text(arguments.parameters) if arguments.parameters else None
    played = self_play.introduce_bot(arguments, document)
    parameters = read_parameters(arguments.parameter, file, played.announced)
    if fixed := sorted({parameter.name for parameter in parameters} & dict(played.bot.options).keys()):
        raise CommandError(f"{fixed[0]} is both set for the bot and tuned: remove one of them")
    spsa = Spsa(parameters, (arguments.games + 1) // 2, seed=arguments.seed, rate=rate)
    identity = {
        "tune": arguments.bot,
        "family": arguments.family,
        "variant": document.ruleset.variant.name,
        "option": list(arguments.options),
        "games": arguments.games,
        "tc": arguments.tc,
        "openings": arguments.openings,
        "max_plies": arguments.max_plies,
        "seed": arguments.seed,
        "rate": rate,
        "parameters": [
            [parameter.name, parameter.minimum, parameter.maximum, parameter.start, parameter.step]
            for parameter in parameters
        ],
    }
    try:
        count = len(document.opening_lines) or (min(arguments.games, MAX_OPENINGS) + 1) // 2
        book = openings.draw(document, count)
    except SettingsError as error:
        raise CommandError(str(error)) from None
    return _tune(arguments, spsa, parameters, TrialGames(document, played, parameters, book), identity)


def _tune(
    arguments: TuneArguments,
    spsa: Spsa,
    parameters: list[Parameter],
    games: TrialGames,
    identity: dict[str, Any],
) -> int:
    from arena.cli.terminal.interrupt import InterruptThread
    from arena.cli.terminal.output import RunProgress
    from arena.features.laboratory.tuning import PAIRS, PairFile, Tuner
    from referee.machine.run_folder import RunFolder

    with ExitStack() as stack:
        path = arguments.out or Path(stack.enter_context(TemporaryDirectory(prefix="arena-tune-")))
        folder = stack.enter_context(RunFolder(path))
        self_play.claim(folder, identity)
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

        tuner = Tuner(spsa, file, games.of, tell)
        if not spsa.is_done:
            executor, at_once = stack.enter_context(self_play.game_executor(arguments, games.played))

            def again() -> None:
                tuner.stop()
                self_play.abort(executor)

            with InterruptThread(tuner.stop, again):
                tuner.run(executor, at_once)
        result = summary(arguments.bot, parameters, spsa, identity)
        folder.write(RESULT, json.dumps(result, ensure_ascii=False, indent=1))
        _draw(folder, arguments.bot, parameters, spsa)
    Printer(arguments).result(result, lambda: _show(result, arguments.out))
    return Exit.DONE if spsa.is_done else Exit.INTERRUPTED


class TrialGames:
    """The pairs of games of a run: the bot with one set of values against the bot with another."""

    def __init__(
        self, document: Document, played: self_play.IntroducedBot, parameters: list[Parameter], book: Sequence[Opening]
    ) -> None:
        self._document, self.played, self._parameters, self._book = document, played, parameters, book

    def of(self, trial: Trial) -> list[PlannedGame]:
        from referee.game.openings import opening_of
        from referee.tournament.ledger import planned_games
        from referee.tournament.match import PlannedMatch

        names = self._document.entries.bots
        bots = {
            seat: replace(self.played.bot, name=name, options=(*self.played.bot.options, *self._options(values)))
            for seat, (name, values) in enumerate(zip(names, (trial.plus, trial.minus), strict=True))
        }
        opening = opening_of(self._book, trial.number, trial.number)
        event = f"tune {self._document.seed} {trial.number}"
        return planned_games(self._document, event, [opening], bots, [PlannedMatch(1, 0, 1)], sequence=0, pair=0)

    def _options(self, values: Sequence[int]) -> list[tuple[str, str]]:
        return [(one.name, str(value)) for one, value in zip(self._parameters, values, strict=True)]


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
                "name": parameter.name,
                "min": parameter.minimum,
                "max": parameter.maximum,
                "start": parameter.start,
                "step": parameter.step,
                "value": round(value),
                "mean": round(value, 3),
                "last": round(last, 3),
            }
            for parameter, value, last in zip(parameters, spsa.values.tolist(), end, strict=True)
        ],
        "run": identity,
    }


_PARAMETERS: tuple[Column[Mapping[str, Any]], ...] = (
    text_column("name", "option", lambda parameter: parameter["name"]),
    Column("start", "start", lambda parameter: parameter["start"]),
    Column("value", "value", lambda parameter: parameter["value"]),
    Column("last", "last", lambda parameter: parameter["last"], "strength"),
)


def _show(result: dict[str, Any], folder: Path | None) -> None:
    output.table(_PARAMETERS, result["parameters"])
    output.text(
        "",
        f"{result['games']:,} of {result['of']:,} games; the value is the mean of the second half of the run",
        result["bot"],
    )
    if folder:
        output.note(f"curves are in {folder / CURVES}")
    output.note("verify the improvement by a match: `arena play NEW OLD --family FAMILY --sprt elo0=0,elo1=10`")


def _draw(folder: Any, bot: str, parameters: list[Parameter], spsa: Spsa) -> None:
    """Write a page with a curve for each parameter; the page reloads itself during the run."""
    from arena.pages.drawing.plot import Axis, Point, Series, lines, page, thin

    charts = []
    for column, parameter in enumerate(parameters):
        trajectory = spsa.trajectory[: spsa.applied + 1, column].tolist()
        points = thin([Point(2 * number, value) for number, value in enumerate(trajectory)])
        title = f"{parameter.name}: {parameter.start} to {round(spsa.values[column])}, over {2 * spsa.applied} games"
        charts.append((title, lines(title, [Series(parameter.name, points)], Axis(text="{:,.0f}".format))))
    refresh_s = 0 if spsa.is_done else DRAW_INTERVAL_S
    folder.write(CURVES, page(f"Tuning {bot}", charts, refresh_s))
