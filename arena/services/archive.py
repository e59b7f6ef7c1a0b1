"""The archive of games: parse search forms, show games and players, import games."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.analysis.game_analysis import marks_of
from arena.collections.collection import Collection, GameProblem, best_reading, read_collection
from arena.collections.conversion import to_archived, to_text
from arena.collections.record_format import RECORD
from arena.documents.identity import Identity
from arena.errors import ArenaError, BadValueError, ForbiddenError, NotFoundError, did_you_mean, near
from arena.services.arena import Arena
from arena.store.archive.archive import ArchivedPairing, ArchiveMatches
from arena.store.archive.archived_game import ArchivedGame, day_of
from arena.store.archive.line import ArchiveLine, date_of
from arena.store.archive.search import ArchiveSearch
from arena.store.base.page import DEFAULT_LIMIT, bounded
from arena.store.games.analyses import AnalysisFilter
from referee.rules import load
from referee.rules.core import ParseError, UnknownNameError
from referee.rules.position import IllegalMoveError, Position
from referee.rules.rules import GameFormat, Rules, Ruleset
from referee.rules.symmetry import key_of

RESULTS = ("first", "second", "draw", "none")
"""Results to search for; `none` is an unknown result or an unfinished game."""
MAX_TEXT_BYTES = 4 * 1024 * 1024
"""Maximum size of an uploaded text."""


@dataclass(frozen=True, slots=True)
class ArchiveSearchForm:
    """A search as a user writes it; None or empty means anything. `SEARCH_FIELDS` describes the fields."""

    id: str | None = None
    number: str | None = None
    family: str | None = None
    variant: str | None = None
    player: str | None = None
    first: str | None = None
    second: str | None = None
    name: str | None = None
    result: str | None = None
    ending: str | None = None
    source: str | None = None
    min_plies: int | None = None
    max_plies: int | None = None
    since: str | None = None
    until: str | None = None
    moves: str | None = None
    position: str | None = None
    blunders: int | None = None
    max_blunders: int | None = None
    accuracy: int | None = None
    max_accuracy: int | None = None
    min_turning_points: int | None = None
    blown_win: str | None = None


SEARCH_FIELDS: Mapping[str, str] = {
    "id": "the id of one game",
    "number": "its number in the archive, or in its collection",
    "family": "a family",
    "variant": "a variant of the family",
    "player": "part of either player's name",
    "first": "part of the first player's name",
    "second": "part of the second player's name",
    "name": "the whole name of either player",
    "result": "the winner: first, second, draw, or none for an unknown result",
    "ending": "the termination, such as resigned",
    "source": "the collection; `arena`: the games played here",
    "min_plies": "the minimum number of plies",
    "max_plies": "the maximum number of plies",
    "since": "the first day, 2003-07-31; a month or a year will do",
    "until": "the last day, in the same way",
    "moves": "the first moves (requires a family)",
    "position": "a position that occurred, in any symmetric image (requires a family)",
    "blunders": "the minimum number of blunders of both sides (this and the following: analysed games only)",
    "max_blunders": "the maximum number of blunders",
    "accuracy": "the minimum accuracy, 0 to 100, of the less accurate side",
    "max_accuracy": "the maximum accuracy of the less accurate side",
    "min_turning_points": "the minimum number of turning points: moves from a winning position to an even or lost one",
    "blown_win": "yes: a player with a winning position did not win",
}
"""Descriptions of the search fields, in the order of forms."""


def search(
    arena: Arena,
    query: ArchiveSearchForm,
    *,
    sort: str = "number",
    is_falling: bool = True,
    limit: int = DEFAULT_LIMIT,
    after: int | None = None,
    offset: int = 0,
) -> ArchiveMatches:
    """Return the matching games that follow the one with archive number `after`. Raises BadValueError."""
    wanted = read_query(query)
    limit = bounded(limit)
    return arena.store.archive.search(wanted, sort=sort, is_falling=is_falling, limit=limit, after=after, offset=offset)


def read_query(query: ArchiveSearchForm) -> ArchiveSearch:
    """Translate a search into the store's terms. Raises BadValueError that names the field."""
    rules = _family(query.family) if query.family else None
    if rules is None:
        for name in ("moves", "position"):
            if getattr(query, name):
                raise BadValueError(
                    f"searching for {name} requires a family", field=name, hint="choose a family (--family)"
                )
    if query.result and query.result not in RESULTS:
        raise BadValueError(
            f"invalid result {query.result!r}", field="result", hint="choose from " + ", ".join(RESULTS)
        )
    return ArchiveSearch(
        id=query.id or None,
        family=rules.family if rules else None,
        variant=_variant(rules, query.variant),
        player=query.player or None,
        first=query.first or None,
        second=query.second or None,
        name=query.name or None,
        number=(query.number or "").strip().removeprefix("#") or None,
        winner=query.result or None,
        source=query.source or None,
        termination=query.ending or None,
        min_plies=query.min_plies,
        max_plies=query.max_plies,
        since=read_day(query.since, "since", 0),
        until=read_day(query.until, "until", 9999),
        moves=_first_moves(rules, query) if rules and query.moves else (),
        key=_key(rules, query) if rules and query.position else None,
        analysed=_analysed(query),
    )


def _analysed(query: ArchiveSearchForm) -> AnalysisFilter | None:
    word = query.blown_win
    if word not in (None, "", "yes", "no"):
        raise BadValueError(
            f"invalid thrown {word[:40]!r}: expected yes or no", field="blown_win", hint="write blown_win=yes"
        )
    found = AnalysisFilter(
        min_blunders=query.blunders,
        max_blunders=query.max_blunders,
        min_accuracy=query.accuracy,
        max_accuracy=query.max_accuracy,
        min_turning_points=query.min_turning_points,
        has_blown_win=word == "yes" if word else None,
    )
    return found or None


def _family(name: str) -> Rules:
    try:
        return load(name)
    except UnknownNameError as error:
        raise BadValueError(str(error), field="family") from None


def _variant(rules: Rules | None, name: str | None) -> str | None:
    """Return the canonical name of a variant. Other names that the family accepts for it are allowed."""
    if not name or rules is None:
        return name or None
    try:
        return rules.settle(name).variant.name
    except (UnknownNameError, ParseError) as error:
        raise BadValueError(str(error), field="variant") from None


def read_day(text: str | None, name: str, rest: int) -> int | None:
    """Parse a day, month or year into a day number (20030731). Raises BadValueError.

    With `rest` 9999 a month or year stands for its last day, with 0 for its first.
    """
    if not text or not text.strip():
        return None
    found = day_of(text)
    parts = text.strip().count("-")
    is_whole = parts == (found % 10_000 > 0) + (found % 100 > 0)  # false if the month or the day does not exist
    if not found or not is_whole or not re.fullmatch(r"\d{4}(-\d\d?(-\d\d?)?)?", text.strip()):
        raise BadValueError(f"invalid day {text[:40]!r}", field=name, hint="write 2003-07-31, 2003-07 or 2003")
    if rest and not found % 100:
        found += 99 if found % 10_000 else rest
    return found


def _rulesets(rules: Rules, variant: str | None) -> Sequence[Ruleset]:
    """Return the rules to read by: those of the given variant, else of each variant in order."""
    if variant:
        return [rules.settle(variant)]
    return [rules.settle(one.name) for one in rules.variants]


def _key(rules: Rules, query: ArchiveSearchForm) -> int:
    """Return the key of a position, parsed by the first variant whose board it fits."""
    problem = ""
    for ruleset in _rulesets(rules, _variant(rules, query.variant)):
        try:
            return key_of(ruleset, ruleset.read(query.position))
        except ValueError as error:
            problem = problem or str(error)
    raise BadValueError(problem, field="position")


def _first_moves(rules: Rules, query: ArchiveSearchForm) -> tuple[str, ...]:
    """Return the moves in canonical notation. Illegal ones are kept: games may begin in other positions."""
    ruleset = _rulesets(rules, _variant(rules, query.variant))[0]
    line, found = Position.start(ruleset), []
    for word in (query.moves or "").split():
        try:
            code = rules.notation.read_move(word, line.state, ruleset.config)
        except ParseError as error:
            raise BadValueError(str(error), field="moves") from None
        found.append(rules.notation.write_move(code))
        try:
            line = line.play(code)
        except IllegalMoveError:
            continue
    return tuple(found)


# -- one game, one player ----------------------------------------------------------------------------------------------


def read(arena: Arena, serial: int) -> tuple[ArchiveLine, ArchivedGame]:
    """Return the game with this archive number, as a line and whole. Raises NotFoundError."""
    return arena.store.archive.line(serial), arena.store.archive.get(serial)


def write(arena: Arena, serial: int, notation: str | None = None) -> str:
    """Return the text of a game as it was imported, or in a notation of its family.

    A notation shows the marks of the analysis if the game has none made by people. Raises NotFoundError, BadValueError.
    """
    game = arena.store.archive.get(serial)
    form = find_format(load(game.family), notation) if notation else None
    data = arena.store.analyses.get(game.id) if form else None
    try:
        return to_text(game, form, marks_of(data) if data else {})
    except ValueError as error:
        raise BadValueError(f"{notation} cannot express this game: {error}", field="notation") from None


def find_format(rules: Rules, name: str) -> GameFormat:
    """Return a notation of a family, or the arena's own `record`. Raises BadValueError."""
    formats = {form.name: form for form in (*rules.formats, RECORD)}
    if name not in formats:
        hint = did_you_mean(near(name, formats)) or "choose from " + ", ".join(formats)
        raise BadValueError(f"unknown notation of {rules.family} {name!r}", field="notation", hint=hint)
    return formats[name]


@dataclass(frozen=True, slots=True)
class PlayerFigures:
    """Results of a player in one family; `other` counts games without a known result."""

    family: str
    games: int
    wins: int
    draws: int
    losses: int
    other: int


@dataclass(frozen=True, slots=True)
class ArchivePlayer:
    """A player of archived games."""

    name: str
    families: list[PlayerFigures]
    opponents: list[tuple[str, int]]
    """The most frequent opponents, each with the number of games."""
    since: str
    until: str


def read_player(arena: Arena, name: str, most_opponents: int = 20) -> ArchivePlayer:
    """Return the player with exactly this name. Raises NotFoundError that names similar ones."""
    meetings = arena.store.archive.of_player(name)
    if not meetings:
        raise NotFoundError("player of the archive", name, arena.store.archive.names("player"))
    results: dict[str, Counter[str]] = {}
    opponents: Counter[str] = Counter()
    for one in meetings:
        results.setdefault(one.family, Counter())[_result_of(one, name)] += one.games
        opponents[one.second if one.first == name else one.first] += one.games
    families = [
        PlayerFigures(family, mine.total(), mine["win"], mine["draw"], mine["loss"], mine["other"])
        for family, mine in sorted(results.items())
    ]
    since = min((one.since for one in meetings if one.since), default=0)
    until = max(one.until for one in meetings)
    return ArchivePlayer(name, families, opponents.most_common(most_opponents), date_of(since), date_of(until))


def _result_of(meeting: ArchivedPairing, name: str) -> str:
    if meeting.winner in (None, "draw"):
        return meeting.winner or "other"
    winner = meeting.first if meeting.winner == "first" else meeting.second
    return "win" if winner == name else "loss"


# -- imports -----------------------------------------------------------------------------------------------------------


class NoGameError(ArenaError):
    """The text holds no game of the family."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Outcome of an import: the format, the numbers of games and of new games, and the bad games with their line."""

    source: str
    format: str
    games: int
    new: int
    problems: list[GameProblem] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-serialisable dictionary."""
        bad = [
            {"line": one.line, "move": one.ply, "position": one.position, "problem": one.message}
            for one in self.problems
        ]
        about = {"format": self.format, "games": self.games, "new": self.new, "known": self.games - self.new}
        return {"file": self.source, **about, "bad": bad}


def upload(
    arena: Arena,
    text: str,
    by: Identity,
    *,
    family: str,
    source: str,
    variant: str | None = None,
    notation: str | None = None,
) -> ImportReport:
    """Import a text uploaded by an organiser. Raises ForbiddenError, BadValueError, NoGameError."""
    if "organise" not in by.scopes:
        raise ForbiddenError("only organisers may import games", hint="ask an organiser")
    rules = _family(family)
    ruleset = rules.settle(_variant(rules, variant))
    source = source.strip()
    if not source or len(source) > 80 or not source.isprintable():
        raise BadValueError("invalid name of a collection", field="source", hint="write 1 to 80 printable characters")
    read = read_text(text, ruleset, find_format(rules, notation) if notation else None)
    found = store_collection(arena, read, source)
    arena.note("archive.import", f"archive:{source}"[:120], by, family=family, new=found.new, bad=len(found.problems))
    return found


def store_collection(arena: Arena, read: Collection, source: str) -> ImportReport:
    """Store the good games of a parsed text."""
    games = [to_archived(one, source, read.format) for one in read.games]
    return ImportReport(source, read.format, len(games), arena.store.archive.add(games), read.problems)


def read_text(text: str, ruleset: Ruleset, form: GameFormat | None = None) -> Collection:
    """Parse the games of a text, in `form` or else in the format that fits best. Raises NoGameError."""
    try:
        if form is not None:
            return read_collection(text, form, ruleset)
        return best_reading(text, ruleset, (*ruleset.rules.formats, RECORD))
    except ValueError as error:
        raise NoGameError(f"{error}; expected games of {ruleset.rules.family}") from None
