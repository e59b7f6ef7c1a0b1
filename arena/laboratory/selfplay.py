"""Games of a bot against itself that positions are taken from, planned in lots: each becomes one shard.

A lot follows from the plan, the seed and its number. Refuses to know where games are played.
"""

from __future__ import annotations

import random
from dataclasses import replace

from arena.laboratory.parameter import LaboratoryError
from referee.game.openings import Opening, openings
from referee.game.plan import TournamentPlan, schedule
from referee.game.spec import PlannedGame

OPENING_PLIES = range(2, 10)
"""How many plies are drawn at random at first: each number in as many games. Search alone would play few games."""


def lot(plan: TournamentPlan, number: int, size: int) -> list[PlannedGame]:
    """The games of a lot, numbered from `number * size` on. Raises LaboratoryError where no game can be begun."""
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
        except ValueError as error:  # games so short that none goes on for so long
            problem = str(error)
    if not found:
        raise LaboratoryError(f"no openings: {problem}", hint="take another variant")
    return found
