"""The filters of results, which lists and exports share, as SQL conditions."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Mapped
from sqlmodel import col

from arena.documents.game import GameQuery
from arena.store.base.models import Analysis, Game
from arena.store.games import analyses
from arena.store.tournaments.human_games import GUEST
from referee.rules.core import Kind, Termination


def _is_person(name: Mapped[str]) -> ColumnElement[bool]:
    return (name == GUEST) | name.startswith("@")


def conditions(query: GameQuery, *, worker: str | None = None) -> list[Any]:
    """Return the filters of a query except `bot` as SQL conditions on results; `worker` selects a cluster worker.

    Every filter except `worker` has an index. The database uses one index and applies the other filters to its rows.
    """
    found: list[Any] = [col(Game.commit_number).is_not(None)]
    equal = {
        Game.tournament_id: query.tournament,
        Game.family: query.family,
        Game.variant: query.variant,
        Game.pool: query.pool,
        Game.termination_class: query.termination_class,
        Game.winner: query.winner,
        Game.worker: worker,
    }
    found += [col(column) == value for column, value in equal.items() if value is not None]
    if query.since:
        found.append(col(Game.finished_at) >= query.since)
    if query.until:
        found.append(col(Game.finished_at) < query.until)
    if query.errors:
        found.append(col(Game.termination_class) == Kind.FORFEIT.value)
        found.append(col(Game.termination) != Termination.RESIGNED.value)
        found.append(~((col(Game.winner) == "second") & _is_person(col(Game.first))))
        found.append(~((col(Game.winner) == "first") & _is_person(col(Game.second))))
    if query.is_about_analysis:
        found.append(col(Game.id).in_(select(col(Analysis.game_id)).where(*analyses.conditions(query))))
    return found
