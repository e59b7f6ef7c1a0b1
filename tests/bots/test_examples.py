"""The sample bots in C++, JavaScript, Rust and Java: every move legal, wins taken, nonsense survived."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from referee.rules import load
from referee.rules.position import Position
from tests.bots.compilers import build
from tests.bots.driver import Driver


@pytest.fixture(scope="module", params=["cpp", "javascript", "rust", "java"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return build(request.param, tmp_path_factory.mktemp("example"))


@pytest.fixture
def bot(program: list[str]) -> Iterator[Driver]:
    with Driver(program) as driver:
        said = driver.shake_hands()
        assert "id family loa" in said
        yield driver


def test_games_against_chance_are_legal_and_won(bot: Driver) -> None:
    wins = 0
    for seed in range(6):
        chance, line = random.Random(seed), "startpos"
        position, side = Position.start(load("loa").settle()), ("first", "second")[seed % 2]
        bot.ready("uginewgame")
        while position.outcome is None and line.count(" ") < 300:
            move = chance.choice(position.texts) if position.side != side else bot.ask(line, "p1time 900 p2time 900")
            assert move in position.texts, f"{move} in {position}"
            line += f" {move}" if "moves" in line else f" moves {move}"
            position = position.play(move)
        wins += position.outcome is not None and position.outcome.winner == side
    assert wins >= 5
    assert bot.leave() == 0


def test_positions_are_read_and_wins_taken(bot: Driver) -> None:
    """A pass where nothing moves, a win at once, and positions in the middle of games with moves behind them."""
    chance, rules = random.Random(1), load("loa").settle()
    for seed in range(40):
        position = Position.start(rules)
        for _ in range(20 + 2 * seed):
            if position.outcome is None:
                position = position.play(chance.choice(position.texts))
        if position.outcome is not None:
            continue
        reply = chance.choice(position.texts)
        assert bot.ask(f"fen {position}", "movetime 100") in position.texts, str(position)
        after = position.play(reply)
        if after.outcome is None:
            move = bot.ask(f"fen {position} moves {reply}", "nodes 1")
            wins = {text for text in after.texts if won(after, text)}
            assert move in (wins or after.texts), str(after)


def won(position: Position, move: str) -> bool:
    outcome = position.play(move).outcome
    return outcome is not None and outcome.winner == position.side


def test_nonsense_is_said_and_survived(bot: Driver) -> None:
    bot.send("", "hello", "position fen 8/8 b", "go", "position startpos moves a1a2", "go depth 1", "setoption", "stop")
    bot.send("position fen 9/8/8/8/8/8/8/8 b", "position", "position startpos moves b1b3", "go movetime 1")
    while bot.expect("bestmove ") == "bestmove ------":
        pass
    assert sum("error" in line for line in bot.seen) >= 3
    assert bot.leave() == 0


def test_the_end_of_the_input_ends_it(program: list[str]) -> None:
    with Driver(program) as bot:
        bot.stdin.close()
        assert bot.process.wait(60) == 0
