"""Round robin: all games are known in advance. Each cycle has all pairings.

Results never change the plan, so it is stored in windows: only some games ahead of those being played. The
numbers of a match follow from its place in the plan, so the games are the same for any size of window.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, islice
from typing import TYPE_CHECKING

from referee.tournament.formats.format import AHEAD, Format, NoSettings
from referee.tournament.match import (
    Length,
    NextStep,
    PlanAfter,
    PlanItem,
    PlannedMatch,
    Seed,
    TournamentGame,
    finish,
)
from referee.tournament.part import SettingsError

if TYPE_CHECKING:
    from referee.tournament.document import Document

WINDOW = 250
"""Pairs of games that wait to be played, unless there are more slots to fill."""
MAX_OPEN = 8 * WINDOW
"""Most pairs of games that are stored without a result; games of absent bots cannot be played yet."""


class RoundRobin(Format[NoSettings]):
    """Every bot plays every other bot. A format with other rounds overrides the four functions that describe them."""

    name = "round-robin"
    title = "round-robin"
    purpose = "every bot plays every other bot"
    plan_after = PlanAfter.ALL_OVER
    is_known_in_advance = True
    example = "games = 2                          # of each pairing, in pairs with one opening and sides swapped\n"

    def shape(self, players: int) -> tuple[int, int]:
        """Return the number of matches in a round, and of rounds in a cycle."""
        return (0, 0) if players < 2 else (players // 2, players + players % 2 - 1)

    def round(self, players: int, number: int) -> list[tuple[int, int]]:
        """Return the pairings of round `number` (counted from 0) of a cycle: seats of the first and the second side."""
        return berger_round(players, number)

    def count_matches(self, players: int, gone: Collection[int], number: int) -> int:
        """Return how many matches a cycle has from round `number` (counted from 0) on, without those of seats in
        `gone`.
        """
        resting = sorted({*gone, players} if players % 2 else gone)  # a bye is a match with a seat that never plays
        seats = players + players % 2
        count = seats - 1 - number
        # Each resting seat removes a match from every round; a match of two resting seats must not be removed twice.
        shared = sum(berger_meeting(players, low, high) >= number for low, high in combinations(resting, 2))
        return count * (seats // 2 - len(resting)) + shared

    def plan(self, games: int, seeds: Sequence[Seed], start: int = 0) -> Iterator[PlannedMatch]:
        """Yield every match from number `start` (counted from 0) on, with `games` games per pairing.

        A cycle has a pair of games for each pairing; if `games` is odd, the last cycle has single games.
        """
        players = len(seeds)
        boards, rounds = self.shape(players)
        if not boards:
            return
        in_pairs = games // 2 * rounds * boards
        for place in range(start // boards, (games + 1) // 2 * rounds):
            cycle, number = divmod(place, rounds)
            is_single = 2 * cycle + 1 == games
            for at, (left, right) in enumerate(self.round(players, number), place * boards):
                if at >= start:
                    first, second = (right, left) if is_single and cycle % 2 else (left, right)
                    sequence = at + min(at, in_pairs) + 1
                    yield PlannedMatch(place + 1, first, second, cycle, 1 if is_single else 2, at + 1, sequence)

    def count_rounds(self, games: int, players: int) -> int:
        """Return the number of rounds of the whole plan."""
        return (games + 1) // 2 * self.shape(players)[1]

    def count_left(self, games: int, seeds: Sequence[Seed], start: int = 0) -> int:
        """Return how many games the plan has from match number `start` on, without those of withdrawn bots."""
        players, gone = len(seeds), _gone(seeds)
        boards, rounds = self.shape(players)
        if not boards:
            return 0
        place, board = divmod(start, boards)
        cycle, number = divmod(place, rounds)
        in_cycle = max(0, min(2, games - 2 * cycle))
        rest = sum(not gone.intersection(pair) for pair in self.round(players, number)[board:])
        later = max(0, games - 2 * cycle - 2) * self.count_matches(players, gone, 0)
        return in_cycle * (rest + self.count_matches(players, gone, number + 1)) + later

    def next_step(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int = AHEAD
    ) -> NextStep:
        """Plan matches until `ahead` pairs, but at least WINDOW, are open."""
        return self.step(document.games, seeds, played, ahead)

    def step(self, games: int, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int) -> NextStep:
        """Plan matches of `games` games per pairing until `ahead` pairs, but at least WINDOW, are open."""
        gone = _gone(seeds)
        start = max((game.pair for game in played), default=0)
        if not self.count_left(games, seeds, start):
            return finish(played)
        absent = {seed.number for seed in seeds if seed.is_absent}
        waiting = {game.pair: {game.first, game.second} for game in played if game.is_open}
        ready = sum(not absent & seats for seats in waiting.values())
        room = max(0, min(max(ahead, WINDOW) - ready, MAX_OPEN - len(waiting)))
        upcoming = (match for match in self.plan(games, seeds, start) if not gone & {match.first, match.second})
        matches = tuple(islice(upcoming, room))
        if matches:
            start = matches[-1].pair
        return NextStep(matches, later=self.count_left(games, seeds, start))

    def count_games(self, document: Document, players: int) -> tuple[int, int]:
        """Return the number of games, twice."""
        matches = self.count_matches(players, (), 0) if players > 1 else 0
        return matches * document.games, matches * document.games

    def count_later(self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> int:
        """Return how many games follow those in `played`."""
        return self.count_left(document.games, seeds, max((game.pair for game in played), default=0))

    def length(self, document: Document, players: int) -> Length:
        if document.games % 2:
            raise SettingsError("must be even to extend the tournament: games are added in pairs", "games")
        return Length(document.games, "games of each pairing", 2, "", "games")

    def plan_size(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], kept: int
    ) -> PlanItem:
        """Return the numbers of games and rounds of the whole plan."""
        games = kept + self.count_later(document, seeds, played)
        return PlanItem(games, games_per_pairing=document.games, rounds=self.count_rounds(document.games, len(seeds)))


def berger_round(players: int, number: int) -> list[tuple[int, int]]:
    """Return one round of a Berger table (FIDE Handbook C.05 annex 1) as players from 0; `number` counts from 0.

    In a table every pair meets once; with an odd number one player has a bye each round. The numbers of games of a
    player as the first and as the second side differ by at most one.
    """
    size = players + players % 2
    last = size - 1
    table = []
    for board in range(size // 2):
        first = (number * (size // 2) + board) % last
        second = (number * (size // 2) - board) % last
        if board == 0:
            # The last player stays in its place while the others rotate, so its side must alternate.
            pair = (first, last) if number % 2 == 0 else (last, first)
        else:
            pair = (first, second)
        if max(pair) < players:
            table.append(pair)
    return table


def berger_meeting(players: int, low: int, high: int) -> int:
    """Return the round, counted from 0, in which two players meet; `low` is the smaller number.

    With an odd number of players, `high` may also be `players`: this returns the round in which `low` has a bye.
    """
    last = players + players % 2 - 1
    return (2 * low if high == last else low + high) % last


def _gone(seeds: Sequence[Seed]) -> set[int]:
    """Return the withdrawn seats that are not suspended; suspended ones are still paired and forfeit their games."""
    return {seed.number for seed in seeds if seed.is_withdrawn and not seed.is_suspended}


FORMAT = RoundRobin()
