"""A sample that is ready has everything compiled: no clock runs while it does that."""

from __future__ import annotations

import gc

import pytest

from bots.samples.alphabeta import AlphaBeta
from bots.samples.greedy import Greedy
from bots.samples.mcts import MonteCarlo
from bots.sdk import Bot
from bots.sdk.clock import Clock
from bots.sdk.game_state import GameState
from protocol.messages import Go


def signatures() -> dict[tuple[str, str], int]:
    """How often each function of this process was compiled."""
    from numba.core.registry import CPUDispatcher

    gc.unfreeze()  # what was loaded when tests were collected is frozen, and would not be listed
    compiled = [dispatcher for dispatcher in gc.get_objects() if issubclass(type(dispatcher), CPUDispatcher)]
    assert compiled
    return {(kernel.py_func.__module__, kernel.py_func.__qualname__): len(kernel.signatures) for kernel in compiled}


@pytest.mark.parametrize("kind", [AlphaBeta, MonteCarlo, Greedy])
def test_nothing_is_left_to_compile_when_a_bot_is_ready(kind: type[Bot]) -> None:
    bot, table = kind(), GameState("loa")
    bot.warm_up(table.start())
    before = signatures()
    position = table.start()
    for go in (Go(movetime=20), Go(nodes=50), Go(depth=2)):
        move = bot.choose(position, Clock(go, 0))
        position = position.play(move)
        assert position.outcome is None
    assert signatures() == before
