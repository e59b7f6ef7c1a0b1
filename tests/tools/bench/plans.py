"""Large plans: what tournaments of a million games cost to create, to start, to keep and to play."""

from __future__ import annotations

import resource
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from arena import tournaments
from arena.clock import now
from arena.config import Settings
from arena.coordinator.assembly import Collaborators, assemble
from arena.coordinator.coordinator import Coordinator
from arena.coordinator.leadership import LEASE
from arena.coordinator.maintenance import Maintenance
from arena.events.bus import Bus
from arena.store import Store
from referee.bot.file import BotFile
from tests.tools.bench.figure import Figure
from tests.tools.bench.server import Server, connected
from tests.tools.bench.store import Hands


def run(quick: bool) -> Iterator[Figure]:
    """Figures of ten tournaments of a million games."""
    yield from measured(2 if quick else 10, 101, 198, (1000,) if quick else (1000, 10_000))


def measured(count: int, bots: int, games: int, shown: Sequence[int] = (1000, 10_000)) -> Iterator[Figure]:
    """Figures of so many tournaments, `games` per pairing of as many bots; pages after so many further results."""
    total = bots * (bots - 1) // 2 * games
    with tempfile.TemporaryDirectory() as folder, closing(Store.in_folder(Path(folder))) as store:
        by = store.users.add("owner", "organiser").id or 0
        for number in range(bots):
            bot = store.bots.add(f"bot{number}", by).id or 0
            fit: dict[str, Any] = {"state": "active", "variants": {"loa": ["standard"]}}
            store.versions.add(bot, BotFile(("./bot",), families=("loa",)), **fit)
        document = {"name": "Large", "family": "loa", "games": games, "openings": "none", "entries": {"all": True}}
        before, spent = _peak_mb(), []
        numbers = []
        for _ in range(count):
            begin = time.perf_counter()
            number = tournaments.create(store, document, by, now()).id
            tournaments.plan(store, number)
            spent.append(time.perf_counter() - begin)
            numbers.append(number)
        assert {store.tournaments.get(number).planned_games for number in numbers} == {total}
        name = f"a round robin of {total:,} games created and started, slowest"
        yield Figure("plans", name, max(spent), "s", goal="< 1")
        yield Figure("plans", f"memory for {count} of them", _peak_mb() - before, "MB", goal="< 50")
        hands, idle = Hands(), Maintenance(store, [])
        settings = Settings.model_validate({"data": Path(folder)})
        given = Collaborators(check=lambda _: None, maintenance=idle)
        coordinator = assemble(settings, store, Bus(), hands, given)
        assert store.leases.take(LEASE, coordinator.leadership.name, 600)
        coordinator.take_over()
        coordinator.turn()
        sweeps = []
        for _ in range(10):
            coordinator.order(None)
            begin = time.perf_counter()
            coordinator.turn()
            sweeps.append(1e3 * (time.perf_counter() - begin))
        yield Figure("plans", f"a check of all {count}, median", statistics.median(sweeps), "ms")
        size, begin = _disk(folder), time.process_time()
        _play(coordinator, hands, 200 * count)
        spent_s = time.process_time() - begin
        played = store.results.last_commit()
        yield Figure("plans", "games planned, handed out and recorded", played / spent_s, "games/s CPU")
        grown = _disk(folder) - size
        yield Figure("plans", "disk of a played game with a record of 60 plies", grown / played, "bytes")
        with Server(f"sqlite:///{folder}/arena.sqlite3") as server:
            path = f"/tournaments/{numbers[0]}"
            for more in shown:
                _play(coordinator, hands, more * count)
                games = store.tournaments.get(numbers[0]).finished_games
                for kind in ("first page of a process", "page after 100 more results"):
                    before = server.tell("cpu")
                    with connected(server.port) as (client,):  # an idle connection is closed meanwhile
                        client.get(path)
                    spent_ms = 1e3 * (server.tell("cpu") - before)
                    yield Figure("plans", f"{games:,} results, {kind} (CPU)", spent_ms, "ms")
                    _play(coordinator, hands, 100 * count)
                server.tell("cold")


def _play(coordinator: Coordinator, hands: Hands, count: int) -> None:
    """Play and record at least so many games."""
    done = hands.play()
    while done < count:
        coordinator.turn()
        done += hands.play()
    coordinator.turn()


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _disk(folder: str) -> int:
    return sum(path.stat().st_size for path in Path(folder).glob("arena.sqlite3*"))
