"""Every entry of every vector file, a test for each kind; a sample of each file, scores and playouts uncompiled.

The files are those of tests/data/vectors and any `vectors.json` in a family's folder. Even the largest perft entry, a
thousand million leaves, takes two seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import referee.rules
from referee.rules import families, load
from referee.rules.random_walk import walk
from referee.rules.vectors import CHECKS, check_entry, read_file

FOLDER = Path(__file__).parent.parent / "data" / "vectors"
FILES = {path.stem: path for path in sorted(FOLDER.glob("*.json"))}
HOMES = [Path(folder) for folder in referee.rules.__path__]
FILES |= {path.parent.name: path for home in HOMES for path in sorted(home.glob("*/vectors.json"))}


@pytest.mark.parametrize("kind", CHECKS)
@pytest.mark.parametrize("name", FILES)
def test_entries_of_a_kind(name, kind):
    data, faults = read_file(FILES[name]), []
    rules = load(data["game"])
    for number, entry in enumerate(data.get(kind, [])):
        where = f"{entry.get('variant', '')} {entry.get('options') or ''} {entry.get('position') or 'start'}"
        heading = f"{number}, {where} ({entry.get('note', '')})"
        faults += [f"{heading}: {problem}" for problem in check_entry(rules, kind, entry)]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("family", families())
def test_every_family_has_vectors(family):
    assert read_file(FILES[family])["game"] == family


SAMPLE = """
import sys
from pathlib import Path
from referee.rules.cache import IS_COMPILED
from referee.rules import load
from referee.rules.vectors import check_entry, read_file
import referee.rules

referee.rules.__path__.extend(sys.argv[2:])
assert not IS_COMPILED
data = read_file(Path(sys.argv[1]))
rules = load(data["game"])
chosen = [("perft", e) for e in data["perft"] if e["nodes"] <= 50_000][:30]
chosen += [("positions", e) for e in data["positions"][::2]]
chosen += [("games", e) for e in sorted(data["games"], key=lambda e: len(e["moves"]))[:15]]
for kind, entry in chosen:
    for problem in check_entry(rules, kind, entry):
        print(kind, entry.get("variant"), entry.get("options"), entry.get("position"), problem)
from tests.rules.test_vectors import scores
print(scores(rules))
"""


def scores(rules):
    """Return static score and a playout of the start of every variant, and of a position some plies later."""
    results = []
    for variant in rules.variants:
        ruleset = rules.settle(variant.name)
        for plies in (0, 7):
            state, rng = walk(ruleset, 3, plies), np.array([9], dtype=np.uint64)
            with np.errstate(over="ignore"):  # what is compiled wraps round in silence
                code, length = rules.kernel.playout(state, ruleset.config, rng, 20)
            score = rules.kernel.evaluate(state, ruleset.config)
            results.append((variant.name, int(score), int(code), int(length), int(rng[0])))
    return results


@pytest.mark.parametrize("name", list(FILES))
def test_without_the_compiler(name):
    """Plain Python and compiled code differ in integer arithmetic, so kernels must not depend on the difference."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", SAMPLE, str(FILES[name]), *referee.rules.__path__[1:]],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(scores(load(read_file(FILES[name])["game"])))]
