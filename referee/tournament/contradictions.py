"""Faults of a settings document's keys that are valid alone, but not with the rules or with other keys."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from referee.rules.core import ParseError, UnknownNameError
from referee.tournament import formats
from referee.validation import Misfit

if TYPE_CHECKING:
    from referee.tournament.document import Document


def contradictions(document: Document) -> list[Misfit]:
    """Return the faults of keys that are valid alone, but not with the rules or with other keys."""
    return [*_refused_values(document), *_conflicts(document)]


def _refused_values(document: Document) -> Iterator[Misfit]:
    """Yield a fault for each key whose value the rules or the referee do not accept."""
    for field, look in (
        ("variant", lambda: document.ruleset.config),
        ("time_control", lambda: document.control),
        ("adjudication", lambda: document.game_adjudication),
    ):
        try:
            look()
        except UnknownNameError as error:
            is_option = error.what.startswith(("option", "value"))
            yield Misfit("rule_options" if is_option else error.what.split(" ")[0], str(error), near=error.near)
        except (ParseError, ValueError) as error:
            yield Misfit(field, str(error))


def _conflicts(document: Document) -> Iterator[Misfit]:
    """Yield a fault for each key that contradicts the format or another key."""
    system = document.system
    if not system.uses_games and document.games != 2:
        yield Misfit("games", f"a {system.name} is played pair by pair", f"set {system.table}.games for all of them")
    for name, other in formats.formats().items():
        for key in other.keys:
            if other is not system and getattr(document, key) is not None:
                yield Misfit(key, f"is for format {name} only", "leave it out")
    yield from system.faults(document)
    if document.scale_time_control:
        yield from _clock_conflicts(document)
    yield from _entry_conflicts(document)
    if document.schedule is not None and document.start_time is not None:
        yield Misfit("start_time", "a recurring tournament starts at the times of its schedule", "leave it out")


def _clock_conflicts(document: Document) -> Iterator[Misfit]:
    """Yield the faults of `scale_time_control`: it suits neither a time control without a clock nor remote bots."""
    with contextlib.suppress(ParseError):  # an invalid time control has its own fault
        if document.control.move_ms is None:
            problem = f"{document.time_control} has no clock to scale"
            yield Misfit("scale_time_control", problem, "leave it out")
    if document.pool == "remote":
        problem = "the speed of a remote bot's machine is unknown"
        yield Misfit("scale_time_control", problem, "leave it out")


def _entry_conflicts(document: Document) -> Iterator[Misfit]:
    """Yield the faults of entries that contradict the format, and of handicaps that contradict other keys."""
    if not document.entries.bots and not document.entries.has_query:
        yield Misfit("entries", "has no bots", "name bots, or set top, all or newest")
    if document.handicaps and document.rated:
        yield Misfit("rated", "games with handicaps cannot be rated", "write rated = false")
    yield from _handicap_conflicts(document)


def _handicap_conflicts(document: Document) -> Iterator[Misfit]:
    """Yield the faults of handicaps: unknown bots, rule options or sides, and openings that do not suit their rules."""
    entries = document.entries
    for handicap in document.handicaps:
        for name in (handicap.bot, handicap.against or handicap.bot):
            if name not in entries.labels:
                yield Misfit("handicaps", f"{name} is not in entries.bots", "write it there in the same way")
        if not handicap.rule_options:
            continue
        if document.opening_lines or not document.openings.startswith(("none", "setups:", "fair:")):
            problem = "the moves of openings may be illegal by the rules of a handicap"
            yield Misfit("openings", problem, 'write openings = "none"')
        try:
            ruleset = document.ruleset
            for option, value in handicap.rule_options.items():
                ruleset.rules.option(option).read(value)
        except UnknownNameError as error:
            yield Misfit("handicaps", str(error), near=error.near)
        except ParseError:  # an invalid variant has its own fault
            continue
        if handicap.side is not None and ruleset.side_named(handicap.side) is None:
            names = " or ".join(name.lower() for name in ruleset.sides)
            yield Misfit("handicaps", f"no side {handicap.side!r}", f"write {names}, first or second")
