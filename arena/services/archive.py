"""The archive of games: what is looked for in people's words, games and players as they are shown, imports."""

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
from arena.errors import ArenaError, ForbiddenError, did_you_mean, near
from arena.services.arena import Arena
from arena.store import BadValueError, Identity, NotFoundError
from arena.store.archive.archive import Found, Meeting
from arena.store.archive.archived_game import ArchivedGame, day_of
from arena.store.archive.line import ArchiveLine, date_of
from arena.store.archive.search import Search
from arena.store.base.page import DEFAULT_LIMIT, bounded
from arena.store.games.analyses import AnalysisFilter
from referee.rules import load
from referee.rules.core import ParseError, UnknownNameError
from referee.rules.position import IllegalMoveError, Position
from referee.rules.rules import GameFormat, Rules, Ruleset
from referee.rules.symmetry import key_of

RESULTS = ("first", "second", "draw", "none")
"""What a game may have ended with; `none`: nobody knows, or it was not finished."""
MOST_TEXT_BYTES = 4 * 1024 * 1024
"""How long an uploaded text may be."""


@dataclass(frozen=True, slots=True)
class Query:
    """What somebody looks for, as they write it; None or empty = anything. See `SEARCHED` for what each is."""

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


SEARCHED: Mapping[str, str] = {
    "id": "the id of one game",
    "number": "its number in the archive, or in its collection",
    "family": "a family",
    "variant": "a variant of the family",
    "player": "part of either player's name",
    "first": "part of the name of who moved first",
    "second": "part of the other name",
    "name": "the whole name of either player",
    "result": "who won: first, second, draw, or none where nobody is known to have",
    "ending": "the termination, such as resigned",
    "source": "the collection; `arena`: the games played here",
    "min_plies": "the least number of plies",
    "max_plies": "the greatest number of plies",
    "since": "the first day, 2003-07-31; a month or a year will do",
    "until": "the last day, in the same way",
    "moves": "the first moves (needs a family)",
    "position": "a position that occurred, however the board is turned (needs a family)",
    "blunders": "at least so many blunders, of both sides (these and what follows: of games that were analysed)",
    "max_blunders": "at most so many blunders",
    "accuracy": "at least this accuracy, 0 to 100, of the less accurate side",
    "max_accuracy": "at most this accuracy of it",
    "min_turning_points": "at least so many turning points: moves from a winning position to one that is even at best",
    "blown_win": "yes: somebody who stood as good as won did not win",
}
"""What can be searched for, in the order of forms."""


def search(
    arena: Arena,
    query: Query,
    *,
    sort: str = "number",
    is_falling: bool = True,
    limit: int = DEFAULT_LIMIT,
    after: int | None = None,
    offset: int = 0,
) -> Found:
    """The games that match, from behind the one with the archive's number `after`. Raises BadValueError."""
    wanted = read_query(query)
    limit = bounded(limit)
    return arena.store.archive.search(wanted, sort=sort, is_falling=is_falling, limit=limit, after=after, offset=offset)


def read_query(query: Query) -> Search:
    """What the store looks for. Raises BadValueError that names the field."""
    rules = _family(query.family) if query.family else None
    if rules is None:
        for name in ("moves", "position"):
            if getattr(query, name):
                raise BadValueError(f"{name} are those of a family", field=name, hint="add --family F, or choose one")
    if query.result and query.result not in RESULTS:
        raise BadValueError(f"no result {query.result!r}", field="result", hint="one of " + ", ".join(RESULTS))
    return Search(
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


def _analysed(query: Query) -> AnalysisFilter | None:
    word = query.blown_win
    if word not in (None, "", "yes", "no"):
        raise BadValueError(f"not yes or no: {word[:40]!r}", field="blown_win", hint="write blown_win=yes")
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
    """The name that games have it under: a family's other names of a variant are known."""
    if not name or rules is None:
        return name or None
    try:
        return rules.settle(name).variant.name
    except (UnknownNameError, ParseError) as error:
        raise BadValueError(str(error), field="variant") from None


def read_day(text: str | None, name: str, rest: int) -> int | None:
    """The day as a number, with `rest` of 9999 the last one that the text may mean. Raises BadValueError."""
    if not text or not text.strip():
        return None
    found = day_of(text)
    parts = text.strip().count("-")
    is_whole = parts == (found % 10_000 > 0) + (found % 100 > 0)  # else there is no such month, or no such day
    if not found or not is_whole or not re.fullmatch(r"\d{4}(-\d\d?(-\d\d?)?)?", text.strip()):
        raise BadValueError(f"not a day: {text[:40]!r}", field=name, hint="write 2003-07-31, 2003-07 or 2003")
    if rest and not found % 100:
        found += 99 if found % 10_000 else rest
    return found


def _rulesets(rules: Rules, variant: str | None) -> Sequence[Ruleset]:
    """The rules to read by: those of the variant, else of each variant, the first one first."""
    if variant:
        return [rules.settle(variant)]
    return [rules.settle(one.name) for one in rules.variants]


def _key(rules: Rules, query: Query) -> int:
    """The key of a position, read by the first variant whose board it fits."""
    problem = ""
    for ruleset in _rulesets(rules, _variant(rules, query.variant)):
        try:
            return key_of(ruleset, ruleset.read(query.position))
        except ValueError as error:
            problem = problem or str(error)
    raise BadValueError(problem, field="position")


def _first_moves(rules: Rules, query: Query) -> tuple[str, ...]:
    """Moves in canonical text. Their legality is not asked: the games found may have begun elsewhere."""
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
    """A game by its number in the archive, as a line and whole. Raises NotFoundError."""
    return arena.store.archive.line(serial), arena.store.archive.get(serial)


def write(arena: Arena, serial: int, notation: str | None = None) -> str:
    """A game as it was imported, or in a notation of its family with the marks of its analysis, if people gave none.

    Raises NotFoundError, BadValueError.
    """
    game = arena.store.archive.get(serial)
    form = find_format(load(game.family), notation) if notation else None
    data = arena.store.analyses.get(game.id) if form else None
    try:
        return to_text(game, form, marks_of(data) if data else {})
    except ValueError as error:
        raise BadValueError(f"{notation} has no words for this game: {error}", field="notation") from None


def find_format(rules: Rules, name: str) -> GameFormat:
    """A notation of a family, or the arena's own `record`. Raises BadValueError."""
    formats = {form.name: form for form in (*rules.formats, RECORD)}
    if name not in formats:
        hint = did_you_mean(near(name, formats)) or "one of " + ", ".join(formats)
        raise BadValueError(f"unknown format of {rules.family} {name!r}", field="notation", hint=hint)
    return formats[name]


@dataclass(frozen=True, slots=True)
class PlayerFigures:
    """Games of a player in one family, from the player's view; `other` are without a known result."""

    family: str
    games: int
    wins: int
    draws: int
    losses: int
    other: int


@dataclass(frozen=True, slots=True)
class Player:
    """Somebody whose games are in the archive."""

    name: str
    families: list[PlayerFigures]
    opponents: list[tuple[str, int]]
    """Whom they met most often, and how often."""
    since: str
    until: str


def read_player(arena: Arena, name: str, most_opponents: int = 20) -> Player:
    """A player by the whole name. Raises NotFoundError that names near ones."""
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
    return Player(name, families, opponents.most_common(most_opponents), date_of(since), date_of(until))


def _result_of(meeting: Meeting, name: str) -> str:
    if meeting.winner in (None, "draw"):
        return meeting.winner or "other"
    winner = meeting.first if meeting.winner == "first" else meeting.second
    return "win" if winner == name else "loss"


# -- imports -----------------------------------------------------------------------------------------------------------


class NoGameError(ArenaError):
    """A text without any game of the family."""


@dataclass(frozen=True, slots=True)
class Import:
    """What came of a text: games read in which format, how many of them were new, and the bad ones with their place."""

    source: str
    format: str
    games: int
    new: int
    problems: list[GameProblem] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
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
) -> Import:
    """Import a text that an organiser sends. Raises ForbiddenError, BadValueError, NoGameError."""
    if "organise" not in by.scopes:
        raise ForbiddenError("only organisers import games", hint="ask one")
    rules = _family(family)
    ruleset = rules.settle(_variant(rules, variant))
    source = source.strip()
    if not source or len(source) > 80 or not source.isprintable():
        raise BadValueError("a collection needs a name", field="source", hint="80 characters at most")
    read = read_text(text, ruleset, find_format(rules, notation) if notation else None)
    found = take_in(arena, read, source)
    arena.note("archive.import", f"archive:{source}"[:120], by, family=family, new=found.new, bad=len(found.problems))
    return found


def take_in(arena: Arena, read: Collection, source: str) -> Import:
    """Keep the good games of a text that was read."""
    games = [to_archived(one, source, read.format) for one in read.games]
    return Import(source, read.format, len(games), arena.store.archive.add(games), read.problems)


def read_text(text: str, ruleset: Ruleset, form: GameFormat | None = None) -> Collection:
    """Read the games of a text, in `form` or in what fits best. Raises NoGameError."""
    try:
        if form is not None:
            return read_collection(text, form, ruleset)
        return best_reading(text, ruleset, (*ruleset.rules.formats, RECORD))
    except ValueError as error:
        raise NoGameError(f"{error}; it should hold games of {ruleset.rules.family}") from None
