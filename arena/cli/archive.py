"""`arena archive import|list|search|show|export`: collections of games people have, without server or database."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cli import choice, output
from arena.cli.exit import CommandError, Exit
from arena.cli.parser import examples

if TYPE_CHECKING:
    from arena.collections.collection import Collection
    from arena.store.archive import Archive, Search
    from arena.store.archived_game import ArchivedGame
    from referee.rules.rules import GameFormat, Rules, Ruleset

SHOWN = 50
"""How many games a search lists unless told otherwise."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the five sub-commands."""
    commands = parser.add_subparsers(dest="action", metavar="import|list|search|show|export", required=True)

    bring = commands.add_parser(
        "import",
        help="read files of games; bad games are listed, good ones kept",
        epilog=examples(
            (
                "arena archive import migs.txt --family abalone",
                "arena archive import x.otn --family tablut --format otn",
            )
        ),
    )
    bring.add_argument("files", nargs="+", metavar="FILE", help="game texts; - for stdin")
    bring.add_argument("--family", required=True, metavar="F")
    bring.add_argument("--format", metavar="FORMAT", help='see "arena rules list --json"; default: what fits best')
    choice.add_rules(bring, has_family=False)
    bring.set_defaults(act=_import)

    listing = commands.add_parser("list", help="where the games come from, and how many there are")
    listing.set_defaults(act=_list)

    search = commands.add_parser(
        "search",
        help="games by family, variant, players, number, opening moves and position",
        epilog=examples(
            (
                "arena archive search --family abalone --player picasso --number 427",
                'arena archive search --family loa --moves "c8c6 a6c4"',
            )
        ),
    )
    _add_search(search)
    search.add_argument("--limit", type=choice.positive, default=SHOWN, metavar="N", help=f"at most (default {SHOWN})")
    search.add_argument("--offset", type=choice.whole, default=0, metavar="N", help="leave out the first N")
    search.set_defaults(act=_search)

    show = commands.add_parser("show", help="draw one game, as arena replay does")
    _add_search(show)
    show.add_argument("--ply", metavar="N", type=choice.whole, help="the position after N plies (default: the last)")
    show.set_defaults(act=_show)

    export = commands.add_parser(
        "export",
        help="one game or a selection as text, JSON or NDJSON",
        epilog=examples(
            (
                "arena archive export --number 427 --family abalone > game.txt",
                "arena archive export --player picasso --form ndjson --out games.ndjson",
            )
        ),
    )
    _add_search(export)
    export.add_argument("--form", choices=("text", "json", "ndjson"), default="text", help="default: text")
    export.add_argument("--format", metavar="FORMAT", help="a notation of the family; default: the text imported")
    export.add_argument("--out", type=Path, metavar="FILE", help="default: stdout")
    export.set_defaults(act=_export)

    for command in (bring, listing, search, show, export):
        command.add_argument("--data", type=Path, default=Path("data"), metavar="DIR", help="data folder (./data)")
    for command in (bring, listing, search, show):
        command.add_argument("--json", action="store_true", help="one JSON document on stdout")


def _add_search(parser: argparse.ArgumentParser) -> None:
    """What to look for."""
    parser.add_argument("--id", metavar="ID", help="the id of one game")
    parser.add_argument("--family", metavar="F")
    parser.add_argument("--variant", metavar="V")
    parser.add_argument("--player", metavar="NAME", help="part of either player's name")
    parser.add_argument("--first", metavar="NAME", help="part of the name of who moved first")
    parser.add_argument("--second", metavar="NAME", help="part of the other name")
    parser.add_argument("--number", metavar="N", help="the number in its collection, else its place in the archive")
    parser.add_argument("--result", choices=("first", "second", "draw"), help="who won")
    parser.add_argument("--source", metavar="FILE", help="the file it was imported from")
    parser.add_argument("--moves", metavar='"M1 M2 …"', help="the first moves (needs --family)")
    parser.add_argument("--position", metavar="P", help="a position that occurred (needs --family)")


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen sub-command."""
    from arena.store.errors import StoreError

    try:
        return int(arguments.act(arguments))
    except StoreError as error:
        raise CommandError(str(error), Exit.FAILED) from None


def _open(arguments: argparse.Namespace) -> Archive:
    from arena.store.archive import FILE, Archive

    if arguments.act is not _import and not (arguments.data / FILE).exists():
        raise CommandError(
            f"no archive in {arguments.data}; fill one with: arena archive import FILE --family F", Exit.NOT_FOUND
        )
    return Archive(arguments.data)


def find_format(rules: Rules, name: str) -> GameFormat:
    """A notation of a family, or the arena's own `record`. Raises UnknownNameError."""
    from arena.cli.gametext import RECORD
    from referee.rules.core import UnknownNameError

    formats = {form.name: form for form in (*rules.formats, RECORD)}
    if name not in formats:
        raise UnknownNameError(f"format of {rules.family}", name, tuple(formats))
    return formats[name]


# import


def _import(arguments: argparse.Namespace) -> int:
    from arena.collections.conversion import to_archived

    ruleset = choice.settle(arguments)
    form = find_format(ruleset.rules, arguments.format) if arguments.format else None
    texts = [(name, _text(name)) for name in arguments.files]  # all are read before anything is kept
    files: list[dict[str, Any]] = []
    with closing(_open(arguments)) as archive:
        for name, text in texts:
            found = _read(text, name, ruleset, form)
            source = "stdin" if name == "-" else Path(name).name
            games = [to_archived(one, source, found.format) for one in found.games]
            files.append(_import_json(name, found, len(games), archive.add(games)))
    if arguments.json:
        output.document({"files": files})
    else:
        for file in files:
            _tell(file)
    return Exit.FAILED if any(file["bad"] for file in files) else Exit.DONE


def _text(name: str) -> str:
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(f"{name}: not UTF-8 text: {error.reason} at byte {error.start}") from None


def _read(text: str, name: str, ruleset: Ruleset, form: GameFormat | None) -> Collection:
    from arena.cli.gametext import RECORD
    from arena.collections.collection import best_reading, read_collection

    try:
        if form is not None:
            return read_collection(text, form, ruleset)
        return best_reading(text, ruleset, (*ruleset.rules.formats, RECORD))
    except ValueError as error:
        raise CommandError(f"{name}: {error}; it should hold games of {ruleset.rules.family}") from None


def _import_json(name: str, found: Collection, good: int, new: int) -> dict[str, Any]:
    bad = [
        {"line": one.line, "move": one.ply, "position": one.position, "problem": one.message} for one in found.problems
    ]
    return {"file": name, "format": found.format, "games": good, "new": new, "known": good - new, "bad": bad}


def _tell(file: Mapping[str, Any]) -> None:
    known = f", {file['known']} were there already" if file["known"] else ""
    output.text(f"{file['file']}: {file['new']} games imported as {file['format']}{known}, {len(file['bad'])} bad")
    for bad in file["bad"]:
        where = f", move {bad['move']}" if bad["move"] else ""
        output.text(f"  line {bad['line']}{where}: {bad['problem']}")
        if bad["position"]:
            output.text(f"    position {bad['position']}")


# list and search


def _list(arguments: argparse.Namespace) -> int:
    with closing(_open(arguments)) as archive:
        lines = archive.sources()
    if arguments.json:
        names = ("source", "family", "variant", "games")
        output.document({"sources": [dict(zip(names, line, strict=True)) for line in lines]})
    else:
        rows = [(source, family, variant, str(games)) for source, family, variant, games in lines]
        output.table(("source", "family", "variant", "games"), rows, numbers=("games",))
    return Exit.DONE


def _sought(arguments: argparse.Namespace) -> Search:
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


def _search(arguments: argparse.Namespace) -> int:
    search = _sought(arguments)
    with closing(_open(arguments)) as archive:
        total = archive.count(search)
        games = archive.find(search, limit=arguments.limit, offset=arguments.offset)
    if arguments.json:
        output.document({"games": [game.summary() for game in games], "total": total})
        return Exit.DONE
    columns = ("number", "family", "variant", "first", "second", "winner", "ended by", "plies", "source", "id")
    rows = [
        (
            *(game.number, game.family, game.variant, game.first, game.second, game.winner or "-"),
            *(game.termination, str(len(game.moves)), game.source, game.id),
        )
        for game in games
    ]
    output.table(columns, rows, numbers=("plies",))
    if total > len(games):
        output.note(f"{len(games)} of {total} games; more with --limit and --offset")
    return Exit.DONE


# show and export


def _chosen(arguments: argparse.Namespace) -> list[ArchivedGame]:
    search = _sought(arguments)
    with closing(_open(arguments)) as archive:
        games = archive.find(search)
    if not games:
        raise CommandError("no game of the archive matches; look with: arena archive search", Exit.NOT_FOUND)
    return games


def _show(arguments: argparse.Namespace) -> int:
    from arena.cli import replay

    games = _chosen(arguments)
    if len(games) > 1:
        output.note(f"the first of {len(games)} games; narrow the search, or name one by --id")
    replay.show(games[0].record(), arguments.ply, as_json=arguments.json)
    return Exit.DONE


def _export(arguments: argparse.Namespace) -> int:
    from arena.collections.conversion import to_text

    games = _chosen(arguments)
    if arguments.format and arguments.form != "text":
        raise CommandError("--format is a notation of texts; leave it out, or take --form text")
    if arguments.form == "json":
        records = [game.record().as_json() for game in games]
        text = json.dumps({"games": records}, ensure_ascii=False, indent=1) + "\n"
    elif arguments.form == "ndjson":
        text = "".join(f"{game.record().line()}\n" for game in games)
    else:
        parts = []
        for game in games:
            form = find_format(game.ruleset().rules, arguments.format) if arguments.format else None
            parts.append(to_text(game, form))
        text = "\n".join(parts)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")
        output.note(f"{len(games)} game{'s' if len(games) > 1 else ''} written to {arguments.out}")
    else:
        output.text(text.removesuffix("\n"))
    return Exit.DONE
