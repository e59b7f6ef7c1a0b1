"""The seam between the core and its features: what a feature brings, which are installed, and which are on.

A feature is a package with a constant `FEATURE`. Those of the arena are the folders of `arena/features`; a package of
its own names its module by an entry point of the group `arena.features`. The record holds names of modules, which are
imported where they are used, so that a command starts without them. `templates`, `static` and `locale` are folders
next to the module with `FEATURE`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from string import Formatter
from types import ModuleType
from typing import Any, Literal

from referee.entry_points import entry_points
from referee.families import is_name

GROUP = "arena.features"
BUILT_IN = "arena.features"
ALL = "all"
"""A setting that turns off every feature."""
VARIABLE = "ARENA_DISABLED_FEATURES"
Room = Literal["menu", "explore", "account", "family", "game", "bot", "board"]
ROOM_VALUES: Mapping[Room, frozenset[str]] = {
    "menu": frozenset(),
    "explore": frozenset(),
    "account": frozenset(),
    "family": frozenset({"family"}),
    "game": frozenset({"game"}),
    "bot": frozenset({"bot"}),
    "board": frozenset({"family", "variant", "options", "position"}),
}
"""The values that an address of a `Place` in each room may have in braces."""
State = Literal["on", "off", "failed"]
Part = Literal["tables", "api", "pages", "card", "profile", "background", "tasks", "ratings", "furnish"]
WEB: tuple[Part, ...] = ("tables", "api", "pages", "card", "profile")
"""Parts that a web process uses."""
COORDINATOR: tuple[Part, ...] = ("tables", "background", "tasks")
"""Parts that a coordinator uses."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command of `arena`: its name, a line of help, examples, and its module, which may have several commands.

    `about` stands above its own help instead of that line. `compiles` says that the command runs kernels, here or in
    processes it starts.
    """

    name: str
    help: str
    examples: tuple[str, ...] = ()
    group: str = "rules"
    module: str = ""
    about: str = ""
    compiles: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of the navigation. `room` is where it stands, `text` a line below its title on the page /explore.

    In the room `account`, only users with the `scope` see it.

    The address may have the values of its room (`ROOM_VALUES`) in braces, such as `{family}` on the page of a family.
    """

    room: Room
    address: str
    title: str
    icon: str = "explore"
    text: str = ""
    scope: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """The parts of a feature. Texts such as `module:function` and `module` are imported when they are needed."""

    name: str
    title: str
    commands: tuple[Command, ...] = ()
    places: tuple[Place, ...] = ()
    tables: str = ""
    """Module with tables of the database."""
    revisions: str = ""
    """Package with the revisions of its tables, whose names begin with that of the feature; empty: in the core."""
    api: tuple[str, ...] = ()
    """Modules with `routes` of the JSON interface."""
    json_pages: Mapping[str, str] = field(default_factory=dict)
    """Paths of the JSON interface by the addresses of pages with `.json` appended."""
    pages: tuple[str, ...] = ()
    """Modules with `routes` of pages."""
    card: str = ""
    """Coroutine function that gets a request and returns the card of the front page, a `Card`, or None."""
    profile: str = ""
    """Coroutine function that gets a request and a `UserItem`, and returns HTML for the page of the user, or None."""
    background: str = ""
    """Function that gets the context of a coordinator and its conditions, and returns background work."""
    tasks: str = ""
    """Function that gets the store and returns daily tasks."""
    furnish: str = ""
    """Function that gets an `Arena` and names of families, and adds to the arena of a demo what there is to look at."""
    ratings: str = ""
    """Module with ratings that follow from stored results: `rebuild(store)` returns what it did in words or an empty
    text, `check(store)` the stored numbers that differ.
    """

    def load(self, part: Part) -> tuple[Any, ...]:
        """Import a part: modules, or the function that it names; empty if the feature does not bring it."""
        given = getattr(self, part)
        return tuple(_loaded(name) for name in ([given] if isinstance(given, str) else given) if name)


@dataclass(slots=True)
class Installed:
    """A feature in this installation: its module, the package that brings it, and why it is left out, if it is."""

    name: str
    module: str
    package: str
    package_version: str = ""
    feature: Feature | None = None
    problem: str = ""

    def fail(self, error: Exception | str) -> None:
        """Leave the feature out in this process, and say so."""
        from arena.log import logger

        self.problem = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        logger("features").error("left out", feature=self.name, package=self.package, problem=self.problem)

    def state(self, disabled: Collection[str]) -> State:
        """Return whether the feature takes part, as far as this process has used it."""
        return "off" if is_disabled(self.name, disabled) else "failed" if self.problem else "on"

    @property
    def version(self) -> str:
        """The version of its package, read at the first use."""
        from referee.machine import source

        return self.package_version or source.release()

    def folder(self, name: str) -> Path:
        """Return the folder of this name next to the module of the feature; it need not exist."""
        spec = find_spec(self.module)
        assert spec is not None
        assert spec.origin is not None
        return Path(spec.origin).parent / name


@cache
def installed() -> tuple[Installed, ...]:
    """Return all installed features: those of the arena, then those of other packages, each sorted by name."""
    return tuple(map(_read, (*_built_in(), *_of_packages())))


def enabled(disabled: Collection[str], *parts: Part) -> list[Installed]:
    """Return the features that are on and have no problem, after importing these parts of them."""
    return [entry for entry in installed() if not is_disabled(entry.name, disabled) and _is_usable(entry, parts)]


def loaded(chosen: Sequence[Installed], part: Part) -> Iterator[Any]:
    for entry in chosen:
        if entry.feature:
            yield from entry.feature.load(part)


def is_disabled(name: str, disabled: Collection[str]) -> bool:
    return name in disabled or ALL in disabled


@cache
def commands() -> tuple[Command, ...]:
    """Return the commands of the features that the environment leaves on: a command line knows no settings file yet."""
    try:
        disabled = json.loads(os.environ.get(VARIABLE) or "[]")
    except ValueError:
        disabled = []  # the command that reads the settings says what is wrong
    chosen = enabled(disabled if isinstance(disabled, list) else [])
    return tuple(command for entry in chosen if entry.feature for command in entry.feature.commands)


def load_tables() -> None:
    """Import the tables of all installed features, of those that are off as well: what they have stored is kept."""
    enabled((), "tables")


def _loaded(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function) if function else import_module(module)


def _is_usable(entry: Installed, parts: Collection[Part]) -> bool:
    if entry.feature is None or entry.problem:
        return False
    try:
        for part in parts:
            for loaded_part in entry.feature.load(part):
                if part == "tables" and entry.feature.revisions:
                    _require_names(entry.name, loaded_part)
    except Exception as error:  # of a stranger; the arena works without it
        entry.fail(error)
    return not entry.problem


def _read(entry: Installed) -> Installed:
    if entry.problem:
        return entry
    try:
        feature = import_module(entry.module).FEATURE
        if not isinstance(feature, Feature) or feature.name != entry.name:
            raise TypeError(f"{entry.module}.FEATURE is not a Feature with the name {entry.name!r}")
        if feature.tables and not feature.revisions and not entry.module.startswith(BUILT_IN):
            raise TypeError(f"{entry.module}.FEATURE has tables without revisions")
        for place in feature.places:
            named = {name for _, name, _, _ in Formatter().parse(place.address) if name is not None}
            if not named <= ROOM_VALUES[place.room]:
                raise ValueError(f"{place.address!r} has a value in braces that the room {place.room!r} does not know")
        entry.feature = feature
    except Exception as error:  # of a stranger; the arena works without it
        entry.fail(error)
    return entry


def _require_names(name: str, module: ModuleType) -> None:
    """Raise ValueError if the name of a table in a module does not begin with that of the feature.

    Revisions, checks and dumps find the tables of a feature by their names.
    """
    for value in vars(module).values():
        table = getattr(value, "__tablename__", "")
        if getattr(value, "__module__", "") == module.__name__ and table and not table.startswith(f"{name}_"):
            value.metadata.remove(value.__table__)  # no revision creates it: other checks must not expect it
            raise ValueError(f"the name of the table {table!r} does not begin with {name + '_'!r}")


def _built_in() -> Iterator[Installed]:
    import pkgutil

    spec = find_spec(BUILT_IN)
    assert spec is not None
    for module in sorted(pkgutil.iter_modules(spec.submodule_search_locations), key=lambda module: module.name):
        yield Installed(module.name, f"{BUILT_IN}.{module.name}", "bot-arena")


def _of_packages() -> Iterator[Installed]:
    names = {entry.name for entry in _built_in()}
    for point in sorted(entry_points(GROUP), key=lambda point: point.name):
        entry = Installed(point.name, point.module, point.package, point.version)
        if not is_name(point.name):
            entry.fail("the name of a feature has lower-case letters and digits")
        elif point.name in names:
            entry.fail(f"another package brings a feature {point.name!r}; uninstall one of them")
        names.add(point.name)
        yield entry
