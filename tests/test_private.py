"""The product uses libraries by their public interface: it changes none of their objects and reads none of their
underscore names."""

from __future__ import annotations

import ast
import contextlib
import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OWN = ("protocol", "referee", "bots", "arena")
SETTERS = ("setattr", "delattr")

DOCUMENTED = ("os._exit", "sys.stdin", "sys.stdout", "sys.stderr")
"""Names that the standard library offers for just that."""
ENDS = {name.rpartition(".")[2] for name in DOCUMENTED}
ALLOWED = {
    "arena/__main__.py": "standard streams that are closed are replaced",
    "arena/cli/terminal/fields.py": "argparse has no public name for a parser or a group of one: a type alone",
    "arena/cli/terminal/parser.py": "argparse has no public way to say which values there are near a wrong one",
    "arena/store/base/fields.py": "SQLModel has one table of names, and no parameter for how constraints are called",
    "referee/rules/jit.py": "one cache file per signature: numba's index of several is not safe (numba #4807)",
}
"""Files that may, and why."""


def is_private(name: str) -> bool:
    """Whether a name begins with an underscore, and does not end with one too as those that Python and enums offer."""
    return name.startswith("_") and not name.endswith("_")


def imported(nodes: Sequence[ast.AST]) -> dict[str, str]:
    """The names of a module that come from libraries, as `module` or `module:name`."""
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                if top not in OWN:
                    names[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            if node.module.split(".")[0] not in (*OWN, "__future__"):
                names.update({alias.asname or alias.name: f"{node.module}:{alias.name}" for alias in node.names})
    return names


def root(node: ast.expr) -> str:
    """The name that a chain of attributes begins with; empty where it begins with something else."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def declared(nodes: Sequence[ast.AST]) -> set[str]:
    """Private names that classes of this module give themselves: it may set them on any of its objects."""
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute) and root(node) in ("self", "cls")}
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            names |= {
                statement.target.id
                for statement in node.body
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
            }
    return names


def offences(text: str) -> Iterator[str]:
    """What a module does to libraries, with its line."""
    nodes = list(ast.walk(ast.parse(text)))
    theirs, own = imported(nodes), declared(nodes)
    for node in nodes:
        # Only few are written out: that takes most of the time.
        if isinstance(node, ast.Attribute) and node.attr in ENDS and ast.unparse(node) in DOCUMENTED:
            continue
        match node:
            case ast.Attribute(ctx=ast.Store() | ast.Del()):
                if node.attr == "__class__":
                    yield f"{node.lineno}: changes a class: {ast.unparse(node)}"
                elif root(node) in theirs:
                    yield f"{node.lineno}: changes a library: {ast.unparse(node)}"
                elif is_private(node.attr) and root(node.value) not in ("self", "cls") and node.attr not in own:
                    yield f"{node.lineno}: sets a private name of something else: {ast.unparse(node)}"
            case ast.Attribute() if is_private(node.attr) and root(node) in theirs:
                yield f"{node.lineno}: reads a private name: {ast.unparse(node)}"
            case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in SETTERS:
                if root(first) in theirs:
                    yield f"{node.lineno}: changes a library: {ast.unparse(node)}"
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] not in (*OWN, "__future__"):
                if private := [alias.name for alias in node.names if is_private(alias.name)]:
                    yield f"{node.lineno}: imports private names of {module}: {', '.join(private)}"
            case ast.ClassDef():
                yield from overridden(node, theirs)


def overridden(node: ast.ClassDef, theirs: dict[str, str]) -> Iterator[str]:
    """Private methods of a library's class that a subclass replaces."""
    own = [
        method
        for method in node.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and is_private(method.name)
    ]
    for base in node.bases if own else ():
        if root(base) not in theirs:
            continue
        module, _, attribute = theirs[root(base)].partition(":")
        target: object = importlib.import_module(module)
        for name in filter(None, [attribute, *ast.unparse(base).split("[")[0].split(".")[1:]]):
            with contextlib.suppress(ModuleNotFoundError):  # a class, and no module that nobody has imported yet
                importlib.import_module(f"{module}.{name}")
            target = getattr(target, name)
        for method in own:
            if hasattr(target, method.name):
                yield f"{method.lineno}: replaces a private method: {ast.unparse(base)}.{method.name}"


def modules() -> list[str]:
    """The files of the product."""
    return sorted(str(path.relative_to(ROOT)) for name in OWN for path in (ROOT / name).rglob("*.py"))


def test_product_changes_no_library() -> None:
    found = {
        f"{path}:{offence}"
        for path in modules()
        if path not in ALLOWED
        for offence in offences((ROOT / path).read_text())
    }
    assert not found, "use the library's public interface:\n" + "\n".join(sorted(found))


def test_allowed_file_still_needs_it() -> None:
    spared = [path for path in ALLOWED if not list(offences((ROOT / path).read_text()))]
    assert not spared, "these touch no library any more: take them off the list"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import gzip\ngzip.open = print", "changes a library"),
        ("import a.b\na.b.C.d = 1", "changes a library"),
        ("from a import B\nB.c += 1", "changes a library"),
        ("from a import b\ndel b.c", "changes a library"),
        ("from a import b\nsetattr(b, 'c', 1)", "changes a library"),
        ("x.__class__ = int", "changes a class"),
        ("def f(x): x._y = 1", "private name of something else"),
        ("def f(x):\n  for x._y in (): pass", "private name of something else"),
        ("import a\na._b", "reads a private name"),
        ("import a as c\nc.d._e()", "reads a private name"),
        ("from a import _b", "imports private names"),
        ("import tarfile\nclass A(tarfile.TarInfo):\n  def _proc_member(self, x): ...", "replaces a private method"),
    ],
)
def test_offence_is_found(code: str, said: str) -> None:
    assert [said in one for one in offences(code)] == [True]


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n  def f(self): self._x = 1",
        "from arena import x\nx.y = 1",
        "import a\nclass A(a.B):\n  def f(self): self.x = 1",
        "import a\nfound = a.B()\nfound.c = 1",
        "import a\na.__version__",
        "import os\nos._exit(1)",
        "class A:\n  _x: int = 0\ndef f(a): a._x = 1",
    ],
)
def test_public_use_is_no_offence(code: str) -> None:
    assert not list(offences(code))
