"""Spares numba, while it compiles, finding out again what it knows: of which types what is called returns.

It goes through a function until no type changes any more, and asks for every call each time. The types are the same,
and so is the code. The champion spent a fifth of its compilation on that.
"""

from __future__ import annotations

from typing import Any

from numba.core.typeinfer import TypeInferer
from numba.core.types.functions import RecursiveCall
from numba.core.types.misc import unliteral


def spare() -> None:
    """Do so in this process from now on; called once."""
    infer_anew, resolve_anew = TypeInferer.return_types_from_partial, TypeInferer.resolve_call

    def return_type(self: Any) -> Any:
        """The type that a recursive call returns, as far as is known.

        numba infers the whole function anew for every such call. What its returns are known to be is enough: it asks
        again until nothing changes, and then all of them are.
        """
        variables = [self.typevars.get(one.name) for one in self._get_return_vars()]
        known = {unliteral(one.getone()) for one in variables if one is not None and one.defined}
        return self._unify_return_types(known) if known else infer_anew(self)

    def signature(self: Any, function: Any, given: Any, named: Any) -> Any:
        """The signature of a call, or None: of the same types it is the same within a function."""
        if named or isinstance(function, RecursiveCall):
            return resolve_anew(self, function, given, named)
        resolved = self.__dict__.setdefault("_resolved", {})
        key = function, *given
        if resolved.get(key) is None:
            resolved[key] = resolve_anew(self, function, given, named)
        return resolved[key]

    TypeInferer.return_types_from_partial, TypeInferer.resolve_call = return_type, signature
