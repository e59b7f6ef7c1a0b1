"""The only importer of numba: the `jit` decorator, bit operations and the random numbers of the kernels.

Compiled code is cached on disk in a folder named after a digest of its sources. So an edited helper or an upgrade never
meets a stale cache, and the same sources elsewhere are not compiled again. If the folder is not writable (for a
sandboxed bot), its contents are used and the rest is compiled in memory.

Each signature of a function has a file of its own, without an index. In numba's own cache two processes that compile at
once can leave an index that names the other's code (numba #4807): loading it crashes.

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
"""The numba versions whose cache interface was tested; `pyproject.toml` names the same ones."""


@cache
def cache_folder(*source_folders: str) -> Path:
    """Return the folder of code compiled from `source_folders`; it need not exist."""
    import numba

    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    # This file too: its bit operations and random numbers are compiled into the kernels.
    sources = [Path(__file__), *(path for folder in source_folders for path in sorted(Path(folder).glob("*.py")))]
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    name = "-".join(Path(folder).name for folder in source_folders)
    return cache_root() / f"{name}-{digest.hexdigest()[:16]}"


# Once for each folder, not for each of its dozens of functions: the test writes a file.
_is_writable = cache(is_writable)

if IS_COMPILED:
    import numba

    # These imports are no stable interface of numba. They are called and extended, never replaced.
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
            f"unsupported numba {numba.__version__}: it stores compiled code differently; install numba {TESTED}"
        ) from error

    class _Cache(NullCache):  # type: ignore[misc]
        """The compiled code of one function: a file for each signature, written atomically."""

        def __init__(self, function: Any, folder: Path, *, is_writable: bool) -> None:
            # The line, because a module may define one name twice, as in both branches of a condition.
            place = f"{function.__module__}.{function.__qualname__}-{function.__code__.co_firstlineno}"
            self._start = folder / f"{place}.py{sys.version_info.major}{sys.version_info.minor}"
            self._is_writable = is_writable

        def file(self, sig: Any, context: Any) -> Path:
            """Return the file of the code for a signature on this kind of processor."""
            # The tuple names processor and features: a folder may be shared by machines that cannot run each other's
            # code.
            key = hashlib.sha256(repr((sig, context.codegen().magic_tuple())).encode()).hexdigest()
            return self._start.with_name(f"{self._start.name}.{key[:16]}.nbc")

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            """Return the compiled code for a signature, or None if its file is missing or truncated.

            numba's own cache first imports everything that compiling needs, and SciPy if it is installed: a third of a
            second for every bot and slot. Loaded code needs only numba's runtime, and its hashing if it uses sets.
            """
            try:
                parts = pickle.loads(self.file(sig, target_context).read_bytes())  # noqa: S301 - as numba's own cache
            except (OSError, EOFError, pickle.UnpicklingError):
                return None
            from numba.cpython import hashing  # noqa: F401

            rtsys.initialize(target_context)
            return _rebuilt(target_context, *parts)

        def save_overload(self, sig: Any, data: Any) -> None:
            """Store compiled code, unless the folder is full or not writable (the cache of a sandboxed bot)."""
            # Code with dynamic globals contains addresses of this process; numba's own cache refuses it too.
            if not self._is_writable or data.library.has_dynamic_globals:
                return
            path, content = self.file(sig, data.target_context), dumps(_reduced(data))
            # In the same folder, since only a rename within a file system is atomic: no process ever reads half a file.
            with suppress(OSError), tempfile.TemporaryDirectory(dir=path.parent) as beside:
                written = Path(beside) / path.name
                written.write_bytes(content)
                written.replace(path)

    class _Dispatcher(CPUDispatcher):  # type: ignore[misc]
        """A compiled function that keeps its code in `_Cache`."""

        def keep_in(self, folder: Path) -> None:
            """Keep the compiled code in a folder if that is possible."""
            # Closures are not cached: the file name does not identify the values they capture.
            if self.py_func.__closure__ is None and (_is_writable(folder) or folder.is_dir()):
                self._cache = _Cache(self.py_func, folder, is_writable=_is_writable(folder))

    def jit(function: F, *, also: tuple[str, ...] = (), borrows: bool = False, inlined: bool = False) -> F:
        """Compile a module-level function (nopython, GIL released), cached on disk where that is possible.

        `also` names further folders of sources that are compiled into the function. A function that `borrows` allocates
        no array and does not own those passed to it; the caller keeps them alive. An `inlined` function becomes a part
        of its callers: a call would pass each array as seven arguments.
        """
        # Set every flag explicitly: a function inherits an unset one from the function whose compilation required it.
        # Without the interpreter's lock, another thread can stop a search. With the error model of numpy a division
        # needs no test for 0.
        settings: dict[str, Any] = {"nopython": True, "nogil": True, "error_model": "numpy", "forceinline": inlined}
        # Disable reference counting, which costs a search 20 to 40 %; numba has no public option for it.
        settings["_nrt"] = not borrows
        settings["no_cfunc_wrapper"] = True  # only C code that calls the function needs a wrapper
        dispatcher = _Dispatcher(function, targetoptions=settings)
        dispatcher.keep_in(cache_folder(os.path.dirname(inspect.getfile(function)), *also))
        return dispatcher

    @intrinsic  # type: ignore[untyped-decorator]
    def prefetch(typingctx: Any, array: Any, row: Any) -> Any:
        """Start to read row `row` (not negative) of a two-dimensional array into the processor's cache."""

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
            # Arguments: prefetch for reading, keep in all caches, data rather than instructions.
            builder.call(hint, [builder.inttoptr(place, byte), number(0), number(3), number(1)])
            return context.get_dummy_value()

        return types.void(array, types.int64), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def popcount(typingctx: Any, x: Any) -> Any:
        """Return the number of set bits of a uint64."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.uint64), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def ctz(typingctx: Any, x: Any) -> Any:
        """Return the index of the lowest set bit of a uint64; 64 for 0."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            from llvmlite import ir

            # The flag 0: the result for 0 is the width, not undefined (LLVM, llvm.cttz).
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

        return types.int64(types.uint64), codegen

else:

    def jit(function: F, *, also: tuple[str, ...] = (), borrows: bool = False, inlined: bool = False) -> F:
        """Return the function unchanged."""
        return function

    def prefetch(array: Any, row: int) -> None:
        """Do nothing: interpreted code has no use for prefetching."""

    def popcount(x: Any) -> int:
        """Return the number of set bits of a uint64."""
        return int(x).bit_count()

    def ctz(x: Any) -> int:
        """Return the index of the lowest set bit of a uint64; 64 for 0."""
        value = int(x)
        return (value & -value).bit_length() - 1 if value else 64


def borrowing(function: F) -> F:
    """Apply `jit(borrows=True)` to a function of a kernel that allocates no array."""
    return jit(function, borrows=True)


_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


@jit
def random64(rng: Any) -> Any:
    """Return the next 64 random bits of `rng`, a uint64 array of one element: splitmix64 (Steele, Lea, Flood 2014)."""
    rng[0] = rng[0] + _GAMMA
    z = rng[0]
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))


@jit
def random_below(rng: Any, n: int) -> int:
    """Return a random int64 in 0..n-1 (n < 2**31) from the high 32 bits. The bias, below n / 2**32, is negligible."""
    return np.int64(((random64(rng) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))  # type: ignore[return-value]
