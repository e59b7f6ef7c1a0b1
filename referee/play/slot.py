"""A game slot: one process that plays one game after another with its own bots, and dies with its parent.

It talks to its parent over one socket: jobs come in, results and events go out. "abort" or the end of the socket calls
off the game being played. Dask workers become slots by `open_slot` too.
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
"""Time in seconds for which plies are batched: a message costs the slot's parent as much as many plies."""
_SOON_S = 0.01
"""Seconds to wait for the next job before the bots are frozen: freezing and resuming takes longer than many plies."""

_roster: Roster | None = None
_emit: Emit | None = None


def play_games(games: Sequence[PlannedGame], wants_plies: bool = False) -> list[GameRecord]:
    """Play games one after the other in the slot of this process; executors run this function as a job.

    After a game that is called off from outside no more are played: its void record is the last of the list.
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
    """Return the bots of this process's slot, for jobs other than games."""
    assert _roster is not None, "this process has no slot; open_slot() first"
    return _roster


@cache
def _keep_for_good() -> None:
    """Exclude all objects that exist after the first game from garbage collection."""
    # They live as long as the process: every full collection would walk over them in the middle of some move.
    gc.freeze()


def emit(event: dict[str, Any]) -> None:
    """Send an event of the present job to the slot's parent, if it listens."""
    if _emit:
        _emit(event)


def _watch(game: str) -> Callable[[int, str, Ply], None]:
    def watch(number: int, move: str, ply: Ply) -> None:
        told = (ply.ms, ply.lag_ms, ply.score, ply.depth, ply.nodes, ply.pv)
        emit({"event": "plies", "game": game, "number": number, "moves": [move], "plies": [told]})

    return watch


def follows(before: dict[str, Any], event: dict[str, Any]) -> bool:
    """Merge an event into the one `before` it if both are consecutive plies of a game; return whether this was done."""
    is_next: bool = (
        before["event"] == event["event"] == "plies"
        and before["game"] == event["game"]
        and before["number"] + len(before["moves"]) == event["number"]
    )
    if is_next:
        before["moves"] += event["moves"]
        before["plies"] += event["plies"]
    return is_next


class EventOutbox:
    """Events on their way to the parent: plies that follow one another fast are batched into one event.

    Batched plies are sent with the next event of another kind, or after `TOGETHER_S`: with a later ply, or by
    `flush_due`, which is called while a bot takes its time to answer.
    """

    def __init__(self, send: Callable[[tuple[str, list[dict[str, Any]]]], None]) -> None:
        self._send = send
        self._waiting: list[dict[str, Any]] = []
        self._sent_s = 0.0

    def tell(self, event: dict[str, Any]) -> None:
        """Send an event at once, or batch a ply with the next ones."""
        if not self._waiting or not follows(self._waiting[-1], event):
            self._waiting.append(event)
        if event["event"] == "plies":
            self.flush_due()
        else:
            self.flush()

    def flush_due(self) -> None:
        """Send the batched events unless others were sent a moment ago."""
        if self._waiting and time.monotonic() - self._sent_s > TOGETHER_S:
            self.flush()

    def flush(self) -> None:
        """Send the batched events now."""
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
    """Make this process a game slot. The caller must have tested the sandbox. Raises ValueError for an unknown one.

    `is_own`: the bots of the slot belong to the person who started it.
    """
    global _roster, _emit
    is_reaper = become_subreaper()
    known = open_sandbox(sandbox, is_tried=True, is_own=is_own)
    _roster, _emit = Roster(known, stop_fd, is_reaper=is_reaper, spare=spare, number=number), emit
    return _roster


def main() -> None:
    """Serve jobs from the socket whose descriptor is the first argument, until it is closed."""
    sandbox, (socket, is_own, core, spare, number, is_heard) = sys.argv[2], map(int, (sys.argv[1], *sys.argv[3:8]))
    _serve_slot(socket, sandbox, core, spare, number, is_own=bool(is_own), is_heard=bool(is_heard))


def _serve_slot(socket: int, sandbox: str, core: int, spare: int, number: int, *, is_own: bool, is_heard: bool) -> None:
    """Serve jobs from a socket; send events if `is_heard`. `is_own` as for `open_slot`."""
    connection = Connection(socket)
    # Before any bot is started: the kernel lets children inherit the binding.
    if core >= 0:
        os.sched_setaffinity(0, {core})
    outbox = EventOutbox(connection.send)
    tell = outbox.tell if is_heard else None
    with open_slot(sandbox, connection.fileno(), tell, spare, number, is_own=is_own) as roster:
        roster.on_wait = outbox.flush_due
        connection.send(("ready", None))
        _serve(connection, roster, outbox)
    helper.leave()


def _serve(connection: Connection, roster: Roster, outbox: EventOutbox) -> None:
    while True:
        try:
            if not connection.poll(_SOON_S) and not connection.poll(roster.end_idle()):
                continue
            job = connection.recv()
        except (EOFError, OSError):
            return
        # It arrived after the game that it was meant for had ended.
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
