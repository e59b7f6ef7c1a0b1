"""A coordinator process to be killed: `victim.py DATABASE FOLDER` acts until SIGTERM, and prints a line for every
result.

With a third argument it kills itself after this number of results, which is more precise than a reader of its output.

Slots are real, bots are scripted. It prints `standing by` and `acting` at these changes, and `stopped` at the end.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from arena.cluster.spool import Spool
from arena.config import Settings
from arena.coordinator.assembly import Collaborators, assemble
from arena.coordinator.executors import open_executor
from arena.events.bus import Bus
from arena.events.messages import CoordinatorChanged, GameEnded, GameStarted
from arena.log import configure
from arena.store import Store


async def main() -> None:
    database, folder = sys.argv[1], Path(sys.argv[2])
    left = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    configure("text", "error")
    settings = Settings(
        data=folder,
        database=database,
        sandbox="none",
        allow_weak_sandbox=True,
        executor="local:2",
        lease_ttl_seconds=30,  # a standby on the same machine sees at once that its owner is dead
    )
    store, bus, spool = Store(database), Bus(), Spool(settings.spool_folder)
    executor = open_executor(settings, bus, spool)
    coordinator = assemble(settings, store, bus, executor, Collaborators(spool=spool))
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with bus.subscribe(CoordinatorChanged, GameStarted, GameEnded) as events:

        async def report() -> None:
            nonlocal left
            async for event in events:
                match event:
                    case GameEnded():
                        print("end", event.game, event.state, flush=True)
                        left -= 1
                        if left == 0:
                            os.kill(os.getpid(), signal.SIGKILL)
                    case CoordinatorChanged():
                        print("state", event.state, flush=True)
                    case GameStarted():
                        print("start", event.game, flush=True)

        task = asyncio.create_task(report())
        await coordinator.run(stop)
        await asyncio.sleep(0)
        events.close()
        await task
    executor.shutdown(cancel_futures=True)
    store.close()


if __name__ == "__main__":
    asyncio.run(main())
