"""Columns of the lists that both pages and commands show. A new column is a line here, and a field of its document."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from arena.documents.archive import PlayedFigures, PlayedMoveItem
from arena.documents.table import Column, Interval, text_column

if TYPE_CHECKING:  # commands start faster without the documents of other lists
    from arena.documents.account import TokenItem
    from arena.documents.archive import ArchiveItem
    from arena.documents.bot import BotItem, VersionItem
    from arena.documents.rating import LeaderboardLine, PoolRating
    from arena.documents.tournament import TournamentItem
    from referee.tournament.standing import StandingItem

LEADERBOARD: tuple[Column[LeaderboardLine], ...] = (
    Column(
        "place",
        "#",
        lambda line: line.rank,
        "place",
        hint="place by rating; grey while provisional",
        is_descending_first=False,
        order=lambda line: line.place,
    ),
    text_column("name", "Bot", lambda line: line.name, "ranked_version", is_heading=True),
    Column(
        "rating",
        "Rating",
        lambda line: line.conservative,
        "rating",
        hint="mu − 3 sigma: a lower bound of the strength with 99.9 % confidence",
    ),
    Column(
        "mu",
        "mu ± 2 sigma",
        lambda line: Interval(line.mu, 2 * line.sigma),
        "interval",
        hint="the estimate with its 95 % interval",
        drop=4,
    ),
    Column(
        "elo",
        "Elo",
        lambda line: None if line.elo is None else Interval(line.elo, line.elo_interval or 0.0),
        "elo",
        hint="Bradley-Terry with draws, from the chosen games; independent of their order",
        drop=2,
    ),
    Column("games", "Games", lambda line: line.games),
    Column("wins", "W", lambda line: line.wins, drop=6),
    Column("draws", "D", lambda line: line.draws, drop=8),
    Column("losses", "L", lambda line: line.losses, drop=7),
    Column("score", "Score", lambda line: line.score, "share", drop=3),
    Column(
        "opponents",
        "Avg. opponent",
        lambda line: line.opponents,
        hint="the average mu of the opponents",
        drop=10,
    ),
    Column(
        "drawn",
        "Draws",
        lambda line: line.draws / line.games if line.games else 0.0,
        "share",
        drop=11,
    ),
    Column("forfeits", "Forfeits", lambda line: line.forfeits, "faults", drop=5),
    Column(
        "beats_next",
        "P(> next)",
        lambda line: line.beats_next,
        "share",
        hint="probability of being stronger than the next bot in the list",
        drop=9,
    ),
    text_column("owner", "Owner", lambda line: line.owner, "user", drop=12),
    text_column(
        "provisional",
        "State",
        lambda line: "provisional" if line.is_provisional else line.state,
        drop=1,
        is_for_terminal=True,
    ),
)

POOL_RATINGS: tuple[Column[PoolRating], ...] = (
    text_column("pool", "Pool", lambda line: line.pool, "pool", is_heading=True),
    text_column("name", "Version", lambda line: line.name, "rated_version"),
    Column("conservative", "Rating", lambda line: line.conservative, "rating"),
    Column("mu", "mu ± 2 sigma", lambda line: Interval(line.mu, 2 * line.sigma)),
    Column("games", "Games", lambda line: line.games),
    Column("wins", "W", lambda line: line.wins, drop=1),
    Column("draws", "D", lambda line: line.draws, drop=3),
    Column("losses", "L", lambda line: line.losses, drop=2),
    Column("forfeits", "Forfeits", lambda line: line.forfeits, drop=4),
)

_STANDINGS: tuple[Column[StandingItem], ...] = (
    Column("rank", "#", lambda line: line.place or line.rank, is_descending_first=False, order=lambda line: line.rank),
    text_column("name", "Bot", lambda line: line.name, "version", is_heading=True),
    Column("points", "Points", lambda line: line.points, "points"),
    Column("games", "Games", lambda line: line.games),
    Column("wins", "W", lambda line: line.wins, drop=1),
    Column("draws", "D", lambda line: line.draws, drop=3),
    Column("losses", "L", lambda line: line.losses, drop=2),
    Column("score", "Score", lambda line: line.score if line.games else None, "share", drop=4),
    Column(
        "sonneborn_berger",
        "SB",
        lambda line: line.sonneborn_berger,
        hint="Sonneborn-Berger: points against each opponent times that opponent's points",
        drop=6,
    ),
)
_OF_FORMATS: tuple[Column[StandingItem], ...] = (
    Column("seed", "Seed no.", lambda line: line.seed, hint="place in the seeding", is_descending_first=False, drop=3),
    Column("buchholz", "Buchholz", lambda line: line.buchholz, "points", hint="the sum of the opponents' points"),
    Column("byes", "Byes", lambda line: line.byes_in_matches, "points", hint="½: a half-point bye"),
    Column("round", "Round", lambda line: line.round, hint="the last round reached"),
)
_FAULTS: tuple[Column[StandingItem], ...] = (
    Column("forfeits", "Forfeits", lambda line: line.forfeits, "faults", drop=5),
    text_column("withdrawn", "State", lambda line: "withdrawn" if line.is_withdrawn else "", is_for_terminal=True),
)


def standings(own: Collection[str]) -> tuple[Column[StandingItem], ...]:
    """Return the columns of the standings; `own` are those that only some formats have, as a `Format` names them."""
    return (*_STANDINGS, *(column for column in _OF_FORMATS if column.key in own), *_FAULTS)


TOURNAMENTS: tuple[Column[TournamentItem], ...] = (
    Column("id", "No.", lambda row: row.id, is_for_terminal=True),
    text_column("name", "Name", lambda row: row.name, "tournament_link", is_heading=True),
    text_column("family", "Family", lambda row: row.family, "family_and_variant", drop=1),
    text_column("format", "Format", lambda row: row.format, "format", drop=2),
    text_column("state", "State", lambda row: row.state, "state"),
    Column(
        "finished_games",
        "Games",
        lambda row: f"{row.finished_games}/{row.planned_games}",
        "games_played",
        hint="with a result, of all where their number is known in advance",
        order=lambda row: row.finished_games,
    ),
    text_column("is_rated", "Rated", lambda row: row.is_rated, css="rest", drop=4),
    Column("start_time", "Start time", lambda row: row.start_time, "start", drop=3),
    Column("finished_at", "End", lambda row: row.finished_at, css="rest", drop=5),
)

BOTS: tuple[Column[BotItem], ...] = (
    text_column("name", "Bot", lambda row: row.name, "bot", is_heading=True),
    text_column("owner", "Owner", lambda row: row.owner, "user", drop=1),
    text_column("plays", "Plays", lambda row: row.families, "families", is_sortable=False, css="plays"),
    Column("versions", "Versions", lambda row: row.versions, drop=3),
    text_column(
        "newest_state",
        "Newest version",
        lambda row: f"v{row.newest} {row.newest_state}" if row.newest else None,
        "newest_version",
        order=lambda row: row.newest_state,
    ),
    Column("created_at", "Since", lambda row: row.created_at, drop=2),
)

VERSIONS: tuple[Column[VersionItem], ...] = (
    Column("number", "Version", lambda row: row.number, "version_number", is_number=False, is_heading=True),
    text_column("state", "State", lambda row: row.state, "state"),
    text_column(
        "plays",
        "Plays",
        lambda row: list(row.families),
        "families_and_pace",
        is_sortable=False,
        css="plays",
        wraps=True,
    ),
    Column("created_at", "Uploaded", lambda row: row.created_at, drop=1),
    text_column("problem", "Problem", lambda row: row.problem, is_for_terminal=True, wraps=True),
)

TOKENS: tuple[Column[TokenItem], ...] = (
    Column("id", "No.", lambda row: row.id, is_for_terminal=True),
    text_column("name", "Name", lambda row: row.name, is_heading=True),
    text_column("scopes", "Scopes", lambda row: row.scopes, "words"),
    Column("created_at", "Created", lambda row: row.created_at, is_number=False, drop=2),
    Column("expires", "Expires", lambda row: row.expires, "expiry", is_number=False),
    Column("last_used", "Last used", lambda row: row.last_used, is_number=False, drop=1),
    text_column(
        "state",
        "State",
        lambda row: "revoked" if row.revoked else "expired" if row.has_expired else "active",
        "token_state",
        is_sortable=False,
    ),
)

ARCHIVE: tuple[Column[ArchiveItem], ...] = (
    Column("number", "No.", lambda row: row.number, "serial", css="id"),
    text_column("family", "Family", lambda row: row.family, "archived_family", is_sortable=False, css="of", drop=1),
    text_column("variant", "Variant", lambda row: row.variant, is_for_terminal=True, drop=5),
    text_column("first", "First", lambda row: row.first, "player", is_sortable=False, css="one"),
    text_column("second", "Second", lambda row: row.second, "player", is_sortable=False, css="two"),
    Column("winner", "Result", lambda row: row.winner, "result", is_sortable=False, css="score"),
    text_column(
        "termination", "Ended by", lambda row: row.termination, "explained", is_sortable=False, css="w how", drop=3
    ),
    Column("length", "Plies", lambda row: row.plies, css="length", drop=2),
    Column("date", "Date", lambda row: row.date or None, "day", css="at", drop=4),
    text_column("source", "Collection", lambda row: row.source, "source", is_sortable=False, css="source", drop=6),
    text_column("id", "Id", lambda row: row.id, is_for_terminal=True, drop=7),
)

MOVES: tuple[Column[PlayedFigures], ...] = (
    text_column(
        "move",
        "Move",
        lambda row: row.shown if isinstance(row, PlayedMoveItem) else "all moves",
        "played_move",
        is_heading=True,
    ),
    Column("games", "Games", lambda row: row.games, "count"),
    text_column(
        "results",
        "Results",
        lambda row: f"{row.first} / {row.draw} / {row.second}",
        "outcomes",
        is_sortable=False,
        css="outcomes",
    ),
    Column(
        "score",
        "Score",
        lambda row: row.score,
        "share",
        hint="share of the points of the side to move",
    ),
    Column(
        "rating",
        "Strength",
        lambda row: row.rating,
        "strength",
        hint="mean of the current mu of the bots that played it",
        drop=2,
    ),
    Column(
        "performance",
        "Performance",
        lambda row: row.performance,
        "strength",
        hint="performance rating: the strength that these results against these opponents suggest",
        drop=4,
    ),
    Column("last", "Last played", lambda row: row.last or None, "day", drop=3),
    text_column(
        "best",
        "Best game",
        lambda row: row.best.serial if row.best else None,
        "best_game",
        is_sortable=False,
        drop=1,
    ),
)
