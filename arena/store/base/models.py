"""The tables of the arena: one schema for SQLite and PostgreSQL.

Times are UTC. JSON columns contain plain data; values that lists and filters need have columns of their own. Every
foreign key and every column by which a page filters or sorts has an index.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, Index, Text, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.clock import now
from arena.documents.account import MAX_ABOUT, MAX_EMAIL, MAX_LINK
from arena.documents.game import GameState
from arena.documents.tournament import CatchUp, TournamentState
from arena.documents.words import Side, Winner
from arena.store.base.fields import blob, created, document, moment, number, word
from referee.bot.file import BotFile
from referee.validation import adapter_of

# -- users -------------------------------------------------------------------------------------------------------------


class User(SQLModel, table=True):
    """A user account. `role` is `author`, `organiser` or `admin`. The log-in form needs a password hash."""

    __tablename__ = "users"
    id: int = number()
    name: str = Field(unique=True, max_length=40)
    role: str = Field(default="author", max_length=16)
    password_hash: str | None = None
    is_active: bool = True
    about: str = Field(default="", max_length=MAX_ABOUT)
    """Public profile text; `link` is a public address."""
    link: str = Field(default="", max_length=MAX_LINK)
    email: str = Field(default="", max_length=MAX_EMAIL, index=True)
    """Private; only for links to reset the password."""
    created_at: datetime = created()


class AccountLink(SQLModel, table=True):
    """A secret link, stored as the SHA-256 of its secret: an invitation, or one that resets the password of `user_id`.

    An invitation can still create `uses_left` accounts, each with its `role`.
    """

    __tablename__ = "account_links"
    digest: str = Field(primary_key=True, max_length=64)
    user_id: int | None = Field(default=None, foreign_key="users.id", index=True)
    role: str = Field(default="", max_length=16)
    uses_left: int = 1
    expires: datetime = moment(index=True)
    created_at: datetime = created()


class Token(SQLModel, table=True):
    """An API token: only the SHA-256 of its secret is stored. `scopes` is a blank-separated list.

    `parent_id` is the token with which this token was made; revoking the parent revokes this token too.
    """

    __tablename__ = "tokens"
    id: int = number()
    user_id: int = Field(foreign_key="users.id", index=True)
    name: str = Field(max_length=80)
    digest: str = Field(unique=True, max_length=64)
    scopes: str = "read"
    created_at: datetime = created()
    expires: datetime | None = moment(nullable=True)
    last_used: datetime | None = moment(nullable=True)
    revoked: datetime | None = moment(nullable=True)
    parent_id: int | None = Field(default=None, foreign_key="tokens.id", index=True)

    @property
    def has_expired(self) -> bool:
        """True once the time `expires` has passed."""
        return self.expires is not None and self.expires <= now()


class Login(SQLModel, table=True):
    """A browser session: the SHA-256 of its cookie, and the CSRF token that its forms must send."""

    __tablename__ = "logins"
    digest: str = Field(primary_key=True, max_length=64)
    user_id: int = Field(foreign_key="users.id", index=True)
    csrf: str = Field(max_length=64)
    created_at: datetime = created()
    expires: datetime = moment(index=True)


class LoginAttempt(SQLModel, table=True):
    """Counter of recent wrong log-ins or of recent requests. `key` is the SHA-256 of, for example, an IP address."""

    __tablename__ = "login_attempts"
    key: str = Field(primary_key=True, max_length=64)
    count: float = 0.0
    updated_at: datetime = moment()


class TrustedDevice(SQLModel, table=True):
    """A device from which a user has logged in: the SHA-256 of its browser cookie or of its IP address."""

    __tablename__ = "trusted_devices"
    user_id: int = Field(primary_key=True, foreign_key="users.id")
    digest: str = Field(primary_key=True, max_length=64, index=True)
    seen: datetime = moment()


# -- bots --------------------------------------------------------------------------------------------------------------


class BotIdentity(SQLModel, table=True):
    """A bot: a name with an owner, independent of its versions."""

    __tablename__ = "bots"
    id: int = number()
    name: str = Field(unique=True, max_length=40)
    owner_id: int = Field(foreign_key="users.id", index=True)
    description: str = ""
    is_retired: bool = False
    plays_people: bool = False
    """True if the owner lets people play against the bot."""
    created_at: datetime = created()


class Version(SQLModel, table=True):
    """One immutable upload of a bot. `name` is its name in records: `bot v3`.

    `bundle` is the SHA-256 of the stored bundle, empty for a remote bot and for a sample bot (a command of this
    installation).
    `state` is `uploaded`, `checking`, `active`, `failed` or `retired`; only active versions enter tournaments.
    """

    __tablename__ = "versions"
    __table_args__ = (UniqueConstraint("bot_id", "number"),)
    id: int = number()
    bot_id: int = Field(foreign_key="bots.id", index=True)
    number: int
    name: str = Field(unique=True, max_length=60)
    bundle: str = Field(default="", max_length=64, index=True)
    size_bytes: int = 0
    file: dict[str, Any] = document(dict)
    """Its `bot.toml`, a `BotFile` as plain data. Its row, not this, says which capabilities a check found."""
    capabilities: dict[str, Any] = document(dict)
    state: str = Field(default="uploaded", max_length=16, index=True)
    report: dict[str, Any] = document(dict)
    log: str = Field(default="", sa_column=Column(Text, nullable=False))
    problem: str = ""
    place: str = Field(default="", max_length=16)
    """Where the version runs: empty for the arena's sandbox, `remote` for its author's machine."""
    follows_id: int | None = Field(default=None, foreign_key="versions.id", index=True)
    """The version from whose ratings this one starts (its mu, with a wide sigma)."""
    created_at: datetime = created()
    checked: datetime | None = moment(nullable=True)

    @property
    def bot_file(self) -> BotFile:
        """Its `bot.toml`, as it was read at the upload. A key that is newer than the version has its default."""
        file: BotFile = adapter_of(BotFile).validate_python(self.file)
        return file


class RemotePresence(SQLModel, table=True):
    """The latest report on the connection of a remote version, made at `seen`. `latency_ms` is a round-trip time."""

    __tablename__ = "presences"
    version_id: int = Field(primary_key=True, foreign_key="versions.id", sa_column_kwargs={"autoincrement": False})
    is_connected: bool = False
    seen: datetime = moment()
    games: int = 0
    most_games: int = 0
    latency_ms: float | None = None
    is_open: bool = False


class VersionFamily(SQLModel, table=True):
    """A family that a version plays. `variants` are those found playable by its check, or announced by a remote bot."""

    __tablename__ = "version_families"
    version_id: int = Field(primary_key=True, foreign_key="versions.id")
    family: str = Field(primary_key=True, max_length=32, index=True)
    variants: list[str] = document(list)


# -- tournaments -------------------------------------------------------------------------------------------------------


class Schedule(SQLModel, table=True):
    """A recurring tournament: a cron expression in a time zone, and the template of its tournaments.

    `catch_up` is the reaction to fire times missed during downtime: `skip` (none), `once` (one run for all) or `all`.
    """

    __tablename__ = "schedules"
    id: int = number()
    name: str = Field(unique=True, max_length=80)
    cron: str = Field(max_length=80)
    timezone: str = Field(default="UTC", max_length=64)
    catch_up: CatchUp = word(8, "once")
    template: dict[str, Any] = document(dict)
    is_enabled: bool = True
    next_fire: datetime | None = moment(nullable=True, index=True)
    created_by: int = Field(foreign_key="users.id", index=True)
    created_at: datetime = created()


class Tournament(SQLModel, table=True):
    """A tournament. `settings` is the whole document it was created from.

    `state`: `scheduled`, `running`, `paused`, `draining` (running games finish, then paused), `finished`, `cancelled`;
    `open` for the games that people start at any time.
    """

    __tablename__ = "tournaments"
    __table_args__ = (
        UniqueConstraint("schedule_id", "fire_time"),
        Index("ix_tournaments_start_time", "start_time", "id"),
        Index("ix_tournaments_family_start_time", "family", "start_time", "id"),
        Index("ix_tournaments_state_start_time", "state", "start_time", "id"),
    )
    id: int = number()
    name: str = Field(max_length=120)
    family: str = Field(max_length=32)
    variant: str = Field(max_length=120)
    options: dict[str, Any] = document(dict)
    format: str = Field(max_length=16)
    settings: dict[str, Any] = document(dict)
    pool: str = Field(max_length=200, index=True)
    is_rated: bool = True
    is_challenge: bool = False
    """True if a player chose the opponent: the rules of `fold` against farmed ratings apply to its games."""
    state: TournamentState = word(16, "scheduled")
    problem: str = ""
    start_time: datetime = moment()
    started_at: datetime | None = moment(nullable=True)
    finished_at: datetime | None = moment(nullable=True, index=True)
    planned_games: int = 0
    """Number of games that are over or still to be played: all but the cancelled ones."""
    later_games: int = 0
    """Number of planned games that have no row yet, as a plan known in advance is stored in windows."""
    finished_games: int = 0
    """Number of games that are over: those with a result and those given up."""
    findings: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True), nullable=True))
    """Statistical findings after the end; empty with too few results, None before the end."""
    schedule_id: int | None = Field(default=None, foreign_key="schedules.id", index=True)
    fire_time: datetime | None = moment(nullable=True)
    created_by: int = Field(foreign_key="users.id", index=True)
    created_at: datetime = created()

    @property
    def priority(self) -> int:
        """Priority of this tournament's games over those of other tournaments; stored in the settings."""
        return int(self.settings.get("priority", 0))


class Entry(SQLModel, table=True):
    """A version entered in a tournament. `seat` is its place among the entries, `eligibility` says why it may play.

    `suspended` is the reason if the coordinator has withdrawn the version.
    """

    __tablename__ = "entries"
    __table_args__ = (UniqueConstraint("tournament_id", "version_id"), UniqueConstraint("tournament_id", "seat"))
    id: int = number()
    tournament_id: int = Field(foreign_key="tournaments.id")
    version_id: int = Field(foreign_key="versions.id", index=True)
    seat: int
    eligibility: str = ""
    withdrawn: datetime | None = moment(nullable=True)
    suspended: str = ""


class Follow(SQLModel, table=True):
    """A bot, a tournament or a person that a user follows: exactly one of them. Its news become notices of the user."""

    __tablename__ = "follows"
    __table_args__ = (
        UniqueConstraint("user_id", "bot_id"),
        UniqueConstraint("user_id", "tournament_id"),
        Index("ix_follows_user_id_person_id", "user_id", "person_id", unique=True),
    )
    id: int = number()
    user_id: int = Field(foreign_key="users.id")
    bot_id: int | None = Field(default=None, foreign_key="bots.id", index=True)
    tournament_id: int | None = Field(default=None, foreign_key="tournaments.id", index=True)
    person_id: int | None = Field(default=None, index=True)
    """Number of the followed user. No foreign key: SQLite could add one only by copying the table."""
    followed_at: datetime = created()


# -- games -------------------------------------------------------------------------------------------------------------


class Game(SQLModel, table=True):
    """A planned game, and its result once there is one.

    `id` is the content hash of its spec. `sequence` numbers the games of a tournament in planned order. `commit_number`
    numbers the results of all tournaments in the order in which they were committed and rated. `state`: `planned`,
    `queued`, `running`, `finished`, `void` (given up) or `cancelled`. `attempt` counts the dispatches, except those
    taken back before the game started. `lease_owner` is the coordinator that dispatched the game or committed its
    result, `worker` the cluster worker that played it. `is_rated` is copied from the tournament during planning.
    """

    __tablename__ = "games"
    __table_args__ = (
        UniqueConstraint("tournament_id", "sequence"),
        Index("ix_games_family_commit_number", "family", "commit_number"),
        # With variant and winner, so that the results by side are counted in the index alone.
        Index("ix_games_pool_commit_number", "pool", "commit_number", "variant", "winner"),
        # For leaderboards of the past: the last commit number of a pool at a moment.
        Index("ix_games_pool_finished_at", "pool", "finished_at", "commit_number"),
        Index("ix_games_first_commit_number", "first_id", "commit_number"),
        Index("ix_games_second_commit_number", "second_id", "commit_number"),
        Index("ix_games_pairing_commit_number", "first_id", "second_id", "commit_number"),
        Index("ix_games_termination_class_commit_number", "termination_class", "commit_number"),
        Index("ix_games_variant_commit_number", "variant", "commit_number"),
        Index("ix_games_winner_commit_number", "winner", "commit_number"),
        Index("ix_games_finished_at_commit_number", "finished_at", "commit_number"),
        Index("ix_games_tournament_state", "tournament_id", "state", "sequence"),
        Index("ix_games_tournament_commit_number", "tournament_id", "commit_number"),
        Index("ix_games_state_lease_owner", "state", "lease_owner"),
    )
    id: str = Field(primary_key=True, max_length=32)
    tournament_id: int = Field(foreign_key="tournaments.id")
    sequence: int
    round: int
    pair: int
    family: str = Field(max_length=32)
    pool: str = Field(max_length=200)
    variant: str = Field(max_length=120)
    first_id: int = Field(foreign_key="versions.id")
    second_id: int = Field(foreign_key="versions.id")
    first: str = Field(max_length=60)
    second: str = Field(max_length=60)
    spec: dict[str, Any] = document(dict)
    is_rated: bool = True
    meeting: int = 0
    """Which rated game of its two owners on that day it is, if one of them chose the opponent; else 0."""
    anchor: Side | None = word(8, nullable=True)
    """The side of the arena's own bot in such a game."""
    state: GameState = word(16, "planned")
    attempt: int = 0
    lease_owner: str = Field(default="", max_length=120)
    worker: str = Field(default="", max_length=120)
    started_at: datetime | None = moment(nullable=True)
    finished_at: datetime | None = moment(nullable=True)
    commit_number: int | None = Field(default=None, unique=True)
    winner: Winner | None = word(8, nullable=True)
    termination: str | None = Field(default=None, max_length=32)
    termination_class: str | None = Field(default=None, max_length=16)
    detail: str = ""
    plies: int = 0


class Record(SQLModel, table=True):
    """The whole `GameRecord` of a finished game as compressed JSON, separate from `games` to keep lists fast."""

    __tablename__ = "records"
    game_id: str = Field(primary_key=True, foreign_key="games.id", max_length=32)
    data: bytes = blob()


class StoredHumanGame(SQLModel, table=True):
    """A game of a person, identified by an account (`user_id`) or by a cookie with the digest `guest`.

    `plies` are the moves so far, each as `[move, ply]`, so that the game can resume after a crash of the referee.
    `asked` is the person's action that the referee has not processed yet. `seen_at` is when the person's page
    last contacted the server; `is_streamed` is true once the page has followed the game's stream.
    """

    __tablename__ = "human_games"
    game_id: str = Field(primary_key=True, foreign_key="games.id", max_length=32)
    user_id: int | None = Field(default=None, foreign_key="users.id", index=True)
    guest: str = Field(default="", max_length=64, index=True)
    address: str = Field(max_length=64, index=True)
    side: Side = word(8)
    plies: list[Any] = document(list)
    asked: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON, nullable=True))
    created_at: datetime = created()
    seen_at: datetime = created()
    is_streamed: bool = False


class Void(SQLModel, table=True):
    """A void attempt at a game: it failed through no fault of a bot and was repeated or given up."""

    __tablename__ = "voids"
    id: int = number()
    game_id: str = Field(foreign_key="games.id", index=True, max_length=32)
    attempt: int
    termination: str = Field(max_length=32)
    detail: str = ""
    lease_owner: str = ""
    voided_at: datetime = created(index=True)


class VersionRating(SQLModel, table=True):
    """One version's rating in one pool after the game with commit number `last`.

    `opposition` is the sum of the opponents' mu before each game; divided by `games` it is the opponents' mean mu.
    """

    __tablename__ = "ratings"
    __table_args__ = (Index("ix_ratings_pool_conservative", "pool", "conservative", "version_id"),)
    pool: str = Field(primary_key=True, max_length=200)
    version_id: int = Field(primary_key=True, foreign_key="versions.id", index=True)
    mu: float
    sigma: float
    conservative: float
    games: int
    wins: int
    draws: int
    losses: int
    forfeits: int = 0
    opposition: float = 0.0
    last: int = 0
    credit: float = 0.0
    """Weight that chosen games against bots of other owners may still have (see `arena.store.ratings.fold`)."""


class RatingChange(SQLModel, table=True):
    """The effect of one game on one rating: a point of a rating plot.

    The counts and `opposition` are those of `VersionRating` after the game, so that past leaderboards are built
    without reading games.
    """

    __tablename__ = "rating_changes"
    __table_args__ = (Index("ix_rating_changes_version_pool_commit_number", "version_id", "pool", "commit_number"),)
    game_id: str = Field(primary_key=True, foreign_key="games.id", max_length=32)
    version_id: int = Field(primary_key=True, foreign_key="versions.id")
    pool: str = Field(max_length=200)
    commit_number: int
    wins: int
    draws: int
    losses: int
    forfeits: int
    opposition: float
    mu_before: float
    sigma_before: float
    mu: float
    sigma: float


class Rebuild(SQLModel, table=True):
    """A running or interrupted rebuild of all ratings; it has computed the ratings up to the commit number `last`.

    `without` is the SHA-256 of the ids of excluded games, empty for none.
    """

    __tablename__ = "rebuilds"
    id: str = Field(primary_key=True, max_length=32)
    without: str = Field(default="", max_length=64)
    last: int = 0


class RebuiltChange(SQLModel, table=True):
    """A rating change that a rebuild corrects. The columns from `wins` on are NULL if the change must be deleted."""

    __tablename__ = "rebuilt_changes"
    rebuild_id: str = Field(primary_key=True, max_length=32)
    game_id: str = Field(primary_key=True, max_length=32)
    version_id: int = Field(primary_key=True)
    pool: str = Field(max_length=200)
    commit_number: int
    wins: int | None = None
    draws: int | None = None
    losses: int | None = None
    forfeits: int | None = None
    opposition: float | None = None
    mu_before: float | None = None
    sigma_before: float | None = None
    mu: float | None = None
    sigma: float | None = None


# -- the archive -------------------------------------------------------------------------------------------------------


class ArchiveName(SQLModel, table=True):
    """A name to which archived games refer.

    `kind` is `player`, `variant` (`loa standard`), `termination`, `source` or `pool` (of ratings). `folded` is the
    case-folded name, for searches by part of it.
    """

    __tablename__ = "archive_names"
    __table_args__ = (UniqueConstraint("kind", "name"),)
    id: int = number()
    kind: str = Field(max_length=16)
    name: str = Field(sa_column=Column(Text, nullable=False))
    folded: str = Field(sa_column=Column(Text, nullable=False))


_SEARCHED = ("variant_id", "first_id", "second_id", "termination_id", "source_id", "winner", "plies", "day")


def _covering(*first: str) -> Index:
    """Create an index on these columns followed by all other searched columns, so that filters read only the index."""
    rest = [name for name in _SEARCHED if name not in first]
    return Index(f"ix_archive_games_{first[0]}", *first, *rest)


class ArchiveGame(SQLModel, table=True):
    """The searchable properties of an archived game, imported or played here, with a permanent serial from 1.

    `game_id` is the id of a game played here, else the digest of its content. `label` is its number in its collection,
    if any. Columns that end in `_id` refer to `archive_names`; the pool of an imported game is empty. `winner` is 0
    unknown, 1 first, 2 second, 3 draw. `day` is a number such as 20260731, with zeros for unknown parts. The row of
    an undone result is deleted, and its serial is not reused.
    """

    __tablename__ = "archive_games"
    __table_args__ = (
        _covering("first_id"),
        _covering("second_id"),
        _covering("variant_id"),
        _covering("source_id", "variant_id"),
        _covering("day", "serial"),
        _covering("plies", "serial"),
    )
    serial: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    game_id: str = Field(unique=True, max_length=40)
    label: str = Field(default="", max_length=80, index=True)
    variant_id: int
    first_id: int
    second_id: int
    termination_id: int
    source_id: int
    pool_id: int
    winner: int
    plies: int
    day: int


class ArchiveText(SQLModel, table=True):
    """An imported game: compressed JSON of an `ArchivedGame`. Games played here have a record instead."""

    __tablename__ = "archive_texts"
    serial: int = Field(primary_key=True, foreign_key="archive_games.serial", sa_column_kwargs={"autoincrement": False})
    data: bytes = blob()


class StoredImport(SQLModel, table=True):
    """An import of a text, read portion by portion. `state` is `waiting`, then `done`, or `failed`: the
    field `problem` says why.

    `text` is compressed; it is emptied at the end of the import. `lines` is the number of its lines, `read` the number
    of those that were read. `games` counts valid games, `new` those that were not in the archive, `rejected` invalid
    games; `bad` lists the first invalid ones.
    """

    __tablename__ = "imports"
    id: int = number()
    source: str = Field(max_length=80)
    family: str = Field(max_length=32)
    variant: str = Field(max_length=120)
    notation: str = Field(default="", max_length=40)
    text: bytes = blob(b"")
    state: str = Field(default="waiting", max_length=8, index=True)
    problem: str = ""
    lines: int
    read: int = 0
    games: int = 0
    new: int = 0
    rejected: int = 0
    bad: list[dict[str, Any]] = document(list)
    created_by: int | None = Field(default=None, foreign_key="users.id", index=True)
    created_at: datetime = created(index=True)


class ArchivePart(SQLModel, table=True):
    """Positions of the games with serials `first` to `last`, in 2**`bits` buckets (see
    `arena.store.archive.positions`).
    """

    __tablename__ = "archive_parts"
    id: int = number()
    first: int
    last: int
    bits: int
    entries: int


class ArchivePosition(SQLModel, table=True):
    """A bucket of a part: its entries sorted by key, compressed."""

    __tablename__ = "archive_positions"
    part_id: int = Field(primary_key=True, foreign_key="archive_parts.id")
    bucket: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    data: bytes = blob()


# -- analyses ----------------------------------------------------------------------------------------------------------


class Analysis(SQLModel, table=True):
    """The analysis of a game: figures for filters, and the whole as compressed JSON (`arena.analysis.game_analysis`).

    `game_id` is the id of a game played here or imported. `accuracy` is the accuracy of the less accurate side.
    """

    __tablename__ = "analyses"
    game_id: str = Field(primary_key=True, max_length=40)
    family: str = Field(max_length=32, index=True)
    engine: str = Field(max_length=80)
    nodes: int
    win_model: str = Field(max_length=40)
    blunders: int = Field(index=True)
    first_blunders: int
    second_blunders: int
    accuracy: float | None = Field(default=None, index=True)
    first_accuracy: float | None = None
    second_accuracy: float | None = None
    turning_points: int = Field(index=True)
    has_blown_win: bool = Field(index=True)
    analysed_at: datetime = created(index=True)
    data: bytes = blob()


class QueuedAnalysis(SQLModel, table=True):
    """A request to analyse a game (`game_id`) or a position (`question`: the game so far).

    When the analysis is done, the request for a game is deleted, and that for a position gets an `answer`. If the
    analysis fails, the request stays, and its field `problem` says why, so that it is not retried automatically.
    """

    __tablename__ = "analysis_requests"
    id: int = number()
    user_id: int | None = Field(default=None, foreign_key="users.id", index=True)
    game_id: str | None = Field(default=None, unique=True, max_length=40)
    question: dict[str, Any] = document(dict)
    nodes: int
    answer: dict[str, Any] = document(dict)
    is_done: bool = False
    problem: str = ""
    requested_at: datetime = created(index=True)


class StoredWinModel(SQLModel, table=True):
    """A win-probability model of a family, valid from `created_at` on: its scale and the data it was fitted to."""

    __tablename__ = "win_models"
    id: int = number()
    family: str = Field(max_length=32, index=True)
    scale: float
    games: int
    positions: int
    log_loss: float
    created_at: datetime = created()


# -- operations --------------------------------------------------------------------------------------------------------


class Counter(SQLModel, table=True):
    """A named counter. The one named `commit` holds the last commit number assigned to a result."""

    __tablename__ = "counters"
    name: str = Field(primary_key=True, max_length=32)
    value: int = 0


class Lease(SQLModel, table=True):
    """A lease, such as `referee`: until it expires, only its owner may act."""

    __tablename__ = "leases"
    name: str = Field(primary_key=True, max_length=32)
    owner: str = Field(max_length=120)
    until: datetime = moment()


class Audit(SQLModel, table=True):
    """An entry of the audit log."""

    __tablename__ = "audit"
    id: int = number()
    logged_at: datetime = created(index=True)
    user_id: int | None = Field(default=None, foreign_key="users.id", index=True)
    action: str = Field(max_length=40)
    subject: str = Field(max_length=120, index=True)
    detail: dict[str, Any] = document(dict)


class IdempotentResponse(SQLModel, table=True):
    """The response to a request with an `Idempotency-Key`, returned again when the request is repeated."""

    __tablename__ = "idempotent_responses"
    user_id: int = Field(primary_key=True, foreign_key="users.id")
    key: str = Field(primary_key=True, max_length=100)
    route: str = Field(max_length=120)
    digest: str = Field(max_length=64)
    status: int
    body: dict[str, Any] = document(dict)
    created_at: datetime = created(index=True)
