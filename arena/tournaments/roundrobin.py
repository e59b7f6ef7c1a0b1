"""Round robin and gauntlet: every game is known before the first one. Cycle after cycle, each a whole table.

Refuses to know results: nothing in them changes the plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.tournaments.meeting import Meeting, Moment, Played, Seat, Step, finish
from referee.ratings.pairings import Format, pairings

MOMENT = Moment.ALL_OVER


def plan(format: Format, games: int, seats: Sequence[Seat]) -> Iterator[Meeting]:
    """Every meeting, `games` per pairing: pairs of games by cycles, a single one where `games` is odd."""
    tables = pairings(len(seats), format)
    rounds = max((number for number, _, _ in tables), default=0)
    for cycle in range((games + 1) // 2):
        is_single = 2 * cycle + 1 == games
        for number, one, two in tables:
            first, second = (two, one) if is_single and cycle % 2 else (one, two)
            yield Meeting(cycle * rounds + number, first, second, cycle, 1 if is_single else 2)


def step(format: Format, games: int, seats: Sequence[Seat], played: Sequence[Played]) -> Step:
    """The meetings not planned yet; all of them at the start, the new cycles after an extension."""
    known = {game.match for game in played}
    gone = {seat.number for seat in seats if seat.is_withdrawn}
    fresh = [
        meeting
        for meeting in plan(format, games, seats)
        if not {meeting.first, meeting.second} & gone
        and (meeting.round, min(meeting.first, meeting.second), max(meeting.first, meeting.second)) not in known
    ]
    return Step(tuple(fresh)) if fresh else finish(played)
