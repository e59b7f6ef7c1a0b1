"""Games folded many at a time come out as one by one."""

from __future__ import annotations

import random

import pytest

from arena.store import fold, folding
from arena.store.folding import Folding, Game

FOLLOWS = {5: 2, 6: 5, 7: 99}


class OneByOne:
    """The fold of live recording."""

    def __init__(self) -> None:
        self.lines: dict[tuple[str, int], fold.FoldedRating] = {}

    def line(self, pool: str, version_id: int) -> fold.FoldedRating | None:
        return self.lines.get((pool, version_id))

    def follows(self, version_id: int) -> int | None:
        return FOLLOWS.get(version_id)


def games(count: int) -> list[Game]:
    rng = random.Random(4)
    found: list[Game] = []
    for number in range(1, count + 1):
        one, two = rng.sample(range(1, 8 if number > count // 2 else 5), 2)  # successors come in later
        kind = rng.choice(("rules", "rules", "forfeit", "void", "adjudication"))
        winner = rng.choice(("first", "second", "draw"))
        pool = rng.choice(("loa", "loa/zen"))
        found.append(
            (f"g{number}", number, "loa", pool, one, rng.choice((two, two, one)), winner, kind, number % 7 > 0)
        )
    return found


@pytest.mark.parametrize("many", [1, folding.MANY], ids=["compiled", "package"])
def test_the_same_as_one_by_one(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "MANY", many)
    table, one_by_one, expected = Folding(frozenset({"g9"})), OneByOne(), []
    table.earlier = FOLLOWS
    counted = [game for game in games(300) if table.counts(game)]
    for game in counted:
        assert fold.FoldedGame(*game).counts
        numbers: list[float] = []
        for change in fold.step(one_by_one, fold.FoldedGame(*game)):
            one_by_one.lines[game[3], change.version_id] = change.after
            before, after = change.before.rating, change.after.rating
            numbers += [before.mu, before.sigma, after.mu, after.sigma]
        expected.append(numbers)
    assert "g9" not in {game[0] for game in counted}
    half = len(counted) // 2
    found = [*table.play(counted[:half]).tolist(), *table.play(counted[half:]).tolist()]
    assert found == expected
    assert table.lines() == one_by_one.lines
    assert table.count == len(counted)
