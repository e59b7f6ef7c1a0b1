"""The plan of a local tournament: all its games, computed before the first one is played."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Literal, get_args

from referee.game.openings import Opening, draw_opener, opening_of
from referee.game.spec import PONDERING, Adjudication, BotLimits, BotSpec, GameSpec, PlannedGame, Pondering, TimeControl
from referee.ratings.pairings import Format, pairings
from referee.rules.rules import Ruleset

Sides = Literal["alternate", "random"]
"""Sides of games that are not paired with one on swapped sides: the bots move first in turns, or at random. `random`
also draws which side moves first, for each pair of games, if the rules leave that open."""
SIDES: tuple[Sides, ...] = get_args(Sides)


@dataclass(frozen=True, slots=True)
class TournamentPlan:
    """A local tournament: the input of `schedule`."""

    ruleset: Ruleset
    bots: tuple[BotSpec, ...]
    openings: tuple[Opening, ...]
    """One for each pair of games of a pairing, the same in all pairings; deals: one for each pair of the tournament."""
    games: int
    """Games per pairing."""
    format: Format = "round-robin"
    time: TimeControl = field(default_factory=TimeControl)
    adjudication: Adjudication = field(default_factory=Adjudication)
    limits: BotLimits = field(default_factory=BotLimits)
    pondering: Pondering = PONDERING[0]
    seed: int = 0
    event: str = ""
    sides: Sides = "alternate"


def pairs_of(bots: int, format: Format, games: int) -> int:
    """Return the number of pairs of games among `bots` bots with `games` games per pairing."""
    return (games + 1) // 2 * len(pairings(bots, format))


def schedule(plan: TournamentPlan) -> list[PlannedGame]:
    """Return every game of the plan in playing order, numbered from 1.

    The games are in cycles, so that a tournament cut short is balanced. In each cycle every pairing plays one pair of
    games from one opening with sides swapped (a single game in the last cycle if `games` is odd).
    """
    games: list[PlannedGame] = []
    pair = 0
    tables = pairings(len(plan.bots), plan.format)
    rounds = max((number for number, _, _ in tables), default=0)
    for cycle in range((plan.games + 1) // 2):
        swaps = (False, True) if 2 * cycle + 1 < plan.games else (cycle % 2 == 1,)
        for number, one, two in tables:
            opening = opening_of(plan.openings, cycle, pair)
            options = {**plan.ruleset.overrides, **dict(opening.options)}
            pair += 1
            if plan.sides == "random":
                lot = Random(f"lot {plan.seed} {plan.event} {pair}")
                turned = lot.random() < 0.5
                options |= draw_opener(plan.ruleset, opening, lot)
            else:
                turned = False
            for swapped in swaps if len(swaps) > 1 else (swaps[0] != turned,):
                first, second = (two, one) if swapped else (one, two)
                spec = GameSpec(
                    family=plan.ruleset.rules.family,
                    variant=opening.variant,
                    options=options,
                    position=opening.position,
                    opening=opening.moves,
                    first=plan.bots[first],
                    second=plan.bots[second],
                    time=plan.time,
                    adjudication=plan.adjudication,
                    limits=plan.limits,
                    pondering=plan.pondering,
                    event=plan.event,
                    sequence=len(games) + 1,
                    round=cycle * rounds + number,
                    pair=pair,
                    seed=plan.seed,
                )
                games.append(PlannedGame.of(spec))
    return games
