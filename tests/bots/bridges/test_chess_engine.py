"""Engines that speak UCI or the XBoard protocol play variants of our families; bad ones end precisely."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from bots.bridges import chess_engine, xboard
from bots.bridges.chess_engine import ChessEngine, chess_families
from bots.bridges.failure import BridgeError, BridgeExit
from bots.bridges.uci import UciEngine
from bots.bridges.xboard import XboardEngine
from bots.sdk.clock import Clock
from protocol.messages import Go
from referee.game.spec import TimeControl
from referee.rules import load
from referee.rules.position import Position
from tests.bots.bridges.table import HERE, LIMITS, bridge, honest, meet

PROTOCOLS = ("uci", "xboard")
LOA = Position.start(load("loa").settle())
LINNAEUS = Position.start(load("tablut").settle("linnaeus"))
FEN = "1nnnnnn1/N6N/N6N/N6N/N6N/N6N/N6N/1nnnnnn1 b - - 0 1"
STUCK = "6bw/6bb/8/8/8/8/bb6/wb6 w - 20"
"""White, to move, has no move."""
SECOND = Go(movetime=1000)
both = pytest.mark.parametrize("protocol", PROTOCOLS)


def command(protocol: str, log: Path, *words: str) -> list[str]:
    return [sys.executable, "-S", "-E", str(HERE / "chess_player.py"), protocol, str(log), *words]


@pytest.fixture
def engine(tmp_path: Path):
    """Start engines that play these words; `told` are the lines that they have read, `again` those since."""
    started: list[ChessEngine] = []
    log = tmp_path / "log"

    def start(protocol: str, *words: str, family: str = "loa", **more: object) -> ChessEngine:
        kind = UciEngine if protocol == "uci" else XboardEngine
        bot = kind(command(protocol, log, *words), family, **more)  # type: ignore[arg-type]
        started.append(bot)
        return bot

    def told() -> list[str]:
        return log.read_text(encoding="utf-8").splitlines()

    yield SimpleNamespace(start=start, told=told)
    for bot in started:
        bot.close()


def moved(bot: ChessEngine, position: Position, go: Go = SECOND) -> str:
    """Return the text of the move that the bot chooses."""
    code = bot.choose(position, Clock(go, 0))
    assert code is not None
    return position.ruleset.rules.notation.write_move(code)


def problem(bot: ChessEngine, position: Position = LOA) -> BridgeError:
    with pytest.raises(BridgeError) as error:
        bot.choose(position, Clock(SECOND, 0))
    return error.value


@pytest.mark.parametrize("option", ["=5", "Hash", "Hash=", "="])
def test_an_option_without_name_or_value_is_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=str(int(BridgeExit.USAGE))):
        xboard.main(["--family", "loa", "--option", option, "--", "true"])
    assert f"invalid --option {option!r}: expected NAME=VALUE" in capsys.readouterr().err


@both
def test_an_engine_plays_a_game(protocol: str, tmp_path: Path) -> None:
    words = ("--family", "loa", "--", *command(protocol, tmp_path / "log", "b1b3", "d1a4"))
    record = meet(bridge(protocol, *words), honest("h4f2", "resign"), "loa")
    assert (record.winner, record.termination) == ("first", "resigned"), (record.detail, record.logs)
    assert record.moves[:3] == ("b1b3", "h4f2", "d1a4")
    assert any("linesofaction-draw" in line for line in (tmp_path / "log").read_text().splitlines())


def test_the_variant_of_the_engine_follows_the_rules_of_the_game(tmp_path: Path) -> None:
    words = ("--family", "loa", "--", *command("uci", tmp_path / "log", "b1b3"))
    rules = [("simultaneous", "mover")]
    announced = ("--option", "option name Rule.simultaneous type combo default draw var draw var mover")
    against = honest(*announced, "resign")
    record = meet(bridge("uci", *words), against, "loa", options=rules)  # type: ignore[arg-type]
    assert record.winner == "first", (record.detail, record.logs)
    ends = [line for line in (tmp_path / "log").read_text().splitlines() if line.endswith(" linesofaction")]
    assert len(ends) == 1


def test_uci_is_told_the_game_by_its_start_and_moves(engine: SimpleNamespace) -> None:
    bot = engine.start("uci", "b1b3", "a2c2", "e8e6")
    assert moved(bot, LOA) == "b1b3"
    moved(bot, LOA.play("b1b3"))
    other = Position.start(LOA.ruleset, "1bbbbbb1/w6w/w6w/w6w/w6w/w6w/w6w/1bbbbb2 b - 3")
    moved(bot, other.play_all(["b1b3", "a2c2"]))
    asked = [line for line in engine.told() if line.startswith(("position", "setoption"))]
    start = FEN.replace("1nnnnnn1 b", "1nnnnn2 b")
    assert asked == [
        "setoption name UCI_Variant value linesofaction-draw",
        "position startpos",
        "position startpos moves b1b3",
        f"position fen {start} moves b1b3 a2c2",
    ]


@pytest.mark.parametrize(
    ("go", "side", "words"),
    [
        (Go(movetime=700), 0, "movetime 700"),
        (Go(p1time=900, p2time=800, p1inc=70, p2inc=60), 0, "wtime 800 btime 900 winc 70 binc 70"),
        (Go(p1time=900, p2time=800, p1inc=70, p2inc=60), 1, "wtime 800 btime 900 winc 60 binc 60"),
        (Go(depth=3), 0, "depth 3"),
        (Go(nodes=99), 0, "nodes 99"),
        (Go(movetime=700, depth=3, nodes=99), 0, "depth 3 nodes 99 movetime 700"),
    ],
)
def test_uci_is_told_the_limits_of_its_colour(engine: SimpleNamespace, go: Go, side: int, words: str) -> None:
    bot, position = engine.start("uci", "b1b3" if side == 0 else "a2c2"), LOA if side == 0 else LOA.play("b1b3")
    bot.choose(position, Clock(go, side))
    assert f"go {words}" in engine.told()


@pytest.mark.parametrize(
    ("go", "lines"),
    [
        (Go(movetime=700), ["level 1 0:01 0", "time 70", "otim 70"]),
        (Go(movetime=90_000), ["level 1 1:30 0", "time 9000", "otim 9000"]),
        (Go(p1time=61_500, p2time=800, p1inc=1900), ["level 0 1:02 1", "time 6150", "otim 80"]),
        (Go(depth=3), ["level 0 60:00 0", "sd 3", "time 360000", "otim 360000"]),
    ],
)
def test_xboard_is_told_its_time_in_its_units(engine: SimpleNamespace, go: Go, lines: list[str]) -> None:
    engine.start("xboard", "b1b3").choose(LOA, Clock(go, 0))
    assert [line for line in engine.told() if line.startswith(("level", "sd", "time", "otim"))] == lines


def test_xboard_is_told_only_the_moves_that_it_does_not_know(engine: SimpleNamespace) -> None:
    bot = engine.start("xboard", "b1b3", "d1a4", "b1b3")
    assert moved(bot, LOA) == "b1b3"
    assert moved(bot, LOA.play_all(["b1b3", "h4f2"])) == "d1a4"
    told = engine.told()
    first, second = (at for at, line in enumerate(told) if line == "go")
    assert told[first + 1 : second] == ["force", "force", "usermove h4f2", "time 100", "otim 100"]
    setup = [told.index(line) for line in ("easy", "variant linesofaction-draw", f"setboard {FEN}", "go")]
    assert setup == sorted(setup)
    bot.new_game()
    before = len(engine.told())
    moved(bot, LOA)
    assert "new" in engine.told()[before:]


def test_xboard_is_told_another_game_from_its_start(engine: SimpleNamespace) -> None:
    bot = engine.start("xboard", "b1b3", "a2c2")
    moved(bot, LOA)
    before = len(engine.told())
    bot.choose(LOA.play_all(["c1c3"]), Clock(Go(movetime=1000), 1))
    assert f"setboard {FEN}" in engine.told()[before:]
    assert "usermove c1c3" in engine.told()[before:]


def test_an_xboard_engine_that_cannot_set_up_plays_from_the_start_alone(engine: SimpleNamespace) -> None:
    bot = engine.start("xboard", "habit=startpos", "b1b3", "a2c2")
    moved(bot, LOA)
    moved(bot, LOA.play("c1c3"))
    assert not [line for line in engine.told() if line.startswith("setboard")]
    assert engine.told().count("new") == 2
    other = Position.start(LOA.ruleset, "1bbbbbb1/w6w/w6w/w6w/w6w/w6w/w6w/1bbbbb2 b - 3")
    assert "no feature setboard" in str(problem(bot, other))


@pytest.mark.parametrize("habit", ["slow", "old"])
def test_an_xboard_engine_may_take_its_time_or_have_no_features(
    engine: SimpleNamespace, habit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xboard, "FEATURES_TIMEOUT_S", 0.1 if habit == "old" else 60.0)
    bot = engine.start("xboard", f"habit={habit}", "b1b3")
    assert moved(bot, LOA) == "b1b3"
    assert ("setboard" in "".join(engine.told())) is (habit == "slow")


@both
def test_an_engine_without_variants_plays_its_only_one(engine: SimpleNamespace, protocol: str) -> None:
    bot = engine.start(protocol, "habit=plain", "b1b3", "a2c2")
    other = Position.start(LOA.ruleset, "1bbbbbb1/w6w/w6w/w6w/w6w/w6w/w6w/1bbbbb2 b - 3")
    assert moved(bot, other) == "b1b3"
    assert any("1LLLLLL1/l6l/l6l/l6l/l6l/l6l/l6l/1LLLLL2 w - - 0 1" in line for line in engine.told())
    assert not any("linesofaction" in line for line in engine.told())


@both
def test_an_engine_without_the_variant_names_the_option(engine: SimpleNamespace, protocol: str) -> None:
    error = problem(engine.start(protocol, "b1b3", engine_variant="loa8"))
    assert error.code is BridgeExit.MISSING
    assert "has no variant loa8; say which it has: --engine-variant NAME" in str(error)
    bot = engine.start(protocol, "b1b3", engine_variant="chess")
    assert moved(bot, LOA) == "b1b3"
    assert any(line.endswith((" chess", "variant chess")) for line in engine.told())


@both
def test_options_are_set_before_the_variants_are_read_again(engine: SimpleNamespace, protocol: str) -> None:
    moved(engine.start(protocol, "b1b3", options=[("Hash", "64")]), LOA)
    verb, line = {
        "uci": ("uci", "setoption name Hash value 64"),
        "xboard": ("protover 2", "option Hash=64"),
    }[protocol]
    told = engine.told()
    assert told.count(verb) == 2
    assert told.index(verb) < told.index(line) < told.index(verb, told.index(line))


@both
def test_an_engine_by_other_rules_gets_each_position(engine: SimpleNamespace, protocol: str) -> None:
    bot = engine.start(protocol, "e6c6", family="tablut")
    assert moved(bot, LINNAEUS.play("d1d2")) == "e6c6"
    fen = "3rrr3/4r4/4R4/r3R3r/rrRRKRRrr/r3R3r/4R4/3rr4/4rr3 w - - 0 1"
    assert any(line.endswith(fen) for line in engine.told()), engine.told()


@both
def test_a_forced_pass_is_not_asked_for_and_the_game_goes_on_after_it(engine: SimpleNamespace, protocol: str) -> None:
    stuck = Position.start(LOA.ruleset, STUCK)
    after = stuck.play("pass")
    bot = engine.start(protocol, after.texts[0])
    assert moved(bot, stuck) == "pass"
    assert moved(bot, after) == after.texts[0]
    fen = f"{STUCK.split(' ', maxsplit=1)[0].translate(str.maketrans('bw', 'nN'))} b - - 0 1"
    assert any(line.endswith(fen) for line in engine.told())


@pytest.mark.parametrize(
    ("protocol", "words"),
    [("uci", "resign"), ("uci", "resigns"), ("xboard", "resign "), ("xboard", "1-0 {Black resigns}")],
)
def test_a_resignation_is_passed_on(engine: SimpleNamespace, protocol: str, words: str) -> None:
    bot = engine.start(protocol, words, "a2c2")
    assert bot.choose(LOA, Clock(SECOND, 0)) in LOA.moves
    assert bot.resigns(LOA)
    bot.choose(LOA.play("b1b3"), Clock(SECOND, 1))
    assert not bot.resigns(LOA)


def test_an_offer_of_a_draw_is_passed_on(engine: SimpleNamespace) -> None:
    bot = engine.start("xboard", "offer draw", "b1b3", "a2c2")
    moved(bot, LOA)
    assert bot.offers_draw(LOA, 0)
    moved(bot, LOA.play("b1b3"))
    assert not bot.offers_draw(LOA, 0)


@pytest.mark.parametrize("claim", ["1/2-1/2 {Repetition}", "0-1 {Black wins}"])
def test_a_claim_is_asked_again_by_the_position_alone(
    engine: SimpleNamespace, claim: str, capfd: pytest.CaptureFixture[str]
) -> None:
    bot = engine.start("xboard", claim, "d1a4")
    position = LOA.play_all(["b1b3", "h4f2"])
    assert moved(bot, position) == "d1a4"
    assert "setboard 1nnnnnn1/N6N/N6N/N6N/N7/Nn5N/N4N1N/2nnnnn1 b - - 0 1" in engine.told()
    assert f"claimed '{claim}'" in capfd.readouterr().err


def test_a_claim_made_twice_is_an_error(engine: SimpleNamespace) -> None:
    error = problem(engine.start("xboard", "1/2-1/2 {Draw}", "1/2-1/2 {Draw}"))
    assert error.code is BridgeExit.ANSWER
    assert "claimed '1/2-1/2 {Draw}' instead of a move" in str(error)


@pytest.mark.parametrize(
    ("protocol", "word", "code", "evidence"),
    [
        ("uci", "b1b2", BridgeExit.ANSWER, "played 'b1b2': illegal move"),
        ("xboard", "b1b2", BridgeExit.ANSWER, "played 'b1b2': illegal move"),
        ("uci", "Nf3", BridgeExit.ANSWER, "played 'Nf3'"),
        ("uci", "(none)", BridgeExit.ANSWER, "'bestmove (none)', though there are legal moves"),
        ("xboard", "Illegal move: h4f2", BridgeExit.ANSWER, "refused the game so far: 'Illegal move: h4f2'"),
        ("uci", "exit", BridgeExit.BROKEN, "ended with exit code 3 while it was to move"),
        ("xboard", "exit", BridgeExit.BROKEN, "ended with exit code 3 while it was to move"),
    ],
)
def test_an_engine_that_misbehaves_is_named(
    engine: SimpleNamespace, protocol: str, word: str, code: BridgeExit, evidence: str
) -> None:
    error = problem(engine.start(protocol, word))
    assert error.code is code
    assert evidence in str(error)


@both
def test_a_missing_engine_is_named(protocol: str) -> None:
    bot = (UciEngine if protocol == "uci" else XboardEngine)(["/no/such/engine"], "loa")
    error = problem(bot)
    assert (error.code, str(error)) == (BridgeExit.MISSING, "cannot start '/no/such/engine': No such file or directory")


@pytest.mark.parametrize(
    ("protocol", "habit", "awaited"), [("uci", "mute", "uciok"), ("xboard", "loading", "feature done=1")]
)
def test_an_engine_that_does_not_get_ready_says_what_did_not_come(
    engine: SimpleNamespace, protocol: str, habit: str, awaited: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chess_engine, "START_TIMEOUT_S", 0.2)
    monkeypatch.setattr(xboard, "FEATURES_TIMEOUT_S", 60.0)
    error = problem(engine.start(protocol, f"habit={habit}"))
    assert error.code is BridgeExit.LATE
    assert f"did not send `{awaited}` in 0.2 s" in str(error)


def stopped(bot: ChessEngine, position: Position, is_told: Callable[[], bool]) -> int | None:
    """Return what the bot chooses if the referee stops it once the engine has read `go`."""
    clock = Clock(Go(infinite=True), 0)

    def stop() -> None:
        while not is_told():
            threading.Event().wait(0.01)
        clock.stop()

    threading.Thread(target=stop, daemon=True).start()
    return bot.choose(position, clock)


@both
def test_a_stopped_engine_answers_with_its_move(
    engine: SimpleNamespace, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chess_engine, "STOP_TIMEOUT_S", 60.0)
    bot = engine.start(protocol, "silent", "b1b3")
    bot.warm_up(LOA)
    code = stopped(bot, LOA, lambda: any(line.startswith("go") for line in engine.told()))
    assert code == LOA.read("b1b3")


@both
def test_an_engine_that_ignores_its_stop_is_ended_and_started_again(
    engine: SimpleNamespace, protocol: str, capfd: pytest.CaptureFixture[str]
) -> None:
    bot = engine.start(protocol, "deaf", "b1b3")
    bot.warm_up(LOA)
    assert stopped(bot, LOA, lambda: any(line.startswith("go") for line in engine.told())) is None
    assert "had no move after" in capfd.readouterr().err
    assert bot.engine is None
    bot.command = tuple(word for word in bot.command if word != "deaf")
    assert moved(bot, LOA) == "b1b3"


def test_a_late_engine_loses_on_time(tmp_path: Path) -> None:
    words = ("--family", "loa", "--", *command("uci", tmp_path / "log", "deaf"))
    time = TimeControl("movetime", 150)
    record = meet(bridge("uci", *words), honest("h4f2"), "loa", time=time, limits=replace(LIMITS, margin_ms=0))
    assert (record.termination, record.loser) == ("time", "first"), (record.detail, record.logs)


@pytest.mark.parametrize(
    ("protocol", "line", "info"),
    [
        (
            "uci",
            "info depth 5 seldepth 9 score cp -31 nodes 77 nps 9 pv b1b3 h4f2",
            {"depth": 5, "nodes": 77, "score": -31, "win_in": None, "pv": ["b1b3", "h4f2"]},
        ),
        ("uci", "info depth 5 score mate 2 pv b1b3", {"win_in": 3}),
        ("uci", "info depth 5 score mate -2 pv b1b3", {"win_in": -4}),
        ("xboard", "6 -31 12 77\tb1b3 h4f2", {"depth": 6, "nodes": 77, "score": -31, "pv": ["b1b3", "h4f2"]}),
    ],
)
def test_search_information_is_passed_on(
    engine: SimpleNamespace, protocol: str, line: str, info: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = engine.start(protocol, line, "b1b3", "b1b3")
    passed: dict[str, object] = {}
    monkeypatch.setattr(bot, "info", lambda **words: passed.update(words))
    moved(bot, LOA)
    assert {name: passed[name] for name in info} == info


@both
def test_complaints_of_an_engine_are_shown(
    engine: SimpleNamespace, protocol: str, capfd: pytest.CaptureFixture[str]
) -> None:
    moved(engine.start(protocol, "habit=complains", "b1b3"), LOA)
    assert "Error (unknown command): post" in capfd.readouterr().err


def test_families_of_chess_engines_have_dialects_of_their_own_variants() -> None:
    assert chess_families() == ["loa", "tablut"]
    for family in chess_families():
        rules = load(family)
        for dialect in rules.notation.chess:
            ruleset = rules.settle(dialect.variant, dict(dialect.rules))
            start = str(Position.start(ruleset))
            board = dialect.fen(start).split(" ")[0]
            assert len(board.split("/")) == len(start.split("/"))
            assert {dialect.sides[letter] for letter in dialect.sides} == {"w", "b"}
