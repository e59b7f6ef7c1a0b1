"""Source files that are loaded once per family, with the functions of its kernel as their globals.

Compiled code cannot take functions as arguments and still be cached on disk: so each family has its own copy, as a
module named `<file>_for_<family>`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from referee.rules import load
from referee.rules.rules import Kernel

_BETWEEN = "_for_"


@cache
def loaded(package: str, name: str, family: str) -> ModuleType:
    """The file `name` of a package over the kernel of `family`. Raises UnknownNameError."""
    load(family)
    full = f"{package}.{name}{_BETWEEN}{family}"
    folder = Path(str(sys.modules[package].__file__)).parent
    spec = importlib.util.spec_from_file_location(full, folder / f"{name}.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"no file {name} in {package}", name=full)
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module  # the compiled code finds its globals by this name
    spec.loader.exec_module(module)
    return module


def family_of(module_name: str) -> str:
    """The family that a file loaded under that name is for."""
    package, found, family = module_name.rpartition(_BETWEEN)
    if not found:
        raise ImportError(f"{package or module_name} needs a family: load it by {__name__}.loaded", name=module_name)
    return family


def kernel_for(module_name: str) -> tuple[Kernel, str]:
    """The kernel that a file loaded under that name works on, and the folder of its sources."""
    rules = load(family_of(module_name))
    module = sys.modules.get(rules.kernel_module) or importlib.import_module(rules.kernel_module)
    return rules.kernel, str(Path(str(module.__file__)).parent)
