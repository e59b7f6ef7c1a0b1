"""`arena doctor`: what this machine offers the arena, one line for each part, and how to get the rest.

Refuses to change anything: it tries things in temporary places and cleans up.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import select
import shutil
import socket
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from arena.cli import output
from arena.cli.exit import Exit
from arena.cli.output import Style
from arena.config import Settings, read_settings
from referee.rules.cache import cache_root
from referee.sandbox import LEVELS, Assessment, assess, open_sandbox, refusal
from referee.sandbox.cgroup import Place, find_place
from referee.spec import Limits

State = Literal["ok", "weak", "broken"]
_COLOURS: dict[State, Style] = {"ok": "green", "weak": "yellow", "broken": "red"}
_WAITS = 40
_PORTS = {"postgresql": 5432, "dask": 8786}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the machine: `weak` works but could be better, `broken` does not. `fix` says what to do."""

    name: str
    state: State
    detail: str
    fix: str = ""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--data", type=Path, metavar="DIR", help="data folder (default ./data)")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings (default arena.toml in the data folder)")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(arguments: argparse.Namespace) -> int:
    """Look at every part; exit code 1 when one is broken."""
    settings = read_settings(arguments.config, data=arguments.data)
    found = []
    for part in examine(settings):
        found.append(part)
        if not arguments.json:
            output.text(f"{output.styled(f'{part.state:<6}', _COLOURS[part.state])}  {part.name:<15} {part.detail}")
            if part.fix:
                output.text(f"{'':24}fix: {part.fix}")
    if arguments.json:
        output.document({"parts": [asdict(part) for part in found]})
    return Exit.FAILED if any(part.state == "broken" for part in found) else Exit.DONE


def examine(settings: Settings) -> Iterator[Part]:
    """Every part, as it is looked at."""
    yield _python()
    yield _sandbox()
    yield _uploads()
    yield _user()
    yield _groups()
    yield from _programs()
    yield _kernels()
    yield _cores()
    yield _memory()
    yield _clock()
    yield _lag_meter()
    yield _sqlite(settings)
    yield _service("database", "database", settings.database, "SQLite in the data folder")
    yield _broker(settings)
    yield _cluster(settings) if settings.is_clustered else Part("executor", "ok", settings.executor)


def _python() -> Part:
    version = platform.python_version()
    is_fit = (3, 11) <= sys.version_info < (3, 15)
    return Part(
        "python", "ok" if is_fit else "broken", f"{version} at {sys.executable}", "" if is_fit else "use 3.11 to 3.14"
    )


def _sandbox() -> Part:
    """The strongest level that works, and why none above it does."""
    name = open_sandbox("auto").name
    above = [assess(level) for level in LEVELS[: LEVELS.index(name)]]
    below = [level for level in LEVELS[LEVELS.index(name) + 1 :] if assess(level).works]
    why = "".join(f"; not {level.name}: {level.reason}" for level in above)
    also = f"; also {', '.join(below)}" if below else ""
    return Part("sandbox", _state_of(above), f"{name}{why}{also}", above[0].fix if above else "")


def _state_of(above: list[Assessment]) -> State:
    return "weak" if above else "ok"


def _uploads() -> Part:
    reason = refusal(open_sandbox("auto"))
    if reason:
        return Part("uploads", "weak", f"bots of strangers are refused: {reason}", assess("bwrap").fix)
    return Part("uploads", "ok", "bots of strangers may be run")


def _user() -> Part:
    if os.geteuid():
        return Part("user", "ok", f"user {os.geteuid()}; bots are kept in by namespaces or Landlock")
    return Part(
        "user",
        "ok" if assess("rlimits").works else "broken",
        "root; every bot becomes a user of its own",
        "" if assess("rlimits").works else "install util-linux (setpriv), or start the arena as another user",
    )


def _groups() -> Part:
    place = find_place()
    if isinstance(place, Place):
        controllers = ", ".join(sorted({*place.folders} - {"kill"}))
        return Part("control groups", "ok", f"version {2 if place.is_unified else 1}: {controllers}")
    return Part(
        "control groups",
        "weak",
        f"none: {place}; memory and processes are watched instead",
        "run as root, or as a systemd service with Delegate=yes",
    )


def _programs() -> Iterator[Part]:
    for name, package, purpose in (
        ("bwrap", "bubblewrap", "the strongest sandbox"),
        ("setpriv", "util-linux", "bots that die with their referee, and are not root"),
        ("prlimit", "util-linux", "bounds on every process"),
        ("cc", "gcc", "compiling the example bots in C"),
    ):
        place = shutil.which(name)
        if place:
            yield Part(name, "ok", place)
        else:
            yield Part(name, "weak", f"not there; needed for {purpose}", f"apt-get install {package}")


def _kernels() -> Part:
    folder = cache_root()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return Part(
            "numba cache",
            "weak",
            f"{folder} cannot be written ({error.strerror}): every process compiles anew what is not in it",
            "set NUMBA_CACHE_DIR to a folder that the arena, and no bot, may write; then arena warmup",
        )
    kept = sum(1 for one in folder.iterdir() if one.is_dir())
    if not kept:
        return Part("numba cache", "weak", f"{folder}, empty", "arena warmup")
    return Part("numba cache", "ok", f"{folder}, code of {kept} sets of sources")


def _cores() -> Part:
    usable, all_of_them = len(os.sched_getaffinity(0)), os.cpu_count() or 1
    detail = f"{usable} of {all_of_them} may be used; that many games at once keep the clocks fair"
    return Part("cores", "ok" if usable > 1 else "weak", detail, "" if usable > 1 else "one game at a time")


def _memory() -> Part:
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    games = total // (2 * Limits().memory_bytes)
    return Part(
        "memory",
        "ok" if games else "weak",
        f"{total / 2**30:.1f} GiB, enough for both bots of {games} games with {Limits().memory_bytes >> 20} MiB each",
        "" if games else "allow bots less memory",
    )


def _clock() -> Part:
    """How late this process wakes up from waits of a millisecond."""
    poll = select.poll()
    late = []
    for _ in range(_WAITS):
        begin = time.monotonic_ns()
        poll.poll(1)
        late.append((time.monotonic_ns() - begin) / 1e6 - 1)
    worst, usual = max(late), sorted(late)[_WAITS // 2]
    margin = Limits().margin_ms
    detail = f"wakes up {usual:.2f} ms late as a rule, {worst:.2f} ms at worst of {_WAITS}; the margin is {margin} ms"
    if worst > margin:
        return Part("clock", "weak", detail, "fewer games at once, or a larger --margin")
    return Part("clock", "ok", detail)


def _lag_meter() -> Part:
    try:
        fields = Path("/proc/thread-self/schedstat").read_text(encoding="ascii").split()
    except OSError:
        return Part(
            "lag meter",
            "weak",
            "the kernel does not count how long this process waits for a core; only late wake-ups are seen",
            "use a kernel with CONFIG_SCHED_INFO",
        )
    return Part("lag meter", "ok", f"the kernel counts how long this process waits for a core ({fields[1]} ns so far)")


def _sqlite(settings: Settings) -> Part:
    version = sqlite3.sqlite_version
    folder = settings.data if settings.data.is_dir() else None
    with tempfile.TemporaryDirectory(dir=folder) as place:
        try:
            connection = sqlite3.connect(Path(place, "try.sqlite3"))
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            connection.close()
        except sqlite3.Error as error:
            return Part("sqlite", "broken", f"{version}: {error}", "put the data folder on a local disk")
    if sqlite3.sqlite_version_info < (3, 35):
        return Part("sqlite", "broken", f"{version} is too old", "use a Python with SQLite 3.35 or newer")
    if mode != "wal":
        return Part("sqlite", "weak", f"{version}, no write-ahead log there", "put the data folder on a local disk")
    return Part("sqlite", "ok", f"{version}, write-ahead log works in {folder or 'a temporary folder'}")


def _broker(settings: Settings) -> Part:
    """Whether the broker lets us in."""
    if not settings.mqtt:
        return Part("broker", "ok", "none: events stay in one process")
    from arena.events.bus import BusError
    from arena.events.mqtt.connection import probe
    from arena.events.mqtt.url import BrokerUrl

    try:
        asyncio.run(probe(settings))
    except BusError as error:
        return Part("broker", "broken", error.problem, error.fix)
    url = BrokerUrl.read(settings.mqtt)
    if url.is_embedded:
        return Part("broker", "ok", f"amqtt can be started at {url}, for development")
    return Part("broker", "ok", f"{url} lets us in")


def _cluster(settings: Settings) -> Part:
    """Who plays: the workers of the scheduler."""
    fix = "start `arena scheduler` there, or change the setting 'executor'"
    try:
        from arena.cluster.link import ClusterError, address_of, reason, security_of
        from arena.cluster.state import look

        address = address_of(settings.executor)
        state = look(address, security_of(settings, address), 8)
    except ModuleNotFoundError as error:
        return Part("executor", "broken", f"{error.name} is not installed", "pip install 'bot-arena[cluster]'")
    except (ClusterError, ValueError) as error:
        return Part("executor", "broken", str(error), "change the setting 'executor'")
    except (OSError, TimeoutError) as error:
        return Part("executor", "broken", f"no scheduler answers at {settings.executor}: {reason(error)}", fix)
    strangers = "".join(f"; {worker.name} is of another version: {worker.version}" for worker in state.refused)
    if not state.slots:
        start = f"arena worker --scheduler {settings.executor}"
        return Part(
            "executor", "weak", f"the scheduler answers; no worker, so games wait{strangers}", f"start `{start}`"
        )
    fit = len(state.workers) - len(state.refused)
    detail = f"{fit} workers with {state.slots} slots, {state.busy} of them busy{strangers}"
    return Part(
        "executor", "weak" if strangers else "ok", detail, "install the arena's version there" if strangers else ""
    )


def _service(name: str, setting: str, url: str, otherwise: str) -> Part:
    """Whether somebody listens where a URL says."""
    parts = urlsplit(url)
    if not parts.hostname:
        return Part(name, "ok", otherwise)
    port = parts.port or _PORTS.get(parts.scheme.partition("+")[0], 0)
    place = f"{parts.hostname}:{port}"
    try:
        socket.create_connection((parts.hostname, port), 2).close()
    except OSError as error:
        fix = f"start it, or change the setting {setting!r}"
        return Part(name, "broken", f"nobody answers at {place}: {error.strerror or error}", fix)
    return Part(name, "ok", f"{parts.scheme} at {place} answers")
