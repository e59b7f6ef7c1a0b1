"""What reaches the arena from a scheduler and its workers is never unpickled."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import socket
import struct
import threading
from concurrent.futures import wait
from pathlib import Path
from typing import Any

import msgpack
import pytest
from distributed import Client
from distributed.comm import connect, listen
from distributed.core import rpc
from distributed.protocol import Pickled, Serialized, dumps, to_serialize

from arena.cluster import connection as state
from arena.cluster.plain_comm import UNREADABLE, decode, plain_address
from arena.cluster.wire_config import address_of
from tests.arena.cluster.conftest import Cluster, Opener
from tests.arena.cluster.processes import TIMEOUT_S
from tests.arena.cluster.processes import wait as wait_until


@pytest.fixture
def bomb(tmp_path: Path) -> bytes:
    """Return a pickle that, once loaded, leaves the process id in the folder."""
    # Its code is text, since other processes cannot import this module.
    code = f"import os, pathlib; pathlib.Path({str(tmp_path)!r}, str(os.getpid())).touch()"
    return b"cbuiltins\nexec\n(" + pickle.dumps(code, 0)[:-1] + b"tR."


def test_a_bomb_explodes_where_it_is_unpickled(bomb: bytes, tmp_path: Path) -> None:
    pickle.loads(bomb)
    assert os.listdir(tmp_path) == [str(os.getpid())]


def test_only_plain_data_is_decoded(bomb: bytes, tmp_path: Path) -> None:
    for value in (
        Pickled({"pickled-obj": bomb}, []),
        Serialized({"serializer": "pickle", "writeable": ()}, [bomb]),
        to_serialize({1, 2}),
        bomb,
        bytearray(bomb),
        msgpack.ExtType(5, bomb),
    ):
        frames = dumps([{"op": "event", "topic": "warn", "event": (1.5, value)}])
        assert decode(bytes(frames[0])) == [{"op": "event", "topic": "warn", "event": [1.5, UNREADABLE]}]
    assert decode(msgpack.packb({b"key": [None, True, "text", {}]})) == {UNREADABLE: [None, True, "text", {}]}
    keys = {("execute", ("loa", 1), "seconds"): 1.5, (b"raw",): None}
    assert decode(msgpack.packb(keys)) == {("execute", ("loa", 1), "seconds"): 1.5, (UNREADABLE,): None}
    assert decode(msgpack.packb({"__Enum__": True, "__module__": "os", "__name__": "x", "name": "y"})) == UNREADABLE
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("address", "expected"),
    [("tcp://a:1", "plain://a:1"), ("tls://[::1]:1", "plains://[::1]:1"), ("plain://a:1", "plain://a:1")],
)
def test_addresses_name_the_transport(address: str, expected: str) -> None:
    assert plain_address(address) == expected


def test_identity_of_a_scheduler_with_the_metrics_of_jobs_is_read(cluster: Cluster, open_executor: Opener) -> None:
    cluster.worker()
    executor = open_executor()
    address = address_of(cluster.address)

    async def metrics() -> dict[Any, Any]:
        async with rpc(plain_address(address)) as scheduler:
            (worker,) = (await scheduler.identity(n_workers=-1))["workers"].values()
            return dict(worker["metrics"]["digests_total_since_heartbeat"])

    def are_there() -> bool:
        assert executor.submit(int, "17").result(TIMEOUT_S) == 17
        return any(isinstance(key, tuple) for key in asyncio.run(metrics()))

    wait_until(are_there, "metrics of a job")
    assert executor.describe().is_connected


@pytest.mark.parametrize("size", [10, 2**17 + 1, 2**22])
def test_messages_of_any_size_are_read(size: int) -> None:
    async def echo() -> None:
        async def answer(comm: Any) -> None:
            await comm.write({"text": "x" * size, "more": to_serialize(bytes(size))})
            await comm.write("next")
            with contextlib.suppress(OSError):  # it lives until the other side ends
                await comm.read()

        async with listen("tcp://127.0.0.1:0", answer) as listener:
            comm = await connect(plain_address(listener.contact_address))
            assert await comm.read() == {"text": "x" * size, "more": UNREADABLE}
            assert await comm.read() == "next"
            await comm.close()

    asyncio.run(echo())


def _bombard(dask_scheduler: Any, bomb: bytes, key: str, spared: str) -> int:
    """Send bombs to all clients but one in messages that Dask's own client unpickles; return the number of clients."""
    from distributed.protocol import Pickled, Serialized

    targets = set(dask_scheduler.client_comms) - {spared}
    for client in targets:
        comm = dask_scheduler.client_comms[client]
        for message in (
            {"op": "event", "topic": "warn", "event": (0.0, {"category": bomb, "message": bomb})},
            {"op": "event", "topic": "print", "event": (0.0, Pickled({"pickled-obj": bomb}, []))},
            {"op": "lost-data", "key": Serialized({"serializer": "pickle", "writeable": ()}, [bomb])},
            {"op": "key-in-memory", "key": key, "type": bomb, "workers": []},
            {"op": "task-erred", "key": key, "exception": bomb, "traceback": bomb},
        ):
            comm.send(message)
    return len(targets)


def test_whoever_controls_the_scheduler_runs_nothing_in_the_arena(
    cluster: Cluster, open_executor: Opener, bomb: bytes, tmp_path: Path
) -> None:
    cluster.worker()
    executor = open_executor()
    future = executor.submit(int, "17")
    (key,) = executor._jobs
    with Client(address_of(cluster.address), set_as_default=False, timeout=TIMEOUT_S) as attacker:
        assert attacker.run_on_scheduler(_bombard, bomb=bomb, key=key, spared=attacker.id) >= 1
    assert wait([future], TIMEOUT_S).done, "a forged error ends the job"
    assert executor.submit(int, "17").result(TIMEOUT_S) == 17, "it still works"
    assert state.look(address_of(cluster.address), None, TIMEOUT_S).slots == 1
    assert str(os.getpid()) not in os.listdir(tmp_path)


@pytest.mark.parametrize("words", [(2**60,), (16, 2**40, 0), (16, 1, 9), (16, 1, 0)])
def test_an_invalid_message_ends_the_connection(words: tuple[int, ...]) -> None:
    data = struct.pack(f"={len(words)}Q", *words)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(data)
                connection.recv(65536)

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(OSError, match="comm"):
            state.look(f"tcp://127.0.0.1:{server.getsockname()[1]}", None, 3)
        thread.join()
