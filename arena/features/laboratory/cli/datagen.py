"""`arena datagen`: label positions by self-play of a bot."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cli.local import self_play
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import option
from arena.cli.terminal.printer import Output, Printer, output_form

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from arena.features.laboratory.positions import Positions, SeenPositions
    from referee.game.record import GameRecord
    from referee.game.spec import BotSpec
    from referee.machine.run_folder import RunFolder
    from referee.tournament.document import Document

MAX_POSITIONS = 100_000_000
MAX_FRUITLESS_SHARDS = 3
"""After this many shards without a new position the run gives up."""
GAMES = "games"
"""Folder of the games, one subfolder for each shard."""
_POSITIONS = argument.up_to(MAX_POSITIONS)


@dataclass(frozen=True, kw_only=True)
class DatagenArguments(self_play.GamesArguments, Output):
    output: str = output_form(meanings={"json": "the schema"})
    bot: str = option("bot that plays against itself", metavar="BOT", default="sample:alphabeta")
    positions: int = option("number of positions to make", metavar="COUNT", type=_POSITIONS, default=MISSING)
    nodes: int = option("nodes for each move", metavar="COUNT", type=argument.positive, default=1000)
    games_per_shard: int = option(
        "store the positions of COUNT games in one file", metavar="COUNT", type=argument.positive, default=400
    )
    out: Path = option(
        "folder of the positions; the same command continues an interrupted run", metavar="DIR", default=MISSING
    )


def run(arguments: DatagenArguments) -> int:
    """Play games until there are enough positions."""
    from referee.machine import source
    from referee.machine.run_folder import RunFolder

    document = self_play.read_document("datagen", arguments, ("one", "two"), f"nodes:{arguments.nodes}")
    played = self_play.introduce_bot(arguments, document)
    ruleset = document.ruleset
    origin = {
        "family": arguments.family,
        "variant": ruleset.variant.name,
        "options": dict(ruleset.overrides),
        "bot": arguments.bot,
        "bot_version": played.bot.version,
        "nodes": arguments.nodes,
        "max_plies": arguments.max_plies,
        "seed": arguments.seed,
        "games_of_a_shard": arguments.games_per_shard,
        "sources": source.digest(),
    }
    with RunFolder(arguments.out) as folder:
        self_play.claim(folder, {"datagen": origin, "positions": arguments.positions})
        generation = Generation(document, played.bot, arguments, origin, folder)
        if not generation.is_done:
            with self_play.game_executor(arguments, played) as (executor, at_once):
                is_whole = generation.run(executor, at_once)
            if not is_whole:
                output.note(f"{generation.count:,} positions so far; the same command continues")
                return Exit.INTERRUPTED
    count, games = generation.count, generation.shard_count * arguments.games_per_shard
    Printer(arguments).result(generation.schema, lambda: output.text(f"{count:,} positions of {games:,} games"))
    train = f"arena train --family {arguments.family} {arguments.out} --output-file FILE"
    output.note(f"stored in {arguments.out}; fit an evaluation to them with `{train}`")
    return Exit.DONE


class Generation:
    """A run that makes positions: its shards so far, and its target. Raises LaboratoryError for a damaged folder."""

    def __init__(
        self,
        document: Document,
        bot: BotSpec,
        arguments: DatagenArguments,
        origin: dict[str, Any],
        folder: RunFolder,
    ) -> None:
        from arena.features.laboratory.positions import SCHEMA, SeenPositions, read_schema, read_shard

        self._document, self._bot, self._size = document, bot, arguments.games_per_shard
        self._target: int = arguments.positions
        self._origin, self._folder = origin, folder
        self._seen: SeenPositions = SeenPositions(document.ruleset)
        self.schema: dict[str, Any] = {"shards": [], "positions": 0}
        self._fruitless = 0
        if (folder.path / SCHEMA).exists():
            self.schema = read_schema(folder.path)
            for shard in self.schema["shards"]:
                self._seen.add(read_shard(folder.path / shard["file"], shard["sha256"]))

    @property
    def count(self) -> int:
        """Number of positions so far."""
        return int(self.schema["positions"])

    @property
    def shard_count(self) -> int:
        """Number of complete shards."""
        return len(self.schema["shards"])

    @property
    def is_done(self) -> bool:
        """True if there are enough positions."""
        return self.count >= self._target

    def run(self, executor: Executor, at_once: Callable[[], int]) -> bool:
        """Play shards of games until the positions are enough; return False if interrupted. Raises LaboratoryError."""
        from arena.cli.terminal.interrupt import InterruptThread
        from referee.machine.run_folder import FolderError
        from referee.play.dispatch import Dispatcher

        dispatcher = Dispatcher(executor, at_once(), self._keep)

        def abort() -> None:
            dispatcher.abort()
            self_play.abort(executor)

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
        """Play the games of the next shard and return their records; None if interrupted."""
        from arena.features.laboratory.parameter import LaboratoryError
        from arena.features.laboratory.positions import games_of_shard
        from referee.machine.run_folder import RunFolder
        from referee.play.dispatch import left_to_play

        games = games_of_shard(self._document, self._bot, self.shard_count, self._size)
        with RunFolder(self._folder.path / GAMES / f"{self.shard_count + 1:04}") as folder:
            if folder.open() is None:
                folder.begin({"lot": self.shard_count})
            self._records = folder
            folder.resume(games)
            void = dispatcher.run(left_to_play(games, folder.records))
            if dispatcher.is_stopped:
                return None
            if void:
                raise LaboratoryError(
                    f"{len(void)} games ended without a result: {void[0].detail or void[0].termination}",
                    hint="the same command plays them again",
                )
            return sorted(folder.records, key=lambda record: record.sequence)

    def _keep(self, record: GameRecord) -> None:
        from arena.features.laboratory.tuning import raise_if_unready

        raise_if_unready(record)
        self._records.append(record)
        done = len(self._records.records)
        output.progress(f"{self.count:,} of {self._target:,} positions, {done} of {self._size} games of the next shard")

    def _take(self, records: list[GameRecord]) -> None:
        """Write the new positions of these games as the next shard."""
        from arena.features.laboratory.parameter import LaboratoryError
        from arena.features.laboratory.positions import SCHEMA, Positions, positions_of, schema, write_shard

        first = self.shard_count * self._size
        positions = [positions_of(self._document.ruleset, record, first + record.sequence - 1) for record in records]
        fresh: Positions = self._seen.add(Positions.join(positions))
        self._fruitless = 0 if len(fresh) else self._fruitless + 1
        if self._fruitless == MAX_FRUITLESS_SHARDS:
            raise LaboratoryError(
                f"{MAX_FRUITLESS_SHARDS * self._size} games added no position to the {self.count:,} there are",
                hint="check that the bot sends scores; reduce --positions or change --seed",
            )
        if self.count + len(fresh) > self._target:
            fresh = fresh.take(slice(self._target - self.count))
        name = f"shard-{self.shard_count + 1:04}.npz"
        sha256 = write_shard(self._folder.path / name, fresh)
        shards = [*self.schema["shards"], {"file": name, "positions": len(fresh), "sha256": sha256}]
        self.schema = schema(self._origin, fresh, shards)
        self._folder.write(SCHEMA, json.dumps(self.schema, indent=1, ensure_ascii=False))
