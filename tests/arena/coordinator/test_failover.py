"""A referee that is killed, stopped or cut off in a transaction: a standby acts within three times the lease."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import text

from arena.cluster.spool import Backlog
from arena.coordinator.background import OutageLog
from arena.coordinator.leadership import LEASE, Leadership
from arena.store import Store
from tests.arena import postgres

LEASE_S = 10.0
"""Long enough for three of them to tell a slow standby from a busy machine."""
HANG = """
import sys, time
from sqlalchemy import text
from arena.store import Store
store = Store(sys.argv[1])
assert store.leases.take("referee", "victim", float(sys.argv[2]))
with store.leases.fencing("referee", "victim"), store.writing() as session:
    print("begun", flush=True)
    if sys.argv[3] == "statement":
        session.execute(text("SELECT pg_sleep(600)"))
    time.sleep(600)
"""
"""A referee that hangs in a fenced transaction, in a statement or between two."""


@contextmanager
def hanging(url: str, where: str) -> Iterator[subprocess.Popen[str]]:
    """Run a referee that hangs in a transaction, which has a lock on the lease."""
    line = [sys.executable, "-c", HANG, url, str(LEASE_S), where]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


def seconds_until_taken(store: Store) -> float:
    """Return how long a standby that has just been started needs to become the coordinator."""
    begin, standby = time.monotonic(), Leadership(store, LEASE_S, OutageLog(Backlog))
    while not standby.take():
        time.sleep(standby.poll_interval_s)
    return time.monotonic() - begin


@pytest.fixture
def database(cluster: postgres.Cluster) -> Iterator[str]:
    with cluster.database() as url:
        yield url


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "where"),
    [(signal.SIGKILL, "statement"), (signal.SIGSTOP, "between statements")],
    ids=["killed in a statement", "stopped between two"],
)
def test_standby_acts_within_three_leases_of_a_fault_in_a_transaction(
    database: str, where: str, fault: signal.Signals
) -> None:
    store = Store(database)
    try:
        with hanging(database, where) as process:
            os.kill(process.pid, fault)
            assert seconds_until_taken(store) < 3 * LEASE_S
        assert store.leases.get(LEASE).owner != "victim"  # type: ignore[union-attr]
    finally:
        store.close()


def test_sessions_notice_a_client_that_is_cut_off(database: str) -> None:
    store = Store(database)
    try:
        with store.writing() as session:
            shown = {
                name: session.scalar(text(f"SELECT setting FROM pg_settings WHERE name = '{name}'"))
                for name in (
                    "tcp_user_timeout",
                    "tcp_keepalives_idle",
                    "client_connection_check_interval",
                    "idle_in_transaction_session_timeout",
                )
            }
    finally:
        store.close()
    assert shown == {
        "tcp_user_timeout": "10000",
        "tcp_keepalives_idle": "4",
        "client_connection_check_interval": "2000",
        "idle_in_transaction_session_timeout": "60000",
    }
