"""The archive of games: parse search forms, show games and players, import games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from arena.analysis.game_analysis import annotated
from arena.collections.best_reading import best_reading
from arena.collections.collection import Collection, read_collection
from arena.collections.conversion import to_record, to_text
from arena.collections.recorded import RECORD
from arena.collections.uploaded_text import uploaded
from arena.documents.account import Identity
from arena.documents.archive import (
    ArchiveItem,
    ArchivePage,
    ArchiveQuery,
    ArchiveResponse,
    ArchiveSources,
    CollectionReport,
    ImportResponse,
    RejectedGame,
)
from arena.errors import BadValueError, ForbiddenError, NotFoundError
from arena.services.arena import Arena
from arena.store.archive.archive import ArchivedPairing
from arena.store.archive.archived_game import ArchivedGame, date_of
from arena.store.archive.search import ArchiveSearch
from arena.store.base.tables.archive import StoredImport
from referee.errors import ArenaError, did_you_mean, near
from referee.game.record import GameRecord
from referee.rules import load
from referee.rules.core import ParseError, UnknownNameError
from referee.rules.position import IllegalMoveError, Position
from referee.rules.rules import GameFormat, Rules, Ruleset
from referee.rules.symmetry import key_of

MAX_TEXT_BYTES = 4 * 1024 * 1024
"""Maximum size of an uploaded text."""


def search(arena: Arena, query: ArchiveQuery) -> ArchivePage:
    """Return one part of the matching games. Raises BadValueError that names the field."""
    return arena.store.archive.search(read_query(query))


def read_query(query: ArchiveQuery) -> ArchiveSearch:
    """Parse variant, position and moves by the rules of the family. Raises BadValueError that names the field."""
    rules = _family(query.family) if query.family else None
    if rules is None:
        for name in ("moves", "position"):
            if getattr(query, name):
                raise BadValueError(
                    f"searching for {name} requires a family", field=name, hint="choose a family (--family)"
                )
    variant = _variant(rules, query.variant) if rules else query.variant
    return ArchiveSearch(
        query=replace(query, family=rules.family if rules else None, variant=variant),
        key=_key(rules, query) if rules and query.position else None,
        first_moves=_first_moves(rules, query) if rules and query.moves else (),
    )


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


def _rulesets(rules: Rules, variant: str | None) -> Sequence[Ruleset]:
    """Return the rules to parse with: those of the given variant, else those of every variant in turn."""
    if variant:
        return [rules.settle(variant)]
    return [rules.settle(one.name) for one in rules.variants]


def _key(rules: Rules, query: ArchiveQuery) -> int:
    """Return the key of a position, parsed by the first variant whose board it fits."""
    problem = ""
    for ruleset in _rulesets(rules, _variant(rules, query.variant)):
        try:
            return key_of(ruleset, ruleset.read(query.position))
        except ValueError as error:
            problem = problem or str(error)
    raise BadValueError(problem, field="position")


def _first_moves(rules: Rules, query: ArchiveQuery) -> tuple[str, ...]:
    """Return the moves in canonical notation. Illegal ones are kept: a game may begin in another position."""
    ruleset = _rulesets(rules, _variant(rules, query.variant))[0]
    line, moves = Position.start(ruleset), []
    for word in (query.moves or "").split():
        try:
            code = rules.notation.read_move(word, line.state, ruleset.config)
        except ParseError as error:
            raise BadValueError(str(error), field="moves") from None
        moves.append(rules.notation.write_move(code))
        try:
            line = line.play(code)
        except IllegalMoveError:
            continue
    return tuple(moves)


# -- one game, one player ----------------------------------------------------------------------------------------------


def read(arena: Arena, serial: int) -> ArchiveResponse:
    """Return the game with this archive number. Raises NotFoundError."""
    return _response(arena.store.archive.line(serial), arena.store.archive.get(serial))


def read_with_record(arena: Arena, serial: int) -> tuple[ArchiveResponse, GameRecord]:
    """Return the game with this archive number, and the same as a record of the arena. Raises NotFoundError."""
    line, game = arena.store.archive.line(serial), arena.store.archive.get(serial)
    return _response(line, game), to_record(game)


def _response(line: ArchiveItem, game: ArchivedGame) -> ArchiveResponse:
    return ArchiveResponse(
        serial=line.serial,
        number=line.number,
        id=line.id,
        family=line.family,
        variant=line.variant,
        first=line.first,
        second=line.second,
        winner=line.winner,
        termination=line.termination,
        source=line.source,
        plies=line.plies,
        date=line.date,
        options=dict(game.options),
        position=game.position,
        moves=list(game.moves),
        tags=dict(game.tags),
        notations=[form.name for form in game.ruleset().rules.formats],
        text=game.text,
    )


def record_of(arena: Arena, serial: int) -> GameRecord:
    """Return the game with this archive number as a record of the arena. Raises NotFoundError."""
    return to_record(arena.store.archive.get(serial))


def sources(arena: Arena) -> ArchiveSources:
    """Return all collections, with the number of games of each variant."""
    return ArchiveSources(arena.store.archive.sources())


def names(arena: Arena, kind: str) -> tuple[str, ...]:
    """Return all names of a kind: `player`, `variant`, `termination` or `source`."""
    return arena.store.archive.names(kind)


def write(arena: Arena, serial: int, notation: str | None = None) -> str:
    """Return the text of a game as it was imported, or in a notation of its family.

    In a notation, the engine's marks and lines are added unless people have annotated the game.

    Raises NotFoundError, BadValueError.
    """
    game = arena.store.archive.get(serial)
    form = find_format(load(game.family), notation) if notation else None
    data = arena.store.analyses.get(game.id) if form else None
    try:
        return to_text(game, form, annotated(to_record(game), data) if data else None)
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
    name: str
    families: list[PlayerFigures]
    opponents: list[tuple[str, int]]
    """The most frequent opponents, each with the number of games."""
    since: str
    until: str


def read_player(arena: Arena, name: str) -> ArchivePlayer:
    """Return the player with exactly this name. Raises NotFoundError that names similar ones."""
    meetings = arena.store.archive.of_player(name)
    if not meetings:
        raise NotFoundError("player of the archive", name, arena.store.archive.names("player"))
    results: dict[str, Counter[str]] = {}
    opponents: Counter[str] = Counter()
    for meeting in meetings:
        results.setdefault(meeting.family, Counter())[_result_of(meeting, name)] += meeting.games
        opponents[meeting.second if meeting.first == name else meeting.first] += meeting.games
    families = [
        PlayerFigures(family, mine.total(), mine["win"], mine["draw"], mine["loss"], mine["other"])
        for family, mine in sorted(results.items())
    ]
    since = min((meeting.since for meeting in meetings if meeting.since), default=0)
    until = max(meeting.until for meeting in meetings)
    return ArchivePlayer(name, families, opponents.most_common(20), date_of(since), date_of(until))


def _result_of(meeting: ArchivedPairing, name: str) -> str:
    if meeting.winner in (None, "draw"):
        return meeting.winner or "other"
    winner = meeting.first if meeting.winner == "first" else meeting.second
    return "win" if winner == name else "loss"


# -- imports -----------------------------------------------------------------------------------------------------------


_NO_GAME = "the text contains no game; expected games of {}"


class NoGameError(ArenaError):
    """The text holds no game of the family."""


def start_import(
    arena: Arena,
    text: str,
    by: Identity,
    *,
    family: str,
    source: str,
    variant: str | None = None,
    notation: str | None = None,
) -> ImportResponse:
    """Store a text of games that an organiser has uploaded; the coordinator reads it.

    Raises ForbiddenError, BadValueError, NoGameError, QuotaError.
    """
    if "organise" not in by.scopes:
        raise ForbiddenError("only organisers may import games", hint="ask an organiser")
    rules = _family(family)
    source = source.strip()
    if not source or len(source) > 80 or not source.isprintable():
        raise BadValueError("invalid name of a collection", field="source", hint="write 1 to 80 printable characters")
    if not text.strip():
        raise NoGameError(_NO_GAME.format(family))
    row = StoredImport(
        source=source,
        family=family,
        variant=rules.settle(_variant(rules, variant)).variant.name,
        notation=find_format(rules, notation).name if notation else "",
        lines=len(text.splitlines()),
        created_by=by.user_id,
    )
    number = arena.store.imports.add(row, text)
    arena.note("archive.import", f"archive:{source}"[:120], by, family=family, number=number)
    arena.wake()
    return arena.store.imports.get(number)


def read_import(arena: Arena, number: int, by: Identity) -> ImportResponse:
    """Return the progress of an import, for organisers. Raises ForbiddenError, NotFoundError."""
    if "organise" not in by.scopes:  # its list of rejected games quotes the text
        raise ForbiddenError("only organisers see imports", hint="ask an organiser")
    return arena.store.imports.get(number)


def latest_imports(arena: Arena) -> list[ImportResponse]:
    """Return the latest imports, latest first."""
    return arena.store.imports.latest(10)


def store_collection(arena: Arena, read: Collection, source: str) -> CollectionReport:
    """Store the valid games of a parsed text in a collection, without an import by the coordinator."""
    parsed = uploaded(read, source)
    new = arena.store.archive.add_indexed(parsed.games)
    bad = [RejectedGame(game.line, game.ply, game.position, game.message) for game in parsed.problems]
    games = len(parsed.games)
    return CollectionReport(
        file=source,
        format=parsed.format,
        games=games,
        new=new,
        known=games - new,
        rejected=len(bad),
        bad=bad,
        unread=read.comments,
    )


def read_text(text: str, ruleset: Ruleset, form: GameFormat | None = None) -> Collection:
    """Parse the games of a text, in `form` or else in the format that fits best. Raises NoGameError."""
    try:
        if form is not None:
            return read_collection(text, form, ruleset)
        return best_reading(text, ruleset, (*ruleset.rules.formats, RECORD))
    except ValueError:
        raise NoGameError(_NO_GAME.format(ruleset.rules.family)) from None
