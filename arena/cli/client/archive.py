"""`arena archive`: import, search, show and export collections of games.

The archive is that of this machine's data folder; with `--server`, that of a server.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from arena.cli.source.database import DatabaseArguments
from arena.cli.source.source import GameFile, SourceArguments, open_source
from arena.cli.terminal import argument, output, text_input
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import NOT_FILTERS, PAGING, Actions, filters, option, positional
from arena.cli.terminal.game_view import meanings, show_record
from arena.cli.terminal.printer import ListOutput, Output, Printer, output_form, read_document
from arena.cli.terminal.rules_arguments import RulesArguments, family_option
from arena.documents.archive import ArchiveItem, ArchiveQuery, ArchiveSource, counted
from arena.documents.columns import ARCHIVE
from arena.documents.table import Column, text_column

_GROUP = "booklet (-o pdf)"


@dataclass(frozen=True, kw_only=True)
class FileArguments:
    """The file to write, and the options of a booklet."""

    output_file: Path | None = option("write to FILE (default: stdout); FILE.pdf is a booklet", metavar="FILE")
    layout: Literal["text", "presentation"] = option(
        "text: four diagrams to a page; presentation: one (default: text)",
        default="text",
        group=_GROUP,
    )
    language: str = option("language (default: en)", choices=("en", "fr"), default="en", group=_GROUP)
    title: str = option(
        "title of the booklet (default: that of its game, if it has only one)",
        metavar="TEXT",
        default="",
        group=_GROUP,
    )
    problems: str | None = option(
        'problems to append, from "arena problems find -o ndjson"; - for stdin', metavar="FILE", group=_GROUP
    )
    output: str = output_form(
        forms=("text", "json", "ndjson", "pdf"), meanings={"text": "game texts", "pdf": "a booklet of diagrams"}
    )

    @property
    def form(self) -> str:
        """The form of the file, which its ending may name."""
        return "pdf" if self.output_file and self.output_file.suffix.lower() == ".pdf" else self.output

    def check(self) -> None:
        """Raise CommandError for options that contradict each other."""
        if self.form != "pdf":
            if self.title or self.problems or self.layout != "text":
                raise CommandError("--title, --layout and --problems are for a booklet; remove them, or choose -o pdf")
        elif self.output_file is None:
            raise CommandError("a booklet is a file; name it with --output-file FILE.pdf")
        elif self.output not in ("text", "pdf"):
            problem = f"{self.output_file} would be a booklet, not {self.output}"
            raise CommandError(f"{problem}; name another file, or choose -o pdf")

    def booklet(self, records: Sequence[str]) -> bytes:
        """Return a booklet of the games, and of the problems in the file of `--problems`."""
        from arena.pages.drawing.booklet import BookletGame, make_booklet, problem_of
        from referee.game.record import read_record

        games = []
        for text in records:
            tags = json.loads(text).get("tags", {})
            games.append(BookletGame(read_record(text), tags, tags.get("Number", "")))
        lines = text_input.read_text(self.problems).splitlines() if self.problems else []
        problems = [problem_of(json.loads(line)) for line in lines if line.strip()]
        return make_booklet(games, problems, title=self.title, layout=self.layout, language=self.language)


@dataclass(frozen=True, kw_only=True)
class ImportArguments(RulesArguments, SourceArguments, Output):
    family: str = family_option("family of the games")
    files: tuple[str, ...] = positional("file of game texts; - for stdin", "FILE", nargs="+")
    notation: str | None = option(
        'notation of the texts, see "arena rules list --json" (default: the one that reads most moves)',
        metavar="NOTATION",
    )


@dataclass(frozen=True, kw_only=True)
class CollectionsArguments(SourceArguments, ListOutput):
    """Arguments of `arena archive list`."""


@dataclass(frozen=True, kw_only=True)
class SearchArguments(SourceArguments, ListOutput):
    filters: Mapping[str, Any] = filters(ArchiveQuery, without=(*PAGING, "order"))
    latest: bool = option(
        "descending order: the latest, longest or highest first", default=False, group="part of the list"
    )
    limit: int = option(
        "list COUNT games", metavar="COUNT", type=argument.positive, default=50, group="part of the list"
    )
    offset: int = option(
        "skip the first COUNT games", metavar="COUNT", type=argument.whole, default=0, group="part of the list"
    )


@dataclass(frozen=True, kw_only=True)
class ArchivedGameArguments(SourceArguments, Output):
    output: str = output_form(
        meanings={"table": "the board", "json": "the record and the position", "text": "the game text"}
    )
    filters: Mapping[str, Any] = filters(ArchiveQuery, without=NOT_FILTERS)
    ply: str | None = option(
        "show the position after PLY: a number, or a move of the first (17x) or second side (17y) (default: last)",
        metavar="PLY",
    )


@dataclass(frozen=True, kw_only=True)
class SelectionArguments(SourceArguments):
    filters: Mapping[str, Any] = filters(ArchiveQuery, without=NOT_FILTERS)
    notation: str | None = option(
        "write texts in this notation of the family (default: as they were imported)", metavar="NOTATION"
    )


@dataclass(frozen=True, kw_only=True)
class ExportArguments(FileArguments, SelectionArguments):
    """Arguments of `arena archive export`."""


@dataclass(frozen=True, kw_only=True)
class IndexArguments(DatabaseArguments, Output):
    """Arguments of `arena archive index`."""


def add_archive(parser: argparse.ArgumentParser) -> None:
    add = Actions(parser).add
    add(
        "import",
        _import,
        "import files of games; invalid games are listed, valid ones stored",
        "arena archive import migs.txt --family abalone",
        "arena archive import x.otn --family tablut --notation otn",
    )
    add("list", _list, "list the collections and their numbers of games")
    add(
        "search",
        _search,
        "search games by players, results, moves, positions and more",
        "arena archive search --family abalone --player picasso --number 427",
        'arena archive search --family loa --moves "c8c6 a6c4" --result draw --sort length',
        "arena archive search --server http://127.0.0.1:8000 --player picasso",
    )
    add("show", _show, "draw one game, as arena replay does", "arena archive show --number 427 --ply 12")
    add(
        "export",
        _export,
        "export one game or a selection as text, JSON or NDJSON",
        "arena archive export --number 427 --family abalone > game.txt",
        "arena archive export --player picasso -o ndjson --output-file games.ndjson",
        "arena archive export --number 427 --language fr --output-file booklet.pdf",
    )
    add("index", _index, "rebuild the index of all games; their numbers do not change")


# import


def _import(arguments: ImportArguments) -> int:
    ruleset = arguments.settle()
    # All are read before anything is stored.
    files = [GameFile(name, text_input.read_text(name), ruleset, arguments.notation) for name in arguments.files]
    with open_source(arguments) as source:
        reports = source.import_files(files)

    def show() -> None:
        for report in reports:
            _show_import(report)

    Printer(arguments).result({"files": reports}, show, "files")
    return Exit.FAILED if any(report["rejected"] for report in reports) else Exit.DONE


def _show_import(report: Mapping[str, Any]) -> None:
    known = f", {report['known']} known already" if report["known"] else ""
    output.text(
        f"{report['file']}: {_games(report['new'])} imported as {report['format']}{known}, {report['rejected']} bad"
    )
    if unread := report.get("unread"):
        many = "s" * (unread > 1)
        output.text(f"  {unread} variation{many} could not be read: kept as comment{many}")
    for bad in report["bad"]:
        where = f", move {bad['move']}" if bad["move"] else ""
        output.text(f"  line {bad['line']}{where}: {bad['problem']}")
        if bad["position"]:
            output.text(f"    position {bad['position']}")


# list, search, index


_COLLECTIONS: tuple[Column[ArchiveSource], ...] = (
    text_column("source", "source", lambda collection: collection.source),
    text_column("family", "family", lambda collection: collection.family),
    text_column("variant", "variant", lambda collection: collection.variant),
    Column("games", "games", lambda collection: collection.games),
)


def _list(arguments: CollectionsArguments) -> None:
    with open_source(arguments) as source:
        lines = source.collections()
    rows = [read_document(ArchiveSource, line) for line in lines]
    Printer(arguments).result({"sources": lines}, lambda: output.table(_COLLECTIONS, rows), "sources")


def _query(arguments: SearchArguments | ArchivedGameArguments | ExportArguments, **more: Any) -> ArchiveQuery:
    """Return the search that the arguments describe. Without `--server`, check it too; raises BadValueError."""
    from arena.services.archive import read_query

    query = ArchiveQuery(**{"order": "rising", **arguments.filters, **more})
    if not arguments.server:
        read_query(query)
    return query


def _search(arguments: SearchArguments) -> None:
    order = "falling" if arguments.latest else "rising"
    query = _query(arguments, order=order, limit=arguments.limit)
    with open_source(arguments) as source:
        result = source.search(query, offset=arguments.offset)
    rows = [read_document(ArchiveItem, line) for line in result.lines]
    Printer(arguments).result(
        {"games": result.lines, "total": result.total, "total_exact": result.total_exact},
        lambda: _show_games(rows),
        "games",
    )
    if result.total > len(result.lines) or not result.total_exact:
        output.note(
            f"{len(result.lines)} of {counted(result.total, result.total_exact)} games; more with --limit and --offset"
        )


def _show_games(rows: list[ArchiveItem]) -> None:
    output.table(ARCHIVE, rows)
    if ended := meanings(row.termination for row in rows):
        output.text("", *ended)


def _index(arguments: IndexArguments) -> None:
    from arena.cli.source.source import open_folder
    from arena.collections import following

    with open_folder(arguments) as folder:
        store = folder.arena.store
        count = following.rebuild(store, lambda done: output.progress(f"{done} games"))
        taken = following.follow(store)
    output.progress(f"{count} games", is_last=True)
    Printer(arguments).result(
        {"indexed": count, "taken": taken}, lambda: output.text(f"{count} games indexed again, {taken} added")
    )


# show, export


_NO_MATCH = "no game of the archive matches; `arena archive search` shows all"


def _show(arguments: ArchivedGameArguments) -> None:
    from referee.game.record import read_record

    query = _query(arguments)
    with open_source(arguments) as source:
        result = source.search(query)
        text = next(source.texts(query, "record"), None)
    if text is None:
        raise CommandError(_NO_MATCH, Exit.NOT_FOUND)
    if result.total > 1:
        count = counted(result.total, result.total_exact)
        output.note(f"the first of {count} games; narrow the search, or choose one with --id")
    show_record(read_record(text), arguments.ply, Printer(arguments))


def _export(arguments: ExportArguments) -> None:
    file, form = arguments.output_file, arguments.form
    if arguments.notation and form != "text":
        raise CommandError("--notation is for texts; remove it, or choose -o text")
    arguments.check()
    query = _query(arguments)
    with open_source(arguments) as source:
        parts = list(source.texts(query, arguments.notation if form == "text" else "record"))
    if not parts:
        raise CommandError(_NO_MATCH, Exit.NOT_FOUND)
    if form == "pdf" and file:
        file.write_bytes(arguments.booklet(parts))
        output.note(f"{_games(len(parts))} printed to {file}")
        return
    if form == "json":
        games = [json.loads(part) for part in parts]
        text = json.dumps({"games": games}, ensure_ascii=False, indent=1)
    else:
        text = "\n".join(part.rstrip("\n") if form == "ndjson" else part for part in parts).removesuffix("\n")
    if file:
        file.write_text(f"{text}\n", encoding="utf-8")
        output.note(f"{_games(len(parts))} written to {file}")
    else:
        output.text(text)


def _games(count: int) -> str:
    return "1 game" if count == 1 else f"{count} games"
