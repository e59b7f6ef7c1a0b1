"""A tournament on a server and one without: the same document gives the same games, results the same standings."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from arena.documents.tournament import EntryItem
from arena.store import Store
from arena.tournaments import create
from arena.tournaments.lifecycle import advance, plan
from arena.tournaments.standing import standing
from arena.tournaments.stored_tournament import (
    StoredTournament,
    participants,
    seats_by_version,
    seeds_of,
)
from referee.game.spec import PlannedGame
from referee.tournament import formats
from referee.tournament.document import Document
from tests.arena.field import Field
from tests.referee.tournament.rehearsal import NAMES, document_of, rehearse, result_of

Meeting = tuple[int, int, int, str, str]


def meeting_of(game: PlannedGame) -> Meeting:
    """What a plan says of a game."""
    spec = game.spec
    return spec.sequence, spec.round, spec.pair, spec.first.name, spec.second.name


def is_decided(store: Store, number: int, document: Document, entries: list[EntryItem]) -> bool:
    """Return whether the open games are no longer needed."""
    tournament = store.tournaments.get(number)
    games = store.queue.games(number, seats_by_version(entries))
    return document.system.next_step(document, seeds_of(store, tournament, document, entries), games).calls_off


def play_on_server(store: Store, document: Document) -> tuple[int, list[Meeting]]:
    """Play a tournament, always all planned games before the next step; return its number and its planned games."""
    field = Field(store, [name.removesuffix(" v1") for name in NAMES])
    number = create(store, document, field.user_id, datetime.now(UTC)).id
    plan(store, number)
    entries = participants(store.tournaments.get(number), store.tournaments.entries(number))
    met: list[Meeting] = []
    while store.tournaments.get(number).state == "running":
        waiting = {game.id: game for entry in entries for game in store.queue.of_version(number, entry.version_id)}
        games = sorted(waiting.values(), key=lambda game: game.spec.sequence)
        met += map(meeting_of, games)
        for game in games:
            assert store.results.commit(result_of(game)) is not None
            if game.spec.sequence % 2 == 0 and is_decided(store, number, document, entries):
                break
        advance(store, number)
    return number, met


APART = {"seeding": "random", "forbidden_pairs": ["ada v1 - bob v1", "cleo v1 - dan v1"]}
"""Requests of single bots in the table of a format."""
AWAY = {"half_point_byes": {"eve v1": [2]}, "late_entries": {"flo v1": 3}, "late_entry_byes": "half-point"}


@pytest.mark.parametrize(
    ("format", "table"),
    [*((name, {}) for name in formats.names()), ("swiss", APART | AWAY), ("knockout", APART)],
)
def test_the_same_games_and_standings_with_and_without_a_server(
    sqlite_store: Store, format: str, table: dict[str, object]
) -> None:
    document = document_of(format, **{format: table} if table else {})
    ledger = rehearse(document)
    number, met = play_on_server(sqlite_store, document)
    assert met == [meeting_of(game) for game in ledger.games]
    theirs, mine = standing(StoredTournament.get(sqlite_store, number)), ledger.table()
    seats = {line.name: line.version_id for line in mine.lines}
    plain = [
        (line.rank, line.name, line.points, line.sonneborn_berger, line.buchholz, line.byes) for line in mine.lines
    ]
    assert plain == [
        (line.rank, line.name, line.points, line.sonneborn_berger, line.buchholz, line.byes) for line in theirs.lines
    ]
    assert [(line.seed, line.half_point_byes) for line in mine.lines] == [
        (line.seed, line.half_point_byes) for line in theirs.lines
    ]
    assert [line.estimate for line in mine.lines] == [line.estimate for line in theirs.lines]
    assert mine.tie_breaks == theirs.tie_breaks
    assert mine.decision == theirs.decision
    assert [seats[line.name] for line in theirs.lines] == [line.version_id for line in mine.lines]
