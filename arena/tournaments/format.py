"""One door to all formats: what a tournament's document, seats and games ask to be done next. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from arena.tournaments import knockout, ladder, race, roundrobin, sequential, swiss
from arena.tournaments.meeting import Moment, Played, Seat, Step
from arena.tournaments.settings import Document

AHEAD = 8
"""How many pairs a ladder, a race or a test plans ahead, unless the dispatcher has more slots to fill."""

_MOMENTS = {
    "round-robin": roundrobin.MOMENT,
    "gauntlet": roundrobin.MOMENT,
    "swiss": swiss.MOMENT,
    "knockout": knockout.MOMENT,
    "ladder": ladder.MOMENT,
    "race": race.MOMENT,
    "sprt": sequential.MOMENT,
}


def moment(format: str) -> Moment:
    """When a tournament of a format is to be asked again."""
    return _MOMENTS[format]


def is_open(format: str) -> bool:
    """Whether bots may come and go while a tournament of this format runs."""
    return format == "ladder"


def is_closed(format: str) -> bool:
    """Whether nobody may be entered after the creation."""
    return format == "sprt"


def looks_at_ratings(format: str) -> bool:
    """Whether who meets whom depends on the ratings of the moment."""
    return format == "ladder"


def step(document: Document, seats: Sequence[Seat], played: Sequence[Played], ahead: int = AHEAD) -> Step:
    """What to plan now, or that the tournament is finished."""
    games = document.games
    match document.format:
        case "round-robin" | "gauntlet" as format:
            return roundrobin.step(format, games, seats, played)
        case "swiss":
            return swiss.step(document.rounds, games, seats, played)
        case "knockout":
            settings = document.knockout
            return knockout.step(games, settings.tiebreak_pairs, settings.third_place, seats, played)
        case "ladder":
            return ladder.step(document.ladder.games, document.ladder.max_games_per_bot, seats, played, ahead)
        case "race":
            return race.step(document.race.race, document.race.games, seats, played, ahead)
        case "sprt":
            return sequential.step(document.sprt.sprt, document.sprt.games, seats, played, ahead)
