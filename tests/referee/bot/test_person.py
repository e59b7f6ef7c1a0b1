"""The seat of a person: it waits for a decision at its ply, no longer than it may, and leaves when it is called off."""

from __future__ import annotations

import threading

import pytest

from referee.bot.person import Decision, Hand, PersonSeat
from referee.game.failure import BotError, Stopped
from referee.game.record import Ply
from referee.game.spec import NO_CLOCK, BotLimits, BotSpec, GameSpec, PlannedGame, TimeControl, read_time_controls
from referee.play.play import play
from referee.play.roster import Roster
from referee.rules.core import Termination
from referee.sandbox import open_sandbox

ANN, BEN = (BotSpec(name, (), place="person", time=NO_CLOCK) for name in ("@ann", "@ben"))


def _seat(hand: Hand, idle_s: float = 60.0) -> PersonSeat:
    return PersonSeat(ANN, BotLimits(), hand, idle_s)


def test_a_decision_for_another_ply_is_not_taken() -> None:
    hand = Hand()
    hand.give(Decision(2, "b1b3"))
    with pytest.raises(BotError) as raised:
        _seat(hand, 0.0).think(b"position startpos moves a1a2\ngo none 0", None)
    assert raised.value.termination is Termination.RESIGNED
    assert "no move for 0 minutes" in raised.value.detail
    thought = _seat(hand).think(b"position fen 8/8 b - 1 moves a1a2 b1b2\ngo none 0", None)
    assert (thought.move, thought.offer) == ("b1b3", None)


def test_resigning_is_for_every_ply_and_a_clock_ends() -> None:
    hand = Hand()
    hand.give(Decision(0, None, "resign"))
    assert _seat(hand).think(b"position startpos moves a1a2", 1000.0).offer == "resign"
    with pytest.raises(BotError, match="no move in time"):
        _seat(hand).think(b"position startpos", 0.0)


def test_who_waits_is_told_that_the_game_is_called_off() -> None:
    hand = Hand()
    threading.Thread(target=hand.call_off).start()
    with pytest.raises(Stopped):
        _seat(hand).think(b"position startpos", None)


def _play(decisions: dict[str, list[Decision]], played: list[tuple[str, Ply]], **spec: object):
    hands = {name: Hand() for name in ("@ann", "@ben")}
    roster = Roster(open_sandbox("none"))
    roster.elsewhere["person"] = lambda who, limits: PersonSeat(who, limits, hands[who.name], 5.0)

    def give(number: int, move: str, ply: Ply) -> None:
        for name, waiting in decisions.items():
            if waiting and waiting[0].ply == number:
                hands[name].give(waiting.pop(0))

    for name, waiting in decisions.items():
        if waiting and waiting[0].ply == len(played):
            hands[name].give(waiting.pop(0))
    given = {"family": "loa", "variant": "standard", "first": ANN, "second": BEN, "time": NO_CLOCK} | spec
    game = PlannedGame("ab" * 8, GameSpec(**given))  # type: ignore[arg-type]
    return play(game, roster, give, played)


def test_an_interrupted_game_goes_on_from_its_plies_and_clocks() -> None:
    """The first side had used all but a moment of its clock before; its next move comes too late."""
    control = TimeControl("clock", 1000, 0)
    spent = [("b1b3", Ply(995.0, 995.0)), ("a4c4", Ply(10.0, 10.0))]
    first, second = (BotSpec(name, (), place="person", time=control) for name in ("@ann", "@ben"))
    record = _play({"@ann": [], "@ben": []}, spent, first=first, second=second, limits=BotLimits(margin_ms=0))
    assert (record.winner, record.termination) == ("second", Termination.TIME)
    assert record.moves == ("b1b3", "a4c4")
    assert [ply.charged_ms for ply in record.plies] == [995.0, 10.0]
    assert record.time == "1+0"


def test_two_offers_in_a_row_are_a_draw() -> None:
    decisions = {"@ann": [Decision(0, "b1b3", "draw")], "@ben": [Decision(1, "a4c4", "draw")]}
    record = _play(decisions, [])
    assert (record.winner, record.termination) == ("draw", Termination.DRAW_AGREED)
    assert record.time == "none"
    assert read_time_controls("none v 1/move") == (NO_CLOCK, TimeControl("movetime", 1000, 0))
