"""Games of two owners, one of whom chose the opponent: their numbers, by which `fold` rates them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from typing import Any

from sqlalchemy import Select, and_, func, or_, select
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.clock import now
from arena.store.base.tables.bots import BotIdentity, Version
from arena.store.base.tables.games import Game
from arena.store.base.tables.people import User
from arena.store.bots.bots import OWNER

MAX_MEETINGS = 10
"""Rated games of two owners in a pool on one day, if one of them chose the opponent; the nth of them counts 1/n."""
_OPEN = ("planned", "queued", "running")
_PLAYER = (
    select(col(BotIdentity.id), col(BotIdentity.owner_id), col(User.name))
    .join(Version, col(Version.bot_id) == col(BotIdentity.id))
    .join(User, col(User.id) == col(BotIdentity.owner_id))
)


def number_meetings(session: Session, games: Sequence[dict[str, Any]]) -> None:
    """Number the rated ones among new games, given as rows between the same two players.

    Those beyond the limit of the day become unrated, and so do games between two bots of one owner. The caller holds
    a lock, so that games planned at the same moment get different numbers.
    """
    rated = [game for game in games if game["is_rated"]]
    if not rated:
        return
    players = {number: session.execute(_PLAYER.where(col(Version.id) == number)).one() for number in _versions(rated)}
    is_own = len({owner for _, owner, _ in players.values()}) == 1
    pool, versions = rated[0]["pool"], [_versions_of(*player) for player in players.values()]
    before = 0 if is_own else _meetings_today(session, pool, versions)
    for number, game in enumerate(rated, before + 1):
        anchors = (side for side in ("first", "second") if players[game[f"{side}_id"]][2] == OWNER)
        game["meeting"], game["anchor"] = number, next(anchors, None)
        game["is_rated"] = not is_own and number <= MAX_MEETINGS


def _versions(games: Sequence[dict[str, Any]]) -> list[int]:
    return [games[0]["first_id"], games[0]["second_id"]]


def _versions_of(bot_id: int, owner_id: int, owner: str) -> Select[Any]:
    """Select the versions of an owner's bots. The arena's bots do not help each other: each is counted alone."""
    mine = col(BotIdentity.id) == bot_id if owner == OWNER else col(BotIdentity.owner_id) == owner_id
    return select(col(Version.id)).join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id)).where(mine)


def _meetings_today(session: Session, pool: str, players: Sequence[Select[Any]]) -> int:
    """Count the numbered games of two players in a pool that ended on this day (UTC) or are not over."""
    first, second = col(Game.first_id), col(Game.second_id)
    mine, theirs = players
    midnight = now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    query = select(func.count()).where(
        col(Game.pool) == pool,
        or_(and_(first.in_(mine), second.in_(theirs)), and_(first.in_(theirs), second.in_(mine))),
        col(Game.meeting) > 0,
        col(Game.is_rated).is_(True),
        or_(col(Game.state).in_(_OPEN), and_(col(Game.state) == "finished", col(Game.finished_at) >= midnight)),
    )
    return session.scalar(query) or 0
