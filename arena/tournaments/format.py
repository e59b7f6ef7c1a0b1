"""One door to all formats: what a tournament's document, seeds and games ask to be done next. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from arena.tournaments import knockout, ladder, race, roundrobin, sequential, swiss
from arena.tournaments.match import NextStep, PlanAfter, Seed, TournamentGame
from arena.tournaments.settings import Document

AHEAD = 8
"""How many pairs a ladder, a race or a test plans ahead, unless the dispatcher has more slots to fill."""

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
    """When a tournament of a format is to be asked again."""
    return _PLAN_AFTER[format]


def is_open(format: str) -> bool:
    """Whether bots may come and go while a tournament of this format runs."""
    return format == "ladder"


def is_closed(format: str) -> bool:
    """Whether nobody may be entered after the creation."""
    return format == "sprt"


def looks_at_ratings(format: str) -> bool:
    """Whether who meets whom depends on the ratings of the moment."""
    return format == "ladder"


def step(document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int = AHEAD) -> NextStep:
    """What to plan now, or that the tournament is finished."""
    games = document.games
    match document.format:
        case "round-robin" | "gauntlet" as format:
            return roundrobin.step(format, games, seeds, played)
        case "swiss":
            return swiss.step(document.rounds, games, seeds, played)
        case "knockout":
            settings = document.knockout
            return knockout.step(games, settings.tiebreak_pairs, settings.third_place, seeds, played)
        case "ladder":
            return ladder.step(document.ladder.games, document.ladder.max_games_per_bot, seeds, played, ahead)
        case "race":
            return race.step(document.race.race, document.race.games, seeds, played, ahead)
        case "sprt":
            return sequential.step(document.sprt.sprt, document.sprt.games, seeds, played, ahead)
