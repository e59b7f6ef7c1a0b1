"""The arguments that choose games of the archive, and the search they stand for."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from arena.cli import choice
from arena.cli.exit import CommandError

if TYPE_CHECKING:
    from arena.store.archive import Search
    from referee.rules.rules import Ruleset


def add_search(parser: argparse.ArgumentParser) -> None:
    """What to look for."""
    parser.add_argument("--id", metavar="ID", help="the id of one game")
    parser.add_argument("--family", metavar="F", type=choice.family)
    parser.add_argument("--variant", metavar="V")
    parser.add_argument("--player", metavar="NAME", help="part of either player's name")
    parser.add_argument("--first", metavar="NAME", help="part of the name of who moved first")
    parser.add_argument("--second", metavar="NAME", help="part of the other name")
    parser.add_argument("--number", metavar="N", help="the number in its collection, else its place in the archive")
    parser.add_argument("--result", choices=("first", "second", "draw"), help="who won")
    parser.add_argument("--source", metavar="FILE", help="the file it was imported from")
    parser.add_argument("--moves", metavar='"M1 M2 …"', help="the first moves (needs --family)")
    parser.add_argument("--position", metavar="P", help="a position that occurred (needs --family)")


def read_search(arguments: argparse.Namespace) -> Search:
    """The search of the arguments. Raises CommandError, UnknownNameError, ParseError, IllegalMoveError."""
    from arena.store.archive import Search
    from arena.store.archived_game import position_key
    from referee.rules import load
    from referee.rules.position import Position

    moves: tuple[str, ...] = ()
    key = None
    if arguments.family:
        rules = load(arguments.family)
        ruleset = rules.settle(arguments.variant)
        if arguments.position:
            key = position_key(Position.start(ruleset, arguments.position))
        if arguments.moves:
            moves = _canonical(arguments.moves.split(), ruleset)
    elif arguments.moves or arguments.position:
        raise CommandError("moves and positions are those of a family; add --family F")
    return Search(
        arguments.id,
        arguments.family,
        arguments.variant,
        arguments.player,
        arguments.first,
        arguments.second,
        arguments.number,
        arguments.result,
        arguments.source,
        moves,
        key,
    )


def _canonical(words: list[str], ruleset: Ruleset) -> tuple[str, ...]:
    """Moves in canonical text. Their legality is not asked: the games found may have begun elsewhere."""
    from referee.rules.position import IllegalMoveError, Position

    notation, line = ruleset.rules.notation, Position.start(ruleset)
    found = []
    for word in words:
        code = notation.read_move(word, line.state, ruleset.config)
        found.append(notation.write_move(code))
        try:
            line = line.play(code)
        except IllegalMoveError:
            continue
    return tuple(found)
