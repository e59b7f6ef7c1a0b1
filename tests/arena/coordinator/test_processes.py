"""Coordinator processes with real slots and bots: killed, stopped and doubled, they record every game exactly once."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from arena import tournaments
from arena.clock import now
from arena.store import Store
from referee.game.record import read_record
from referee.verify.verification import verify
from tests.arena import postgres
from tests.arena.cluster.processes import slots_of, wait
from tests.arena.coordinator.stage import Stage
from tests.conftest import INTERPRETED
from tests.referee.conftest import BLACK, HERE, WHITE

ROOT = Path(__file__).parents[3]
LIMITS = {"start_ms": 60_000, "ready_ms": 60_000, "move_ms": 60_000}
TIMEOUT_S = 300


class Victim:
    """A coordinator process and its output. It kills itself after `dies_after` results, unless that is 0."""

    def __init__(self, stage: Stage, dies_after: int = 0) -> None:
        url = stage.store.url
        words = [sys.executable, "-m", "tests.arena.coordinator.victim", url, str(stage.settings.data), str(dies_after)]
        environment = {**os.environ, **INTERPRETED}
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.strip())
        self._lines.put("")

    def until(self, beginning: str, count: int = 1) -> list[str]:
        """Read until `count` lines start with `beginning`; return all lines read. Fail when the process ends before."""
        lines: list[str] = []
        while sum(line.startswith(beginning) for line in lines) < count:
            try:
                line = self._lines.get(timeout=TIMEOUT_S)
            except queue.Empty:
                pytest.fail(f"waited for {count} x {beginning!r} in vain; {lines}")
            assert line, f"ended with {self.process.poll()} before {count} x {beginning!r}; {lines}"
            lines.append(line)
        return lines

    def await_death(self) -> None:
        """Wait until it has killed itself."""
        assert self.process.wait(TIMEOUT_S) == -signal.SIGKILL

    def stop(self) -> list[str]:
        """Send SIGTERM; return the lines until the end."""
        self.process.terminate()
        found = []
        while line := self._lines.get(timeout=TIMEOUT_S):
            found.append(line)
        assert self.process.wait(TIMEOUT_S) == 0
        return found

    def close(self) -> None:
        """End it if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join(TIMEOUT_S)
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def victim(stage: Stage, dies_after: int = 0) -> Iterator[Victim]:
    """Yield a coordinator process and end it afterwards."""
    found = Victim(stage, dies_after)
    try:
        yield found
    finally:
        found.close()


def cast(store: Store, folder: Path) -> Stage:
    """Create an arena of bots: three resign at once, `mute` never moves, `black` and `white` play some moves."""
    stage = Stage(store, folder / "data", ())
    stage.now = now()
    scripts = {"one": ["resign"], "two": ["resign"], "three": ["resign"], "mute": []}
    scripts |= {"black": [*BLACK, "resign"], "white": [*WHITE, "resign"]}
    for name, words in scripts.items():
        command = [sys.executable, "-S", "-E", str(HERE / "scripted.py"), *words]
        stage.ids[name] = stage.bot(name, command=command)
    return stage


@pytest.fixture
def live(sqlite_store: Store, tmp_path: Path) -> Stage:
    """Yield these bots in SQLite."""
    return cast(sqlite_store, tmp_path)


def cup(stage: Stage, **document: Any) -> int:
    """Create a round robin of the resigning bots."""
    entries = {"bots": ["one", "two", "three"]}
    return stage.create(**{"games": 10, "entries": entries, "limits": LIMITS, "time_control": "100+0", **document})


def ended(lines: list[str]) -> list[str]:
    """Return the games whose results these lines report."""
    return [line.split()[1] for line in lines if line.startswith("end")]


@pytest.mark.long
def test_repeated_kills_with_a_standby_record_every_game_once(live: Stage) -> None:
    with victim(live, dies_after=4) as first:
        first.until("state acting")
        with victim(live, dies_after=5) as second:
            assert second.until("state")[-1] == "state standing by"
            number = cup(live, games=6)
            seen = ended(first.until("end", 4))
            first.await_death()
            restored = ended(second.until("state acting"))  # a result that waited when the first one died
            seen += restored + ended(second.until("end", 5 - len(restored)))
            second.await_death()
    left = 18 - live.store.games.counts(number)["finished"]
    assert 0 < left < 18
    with victim(live) as third:
        seen += ended(third.until("end", left))
        third.stop()
    assert len(seen) == len(set(seen))
    assert live.tournament(number).state == "finished"
    live.check_exactly_once(number, 18)
    before = {line.version_id: line for line in live.store.ratings.leaderboard("loa").items}
    assert live.store.ratings.rebuild() == 18
    assert {line.version_id: line for line in live.store.ratings.leaderboard("loa").items} == before


@pytest.mark.long
def test_a_stop_hands_over_to_the_standby_and_every_game_is_recorded_once(live: Stage) -> None:
    with victim(live) as first:
        first.until("state acting")
        with victim(live) as second:
            assert second.until("state")[-1] == "state standing by"
            number = cup(live, games=6)
            seen = ended(first.until("end", 3)) + ended(first.stop())
            seen += ended(second.until("state acting"))
            seen += ended(second.until("end", 18 - len(seen)))
            second.stop()
    assert len(set(seen)) == len(seen) == 18
    live.check_exactly_once(number, 18)
    assert live.store.voids.page().items == []


@pytest.mark.long
def test_three_coordinators_of_a_postgresql_killed_in_turn_record_every_game_once(
    cluster: postgres.Cluster, tmp_path: Path
) -> None:
    cluster.empty()  # other tests may have left a lease
    with ExitStack() as stack:
        stage = cast(stack.enter_context(closing(Store(cluster.url()))), tmp_path)
        # Whichever acts dies after 7 results; the last one has too few games left to die of.
        victims = [stack.enter_context(victim(stage, dies_after=7)) for _ in range(3)]
        for other in victims:
            other.until("state")
        number = cup(stage, games=6)
        wait(lambda: stage.tournament(number).state == "finished", "the end")
        (last,) = (other for other in victims if other.process.poll() is None)
        last.stop()
        stage.check_exactly_once(number, 18)


def test_pausing_cancels_an_endless_game(live: Stage) -> None:
    number = cup(live, games=2, entries={"bots": ["mute", "one"]}, time_control="1000+0")
    with victim(live) as process:
        process.until("start")
        tournaments.pause(live.store, number, live.now)
        wait(lambda: live.store.games.counts(number) == {"planned": 2}, "the game to be requeued")
        process.stop()
    assert live.store.voids.page().items == []
    assert live.tournament(number).state == "paused"


@pytest.mark.long
def test_a_killed_slot_loses_no_game(live: Stage) -> None:
    number = cup(live, games=12, entries={"bots": ["black", "white"]})
    with victim(live) as process:
        process.until("end", 2)
        slots_of(process.process.pid)[0].kill()
        wait(lambda: live.tournament(number).state == "finished", "the end")
        process.stop()
    live.check_exactly_once(number, 12)
    records = [read_record(line) for _, line in live.store.results.records()]
    assert max(len(record.moves) for record in records) > 3
    assert all(verify(record) for record in records)
