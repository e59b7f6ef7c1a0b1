"""`arena problems find`: search games of a file or of the archive for problems."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from arena.cli.source.source import SourceArguments, open_source
from arena.cli.terminal import argument, output, text_input
from arena.cli.terminal.exit import CommandError
from arena.cli.terminal.fields import option
from arena.cli.terminal.interrupt import interruptible
from arena.cli.terminal.printer import ListOutput, Printer
from arena.cli.terminal.rules_arguments import RulesArguments
from arena.documents.archive import ArchiveQuery
from arena.documents.table import Column, text_column
from arena.features.problems.cli.solve import NODES
from arena.features.problems.documents import MAX_MOVES, FoundProblem

if TYPE_CHECKING:
    from arena.collections.collection import CollectedGame, Collection
    from referee.rules.rules import Ruleset
    from referee.solver.mining import MinedProblem, MiningLimits


def _lengths(text: str) -> tuple[int, int]:
    shortest, _, longest = text.partition("..")
    low, high = argument.between(shortest, 1, MAX_MOVES), argument.between(longest or shortest, 1, MAX_MOVES)
    if low > high:
        raise argparse.ArgumentTypeError(f'invalid lengths "{text[:20]}": expected the smaller number first, as 2..5')
    return low, high


@dataclass(frozen=True, kw_only=True)
class FindArguments(RulesArguments, SourceArguments, ListOutput):
    collection: str | None = option(
        "game texts in any notation of the family; - for stdin", metavar="FILE", only_one="where!"
    )
    arena: bool = option("examine games of the archive, the latest first", default=False, only_one="where!")
    games: int = option("with --arena: examine COUNT games", metavar="COUNT", type=argument.positive, default=1000)
    lengths: tuple[int, int] | None = option(
        "length of the win in moves of the winning side: N or N..M (default: 2..5)",
        "--in",
        metavar="MOVES",
        type=_lengths,
    )
    unique: bool = option("only problems with a single key move", default=False)
    nodes: int = option(
        "give up on a position after playing COUNT moves", metavar="COUNT", type=NODES, default=1_000_000
    )
    limit: int | None = option("stop after COUNT problems", metavar="COUNT", type=argument.positive)


def find(arguments: FindArguments) -> None:
    """Search the games of a file or of the archive, and print the problems."""
    from referee.solver.mining import MiningLimits

    shortest, longest = arguments.lengths or (2, 5)
    limits = MiningLimits(shortest, longest, arguments.unique, arguments.nodes)
    problems: list[FoundProblem] = []
    count = 0
    with contextlib.ExitStack() as stack:
        for game in _games(arguments, stack):
            count += 1
            output.progress(f"game {count}, {len(problems)} problems found")
            for mined in interruptible(_mined, game, limits):
                if arguments.limit is None or len(problems) < arguments.limit:
                    problems.append(_problem(mined, game))
            if len(problems) == arguments.limit:
                break
    output.progress("")
    documents = [problem.as_json() for problem in problems]
    Printer(arguments).result(
        {"problems": documents, "games": count}, lambda: output.table(_COLUMNS, problems), "problems"
    )


@dataclass(frozen=True, slots=True)
class _Game:
    """A game to search for problems: `name` describes it, `line` is its place in the file (0 in the archive)."""

    ruleset: Ruleset
    start: str | None
    moves: Sequence[str]
    name: str
    line: int = 0


def _games(arguments: FindArguments, stack: contextlib.ExitStack) -> Iterator[_Game]:
    """Yield the games of the file, or those of the archive."""
    if arguments.collection:
        if arguments.data or arguments.server:
            raise CommandError("--collection is a file; remove --data and --server, or choose --arena")
        for game in _collected(arguments.collection, arguments.settle()):
            yield _Game(game.ruleset, game.game.position, game.game.moves, _players(game.game.tags), game.line)
        return
    from referee.game.record import read_record, ruleset_of

    query = ArchiveQuery(family=arguments.family, variant=arguments.variant, order="falling")
    source = stack.enter_context(open_source(arguments))
    for text in islice(source.texts(query, "record"), arguments.games):
        record = read_record(text)
        yield _Game(ruleset_of(record), record.position, record.moves, f"{record.first} - {record.second}")


def _players(tags: Mapping[str, str]) -> str:
    """Format the players of a game; empty unless its tags name both."""
    names = [tags.get(name, "") for name in ("First", "Second")]
    return " - ".join(names) if all(names) else ""


def _mined(game: _Game, limits: MiningLimits) -> list[MinedProblem]:
    from referee.solver.mining import mine

    return list(mine(game.ruleset, game.start, game.moves, limits))


def _collected(file: str, ruleset: Ruleset) -> list[CollectedGame]:
    """Return the valid games of the collection, and report the invalid ones."""
    from arena.collections.best_reading import best_reading
    from arena.collections.recorded import RECORD

    text = text_input.read_text(file)
    try:
        collection: Collection = best_reading(text, ruleset, (*ruleset.rules.formats, RECORD))
    except ValueError as error:
        raise CommandError(f"{file}: {error}") from None
    output.note(*(f"{file}: {problem}" for problem in collection.problems))
    return list(collection.games)


def _problem(mined: MinedProblem, game: _Game) -> FoundProblem:
    write, solution = game.ruleset.rules.notation.write_move, mined.solution
    return FoundProblem(
        family=game.ruleset.rules.family,
        variant=game.ruleset.variant.name,
        options=dict(game.ruleset.overrides),
        position=str(mined.position),
        side=mined.position.side,
        moves=solution.moves or 0,
        keys=sorted(map(write, solution.keys)),
        unique=solution.is_unique,
        line=list(map(write, solution.line)),
        quiet=mined.is_quiet,
        tries=mined.tries,
        level=mined.level,
        source=f"{game.name}, ply {mined.ply}".removeprefix(", ")[-80:],
        game_line=game.line,
        ply=mined.ply,
    )


_COLUMNS: tuple[Column[FoundProblem], ...] = (
    Column("in", "in", lambda problem: problem.moves),
    text_column("level", "level", lambda problem: problem.level),
    text_column("unique", "unique", lambda problem: problem.unique),
    text_column("quiet", "quiet", lambda problem: problem.quiet, drop=1),
    Column("tries", "tries", lambda problem: problem.tries, drop=2),
    text_column("keys", "key", lambda problem: " ".join(problem.keys[:3]) + (" …" if len(problem.keys) > 3 else "")),
    text_column("side", "side", lambda problem: problem.side),
    text_column("position", "position", lambda problem: problem.position),
)
