"""Compiles the code of the sample bots that are about to play, before their processes need it.

A sample in a sandbox may read compiled code but not write it. On a new machine each of its processes would compile for
a minute during a game, and could lose on time. Therefore this module compiles the code of samples before they are
started, once for the machine: a marker file next to the compiled code has a digest of the sources in its name.

`python -m referee.machine.sample_warmup` compiles everything for all families without importing the arena, so that
changes of the arena do not invalidate the layer of the container image that holds compiled code. Otherwise use
`arena warmup --bots`.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import select
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import as_completed
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from referee.families import folder, homes
from referee.game.failure import Stopped
from referee.game.spec import BotSpec
from referee.machine import helper
from referee.machine.cores import usable_cores
from referee.machine.warmup import Warmed, warm, warm_with_solver
from referee.rules.cache import cache_root

_ROOT = Path(__file__).resolve().parents[2]
SAMPLES = {
    "bots.samples.random_mover": "random",
    "bots.samples.greedy": "greedy",
    "bots.samples.alphabeta": "alphabeta",
    "bots.samples.mcts": "mcts",
    "bots.samples.champion": "champion",
}
"""Names of samples for `bots.samples.warmup`, by their modules."""
USUAL = ("random", "greedy", "alphabeta", "mcts")
"""Samples that are compiled in advance. The champion uses the compiled search of alpha-beta."""
_FOLDERS = ("bots/search", "referee/rules")
"""Folders whose sources are compiled, together with those of the family."""
COMPILING = b"compiling "
"""Prefix of the lines in which `bots.samples.warmup` names the bot it compiles for, and perhaps the function."""
_ready: set[tuple[str, str]] = set()
"""Pairs (family, sample) that this process knows to be compiled."""


def have_warm(specs: Iterable[BotSpec], family: str, stop_fd: int | None = None) -> None:
    """Compile the code that the samples among these bots use in a family. Raises Stopped, as `have_all_warm` does.

    Errors of the compilation are not returned: the bots will report them themselves.
    """
    playing = [name for spec in specs if (name := _sample(spec)) and (family, name) not in _ready]
    if playing:
        _have(family, playing, stop_fd)
        _ready.update((family, name) for name in playing)


def have_all_warm(
    family: str,
    stop_fd: int | None = None,
    tell: Callable[[str], None] = lambda name: None,
    names: Iterable[str] = USUAL,
) -> str:
    """Compile the code of the samples `names` unless it is cached; return the error, empty on success.

    Waits for another process that is compiling it. Does nothing if compiled code cannot be stored. `tell` is called
    with `BOT` before the code of each bot is compiled, and with `BOT FUNCTION` before each function. Raises Stopped
    when `stop_fd` becomes readable meanwhile.
    """
    return _have(family, names, stop_fd, tell)


def is_warm(family: str, names: Iterable[str]) -> bool:
    """Return whether the code of the samples `names` is compiled, or nothing is compiled at all."""
    is_interpreted = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
    return is_interpreted or all(_mark(family, name).exists() for name in names)


def _have(
    family: str, names: Iterable[str], stop_fd: int | None, tell: Callable[[str], None] = lambda name: None
) -> str:
    names, folder = list(dict.fromkeys(names)), cache_root()
    if is_warm(family, names) or not _may_write(folder):
        return ""
    with (folder / f"samples-{family}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = [name for name in names if not is_warm(family, [name])]
        problem = _compile(family, missing, stop_fd, tell) if missing else ""
        if not problem:
            for name in missing:
                _mark(family, name).touch()
    return problem


def warm_with_samples(family: str) -> Warmed:
    """Compile the samples `USUAL` for a family, and its kernel in this process, before a worker joins its cluster."""
    have_all_warm(family)
    return warm(family)


def main() -> int:
    """Compile the kernels of all families and everything the sample bots call, one family per processor at a time."""
    from referee.machine.pool import SlotPool

    problems = 0
    with SlotPool(usable_cores()) as pool:
        for done in as_completed([pool.submit(_warm_all, family) for family in homes()]):
            warmed, problem = done.result()
            sys.stderr.write(
                f"{warmed.family}: {warmed.compiled} functions compiled; {problem or 'sample bots ready'}\n"
            )
            problems += bool(problem)
    return 1 if problems else 0


def _warm_all(family: str) -> tuple[Warmed, str]:
    """Compile a family, its solver and all samples for it; return also the samples' error, empty on success."""
    return warm_with_solver(family), have_all_warm(family, names=SAMPLES.values())


def _compile(family: str, names: Iterable[str], stop_fd: int | None, tell: Callable[[str], None]) -> str:
    """Compile the code of the samples `names` into the cache; return the error output, empty on success.

    Raises Stopped when `stop_fd` becomes readable meanwhile.
    """
    bots = [f"--bot={name}" for name in names]
    compiler = "bots.samples.warmup"
    # Games that are played meanwhile would take most of the time of a session that it shared.
    with helper.start(compiler, family, *bots, stdout=helper.NOTHING, stderr=helper.PIPE, has_session=True) as process:
        assert process.stderr
        said, rest, pipe = b"", b"", process.stderr.fileno()
        while True:
            ready, _, _ = select.select([pipe] if stop_fd is None else [pipe, stop_fd], [], [])
            if stop_fd in ready:
                process.kill()
                raise Stopped
            data = os.read(pipe, 65_536)
            *lines, rest = (rest + data).split(b"\n")
            for line in lines if data else [*lines, rest]:
                if line.startswith(COMPILING):
                    tell(line.removeprefix(COMPILING).decode("utf-8", "replace"))
                else:
                    said = (said + line + b"\n")[-4096:]
            if not data:
                break
    return said.decode("utf-8", "replace").strip() or "it ended without a word" if process.returncode else ""


def _sample(spec: BotSpec) -> str | None:
    """Return the name of the sample that a spec runs; None for any other bot."""
    return None if spec.bundle else next((SAMPLES[word] for word in spec.command if word in SAMPLES), None)


def _mark(family: str, name: str) -> Path:
    """Return the path of the file that marks a sample as compiled, from the present sources by this Python."""
    return cache_root() / f"samples-{family}-{name}-{_digest(family)}"


@cache
def _digest(family: str) -> str:
    digest = hashlib.sha256(f"{sys.version} {version('numba')} {version('numpy')}".encode())
    for place in (*(_ROOT / name for name in _FOLDERS), folder(family)):
        for source in sorted(place.glob("*.py")):
            digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def _may_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


if __name__ == "__main__":
    # Slots import their jobs by the name of the module, which is not `__main__`.
    sys.exit(import_module("referee.machine.sample_warmup").main())
