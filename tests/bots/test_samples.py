"""The sample bots in every family: legal moves, limits kept exactly, the same move in the same game, some strength."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from bots.samples.alphabeta import AlphaBeta
from bots.samples.greedy import Greedy
from bots.samples.mcts import MonteCarlo
from bots.samples.random_mover import RandomMover, draw_below, draw_bits
from bots.sdk import Bot, Clock, families
from protocol.messages import Go
from referee.game.spec import Adjudication, BotLimits, BotSpec, GameSpec, PlannedGame, TimeControl
from referee.play.play import play
from referee.play.roster import Roster
from referee.rules import load
from referee.rules.core import other
from referee.rules.position import Position
from referee.sandbox import Sandbox
from tests.bots.driver import ROOT, Driver, sample

SAMPLES: dict[str, type[Bot]] = {
    "random_mover": RandomMover,
    "greedy": Greedy,
    "alphabeta": AlphaBeta,
    "mcts": MonteCarlo,
}
NODES = 400
PLIES = 14

FAMILIES = families()


class Told:
    """A bot's `info`, kept."""

    def __init__(self, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
        self.said: list[dict[str, object]] = []
        monkeypatch.setattr(bot, "info", lambda **facts: self.said.append(facts))


def choose(bot: Bot, position: Position, go: Go) -> int:
    move = bot.choose(position, Clock(go, 0 if position.side == "first" else 1))
    assert isinstance(move, int)
    return move


def opening(family: str, seed: int, plies: int) -> Position:
    """A position some random plies into a game that goes on."""
    for attempt in itertools.count(seed * 1000):
        position = Position.start(load(family).settle())
        while position.moves and len(line_of(position)) < plies:
            position = position.play(position.moves[draw_below(position, attempt, len(position.moves))])
        if position.moves:
            return position
    raise AssertionError


def line_of(position: Position) -> list[str]:
    found = []
    while position.previous is not None and position.move is not None:
        found.append(position.ruleset.rules.notation.write_move(position.move))
        position = position.previous
    return found[::-1]


@pytest.mark.parametrize("name", SAMPLES)
def test_every_move_is_legal_and_the_same_in_another_process(name: str) -> None:
    """One process plays both sides in every family; then the games are gone through again here, last first."""
    games: dict[str, list[Position]] = {}
    with Driver(sample(name)) as bot:
        bot.shake_hands()
        for family in FAMILIES:
            bot.ready(f"setoption name Family value {family}", "uginewgame")
            position, games[family] = Position.start(load(family).settle()), []
            while position.moves and len(games[family]) < PLIES:
                line = " ".join(line_of(position))
                move = bot.ask(f"startpos moves {line}" if line else "startpos", f"nodes {NODES}")
                assert move in position.texts
                position = position.play(move)
                games[family].append(position)
        assert bot.leave() == 0
        assert not bot.errors()
    again = SAMPLES[name]()
    for family in reversed(FAMILIES):
        for after in games[family][::-3]:
            assert after.previous is not None
            assert choose(again, after.previous, Go(nodes=NODES)) == after.move, f"{family} {after.previous}"


@pytest.mark.parametrize("family", ["loa", "baroque"])  # the latter settles its leaves
def test_a_limit_of_nodes_is_exact(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    position = opening(family, 1, 4)
    for bot in (AlphaBeta(), MonteCarlo()):
        told = Told(bot, monkeypatch)
        for nodes in (1, 2, 37, 1000):
            told.said.clear()
            choose(bot, position, Go(nodes=nodes))
            assert all(int(str(facts["nodes"])) <= nodes for facts in told.said)
            if isinstance(bot, AlphaBeta):
                assert int(bot._search_state.work[bot._search.NODES]) <= nodes
            else:
                assert told.said[-1]["nodes"] == nodes


def test_the_option_nodes_is_a_limit_too(monkeypatch: pytest.MonkeyPatch) -> None:
    position = opening("tablut", 1, 4)
    for bot in (AlphaBeta(), MonteCarlo()):
        told = Told(bot, monkeypatch)
        bot._values["Nodes"] = "300"
        moves = {choose(bot, position, go) for go in (Go(nodes=300), Go(nodes=9000), Go(movetime=60_000))}
        assert len(moves) == 1
        assert all(int(str(facts["nodes"])) <= 300 for facts in told.said)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_limit_of_depth_is_kept(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    position, bot = opening(family, 2, 3), AlphaBeta()
    told = Told(bot, monkeypatch)
    moves = {depth: choose(bot, position, Go(depth=depth)) for depth in (1, 2, 3, 2, 1)}
    assert [facts["depth"] for facts in told.said] == [1, 1, 2, 1, 2, 3, 1, 2, 1]
    assert set(moves.values()) <= set(position.moves)
    assert told.said[1] == told.said[3], "the same search gives the same score and the same nodes"


def winning_move(position: Position) -> int | None:
    for move in position.moves:
        outcome = position.play(move).outcome
        if outcome is not None and outcome.winner == position.side:
            return move
    return None


@pytest.mark.parametrize("family", FAMILIES)
def test_a_win_is_taken_and_a_loss_avoided(family: str) -> None:
    """Games of the greedy bot against chance: where there is a win at once, every bot that looks at the board wins."""
    bots: list[Bot] = [Greedy(), AlphaBeta(), MonteCarlo()]
    wins = 0
    for seed in range(2):
        position = opening(family, seed, 2)
        while position.outcome is None and winning_move(position) is None:
            mover = bots[0] if position.side == ("first", "second")[seed % 2] else RandomMover()
            position = position.play(choose(mover, position, Go(depth=1)))
        if position.outcome is not None:
            continue
        wins += 1
        for bot in bots:
            after = position.play(choose(bot, position, Go(nodes=3000)))
            assert after.outcome is not None, f"{bot.name} in {position}"
            assert after.outcome.winner == position.side, f"{bot.name} in {position}"
        before = position.previous
        if before is None or before.outcome is not None:
            continue
        saved = [move for move in before.moves if winning_move(before.play(move)) is None]
        if saved and len(before.moves) < 60:
            for bot in (Greedy(), AlphaBeta()):
                after = before.play(choose(bot, before, Go(depth=2)))
                assert winning_move(after) is None, f"{bot.name} in {before}"
    assert wins


def points(bot: Bot, rival: Bot, family: str, openings: int, go: Go, plies: int = 2) -> float:
    """Points of `bot`: each opening is played with both sides."""
    score = 0.0
    for seed in range(openings):
        for side in ("first", "second"):
            position = opening(family, seed, plies)
            played = 0
            while position.outcome is None and played < 400:
                position = position.play(choose(bot if position.side == side else rival, position, go))
                played += 1
            winner = position.outcome.winner if position.outcome is not None else "draw"
            score += 1.0 if winner == side else 0.5 if winner == "draw" else 0.0
    return score


@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_beats_random(family: str) -> None:
    assert points(Greedy(), RandomMover(), family, 5, Go(depth=1)) >= 9


@pytest.mark.parametrize("family", ["loa", "abalone", "pijersi"])
def test_alphabeta_beats_greedy(family: str) -> None:
    assert points(AlphaBeta(), Greedy(), family, 2, Go(nodes=8000), plies=0) >= 3


def test_infinite_is_searched_until_stop() -> None:
    for name in ("alphabeta", "mcts"):
        with Driver(sample(name, "--family", "loa")) as bot:
            bot.shake_hands()
            bot.send("position startpos", "go infinite", "isready")
            bot.expect("readyok")
            bot.send("stop")
            move = bot.expect("bestmove ").split()[1]
            assert move in Position.start(load("loa").settle()).texts


def test_a_thousand_milliseconds_and_fifty_more_a_move_are_enough() -> None:
    """Alpha-beta against itself: all moves keep to the clock but the slowest, which may have been held up."""
    first, second = (BotSpec(name, tuple(sample("alphabeta", "--family", "loa")), str(ROOT)) for name in ("one", "two"))
    spec = GameSpec(
        "loa",
        "standard",
        first,
        second,
        time=TimeControl("clock", 1000, 50),
        limits=replace(BotLimits(), start_ms=60_000, ready_ms=200_000, margin_ms=60_000),
        adjudication=Adjudication(max_plies=40),
    )
    with Roster(Sandbox("none")) as roster:
        record = play(PlannedGame.of(spec), roster)
    assert record.kind in ("rules", "adjudication"), record.detail
    for side in (0, 1):
        charged_ms = [ply.charged_ms for ply in record.plies[side::2]]
        charged_ms.remove(max(charged_ms))
        for count in range(1, len(charged_ms) + 1):
            assert sum(charged_ms[:count]) <= 1000 + 50 * (count - 1), charged_ms


def test_a_repetition_is_seen_coming() -> None:
    """A bot that is ahead does not let the game be drawn by repetition, one that is behind seeks it."""
    ruleset = load("loa").settle(options={"repetition": 2})
    position = Position.start(ruleset).play_all(["b1b3", "h4f4", "b3b1"])
    bot = AlphaBeta()
    bot._values["Contempt"] = "10000"
    assert position.play(choose(bot, position, Go(nodes=2000))).outcome is None
    assert position.play("f4h4").outcome is not None


def test_numbers_drawn_depend_on_the_line_alone() -> None:
    position = opening("loa", 5, 4)
    again = Position.start(position.ruleset).play_all(line_of(position))
    assert draw_bits(position, 7) == draw_bits(again, 7)
    assert draw_bits(position, 8) != draw_bits(again, 7)
    assert draw_bits(Position.start(position.ruleset, str(position)), 7) != draw_bits(position, 7)
    assert other(position.side) != position.side
