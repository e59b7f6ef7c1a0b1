"""Which results are meant: the filters that lists and exports of games share."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypedDict

from sqlalchemy import select
from sqlmodel import col

from arena.store.base.models import Analysis, Game
from arena.store.games.analyses import AnalysisFilter


class GameFilter(TypedDict, total=False):
    """What narrows a list of results; None narrows nothing. `since` and `until` are about the end of a game.

    `analysed` is what the analysis of a game must say. `versions` are the players meant, on either side; `without` are
    terminations left out, `worker` the one of a cluster that played. All but `without` and `worker` have an index; what
    is given with another is applied on the way.
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
    analysed: AnalysisFilter | None


def conditions(games: GameFilter) -> list[Any]:
    """Their SQL, all but `versions`: results only."""
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
    if analysed := games.get("analysed"):
        found.append(col(Game.id).in_(select(col(Analysis.game_id)).where(*analysed.conditions)))
    return found
