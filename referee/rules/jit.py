"""The one home of numba: the `jit` decorator, bit operations and the random numbers of the kernels.

Compiled code is cached on disk in a folder named after a digest of the sources it was compiled from, so neither an
edited helper nor an upgrade can ever meet a stale cache, and the same sources elsewhere are not compiled again. In it
each signature of a function has a file of its own: numba's own cache keeps an index beside numbered files, and two
processes that compile at once can leave an index that names the other's code (numba #4807), whose load crashes.
Where that folder is not writable (for a sandboxed bot), what is in it is used and the rest is compiled in memory.

A kernel is plain module-level functions: a closure, a jitclass or a function passed as an argument never hits the disk
cache. With `NUMBA_DISABLE_JIT=1` everything here runs as ordinary Python with the same results.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from referee.rules.cache import IS_COMPILED, NumbaVersionError, cache_root, is_writable

F = TypeVar("F", bound=Callable[..., Any])

TESTED = "0.61 to 0.68"
"""The versions of numba whose cache interface the tests have seen. `pyproject.toml` names the same."""


@cache
def cache_folder(*source_folders: str) -> Path:
    """Return where code compiled from `source_folders` is kept; the folder need not exist."""
    import numba

    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    sources = [Path(__file__), *(path for folder in source_folders for path in sorted(Path(folder).glob("*.py")))]
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    name = "-".join(Path(folder).name for folder in source_folders)
    return cache_root() / f"{name}-{digest.hexdigest()[:16]}"


_is_writable = cache(is_writable)

if IS_COMPILED:
    import numba

    # numba promises none of these from one version to the next; they are called and extended, never replaced.
    try:
        from numba import types
        from numba.core.caching import NullCache
        from numba.core.compiler import CompileResult
        from numba.core.registry import CPUDispatcher
        from numba.core.runtime import rtsys
        from numba.core.serialize import dumps
        from numba.extending import intrinsic

        _reduced, _rebuilt = CompileResult._reduce, CompileResult._rebuild
    except (ImportError, AttributeError) as error:
        raise NumbaVersionError(
            f"numba {numba.__version__} does not keep compiled code as numba {TESTED} does: install one of these"
        ) from error

    class _Cache(NullCache):  # type: ignore[misc]
        """The compiled code of one function: a file for each signature, written whole or not at all."""

        def __init__(self, function: Any, folder: Path, *, is_writable: bool) -> None:
            place = f"{function.__module__}.{function.__qualname__}-{function.__code__.co_firstlineno}"
            self._start = folder / f"{place}.py{sys.version_info.major}{sys.version_info.minor}"
            self._is_writable = is_writable

        def file(self, sig: Any, context: Any) -> Path:
            """Return where the code for a signature on this kind of processor is kept."""
            key = hashlib.sha256(repr((sig, context.codegen().magic_tuple())).encode()).hexdigest()
            return self._start.with_name(f"{self._start.name}.{key[:16]}.nbc")

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            """Return what was compiled for a signature, or None where that is not there or cut short.

            numba's own cache first imports all that compiling would need, and SciPy where there is one: a third of a
            second for every bot and slot. Loaded code needs numba's runtime, and its hashing where it has sets.
            """
            try:
                parts = pickle.loads(self.file(sig, target_context).read_bytes())  # noqa: S301 - as numba's own cache
            except (OSError, EOFError, pickle.UnpicklingError):
                return None
            from numba.cpython import hashing  # noqa: F401

            rtsys.initialize(target_context)
            return _rebuilt(target_context, *parts)

        def save_overload(self, sig: Any, data: Any) -> None:
            """Keep what was compiled, unless the folder is not writable (the cache of a sandboxed bot) or full."""
            if not self._is_writable or data.library.has_dynamic_globals:
                return
            path, content = self.file(sig, data.target_context), dumps(_reduced(data))
            with suppress(OSError), tempfile.TemporaryDirectory(dir=path.parent) as beside:
                written = Path(beside) / path.name
                written.write_bytes(content)
                written.replace(path)

    class _Dispatcher(CPUDispatcher):  # type: ignore[misc]
        """A compiled function that keeps its code in `_Cache`."""

        def keep_in(self, folder: Path) -> None:
            """Use the cache in a folder, where that is possible."""
            # Not for closures: the name of the file does not say what they have closed over.
            if self.py_func.__closure__ is None and (_is_writable(folder) or folder.is_dir()):
                self._cache = _Cache(self.py_func, folder, is_writable=_is_writable(folder))

    def jit(function: F, *, also: tuple[str, ...] = (), borrows: bool = False, inlined: bool = False) -> F:
        """Compile a module-level function (nopython, GIL released), cached on disk where that is possible.

        `also` names further folders of sources that are compiled into the function. One that `borrows` makes no array
        and leaves it to its caller to keep those it is given. What is `inlined` becomes a part of its callers: an array
        takes seven arguments.
        """
        # Set either way: a flag that is not set, a function inherits from the one whose compilation asked for it.
        settings: dict[str, Any] = {"nopython": True, "nogil": True, "error_model": "numpy", "forceinline": inlined}
        # Without reference counts, for which numba has no other option: they cost a search a fifth to two fifths.
        settings["_nrt"] = not borrows
        settings["no_cfunc_wrapper"] = True  # that is for C code which calls the function: nothing does
        dispatcher = _Dispatcher(function, targetoptions=settings)
        dispatcher.keep_in(cache_folder(os.path.dirname(inspect.getfile(function)), *also))
        return dispatcher

    @intrinsic  # type: ignore[untyped-decorator]
    def prefetch(typingctx: Any, array: Any, row: Any) -> Any:
        """Begin to read row `row` (not negative) of a two-dimensional array into the processor's cache."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            from llvmlite import ir
            from numba.core import cgutils

            table = cgutils.create_struct_proxy(signature.args[0])(context, builder, args[0])
            step = builder.extract_value(table.strides, 0)
            place = builder.add(builder.ptrtoint(table.data, step.type), builder.mul(args[1], step))
            byte = ir.IntType(8).as_pointer()
            number = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
            # To be read, to stay in all caches, data.
            builder.call(hint, [builder.inttoptr(place, byte), number(0), number(3), number(1)])
            return context.get_dummy_value()

        return types.void(array, types.int64), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def popcount(typingctx: Any, x: Any) -> Any:
        """Number of one bits of a uint64, as int64."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.uint64), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def ctz(typingctx: Any, x: Any) -> Any:
        """Index (int64) of the lowest one bit of a uint64; 64 for 0."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            from llvmlite import ir

            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

        return types.int64(types.uint64), codegen

else:

    def jit(function: F, *, also: tuple[str, ...] = (), borrows: bool = False, inlined: bool = False) -> F:
        """The function itself."""
        return function

    def prefetch(array: Any, row: int) -> None:
        """Nothing."""

    def popcount(x: Any) -> int:
        """Number of one bits of a uint64."""
        return int(x).bit_count()

    def ctz(x: Any) -> int:
        """Index of the lowest one bit of a uint64; 64 for 0."""
        value = int(x)
        return (value & -value).bit_length() - 1 if value else 64


def borrowing(function: F) -> F:
    """`jit` for a function of a kernel that makes no array, see there."""
    return jit(function, borrows=True)


_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


@jit
def random64(rng: Any) -> Any:
    """The next 64 random bits of `rng`, a uint64 array of one element: splitmix64 (Steele, Lea, Flood 2014)."""
    rng[0] = rng[0] + _GAMMA
    z = rng[0]
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))


@jit
def random_below(rng: Any, n: int) -> int:
    """A random int64 in 0..n-1 (n < 2**31) from the high 32 bits; its bias, below n / 2**32, is of no account here."""
    return np.int64(((random64(rng) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))  # type: ignore[return-value]
