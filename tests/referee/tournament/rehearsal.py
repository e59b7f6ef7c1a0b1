"""Tournaments with a ledger in memory whose games end at once, as the strength of the bots says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Any

from referee.game.record import GameRecord
from referee.game.spec import BotSpec, PlannedGame
from referee.machine.run_folder import RunFolder, UnkeptRun
from referee.play.run import TournamentRun
from referee.rules.core import Kind, Termination
from referee.tournament import openings
from referee.tournament.document import Document, read
from referee.tournament.formats import format_named
from referee.tournament.ledger import Ledger, result_line
from referee.tournament.match import NextStep, Seed, TournamentGame
from referee.tournament.ranking import Scores, StandingTable, rank
from tests.referee.conftest import a_record

NAMES = tuple(f"{name} v1" for name in ("ada", "bob", "cleo", "dan", "eve", "flo", "gus", "hal", "ida"))
SETTINGS: dict[str, dict[str, Any]] = {
    "round-robin": {"games": 3},
    "gauntlet": {"games": 2},
    "swiss": {"rounds": 4},
    "knockout": {"knockout": {"tiebreak_pairs": 1, "third_place": True}},
    "ladder": {"ladder": {"games": 40}},
    "race": {"race": {"top": 2, "confidence": 0.8, "games": 2000}},
    "sprt": {"sprt": {"elo0": 0, "elo1": 200, "games": 400}},
}
"""Settings of formats whose usual ones make a long tournament, or a dull one."""
PLAYERS = {"sprt": 2, "race": 4}
"""Number of bots, if it is not nine."""


def document_of(format: str, **more: Any) -> Document:
    """A tournament of a format."""
    bots = NAMES[: PLAYERS.get(format, 9)]
    plain = {"name": "cup", "family": "loa", "format": format, "openings": "none", "seed": 3}
    return read({**plain, "entries": {"bots": list(bots)}, **SETTINGS.get(format, {}), **more})


def knockout_step(
    games: int, tiebreak_pairs: int, third_place: bool, seeds: Sequence[Seed], played: Sequence[TournamentGame]
) -> NextStep:
    """The next step of a knockout with these settings."""
    settings = {"tiebreak_pairs": tiebreak_pairs, "third_place": third_place}
    document = document_of("knockout", games=games, knockout=settings)
    return format_named("knockout").next_step(document, seeds, played)


def bots_of(document: Document) -> list[BotSpec]:
    """The bots of a document."""
    return [BotSpec(name, ("./bot",)) for name in document.entries.bots]


def ledger_of(document: Document) -> Ledger:
    """An empty ledger."""
    bots = bots_of(document)
    return Ledger(document, bots, openings.draw(document, openings.size(document, len(bots))))


def winner_of(game: PlannedGame) -> str:
    """The earlier bot in the alphabet wins, but neighbours draw every game that the earlier one begins."""
    one, two = NAMES.index(game.spec.first.name), NAMES.index(game.spec.second.name)
    if two - one == 1:
        return "draw"
    return "first" if one < two else "second"


def result_of(game: PlannedGame, **changes: Any) -> GameRecord:
    """The record of a game."""
    spec = game.spec
    return a_record(
        id=game.id,
        first=spec.first.name,
        second=spec.second.name,
        sequence=spec.sequence,
        round=spec.round,
        pair=spec.pair,
        **{"winner": winner_of(game), **changes},
    )


def void_of(game: PlannedGame) -> GameRecord:
    """The record of an attempt without a result."""
    lost = Termination.WORKER_LOST
    return result_of(game, winner=None, termination=lost, kind=lost.kind)


class Instant(Executor):
    """Plays every game at once. `left` counts down the jobs until `stop` is called, once."""

    def __init__(self, reply: Callable[[PlannedGame], GameRecord] = result_of, left: int = -1) -> None:
        self.reply, self.left = reply, left
        self.stop: Callable[[], None] = lambda: None

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        games: Sequence[PlannedGame] = args[0]
        future: Future[Any] = Future()
        future.set_result([self.reply(game) for game in games])
        self.left -= 1
        if self.left == 0:
            self.stop()
        return future


def run_of(ledger: Ledger, executor: Instant, folder: RunFolder | UnkeptRun | None = None) -> TournamentRun:
    """A run with one job at a time."""
    run = TournamentRun(
        ledger, folder or UnkeptRun(), executor, 1, on_record=lambda record: None, on_suspend=lambda name: None
    )
    executor.stop = run.dispatcher.stop
    return run


def rehearse(document: Document) -> Ledger:
    """The ledger of a tournament played to its end."""
    ledger = ledger_of(document)
    run = run_of(ledger, Instant())
    assert run.play() == []
    assert run.is_over
    return ledger


def table_of(records: Sequence[GameRecord], names: Sequence[str], format: str = "round-robin") -> StandingTable:
    """The standings of these bots after these games, void ones left out."""
    document = read({"name": "cup", "family": "loa", "format": format, "entries": {"bots": list(names)}})
    seats = {name: seat for seat, name in enumerate(names)}
    scores = Scores()
    done = [record for record in records if record.kind is not Kind.VOID]
    scores.extend(result_line(record, order, seats) for order, record in enumerate(done, 1))
    games = [
        TournamentGame(
            record.sequence,
            record.round,
            record.pair,
            seats[record.first],
            seats[record.second],
            "done",
            record.points[0],
            order,
        )
        for order, record in enumerate(done, 1)
    ]
    seeds = [Seed(seat) for seat in seats.values()]
    names_by_seat, versions = dict(enumerate(names)), {seat: seat for seat in seats.values()}
    lines = rank(document, seeds, games, names_by_seat, versions, scores=scores)
    decision = document.system.decision(document, seeds, games)
    return StandingTable(tuple(lines), document.system.tie_breaks, scores, decision, names_by_seat)
