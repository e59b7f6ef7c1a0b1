"""Loads one copy of a source file per family, with the functions of the family's kernel as its globals, such as perft.

Compiled code that takes functions as arguments cannot be cached on disk. So each family gets a module of its own, named
`<file>_for_<family>`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from referee.rules import families, load
from referee.rules.kernel_protocol import Kernel
from referee.rules.rules import Rules, Ruleset, State

F = TypeVar("F", bound=Callable[..., Any])

_BETWEEN = "_for_"


_uninstalled: dict[str, Rules] = {}
"""Rules of families under development, by name: `load` does not find them."""


def loaded_for(package: str, name: str, rules: Rules) -> ModuleType:
    """Return the file `name` of a package as a module that uses the kernel of `rules`, be they installed or not."""
    if rules.family not in families():
        _uninstalled[rules.family] = rules
    return loaded(package, name, rules.family)


@cache
def loaded(package: str, name: str, family: str) -> ModuleType:
    """Return the file `name` of a package as a module that uses the kernel of `family`. Raise UnknownNameError."""
    _rules_of(family)
    full = f"{package}.{name}{_BETWEEN}{family}"
    folder = Path(str(sys.modules[package].__file__)).parent
    spec = importlib.util.spec_from_file_location(full, folder / f"{name}.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"no file {name} in {package}", name=full)
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module  # the compiled code finds its globals by this name
    spec.loader.exec_module(module)
    return module


def _rules_of(family: str) -> Rules:
    return _uninstalled.get(family) or load(family)


def family_of(module_name: str) -> str:
    """Return the family that the module of that name was loaded for. Raise ImportError if it was loaded without one."""
    package, found, family = module_name.rpartition(_BETWEEN)
    if not found:
        raise ImportError(f"{package or module_name} needs a family: load it by {__name__}.loaded", name=module_name)
    return family


@dataclass(frozen=True, slots=True)
class Compiled:
    """A decorator that applies `jit` to functions that borrow their arrays and call a family's kernel."""

    folder: str
    """The kernel's sources: a change of them invalidates the cached code."""

    def __call__(self, function: F, *, inlined: bool = False) -> F:
        from referee.rules.jit import jit

        return jit(function, also=(self.folder,), borrows=True, inlined=inlined)

    def inlined(self, function: F) -> F:
        """Inline the function into its callers too: for one that runs in every position and takes the whole state."""
        return self(function, inlined=True)


def kernel_for(module_name: str) -> tuple[Kernel, Compiled]:
    """Return the kernel that a module loaded under that name uses, and how it compiles its functions."""
    rules = _rules_of(family_of(module_name))
    module = sys.modules.get(rules.kernel_module) or importlib.import_module(rules.kernel_module)
    return rules.kernel, Compiled(str(Path(str(module.__file__)).parent))


def perft(ruleset: Ruleset, state: State, depth: int) -> int:
    """Return the number of leaves at exactly `depth` plies. Finished positions have no children; limits are ignored."""
    if depth == 0:
        return 1
    return int(loaded("referee.rules", "leaves", ruleset.rules.family).leaves(state, ruleset.config, depth))
