"""The games of meetings: who plays whom from where, as workers get it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from arena.store.models import Tournament, Version
from arena.tournaments import openings
from arena.tournaments.meeting import Meeting
from arena.tournaments.settings import Document, read
from arena.tournaments.spec import planned_games
from referee.spec import GameSpec

NAMES = ("ada", "bob", "cleo")


def document(**changes: Any) -> Document:
    """Three bots, every pairing one pair of games."""
    return read({"name": "cup", "family": "pijersi", "entries": {"bots": list(NAMES)}, **changes})


def games_of(found: Document, *meetings: Meeting) -> list[GameSpec]:
    """The games of the meetings."""
    versions = {
        seat: Version(bot_id=seat + 1, number=1, name=f"{name} v1", command=["./bot"])
        for seat, name in enumerate(NAMES)
    }
    tournament = Tournament(
        id=7,
        name=found.name,
        family=found.family,
        variant=found.ruleset.variant.name,
        format=found.format,
        pool="pool",
        starts=datetime.now(UTC),
        created_by=1,
    )
    book = openings.draw(found, openings.size(found, len(NAMES)))
    games = planned_games(tournament, found, book, versions, meetings, sequence=0, pair=0)
    return [game.spec for game in games]


ALL = (Meeting(1, 0, 1), Meeting(2, 2, 0), Meeting(3, 1, 2))


def test_every_pair_of_games_gets_a_deal_of_its_own() -> None:
    one, two, three = (document(variant="full-random", games=2).model_copy(update={"seed": seed}) for seed in (1, 1, 2))
    specs = games_of(one, *ALL)
    assert [spec.position for spec in specs[::2]] == [spec.position for spec in specs[1::2]]
    assert len({spec.position for spec in specs}) == 3
    assert games_of(two, *ALL) == specs
    assert {spec.position for spec in games_of(three, *ALL)}.isdisjoint(spec.position for spec in specs)
    assert not openings.needs_kernel(one, 3)


def test_a_book_is_the_same_for_every_pairing() -> None:
    specs = games_of(document(games=2, openings="none"), *ALL)
    assert {(spec.variant, spec.position, spec.opening) for spec in specs} == {("standard", None, ())}
    assert [spec.pair for spec in specs] == [1, 1, 2, 2, 3, 3]
