"""`arena datagen`: positions labelled by games of a bot against itself."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cli import choice, laboratory, output
from arena.cli.exit import CommandError, Exit

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from arena.laboratory.positions import Positions, Seen
    from referee.game.plan import TournamentPlan
    from referee.game.record import GameRecord
    from referee.machine.run_folder import RunFolder

MOST_POSITIONS = 100_000_000
FRUITLESS = 3
"""After so many lots without a new position there are none to be found."""
GAMES = "games"
"""The folder of the games, lot by lot."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--bot", default="sample:alphabeta", metavar="BOT", help="who plays (default sample:alphabeta)")
    parser.add_argument("--positions", required=True, type=_positions, metavar="N", help="positions in all")
    parser.add_argument("--nodes", type=choice.positive, default=1000, metavar="K", help="a move (default 1000)")
    parser.add_argument(
        "--shard", type=choice.positive, default=400, metavar="G", help="games whose positions make one file (400)"
    )
    laboratory.add_games(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the same command continues it")
    parser.add_argument("--json", action="store_true", help="the schema as one JSON document on stdout")
    parser.set_defaults(openings="none", games=1)


def _positions(text: str) -> int:
    return choice.between(text, 1, MOST_POSITIONS)


def run(arguments: argparse.Namespace) -> int:
    """Play until there are enough positions."""
    from arena.cli.local_run import plan_of
    from referee.machine import source
    from referee.machine.run_folder import RunFolder

    ruleset = laboratory.settled(arguments)
    arguments.tc = f"nodes:{arguments.nodes}"
    played = laboratory.introduced(arguments, ruleset, arguments.tc)
    bots = (replace(played.bot, name="one"), replace(played.bot, name="two"))
    plan = plan_of(arguments, ruleset, bots)
    origin = {
        "family": arguments.family,
        "variant": ruleset.variant.name,
        "options": dict(ruleset.overrides),
        "bot": arguments.bot,
        "bot_version": played.bot.version,
        "nodes": arguments.nodes,
        "max_plies": arguments.max_plies,
        "seed": arguments.seed,
        "games_of_a_shard": arguments.shard,
        "sources": source.digest(),
    }
    with RunFolder(arguments.out) as folder:
        laboratory.claim(folder, {"datagen": origin, "positions": arguments.positions})
        generation = Generation(plan, arguments, origin, folder)
        if not generation.is_done:
            with laboratory.opened(arguments, plan.bots[0]) as (executor, at_once):
                is_whole = generation.run(executor, at_once)
            if not is_whole:
                output.note(f"{generation.count:,} positions so far; the same command continues")
                return Exit.INTERRUPTED
    if arguments.json:
        output.document(generation.schema)
    else:
        output.text(f"{generation.count:,} positions of {generation.lots * arguments.shard:,} games")
        output.note(f"they are in {arguments.out}; fit an evaluation to them with: arena train")
    return Exit.DONE


class Generation:
    """A run: what is there of it, and what is left. Raises LaboratoryError for a folder that is damaged."""

    def __init__(
        self, plan: TournamentPlan, arguments: argparse.Namespace, origin: dict[str, Any], folder: RunFolder
    ) -> None:
        from arena.laboratory.positions import SCHEMA, Seen, read_schema, read_shard

        self._plan, self._size = plan, arguments.shard
        self._most: int = arguments.positions
        self._origin, self._folder = origin, folder
        self._seen: Seen = Seen(plan.ruleset)
        self.schema: dict[str, Any] = {"shards": [], "positions": 0}
        self._fruitless = 0
        if (folder.path / SCHEMA).exists():
            self.schema = read_schema(folder.path)
            for shard in self.schema["shards"]:
                self._seen.add(read_shard(folder.path / shard["file"], shard["sha256"]))

    @property
    def count(self) -> int:
        """How many positions there are."""
        return int(self.schema["positions"])

    @property
    def lots(self) -> int:
        """How many lots of games were played."""
        return len(self.schema["shards"])

    @property
    def is_done(self) -> bool:
        """Whether there are enough."""
        return self.count >= self._most

    def run(self, executor: Executor, at_once: Callable[[], int]) -> bool:
        """Play lot after lot; False where it was interrupted. Raises LaboratoryError."""
        from arena.cli.interrupt import InterruptThread
        from referee.machine.run_folder import FolderError
        from referee.play.dispatch import Dispatcher

        dispatcher = Dispatcher(executor, at_once(), self._keep)

        def abort() -> None:
            dispatcher.abort()
            laboratory.abort(executor)

        with InterruptThread(dispatcher.stop, abort):
            while not self.is_done:
                try:
                    records = self._play(dispatcher)
                except FolderError as error:
                    raise CommandError(str(error)) from None
                if records is None:
                    return False
                self._take(records)
        return True

    def _play(self, dispatcher: Any) -> list[GameRecord] | None:
        """The games of the next lot; None where it was interrupted."""
        from arena.laboratory.parameter import LaboratoryError
        from arena.laboratory.selfplay import lot
        from referee.machine.run_folder import RunFolder
        from referee.play.dispatch import left_to_play

        games = lot(self._plan, self.lots, self._size)
        with RunFolder(self._folder.path / GAMES / f"{self.lots + 1:04}") as folder:
            if folder.open() is None:
                folder.begin({"lot": self.lots})
            self._records = folder
            folder.resume(games)
            void = dispatcher.run(left_to_play(games, folder.records))
            if dispatcher.is_stopped:
                return None
            if void:
                raise LaboratoryError(
                    f"{len(void)} games have no result: {void[0].detail or void[0].termination}",
                    hint="the same command plays them again",
                )
            return sorted(folder.records, key=lambda record: record.sequence)

    def _keep(self, record: GameRecord) -> None:
        from arena.laboratory.tuning import refuse_unready

        refuse_unready(record)
        self._records.append(record)
        done = len(self._records.records)
        output.progress(f"{self.count:,} of {self._most:,} positions, {done} of {self._size} games of the next shard")

    def _take(self, records: list[GameRecord]) -> None:
        """Make a shard of a lot."""
        from arena.laboratory.parameter import LaboratoryError
        from arena.laboratory.positions import SCHEMA, Positions, positions_of, schema, write_shard

        first = self.lots * self._size
        found = [positions_of(self._plan.ruleset, record, first + record.sequence - 1) for record in records]
        fresh: Positions = self._seen.add(Positions.join(found))
        self._fruitless = 0 if len(fresh) else self._fruitless + 1
        if self._fruitless == FRUITLESS:
            raise LaboratoryError(
                f"{FRUITLESS * self._size} games brought no new position, there are {self.count:,}",
                hint="does the bot give scores? else take fewer positions, or another seed",
            )
        if self.count + len(fresh) > self._most:
            fresh = fresh.take(slice(self._most - self.count))
        name = f"shard-{self.lots + 1:04}.npz"
        sha256 = write_shard(self._folder.path / name, fresh)
        shards = [*self.schema["shards"], {"file": name, "positions": len(fresh), "sha256": sha256}]
        self.schema = schema(self._origin, fresh, shards)
        self._folder.write(SCHEMA, json.dumps(self.schema, indent=1, ensure_ascii=False))
