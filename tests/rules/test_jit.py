"""Compiled code on disk: code compiled for one signature is never used for another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from referee.rules import cache, jit

pytestmark = pytest.mark.skipif(not cache.IS_COMPILED, reason="optional: nothing is compiled here (NUMBA_DISABLE_JIT)")


KERNEL = "from referee.rules.jit import jit\n@jit\ndef total(a, b):\n    return a + b\n"
COUNT = "print(total(1, 2), total(1.5, 2), sum(total.stats.cache_hits.values()))"
FORKS = """
import os, sys
import numba

def run(text, place):
    if child := os.fork():
        return child
    sys.stdout = open(place, "w")
    exec(text, {})
    sys.stdout.close()
    os._exit(0)

folder, at_once, *texts = sys.argv[1:]
left = []
for number, text in enumerate(texts):
    left.append(run(text, f"{folder}/said-{number}"))
    while left and (not at_once or number + 1 == len(texts)):
        assert os.waitpid(left.pop(), 0)[1] == 0, text
"""


def said(folder: Path, *texts: str, at_once: bool = False) -> list[str]:
    """What processes print that run these texts, one after the other or all at once.

    They are forked from one that has imported numba, which takes a second, and nothing of ours.
    """
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": str(folder),
        "OPENBLAS_NUM_THREADS": "1",  # a process with threads is not to be forked
    }
    line = [sys.executable, "-c", FORKS, str(folder), "at once" if at_once else "", *texts]
    subprocess.run(line, env=environment, check=True)
    return [(folder / f"said-{number}").read_text() for number in range(len(texts))]


def test_processes_that_compile_different_signatures_at_once_keep_both(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL)
    calls = ["total(1, 2)", "total(1.5, 2)", "total(1, 2.5)", "total(1, 2)"]
    texts = [f"from kernel import total; print({call})" for call in calls]
    assert said(tmp_path, *texts, at_once=True) == ["3\n", "3.5\n", "3.5\n", "3\n"]
    assert len([path for path in (tmp_path / "cache").rglob("*") if path.is_file()]) == 3
    assert said(tmp_path, f"from kernel import total; {COUNT}") == ["3 3.5 2\n"]


def test_truncated_cache_file_is_compiled_again(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    # One process loads the module again and again, as new processes do: each would import numba for a second.
    ask = """
import importlib, os, sys
from pathlib import Path
import kernel

for size in (None, None, 0, 5, 500, None):
    if size is not None:
        (path,) = Path(sys.argv[1]).rglob("*.nbc")
        os.truncate(path, size)
    importlib.reload(kernel)
    print(kernel.total(1, 2), sum(kernel.total.stats.cache_hits.values()))
"""
    line = [sys.executable, "-c", ask, str(tmp_path / "cache")]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["3 0", "3 1", "3 0", "3 0", "3 0", "3 1"]


def test_read_only_cache_is_used_and_missing_code_is_compiled(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL)
    not_writable = "import referee.rules.cache as cache; cache.is_writable = lambda folder: False\n"
    reading = f"{not_writable}from kernel import total; {COUNT}"
    texts = ["from kernel import total; print(total(1, 2))", reading, reading]
    assert said(tmp_path, *texts) == ["3\n", "3 3.5 1\n", "3 3.5 1\n"], "nothing was kept"


def test_each_closure_is_compiled_separately(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text("""
from referee.rules.jit import jit

def adder(n):
    @jit
    def add(a):
        return a + n
    return add
""")
    ask = "import kernel; print(kernel.adder(1)(5), kernel.adder(2)(5))"
    assert said(tmp_path, ask, ask) == 2 * ["6 7\n"]


def test_numba_without_the_cache_interface_is_rejected_with_the_tested_versions() -> None:
    ask = (
        "import sys\n"
        "from numba.core.compiler import CompileResult\n"
        "del CompileResult._rebuild\n"
        "from arena.__main__ import main\n"
        "sys.exit(main(['perft', 'loa', '--depth', '1']))"
    )
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    (said,) = done.stderr.splitlines()
    assert said.startswith("error: unsupported numba 0.")
    assert said.endswith(f"it stores compiled code differently; install numba {jit.TESTED}")


def test_arrays_that_may_and_may_not_be_written_are_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(
        "from referee.rules.jit import jit\n@jit\ndef total(a):\n    return a[0] + a.shape[0]\n"
    )
    ask = (
        "import numpy as np, kernel\n"
        "a, b = np.array([5, 7]), np.array([1, 2, 3]); b.setflags(write=False)\n"
        "print(kernel.total(a), kernel.total(b), kernel.total(np.array([1.5])), end=' ')\n"
        "print(sum(kernel.total.stats.cache_hits.values()))\n"
    )
    assert said(tmp_path, ask, ask) == ["7 4 2.5 0\n", "7 4 2.5 3\n"]
    assert len(list((tmp_path / "cache").rglob("*.nbc"))) == 3


def test_cached_functions_run_without_the_compiler_and_others_are_compiled(tmp_path: Path) -> None:
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
        found.add(a[i])
        last[hash(a[i])] = i
    b = np.zeros(a.size)
    b[:] = np.sqrt(a)
    words = [str(x) for x in range(3)]
    return int(b.sum() + math.floor(1.5)) + len(words) + len(found) + len(last)
""")
    ask = """
import sys
import numpy as np
import kernel

print(kernel.ones(np.array([7])), "numba.np.arraymath" in sys.modules)
try:
    kernel.ones(np.array([7])[1:])
except ValueError as error:
    print(error)
print(kernel.different(np.array([4, 9, 16])))
"""
    more = "print(kernel.ones(np.array([3], np.uint8)))\n"
    assert said(tmp_path, ask, ask + more) == ["3 True\nnone\n19\n", "3 False\nnone\n19\n2\n"]


def test_compilation_is_reported_and_equal_sources_share_the_cache(tmp_path: Path) -> None:
    ask = (
        "from referee.rules.cache import when_compiling\n"
        "when_compiling(print, ('kernels',))\n"
        "import kernels\n"
        "kernels.add(1, 2), kernels.add(3, 4)"
    )
    runs = (("one", "b", "add\n"), ("one", "b", ""), ("two", "b", ""), ("three", "2 * b", "add\n"))
    texts = []
    for place, term, _ in runs:
        folder = tmp_path / place / "kernels"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").write_text(
            f"from referee.rules.jit import jit\n\n@jit\ndef add(a, b):\n    return a + {term}\n"
        )
        texts.append(f"import sys; sys.path.insert(0, {str(folder.parent)!r})\n{ask}")
    assert said(tmp_path, *texts) == [expected for _, _, expected in runs]


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
    ask = "import kernel; print(kernel.half(5), kernel.quarter(3), kernel.even(7), kernel.grown(2))"
    assert said(tmp_path, ask, ask) == 2 * ["2.5 0.75 False 5.5\n"]
