"""Read access to games: single games with spec and record, lists, and the filters that lists and exports share.

Lists omit specs and records, which are read one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select, tuple_, union_all
from sqlalchemy.orm import Mapped
from sqlmodel import col

from arena.documents.game import ALL_GAMES, EARLY_PLIES, GameItem, GameQuery
from arena.documents.query import PageResponse
from arena.documents.tournament import PlanQuery
from arena.errors import BadValueError, NotFoundError
from arena.store.base.engine import Repository, fetch
from arena.store.base.page import DEFAULT_LIMIT, bounded, cut, read_cursor
from arena.store.base.tables.analyses import Analysis
from arena.store.base.tables.games import Game, Record
from arena.store.base.tables.tournaments import Tournament
from arena.store.games import analyses
from arena.store.games.commit import unpack
from arena.store.tournaments.human_games import GUEST
from referee.game.record import GameRecord
from referee.game.spec import GameSpec, spec_from_json
from referee.rules.core import Kind, Termination


def _is_person(name: Mapped[str]) -> ColumnElement[bool]:
    return (name == GUEST) | name.startswith("@")


def conditions(query: GameQuery, *, worker: str | None = None) -> list[Any]:
    """Return the filters of a query except `bot` as SQL conditions on results; `worker` selects a cluster worker.

    Every filter except `worker` has an index. The database uses one index and applies the other filters to its rows.
    """
    filters: list[Any] = [col(Game.commit_number).is_not(None)]
    equal = {
        Game.tournament_id: query.tournament,
        Game.family: query.family,
        Game.variant: query.variant,
        Game.pool: query.pool,
        Game.termination_class: query.termination_class,
        Game.winner: query.winner,
        Game.worker: worker,
    }
    filters += [col(column) == value for column, value in equal.items() if value is not None]
    if query.since:
        filters.append(col(Game.finished_at) >= query.since)
    if query.until:
        filters.append(col(Game.finished_at) < query.until)
    if query.errors:
        filters.append(col(Game.termination_class) == Kind.FORFEIT.value)
        filters.append(col(Game.termination) != Termination.RESIGNED.value)
        filters.append(~((col(Game.winner) == "second") & _is_person(col(Game.first))))
        filters.append(~((col(Game.winner) == "first") & _is_person(col(Game.second))))
    if query.early:
        filters.append(col(Game.termination) == Termination.RESIGNED.value)
        filters.append(col(Game.plies) < EARLY_PLIES)
    if query.is_about_analysis:
        filters.append(col(Game.id).in_(select(col(Analysis.game_id)).where(*analyses.conditions(query))))
    return filters


LINE = tuple(col(getattr(Game, name)) for name in GameItem.__dataclass_fields__)
"""The columns of a `GameItem`, in its order."""
_ALL = PlanQuery()


class Games(Repository):
    def get(self, game_id: str) -> GameItem:
        """Return one game. Raises NotFoundError."""
        with self._sessions.reading() as session:
            rows = fetch(session, select(*LINE).where(col(Game.id) == game_id))
        if not rows:
            raise NotFoundError("game", game_id)
        return GameItem(*rows[0])

    def spec(self, game_id: str) -> GameSpec:
        """Return the spec of a game. Raises NotFoundError."""
        with self._sessions.reading() as session:
            spec = session.scalar(select(col(Game.spec)).where(col(Game.id) == game_id))
        if spec is None:
            raise NotFoundError("game", game_id)
        return spec_from_json(spec)

    def specs(self, ids: Sequence[str]) -> dict[str, GameSpec]:
        """Return the specs of these games, by id; unknown games are missing."""
        query = select(col(Game.id), col(Game.spec)).where(col(Game.id).in_(ids))
        with self._sessions.reading() as session:
            return {game_id: spec_from_json(spec) for game_id, spec in fetch(session, query)}

    def record(self, game_id: str) -> GameRecord:
        """Return the record of a game. Raises NotFoundError for games without a result."""
        with self._sessions.reading() as session:
            data = session.scalar(select(col(Record.data)).where(col(Record.game_id) == game_id))
        if data is None:
            raise NotFoundError("record of game", game_id)
        return unpack(data)

    def record_bytes(self, ids: Sequence[str]) -> float | None:
        """Return the mean size of the stored records of these games; None if there is no record."""
        query = select(func.avg(func.length(col(Record.data)))).where(col(Record.game_id).in_(ids))
        with self._sessions.reading() as session:
            found = session.scalar(query)
        return None if found is None else float(found)

    def of_tournament(self, tournament_id: int, query: PlanQuery = _ALL) -> PageResponse[GameItem]:
        """Return games of a tournament in planned order."""
        limit, narrow = bounded(query.limit), _of_plan(tournament_id, query)
        if keys := read_cursor(query.after, int):
            narrow.append(col(Game.sequence) > keys[0])
        rows = select(*LINE).where(*narrow).order_by(col(Game.sequence)).limit(limit + 1)
        with self._sessions.reading() as session:
            lines = [GameItem(*row) for row in fetch(session, rows)]
        return cut(lines, limit, lambda line: (line.sequence,))

    def schedule(
        self, tournament_id: int, query: PlanQuery, *, sort: str, is_descending: bool, offset: int
    ) -> tuple[list[GameItem], int]:
        """Return games of a tournament from `offset` on, sorted by a column of `GameItem`, and the total number."""
        if sort not in GameItem.__dataclass_fields__:
            raise BadValueError(f"invalid sort key {sort!r}")
        key, narrow = col(getattr(Game, sort)), _of_plan(tournament_id, query)
        order = [key.desc().nulls_last() if is_descending else key.asc().nulls_last(), col(Game.sequence)]
        rows = select(*LINE).where(*narrow).order_by(*order).offset(offset).limit(bounded(query.limit))
        with self._sessions.reading() as session:
            count = session.scalar(select(func.count()).select_from(Game).where(*narrow)) or 0
            return [GameItem(*row) for row in fetch(session, rows)], count

    def id_of(self, tournament_id: int, sequence: int) -> str | None:
        """Return the id of the game with this number in a tournament's plan; None if there is no such game."""
        mine = (col(Game.tournament_id) == tournament_id, col(Game.sequence) == sequence)
        with self._sessions.reading() as session:
            return session.scalar(select(col(Game.id)).where(*mine))

    def openings(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the start position and opening moves of each game as one text; empty for the variant's start."""
        query = select(col(Game.id), col(Game.spec)).where(col(Game.id).in_(ids))
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        return {key: " ".join(filter(None, (spec.get("position"), *spec.get("opening", ())))) for key, spec in rows}

    def latest(
        self,
        query: GameQuery = ALL_GAMES,
        *,
        versions: Sequence[int] | None = None,
        against: Sequence[int] | None = None,
    ) -> PageResponse[GameItem]:
        """Return games with a result, latest first.

        `versions` selects the games of these versions on either side (instead of the query's `bot`), `against` limits
        them to these opponents. Games filtered by time are ordered by their end, others by their commit number.
        """
        limit = bounded(query.limit)
        narrow = conditions(query)
        is_dated = versions is None and bool(query.since or query.until)
        if is_dated:
            keys = (col(Game.finished_at), col(Game.commit_number))
            if last := read_cursor(query.after, datetime, int):
                narrow.append(tuple_(*keys) < tuple_(*last))
            selected = select(*LINE).where(*narrow).order_by(*(key.desc() for key in keys))
        else:
            if last := read_cursor(query.after, int):
                narrow.append(col(Game.commit_number) < last[0])
            selected = select(*LINE).where(*narrow)
            if versions is not None:
                selected = _of_versions(versions, against, narrow, limit + 1)
            selected = selected.order_by(col(Game.commit_number).desc())
        with self._sessions.reading() as session:
            lines = [GameItem(*row) for row in fetch(session, selected.limit(limit + 1))]
        return cut(
            lines, limit, lambda line: (line.finished_at, line.commit_number) if is_dated else (line.commit_number,)
        )

    def by_figure(self, query: GameQuery, *, versions: Sequence[int] | None = None) -> PageResponse[GameItem]:
        """Return analysed games sorted by the figure that a query names in `sort`, then by commit number, latest first.

        `versions` selects the games of these versions on either side, instead of the query's `bot`.
        """
        limit, narrow, is_falling = bounded(query.limit), conditions(query), query.order == "falling"
        if versions is not None:
            narrow.append(col(Game.first_id).in_(versions) | col(Game.second_id).in_(versions))
        key = col(getattr(Analysis, query.sort))
        if last := read_cursor(query.after, float, int):
            beyond = key < last[0] if is_falling else key > last[0]
            narrow.append(beyond | ((key == last[0]) & (col(Game.commit_number) < last[1])))
        selected = (
            select(key, *LINE)
            .join(Analysis, col(Analysis.game_id) == col(Game.id))
            .where(*narrow, key.is_not(None))
            .order_by(key.desc() if is_falling else key, col(Game.commit_number).desc())
            .limit(limit + 1)
        )
        with self._sessions.reading() as session:
            rows = list(fetch(session, selected))
        return cut(rows, limit, lambda row: (float(row[0]), row.commit_number)).map(lambda row: GameItem(*row[1:]))

    def in_state(self, state: str, limit: int = DEFAULT_LIMIT) -> list[GameItem]:
        """Return some games of all tournaments in one state, such as those being played now."""
        query = select(*LINE).where(col(Game.state) == state).limit(bounded(limit))
        with self._sessions.reading() as session:
            return [GameItem(*row) for row in fetch(session, query)]

    def counts(self, tournament_id: int) -> dict[str, int]:
        """Return the number of games of a tournament in each state; planned games include those not stored yet."""
        query = select(col(Game.state), func.count()).where(col(Game.tournament_id) == tournament_id)
        with self._sessions.reading() as session:
            found: dict[str, int] = dict(fetch(session, query.group_by(col(Game.state))))
            if later := session.scalar(select(col(Tournament.later_games)).where(col(Tournament.id) == tournament_id)):
                found["planned"] = found.get("planned", 0) + later
        return found


def _of_plan(tournament_id: int, query: PlanQuery) -> list[Any]:
    filters: list[Any] = [col(Game.tournament_id) == tournament_id]
    if query.state is not None:
        filters.append(col(Game.state) == query.state)
    if query.termination is not None:
        filters.append(col(Game.termination) == query.termination)
    if query.version is not None:
        filters.append((col(Game.first) == query.version) | (col(Game.second) == query.version))
    return filters


def _of_versions(
    versions: Sequence[int], against: Sequence[int] | None, conditions: Sequence[Any], limit: int
) -> Select[Any]:
    """Select at least the latest `limit` games of these versions, by a short index walk per version and side."""
    walks = []
    for mine, theirs in ((Game.first_id, Game.second_id), (Game.second_id, Game.first_id)):
        for version in dict.fromkeys(versions):
            for rival in [None] if against is None else dict.fromkeys(against):
                side = [col(mine) == version] if rival is None else [col(mine) == version, col(theirs) == rival]
                walk = (
                    select(col(Game.id)).where(*side, *conditions).order_by(col(Game.commit_number).desc()).limit(limit)
                )
                walks.append(select(walk.subquery().c.id))
    if not walks:
        return select(*LINE).where(col(Game.id).is_(None))
    return select(*LINE).where(col(Game.id).in_(union_all(*walks)))
