"""Compiled searches over the kernel of a family.

A search is one source file that is loaded once per family, as `bots.search.<search>_for_<family>`, with the kernel's
functions as its globals: compiled code cannot take functions as arguments and still be cached on disk. Refuses to know
pipes, clocks and texts.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt

from referee.rules import load
from referee.rules.position import Position
from referee.rules.rules import Kernel

_BETWEEN = "_for_"


@cache
def search(name: str, family: str) -> ModuleType:
    """The search `name` (a file of this folder) over the kernel of `family`. Raises UnknownNameError."""
    load(family)
    full = f"{__name__}.{name}{_BETWEEN}{family}"
    spec = importlib.util.spec_from_file_location(full, Path(__file__).with_name(f"{name}.py"))
    if spec is None or spec.loader is None:
        raise ImportError(f"no search named {name}", name=full)
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module  # the compiled code finds its globals by this name
    spec.loader.exec_module(module)
    return module


def kernel_for(module_name: str) -> tuple[Kernel, str]:
    """The kernel a search loaded under that name works on, and the folder of its sources."""
    _, found, family = module_name.rpartition(_BETWEEN)
    if not found:
        raise ImportError(
            f"{module_name} needs a family: load it by bots.search.search(name, family)", name=module_name
        )
    rules = load(family)
    module = sys.modules.get(rules.kernel_module) or importlib.import_module(rules.kernel_module)
    return rules.kernel, str(Path(str(module.__file__)).parent)


def earlier_keys(position: Position, found: ModuleType) -> npt.NDArray[np.uint64]:
    """What a search keeps of the game before `position`: digests of its positions, as many as there is room for."""
    keys: list[int] = []
    one = position.previous
    while one is not None and len(keys) < found.MAX_LINE:
        keys.append(int(found.key_of(one.state)))
        one = one.previous
    return np.array(keys[::-1], dtype=np.uint64)
