"""Recorded games of an arena, and all that follows from them: `arena verify`, `ratings`, `analysis` and `dump`.

Ratings follow from the games; those of features from what they have stored.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from arena import feature
from arena.cli.source.database import DatabaseArguments, open_store, refuse_empty
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import Actions, option, positional
from arena.cli.terminal.output import RunProgress
from arena.cli.terminal.printer import ListOutput, Output, Printer
from arena.documents.game import GameQuery

if TYPE_CHECKING:
    from arena.collections.dumps import Dumps
    from arena.store import Store
    from referee.game.spec import GameSpec


@dataclass(frozen=True, kw_only=True)
class VerifyArguments(DatabaseArguments, Output):
    ids: tuple[str, ...] = positional("games to verify (default: the latest 100)", "ID", default=())
    all: bool = option("verify every recorded game", default=False)
    tournament: int | None = option("verify every game of a tournament", metavar="ID", type=argument.positive)
    worker: str | None = option("verify every game that a worker of the cluster played", metavar="ID")
    void: bool = option("void wrong results: their games are played again, ratings are rebuilt", default=False)

    @property
    def is_narrowed(self) -> bool:
        """True if only the games of a tournament or a worker are verified."""
        return self.tournament is not None or bool(self.worker)


def verify(arguments: VerifyArguments) -> int:
    """Replay the games by the rules. Exit code 1 if a record is wrong, 3 if there is none."""
    from referee.verify.verification import RecordVerifier

    if sum([bool(arguments.ids), arguments.all, arguments.tournament is not None, bool(arguments.worker)]) > 1:
        raise CommandError("no games chosen; name games, a tournament or a worker, or use --all")
    count, verifier = 0, RecordVerifier()
    failures: list[dict[str, str]] = []
    settings = arguments.read()
    with closing(open_store(settings)) as store:
        for name, line, spec in _records(store, arguments):
            problem = verifier.problem_of(line, spec, name)
            count += 1
            if problem:
                failures.append({"game": name, "problem": problem})
                output.error(f"game {name}: {problem}", is_fault=False)
            output.progress(f"{count} games, {len(failures)} wrong")
        if arguments.void and failures:
            store.results.undo({failure["game"]: failure["problem"] for failure in failures})
            output.note(f"{len(failures)} results are void: their games are played again, all ratings are rebuilt")
    if not count:
        refuse_empty(settings, "no such recorded games" if arguments.is_narrowed else "no recorded games")
    output.progress(f"{count} games, {len(failures)} wrong", is_last=True)
    Printer(arguments).result(
        {"checked": count, "failed": len(failures), "failures": failures},
        lambda: output.text(f"{count} games verified, {len(failures)} wrong"),
    )
    return Exit.FAILED if failures else Exit.DONE


def _records(store: Store, arguments: VerifyArguments) -> Iterator[tuple[str, bytes, GameSpec]]:
    """Yield the games to verify as (id, record as JSON, plan)."""
    if arguments.ids:
        for name in arguments.ids:
            yield name, store.games.record(name).line().encode(), store.games.spec(name)
        return
    if arguments.tournament is not None:
        store.tournaments.get(arguments.tournament)  # or there is none
    after = 0 if arguments.all or arguments.is_narrowed else max(0, store.results.last_commit() - 100)
    lines = store.results.with_plans(GameQuery(tournament=arguments.tournament), worker=arguments.worker, after=after)
    for _, name, line, spec in lines:
        yield name, line, spec


@dataclass(frozen=True, kw_only=True)
class RebuildArguments(DatabaseArguments, Output):
    check: bool = option(
        "compare only, write nothing: exit code 1 when a stored number differs, 3 without rated games", default=False
    )


def add_ratings(parser: argparse.ArgumentParser) -> None:
    Actions(parser).add("rebuild", _rebuild, "rebuild all ratings from the games; an interrupted rebuild continues")


class _Progress:
    """A line of progress on stderr: the share done, and the time left."""

    def __init__(self) -> None:
        self._pace: RunProgress | None = None

    def tell(self, done: int, total: int) -> None:
        """Show how many games were folded, and how long the others will take."""
        self._pace = self._pace or RunProgress(done, total)
        output.progress(self._pace.line(done), is_last=done >= total)


def _of_features() -> Iterator[Any]:
    """Yield the ratings of all installed features, of those that are off as well."""
    return feature.loaded(feature.enabled((), "ratings"), "ratings")


def _rebuild(arguments: RebuildArguments) -> int:
    """Rebuild the ratings, or check the stored ones."""
    settings = arguments.read()
    progress, printer = _Progress(), Printer(arguments)
    with closing(open_store(settings)) as store:
        # The rows of a rebuild fill the generations of the collector, which would look through all that is loaded.
        gc.freeze()
        if not arguments.check:
            games = store.ratings.rebuild(progress.tell)
            done = [ratings.rebuild(store) for ratings in _of_features()]
            also = "".join(f" and {words}" for words in done if words)
            printer.result(
                {"games": games, "pools": [pool.pool for pool in store.ratings.pools()]},
                lambda: output.text(f"ratings rebuilt from {games} games{also}"),
            )
            return Exit.DONE
        problems = [*store.ratings.check(progress.tell), *(line for own in _of_features() for line in own.check(store))]
        pools = store.ratings.pools()
    games = sum(pool.games for pool in pools)
    if not games and not problems:
        refuse_empty(settings, "no rated games")
    verdict = f"{len(problems)} stored numbers differ" if problems else "every stored number is reproduced"
    printer.result(
        {"games": games, "pools": [pool.pool for pool in pools], "problems": problems},
        lambda: output.text(*problems, f"{games} games in {len(pools)} pools: {verdict}"),
    )
    return Exit.FAILED if problems else Exit.DONE


@dataclass(frozen=True, kw_only=True)
class FitArguments(DatabaseArguments, Output):
    family: str = positional("family of games", "FAMILY", type=argument.family)


def add_analysis(parser: argparse.ArgumentParser) -> None:
    Actions(parser).add("fit", _fit, "fit the win model of a family to its analysed games", "arena analysis fit loa")


def _fit(arguments: FitArguments) -> None:
    """Fit and store the model. Exit code 1 if there are too few positions."""
    from arena.analysis.storage import fit_win_model, win_model_of
    from arena.analysis.win_model import TooFewPositionsError

    with closing(open_store(arguments.read())) as store:
        try:
            model, _ = fit_win_model(store, arguments.family)
        except TooFewPositionsError as error:
            raise CommandError(str(error), Exit.FAILED) from None
        version = win_model_of(store, arguments.family).version
    line = f"{version}: scale {model.scale} from {model.positions} positions, log loss {model.log_loss}"
    Printer(arguments).result(
        {"family": arguments.family, "win_model": version, **asdict(model)}, lambda: output.text(line)
    )


@dataclass(frozen=True, kw_only=True)
class UpdateArguments(DatabaseArguments, ListOutput):
    rebuild: bool = option("write all files again", default=False)


@dataclass(frozen=True, kw_only=True)
class DumpsArguments(DatabaseArguments, ListOutput):
    check: bool = option("compare the files with their checksums; exit code 1 if one differs", default=False)


def add_dump(parser: argparse.ArgumentParser) -> None:
    actions = Actions(parser)
    actions.add("update", _update, "add new results to the dumps", "arena dump update")
    actions.add("list", _list, "list the dumps", "arena dump list --check")


def _update(arguments: UpdateArguments) -> None:
    """Write new results into the files. Exit code 1 if a file cannot be written."""
    from arena.collections.dumps import Dumps

    settings = arguments.read()
    dumps = Dumps.of(settings)
    try:
        with closing(open_store(settings)) as store:
            count = dumps.update(store, rebuild=arguments.rebuild)
        _print(arguments, dumps, count, [])
    except OSError as error:
        raise CommandError(f"{dumps.folder}: {error.strerror or error}", Exit.FAILED) from None
    output.note(f"{dumps.folder}: {count} games added")


def _list(arguments: DumpsArguments) -> int:
    """List the files. Exit code 1 if one does not have its checksum."""
    from arena.collections.dumps import Dumps

    settings = arguments.read()
    dumps = Dumps.of(settings)
    try:
        open_store(settings).close()  # without an arena there are no dumps, not an empty list of them
        problems = dumps.check() if arguments.check else []
        _print(arguments, dumps, 0, problems)
    except OSError as error:
        raise CommandError(f"{dumps.folder}: {error.strerror or error}", Exit.FAILED) from None
    for problem in problems:
        output.error(f"{problem}; write it again with `arena dump update --rebuild`", is_fault=False)
    return Exit.FAILED if problems else Exit.DONE


def _print(arguments: ListOutput, dumps: Dumps, count: int, problems: list[str]) -> None:
    from arena.collections.dumps import FILES

    index = dumps.index()
    files = list(index.files.values())
    Printer(arguments).result(
        {
            "folder": str(dumps.folder),
            "added": count,
            "through": index.through,
            "problems": problems,
            "files": [asdict(file) for file in files],
        },
        lambda: output.table(FILES, files),
        "files",
    )
