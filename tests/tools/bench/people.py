"""People's games at once, with bots that answer at once: what the arena itself takes between move and answer."""

from __future__ import annotations

import resource
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from arena.documents.human_game import DecisionRequest
from arena.services import people_game
from arena.services.people import Visitor
from arena.store import Store
from referee.rules import load
from referee.rules.position import Position
from tests.arena.coordinator.humans import Hall
from tests.tools.bench.figure import Figure

AT_ONCE = 100
MOVES = 5
WAIT_S = 300.0


def run(quick: bool) -> Iterator[Figure]:
    """Figures of a hundred people who move as soon as they are answered; of twenty with `quick`."""
    count = 20 if quick else AT_ONCE
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = Store.in_folder(folder)
        try:
            slots = -(-4 * count // 3)  # people without an account may use three quarters of them
            yield from _played(Hall(store, folder, human_slots=slots, human_games_per_address=count), count)
        finally:
            store.close()


def _played(hall: Hall, count: int) -> Iterator[Figure]:
    guests = [replace(hall.visitor(), cookie=f"{number:043}") for number in range(count)]
    before_mib = _memory_mib()
    with hall.open():
        begin = time.perf_counter()
        games = [hall.begin(guest) for guest in guests]
        hall.told.until(lambda: all(hall.line(game).state == "running" for game in games))
        seated_s = time.perf_counter() - begin
        waits_s: list[float] = []
        cpu, begin = time.process_time(), time.perf_counter()
        threads = [
            threading.Thread(target=_play, args=(hall, game, guest, waits_s))
            for game, guest in zip(games, guests, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_S)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
        memory_mib = _memory_mib() - before_mib
    assert len(waits_s) == count * MOVES, f"{len(waits_s)} answers of {count * MOVES}"
    waits_s.sort()
    name = f"{count} people at once"
    yield Figure("people", f"{name}, all seated after", seated_s, "s")
    yield Figure("people", f"{name}, answered after, median", 1000 * statistics.median(waits_s), "ms")
    yield Figure("people", f"{name}, answered after, p99", 1000 * waits_s[int(len(waits_s) * 0.99)], "ms")
    yield Figure("people", f"{name}, answers", len(waits_s) / seconds, "/s")
    yield Figure("people", f"{name}, processor time of move and answer", 1000 * cpu / len(waits_s), "ms")
    yield Figure("people", f"{name}, memory of a game", 1024 * memory_mib / count, "KiB")


def _play(hall: Hall, game: str, guest: Visitor, waits_s: list[float]) -> None:
    """So many moves, each as soon as the one before is answered; how long each answer took, in seconds."""
    at = Position.start(load("loa").settle())
    answered = threading.Event()
    hall.told.heard(game, answered)
    for number in range(MOVES):
        answered.clear()
        move = at.texts[-1]
        begin = time.perf_counter()
        people_game.decide(hall.arena, game, DecisionRequest(do="move", ply=2 * number, move=move), guest)
        while len(plies := hall.line(game).plies) < 2 * number + 2:
            answered.wait(1.0)
            answered.clear()
        waits_s.append(time.perf_counter() - begin)
        at = Position.start(load("loa").settle()).play_all([str(kept[0]) for kept in plies])


def _memory_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
