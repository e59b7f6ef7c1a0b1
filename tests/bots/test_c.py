"""The sample bot in C, built with whatever compiler there is: its moves are legal under every rule, its limits kept."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.rules import load
from referee.rules.position import Position
from tests.bots.compilers import build_loa_bot, works
from tests.bots.driver import ROOT, Driver

VARIANTS = ("standard", "scrambled-eggs", "loa12", "blackhole9", "blackhole9-scrambled")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build_loa_bot(tmp_path_factory.mktemp("bot"))


@pytest.fixture
def bot(program: str) -> Iterator[Driver]:
    with Driver([program]) as driver:
        yield driver


def test_it_announces_what_the_rules_have(bot: Driver) -> None:
    said = bot.shake_hands()
    assert "id family loa" in said
    for option in load("loa").options:
        line = next(line for line in said if f"option name Rule.{option.name} " in line)
        assert f"default {option.default}" in line
        assert all(f"var {value}" in line for value in option.values)
    assert any(all(f"var {name}" in line for name in VARIANTS) for line in said if "name Variant" in line)


@pytest.mark.parametrize("variant", VARIANTS)
def test_games_against_chance_are_legal_and_judged_alike(bot: Driver, variant: str) -> None:
    bot.shake_hands()
    for seed, options in enumerate(
        ({}, {"simultaneous": "mover", "no_moves": "loss", "repetition": 2, "max_plies": 30})
    ):
        chance = random.Random(seed)
        settings = [f"setoption name Rule.{name} value {value}" for name, value in options.items()]
        bot.ready(f"setoption name Variant value {variant}", *settings, "uginewgame")
        position, line = Position.start(load("loa").settle(variant, options)), "startpos"
        while position.outcome is None and line.count(" ") < 60:
            if len(line.split()) % 2:
                move = bot.ask(line, "p1time 5000 p2time 5000 p1inc 10 p2inc 10")
                assert move in position.texts, f"{move} in {position}"
            else:
                move = chance.choice(position.texts)
            line += f" {move}" if "moves" in line else f" moves {move}"
            position = position.play(move)
            bot.send(f"position {line}", "query gameover", "query p1turn", "query result")
            outcome = position.outcome
            assert bot.line() == f"response {'true' if outcome else 'false'}", str(position)
            assert bot.line() == f"response {'true' if position.side == 'first' else 'false'}"
            names = {"first": "p1win", "second": "p2win", "draw": "draw"}
            assert bot.line() == f"response {names[outcome.winner] if outcome else 'none'}", str(position)


def test_the_vectors_are_judged_alike(bot: Driver) -> None:
    import json

    bot.shake_hands()
    told: dict[str, object] = {option.name: option.default for option in load("loa").options}
    entries = json.loads((ROOT / "tests" / "data" / "vectors" / "loa.json").read_text(encoding="utf-8"))["positions"]
    checked = 0
    for entry in entries:
        if entry["variant"] == "zen":
            continue
        checked += 1
        values = {option.name: option.default for option in load("loa").options} | entry.get("options", {})
        changes = [f"setoption name Rule.{name} value {value}" for name, value in values.items() if told[name] != value]
        told = values
        bot.ready(f"setoption name Variant value {entry['variant']}", *changes)
        bot.send(f"position fen {entry['position']}", "query result", "go depth 1")
        result = entry["result"]
        expected = {"first": "p1win", "second": "p2win", "draw": "draw"}[result["winner"]] if result else "none"
        assert bot.expect("response") == f"response {expected}", entry
        move = bot.expect("bestmove").split()[1]
        assert move in entry["legal_moves"] if entry["legal_moves"] else move == "------", entry
    assert checked > 20


def test_the_same_position_gives_the_same_move(bot: Driver) -> None:
    bot.shake_hands()
    lines = ["startpos", "startpos moves b1b3", "startpos moves b1b3 h4f2 d1d3"]
    first = [bot.ask(line, f"nodes {nodes}") for line in lines for nodes in (1, 100, 1000)]
    bot.send("uginewgame")
    again = [bot.ask(line, f"nodes {nodes}") for line in reversed(lines) for nodes in (1000, 100, 1)]
    assert first == again[::-1]


def test_it_stops_answers_while_thinking_and_leaves(bot: Driver) -> None:
    bot.shake_hands()
    bot.send("position startpos", "go infinite", "isready")
    bot.expect("readyok", 5)
    bot.send("stop")
    bot.expect("bestmove", 5)
    bot.send("setoption name Depth value 16", "go depth 16", "isready")
    bot.expect("readyok", 5)
    assert bot.leave() == 0


def test_nonsense_is_said_and_survived(bot: Driver) -> None:
    bot.send(
        "",
        "stop",
        "hello",
        "go",
        "x" * 200_000,
        "position fen 8/8",
        "go depth 1",
        "setoption",
        "position",
        "go nodes x",
    )
    bot.send("setoption name Variant value zen", "setoption name Rule.repetition value 1", "query weather")
    bot.send("position startpos moves b1b3 b1b3", "go movetime -5", "ugi", "position startpos", "go movetime 10")
    bot.expect("ugiok", 20)
    assert sum("error" in line for line in bot.seen) >= 6
    assert bot.expect("bestmove") != "bestmove ------"
    assert bot.leave() == 0


def test_the_end_of_the_input_ends_it_after_the_answer(program: str) -> None:
    script = "ugi\nposition startpos\ngo depth 2\nposition startpos moves b1b3\ngo depth 2\n"
    done = subprocess.run([program], input=script, capture_output=True, text=True, timeout=500, check=True)
    assert done.stdout.count("bestmove") == 2
    assert subprocess.run([program], input="", capture_output=True, timeout=500, check=True).stdout == b""


def test_the_header_alone_compiles_without_a_warning(tmp_path: Path) -> None:
    if not works("cc"):
        pytest.skip("no C compiler `cc` here")
    source = tmp_path / "alone.c"
    source.write_text('#include "ugi.h"\nint main(void) { return 0; }\n')
    header = ROOT / "bots" / "examples" / "loa"
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{header}"]
    subprocess.run(["cc", *flags, "-c", str(source), "-o", str(tmp_path / "alone.o")], check=True, timeout=500)
