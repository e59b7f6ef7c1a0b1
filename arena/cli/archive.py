"""`arena archive import|list|search|show|export`: collections of games people have, without server or database."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cli import choice, output, source
from arena.cli.actions import Actions
from arena.cli.archive_search import add_search, read_search
from arena.cli.exit import CommandError, Exit

if TYPE_CHECKING:
    from arena.collections.collection import Collection
    from arena.store.archive import Archive
    from arena.store.archived_game import ArchivedGame
    from referee.rules.rules import GameFormat, Rules, Ruleset

SHOWN = 50
"""How many games a search lists unless told otherwise."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the five sub-commands."""
    actions = Actions(parser)

    bring = actions.add(
        "import",
        _import,
        "read files of games; bad games are listed, good ones kept",
        "arena archive import migs.txt --family abalone",
        "arena archive import x.otn --family tablut --format otn",
    )
    bring.add_argument("files", nargs="+", metavar="FILE", help="game texts; - for stdin")
    bring.add_argument("--family", required=True, metavar="F", type=choice.family)
    bring.add_argument("--format", metavar="FORMAT", help='see "arena rules list --json"; default: what fits best')
    choice.add_rules(bring, has_family=False)

    listing = actions.add("list", _list, "where the games come from, and how many there are")

    search = actions.add(
        "search",
        _search,
        "games by family, variant, players, number, opening moves and position",
        "arena archive search --family abalone --player picasso --number 427",
        'arena archive search --family loa --moves "c8c6 a6c4"',
    )
    add_search(search)
    search.add_argument("--limit", type=choice.positive, default=SHOWN, metavar="N", help=f"at most (default {SHOWN})")
    search.add_argument("--offset", type=choice.whole, default=0, metavar="N", help="leave out the first N")

    show = actions.add("show", _show, "draw one game, as arena replay does")
    add_search(show)
    show.add_argument("--ply", metavar="N", type=choice.whole, help="the position after N plies (default: the last)")

    export = actions.add(
        "export",
        _export,
        "one game or a selection as text, JSON or NDJSON",
        "arena archive export --number 427 --family abalone > game.txt",
        "arena archive export --player picasso --form ndjson --out games.ndjson",
    )
    add_search(export)
    export.add_argument("--form", choices=("text", "json", "ndjson"), default="text", help="default: text")
    export.add_argument("--format", metavar="FORMAT", help="a notation of the family; default: the text imported")
    export.add_argument("--out", type=Path, metavar="FILE", help="default: stdout")

    for command in (bring, listing, search, show, export):
        command.add_argument("--data", type=Path, default=Path("data"), metavar="DIR", help="data folder (./data)")
    for command in (bring, listing, search, show):
        command.add_argument("--json", action="store_true", help="one JSON document on stdout")


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
    texts = [(name, source.read_text(name)) for name in arguments.files]  # all are read before anything is kept
    files: list[dict[str, Any]] = []
    with closing(_open(arguments)) as archive:
        for name, text in texts:
            found = _read(text, name, ruleset, form)
            origin = "stdin" if name == "-" else Path(name).name
            games = [to_archived(one, origin, found.format) for one in found.games]
            files.append(_import_json(name, found, len(games), archive.add(games)))
    if arguments.json:
        output.document({"files": files})
    else:
        for file in files:
            _tell(file)
    return Exit.FAILED if any(file["bad"] for file in files) else Exit.DONE


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
        rows = [(origin, family, variant, str(games)) for origin, family, variant, games in lines]
        output.table(("source", "family", "variant", "games"), rows, numbers=("games",))
    return Exit.DONE


def _search(arguments: argparse.Namespace) -> int:
    search = read_search(arguments)
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
    output.table(columns, rows, numbers=("plies",), drop=("id", "source", "variant", "ended by", "plies", "family"))
    if total > len(games):
        output.note(f"{len(games)} of {total} games; more with --limit and --offset")
    return Exit.DONE


# show and export


def _chosen(arguments: argparse.Namespace) -> list[ArchivedGame]:
    search = read_search(arguments)
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
        records = [_record_json(game) for game in games]
        text = json.dumps({"games": records}, ensure_ascii=False, indent=1) + "\n"
    elif arguments.form == "ndjson":
        text = "".join(f"{json.dumps(_record_json(game), ensure_ascii=False)}\n" for game in games)
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


def _record_json(game: ArchivedGame) -> dict[str, Any]:
    """The game as a record, with what its text said of it: an import of this is the same game with the same number."""
    tags = {**game.tags, **({"Number": game.number} if game.number else {})}
    return {**game.record().as_json(), "tags": tags}
