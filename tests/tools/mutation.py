"""Show which changes of one operator, condition or constant no test notices.

`python -m tests.tools.mutation` tries a sample of every module of `SUITES`, and
`python -m tests.tools.mutation MODULE TESTS...` one module. Every mutant is a fork of one warm process that imports the
changed source and runs the tests until one fails. Prints the survivors as diffs of a line, and a count of each module.
A survivor is a missing test, or a change that makes no difference.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib.util
import os
import random
import select
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

SUITES: dict[str, tuple[str, ...]] = {
    "referee/game/clock.py": ("tests/referee/game/test_clock.py",),
    "referee/game/adjudication.py": ("tests/referee/game/test_adjudication.py", "tests/referee/game/test_spec.py"),
    "referee/rules/history.py": ("tests/rules/test_history.py",),
    "referee/tournament/crosstable.py": ("tests/referee/tournament/test_ranking.py",),
    "referee/sandbox/seccomp.py": ("tests/referee/sandbox/test_seccomp.py",),
    "referee/tournament/formats/swiss.py": ("tests/referee/tournament/test_formats.py", "-k", "swiss"),
    "referee/tournament/ranking.py": ("tests/arena/tournaments/test_standing.py",),
    "arena/analysis/marking.py": ("tests/arena/analysis/test_marking.py",),
}
"""Modules whose smallest change matters, each with its tests: what a run without a module tries."""
SAMPLE = 40
"""Mutants of each of them, unless another number is asked for."""
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_HEAVY = (
    "numpy",
    "numba",
    "hypothesis",
    "sqlmodel",
    "pydantic_settings",
    "aiohttp",
    "zstandard",
    "argon2",
    "trueskill",
    "scipy.stats",
)
_AGES_S = 240
_QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # what is warm already was not rewritten


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """What a node may be turned into."""
    other = copy.deepcopy(node)
    match other:
        case ast.Compare(ops=[op, *_]) if type(op) in _COMPARISONS:
            other.ops[0] = _COMPARISONS[type(op)]()
            yield other
        case ast.BinOp(op=op) if type(op) in _OPERATIONS:
            other.op = _OPERATIONS[type(op)]()
            yield other
        case ast.AugAssign(op=op) if type(op) in _OPERATIONS:
            other.op = _OPERATIONS[type(op)]()
            yield other
        case ast.BoolOp(values=[*values]):
            other.op = ast.Or() if isinstance(other.op, ast.And) else ast.And()
            yield other
            yield values[0]
            yield values[-1]
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.If() | ast.IfExp() | ast.While():
            other.test = ast.UnaryOp(ast.Not(), other.test)
            yield other
        case ast.comprehension(ifs=[*conditions]) if conditions:
            other.ifs = conditions[1:]
            yield other
        case ast.Return(value=ast.expr()):
            other.value = ast.Constant(None)
            yield other


def _places(tree: ast.Module) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Where a node stands: its parent, the field, the index in it. Annotations and what is in them are left out."""
    parents: list[ast.AST] = [tree]
    while parents:
        parent = parents.pop()
        for name, value in ast.iter_fields(parent):
            if name in ("annotation", "returns"):
                continue
            for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(node, ast.AST):
                    yield parent, name, index
                    parents.append(node)


def candidates(source: str) -> list[tuple[int, int]]:
    """Every mutant of a source, as the number of its place and which change of it."""
    found = []
    for number, (parent, name, index) in enumerate(_places(ast.parse(source))):
        held = getattr(parent, name)
        node = held if index is None else held[index]
        found += [(number, variant) for variant, _ in enumerate(_changes(node))]
    return found


def mutant(source: str, number: int, variant: int) -> tuple[int, str]:
    """The line of a change, and the changed source."""
    tree = ast.parse(source)
    parent, name, index = next(place for at, place in enumerate(_places(tree)) if at == number)
    held = getattr(parent, name)
    node = held if index is None else held[index]
    changed = list(_changes(node))[variant]
    if index is None:
        setattr(parent, name, changed)
    else:
        held[index] = changed
    return getattr(node, "lineno", 0), ast.unparse(ast.fix_missing_locations(tree))


class _Finder:
    """Serves the changed source in place of the module."""

    def __init__(self, name: str, path: Path, text: str) -> None:
        self.name, self.path, self.text = name, path, text

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.path, loader=self)  # type: ignore[arg-type]

    def create_module(self, spec: object) -> None:
        return None

    def exec_module(self, module: object) -> None:
        exec(compile(self.text, str(self.path), "exec"), vars(module))


def notices(name: str, path: Path, text: str, tests: Sequence[str]) -> bool:
    """Whether a test fails, or nothing comes to an end, when the module is so. In a process of its own."""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.setsid()
            sink = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(sink, stream)
            sys.meta_path.insert(0, _Finder(name, path, text))  # type: ignore[arg-type]
            import pytest

            words = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:schemathesis", "-p", "no:xdist", *_QUIET, *tests]
            os._exit(int(pytest.main(words)))
        os._exit(99)
    pid = os.pidfd_open(child)
    ended = select.select([pid], [], [], _AGES_S)[0]
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(pid)
    return not ended or os.waitstatus_to_exitcode(status) != 0


def survivors(path: Path, tests: Sequence[str], sample: int, seed: int) -> tuple[int, int, int]:
    """Try mutants of one module and print those that survive; how many did, were tried, and there are.

    Raises SystemExit when the tests fail without any change.
    """
    source = path.read_text(encoding="utf-8")
    name = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    plain = ast.unparse(ast.parse(source))
    if notices(name, path, source, tests):
        raise SystemExit(f"{path}: the tests fail without any change: pytest {' '.join(tests)}")
    places = candidates(source)
    chosen = random.Random(seed).sample(places, sample) if 0 < sample < len(places) else places
    count = 0
    for place in chosen:
        line, text = mutant(source, *place)
        if text == plain or notices(name, path, text, tests):
            continue
        count += 1
        changed = [
            (old.strip(), new.strip())
            for old, new in zip(plain.splitlines(), text.splitlines(), strict=False)
            if old != new
        ]
        print(f"{path}:{line}: {changed[0][0]}\n    -> {changed[0][1]}", flush=True)
    return count, len(chosen), len(places)


def main() -> int:
    """Try the mutants of one module, or of all in the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.mutation", description=__doc__)
    parser.add_argument(
        "--sample", type=int, metavar="N", help=f"try N of each module, drawn at random, 0: all (default {SAMPLE})"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default 1)")
    parser.add_argument(
        "module", nargs="?", help="one file, such as referee/game/clock.py (default: those of the table)"
    )
    parser.add_argument("tests", nargs=argparse.REMAINDER, help="words for pytest: files, -k EXPRESSION")
    arguments = parser.parse_args()
    suites = SUITES
    if arguments.module:
        tests = tuple(arguments.tests) or SUITES.get(arguments.module)
        if tests is None:
            parser.error(f"{arguments.module} is not in the table: name its tests, too")
        suites = {arguments.module: tests}
    os.nice(10)
    for heavy in _HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(heavy)
    sample = SAMPLE if arguments.sample is None else arguments.sample
    rows = [(name, *survivors(Path(name), tests, sample, arguments.seed)) for name, tests in suites.items()]
    print(f"{'module':32}  killed  survived  of")
    for name, survived, tried, there in rows:
        print(f"{name:32}  {tried - survived:6}  {survived:8}  {there}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
