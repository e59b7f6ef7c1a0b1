"""Spares a process that only loads compiled code what numba does for those that compile.

Each of these takes ten to thirty milliseconds of every bot and slot, and nothing of it is wanted by kernels: a search
through all installed packages for extensions of numba, `numpy.ma`, the modules of numba whose functions were compiled
into a kernel, and functions that count references, compiled anew though every kernel has its own. What compiles gets
them as ever.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numba.core import environment, types
from numba.core.runtime import nrtdynmod
from numba.extending import typeof_impl
from numba.np import numpy_support

_NUMBAS = "numba."


class _Later:
    """A library of numba's that is compiled when something of it is asked for."""

    def __init__(self, compile: Callable[[], Any]) -> None:
        self._compile = compile

    @cached_property
    def _library(self) -> Any:
        return self._compile()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)


def alone(dispatcher: Any) -> None:
    """Have nobody asked for extensions of numba when this function is first called: it needs none."""
    dispatcher._compilation_chain_init_hook = lambda: None


def spare() -> None:
    """Do so in this process from now on; called once."""
    compile_runtime, rebuild, type_of = (
        nrtdynmod.compile_nrt_functions,
        environment._rebuild_env,
        typeof_impl.dispatch(np.ndarray),
    )

    def rebuild_shortly(module: str, constants: Any, name: str) -> Any:
        """The names of a module are wanted by code that calls back into Python: numba's own has none in kernels."""
        found = environment.lookup_environment(name)
        if found is not None or module in sys.modules or not module.startswith(_NUMBAS):
            return rebuild(module, constants, name)
        found = environment.Environment({"__name__": module})
        found.consts[:] = constants
        found.env_name = name
        environment.Environment._memo[name] = found
        return found

    def type_of_array(array: Any, context: Any) -> Any:
        if type(array) is not np.ndarray or array.dtype.kind not in "biuf":
            return type_of(array, context)
        layout = numpy_support.map_layout(array)
        return types.Array(
            numpy_support.from_dtype(array.dtype), array.ndim, layout, readonly=not array.flags.writeable
        )

    nrtdynmod.compile_nrt_functions = lambda context: _Later(lambda: compile_runtime(context))
    environment._rebuild_env = rebuild_shortly
    typeof_impl.register(np.ndarray)(type_of_array)
