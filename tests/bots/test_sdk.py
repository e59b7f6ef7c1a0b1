"""The SDK: stop, quit and the end of the input while thinking, draws, errors of the author's, what is replayed."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from bots.sdk import families
from bots.sdk.game_state import GameState, declarations
from protocol.negotiation import Agreement
from protocol.options import OptionDecl, parse_option
from referee import rules
from referee.play.player import negotiate_options
from referee.rules.core import ParseError, UnknownNameError
from referee.rules.position import IllegalMoveError, Position
from referee.rules.rules import Option, Ruleset
from tests.bots.driver import DEADLINE_S, ROOT, Driver

STALL_S = 20.0
"""Longer than a busy machine holds up an answer; without its clock, or by the other's, a bot would take longer."""
SLOWPOKE = [sys.executable, str(Path(__file__).with_name("slowpoke.py"))]


def test_stop_is_answered_at_once_and_isready_while_thinking() -> None:
    with Driver(SLOWPOKE) as bot:
        bot.shake_hands()
        bot.send("position startpos", "go infinite")
        assert bot.expect("info").startswith("info depth 1 score cp 7 time ")
        bot.send("isready", "isready")
        bot.expect("readyok")
        bot.expect("readyok")
        began = time.monotonic()
        bot.send("stop")
        assert bot.expect("bestmove") == "bestmove g8g6"
        assert time.monotonic() - began < STALL_S
        assert "this goes to the log" in bot.errors()


def test_a_stop_that_comes_with_the_go_counts_and_a_late_one_does_not() -> None:
    with Driver(SLOWPOKE) as bot:
        bot.shake_hands()
        bot.send("position startpos", "go infinite", "stop", "stop", "stop")
        bot.expect("bestmove")
        began = time.monotonic()
        bot.send("go movetime 400")
        bot.expect("bestmove")
        assert time.monotonic() - began > 0.15  # at least half of its time, whatever it keeps in reserve


def test_the_clock_is_kept_without_being_asked() -> None:
    with Driver(SLOWPOKE) as bot:
        bot.shake_hands()
        began = time.monotonic()
        bot.ask("startpos", "p1time 20000 p2time 1 p1inc 50 p2inc 0")
        assert time.monotonic() - began < STALL_S
        began = time.monotonic()
        bot.ask("startpos moves b1b3", "p1time 1000000 p2time 1 p1inc 0 p2inc 0")
        assert time.monotonic() - began < STALL_S


def test_quit_while_thinking_ends_the_process() -> None:
    with Driver(SLOWPOKE) as bot:
        bot.shake_hands()
        bot.send("position startpos", "go infinite")
        bot.expect("info")
        assert bot.leave() == 0


def test_quit_ends_a_bot_that_does_not_listen() -> None:
    with Driver(SLOWPOKE) as bot:
        bot.shake_hands()
        bot.send("setoption name Mood value deaf", "position startpos", "go movetime 1")
        bot.expect("info")
        assert bot.leave() == 0


def test_the_end_of_the_input_is_a_quit_that_waits_for_the_answer() -> None:
    script = "ugi\nposition startpos\ngo movetime 100\nposition startpos moves b1b3\ngo movetime 100\n"
    done = subprocess.run(
        SLOWPOKE, input=script, capture_output=True, text=True, timeout=DEADLINE_S, cwd=ROOT, check=True
    )
    assert done.stdout.count("bestmove") == 2


def test_offers_resignations_and_the_result() -> None:
    with Driver(SLOWPOKE) as bot:
        bot.shake_hands()
        bot.send("setoption name Mood value drawish", "position startpos", "go movetime 2")
        assert bot.expect("bestmove") == "bestmove g8g6 draw"
        bot.send("setoption name Mood value gloomy", "go movetime 2")
        assert bot.expect("bestmove") == "bestmove resign"
        bot.send("setoption name Mood value furious")
        assert "calm" in bot.expect("info string error")
        bot.send("result p2win resigned")
        assert bot.leave() == 0
        assert "over: p2win resigned" in bot.errors()


@pytest.mark.parametrize(("mood", "said"), [("broken", "a mistake of the author's"), ("wrong", "illegal move 'a1a2'")])
def test_a_mistake_in_the_bot_is_not_hidden(mood: str, said: str) -> None:
    with Driver(SLOWPOKE) as bot:
        bot.shake_hands()
        bot.send(f"setoption name Mood value {mood}", "position startpos", "go movetime 2")
        while bot.line() is not None:
            pass
        assert bot.process.wait(DEADLINE_S) == 1
        assert said in bot.errors()


def test_ugi_is_answered_before_anything_heavy_is_imported() -> None:
    imports = "import sys, bots.sdk, bots.samples.random_mover, bots.samples.alphabeta"
    script = f"{imports}; print(*{{'numpy', 'numba'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert not done.stdout.split()
    imports = "import sys; from bots.sdk.game_state import GameState"
    script = f"{imports}; GameState('loa').declarations(); print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.split() == ["False"]


def test_a_family_the_bot_does_not_play_is_refused_on_the_command_line() -> None:
    done = subprocess.run([*SLOWPOKE, "--family", "tablut"], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 2
    assert "loa" in done.stderr


def test_the_families_are_those_of_the_rules() -> None:
    assert families() == rules.families()


def test_every_line_of_any_length_is_read() -> None:
    moves = " ".join(["b1b3", "h4f4", "b3b1", "f4h4"] * 500)
    with Driver(SLOWPOKE) as bot:
        bot.shake_hands()
        bot.send("setoption name Rule.repetition value 0", f"position startpos moves {moves}", "go movetime 1")
        assert bot.expect("bestmove", 60)
        bot.send("position startpos moves " + "b1b3 " * 300_000, "isready")
        assert "1048576 are allowed" in bot.expect("info string error")
        bot.expect("readyok")


def test_only_what_is_new_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    table = GameState("loa")
    line: list[str] = []
    position = table.start()
    while len(line) < 6:
        line.append(position.texts[len(position.texts) // 2])
        position = position.play(line[-1])
    played: list[int | str] = []
    play = Position.play
    monkeypatch.setattr(Position, "play", lambda self, move: played.append(move) or play(self, move))
    assert str(table.follow(None, line[:4])) == str(table.start().play_all(line[:4]))
    played.clear()
    assert str(table.follow(None, line)) == str(position)
    assert played == line[4:]
    assert table.follow(None, line[:2]).repeats == (1, 0)
    assert played == line[4:]
    assert str(table.follow(None, [*line[:1], *line[1:]])) == str(position)
    assert played == line[4:] + line[2:]
    with pytest.raises((IllegalMoveError, ParseError)):
        table.follow(None, [*line, "nonsense"])
    assert table.position is None
    assert str(table.follow(None, line)) == str(position)


@pytest.mark.parametrize("family", families())
def test_every_option_announced_can_be_set(family: str) -> None:
    for option in GameState(family).declarations():
        table = GameState(family)
        for value in option.values or {"spin": (str(option.default),), "check": ("true", "false")}.get(option.type, ()):
            table.set_option(option.name, value)
            table.start()


@pytest.mark.parametrize("family", families())
def test_every_variant_starts_where_the_rules_say(family: str) -> None:
    table = GameState(family)
    for variant in table.rules.variants:
        table.set_option("Variant", variant.name)
        ruleset = table.rules.settle(variant.name)
        assert str(table.start()) == str(Position.start(ruleset))
        assert table.ruleset.values == ruleset.values
    with pytest.raises(UnknownNameError):
        table.set_option("Variant", "none such")
    table.reset()
    assert table.ruleset.variant == table.rules.variants[0]


def values_of(option: Option) -> list[str | int | bool]:
    """All values of a rule that can be told apart, the ends of a range among them."""
    if option.type == "check":
        return [True, False]
    if option.type == "combo":
        return list(option.values)
    return [option.minimum, int(option.default), min(option.maximum, 7)]


def rulesets(family: str) -> list[Ruleset]:
    """Every variant by its own rules, and the first variant with each rule changed."""
    known = rules.load(family)
    found = [known.settle(variant.name) for variant in known.variants if not variant.is_dealt]
    changed = [{option.name: value} for option in known.options for value in values_of(option)]
    return found + [known.settle(None, one) for one in changed]


@pytest.mark.parametrize("family", families())
@pytest.mark.parametrize("playable", [families(), ()], ids=["all-families", "one-family"])
def test_declarations_any_rules_of_a_family_are_negotiated_and_played(family: str, playable: tuple[str, ...]) -> None:
    lines = [str(option) for option in declarations(playable or (family,))]
    options = {option.name: option for option in map(parse_option, lines)}
    for ruleset in rulesets(family):
        plan = negotiate_options(options, playable, ruleset)
        assert isinstance(plan, Agreement), plan
        table = GameState(family)
        for setting in plan.setoptions:
            table.set_option(setting.name, setting.value or "")
        assert table.ruleset.values == ruleset.values
        assert str(table.start() if plan.use_startpos else Position.start(ruleset)) == str(Position.start(ruleset))


def test_declarations_default_stands_only_where_the_families_agree() -> None:
    found = {option.name: option for option in declarations(("abalone", "loa"))}
    assert found["Rule.no_moves"] == OptionDecl("Rule.no_moves", "combo", None, values=("loss", "draw", "pass"))
    assert found["Rule.repetition"].default == "3"
    assert found["Rule.simultaneous"].default == "draw"
    assert declarations(("loa",)) == GameState("loa").declarations()


def test_a_bot_of_all_families_ignores_rules_of_another_but_not_unknown_ones() -> None:
    with Driver([sys.executable, "-m", "bots.samples.random_mover"]) as bot:
        bot.shake_hands()
        bot.send("setoption name Family value loa", "setoption name Rule.king_max_step value 4")
        bot.send("setoption name Rule.none_such value 4")
        assert "none_such" in bot.expect("info string error")
        bot.send("setoption name Rule.simultaneous value nobody")
        assert "nobody" in bot.expect("info string error")


def test_a_variant_brings_its_own_rules() -> None:
    table = GameState("loa")
    table.set_option("Rule.simultaneous", "mover")
    assert table.ruleset.values["simultaneous"] == "mover"
    table.set_option("Variant", "scrambled-eggs")
    assert table.ruleset.values["simultaneous"] == "draw"


def test_declarations_of_a_bot_with_few_variants_and_rules_name_only_these() -> None:
    named = {option.name: option for option in declarations(("tablut",), ("linnaeus", "bell"), {"goal": ["edge"]})}
    assert named == {
        "Variant": OptionDecl("Variant", "combo", "linnaeus", values=("linnaeus", "bell")),
        "Rule.goal": OptionDecl("Rule.goal", "combo", "edge", values=("edge",)),
    }
    assert [option.name for option in declarations(("loa",), rules={})] == ["Variant"]
