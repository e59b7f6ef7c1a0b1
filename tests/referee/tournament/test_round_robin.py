"""Berger tables: fair, and FIDE's."""

from __future__ import annotations

from collections import Counter

import pytest

from referee.tournament.formats.round_robin import berger_meeting, berger_round


def berger(players: int) -> list[list[tuple[int, int]]]:
    """All rounds."""
    return [berger_round(players, number) for number in range(players + players % 2 - 1)]


@pytest.mark.parametrize("players", range(2, 24))
def test_berger_tables_are_fair(players: int) -> None:
    rounds = berger(players)
    assert len(rounds) == players - 1 + players % 2
    firsts: Counter[int] = Counter()
    met: set[frozenset[int]] = set()
    for table in rounds:
        seated = [player for pair in table for player in pair]
        assert len(seated) == len(set(seated)) == players - players % 2
        for first, second in table:
            firsts[first] += 1
            met.add(frozenset((first, second)))
    assert len(met) == players * (players - 1) // 2
    assert max(firsts.values()) - min(firsts[player] for player in range(players)) <= 1


def test_the_table_of_four_is_fides() -> None:
    assert berger(4) == [[(0, 3), (1, 2)], [(3, 2), (0, 1)], [(1, 3), (2, 0)]]


@pytest.mark.parametrize("players", [4, 5, 9, 10])
def test_the_round_of_a_meeting_is_that_of_the_table(players: int) -> None:
    for number, table in enumerate(berger(players)):
        for pair in table:
            assert berger_meeting(players, min(pair), max(pair)) == number
