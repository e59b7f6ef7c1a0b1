"""A game slot: one process that plays one game after another with its own bots, and dies with its parent.

It talks to its parent over one socket: jobs come in, results and events go out; "abort" or the end of the socket calls
off the game being played. The same module gives Dask workers their slot. Refuses to know schedules and databases.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from multiprocessing.connection import Connection
from typing import Any

from referee.game.record import GameRecord, Ply
from referee.game.spec import PlannedGame
from referee.machine import helper
from referee.play.play import play
from referee.play.roster import Roster
from referee.sandbox import open_sandbox
from referee.sandbox.reaper import become_subreaper

Emit = Callable[[dict[str, Any]], None]

TOGETHER_S = 0.05
"""How long plies wait for others at most while bots answer at once."""
_SOON_S = 0.01
"""A next job that comes as soon finds the bots as the last one left them: to stop and wake them takes longer than many
plies."""

_roster: Roster | None = None
_emit: Emit | None = None


def play_games(games: Sequence[PlannedGame], wants_plies: bool = False) -> list[GameRecord]:
    """Play games one after the other in this process's slot; the job given to an executor.

    A game called off from outside is the last one: its void record ends the list.
    """
    assert _roster is not None, "this process has no slot; open_slot() first"
    records = []
    for game in games:
        emit({"event": "start", "game": game.id})
        record = play(game, _roster, _watch(game.id) if wants_plies else None)
        records.append(record)
        if record.termination == "stopped":
            break
        _keep_for_good()
    return records


def roster() -> Roster:
    """The bots of this process's slot, for jobs that ask them something else than to play."""
    assert _roster is not None, "this process has no slot; open_slot() first"
    return _roster


@cache
def _keep_for_good() -> None:
    """Freeze what the first game has loaded: no collection of garbage has to look through it again."""
    gc.freeze()


def emit(event: dict[str, Any]) -> None:
    """Tell whoever gave this slot its job what happens; nothing where nobody listens."""
    if _emit:
        _emit(event)


def _watch(game: str) -> Callable[[int, str, Ply], None]:
    def watch(number: int, move: str, ply: Ply) -> None:
        told = (ply.ms, ply.score, ply.depth, ply.nodes, ply.pv)
        emit({"event": "plies", "game": game, "number": number, "moves": [move], "plies": [told]})

    return watch


def follows(before: dict[str, Any], event: dict[str, Any]) -> bool:
    """Add an event to the one `before` it where both are plies of one game, one behind the other; whether they were."""
    is_next: bool = (
        before["event"] == event["event"] == "plies"
        and before["game"] == event["game"]
        and before["number"] + len(before["moves"]) == event["number"]
    )
    if is_next:
        before["moves"] += event["moves"]
        before["plies"] += event["plies"]
    return is_next


class Outbox:
    """What is told while games are played, on its way to the parent: plies that follow one another fast go together,
    in one event.

    What waits is sent with whatever else is told, and at the latest when a bot takes longer than a moment.
    """

    def __init__(self, send: Callable[[tuple[str, list[dict[str, Any]]]], None]) -> None:
        self._send = send
        self._waiting: list[dict[str, Any]] = []
        self._sent_s = 0.0

    def tell(self, event: dict[str, Any]) -> None:
        """Send it, or let a ply wait for the next one."""
        if not self._waiting or not follows(self._waiting[-1], event):
            self._waiting.append(event)
        if event["event"] != "plies" or time.monotonic() - self._sent_s > TOGETHER_S:
            self.flush()

    def flush(self) -> None:
        """Send what waits, now."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self._send(("events", waiting))
            self._sent_s = time.monotonic()


def open_slot(
    sandbox: str = "none",
    stop_fd: int | None = None,
    emit: Emit | None = None,
    spare: int = 0,
    number: int = 0,
    *,
    is_own: bool = False,
) -> Roster:
    """Make this process a game slot. Whoever opens it has tried the sandbox. Raises ValueError for an unknown one.

    `is_own`: its bots belong to the person who started it.
    """
    global _roster, _emit
    is_reaper = become_subreaper()
    known = open_sandbox(sandbox, is_tried=True, is_own=is_own)
    _roster, _emit = Roster(known, stop_fd, is_reaper=is_reaper, spare=spare, number=number), emit
    return _roster


def main() -> None:
    """Serve jobs from the socket named by the first argument until it ends."""
    sandbox, (socket, is_own, core, spare, number, is_heard) = sys.argv[2], map(int, (sys.argv[1], *sys.argv[3:8]))
    _serve_slot(socket, sandbox, core, spare, number, is_own=bool(is_own), is_heard=bool(is_heard))


def _serve_slot(socket: int, sandbox: str, core: int, spare: int, number: int, *, is_own: bool, is_heard: bool) -> None:
    """Serve jobs; events are sent where they are heard. `is_own`: bots belong to the person who started the slot."""
    connection = Connection(socket)
    if core >= 0:
        os.sched_setaffinity(0, {core})
    outbox = Outbox(connection.send)
    tell = outbox.tell if is_heard else None
    with open_slot(sandbox, connection.fileno(), tell, spare, number, is_own=is_own) as roster:
        roster.on_wait = outbox.flush
        _serve(connection, roster, outbox)
    helper.leave()


def _serve(connection: Connection, roster: Roster, outbox: Outbox) -> None:
    while True:
        try:
            if not connection.poll(_SOON_S) and not connection.poll(roster.end_idle()):
                continue
            job = connection.recv()
        except (EOFError, OSError):
            return
        if job == "abort":
            continue
        function, arguments = job
        answer: tuple[str, Any]
        try:
            answer = ("result", function(*arguments))
        except Exception as error:
            answer = ("error", f"{type(error).__name__}: {error}")
        try:
            outbox.flush()
            connection.send(answer)
        except OSError:
            return
