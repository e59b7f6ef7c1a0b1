"""The documents of the interface: what it says and what it takes, as types. Refuses to know the database.

Documents are made from rows by name (`from_attributes`), so a name here is a promise to every client.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from arena.store.credentials import MAX_PASSWORD, MIN_PASSWORD

MAX_ID = 2**31 - 1

Number = Annotated[int, Field(ge=1, le=MAX_ID)]
FamilyName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,32}$")]
BotName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9_-]{0,38}[a-z0-9])?$")]
UserName = BotName
GameId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16,32}$")]
VariantName = Annotated[str, StringConstraints(pattern=r"^[!-~]{1,120}$")]
PoolName = Annotated[str, StringConstraints(pattern=r"^[!-~]{1,200}$")]
OneLine = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]*$", min_length=1, max_length=80)]
Prose = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x08\x0b-\x1f\x7f]*$", max_length=1000)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("write a time such as 2026-11-01T00:00:00Z") from None


def _is_moment(value: Any) -> Any:
    if isinstance(value, str) and not _MOMENT.match(value):
        raise ValueError("write a day or a time, such as 2026-11-01 or 2026-11-01T12:00:00Z")
    return value


_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}(T|$)", re.ASCII | re.IGNORECASE)
Moment = Annotated[datetime, BeforeValidator(_is_moment), AfterValidator(_in_utc)]
"""A day or a time, UTC unless it says otherwise."""
ScopeName = Literal["read", "submit", "organise", "admin", "worker"]
RoleName = Literal["author", "organiser", "admin"]
Side = Literal["first", "second"]


class Out(BaseModel):
    """A document we say."""

    model_config = ConfigDict(from_attributes=True, json_schema_serialization_defaults_required=True)


class In(BaseModel):
    """A document we take: nothing unknown, no type but its own."""

    model_config = ConfigDict(extra="forbid", strict=True)


# -- families ----------------------------------------------------------------------------------------------------------


class OptionDocument(Out):
    """A rule option. `changes`: `moves`, `result`, `limits` or `display`."""

    name: str
    type: Literal["combo", "spin", "check"]
    default: str | int | bool
    values: list[str]
    changes: str
    meaning: str


class VariantDocument(Out):
    """A named start with its options."""

    name: str
    position: str
    options: dict[str, str | int | bool]
    note: str


class FamilyItem(Out):
    """A family in a list."""

    family: str
    title: str
    summary: str


class FamilyDocument(FamilyItem):
    """A family with everything that can be chosen in it."""

    version: int
    sides: list[str]
    variants: list[VariantDocument]
    options: list[OptionDocument]


# -- ratings -----------------------------------------------------------------------------------------------------------


class PoolItem(Out):
    """A set of comparable ratings, and how many rated games it has."""

    pool: str
    family: str
    games: int


class LeaderboardLine(Out):
    """One version in one pool. `rank` is null while the rating is provisional; `place` counts all lines.

    `conservative` = mu - 3 sigma is the sorting value; `beats_next` the probability to be better than the next line.
    """

    place: int
    rank: int | None
    name: str
    bot: str
    number: int
    owner: str
    state: str
    mu: float
    sigma: float
    conservative: float
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    forfeits: int
    opponents: float
    is_provisional: bool
    beats_next: float | None


class PoolRating(Out):
    """One version's rating in one pool."""

    pool: str
    name: str
    mu: float
    sigma: float
    conservative: float
    games: int
    wins: int
    draws: int
    losses: int
    forfeits: int
    is_provisional: bool


class ChangeItem(Out):
    """What one game did to a rating; `points` is what the version scored."""

    committed: int
    game_id: str
    finished: datetime | None
    opponent: str
    points: float
    mu_before: float
    sigma_before: float
    mu: float
    sigma: float


# -- bots --------------------------------------------------------------------------------------------------------------


class BotItem(Out):
    """A bot in a list: the families its active versions play, its newest version."""

    name: str
    owner: str
    description: str
    is_retired: bool
    created: datetime
    families: list[str]
    versions: int
    newest: int
    newest_state: str


class VersionItem(Out):
    """A version of a bot. `families` maps each family to the variants it was found fit for."""

    id: int
    bot: str
    owner: str
    number: int
    name: str
    state: Literal["uploaded", "checking", "active", "failed", "retired"]
    problem: str
    sha256: str
    size_bytes: int
    created: datetime
    checked: datetime | None
    families: dict[str, list[str]]


class BotDocument(Out):
    """A bot with all its versions, newest first, and their ratings."""

    name: str
    owner: str
    description: str
    is_retired: bool
    created: datetime
    versions: list[VersionItem]
    ratings: list[PoolRating]


class Submission(VersionItem):
    """A version on its way: `report` is the check so far; `log` (the bot's own words) is for its owner only."""

    report: dict[str, Any]
    log: str | None = None
    url: str


class BotChange(In):
    """What may be changed of a bot."""

    description: Prose


# -- tournaments -------------------------------------------------------------------------------------------------------

TournamentState = Literal["scheduled", "running", "paused", "draining", "finished", "cancelled"]


class TournamentItem(Out):
    """A tournament in a list."""

    id: int
    name: str
    family: str
    variant: str
    format: str
    pool: str
    is_rated: bool
    state: TournamentState
    problem: str
    starts: datetime
    started: datetime | None
    finished: datetime | None
    planned_games: int
    finished_games: int


class EntryItem(Out):
    """An entry. `eligibility` says why it may play, or why not."""

    seat: int
    name: str
    bot: str
    number: int
    eligibility: str
    withdrawn: datetime | None


class TournamentDocument(TournamentItem):
    """A tournament with its settings and entries. `games` counts its games by state."""

    options: dict[str, Any]
    settings: dict[str, Any]
    created: datetime
    entries: list[EntryItem]
    games: dict[str, int]


class StandingItem(Out):
    """One line of the standings; provisional until all games are done. `points` include the byes of a Swiss.

    `round` is the last one reached in a knockout; `estimate` what the results say: Elo ± 95 %, nElo, LOS, pentanomial.
    """

    rank: int
    name: str
    points: float
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    sonneborn_berger: float
    byes: int
    buchholz: float
    buchholz_cut: float
    round: int
    forfeits: int
    is_withdrawn: bool
    estimate: dict[str, Any]


class Standings(Out):
    """The standings, best first: by points, then by `tie_breaks` in their order.

    `strengths` is an estimate that no order of games changes (Bradley-Terry with draws); `verdict` that of a sequential
    test, null elsewhere.
    """

    items: list[StandingItem]
    next: None = None
    is_final: bool
    tie_breaks: list[str]
    strengths: dict[str, Any]
    verdict: dict[str, Any] | None


class CrossCell(Out):
    """One bot's games against another: `pairs` are the letters (W, D, L) of each opening, played from both sides."""

    opponent: str
    points: float
    games: int
    pairs: list[str]


class CrossRow(StandingItem):
    """One bot's line of the standings with its cells, null on the diagonal. Columns are in the order of the rows."""

    cells: list[CrossCell | None]


class Crosstable(Out):
    """Everybody against everybody."""

    tournament: int
    items: list[CrossRow]
    next: None = None
    is_final: bool


# -- games -------------------------------------------------------------------------------------------------------------


class GameItem(Out):
    """A game in a list. `kind`: `rules`, `adjudication`, `forfeit` or `void`; `committed` orders all results."""

    id: str
    tournament_id: int
    sequence: int
    round: int
    pair: int
    family: str
    pool: str
    variant: str
    first: str
    second: str
    is_rated: bool
    state: Literal["planned", "queued", "running", "finished", "void", "cancelled"]
    attempt: int
    started: datetime | None
    finished: datetime | None
    committed: int | None
    winner: Literal["first", "second", "draw"] | None
    termination: str | None
    kind: str | None
    detail: str
    plies: int


class RatingStep(Out):
    """A rating before and after one game."""

    name: str
    mu_before: float
    sigma_before: float
    mu: float
    sigma: float


class GameDocument(GameItem):
    """A game with its spec, and with its record once it is over. The bots' own words are left out of it."""

    spec: dict[str, Any]
    record: dict[str, Any] | None
    ratings: list[RatingStep]


class LogDocument(Out):
    """The tail of a bot's standard error in one game."""

    game_id: str
    side: Side
    name: str
    log: str


class VoidItem(Out):
    """An attempt at a game that came to nothing through no fault of a bot."""

    id: int
    game_id: str
    tournament_id: int
    family: str
    first: str
    second: str
    attempt: int
    termination: str
    detail: str
    at: datetime


# -- people ------------------------------------------------------------------------------------------------------------


class Account(Out):
    """Who you are, what you may do and have. `token` is the number of the token you sent."""

    name: str
    role: RoleName
    scopes: list[str]
    token: int | None
    bots: int
    versions: int
    size_bytes: int


class TokenItem(Out):
    """A token, without its secret."""

    id: int
    name: str
    scopes: list[str]
    created: datetime
    expires: datetime | None
    last_used: datetime | None
    revoked: datetime | None


class NewToken(TokenItem):
    """A token with its secret, which is shown this once."""

    token: str


class TokenWish(In):
    """A token to be made: for that many days, or for ever."""

    name: OneLine
    scopes: Annotated[list[ScopeName], Field(min_length=1, max_length=5)]
    days: Annotated[int, Field(ge=1, le=3650)] | None = None


class LoginWish(TokenWish):
    """A token for somebody who has a password."""

    user: UserName
    password: Annotated[str, Field(min_length=1, max_length=MAX_PASSWORD)]


class UserItem(Out):
    """Somebody with an account."""

    name: str
    role: RoleName
    is_active: bool
    created: datetime


class UserWish(In):
    """A user to be made; without a password there is no log-in by form."""

    name: UserName
    role: RoleName = "author"
    password: Annotated[str, Field(min_length=MIN_PASSWORD, max_length=MAX_PASSWORD)] | None = None


class UserChange(In):
    """What may be changed of a user; what is left out stays."""

    role: RoleName | None = None
    password: Annotated[str, Field(min_length=MIN_PASSWORD, max_length=MAX_PASSWORD)] | None = None
    is_active: bool | None = None


# -- the house ---------------------------------------------------------------------------------------------------------


class AuditItem(Out):
    """Who did what to what."""

    id: int
    at: datetime
    user: str | None
    action: str
    subject: str
    detail: dict[str, Any]


class DumpItem(Out):
    """One file of the archive; `first` and `last` are commit numbers."""

    file: str
    month: str
    games: int
    bytes: int
    sha256: str
    first: int
    last: int
    url: str


class Limits(Out):
    """What is bounded, in numbers. Requests are counted by each web process for itself."""

    max_upload_bytes: int
    max_bots: int
    max_versions: int
    max_user_bytes: int
    max_body_bytes: int
    max_page: int
    requests_per_minute: dict[str, float]
    streams: int
    exports: int
    provisional_games: int
    provisional_sigma: float


class Index(Out):
    """Where everything is."""

    openapi: str
    docs: str
    version: str
    lists: dict[str, str]
