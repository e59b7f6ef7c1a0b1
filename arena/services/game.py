"""Games as a reader may see them: lists, plan, record once they are over, and the bots' standard error (stderr)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from arena.documents.account import Identity
from arena.documents.game import GameItem, GameQuery, LogResponse, Unrated
from arena.documents.query import PageQuery, PageResponse
from arena.documents.service import VoidItem
from arena.documents.tournament import PlanQuery
from arena.errors import ForbiddenError, NotFoundError
from arena.services import bot
from arena.services.access import may_read_log, shown_void
from arena.services.arena import Arena
from arena.store.base.page import write_cursor
from arena.store.base.tables.ratings import RatingChange
from referee.errors import ArenaError
from referee.game.record import GameRecord
from referee.game.spec import GameSpec
from referee.rules.core import Side


class NoLogError(ArenaError):
    """The game has no log because it has no record yet."""

    kind = "not-found"


# -- lists -------------------------------------------------------------------------------------------------------------


def search(arena: Arena, query: GameQuery) -> PageResponse[GameItem]:
    """Return the matching results, the latest first or in the requested order. Raises NotFoundError, BadValueError."""
    read = arena.store.games.latest if query.sort == "latest" else arena.store.games.by_figure
    return read(query, versions=_versions(arena, query))


def records(arena: Arena, query: GameQuery) -> Iterator[bytes]:
    """Return the stored records of all matching results, oldest first. Raises NotFoundError."""
    return (data for _, data in arena.store.results.records(query, versions=_versions(arena, query)))


def _versions(arena: Arena, query: GameQuery) -> list[int] | None:
    """Return the versions of the query's bot. Raises NotFoundError for an unknown tournament or bot."""
    if query.tournament is not None:
        arena.store.tournaments.get(query.tournament)
    if query.bot is None:
        return None
    return [line.id for line in bot.versions_of(arena, query.bot)]


def voids(arena: Arena, by: Identity | None, query: PageQuery) -> PageResponse[VoidItem]:
    """Return void attempts at games as far as a reader may see them, latest first."""
    return arena.store.voids.page(query).map(lambda line: shown_void(arena.settings, by, line))


def in_state(arena: Arena, state: str, limit: int) -> list[GameItem]:
    return arena.store.games.in_state(state, limit)


class Neighbours(NamedTuple):
    """The games before and after one in its tournament's plan, and its partner with sides swapped."""

    before: GameItem | None
    following: GameItem | None
    swapped: GameItem | None


def neighbours(arena: Arena, line: GameItem) -> Neighbours:
    """Return the previous and the next game of the same tournament."""
    near = arena.store.games.of_tournament(
        line.tournament_id, PlanQuery(limit=3, after=write_cursor(line.sequence - 2))
    ).items
    before = next((game for game in near if game.sequence == line.sequence - 1), None)
    following = next((game for game in near if game.sequence == line.sequence + 1), None)
    swapped = (
        game
        for game in (before, following)
        if game and game.pair == line.pair and game.round == line.round and game.first_id == line.second_id
    )
    return Neighbours(before, following, next(swapped, None))


# -- one game ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GameDetails:
    """A game with all that is stored about it. Rating `changes` and `owners` are keyed by version id."""

    line: GameItem
    spec: GameSpec
    record: GameRecord | None
    changes: Mapping[int, RatingChange]
    owners: Mapping[int, str]
    unrated: Unrated

    def version_of(self, side: Side) -> int:
        return self.line.first_id if side == "first" else self.line.second_id

    def may_read_log(self, side: Side, by: Identity | None) -> bool:
        """Return whether a reader may see the standard error of the bot on that side."""
        return may_read_log(by, self.owners.get(self.version_of(side), ""))


def find(arena: Arena, game_id: str) -> GameItem:
    """Return a game as lists show it. Raises NotFoundError."""
    return arena.store.games.get(game_id)


def read(arena: Arena, game_id: str) -> GameDetails:
    """Return a game with its plan, record and rating changes. Raises NotFoundError."""
    store = arena.store
    line = store.games.get(game_id)
    record = record_of(arena, game_id) if line.is_over else None
    owners = {number: row.owner for number, row in store.versions.lines([line.first_id, line.second_id]).items()}
    changes = store.ratings.of_game(game_id)
    return GameDetails(line, store.games.spec(game_id), record, changes, owners, _unrated(arena, line, changes, owners))


def _unrated(arena: Arena, line: GameItem, changes: Mapping[int, RatingChange], owners: Mapping[int, str]) -> Unrated:
    """Return why a game leaves a rating unchanged; empty if it changes both, has no result or is void."""
    if not line.is_rated:
        if not line.meeting:
            return "unrated"
        return "same-owner" if len(set(owners.values())) == 1 else "daily-limit"
    if line.commit_number is None or not line.meeting:
        return ""
    for version_id, rival_id, rival in (
        (line.first_id, line.second_id, "second"),
        (line.second_id, line.first_id, "first"),
    ):
        if version_id not in changes:
            before = arena.store.rating_history.before(line.pool, rival_id, line.commit_number)
            is_new = line.anchor == rival or before is None or before.is_provisional
            return "no-established-rating" if is_new else "others-share"
    return ""


def spec_of(arena: Arena, game_id: str) -> GameSpec:
    """Return the plan of a game: players, rules, start and time control. Raises NotFoundError."""
    return arena.store.games.spec(game_id)


def record_of(arena: Arena, game_id: str) -> GameRecord | None:
    """Return the record of a game, or None if it has none yet."""
    try:
        return arena.store.games.record(game_id)
    except NotFoundError:
        return None


def complete_id(arena: Arena, prefix: str) -> str | None:
    """Return the only game id that begins with `prefix`; None if there are none or several."""
    return arena.store.rating_history.game_of(prefix)


def read_log(arena: Arena, game_id: str, side: Side, by: Identity) -> LogResponse:
    """Return the tail of a bot's standard error in a game. Raises NotFoundError, NoLogError, ForbiddenError."""
    game = read(arena, game_id)
    if not game.may_read_log(side, by):
        owner = game.owners.get(game.version_of(side), "")
        raise ForbiddenError(f"the log of {side} is for its owner, {owner}", hint="ask the owner or an organiser")
    if game.record is None:
        state = game.line.state
        raise NoLogError(f"game {game_id} has no log yet: it is {state}", state=state)
    name = game.line.first if side == "first" else game.line.second
    return LogResponse(game_id, side, name, game.record.logs.get(side, ""))
