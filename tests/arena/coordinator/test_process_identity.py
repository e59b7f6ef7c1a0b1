"""Names of lease owners: which processes run, and which are certainly dead."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from arena.coordinator.leadership import LEASE, is_dead, new_name
from tests.arena.coordinator.stage import Dice, Stage


def name_of_another(*, is_waited_for: bool) -> tuple[str, subprocess.Popen[bytes]]:
    """Return the name of a process that has ended."""
    code = "from arena.coordinator.leadership import new_name; print(new_name(), flush=True)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    name = process.stdout.readline().decode().strip()
    if is_waited_for:
        process.wait()
    else:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    return name, process


@pytest.mark.parametrize("is_waited_for", [True, False])
def test_an_ended_process_is_dead_reaped_or_not(is_waited_for: bool) -> None:
    name, process = name_of_another(is_waited_for=is_waited_for)
    with process:
        assert is_dead(name)


def test_a_running_process_is_not_dead_and_has_many_names() -> None:
    assert not is_dead(new_name())
    assert new_name() != new_name()
    assert len(new_name()) <= 120


def test_another_process_with_the_same_pid_is_not_mistaken_for_it() -> None:
    machine, pid, mark, nonce = new_name().rsplit(":", 3)
    place, start = mark.split("-")
    assert is_dead(f"{machine}:{pid}:{place}-{int(start) - 1}:{nonce}")


@pytest.mark.parametrize("name", ["", "another", "box:12:0a1b2c3d", "box:4194999:00000000-77:0a1b2c3d"])
def test_a_process_of_another_machine_is_never_dead(name: str) -> None:
    assert not is_dead(name)


def test_the_lease_of_a_dead_process_is_acquired_at_once(stage: Stage) -> None:
    name, process = name_of_another(is_waited_for=True)
    process.stdout.close()  # type: ignore[union-attr]
    assert stage.store.leases.take(LEASE, name, 3600)
    assert stage.apart(Dice()).leadership.take()
    lease = stage.store.leases.get(LEASE)
    assert lease is not None
    assert lease.owner != name


def test_the_lease_of_a_running_process_is_not_acquired(stage: Stage) -> None:
    name = new_name()
    assert stage.store.leases.take(LEASE, name, 3600)
    assert not stage.apart(Dice()).leadership.take()
    assert stage.store.leases.get(LEASE).owner == name  # type: ignore[union-attr]
