"""The one home of numba: the `jit` decorator, bit operations and the random numbers of the kernels.

Compiled code is cached on disk in a folder named after a digest of the sources it was compiled from, so neither an
edited helper nor an upgrade can ever meet a stale cache, and the same sources elsewhere are not compiled again. In it
each signature of a function has a file named after both, so processes that compile at the same time cannot mix them up.
Where that folder is not writable (for a sandboxed bot), what is in it is used and the rest is compiled in memory.

A kernel is plain module-level functions: a closure, a jitclass or a function passed as an argument never hits the disk
cache. With `NUMBA_DISABLE_JIT=1` everything here runs as ordinary Python with the same results.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from referee.rules.cache import IS_COMPILED, cache_root, is_writable
from referee.rules.garbage import uncollected

F = TypeVar("F", bound=Callable[..., Any])


@cache
def cache_folder(*source_folders: str) -> Path:
    """Where code compiled from `source_folders` is kept; the folder need not exist."""
    import numba

    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    sources = [Path(__file__), *(path for folder in source_folders for path in sorted(Path(folder).glob("*.py")))]
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    name = "-".join(Path(folder).name for folder in source_folders)
    return cache_root() / f"{name}-{digest.hexdigest()[:16]}"


_is_writable = cache(is_writable)

if IS_COMPILED:
    with uncollected():
        import numba
        from numba import types
        from numba.core import caching, sigutils
        from numba.core.runtime import rtsys
        from numba.core.typing import signature as typing_signature
        from numba.extending import intrinsic

        from referee.rules import inference, loading

    loading.spare()
    inference.spare()
    _HASHING = b"_numba_hashsecret"
    """What stands in compiled code that hashes."""
    _NumbasLocator: Any = getattr(caching, "UserProvidedCacheLocator", None) or caching._UserProvidedCacheLocator

    class _Locator(_NumbasLocator):  # type: ignore[misc]
        """A folder for each module by its name: numba's own is named after the path of its source."""

        def __init__(self, function: Any, source: str) -> None:
            super().__init__(function, source)
            self._cache_path = os.path.join(numba.config.CACHE_DIR, function.__module__)

    class _ReadOnlyLocator(_Locator):
        """Finds what others have compiled, in a folder that this process may not write."""

        def ensure_cache_path(self) -> None:
            pass

    class _CacheImpl(caching.FunctionCache._impl_class):  # type: ignore[misc]
        _locator_classes = (_Locator,)

    class _ReadOnlyCacheImpl(caching.FunctionCache._impl_class):  # type: ignore[misc]
        _locator_classes = (_ReadOnlyLocator,)

    class _CacheFile(caching.IndexDataCacheFile):  # type: ignore[misc]
        """A file for each signature, and no index.

        numba numbers the files and keeps an index, written apart: of two processes that compile different signatures
        at once, one may leave its index beside the other's code, and whoever loads that crashes.
        """

        def save(self, key: Any, data: Any) -> None:
            """Keep what was compiled for `key`."""
            self._save_data(self._file_name(key), data)

        def load(self, key: Any) -> Any:
            """What was compiled for `key`, or None where that is not there or cut short."""
            name = self._file_name(key)
            try:
                if _HASHING in Path(self._data_path(name)).read_bytes():
                    from numba.cpython import hashing  # noqa: F401 - what code that hashes refers to
                return self._load_data(name)
            except (OSError, EOFError, pickle.UnpicklingError):
                return None

        def _file_name(self, key: Any) -> Any:
            return self._data_name(int(hashlib.sha256(repr(key).encode()).hexdigest()[:16], 16))

    class _Cache(caching.FunctionCache):  # type: ignore[misc]
        _impl_class = _CacheImpl

        def __init__(self, function: Any) -> None:
            super().__init__(function)
            self._cache_file = _CacheFile(self._cache_path, self._impl.filename_base, None)

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            """What was compiled for a signature, without all that compiling would need.

            numba's own first imports how everything it knows is compiled, and SciPy where there is one: a third of a
            second. What compiles does so itself.
            """
            rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)

    class _ReadOnlyCache(_Cache):
        """The cache of a sandboxed bot: numba's own gives up on a folder that it cannot write."""

        _impl_class = _ReadOnlyCacheImpl

        def save_overload(self, sig: Any, data: Any) -> None:
            """What is compiled here is not kept."""

    def jit(function: F, *, also: tuple[str, ...] = (), borrows: bool = False, inlined: bool = False) -> F:
        """Compile a module-level function (nopython, GIL released), cached on disk where that is possible.

        `also` names further folders of sources that are compiled into the function. One that `borrows` makes no array
        and leaves it to its caller to keep those it is given: counting who uses them takes a fifth of a search. What is
        `inlined` becomes a part of its callers: an array takes seven arguments.
        """
        # Told either way: what is not told, a function takes over from the one whose compilation asked for it.
        settings: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": not borrows, "forceinline": inlined}
        settings["no_cfunc_wrapper"] = True  # for C that calls it by its own convention: nothing does
        dispatcher = numba.njit(**settings)(function)
        loading.alone(dispatcher)
        compiler = dispatcher._compiler
        compiler.compile = uncollected()(compiler.compile)
        folder = cache_folder(os.path.dirname(inspect.getfile(function)), *also)
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder)
        try:
            if _is_writable(folder):
                dispatcher._cache = _Cache(function)
            elif folder.is_dir():
                dispatcher._cache = _ReadOnlyCache(function)
        except RuntimeError:  # numba finds no place for a cache
            pass
        finally:
            numba.config.CACHE_DIR = before
        return dispatcher  # type: ignore[no-any-return]

    def c_function(name: str, signature: str) -> Any:
        """A function of the C library, for compiled code to call; numbers and addresses only: `i8(i4,u8,u8)`."""
        arguments, found = sigutils.normalize_signature(signature)
        return types.ExternalFunction(name, typing_signature(found, *arguments))

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
