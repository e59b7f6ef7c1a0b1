"""Compiled code on disk: what was compiled for one signature is never taken for another."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from referee.rules import cache, jit

SIGNATURES = ["array(int64, 1d, C)", "Array(int64, 1, 'C', False, aligned=True)", "int64", "uint64"]

pytestmark = pytest.mark.skipif(not cache.IS_COMPILED, reason="optional: nothing is compiled here (NUMBA_DISABLE_JIT)")


def test_signatures_kept_at_the_same_time_are_not_mixed_up(tmp_path: Path) -> None:
    barrier = threading.Barrier(len(SIGNATURES), timeout=60)

    def keep(signature: str) -> None:
        for number in range(100):
            barrier.wait()
            jit._CacheFile(str(tmp_path), f"f{number}", None).save((signature,), f"code for {signature}")

    threads = [threading.Thread(target=keep, args=(signature,)) for signature in SIGNATURES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(100):
        found = jit._CacheFile(str(tmp_path), f"f{number}", None)
        assert [found.load((signature,)) for signature in SIGNATURES] == [f"code for {one}" for one in SIGNATURES]
        assert found.load(("float64",)) is None


def test_what_is_cut_short_is_compiled_again(tmp_path: Path) -> None:
    file = jit._CacheFile(str(tmp_path), "f", None)
    file.save(("int64",), "code")
    (path,) = tmp_path.iterdir()
    for size in (0, 5):
        os.truncate(path, size)
        assert file.load(("int64",)) is None
    file.save(("int64",), "code")
    assert file.load(("int64",)) == "code"


def test_arrays_that_may_and_may_not_be_written_are_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(
        "from referee.rules.jit import jit\n@jit\ndef total(a):\n    return a[0] + a.shape[0]\n"
    )
    (tmp_path / "run.py").write_text(
        "import sys, numpy as np, kernel\n"
        "a, b = np.array([5, 7]), np.array([1, 2, 3]); b.setflags(write=False)\n"
        "print(kernel.total(a), kernel.total(b), kernel.total(np.array([1.5])), end=' ')\n"
        "print(sum(kernel.total.stats.cache_hits.values()))\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    said = [
        subprocess.run(
            [sys.executable, str(tmp_path / "run.py")], env=environment, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert said == ["7 4 2.5 0\n", "7 4 2.5 3\n"]
    assert len(list((tmp_path / "cache").rglob("*.nbc"))) == 3


def test_what_is_loaded_runs_without_what_compiles_and_the_rest_is_compiled_beside_it(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text("""
import math
import numpy as np
from referee.rules.jit import jit, popcount

@jit
def ones(a):
    if a.size == 0:
        raise ValueError("none")
    return popcount(np.uint64(a[0]))

@jit
def different(a):
    found, last = set(), {}
    for i in range(a.size):
        found.add((a[i], "even" if i % 2 else "odd"))
        last[hash(a[i])] = i
    b = np.zeros(a.size)
    b[:] = np.sqrt(a)
    words = [str(x) for x in range(3)]
    return int(b.sum() + math.floor(1.5)) + len(words) + len(found) + len(last)
""")
    (tmp_path / "run.py").write_text("""
import sys
import numpy as np
import kernel

print(kernel.ones(np.array([7])), "numba.np.arraymath" in sys.modules)
try:
    kernel.ones(np.array([7])[1:])
except ValueError as error:
    print(error)
if sys.argv[1:]:
    print(kernel.ones(np.array([3], np.uint8)))
print(kernel.different(np.array([4, 9, 16])))
""")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    said = [
        subprocess.run(
            [sys.executable, str(tmp_path / "run.py"), *more],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        for more in ([], [], ["more"])
    ]
    assert said == [["3 True", "none", "19"], ["3 False", "none", "19"], ["3 False", "none", "2", "19"]]


def test_compiling_a_function_is_told_and_the_same_sources_elsewhere_are_compiled_already(tmp_path: Path) -> None:
    ask = (
        "from referee.rules.compilation import when_compiling\n"
        "when_compiling(print, ('kernels',))\n"
        "import kernels\n"
        "kernels.add(1, 2), kernels.add(3, 4)"
    )
    runs = (("one", "b", "add\n"), ("one", "b", ""), ("two", "b", ""), ("three", "2 * b", "add\n"))
    for place, term, expected in runs:
        folder = tmp_path / place / "kernels"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").write_text(
            f"from referee.rules.jit import jit\n\n@jit\ndef add(a, b):\n    return a + {term}\n"
        )
        path = f"{folder.parent}:{os.getcwd()}"
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": path}
        done = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout == expected, place


def test_types_are_the_widest_that_the_returns_of_a_recursion_and_the_rounds_of_a_loop_have(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text("""
from referee.rules.jit import jit

@jit
def half(n):
    if n == 0:
        return 0
    return half(n - 1) + 0.5

@jit
def quarter(n):
    if n > 0:
        return quarter(n - 1) + 0.25
    return 0

@jit
def even(n):
    return n == 0 or not even(n - 1)

@jit
def twice(x):
    return x + x

@jit
def grown(n):
    total = 1
    for _ in range(n):
        total = twice(total)
        total += 0.5
    return total
""")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    ask = "import kernel; print(kernel.half(5), kernel.quarter(3), kernel.even(7), kernel.grown(2))"
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout == "2.5 0.75 False 5.5\n"


def test_nothing_is_collected_while_a_function_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler: Any = jit.random64._compiler  # type: ignore[attr-defined]
    monkeypatch.setattr(compiler, "_compile_cached", lambda arguments, returned: (True, gc.isenabled()))
    assert gc.isenabled()
    assert compiler.compile((), None) is False
    assert gc.isenabled()
