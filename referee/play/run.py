"""Plays a whole tournament with a ledger in memory: asks its format for games, hands them out, keeps the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor

from referee.game.record import GameRecord
from referee.game.spec import PlannedGame
from referee.machine.run_folder import RunFolder, UnkeptRun
from referee.play.dispatch import Dispatcher
from referee.tournament.formats.format import AHEAD
from referee.tournament.ledger import Ledger
from referee.tournament.match import PlanAfter


class TournamentRun:
    """A tournament that is being played. `stop` and `abort` are those of `Dispatcher`.

    Games are in `folder` before they are played, and results before they count, so that a run killed at any moment goes
    on with the same games. `on_record` gets each new record, `on_suspend` the name of each suspended bot.
    """

    def __init__(
        self,
        ledger: Ledger,
        folder: RunFolder | UnkeptRun,
        executor: Executor,
        in_flight: int,
        *,
        on_record: Callable[[GameRecord], None],
        on_suspend: Callable[[str], None],
    ) -> None:
        self.ledger = ledger
        self._folder, self._on_record = folder, on_record
        self._ahead = max(AHEAD, in_flight)
        self._asks_often = ledger.document.system.plan_after is PlanAfter.EACH_RESULT
        self._is_decided = False
        self.dispatcher = Dispatcher(
            executor,
            in_flight,
            self._keep,
            suspension=ledger.suspension,
            on_suspend=on_suspend,
            on_void=ledger.give_up,
        )

    @property
    def is_over(self) -> bool:
        """True if no game is open and the format plans no more."""
        return not self.ledger.open_games and not self.ledger.next_step(self._ahead).matches

    def play(self) -> list[GameRecord]:
        """Play until the tournament is over or `dispatcher` is stopped; return the games that stayed void."""
        void: list[GameRecord] = []
        self.ledger.call_off()
        while not self.dispatcher.is_stopped:
            self._is_decided = False
            void += self.dispatcher.run(self.ledger.open_games, self._plan, lambda: self._is_decided)
            if not self._is_decided:
                break
            # Results of games that were called off too late count, and may have reopened the decision.
        return void

    def _plan(self) -> Sequence[PlannedGame]:
        matches = self.ledger.next_step(self._ahead).matches
        games = self.ledger.plan(matches)
        if games:
            self._folder.plan(matches, games)
        return games

    def _keep(self, record: GameRecord) -> None:
        self._folder.append(record)
        self.ledger.add(record)
        self._on_record(record)
        if self._asks_often and not self.ledger.is_open_pair(record.pair):
            self._is_decided = self.ledger.call_off() or self._is_decided
