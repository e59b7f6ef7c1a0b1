"""Handicaps: a time control, engine options and rule options for one bot, in all its games or in one pairing.

Games with handicaps are unrated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator, Field, field_validator, model_validator

from referee.game.spec import BotSpec, TimeControl, read_time_control
from referee.rules.core import value_text
from referee.rules.rules import Ruleset, Value
from referee.tournament.part import Part

Name = Annotated[str, Field(min_length=1, max_length=60)]
_Text = Annotated[str, Field(max_length=200)]


def _printable(options: dict[str, bool | int | str]) -> dict[str, bool | int | str]:
    if not all(name.isprintable() and str(value).isprintable() for name, value in options.items()):
        raise ValueError("write each name and value as one printable line")
    return options


EngineOptions = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=64)], bool | int | _Text], AfterValidator(_printable)
]
"""Options of engines with their values, by name."""


class Handicap(Part):
    """Time control, engine options and rule options of `bot`, in all its games or against one opponent.

    A handicap against one opponent overrides one for all games. Name bots as in `entries.bots`.
    """

    bot: Name
    """Bot with the handicap, named as in `entries.bots`."""
    against: Name | None = None
    """Opponent; default: all opponents."""
    time_control: Annotated[str, Field(max_length=40)] | None = None
    """Time control of this bot; default: that of the tournament."""
    engine_options: EngineOptions = Field(default={}, max_length=64)
    """Engine options set before each game, by name, such as `Threads = 1`."""
    rule_options: dict[Annotated[str, Field(min_length=1, max_length=64)], bool | int | _Text] = Field(
        default={}, max_length=64
    )
    """Options of the rules in its games, by name, such as `king_max_step = 4`."""
    side: Annotated[str, Field(max_length=40)] | None = None
    """Side on which `rule_options` apply: `first`, `second`, or the side's name such as `defenders`; default: both."""

    @field_validator("time_control")
    @classmethod
    def _readable(cls, time_control: str | None) -> str | None:
        if time_control is not None:
            read_time_control(time_control)
        return time_control

    @model_validator(mode="after")
    def _is_complete(self) -> Handicap:
        if self.side is not None and not self.rule_options:
            raise ValueError("side applies to rule_options; set some, or leave side out")
        if self.time_control is None and not self.engine_options and not self.rule_options:
            raise ValueError("set time_control, engine_options or rule_options")
        if self.bot == self.against:
            raise ValueError("a bot does not play against itself")
        return self

    @property
    def control(self) -> TimeControl | None:
        return None if self.time_control is None else read_time_control(self.time_control)

    @property
    def setoptions(self) -> tuple[tuple[str, str], ...]:
        """Engine options as the names and values of `setoption`."""
        return tuple((name, value_text(value)) for name, value in self.engine_options.items())


def fastest(version: str, usual: TimeControl, handicaps: Iterable[Handicap]) -> TimeControl:
    """Return the time control, among those a version plays with, that leaves the least time per move."""
    own = [one for one in handicaps if one.control and one.bot in (version, version.rpartition(" v")[0])]
    everywhere = [one.control for one in own if one.control and one.against is None]
    controls = [*(everywhere[-1:] or [usual]), *(one.control for one in own if one.control and one.against)]
    return min(controls, key=lambda control: math.inf if control.move_ms is None else control.move_ms)


def rules_met_by(version: str, handicaps: Iterable[Handicap]) -> list[Handicap]:
    """Return the handicaps whose rules may apply to a version's games: its own, and those against it or against all."""
    names = (version, version.rpartition(" v")[0])
    return [one for one in handicaps if one.rule_options and (one.against is None or {one.bot, one.against} & {*names})]


def seat_of(name: str, names: Mapping[int, str], named: Iterable[str] = ()) -> int | None:
    """Return the seat of the named version; for a bot's name, of its newest version that is not in `named`."""
    exact = next((seat for seat, version in names.items() if version == name), None)
    if exact is not None:
        return exact
    others = set(named)
    versions = [(version.rpartition(" v"), seat) for seat, version in names.items() if version not in others]
    candidates = [(int(number), seat) for (bot, _, number), seat in versions if bot == name and number.isdecimal()]
    return max(candidates)[1] if candidates else None


def rules_with(
    handicaps: Sequence[Handicap], names: Mapping[int, str], named: Iterable[str], pair: tuple[int, int], usual: Ruleset
) -> dict[str, Value]:
    """Return the rule options that handicaps set in a game; `pair` has the seats of the first and the second side."""
    entries, options = tuple(named), dict[str, Value]()
    for handicap in sorted(handicaps, key=lambda handicap: handicap.against is not None):
        seat = seat_of(handicap.bot, names, entries)
        rival = seat_of(handicap.against, names, entries) if handicap.against else None
        side = None if handicap.side is None else usual.side_named(handicap.side)
        if seat in pair and (not handicap.against or rival in pair) and side in (None, pair.index(seat)):
            options |= handicap.rule_options
    return options


def handicapped(
    bots: Mapping[int, BotSpec], handicaps: Sequence[Handicap], named: Iterable[str]
) -> dict[tuple[int, int], BotSpec]:
    """Return the bots that play with a handicap, by seat and opponent's seat.

    `named` are the entries as the document names them.
    """
    names = {seat: bot.name for seat, bot in bots.items()}
    changed: dict[tuple[int, int], BotSpec] = {}
    for handicap in sorted(handicaps, key=lambda handicap: handicap.against is not None):
        seat = seat_of(handicap.bot, names, named)
        rival = seat_of(handicap.against, names, named) if handicap.against else None
        if seat is None or (handicap.against and rival is None):
            continue
        for other in names if rival is None else (rival,):
            bot = changed.get((seat, other), bots[seat])
            options = dict(bot.options) | dict(handicap.setoptions)
            changed[seat, other] = replace(
                bot, time=handicap.control or bot.time, options=tuple(sorted(options.items()))
            )
    return changed
