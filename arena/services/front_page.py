"""Contents of the front page and of the pages of families: games, tournaments, leaders, latest results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from arena.analysis.marking import is_turning_point
from arena.documents.analysis import AnalysedMove
from arena.documents.bot import BotItem
from arena.documents.game import GameItem, GameQuery
from arena.documents.rating import LeaderboardLine, PoolItem
from arena.documents.schedule import ScheduleItem
from arena.documents.tournament import TournamentItem, TournamentQuery
from arena.services import analysis, leaderboard
from arena.services.arena import Arena
from arena.store import Store
from referee.game.record import GameRecord
from referee.game.spec import GameSpec
from referee.rules import families

MAX_LIVE = 10
"""Maximum of running games shown as boards; without any, the game of the day is shown."""
MAX_NEXT = 6
"""Maximum of games listed as next."""
MAX_CANDIDATES = 60
"""Number of latest results from which the game of the day is chosen."""
MIN_PLIES = 12
"""Minimum length of the game of the day."""
_DAY = timedelta(days=1)

Ratings = Mapping[tuple[str, int], float]
"""Conservative ratings by pool and version."""


@dataclass(frozen=True, slots=True)
class FrontPage:
    """Contents of the front page.

    `running` are the games in progress, the strongest first; `of_the_day` is set if there are none.
    `schedules` are the enabled ones, the next to fire first. `following` are queued games. `ratings` are those of
    the shown bots.
    """

    leaders: dict[str, tuple[int, Sequence[LeaderboardLine]]]
    """The number of rated games and the first lines of the leaderboard, by family."""
    running: list[GameItem]
    specs: dict[str, GameSpec]
    ratings: Ratings
    following: list[GameItem]
    tournaments: list[TournamentItem]
    finished: list[TournamentItem]
    schedules: list[ScheduleItem]
    recent: list[GameItem]
    of_the_day: tuple[GameItem, GameRecord] | None
    turning_point: AnalysedMove | None
    """The costliest turning point of the game of the day; None without one, or without an analysis."""

    @property
    def next_start(self) -> TournamentItem | ScheduleItem | None:
        """The next start: an announced tournament, or the schedule that will create one; None without any."""
        coming: list[tuple[datetime, TournamentItem | ScheduleItem]] = [
            (tournament.start_time, tournament) for tournament in self.tournaments if tournament.state == "scheduled"
        ]
        coming += [(schedule.next_fire, schedule) for schedule in self.schedules if schedule.next_fire]
        return min(coming, key=lambda pair: pair[0])[1] if coming else None


def read(arena: Arena) -> FrontPage:
    store = arena.store
    running = [game for game in store.games.in_state("running") if _is_of_bots(game)]
    latest = store.games.latest(GameQuery(limit=MAX_CANDIDATES)).items
    ratings = _ratings(store, running or latest)
    running = _strongest_first(running, ratings)[:MAX_LIVE]
    chosen = None if running else _game_of_the_day(latest, ratings)
    schedules = [
        (schedule.next_fire, schedule)
        for schedule in store.schedules.all()
        if schedule.is_enabled and schedule.next_fire
    ]
    return FrontPage(
        leaders=leaders(arena, 5),
        running=running,
        specs=store.games.specs([game.id for game in running]),
        ratings=ratings,
        following=[game for game in store.games.in_state("queued", MAX_NEXT) if _is_of_bots(game)],
        tournaments=store.tournaments.in_states("running", "draining", "paused", "scheduled")[:12],
        finished=store.tournaments.page(TournamentQuery(state="finished", limit=5)).items,
        schedules=[schedule for _, schedule in sorted(schedules, key=lambda pair: pair[0])],
        recent=[game for game in latest if _is_of_bots(game) and game.plies][:8],
        of_the_day=(chosen, store.games.record(chosen.id)) if chosen else None,
        turning_point=_turning_point(arena, chosen.id) if chosen else None,
    )


def _turning_point(arena: Arena, game_id: str) -> AnalysedMove | None:
    moves = [move for move in analysis.read(arena, game_id).plies if is_turning_point(move)]
    return max(moves, key=lambda move: move.loss or 0, default=None)


def leaders(arena: Arena, limit: int) -> dict[str, tuple[int, Sequence[LeaderboardLine]]]:
    """Return the number of rated games and the first lines of the leaderboard, by family."""
    ratings = arena.store.ratings
    games = {one.pool: one.games for one in ratings.pools()}
    return {name: (games.get(name, 0), ratings.leaderboard(name, limit=limit).items) for name in families()}


def by_strength(arena: Arena, games: Sequence[GameItem]) -> list[GameItem]:
    """Sort games by the ratings of both players, the strongest first, and those of people last."""
    ranked = _strongest_first(games, _ratings(arena.store, games))
    return sorted(ranked, key=_is_of_bots, reverse=True)


def _is_of_bots(game: GameItem) -> bool:
    """Return whether only bots play. The page shows no games of people, who may have left them."""
    return not game.pool.endswith("/people")


def _ratings(store: Store, games: Sequence[GameItem]) -> Ratings:
    bots = sorted({one for game in games for one in (game.first_id, game.second_id)})
    return {(line.pool, line.version_id): line.conservative for line in store.ratings.of_versions(bots)}


def _strongest_first(games: Sequence[GameItem], ratings: Ratings) -> list[GameItem]:
    """Sort games by the ratings of both bots in their pool. The page shows the first one large."""

    def strength(game: GameItem) -> float:
        return sum(ratings.get((game.pool, one), 0.0) for one in (game.first_id, game.second_id))

    return sorted(games, key=strength, reverse=True)


def _game_of_the_day(latest: Sequence[GameItem], ratings: Ratings) -> GameItem | None:
    """Return the strongest rated game of the last day on which games of bots ended; None if there is none.

    Forfeits and short games do not count.
    """
    fair = [
        game
        for game in latest
        if game.is_rated
        and game.plies >= MIN_PLIES
        and game.termination_class in ("rules", "adjudication")
        and game.finished_at
        and _is_of_bots(game)
    ]
    ends = [game.finished_at for game in fair if game.finished_at]
    of_the_day = [game for game in fair if game.finished_at and game.finished_at > max(ends) - _DAY]
    return next(iter(_strongest_first(of_the_day, ratings)), None)


@dataclass(frozen=True, slots=True)
class FamilyOverview:
    """Pools of a family, best versions, sample bots, latest games and tournaments."""

    pools: Sequence[PoolItem]
    top: Sequence[LeaderboardLine]
    samples: Sequence[BotItem]
    recent: Sequence[GameItem]
    tournaments: Sequence[TournamentItem]


def of_family(arena: Arena, family: str) -> FamilyOverview:
    store = arena.store
    owner = store.samples.owner_id()
    return FamilyOverview(
        leaderboard.pools(arena, family),
        store.ratings.leaderboard(family, limit=10).items,
        store.bots.page(owner_id=owner, family=family).items if owner else [],
        store.games.latest(GameQuery(family=family, limit=10)).items,
        store.tournaments.page(TournamentQuery(family=family, limit=5)).items,
    )
