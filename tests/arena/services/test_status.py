"""The state of the service as readers see it: coordinator, workers, quarantined workers."""

from __future__ import annotations

import pytest

from arena.events.bus import Bus
from arena.events.live import Live
from arena.events.messages import CoordinatorWorkers
from arena.events.payload import WorkerPayload
from arena.services import Arena, status
from arena.store.people.audit import QUARANTINED, THROTTLED, VERIFIED
from tests.arena.field import Field
from tests.arena.services.conftest import Person

WORKERS = (WorkerPayload("host-1", slots=4, busy=3), WorkerPayload("host-2", slots=2, busy=0, is_fit=False))


def test_coordinator_without_a_lease_is_not_alive(arena: Arena) -> None:
    found = status.coordinator(arena, None)
    assert (found.lease_owner, found.until, found.left_s, found.is_alive, found.games) == (None, None, None, False, {})


def test_coordinator_is_named_to_organisers_only(arena: Arena, person: Person) -> None:
    Field(arena.store).plan(3)
    assert arena.store.leases.take("referee", "host:17:0", 60)
    state = status.coordinator(arena, person("olga", "organiser"))
    assert (state.lease_owner, state.is_alive, state.games) == ("host:17:0", True, {"planned": 3})
    assert state.left_s is not None
    assert 50 < state.left_s <= 60
    hidden = status.coordinator(arena, person("ada")).lease_owner
    assert hidden is not None
    assert hidden.startswith("referee-")
    assert "host" not in hidden


def test_workers_are_numbered_for_all_but_organisers(arena: Arena, person: Person) -> None:
    live = Live(Bus())
    live.take(CoordinatorWorkers(workers=WORKERS))
    assert status.workers(arena, live, person("olga", "organiser")) == list(WORKERS)
    shown = status.workers(arena, live, None)
    assert shown is not None
    assert [(worker.name, worker.idle, worker.state) for worker in shown] == [
        ("worker 1", 1, "playing"),
        ("worker 2", 2, "refused"),
    ]


def test_workers_are_unknown_without_a_recent_status(arena: Arena) -> None:
    live = Live(Bus())
    assert status.workers(arena, live, None) is None
    live.take(CoordinatorWorkers(workers=WORKERS))
    live.workers_at -= status.FRESH_S + 1
    assert status.workers(arena, live, None) is None


@pytest.mark.parametrize("role", ["organiser", "author"])
def test_quarantined_workers_are_listed_with_their_results(arena: Arena, person: Person, role: str) -> None:
    for action, worker in ((QUARANTINED, "a"), (QUARANTINED, "b"), (VERIFIED, "a"), (THROTTLED, "c")):
        arena.store.audit.note(action, f"worker:{worker}", worker=worker, problem=f"problem of {worker}")
    quarantined = status.read(arena, person("olga", role)).quarantined
    assert [worker.name for worker in quarantined] == (["c", "b", "a"] if role == "organiser" else ["a worker"] * 3)
    assert quarantined[0].quarantined_at >= quarantined[-1].quarantined_at
    assert [worker.problem for worker in quarantined] == ["problem of c", "problem of b", "problem of a"]
    assert [worker.results.partition(":")[0] for worker in quarantined] == [
        "kept",
        "being verified",
        "verified; wrong games are played again",
    ]


def test_tournaments_are_counted_by_state(arena: Arena) -> None:
    Field(arena.store)
    found = status.read(arena, None)
    assert sum(found.tournaments.values()) == 1
    assert found.running == []
