"""Plan self-play games for positions, in batches: each batch becomes one shard.

A batch depends only on the plan, the seed and its number.
"""

from __future__ import annotations

import random
from dataclasses import replace

from arena.laboratory.parameter import LaboratoryError
from referee.game.openings import Opening, openings
from referee.game.plan import TournamentPlan, schedule
from referee.game.spec import PlannedGame

OPENING_PLIES = range(2, 10)
"""Lengths of the random openings, each in equally many games. Without them the search would repeat few games."""


def games_of_shard(plan: TournamentPlan, number: int, size: int) -> list[PlannedGame]:
    """Plan the games of a shard, numbered from `number * size` on.

    Raises LaboratoryError if every game ends within its opening.
    """
    games = []
    for place, opening in enumerate(_openings(plan, number, size)):
        event = f"datagen {plan.seed} {number * size + place}"
        (game,) = schedule(replace(plan, openings=(opening,), games=1, event=event))
        games.append(PlannedGame.of(replace(game.spec, sequence=place + 1, pair=place + 1)))
    return games


def _openings(plan: TournamentPlan, number: int, size: int) -> list[Opening]:
    seed = random.Random(f"datagen {plan.seed} {number}").getrandbits(31)
    found: list[Opening] = []
    problem = ""
    for place, plies in enumerate(OPENING_PLIES):
        count = size // len(OPENING_PLIES) + (place < size % len(OPENING_PLIES))
        try:
            found += openings(plan.ruleset, f"random:{plies}:{seed}", count, seed) if count else []
        except ValueError as error:  # every game ends within so few plies
            problem = str(error)
    if not found:
        raise LaboratoryError(f"no openings: {problem}", hint="choose another variant")
    return found
