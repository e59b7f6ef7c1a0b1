"""Tables and documents: a column and the field of its document have one name and one type."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_type_hints

import pytest
from sqlmodel import SQLModel

from arena.documents.account import AuditItem, TokenItem, UserItem
from arena.documents.analysis import AnalysisFigures
from arena.documents.archive import ImportResponse
from arena.documents.bot import BotItem, PresenceItem, VersionItem
from arena.documents.game import GameItem
from arena.documents.human_game import HumanGame
from arena.documents.rating import ChangeItem, PoolRating
from arena.documents.schedule import ScheduleItem
from arena.documents.service import VoidItem
from arena.documents.tournament import EntryItem, TournamentItem
from arena.store.base.engine import table_of
from arena.store.base.tables import analyses, archive, bots, games, operations, people, ratings, tournaments

OTHERS: dict[tuple[type[SQLModel], type[Any]], set[str]] = {
    (analyses.Analysis, AnalysisFigures): set(),
    (operations.Audit, AuditItem): {"user"},
    (bots.BotIdentity, BotItem): {"owner", "families", "versions", "newest", "newest_state"},
    (tournaments.Entry, EntryItem): {"name", "bot", "version", "owner_id"},
    (games.Game, GameItem): set(),
    (ratings.RatingChange, ChangeItem): {"number", "finished_at", "opponent", "points"},
    (bots.RemotePresence, PresenceItem): set(),
    (tournaments.Schedule, ScheduleItem): set(),
    (games.StoredHumanGame, HumanGame): {"id", "state", "attempt", "is_rated"},
    (archive.StoredImport, ImportResponse): {"file", "format", "known", "state", "bad"},
    (people.Token, TokenItem): {"scopes"},
    (tournaments.Tournament, TournamentItem): {"priority"},
    (people.User, UserItem): {"role"},
    (bots.Version, VersionItem): {"bot", "owner", "remarks", "sha256", "families", "fit_from_ms", "state"},
    (ratings.VersionRating, PoolRating): {"name", "is_provisional"},
    (games.Void, VoidItem): {"tournament_id", "family", "first", "second"},
}
"""The fields of each document that its table has not, or has with another type: from joins, counts and parsed texts."""


@pytest.mark.parametrize(("table", "document"), OTHERS)
def test_document_has_the_columns_of_its_table_except_those_named(table: type[SQLModel], document: type[Any]) -> None:
    assert differing(table, document) == OTHERS[table, document]


def differing(table: type[SQLModel], document: type[Any]) -> set[str]:
    """Return the fields of a document that its table has not, or has with another type."""
    columns, stored, shown = table_of(table).c, get_type_hints(table), get_type_hints(document)
    return {
        field.name
        for field in fields(document)
        if field.name not in columns or _plain(stored[field.name]) != _plain(shown[field.name])
    }


def _plain(hint: object) -> str:
    """Return a type in words. A document promises less of a container than its table: reading only."""
    text = str(hint).replace("collections.abc.", "").replace("typing.", "")
    return text.replace("dict[", "Mapping[").replace("list[", "Sequence[")


def test_a_corrected_rating_change_has_the_columns_of_a_rating_change() -> None:
    corrected, change = table_of(ratings.RebuiltChange).c, table_of(ratings.RatingChange).c
    assert {column.name for column in corrected} == {column.name for column in change} | {"rebuild_id"}
