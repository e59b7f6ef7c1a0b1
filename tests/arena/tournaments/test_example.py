"""Example documents, played to their end with random results."""

from __future__ import annotations

import random
from functools import partial

import pytest

from arena.tournaments.example import example
from arena.tournaments.format import step
from arena.tournaments.match import Seed
from arena.tournaments.settings import FORMATS, Format, read_toml
from tests.arena.tournaments.simulation import drawn, run

GAMES = {"round-robin": 6, "gauntlet": 4, "swiss": 4, "ladder": 12}
"""Games with three bots, for formats with a fixed number of games."""


@pytest.mark.parametrize("format", FORMATS)
def test_an_example_is_played_to_its_end(format: Format) -> None:
    document = read_toml(example(format))
    seeds = [Seed(number, False) for number in range(len(document.entries.bots))]
    rng = random.Random(1)
    found = run(partial(step, document, seeds), drawn(rng), rng=rng)
    done = [game for game in found if game.state == "done"]
    if format in GAMES:
        assert len(done) == GAMES[format]
    else:
        assert 2 <= len(done) <= max(document.sprt.games, document.race.games)
