"""Lets compiled code call the kernel of whatever family it is given, by the addresses of its functions.

A function passed as an argument would never reach the disk cache, and a loop compiled for each family would take a
second for each: called by addresses, one compiled loop serves them all. Apart from `referee.rules.jit`, whose every
change makes all compiled code stale.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np

from referee.rules.cache import IS_COMPILED
from referee.rules.rules import Ruleset

FAILED = -1
"""What `call_…` returns where the function raised."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the compiled functions of a kernel begin."""

    legal: int
    play: int
    result: int


def addresses_of(ruleset: Ruleset) -> Addresses | None:
    """The functions of the kernel that a game is played by, loaded or compiled now; None for plain Python."""
    return _addresses(cast(Hashable, ruleset.rules.kernel))


@cache
def _addresses(kernel: Any) -> Addresses | None:
    if not IS_COMPILED or not all(hasattr(one, "overloads") for one in (kernel.legal, kernel.play, kernel.result)):
        return None
    state = numba.typeof(np.zeros(kernel.STATE_SIZE, kernel.DTYPE))
    number, moves, config = types.int64, types.int64[::1], types.Array(types.int64, 1, "C", readonly=True)
    found = (
        _address(kernel.legal, (state, config, moves), number),
        _address(kernel.play, (state, config, number, state), types.none),
        _address(kernel.result, (state, config, number, number), number),
    )
    return Addresses(*found) if all(found) else None


def _address(function: Any, arguments: tuple[Any, ...], returned: Any) -> int:
    function.compile(arguments)
    code = function.overloads[arguments]
    if code.signature.return_type != returned:
        return 0
    return int(code.library.get_pointer_to_function(code.fndesc.llvm_func_name))


if IS_COMPILED:
    import numba
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    _NUMBERS = types.Array(types.int64, 1, "C")
    """Stands for arrays of any type: how they are passed does not depend on it."""

    def _array(context: Any, builder: Any, address: Any, size: Any, item_bytes: Any) -> Any:
        from numba.np.arrayobj import make_array, populate_array  # a tenth of a second, and wanted for compiling alone

        array = make_array(_NUMBERS)(context, builder)
        data = builder.inttoptr(address, context.get_data_type(types.int64).as_pointer())
        populate_array(array, data=data, shape=(size,), strides=(item_bytes,), itemsize=item_bytes, meminfo=None)
        return array._getvalue()

    def _arrays(context: Any, builder: Any, *places: Any) -> list[Any]:
        """Arrays of so many items of so many bytes each; of eight where nothing is said."""
        eight = ir.Constant(ir.IntType(64), 8)
        return [_array(context, builder, at, size, *(item or (eight,))) for at, size, *item in places]

    def _call(context: Any, builder: Any, address: Any, returned: Any, kinds: Any, arguments: Any) -> Any:
        """What the function there returns, FAILED where it raises."""
        kind = context.call_conv.get_function_type(returned, kinds)
        function = builder.inttoptr(address, kind.as_pointer())
        status, value = context.call_conv.call_function(builder, function, returned, kinds, arguments)
        answer = ir.Constant(ir.IntType(64), 0) if returned is types.none else value
        return builder.select(status.is_error, ir.Constant(ir.IntType(64), FAILED), answer)

    _I = types.int64

    @intrinsic  # type: ignore[untyped-decorator]
    def call_legal(
        typingctx: Any, function: Any, state: Any, size: Any, item: Any, config: Any, count: Any, moves: Any, most: Any
    ) -> Any:
        """`Kernel.legal` of a `state` of `size` items of so many bytes, room for `most` moves; all by addresses."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            at, state, size, item, config, count, moves, most = args
            arrays = _arrays(context, builder, (state, size, item), (config, count), (moves, most))
            return _call(context, builder, at, _I, (_NUMBERS,) * 3, arrays)

        return _I(_I, _I, _I, _I, _I, _I, _I, _I), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def call_play(
        typingctx: Any, function: Any, state: Any, size: Any, item: Any, config: Any, count: Any, move: Any, after: Any
    ) -> Any:
        """`Kernel.play` of a `state` of `size` items of so many bytes; all but the move by addresses. 0 or FAILED."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            at, state, size, item, config, count, move, after = args
            before, rules, out = _arrays(context, builder, (state, size, item), (config, count), (after, size, item))
            kinds = (_NUMBERS, _NUMBERS, _I, _NUMBERS)
            return _call(context, builder, at, types.none, kinds, [before, rules, move, out])

        return _I(_I, _I, _I, _I, _I, _I, _I, _I), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def call_result(
        typingctx: Any, function: Any, state: Any, size: Any, item: Any, config: Any, count: Any, times: Any, gap: Any
    ) -> Any:
        """`Kernel.result` of a `state` of `size` items of so many bytes; state and config by addresses."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            at, state, size, item, config, count, times, gap = args
            arrays = _arrays(context, builder, (state, size, item), (config, count))
            return _call(context, builder, at, _I, (_NUMBERS, _NUMBERS, _I, _I), [*arrays, times, gap])

        return _I(_I, _I, _I, _I, _I, _I, _I, _I), codegen
