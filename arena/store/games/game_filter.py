"""Filters shared by lists and exports of results."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypedDict

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Mapped
from sqlmodel import col

from arena.documents.analysis import AnalysedGamesQuery
from arena.store.base.models import Analysis, Game
from arena.store.games import analyses
from arena.store.tournaments.human_games import GUEST


class GameFilter(TypedDict, total=False):
    """A filter of results; None matches anything. `since` and `until` apply to the end of a game.

    `analysed` filters by the analysis. `versions` are players on either side, `without` excluded terminations, `worker`
    the cluster worker that played. `with_lost_people=False` excludes games that a person lost. All but `without`,
    `with_lost_people` and `worker` have an index; when filters are combined, one index is used and the others are
    applied to its rows.
    """

    tournament_id: int | None
    family: str | None
    variant: str | None
    pool: str | None
    termination_class: str | None
    winner: str | None
    worker: str | None
    versions: Sequence[int] | None
    since: datetime | None
    until: datetime | None
    without: Sequence[str]
    with_lost_people: bool
    analysed: AnalysedGamesQuery


def _is_person(name: Mapped[str]) -> ColumnElement[bool]:
    return (name == GUEST) | name.startswith("@")


def conditions(games: GameFilter) -> list[Any]:
    """Return the filter as SQL conditions on results, all but `versions`."""
    found: list[Any] = [col(Game.commit_number).is_not(None)]
    for name in ("tournament_id", "family", "variant", "pool", "termination_class", "winner", "worker"):
        if (value := games.get(name)) is not None:
            found.append(col(getattr(Game, name)) == value)
    if since := games.get("since"):
        found.append(col(Game.finished_at) >= since)
    if until := games.get("until"):
        found.append(col(Game.finished_at) < until)
    if without := games.get("without"):
        found.append(col(Game.termination).not_in(without))
    if not games.get("with_lost_people", True):
        found.append(~((col(Game.winner) == "second") & _is_person(col(Game.first))))
        found.append(~((col(Game.winner) == "first") & _is_person(col(Game.second))))
    analysed = games.get("analysed")
    if analysed is not None and analysed.is_about_analysis:
        found.append(col(Game.id).in_(select(col(Analysis.game_id)).where(*analyses.conditions(analysed))))
    return found
