"""`arena archive import|list|search|show|export|index`: games people have and games played here.

In the database here, without a server; with `--server` in that of a server.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cli import archive_server, choice, output, source
from arena.cli.actions import Actions
from arena.cli.archive_server import asked, order_of
from arena.cli.database import add_database, open_any, settings_of
from arena.cli.exit import CommandError, Exit
from arena.cli.query_options import NOT_FILTERS, PAGING, add_options
from arena.documents.archive import ArchiveQuery
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.services.arena import Arena
    from arena.store.archive.archived_game import ArchivedGame

SHOWN = 50
"""How many games a search lists unless told otherwise."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the sub-commands."""
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
        "games by anything they have, positions included",
        "arena archive search --family abalone --player picasso --number 427",
        'arena archive search --family loa --moves "c8c6 a6c4" --result draw --sort length',
        "arena archive search --server http://127.0.0.1:8000 --player picasso",
    )
    add_options(search, ArchiveQuery, without=(*PAGING, "order"))
    search.add_argument("--latest", action="store_true", help="the latest, or the longest, first")
    search.add_argument("--limit", type=choice.positive, default=SHOWN, metavar="N", help=f"at most (default {SHOWN})")
    search.add_argument("--offset", type=choice.whole, default=0, metavar="N", help="leave out the first N")

    show = actions.add("show", _show, "draw one game, as arena replay does")
    add_options(show, ArchiveQuery, without=NOT_FILTERS)
    show.add_argument("--ply", metavar="N", help="after ply N, or after a side's move: 17x, 17y (default: the last)")

    export = actions.add(
        "export",
        _export,
        "one game or a selection as text, JSON or NDJSON",
        "arena archive export --number 427 --family abalone > game.txt",
        "arena archive export --player picasso --form ndjson --out games.ndjson",
    )
    add_options(export, ArchiveQuery, without=NOT_FILTERS)
    export.add_argument("--form", choices=("text", "json", "ndjson"), default="text", help="default: text")
    export.add_argument("--format", metavar="FORMAT", help="a notation of the family; default: the text imported")
    export.add_argument("--out", type=Path, metavar="FILE", help="default: stdout")

    index = actions.add("index", _index, "make the index of all games anew; their numbers stay as they are")

    for command in (bring, listing, search, show, export, index):
        add_database(command)
    for command in (bring, listing, search, show, export):
        archive_server.add_server(command)
    for command in (bring, listing, search, show, index):
        command.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen sub-command."""
    return int(arguments.act(arguments))


@contextmanager
def _open(arguments: argparse.Namespace) -> Iterator[Arena]:
    """The arena whose archive is meant; importing into a data folder without one makes it."""
    from arena.data_folder import make_folder
    from arena.services.arena import Arena
    from arena.store.base import schema

    settings = settings_of(arguments)
    file = settings.database_url.removeprefix("sqlite:///")
    if arguments.act is not _import and file != settings.database_url and not Path(file).exists():
        raise CommandError(
            f"no archive in {settings.data}; fill one with: arena archive import FILE --family F", Exit.NOT_FOUND
        )
    make_folder(settings.data, is_passage=True)
    with closing(open_any(settings)) as store:
        if schema.is_fresh(store.engine):
            store.upgrade()
        store.require()
        yield Arena(store, settings)


# import


def _import(arguments: argparse.Namespace) -> int:
    from arena.services.archive import find_format, read_text, store_collection

    ruleset = choice.settle(arguments)
    form = find_format(ruleset.rules, arguments.format) if arguments.format else None
    texts = [(name, source.read_text(name)) for name in arguments.files]  # all are read before anything is kept
    if archive_server.is_meant(arguments):
        return _report(arguments, [archive_server.take_in(arguments, name, text) for name, text in texts])
    read = []
    for name, text in texts:
        try:
            read.append((name, read_text(text, ruleset, form)))
        except ArenaError as error:
            raise CommandError(f"{name}: {error}") from None
    files: list[dict[str, Any]] = []
    with _open(arguments) as arena:
        for name, collection in read:
            found = store_collection(arena, collection, "stdin" if name == "-" else Path(name).name)
            files.append({**asdict(found), "file": name})
    return _report(arguments, files)


def _report(arguments: argparse.Namespace, files: list[dict[str, Any]]) -> int:
    """What became of the files."""
    if arguments.json:
        output.document({"files": files})
    else:
        for file in files:
            _tell(file)
    return Exit.FAILED if any(file["bad"] for file in files) else Exit.DONE


def _tell(file: Mapping[str, Any]) -> None:
    known = f", {file['known']} were there already" if file["known"] else ""
    games = "1 game" if file["new"] == 1 else f"{file['new']} games"
    output.text(f"{file['file']}: {games} imported as {file['format']}{known}, {len(file['bad'])} bad")
    for bad in file["bad"]:
        where = f", move {bad['move']}" if bad["move"] else ""
        output.text(f"  line {bad['line']}{where}: {bad['problem']}")
        if bad["position"]:
            output.text(f"    position {bad['position']}")


# list, search, follow


def _list(arguments: argparse.Namespace) -> int:
    names = ("source", "family", "variant", "games")
    if archive_server.is_meant(arguments):
        lines = archive_server.sources(arguments)
    else:
        with _open(arguments) as arena:
            lines = [asdict(line) for line in arena.store.archive.sources()]
    if arguments.json:
        output.document({"sources": lines})
    else:
        output.table(names, [[str(line[name]) for name in names] for line in lines], numbers=("games",))
    return Exit.DONE


def _search(arguments: argparse.Namespace) -> int:
    from arena.services.archive import read_query

    if archive_server.is_meant(arguments):
        games, total = archive_server.search(arguments)
    else:
        query = ArchiveQuery(**asked(arguments), sort=arguments.sort, order=order_of(arguments), limit=arguments.limit)
        search = read_query(query)
        with _open(arguments) as arena:
            found = arena.store.archive.search(search, offset=arguments.offset)
        games, total = [asdict(line) for line in found.items], found.total
    if arguments.json:
        output.document({"games": games, "total": total})
        return Exit.DONE
    columns = {
        "number": "number",
        "family": "family",
        "variant": "variant",
        "first": "first",
        "second": "second",
        "winner": "winner",
        "ended by": "termination",
        "plies": "plies",
        "date": "date",
        "source": "source",
        "id": "id",
    }
    rows = [["-" if line[key] is None else str(line[key]) for key in columns.values()] for line in games]
    dropped = ("id", "source", "variant", "date", "ended by", "plies", "family")
    output.table(tuple(columns), rows, numbers=("plies",), drop=dropped)
    if total > len(games):
        output.note(f"{len(games)} of {total} games; more with --limit and --offset")
    return Exit.DONE


def _index(arguments: argparse.Namespace) -> int:
    """Everything that follows from the games, made anew; numbers stay."""
    from arena.collections import following

    with _open(arguments) as arena:
        count = following.rebuild(arena.store, lambda done: output.progress(f"{done} games"))
        taken = following.follow(arena.store)
    output.progress(f"{count} games", is_last=True)
    if arguments.json:
        output.document({"indexed": count, "taken": taken})
    else:
        output.text(f"{count} games indexed anew, {taken} taken in")
    return Exit.DONE


# show and export


_NONE = "no game of the archive matches; look with: arena archive search"


def _chosen(arguments: argparse.Namespace) -> list[ArchivedGame]:
    from arena.services.archive import read_query

    search = read_query(ArchiveQuery(**asked(arguments)))
    with _open(arguments) as arena:
        games = arena.store.archive.find(search)
    if not games:
        raise CommandError(_NONE, Exit.NOT_FOUND)
    return games


def _show(arguments: argparse.Namespace) -> int:
    from arena.cli import replay
    from arena.collections.conversion import to_record

    if archive_server.is_meant(arguments):
        record = archive_server.first(arguments)
        if record is None:
            raise CommandError(_NONE, Exit.NOT_FOUND)
    else:
        games = _chosen(arguments)
        if len(games) > 1:
            output.note(f"the first of {len(games)} games; narrow the search, or name one by --id")
        record = to_record(games[0])
    replay.show(record, arguments.ply, as_json=arguments.json)
    return Exit.DONE


def _export(arguments: argparse.Namespace) -> int:
    if arguments.format and arguments.form != "text":
        raise CommandError("--format is a notation of texts; leave it out, or take --form text")
    if archive_server.is_meant(arguments):
        parts = archive_server.texts(arguments) if arguments.form == "text" else []
        records = [] if arguments.form == "text" else archive_server.records(arguments)
    else:
        games = _chosen(arguments)
        parts = _texts(games, arguments.format) if arguments.form == "text" else []
        records = [] if arguments.form == "text" else [_record_json(game) for game in games]
    count = len(parts or records)
    if not count:
        raise CommandError(_NONE, Exit.NOT_FOUND)
    if arguments.form == "json":
        text = json.dumps({"games": records}, ensure_ascii=False, indent=1) + "\n"
    elif arguments.form == "ndjson":
        text = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
    else:
        text = "\n".join(parts)
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")
        output.note(f"{count} game{'s' if count > 1 else ''} written to {arguments.out}")
    else:
        output.text(text.removesuffix("\n"))
    return Exit.DONE


def _texts(games: list[ArchivedGame], notation: str | None) -> list[str]:
    """The games as they were imported, or in a notation of their families."""
    from arena.collections.conversion import to_text
    from arena.services.archive import find_format

    return [to_text(game, find_format(game.ruleset().rules, notation) if notation else None) for game in games]


def _record_json(game: ArchivedGame) -> dict[str, Any]:
    """The game as a record, with what its text said of it: an import of this is the same game with the same number."""
    from arena.collections.conversion import to_record

    tags = {**game.tags, **({"Number": game.number} if game.number else {})}
    return {**to_record(game).as_json(), "tags": tags}
