"""Plays a format to its end with results drawn from a seed, without a bot or a database."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from arena.tournaments.meeting import Meeting, Played, Step

Stepper = Callable[[Sequence[Played]], Step]
Judge = Callable[[Played], float | None]


def planned(meetings: Sequence[Meeting], played: Sequence[Played]) -> list[Played]:
    """The games of meetings as they are stored: numbered on, pairs of two with sides swapped."""
    found: list[Played] = []
    sequence = max((game.sequence for game in played), default=0)
    pair = max((game.pair for game in played), default=0)
    for meeting in meetings:
        for number in range(meeting.games):
            pair += number % 2 == 0
            sequence += 1
            sides = (meeting.first, meeting.second) if number % 2 == 0 else (meeting.second, meeting.first)
            found.append(Played(sequence, meeting.round, pair, *sides, "open"))
    return found


def drawn(rng: random.Random) -> Judge:
    """Results at random."""
    return lambda game: rng.choice([0.0, 0.5, 1.0])


def run(step: Stepper, judge: Judge, *, rng: random.Random | None = None, limit: int = 5000) -> list[Played]:
    """Every game, played one by one (in random order with `rng`) until the format is finished.

    Checks on the way that planning again asks for nothing, and that a format that waits has games open.
    """
    games: list[Played] = []
    done = 0
    for _ in range(limit):
        found = step(games)
        if found.meetings:
            games += planned(found.meetings, games)
            assert not step(games).meetings, "planning is not idempotent"
            continue
        if found.calls_off:
            games = [game._replace(state="cancelled") if game.is_open else game for game in games]
            continue
        places = [place for place, game in enumerate(games) if game.is_open]
        if found.is_finished:
            assert not places
            return games
        assert places, "nothing is open, nothing planned, and it is not finished"
        place = rng.choice(places) if rng else places[0]
        done += 1
        points = judge(games[place])
        games[place] = games[place]._replace(state="void" if points is None else "done", points=points, order=done)
    raise AssertionError(f"not finished after {limit} steps")
