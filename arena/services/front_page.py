"""Contents of the front page and of the pages of families: games, tournaments, leaders, latest results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from arena.documents.bot import BotItem
from arena.documents.game import GameItem
from arena.documents.rating import LeaderboardLine, PoolItem
from arena.documents.tournament import TournamentItem, TournamentQuery
from arena.services import leaderboard
from arena.services.arena import Arena
from arena.store import Store
from referee.game.record import GameRecord
from referee.game.spec import GameSpec
from referee.rules import families

MAX_LIVE = 10
"""Maximum of running games shown as boards; without any, latest results are shown."""
MAX_NEXT = 6
"""Maximum of games listed as next."""


@dataclass(frozen=True, slots=True)
class FrontPage:
    """The running games, the strongest first, with their plans; without any, the latest result of every family.

    Games of people without an account are left out.
    """

    leaders: dict[str, tuple[int, Sequence[LeaderboardLine]]]
    """The number of rated games and the first lines of the leaderboard, by family."""
    running: list[GameItem]
    specs: dict[str, GameSpec]
    following: list[GameItem]
    tournaments: list[TournamentItem]
    finished: list[TournamentItem]
    recent: list[GameItem]
    ends: list[tuple[GameItem, GameRecord]] = field(default_factory=list)


def read(arena: Arena) -> FrontPage:
    """Return what the front page shows."""
    store = arena.store
    games = {one.pool: one.games for one in store.ratings.pools()}
    running = _strongest_first(store, store.games.in_state("running", MAX_LIVE, with_guests=False))
    return FrontPage(
        leaders={name: (games.get(name, 0), store.ratings.leaderboard(name, limit=5).items) for name in families()},
        running=running,
        specs={game.id: store.games.spec(game.id) for game in running},
        following=store.games.in_state("queued", MAX_NEXT, with_guests=False),
        tournaments=store.tournaments.in_states("running", "draining", "paused", "scheduled")[:12],
        finished=store.tournaments.page(TournamentQuery(state="finished", limit=5)).items,
        recent=store.games.latest(limit=8, with_guests=False).items,
        ends=[] if running else _ends(store),
    )


def _strongest_first(store: Store, games: Sequence[GameItem]) -> list[GameItem]:
    """Sort games by the ratings of both bots in their pool. The page shows the first one large."""
    bots = sorted({one for game in games for one in (game.first_id, game.second_id)})
    pools = {(line.pool, line.version_id): line.conservative for line in store.ratings.of_versions(bots)}

    def strength(game: GameItem) -> float:
        return sum(pools.get((game.pool, one), 0.0) for one in (game.first_id, game.second_id))

    return sorted(games, key=strength, reverse=True)


def _ends(store: Store) -> list[tuple[GameItem, GameRecord]]:
    """Return the latest result of every family with its record, latest first."""
    latest = [line for name in families() for line in store.games.latest(family=name, limit=1, with_guests=False).items]
    latest.sort(key=lambda line: -(line.commit_number or 0))
    return [(line, store.games.record(line.id)) for line in latest]


@dataclass(frozen=True, slots=True)
class FamilyOverview:
    """Pools of a family, best versions, sample bots, latest games and tournaments."""

    pools: Sequence[PoolItem]
    top: Sequence[LeaderboardLine]
    samples: Sequence[BotItem]
    recent: Sequence[GameItem]
    tournaments: Sequence[TournamentItem]


def of_family(arena: Arena, family: str) -> FamilyOverview:
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
