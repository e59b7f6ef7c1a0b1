"""Who was late? The referee's own lateness is measured, recorded and not charged; a bot's is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from referee.pool import SlotPool
from referee.record import GameRecord, read_record
from referee.slot import play_games
from referee.spec import BotSpec, GameSpec, PlannedGame, TimeControl
from tests.referee.conftest import FAST, HERE, scripted

CLOCK = TimeControl("clock", 300, 0)
LIMITS = replace(FAST, grace_ms=150)


@pytest.fixture(scope="module")
def pool() -> Iterator[SlotPool]:
    with SlotPool(1) as found:
        yield found


def held(pool: SlotPool, *words: str) -> GameRecord:
    """A game of a bot that stops the slot for a while at its first move; the opponent resigns at its second."""
    holding = BotSpec("holding", (sys.executable, "-S", "-E", str(HERE / "holding.py"), *words))
    game = PlannedGame.of(
        GameSpec("loa", "standard", holding, scripted("two", "h4f2", "resign"), time=CLOCK, limits=LIMITS)
    )
    return pool.submit(play_games, [game]).result(60)[0]


def test_a_referee_that_was_stopped_charges_nobody_for_it(pool: SlotPool) -> None:
    record = held(pool, "answers", "0.6")
    assert (record.termination, record.loser) == ("resigned", "second"), record.detail
    ply = record.plies[0]
    assert ply.ms > 500
    assert ply.lag_ms > 400
    assert ply.charged_ms < 200
    assert ply.charged_ms == pytest.approx(ply.ms - ply.lag_ms, abs=0.002)
    assert record.lag["max_ms"] == ply.lag_ms
    assert record.lag["total_ms"] >= ply.lag_ms
    assert '"lag":{"max_ms":' in record.line()
    assert read_record(record.line()) == record


def test_a_bot_that_is_late_all_the_same_loses(pool: SlotPool) -> None:
    record = held(pool, "stays-silent", "0.6")
    assert (record.termination, record.loser) == ("stalled", "first")
    assert "no bestmove" in record.detail


def test_a_bot_that_is_late_by_itself_loses_with_the_figures(pool: SlotPool) -> None:
    from tests.badbots.catalogue import FAULTS

    late = next(fault.bot for fault in FAULTS if fault.name == "late")
    game = PlannedGame.of(GameSpec("loa", "standard", late, scripted("two", "h4f2"), time=CLOCK, limits=LIMITS))
    record = pool.submit(play_games, [game]).result(60)[0]
    assert (record.termination, record.loser) == ("time", "first")
    assert "320.0 ms were left" in record.detail
    assert "came later" in record.detail


def test_the_margin_is_what_a_flag_may_be_overstepped_by(pool: SlotPool) -> None:
    from tests.badbots.catalogue import FAULTS

    late = next(fault.bot for fault in FAULTS if fault.name == "late")
    limits = replace(LIMITS, margin_ms=2000)
    game = PlannedGame.of(
        GameSpec("loa", "standard", late, scripted("two", "h4f2", "resign"), time=CLOCK, limits=limits)
    )
    record = pool.submit(play_games, [game]).result(60)[0]
    assert (record.termination, record.loser) == ("resigned", "second")
    assert record.plies[0].charged_ms > 300
