"""`arena archive import|list|search|show|export|index`: import, search, show and export games.

The archive is that of this machine's data folder; with `--server`, that of a server.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.cli.source.database import add_database
from arena.cli.source.source import GameFile, add_source, open_source
from arena.cli.terminal import argument, output, text_input
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.game_view import show_record
from arena.cli.terminal.printer import Printer, add_output, cell
from arena.cli.terminal.query_options import NOT_FILTERS, PAGING, add_options, read_options
from arena.documents.archive import ArchiveQuery, counted

DEFAULT_LIMIT = 50


def add(parser: argparse.ArgumentParser) -> None:
    actions = Actions(parser)

    bring = actions.add(
        "import",
        _import,
        "import files of games; invalid games are listed, valid ones stored",
        "arena archive import migs.txt --family abalone",
        "arena archive import x.otn --family tablut --notation otn",
    )
    bring.add_argument("files", nargs="+", metavar="FILE", help="file of game texts; - for stdin")
    bring.add_argument("--family", required=True, metavar="FAMILY", type=argument.family, help="family of the games")
    bring.add_argument(
        "--notation",
        metavar="NOTATION",
        help='notation of the texts, see "arena rules list --json" (default: the one that reads most moves)',
    )
    argument.add_rules(bring, has_family=False)

    listing = actions.add("list", _list, "list the collections and their numbers of games")

    search = actions.add(
        "search",
        _search,
        "search games by players, results, moves, positions and more",
        "arena archive search --family abalone --player picasso --number 427",
        'arena archive search --family loa --moves "c8c6 a6c4" --result draw --sort length',
        "arena archive search --server http://127.0.0.1:8000 --player picasso",
    )
    add_options(search, ArchiveQuery, without=(*PAGING, "order"))
    part = search.add_argument_group("part of the list")
    part.add_argument("--latest", action="store_true", help="descending order: the latest, longest or highest first")
    part.add_argument(
        "--limit",
        type=argument.positive,
        default=DEFAULT_LIMIT,
        metavar="COUNT",
        help=f"list COUNT games (default {DEFAULT_LIMIT})",
    )
    part.add_argument(
        "--offset", type=argument.whole, default=0, metavar="COUNT", help="skip the first COUNT games (default 0)"
    )

    show = actions.add("show", _show, "draw one game, as arena replay does", "arena archive show --number 427 --ply 12")
    add_options(show, ArchiveQuery, without=NOT_FILTERS)
    show.add_argument(
        "--ply",
        metavar="PLY",
        help="show the position after PLY: a number, or a move of the first (17x) or second side (17y) (default: last)",
    )

    export = actions.add(
        "export",
        _export,
        "export one game or a selection as text, JSON or NDJSON",
        "arena archive export --number 427 --family abalone > game.txt",
        "arena archive export --player picasso -o ndjson --output-file games.ndjson",
        "arena archive export --number 427 --language fr --output-file booklet.pdf",
    )
    add_options(export, ArchiveQuery, without=NOT_FILTERS)
    export.add_argument(
        "--notation",
        metavar="NOTATION",
        help="write texts in this notation of the family (default: as they were imported)",
    )
    export.add_argument(
        "--output-file", type=Path, metavar="FILE", help="write to FILE (default: stdout); FILE.pdf is a booklet"
    )
    booklet = export.add_argument_group("booklet (-o pdf)")
    booklet.add_argument(
        "--layout",
        choices=("text", "presentation"),
        default="text",
        help="text: four diagrams to a page; presentation: one (default: text)",
    )
    booklet.add_argument("--language", choices=("en", "fr"), default="en", help="language (default: en)")
    booklet.add_argument(
        "--title",
        metavar="TEXT",
        default="",
        help="title of the booklet (default: that of its game, if it has only one)",
    )
    booklet.add_argument(
        "--problems", metavar="FILE", help='problems to append, from "arena problems find -o ndjson"; - for stdin'
    )

    index = actions.add("index", _index, "rebuild the index of all games; their numbers do not change")

    for command in (bring, listing, search, show, export):
        add_source(command)
    add_database(index)
    for command in (bring, listing, search, index):
        add_output(command)
    add_output(show, meanings={"table": "the board", "json": "the record and the position", "text": "the game text"})
    add_output(
        export, forms=("text", "json", "ndjson", "pdf"), meanings={"text": "game texts", "pdf": "a booklet of diagrams"}
    )


# import


def _import(arguments: argparse.Namespace) -> int:
    ruleset = argument.settle(arguments)
    files = [
        GameFile(name, text_input.read_text(name), ruleset, arguments.notation) for name in arguments.files
    ]  # all are read before anything is stored
    with open_source(arguments, creates=True) as source:
        reports = source.import_files(files)

    def show() -> None:
        for report in reports:
            _show_import(report)

    Printer(arguments).result({"files": reports}, show, "files")
    return Exit.FAILED if any(report["rejected"] for report in reports) else Exit.DONE


def _show_import(report: Mapping[str, Any]) -> None:
    known = f", {report['known']} known already" if report["known"] else ""
    games = "1 game" if report["new"] == 1 else f"{report['new']} games"
    output.text(f"{report['file']}: {games} imported as {report['format']}{known}, {report['rejected']} bad")
    for bad in report["bad"]:
        where = f", move {bad['move']}" if bad["move"] else ""
        output.text(f"  line {bad['line']}{where}: {bad['problem']}")
        if bad["position"]:
            output.text(f"    position {bad['position']}")


# list, search, index


def _list(arguments: argparse.Namespace) -> int:
    names = ("source", "family", "variant", "games")
    with open_source(arguments) as source:
        lines = source.collections()
    rows = [[str(line[name]) for name in names] for line in lines]
    Printer(arguments).result({"sources": lines}, lambda: output.table(names, rows, numbers=("games",)), "sources")
    return Exit.DONE


_COLUMNS = {
    "number": "number",
    "family": "family",
    "variant": "variant",
    "first": "first",
    "second": "second",
    "winner": "winner",
    "termination": "termination",
    "plies": "plies",
    "date": "date",
    "source": "source",
    "id": "id",
}
"""Columns of a search: heading and key."""
_DROP = ("id", "source", "variant", "date", "termination", "plies", "family")


def _query(arguments: argparse.Namespace, **more: Any) -> ArchiveQuery:
    """Return the search that the arguments describe. Without `--server`, check it too; raises BadValueError."""
    from arena.services.archive import read_query

    query = ArchiveQuery(**{"order": "rising"} | read_options(arguments, ArchiveQuery, without=NOT_FILTERS) | more)
    if not arguments.server:
        read_query(query)
    return query


def _search(arguments: argparse.Namespace) -> int:
    order = "falling" if arguments.latest else "rising"
    query = _query(arguments, sort=arguments.sort, order=order, limit=arguments.limit)
    with open_source(arguments) as source:
        found = source.search(query, offset=arguments.offset)
    rows = [[cell(line[key]) for key in _COLUMNS.values()] for line in found.lines]
    Printer(arguments).result(
        {"games": found.lines, "total": found.total, "total_exact": found.total_exact},
        lambda: output.table(tuple(_COLUMNS), rows, numbers=("plies",), drop=_DROP),
        "games",
    )
    if found.total > len(found.lines) or not found.total_exact:
        output.note(
            f"{len(found.lines)} of {counted(found.total, found.total_exact)} games; more with --limit and --offset"
        )
    return Exit.DONE


def _index(arguments: argparse.Namespace) -> int:
    from arena.cli.source.folder_source import open_folder
    from arena.collections import following

    with open_folder(arguments, creates=False) as folder:
        store = folder.arena.store
        count = following.rebuild(store, lambda done: output.progress(f"{done} games"))
        taken = following.follow(store)
    output.progress(f"{count} games", is_last=True)
    Printer(arguments).result(
        {"indexed": count, "taken": taken}, lambda: output.text(f"{count} games indexed again, {taken} added")
    )
    return Exit.DONE


# show, export


_NO_MATCH = "no game of the archive matches; look with: arena archive search"


def _show(arguments: argparse.Namespace) -> int:
    from referee.game.record import read_record

    query = _query(arguments)
    with open_source(arguments) as source:
        found = source.search(query)
        text = next(source.texts(query, "record"), None)
    if text is None:
        raise CommandError(_NO_MATCH, Exit.NOT_FOUND)
    if found.total > 1:
        output.note(
            f"the first of {counted(found.total, found.total_exact)} games; narrow the search, or choose one with --id"
        )
    show_record(read_record(text), arguments.ply, Printer(arguments))
    return Exit.DONE


def _export(arguments: argparse.Namespace) -> int:
    form = "pdf" if _is_pdf(arguments.output_file) else arguments.output
    if arguments.notation and form != "text":
        raise CommandError("--notation is for texts; remove it, or choose -o text")
    if form == "pdf" and arguments.output_file is None:
        raise CommandError("a booklet is a file; name it with --output-file FILE.pdf")
    query = _query(arguments)
    with open_source(arguments) as source:
        parts = list(source.texts(query, arguments.notation if form == "text" else "record"))
    if not parts:
        raise CommandError(_NO_MATCH, Exit.NOT_FOUND)
    if form == "pdf":
        arguments.output_file.write_bytes(_booklet(parts, arguments))
        output.note(f"{len(parts)} game{'s' if len(parts) > 1 else ''} printed to {arguments.output_file}")
        return Exit.DONE
    if form == "json":
        games = [json.loads(part) for part in parts]
        text = json.dumps({"games": games}, ensure_ascii=False, indent=1)
    else:
        text = "\n".join(part.rstrip("\n") if form == "ndjson" else part for part in parts)
    if arguments.output_file:
        arguments.output_file.write_text(f"{text.removesuffix(chr(10))}\n", encoding="utf-8")
        output.note(f"{len(parts)} game{'s' if len(parts) > 1 else ''} written to {arguments.output_file}")
    else:
        output.text(text.removesuffix("\n"))
    return Exit.DONE


def _is_pdf(path: Path | None) -> bool:
    return path is not None and path.suffix.lower() == ".pdf"


def _booklet(records: Sequence[str], arguments: argparse.Namespace) -> bytes:
    """Return a booklet of the games, and of the problems in the file of `--problems`."""
    from arena.pages.drawing.booklet import BookletGame, make_booklet, problem_of
    from referee.game.record import read_record

    games = []
    for text in records:
        tags = json.loads(text).get("tags", {})
        games.append(BookletGame(read_record(text), tags, tags.get("Number", "")))
    lines = text_input.read_text(arguments.problems).splitlines() if arguments.problems else []
    problems = [problem_of(json.loads(line)) for line in lines if line.strip()]
    return make_booklet(games, problems, title=arguments.title, layout=arguments.layout, language=arguments.language)
