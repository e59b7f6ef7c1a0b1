"""The rules of every family, one folder or one installed package each. No IO, no clock, no protocol."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache

from referee.rules.core import Termination, UnknownNameError
from referee.rules.families import FamilyPackageError, homes
from referee.rules.names import fold
from referee.rules.rules import Rules


@cache
def families() -> tuple[str, ...]:
    """The names of all families, sorted. Raises FamilyPackageError."""
    return tuple(homes())


def load(family: str) -> Rules:
    """The rules of a family, by any of its names. Raises UnknownNameError, FamilyPackageError."""
    found = family_named(family)
    if found not in families():
        others = {name: load(name).words.family for name in families()}
        raise UnknownNameError("family", family, families(), others)
    return _rules(found)


def _rules(family: str) -> Rules:
    module = homes()[family]
    try:
        rules = importlib.import_module(module).RULES
    except Exception as error:
        if module.startswith(f"{__name__}."):
            raise
        raise FamilyPackageError(
            f"the family {family!r} cannot be loaded from {module}: {type(error).__name__}: {error}; "
            "mend or uninstall that package"
        ) from error
    if not isinstance(rules, Rules) or rules.family != family:
        raise FamilyPackageError(f"{module}.RULES is not the family {family!r}; mend or uninstall that package")
    return rules


def family_named(name: str) -> str:
    """The family of any of its names; the text itself where it is none."""
    return name if name in families() else _family_names().get(fold(name), name)


def _family_names() -> Mapping[str, str]:
    """Every name of a family, folded, and the name of its folder."""
    found: dict[str, str] = {}
    for family in families():
        rules = load(family)
        for name in (family, rules.title, *rules.words.family):
            found.setdefault(fold(name), family)
    return found


@cache
def terminations() -> Mapping[str, Termination]:
    """Every way a game can end, by its word: those of the families in their order, then the rest of the referee's own.

    Where two families have the same word, it is the first one's.
    """
    by_rules = (reason for family in families() for reason in load(family).reasons)
    found: dict[str, Termination] = {}
    for one in (*by_rules, *Termination):
        found.setdefault(one.value, one)
    return found
