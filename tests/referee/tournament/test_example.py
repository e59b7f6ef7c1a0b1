"""Example documents, played to their end with random results."""

from __future__ import annotations

import random
from functools import partial

import pytest

from referee import toml
from referee.tournament.document import read
from referee.tournament.formats import names
from referee.tournament.match import Seed
from referee.tournament.toml_text import example
from tests.referee.tournament.simulation import drawn, run

GAMES = {"round-robin": 6, "gauntlet": 4, "swiss": 4, "ladder": 12}
"""Games with three bots, for formats with a fixed number of games."""


@pytest.mark.parametrize("format", names())
def test_an_example_is_played_to_its_end(format: str) -> None:
    document = read(toml.read(example(format)))
    seeds = [Seed(number, False) for number in range(len(document.entries.bots))]
    rng = random.Random(1)
    games = run(partial(document.system.next_step, document, seeds), drawn(rng), rng=rng)
    done = [game for game in games if game.state == "done"]
    if format in GAMES:
        assert len(done) == GAMES[format]
    else:
        least, most = document.system.count_games(document, len(seeds))
        assert least <= len(done) <= (most or 0)
