"""Dispatch by format: decide what to plan next from a document, its seeds and its games. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from arena.tournaments import knockout, ladder, race, roundrobin, sequential, swiss
from arena.tournaments.match import NextStep, PlanAfter, Seed, TournamentGame
from arena.tournaments.settings import Document

AHEAD = 8
"""Pairs that a ladder, a race or a sequential test plans ahead, unless there are more slots to fill."""

_PLAN_AFTER = {
    "round-robin": roundrobin.PLAN_AFTER,
    "gauntlet": roundrobin.PLAN_AFTER,
    "swiss": swiss.PLAN_AFTER,
    "knockout": knockout.PLAN_AFTER,
    "ladder": ladder.PLAN_AFTER,
    "race": race.PLAN_AFTER,
    "sprt": sequential.PLAN_AFTER,
}


def plan_after(format: str) -> PlanAfter:
    """Return the event after which a format may plan more games."""
    return _PLAN_AFTER[format]


def is_open(format: str) -> bool:
    """Return whether bots may join and leave while a tournament of this format runs."""
    return format == "ladder"


def is_closed(format: str) -> bool:
    """Return whether no bot may enter after the tournament was created."""
    return format == "sprt"


def is_known_in_advance(format: str) -> bool:
    """Return whether all games are known from the start, so that only the next ones need to be stored."""
    return format in ("round-robin", "gauntlet")


def looks_at_ratings(format: str) -> bool:
    """Return whether pairings depend on the current ratings."""
    return format == "ladder"


def step(document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int = AHEAD) -> NextStep:
    """Return the matches to plan now, or that the tournament is finished.

    If the plan is known in advance, `played` need contain only the open games and the last game.
    """
    games = document.games
    match document.format:
        case "round-robin" | "gauntlet" as format:
            return roundrobin.step(format, games, seeds, played, ahead)
        case "swiss":
            return swiss.step(document.rounds, games, seeds, played)
        case "knockout":
            settings = document.knockout
            return knockout.step(games, settings.tiebreak_pairs, settings.third_place, seeds, played)
        case "ladder":
            wish = document.ladder
            return ladder.step(wish.games, wish.max_games_per_bot, seeds, played, ahead, rest=wish.rest_after)
        case "race":
            return race.step(document.race.race, document.race.games, seeds, played, ahead)
        case "sprt":
            return sequential.step(document.sprt.sprt, document.sprt.games, seeds, played, ahead)


def later(document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> int:
    """Return how many games of a plan known in advance follow those in `played`; 0 for other formats."""
    match document.format:
        case "round-robin" | "gauntlet" as format:
            return roundrobin.left(format, document.games, seeds, max((game.pair for game in played), default=0))
    return 0
