"""Reads news from the database: forfeits, tournaments that ended, new leaders of pools."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from arena.features.webhooks.documents import Kind
from arena.store import Store
from arena.store.base.engine import fetch
from arena.store.base.tables.games import Game
from arena.store.base.tables.tournaments import Tournament
from arena.store.tournaments.tournaments import tournament_item
from arena.tournaments.standing import standing
from arena.tournaments.stored_tournament import StoredTournament
from referee.tournament.part import SettingsError

PORTION = 500
"""Maximum number of games that are read at a time."""
SHOWN_PLACES = 3
"""Number of first places in the news of a tournament."""
_LEADERS = 50
"""Lines of a leaderboard in which the first one with a rank is sought."""

_READ = (
    *("id", "commit_number", "tournament_id", "family", "pool", "first", "second", "winner", "is_rated"),
    *("termination", "termination_class", "detail"),
)
_GAME = tuple(col(getattr(Game, name)) for name in _READ)


@dataclass(frozen=True, slots=True)
class News:
    """One thing that happened. `key` names it for good, `text` tells it in a sentence, `path` is its page."""

    kind: Kind
    key: str
    text: str
    path: str
    data: Mapping[str, Any]


def forfeits(store: Store, after: int) -> tuple[list[News], int, set[str]]:
    """Return the forfeits of the next games by commit number, the last number read, and the pools of those games."""
    query = (
        select(*_GAME, col(Tournament.name).label("title"))
        .join(Tournament, col(Tournament.id) == col(Game.tournament_id))
        .where(col(Game.commit_number) > after)
        .order_by(col(Game.commit_number))
        .limit(PORTION)
    )
    with store.reading() as session:
        rows = fetch(session, query)
    lost = [_forfeit(row) for row in rows if row.termination_class == "forfeit"]
    return lost, max((row.commit_number for row in rows), default=after), {row.pool for row in rows if row.is_rated}


def _forfeit(game: Any) -> News:
    loser, winner = (game.second, game.first) if game.winner == "first" else (game.first, game.second)
    detail = f" ({game.detail})" if game.detail else ""
    return News(
        "forfeit",
        f"forfeit {game.id}",
        f"{loser} lost to {winner} by {game.termination}{detail} in {game.title}",
        f"/games/{game.id}",
        {
            "game": game.id,
            "family": game.family,
            "tournament": game.tournament_id,
            "bot": loser,
            "opponent": winner,
            "termination": game.termination,
            "detail": game.detail,
        },
    )


def ended(store: Store, since: datetime, known: Collection[str]) -> Iterator[News]:
    """Yield the tournaments that have ended since that time, but for the news with `known` keys."""
    is_new = (col(Tournament.state).in_(("finished", "cancelled", "failed")), col(Tournament.finished_at) >= since)
    with store.reading() as session:
        rows = list(session.scalars(select(Tournament).where(*is_new).order_by(col(Tournament.finished_at))))
        items = [tournament_item(row) for row in rows]
    for item in items:
        # A tournament that is extended ends again.
        key = f"end {item.id} {item.finished_at:%Y-%m-%dT%H:%M:%S}"
        if key in known:
            continue
        first = _first(StoredTournament(store, item))
        places = ": " + ", ".join(f"{place}. {name}" for place, name in enumerate(first, 1)) if first else ""
        data = {"tournament": item.id, "name": item.name, "family": item.family, "format": item.format}
        data |= {"state": item.state, "games": item.finished_games, "first": first}
        yield News("end", key, f"{item.name} is {item.state}{places}", f"/tournaments/{item.id}", data)


def _first(stored: StoredTournament) -> list[str]:
    """Return the versions in the first places; none if the document was stored by another version of the arena."""
    try:
        return [line.name for line in standing(stored).lines if line.games][:SHOWN_PLACES]
    except SettingsError:
        return []


def leader(store: Store, pool: str, commit: int) -> tuple[News, int] | None:
    """Return who leads a pool after a commit number, with the id of the version; None if no version has a rank."""
    for line in store.ratings.leaderboard(pool, limit=_LEADERS).items:
        if line.rank == 1:
            data = {"pool": pool, "bot": line.name, "rating": round(line.conservative, 2), "games": line.games}
            family = pool.partition("/")[0]
            text = f"{line.name} leads {pool} with {line.conservative:.2f}"
            key = f"leader {pool} {line.version_id} {commit}"
            return News("leader", key, text, f"/{family}/leaderboard?pool={pool}", data), line.version_id
    return None
