"""Games as a reader may see them: plan, record once they are over, and the bots' standard error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from arena.documents.identity import Identity
from arena.documents.page import PageQuery, PageResponse
from arena.documents.service import VoidItem
from arena.errors import ArenaError, ForbiddenError, NotFoundError
from arena.services.access import may_read_log, shown_void
from arena.services.arena import Arena
from arena.store.base.models import RatingChange
from arena.store.games.games import GameLine
from referee.game.record import GameRecord
from referee.game.spec import GameSpec

Side = Literal["first", "second"]
SIDES: tuple[Side, Side] = ("first", "second")
OVER = ("finished", "void", "cancelled")
"""Final states of a game."""


class NoLogError(ArenaError):
    """The game has no log because it has no record yet."""

    kind = "not-found"


def voids(arena: Arena, by: Identity | None, query: PageQuery) -> PageResponse[VoidItem]:
    """Return void attempts at games as far as a reader may see them, latest first."""
    return arena.store.voids.page(query).map(lambda line: shown_void(arena.settings, by, line))


@dataclass(frozen=True, slots=True)
class GameDetails:
    """A game with all that is stored of it. `changes` (of ratings) and `owners` are keyed by version id."""

    line: GameLine
    spec: GameSpec
    record: GameRecord | None
    changes: Mapping[int, RatingChange]
    owners: Mapping[int, str]

    def version_of(self, side: Side) -> int:
        """Return the id of the version that plays a side."""
        return self.line.first_id if side == "first" else self.line.second_id

    def may_read_log(self, side: Side, by: Identity | None) -> bool:
        """Return whether a reader may see the standard error of the bot on that side."""
        return may_read_log(by, self.owners.get(self.version_of(side), ""))


def read(arena: Arena, game_id: str) -> GameDetails:
    """Return a game with its plan, record and rating changes. Raises NotFoundError."""
    store = arena.store
    line = store.games.get(game_id)
    record = record_of(arena, game_id) if line.state in OVER else None
    owners = {number: row.owner for number, row in store.versions.lines([line.first_id, line.second_id]).items()}
    return GameDetails(line, store.games.spec(game_id), record, store.ratings.of_game(game_id), owners)


def record_of(arena: Arena, game_id: str) -> GameRecord | None:
    """Return the record of a game, or None if it has none yet."""
    try:
        return arena.store.games.record(game_id)
    except NotFoundError:
        return None


def read_log(arena: Arena, game_id: str, side: Side, by: Identity) -> tuple[GameLine, str]:
    """Return a game and the tail of a bot's standard error in it. Raises NotFoundError, NoLogError, ForbiddenError."""
    game = read(arena, game_id)
    if not game.may_read_log(side, by):
        owner = game.owners.get(game.version_of(side), "")
        raise ForbiddenError(f"the log of {side} is for its owner, {owner}", hint="ask them or an organiser")
    if game.record is None:
        state = game.line.state
        raise NoLogError(f"game {game_id} has no log yet: it is {state}", state=state)
    return game.line, game.record.logs.get(side, "")
