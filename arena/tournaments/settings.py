"""The settings document of a tournament: what organisers write in TOML or JSON, checked to the last field.

A document is all a tournament is made from; its template, with a name to be filled in, is all a schedule is made from.
Refuses to know which bots exist.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields as fields_of
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from arena.errors import ArenaError
from arena.tournaments.handicap import Handicap
from arena.validation import Misfit, misfits
from referee.game.adjudication import read_draw_rule, read_resign_rule
from referee.game.spec import Adjudication, BotLimits, Pondering, TimeControl, read_time_control
from referee.machine import toml
from referee.play.suspension import SUSPEND_AFTER
from referee.ratings.race import Race
from referee.ratings.sprt import Sprt
from referee.ratings.trueskill import PoolKind, pool_of
from referee.rules import families, family_named, load
from referee.rules.core import ParseError, UnknownNameError
from referee.rules.rules import Ruleset

Format = Literal["round-robin", "gauntlet", "swiss", "knockout", "ladder", "race", "sprt"]
FORMATS: tuple[Format, ...] = ("round-robin", "gauntlet", "swiss", "knockout", "ladder", "race", "sprt")
SEEDED: frozenset[Format] = frozenset({"swiss", "knockout", "ladder"})
"""Formats whose seats are the order of the ratings, not that of the document."""


class SettingsError(ArenaError, ValueError):
    """A document that cannot be used. `field` is the path of what is wrong, such as `entries.top`.

    `errors`, where there are several, are all of them as `{"field", "message"}`.
    """

    def __init__(self, message: str, field: str = "", *, errors: Sequence[Misfit] = ()) -> None:
        said = [{"field": one.field, "message": one.sentence} for one in errors]
        super().__init__(f"{field}: {message}" if field else message, field=field or None, errors=said)


class _Part(BaseModel):
    """A table of a document. The text below a field is its line in the reference that organisers read."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


Word = Annotated[str, Field(min_length=1, max_length=120)]
Options = dict[Annotated[str, Field(max_length=64)], bool | int | Annotated[str, Field(max_length=200)]]


class Entries(_Part):
    """Who plays: bots by name, and those that a query finds when the tournament starts."""

    bots: list[Annotated[str, Field(min_length=1, max_length=60)]] = Field(default=[], max_length=1000)
    """Bots by name: `zeta` is its newest active version, `zeta v3` that one. In a gauntlet the first is the challenger,
    in a sequential test the candidate.
    """
    top: int = Field(default=0, ge=0, le=1000)
    """The best so many of the pool's leaderboard."""
    all: bool = False
    """Every active version."""
    newest: bool = False
    """The newest active version of each bot."""
    without: list[Annotated[str, Field(min_length=1, max_length=60)]] = Field(default=[], max_length=1000)
    """Versions or bots that a query leaves out."""

    @property
    def has_query(self) -> bool:
        """Whether anybody may be entered who is not named."""
        return bool(self.top or self.all or self.newest)


class Rulings(_Part):
    """When games end before their rules end them."""

    draw: str = Field(default="", max_length=100)
    """Draws by score: `after=40,moves=8,score=10` ends a game in which, from ply 40 on, the scores of both stayed
    within 10 hundredths for 8 moves. Empty: none.
    """
    resign: str = Field(default="", max_length=100)
    """Wins by score: `moves=4,score=600,both=1` ends a game in which both bots agreed on 600 hundredths for 4 moves;
    with `both=0` the loser's own score is enough. Empty: none.
    """
    max_plies: int = Field(default=0, ge=0, le=100_000)
    """A draw after so many plies. 0: never."""
    draw_agreement: bool = True
    """Whether a draw is given that both bots claim."""
    suspend_after: int = Field(default=SUSPEND_AFTER, ge=0, le=1000)
    """A bot that does not get ready for so many games in a row forfeits all its others. 0: never."""


class Bounds(_Part):
    """Deadlines and bounds of each bot."""

    start_ms: int = Field(default=BotLimits().start_ms, ge=100, le=300_000)
    """From its start to `ugiok`, in milliseconds."""
    ready_ms: int = Field(default=BotLimits().ready_ms, ge=100, le=600_000)
    """For each `isready`; the first one may load what it needs."""
    move_ms: int = Field(default=BotLimits().move_ms, ge=100, le=3_600_000)
    """For a move where there is no clock (depth, nodes)."""
    margin_ms: int = Field(default=BotLimits().margin_ms, ge=0, le=10_000)
    """Added to every clock, for the machine's own delays."""
    memory_bytes: int = Field(default=BotLimits().memory_bytes, ge=16 * 2**20, le=64 * 2**30)
    """Memory of all processes of a bot."""
    processes: int = Field(default=BotLimits().processes, ge=1, le=4096)
    """Processes and threads of a bot."""


class Knockout(_Part):
    """For `format = "knockout"`: who loses a match is out."""

    tiebreak_pairs: int = Field(default=5, ge=0, le=50)
    """Up to so many further pairs of games for a match that is drawn; then the seeding decides."""
    third_place: bool = False
    """Whether the losers of the semi-finals play for the third place."""


class Ladder(_Part):
    """For `format = "ladder"`: pairs of games of those whose ratings are close or unsure; bots come and go."""

    games: int = Field(default=1000, ge=0, le=1_000_000)
    """In all, an even number. 0: without end."""
    cap: int = Field(default=0, ge=0, le=1_000_000)
    """Of one bot. 0: without bound."""


class Settlement(_Part):
    """For `format = "race"`: who are the first so many? It stops as soon as that is settled."""

    first: int = Field(default=1, ge=1, le=100)
    """How many: those with the greatest share of points against all opponents alike, in whatever order."""
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    """How sure it has to be, however often somebody looks."""
    games: int = Field(default=20_000, ge=2, le=1_000_000)
    """When to give up, an even number."""

    @property
    def race(self) -> Race:
        """The question as the referee knows it."""
        return Race(self.first, 1 - self.confidence)


class Sequential(_Part):
    """For `format = "sprt"`: is the first bot stronger than the second? It stops as soon as that is decided."""

    elo0: float = Field(default=0.0, ge=-2000, le=2000)
    """The hypothesis to refuse: stronger by no more than this, in Elo."""
    elo1: float = Field(default=10.0, ge=-2000, le=2000)
    """The hypothesis to accept: stronger by this."""
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    """How often it may accept wrongly."""
    beta: float = Field(default=0.05, gt=0, lt=0.5)
    """How often it may refuse wrongly."""
    games: int = Field(default=20_000, ge=2, le=1_000_000)
    """When to give up, an even number."""

    @model_validator(mode="after")
    def _ordered(self) -> Sequential:
        if self.elo0 >= self.elo1:
            raise ValueError("elo0 must be less than elo1")
        return self

    @property
    def sprt(self) -> Sprt:
        """The test as the referee knows it."""
        return Sprt(self.elo0, self.elo1, self.alpha, self.beta)


class Recurrence(_Part):
    """Makes a recurring tournament of it: each time, one with these settings is created."""

    cron: str = Field(max_length=80)
    """Minute, hour, day, month, weekday: `0 20 * * 5` is every Friday at eight in the evening."""
    zone: str = Field(default="UTC", max_length=64)
    """The time zone of these times, such as `Europe/Paris`."""
    missed: Literal["skip", "once", "all"] = "once"
    """What follows times that passed while the arena was down: none, one or all of their tournaments."""


PRIORITIES = (-100, 0, 100)
"""The lowest, the usual and the highest priority."""


class Document(_Part):
    """One tournament, whole. `games` is per pairing or match, in pairs of one opening with sides swapped.

    In `name`, `{date}` and `{time}` stand for the start of a recurring tournament. With `handicaps` it is not rated.
    """

    MEANT: ClassVar[Mapping[str, str]] = {
        "tc": "time",
        "time_control": "time",
        "bots": "entries.bots",
        "players": "entries.bots",
        "participants": "entries.bots",
        "entry": "entries.bots",
        "type": "format",
        "system": "format",
        "game": "family",
        "title": "name",
        "start": "starts",
        "begin": "starts",
        "opening": "openings",
        "book": "opening_lines",
        "cron": "schedule.cron",
        "timezone": "schedule.zone",
        "missing": "schedule.missed",
        "memory": "limits.memory_bytes",
        "max_moves": "rulings.max_plies",
        "draws": "rulings.draw",
        "ponder": "pondering",
    }
    """Keys that people write who know other programs, and those that are meant."""

    name: Word
    """What people read. In a recurring tournament `{date}` and `{time}` stand for its start."""
    family: Annotated[str, Field(max_length=32), AfterValidator(family_named)]
    """Which game: `arena rules list` shows the families."""
    variant: str | None = Field(default=None, max_length=120)
    """A variant of the family; its first unless named."""
    options: Options = {}
    """Options of the rules, by name; the variant's own unless named."""
    format: Format = "round-robin"
    """Who meets whom."""
    games: int = Field(default=2, ge=1, le=1000)
    """Of each pairing or match, in pairs of one opening with sides swapped; ladder, race and test have their own."""
    rounds: int | None = Field(default=None, ge=1, le=200)
    """Of a Swiss; as many as find a winner unless named."""
    time: str = Field(default="10+0.1", max_length=40)
    """Seconds and increment (`10+0.1`), also for every so many moves (`40/60`, `40/60+0.5`), seconds a move (`1/move`),
    `depth:4` or `nodes:10000`."""
    scale_clocks: bool = False
    """Whether the clocks of each game are scaled by how fast the machine is that plays it: from half to four times, so
    that bots think as much everywhere. The record says by how much.
    """
    pondering: Pondering = "frozen"
    """What a bot may do while its opponent thinks: nothing, so that it slows nobody (`frozen`), think on a core of its
    own (`pinned`), or as it likes (`allowed`).
    """
    openings: str = Field(default="auto", max_length=120)
    """Where games start: `none`, `auto` (the start, then four random plies), `random:PLIES:SEED`,
    `setups:VARIANT:SEED`, or `fair:0.05`: starts by the same rules in which neither side is ahead by more than that
    share of points, with 95 % by the atlas of the family.
    """
    opening_lines: list[Annotated[str, Field(max_length=5000)]] = Field(default=[], max_length=2000)
    """A book in place of that: each text a position, moves, or `POSITION ; MOVES`."""
    first: Literal["swap", "lot"] = "swap"
    """Who has the first side: bots in turns, or (`lot`) in the last game of an odd number whom the seed draws. With
    `lot` it also draws, for each pair of games, which side moves first, where the rules leave that open (attackers or
    defenders) and the opening has no moves; `openings` is `none` then unless it is written.
    """
    seed: int = Field(default=0, ge=0, le=2**31 - 1)
    """The same seed, the same pairings and openings."""
    rated: bool = True
    """Whether the games move the ratings; never with handicaps."""
    pool: PoolKind = "bots"
    """Whose ratings: those of bots in the sandbox of the arena, of people, or of remote bots. Bots of the sandbox may
    play in all three, and have ratings of their own in each.
    """
    wait_for_remote: int = Field(default=300, ge=0, le=86_400)
    """For so many seconds the games of a remote bot that is not connected wait for it; then it loses them. At the start
    too, and whenever it is away.
    """
    mixes_remote: bool = False
    """Whether remote bots may enter where the ratings are not theirs: those of the sandbox, or of people."""
    priority: int = Field(default=PRIORITIES[1], ge=PRIORITIES[0], le=PRIORITIES[2])
    """Games of a tournament of higher priority are handed out first; those of equal ones in turns. It may be changed at
    any time, by `arena tournament priority`.
    """
    starts: datetime | None = None
    """When it begins, such as `2027-01-31T20:00:00Z`; at once unless named."""
    entries: Entries = Entries()
    handicaps: list[Handicap] = Field(default=[], max_length=200)
    rulings: Rulings = Rulings()
    limits: Bounds = Bounds()
    knockout: Knockout = Knockout()
    ladder: Ladder = Ladder()
    race: Settlement = Settlement()
    sprt: Sequential = Sequential()
    schedule: Recurrence | None = None

    @model_validator(mode="after")
    def _unrated_with_handicaps(self) -> Document:
        if self.handicaps and "rated" not in self.model_fields_set:
            self.__dict__["rated"] = False
        is_open = self.first == "lot" or any(one.rules for one in self.handicaps)
        if is_open and "openings" not in self.model_fields_set:
            self.__dict__["openings"] = "none"
        return self

    @field_validator("name")
    @classmethod
    def _printable(cls, name: str) -> str:
        if not name.isprintable() or name != name.strip():
            raise ValueError("has blanks at its ends or what cannot be printed; leave them out")
        return name

    @field_validator("starts")
    @classmethod
    def _zoned(cls, starts: datetime | None) -> datetime | None:
        if starts is not None and starts.tzinfo is None:
            raise ValueError("write the time zone too, such as 2027-01-31T20:00:00Z")
        return starts

    @cached_property
    def ruleset(self) -> Ruleset:
        """The rules every game is played by, openings apart. Raises UnknownNameError or ParseError."""
        return load(self.family).settle(self.variant, self.options)

    @property
    def rating_pool(self) -> str:
        """The pool of ratings its games belong to."""
        return pool_of(self.ruleset, self.pool)

    @property
    def control(self) -> TimeControl:
        """The time control."""
        return read_time_control(self.time)

    @property
    def adjudication(self) -> Adjudication:
        """The rulings as the referee knows them."""
        found = Adjudication(max_plies=self.rulings.max_plies, draw_agreement=self.rulings.draw_agreement)
        if self.rulings.draw:
            found = read_draw_rule(self.rulings.draw, found)
        return read_resign_rule(self.rulings.resign, found) if self.rulings.resign else found

    @property
    def bounds(self) -> BotLimits:
        """The limits as the referee knows them."""
        known = {item.name for item in fields_of(BotLimits)}
        return replace(
            BotLimits(), **{name: value for name, value in self.limits.model_dump().items() if name in known}
        )

    def as_json(self) -> dict[str, Any]:
        """Plain data, defaults included: what a tournament stores."""
        return self.model_dump(mode="json")


def read(document: Mapping[str, Any]) -> Document:
    """A document from plain data. Raises SettingsError naming the first that is wrong, with all that are."""
    found, wrong = _read(document)
    if wrong or found is None:
        raise SettingsError(wrong[0].sentence, wrong[0].field, errors=wrong)
    return found


def problems(document: Mapping[str, Any]) -> list[Misfit]:
    """All that is wrong with a document, as far as it can be told without knowing which bots there are."""
    return _read(document, _strictly)[1]


def _strictly(document: dict[str, Any]) -> Document:
    """As the JSON interface takes it: no text for a number."""
    return Document.model_validate_json(json.dumps(document), strict=True)


def _read(
    document: Mapping[str, Any], validate: Callable[[dict[str, Any]], Document] = Document.model_validate
) -> tuple[Document | None, list[Misfit]]:
    """The document; what is wrong with it, in the order of its keys. What fits is looked at whatever else does not."""
    try:
        found = validate(dict(document))
        return found, _contradictions(found)
    except ValidationError as error:
        wrong = misfits(error, Document)
    unread = {one.field.partition(".")[0] for one in wrong}
    for name, dependent in _DEPENDENT.items():
        if name in unread:
            unread.update(dependent)
    stand_ins: dict[str, Any] = {"name": "-", "family": families()[0]}
    if "entries" in unread:
        stand_ins["entries"] = {"all": True}
    fitting = {name: value for name, value in document.items() if name not in unread}
    rest = Document.model_validate(stand_ins | fitting)
    return None, wrong + [one for one in _contradictions(rest) if one.field.partition(".")[0] not in unread]


_DEPENDENT = {
    "family": ("variant", "options"),
    "format": ("games", "rounds", "entries"),
    "entries": ("handicaps",),
}
"""What cannot be judged where something else could not be read."""


def read_toml(text: str) -> Document:
    """A document from TOML. Raises SettingsError."""
    try:
        return read(toml.read(text))
    except toml.TomlError as error:
        raise SettingsError(f"not TOML: {error}") from None


def _contradictions(document: Document) -> list[Misfit]:
    """What each value says of itself, but not together with the others or the rules."""
    return [*_unknown(document), *_contrary(document)]


def _unknown(document: Document) -> Iterator[Misfit]:
    """Names and notations of the family and the referee."""
    for field, look in (
        ("variant", lambda: document.ruleset.config),
        ("time", lambda: document.control),
        ("rulings", lambda: document.adjudication),
    ):
        try:
            look()
        except UnknownNameError as error:
            is_option = error.what.startswith(("option", "value"))
            yield Misfit("options" if is_option else error.what.split(" ")[0], str(error), near=error.near)
        except (ParseError, ValueError) as error:
            yield Misfit(field, str(error))


def _contrary(document: Document) -> Iterator[Misfit]:
    """What does not go with the format, or with another key."""
    format, games = document.format, document.games
    if format in ("ladder", "race", "sprt") and games != 2:
        yield Misfit("games", f"a {format} is played pair by pair", f"set {format}.games for all of them")
    elif format == "knockout" and games % 2:
        yield Misfit("games", "must be even: matches are played in pairs with sides swapped", f"write {games + 1}")
    if document.rounds is not None and format != "swiss":
        yield Misfit("rounds", "only a swiss has rounds to choose", "leave it out")
    if document.scale_clocks:
        yield from _contrary_clocks(document)
    yield from _contrary_entries(document)
    own = {"ladder": document.ladder.games, "race": document.race.games, "sprt": document.sprt.games}
    for name, count in own.items():
        if count % 2:
            yield Misfit(f"{name}.games", "must be even: games are played in pairs", f"write {count + 1}")
    if document.schedule is not None and document.starts is not None:
        yield Misfit("starts", "a recurring tournament starts when its schedule says", "leave it out")


def _contrary_clocks(document: Document) -> Iterator[Misfit]:
    """What does not go with clocks that are scaled."""
    with contextlib.suppress(ParseError):  # said of the time itself
        if document.control.move_ms is None:
            yield Misfit("scale_clocks", f"{document.time} is the same on any machine, without a clock", "leave it out")
    if document.pool == "remote":
        yield Misfit("scale_clocks", "remote bots think on machines that nobody measures here", "leave it out")


def _contrary_entries(document: Document) -> Iterator[Misfit]:
    """What does not go with who plays."""
    format, entries = document.format, document.entries
    if not entries.bots and not entries.has_query:
        yield Misfit("entries", "nobody plays", "name bots, or set top, all or newest")
    elif format == "sprt" and (len(entries.bots) != 2 or entries.has_query):
        yield Misfit("entries.bots", "a sequential test is between two bots, the candidate first", "name two")
    elif format == "gauntlet" and not entries.bots:
        yield Misfit("entries.bots", "the first bot named is the challenger", "name it")
    if document.handicaps and document.rated:
        yield Misfit("rated", "games with handicaps are of another kind", "write rated = false")
    yield from _contrary_handicaps(document)


def _contrary_handicaps(document: Document) -> Iterator[Misfit]:
    """What handicaps say that the entries or the rules do not know."""
    entries = document.entries
    for handicap in document.handicaps:
        for name in (handicap.bot, handicap.against or handicap.bot):
            if name not in entries.bots:
                yield Misfit("handicaps", f"{name} is not among entries.bots", "name it there as here")
        if not handicap.rules:
            continue
        if document.opening_lines or not document.openings.startswith(("none", "setups:", "fair:")):
            problem = "the moves of openings may not be legal by other rules"
            yield Misfit("openings", problem, 'write openings = "none"')
        try:
            ruleset = document.ruleset
            for option, value in handicap.rules.items():
                ruleset.rules.option(option).read(value)
        except UnknownNameError as error:
            yield Misfit("handicaps", str(error), near=error.near)
        except ParseError:  # said of the variant
            continue
        if handicap.side is not None and ruleset.side_named(handicap.side) is None:
            names = " or ".join(name.lower() for name in ruleset.sides)
            yield Misfit("handicaps", f"no side {handicap.side!r}", f"write {names}, first or second")
