"""Pairings that are known in advance: all players against all, or one against the rest.

Players are numbers from 0. The Berger tables are those of the FIDE Handbook C.05 annex 1.
"""

from __future__ import annotations

from typing import Literal

Format = Literal["round-robin", "gauntlet"]


def berger(players: int) -> list[list[tuple[int, int]]]:
    """Return the rounds of a single round robin as (first, second) player numbers from 0.

    Every pair meets exactly once; with an odd number one player has a bye each round. For each player, the numbers of
    games as the first and as the second side differ by at most one.
    """
    return [berger_round(players, number) for number in range(players + players % 2 - 1)]


def berger_round(players: int, number: int) -> list[tuple[int, int]]:
    """Return one round of a single round robin; `number` counts from 0."""
    size = players + players % 2
    last = size - 1
    table = []
    for board in range(size // 2):
        one = (number * (size // 2) + board) % last
        two = (number * (size // 2) - board) % last
        if board == 0:
            pair = (one, last) if number % 2 == 0 else (last, one)
        else:
            pair = (one, two)
        if max(pair) < players:
            table.append(pair)
    return table


def berger_meeting(players: int, low: int, high: int) -> int:
    """Return the round, counted from 0, in which two players meet; `low` is the smaller number.

    With an odd number of players, `high` may also be `players`: this returns the round in which `low` has a bye.
    """
    last = players + players % 2 - 1
    return (2 * low if high == last else low + high) % last


def pairings(players: int, format: Format) -> list[tuple[int, int, int]]:
    """Return (round from 1, first, second) of every pairing: all against all, or player 0 against each other player."""
    if format == "gauntlet":
        return [(number, 0, number) for number in range(1, players)]
    return [(number, one, two) for number, table in enumerate(berger(players), 1) for one, two in table]
