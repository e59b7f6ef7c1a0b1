"""Play of a format to its end with random results, without bots or a database."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from referee.tournament.match import NextStep, PlannedMatch, TournamentGame

Stepper = Callable[[Sequence[TournamentGame]], NextStep]
Judge = Callable[[TournamentGame], float | None]


def planned(matches: Sequence[PlannedMatch], played: Sequence[TournamentGame]) -> list[TournamentGame]:
    """Return the games of matches as stored: numbered by the plan or consecutively, in pairs with sides swapped."""
    games: list[TournamentGame] = []
    sequence = max((game.sequence for game in played), default=0)
    pair = max((game.pair for game in played), default=0)
    for match in matches:
        if match.pair:
            sequence, pair = match.sequence - 1, match.pair - 1
        for number in range(match.games):
            pair += number % 2 == 0
            sequence += 1
            sides = (match.first, match.second) if number % 2 == 0 else (match.second, match.first)
            games.append(TournamentGame(sequence, match.round, pair, *sides, "open"))
    return games


def drawn(rng: random.Random) -> Judge:
    """Return random results."""
    return lambda game: rng.choice([0.0, 0.5, 1.0])


def run(step: Stepper, judge: Judge, *, rng: random.Random | None = None, limit: int = 5000) -> list[TournamentGame]:
    """Play every game, one by one (in random order with `rng`), until the format is finished; return all games.

    Also check that planning twice adds nothing, and that a format that waits has open games.
    """
    games: list[TournamentGame] = []
    done = 0
    for _ in range(limit):
        plan = step(games)
        if plan.matches:
            games += planned(plan.matches, games)
            assert not step(games).matches, "planning is not idempotent"
            continue
        if plan.calls_off:
            games = [game._replace(state="cancelled") if game.is_open else game for game in games]
            continue
        places = [place for place, game in enumerate(games) if game.is_open]
        if plan.is_finished:
            assert not places
            return games
        assert places, "nothing is open, nothing planned, and it is not finished"
        place = rng.choice(places) if rng else places[0]
        done += 1
        points = judge(games[place])
        games[place] = games[place]._replace(state="void" if points is None else "done", points=points, order=done)
    raise AssertionError(f"not finished after {limit} steps")
