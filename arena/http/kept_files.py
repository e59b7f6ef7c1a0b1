"""Files that take long, such as pictures, booklets and large tables: made in a process of their own, and kept."""

from __future__ import annotations

import asyncio
import hashlib
import os
import pickle
from collections.abc import Callable

from aiohttp import web
from cachetools import LRUCache

from arena.http.rate_limit import BoundedQueue
from arena.http.request_context import CONTEXT, address_key, charge
from arena.offload import OffloadProcess
from arena.services import standings
from arena.services.standings_cache import TournamentStandings

MAX_BYTES = 32 * 2**20
"""Size of all kept files together."""
_NICE = 10
"""Priority of the process that makes them: below the pages and the games."""


class KeptFiles:
    """The files of one web process that take long: made in another process, one at a time, and kept.

    Simultaneous requests for the same one wait for one making.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._kept: LRUCache[str, bytes] = LRUCache(max_bytes, len)
        self._made: dict[str, asyncio.Task[bytes]] = {}
        self._queue = BoundedQueue(1, each=2, total=8, crowd="too many files that take long are being made")
        self._process = OffloadProcess()

    def has(self, key: str) -> bool:
        """Return whether a file costs nothing now: it is kept, or being made."""
        return key in self._kept or key in self._made

    async def get(self, key: str, client: str, make: Callable[..., bytes], *args: object) -> bytes:
        """Return a file, made by `make`, a function of a module, unless it is kept.

        The making continues when its client leaves, for the next one. Raises Problem (503) if too many are waiting, in
        total or for this client.
        """
        if (kept := self._kept.get(key)) is not None:
            return kept
        if (making := self._made.get(key)) is None:
            making = self._made[key] = asyncio.create_task(self._make(key, client, make, *args))
            making.add_done_callback(lambda _: self._made.pop(key))
        return await asyncio.shield(making)

    async def _make(self, key: str, client: str, make: Callable[..., bytes], *args: object) -> bytes:
        async with self._queue.turn(client):
            file = await asyncio.to_thread(self._process.call, _call_last, make, *args)
        if len(file) <= self._kept.maxsize:
            self._kept[key] = file
        return file

    async def close(self, _app: web.Application) -> None:
        await asyncio.to_thread(self._process.close)


KEPT_FILES: web.AppKey[KeptFiles] = web.AppKey("kept-files", KeptFiles)


async def kept_file(request: web.Request, cost: float, make: Callable[..., bytes], *args: object) -> bytes:
    """Return what a module-level function makes in another process; it costs that many requests unless it is kept.

    Raises Problem (429, 503).
    """
    files, key = request.app[KEPT_FILES], hashlib.sha256(pickle.dumps((make, args))).hexdigest()
    if cost and not files.has(key):
        await charge(request, cost)
    return await files.get(key, address_key(request), make, *args)


async def crosstable_file(request: web.Request, table: TournamentStandings, make: standings.Maker) -> bytes:
    """Return a file of the crosstable of a tournament. One of many games is kept until the tournament changes.

    Raises Problem (429, 503).
    """
    store, games = request.app[CONTEXT].arena.store, sum(table.endings.values())
    if games <= standings.MAX_INLINE_GAMES:
        return await asyncio.to_thread(make, store, table)
    cost = games / standings.GAMES_PER_TOKEN
    return await kept_file(request, cost, standings.make_apart, make, store.url, table.tournament.id, table.state)


def _call_last(make: Callable[..., bytes], *args: object) -> bytes:
    """Call the function after lowering the priority of this process, which only makes files."""
    os.setpriority(os.PRIO_PROCESS, 0, max(_NICE, os.getpriority(os.PRIO_PROCESS, 0)))
    return make(*args)
