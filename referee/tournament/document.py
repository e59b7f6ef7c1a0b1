"""Settings document of a tournament: what organisers write in TOML or JSON, validated field by field.

A tournament is made from one document. A schedule is made from a template: a document whose name has placeholders.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, create_model, field_validator, model_validator

from referee.game.adjudication import read_draw_rule, read_resign_rule
from referee.game.spec import Adjudication, BotLimits, Pondering, TimeControl, read_time_control
from referee.ratings.trueskill import PoolKind, pool_of
from referee.rules import families, family_named, load
from referee.rules.core import value_text
from referee.rules.rules import Ruleset
from referee.tournament import formats
from referee.tournament.contradictions import contradictions
from referee.tournament.document_tables import AdjudicationSettings, EntrySettings, LimitSettings, Recurrence
from referee.tournament.formats import DEFAULT, format_named
from referee.tournament.formats.format import Format, NoSettings
from referee.tournament.handicap import EngineOptions, Handicap
from referee.tournament.match import MAX_ROUNDS, PRIORITIES
from referee.tournament.part import Part, SettingsError
from referee.validation import Misfit, misfits

MAX_GAMES = 100_000
"""Games of one pairing at most."""
MAX_BOOK_LINES = 2000
"""Lines of an opening book at most."""
Word = Annotated[str, Field(min_length=1, max_length=120)]
Options = dict[Annotated[str, Field(max_length=64)], bool | int | Annotated[str, Field(max_length=200)]]


class _Document(Part):
    """Settings of a tournament. Games are played in pairs: one opening, sides swapped."""

    SUGGESTED_KEYS: ClassVar[Mapping[str, str]] = {
        # unknown keys that users may write, and the keys they mean
        "tc": "time_control",
        "option": "rule_options",
        "each": "engine_options",
        "draw": "adjudication.draw",
        "resign": "adjudication.resign",
        "max-plies": "adjudication.max_plies",
        "suspend-after": "adjudication.suspend_after",
        "margin": "limits.margin_ms",
        "bots": "entries.bots",
        "players": "entries.bots",
        "participants": "entries.bots",
        "entry": "entries.bots",
        "type": "format",
        "system": "format",
        "game": "family",
        "title": "name",
        "start": "start_time",
        "begin": "start_time",
        "opening": "openings",
        "book": "opening_lines",
        "cron": "schedule.cron",
        "missing": "schedule.catch_up",
        "memory": "limits.memory_bytes",
        "max_moves": "adjudication.max_plies",
        "draws": "adjudication.draw",
        "ponder": "pondering",
    }
    """Keys people may write instead of ours, and our keys: used for suggestions only."""
    EXPLAINED_KEYS: ClassVar[Mapping[str, str]] = {
        name: f'a {name} has no table; write format = "{name}"'
        for name, system in formats.formats().items()
        if system.Settings is NoSettings
    }
    """Formats that people may take for a table, and what to write."""

    name: Word
    """Title of the tournament. In a recurring one, `{date}` and `{time}` are replaced by its start."""
    family: Annotated[str, Field(max_length=32), AfterValidator(family_named)]
    """Game family; `arena rules list` shows them."""
    variant: str | None = Field(default=None, max_length=120)
    """Variant of the family; default: the family's first one."""
    rule_options: Options = Field(default={})
    """Options of the rules, by name; default: those of the variant."""
    format: str = DEFAULT
    """Pairing system."""
    games: int = Field(default=2, ge=1, le=MAX_GAMES)
    """Games of each pairing or match, in pairs with one opening and sides swapped; a ladder, race or sequential test
    sets `games` in its own table.
    """
    rounds: int | None = Field(default=None, ge=1, le=MAX_ROUNDS)
    """Rounds of a Swiss; default: as many as it takes to find a winner."""
    time_control: str = Field(default="10+0.1", max_length=40)
    """Seconds and increment (`10+0.1`), per number of moves (`40/60`, `40/60+0.5`), seconds per move (`1/move`),
    `depth:4` or `nodes:10000`."""
    scale_time_control: bool = False
    """Scale each game's clocks by the speed of the machine that plays it, from 0.5 to 4 times, so that bots search
    about as much on every machine. The record states the factor.
    """
    pondering: Pondering = "frozen"
    """CPU use of a bot while its opponent thinks: none (`frozen`), on a core of its own (`pinned`), or unlimited
    (`allowed`).
    """
    openings: str = Field(default="auto", max_length=120)
    """Start positions: `none`, `auto` (the start, then four random plies), `random:PLIES:SEED`, `setups:VARIANT:SEED`,
    or `fair:0.05`: starts whose advantage is at most that share of points, with 95 % confidence, in the family's atlas.
    """
    opening_lines: list[Annotated[str, Field(max_length=5000)]] = Field(default=[], max_length=MAX_BOOK_LINES)
    """Opening book that replaces `openings`: each item a position, moves, or `POSITION ; MOVES`."""
    sides: Literal["alternate", "random"] = "alternate"
    """Choice of the first side: bots alternate (`alternate`), or the seed decides the odd last game (`random`).
    `random` also draws, for each pair of games, which side moves first if the rules leave that open (attackers or
    defenders) and the opening has no moves. `openings` then defaults to `none`.
    """
    seed: int = Field(default=0, ge=0, le=2**31 - 1)
    """Seed of pairings and openings; the same seed gives the same ones."""
    rated: bool = True
    """Update ratings from the games; must be false with handicaps."""
    pool: PoolKind = "bots"
    """Rating pool: sandboxed bots (`bots`), people, or remote bots. Sandboxed bots may play in all three, with separate
    ratings.
    """
    remote_join_timeout_s: int = Field(default=300, ge=0, le=86_400)
    """Seconds for which the games of a disconnected remote bot wait for it, at the start and later; then it forfeits
    them.
    """
    allow_remote: bool = False
    """Allow remote bots in rated tournaments of the pools `bots` and `people`."""
    priority: int = Field(default=PRIORITIES[1], ge=PRIORITIES[0], le=PRIORITIES[2])
    """Priority of its games: 5 more is twice as many games as another running tournament, equal ones take turns.
    `arena tournament priority` changes it at any time.
    """
    start_time: datetime | None = None
    """Start, such as `2027-01-31T20:00:00Z`; default: immediately."""
    entries: EntrySettings = EntrySettings()
    engine_options: EngineOptions = Field(default={}, max_length=64)
    """Engine options set before each game for every bot that announces them, by name, such as `Hash = 64`. A bot's own
    options and handicaps override them.
    """
    handicaps: list[Handicap] = Field(default=[], max_length=200)
    adjudication: AdjudicationSettings = AdjudicationSettings()
    limits: LimitSettings = LimitSettings()
    schedule: Recurrence | None = None

    @model_validator(mode="after")
    def _defaults_that_depend_on_others(self) -> Self:
        # Written to `__dict__`, since a document is frozen, and pydantic ignores a copy that the validator returns.
        if self.handicaps and "rated" not in self.model_fields_set:
            self.__dict__["rated"] = False
        is_open = self.sides == "random" or any(handicap.rule_options for handicap in self.handicaps)
        if is_open and "openings" not in self.model_fields_set:
            self.__dict__["openings"] = "none"
        return self

    @field_validator("name")
    @classmethod
    def _printable(cls, name: str) -> str:
        if not name.isprintable() or name != name.strip():
            raise ValueError("has blanks at its ends or unprintable characters; remove them")
        return name

    @field_validator("start_time")
    @classmethod
    def _zoned(cls, start_time: datetime | None) -> datetime | None:
        if start_time is not None and start_time.tzinfo is None:
            raise ValueError("has no time zone; write one, such as 2027-01-31T20:00:00Z")
        return start_time

    @property
    def system(self) -> Format[Any]:
        """The rules by which games are planned, as `format` names them."""
        return format_named(self.format)

    @cached_property
    def ruleset(self) -> Ruleset:
        """The rules of all games, without the rule options of their openings. Raises UnknownNameError or ParseError."""
        return load(self.family).settle(self.variant, self.rule_options)

    @property
    def rating_pool(self) -> str:
        """Name of the rating pool of the tournament's games."""
        return pool_of(self.ruleset, self.pool)

    @property
    def control(self) -> TimeControl:
        return read_time_control(self.time_control)

    @property
    def setoptions(self) -> tuple[tuple[str, str], ...]:
        """Engine options of all bots as the names and values of `setoption`."""
        return tuple((name, value_text(value)) for name, value in self.engine_options.items())

    @property
    def game_adjudication(self) -> Adjudication:
        settings = self.adjudication
        rules = Adjudication(max_plies=settings.max_plies, draw_agreement=settings.draw_agreement)
        if settings.draw:
            rules = read_draw_rule(settings.draw, rules)
        return read_resign_rule(settings.resign, rules) if settings.resign else rules

    @property
    def game_limits(self) -> BotLimits:
        return BotLimits(**self.limits.model_dump())

    def as_json(self) -> dict[str, Any]:
        """Return the document as stored: plain data with defaults."""
        return self.model_dump(mode="json")


if TYPE_CHECKING:

    class Document(_Document):
        """Settings of a tournament."""

else:
    # The allowed formats and their tables follow from the modules in `formats`.
    Document = create_model(
        "Document",
        __base__=_Document,
        __module__=__name__,
        __doc__=_Document.__doc__,
        # Its docstrings are those of its base; pydantic would look for its source in every module that is loaded.
        __cls_kwargs__={"use_attribute_docstrings": False},
        format=(
            Literal[formats.names()],
            Field(default=DEFAULT, description=_Document.model_fields["format"].description),
        ),
        **{
            system.table: (system.Settings, system.Settings())
            for system in formats.formats().values()
            if system.Settings is not NoSettings
        },
    )


def read(document: Mapping[str, Any]) -> Document:
    """Return a document from plain data. Raises SettingsError for the first fault, with all faults in `errors`."""
    settings, faults = _read(document)
    if faults or settings is None:
        raise SettingsError(faults[0].sentence, faults[0].field, errors=faults)
    return settings


def problems(document: Mapping[str, Any]) -> list[Misfit]:
    """Return all faults of a document that can be found without knowing the bots."""
    return _read(document, _strictly)[1]


def _strictly(document: dict[str, Any]) -> Document:
    """Validate a document as the JSON interface does: a string is not accepted for a number."""
    return Document.model_validate_json(json.dumps(document), strict=True)


def _read(
    document: Mapping[str, Any], validate: Callable[[dict[str, Any]], Document] = Document.model_validate
) -> tuple[Document | None, list[Misfit]]:
    """Return the document, or None if it is invalid, and its faults in the order of its keys.

    The valid keys of an invalid document are still checked against each other.
    """
    try:
        settings = validate(dict(document))
        return settings, contradictions(settings)
    except ValidationError as error:
        faults = misfits(error, Document)
    unread = {fault.field.partition(".")[0] for fault in faults}
    for name, dependent in _DEPENDENT.items():
        if name in unread:
            unread.update(dependent)
    placeholders: dict[str, Any] = {"name": "-", "family": families()[0]}
    if "entries" in unread:
        placeholders["entries"] = {"all": True}
    valid = {name: value for name, value in document.items() if name not in unread}
    rest = Document.model_validate(placeholders | valid)
    return None, faults + [fault for fault in contradictions(rest) if fault.field.partition(".")[0] not in unread]


_DEPENDENT = {
    "family": ("variant", "rule_options"),
    "format": ("games", "rounds", "entries"),
    "entries": ("handicaps",),
}
"""Keys that cannot be checked if another key is invalid."""
