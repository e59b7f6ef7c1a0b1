"""The rules of every family, each in a folder here or in an installed package, compiled from plain Python.

They do no I/O and read no clock: the same position, options and move always give the same result.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache

from referee.families import FamilyPackageError, homes
from referee.rules.core import Termination, UnknownNameError
from referee.rules.names import fold
from referee.rules.rules import Rules


@cache
def families() -> tuple[str, ...]:
    """Return the names of all families, sorted. Raise FamilyPackageError if an installed family is invalid."""
    return tuple(homes())


def load(family: str) -> Rules:
    """Return the rules of a family, by any of its names. Raise UnknownNameError or FamilyPackageError."""
    folder = family_named(family)
    if folder not in families():
        others = {name: load(name).words.family for name in families()}
        raise UnknownNameError("family", family, families(), others)
    return _rules(folder)


@cache
def _rules(family: str) -> Rules:
    module = homes()[family]
    try:
        rules = importlib.import_module(module).RULES
    except Exception as error:  # a stranger's package may raise anything
        if module.startswith(f"{__name__}."):
            raise
        raise FamilyPackageError(
            f'cannot load family "{family}" from {module}: {type(error).__name__}: {error}; '
            "fix or uninstall that package"
        ) from error
    if not isinstance(rules, Rules) or rules.family != family:
        raise FamilyPackageError(f'{module}.RULES is not the family "{family}"; fix or uninstall that package')
    return rules


def family_named(name: str) -> str:
    """Return the family that has this name in any language; return the text itself if no family has it."""
    return name if name in families() else _family_names().get(fold(name), name)


@cache
def _family_names() -> Mapping[str, str]:
    """Map every name of every family, in the form of `fold`, to the name of the family's folder."""
    by_name: dict[str, str] = {}
    for family in families():
        rules = load(family)
        for name in (family, rules.title, *rules.words.family):
            by_name.setdefault(fold(name), family)
    return by_name


@cache
def terminations() -> Mapping[str, Termination]:
    """Return all terminations by word: those of the families, in order, then those of the referee.

    If two families use the same word, the first family's termination counts.
    """
    by_rules = (reason for family in families() for reason in load(family).reasons)
    by_word: dict[str, Termination] = {}
    for reason in (*by_rules, *Termination):
        by_word.setdefault(reason.value, reason)
    return by_word
