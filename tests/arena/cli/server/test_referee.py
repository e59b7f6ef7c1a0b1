"""Whoever starts a process on a data folder reads which process plays its games."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from pathlib import Path

import pytest

from arena.cli.server import referee
from arena.cli.server.referee import announced, player_of, unable_to_serve
from arena.store import Store
from tests.arena.coordinator.stage import Dice, Stage

TIMEOUT_S = 100


def test_the_process_with_the_lease_and_the_one_without_are_announced(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(store, tmp_path)

    async def main() -> None:
        notes: asyncio.Queue[str] = asyncio.Queue()
        monkeypatch.setattr(referee.output, "note", lambda *lines: [notes.put_nowait(line) for line in lines])
        first, other = stage.apart(Dice()), stage.apart(Dice())
        stop, second_stop = asyncio.Event(), asyncio.Event()
        async with announced(store, stage.bus, first, "data"), announced(store, stage.bus, other, "data"):
            task = asyncio.create_task(first.run(stop))
            assert await notes.get() == "this process plays the games of data"
            second = asyncio.create_task(other.run(second_stop))
            me = f"process {os.getpid()} on {socket.gethostname()[:60]}"
            assert await notes.get() == f"{me} plays the games of data; this one takes over when that ends"
            assert await notes.get() == "for games of its own give this one another --data"
            stop.set()
            await task
            assert await notes.get() == "this process plays the games of data"
            second_stop.set()
            await second
        assert notes.empty()

    asyncio.run(asyncio.wait_for(main(), TIMEOUT_S))


def test_nobody_plays_where_the_lease_is_free_or_its_owner_is_dead(store: Store, tmp_path: Path) -> None:
    assert player_of(store) == ""
    coordinator = Stage(store, tmp_path).apart(Dice())
    assert coordinator.leadership.take()
    assert player_of(store).startswith(f"process {os.getpid()} on ")
    coordinator.leadership.release()
    machine, _, rest = coordinator.leadership.name.split(":", 2)
    store.leases.take("referee", f"{machine}:{2**22 + 1}:{rest}", 60)
    assert player_of(store) == ""


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.EADDRINUSE, "error while attempting to bind on ('::1', 80)"), "Address already in use"),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "Name or service not known"),
        (OSError("no luck"), "no luck"),
    ],
)
def test_an_address_that_cannot_be_served_is_named_with_the_reason_once(error: OSError, reason: str) -> None:
    assert str(unable_to_serve("host", 80, error, "do that")) == f"cannot serve on host:80: {reason}; do that"
