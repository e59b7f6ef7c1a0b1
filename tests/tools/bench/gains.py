"""What each choice of the referee's loop is worth: the same round trip to the same echo in C, done otherwise.

Before and after, measured in one run: none of the ways that lost is anywhere in the program.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.tools.bench.figure import Figure
from tests.tools.bench.overhead import build, round_trip

ASK = b"position startpos moves c1c3\ngo clock 1000\n"
FLOOR = "bare pipe round trip in C"


def _echo(folder: Path) -> subprocess.Popen[bytes]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen([str(folder / "pingpong"), "echo"], bufsize=0, **pipes)  # type: ignore[call-overload, no-any-return]


def blocking(folder: Path, trips: int) -> float:
    """Bytes on raw pipes, a blocking poll: what the referee does. Microseconds of wall time per trip."""
    with _ended(_echo(folder)) as process:
        assert process.stdin
        assert process.stdout
        out, back = process.stdin.fileno(), process.stdout.fileno()
        poll = select.poll()
        poll.register(back, select.POLLIN)
        begin = time.perf_counter()
        for _ in range(trips):
            os.write(out, ASK)
            poll.poll(1000)
            os.read(back, 65536)
        return 1e6 * (time.perf_counter() - begin) / trips


def text(folder: Path, trips: int) -> float:
    """The same with `str`: files in text mode, encoded and decoded for every line."""
    process = subprocess.Popen(
        [str(folder / "pingpong"), "echo"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with _ended(process):
        assert process.stdin
        assert process.stdout
        asked = ASK.decode()
        begin = time.perf_counter()
        for _ in range(trips):
            process.stdin.write(asked)
            process.stdin.flush()
            process.stdout.readline()
        return 1e6 * (time.perf_counter() - begin) / trips


def streams(folder: Path, trips: int) -> float:
    """asyncio streams with a timeout per move."""

    async def play() -> float:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(str(folder / "pingpong"), "echo", stdin=pipe, stdout=pipe)
        assert process.stdin
        assert process.stdout
        begin = time.perf_counter()
        for _ in range(trips):
            process.stdin.write(ASK)
            await process.stdin.drain()
            await asyncio.wait_for(process.stdout.readline(), 1)
        trip_us = 1e6 * (time.perf_counter() - begin) / trips
        process.stdin.close()
        await process.wait()
        return trip_us

    return asyncio.run(play())


def threads(folder: Path, trips: int) -> float:
    """An event loop that hands every move to a thread."""
    with _ended(_echo(folder)) as process:
        assert process.stdin
        assert process.stdout
        out, back = process.stdin.fileno(), process.stdout.fileno()

        def once() -> None:
            os.write(out, ASK)
            os.read(back, 65536)

        async def play() -> float:
            begin = time.perf_counter()
            for _ in range(trips):
                await asyncio.to_thread(once)
            return 1e6 * (time.perf_counter() - begin) / trips

        return asyncio.run(play())


@contextlib.contextmanager
def _ended(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> Iterator[subprocess.Popen[bytes]]:
    try:
        yield process  # type: ignore[misc]
    finally:
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()
        process.wait()


WAYS: dict[str, Callable[[Path, int], float]] = {
    "bytes, blocking poll": blocking,
    "text files": text,
    "asyncio streams with a timeout": streams,
    "a thread per move": threads,
}


def run(quick: bool) -> Iterator[Figure]:
    """Every way, pinned to one core together with the echo, and the first one unpinned too."""
    trips = 3000 if quick else 30_000
    core = min(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        _, rate = round_trip(folder, core)
        for way in WAYS:
            for pinned in (True, False) if way == "bytes, blocking poll" else (True,):
                words = [way, name, str(trips), str(core if pinned else -1)]
                line = [sys.executable, "-m", "tests.tools.bench.gains", *words]
                outputs = [
                    subprocess.run(line, capture_output=True, check=True, text=True).stdout
                    for _ in range(2 if quick else 3)
                ]
                label = f"round trip: {way}, {'one core' if pinned else 'wherever it lands'}"
                yield Figure("gains", label, min(map(float, outputs)), "µs", FLOOR, 1e6 / rate)


if __name__ == "__main__":
    if (place := int(sys.argv[4])) >= 0:
        os.sched_setaffinity(0, {place})
    print(WAYS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3])))
