"""Families: what the arena has of a family of games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.documents.bot import BotItem
from arena.documents.game import GameItem
from arena.documents.rating import LeaderboardLine, PoolItem
from arena.documents.tournament import TournamentItem, TournamentQuery
from arena.services import leaderboard
from arena.services.arena import Arena


@dataclass(frozen=True, slots=True)
class FamilyOverview:
    """Pools of a family, best versions, sample bots, latest games and tournaments."""

    pools: Sequence[PoolItem]
    top: Sequence[LeaderboardLine]
    samples: Sequence[BotItem]
    recent: Sequence[GameItem]
    tournaments: Sequence[TournamentItem]


def overview(arena: Arena, family: str) -> FamilyOverview:
    """Return the overview of a family."""
    store = arena.store
    owner = store.samples.owner_id()
    return FamilyOverview(
        leaderboard.pools(arena, family),
        store.ratings.leaderboard(family, limit=10).items,
        store.bots.page(owner_id=owner, family=family).items if owner else [],
        store.games.latest(family=family, limit=10).items,
        store.tournaments.page(TournamentQuery(family=family, limit=5)).items,
    )
