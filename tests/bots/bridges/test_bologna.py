"""Clients of the Tablut Challenge play through the bridge, whatever their habits; bad ones end precisely."""

from __future__ import annotations

import json
import os
import re
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import referee.check.check as checking
from bots.bridges import tablut_client, tablut_wire
from bots.bridges.bologna import Bridge, main
from bots.bridges.engine_process import writable_folder
from bots.bridges.failure import BridgeError, BridgeExit
from bots.bridges.tablut_client import TablutClient, command_line, listen
from bots.bridges.tablut_wire import Frames, pack_frame, read_move, read_name, state_frame
from bots.sdk.clock import Clock
from protocol.messages import Go, IsReady, SetPosition, Ugi, UgiResult
from referee.bot.argument import read_bot
from referee.check import requirement
from referee.check.check import check
from referee.check.probe import Candidate, GameConditions, IneligibleError, probe
from referee.game.record import GameRecord
from referee.game.spec import BotSpec, TimeControl
from referee.rules import load
from referee.rules.position import Position
from referee.sandbox import Sandbox
from tests.bots.bridges.table import HERE, LIMITS, bridge, has_networks, honest, meet
from tests.bots.compilers import works
from tests.conftest import INTERPRETED, OPTIONAL
from tests.port import free_port
from tests.program import arena
from tests.referee.sandbox.levels import sandbox_or_skip

ASHTON = load("tablut").settle("ashton")
SLOW = TimeControl("movetime", 8000, 0)
THREADS = [sys.executable, "-S", "-E", str(HERE / "tablut_threads.py")]
OPENING = ("e4f4", "a4a3", "e3g3", "a6a7", "e6f6", "i4i3")


def client(*habits: str) -> list[str]:
    words = [sys.executable, "-S", "-E", str(HERE / "tablut_player.py")]
    for habit in habits:
        words += ["--habit", habit]
    return words


def threads() -> BotSpec:
    return bridge("bologna", "--name", "threads", "--seconds", "3", "--", *THREADS)


def bologna(*habits: str, seconds: int = 3) -> BotSpec:
    early = ("--seconds", str(seconds)) if seconds else ()
    return bridge("bologna", "--name", "client", *early, "--", *client(*habits))


def against(spec: BotSpec, *moves: str) -> GameRecord:
    announced = ("--option", "option name Variant type combo default ashton var ashton")
    return meet(spec, honest(*announced, *moves), "tablut", variant="ashton", time=SLOW)


class Desk:
    """A referee's end for a bridge in this process."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def send(self, *messages: object) -> None:
        self.said += map(str, messages)

    def report_error(self, problem: object) -> None:
        self.said.append(f"error {problem}")

    def begin(self, clock: Clock) -> None:
        if self.is_impatient:
            clock.stop()

    def end(self) -> None:
        pass

    is_impatient = False


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ports that nobody uses."""
    found = {role: free_port() for role in ("WHITE", "BLACK")}
    monkeypatch.setattr(tablut_client, "PORTS", found)
    monkeypatch.setenv("TABLUT_PORTS", ",".join(map(str, found.values())))


@contextmanager
def bridged(*habits: str, seconds: int = 3, command: Sequence[str] = ()) -> Iterator[Bridge]:
    """A bridge in this process, made ready."""
    bridge = Bridge(Desk(), command or client(*habits), seconds, "client")  # type: ignore[arg-type]
    try:
        bridge.handle(Ugi())
        bridge.handle(IsReady())
        yield bridge
    finally:
        for running in bridge.clients.values():
            running.close()


def asked(bridge: Bridge, *moves: str) -> str:
    """The bridge's answer after these moves."""
    bridge.handle(SetPosition(None, moves))
    bridge.handle(Go(movetime=8000))
    return str(bridge.console.said[-1]).removeprefix("bestmove ")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("habits", "seconds"),
    [((), 3), (("unquoted", "upper", "no-turn"), 3), (("split", "stays"), 0)],
    ids=str,
)
def test_a_client_plays_whatever_its_habits(
    habits: tuple[str, ...],
    seconds: int,
    ports: None,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with bridged(*habits, seconds=seconds) as bridge:
        moves: list[str] = []
        for reply in ("a4a3", "a3a2", "a2a1"):
            move = asked(bridge, *moves)
            moves += [move, reply]
        assert Position.start(ASHTON).play_all(moves).outcome is None
        assert set(bridge.clients) == {"WHITE"}
        assert bridge.clients["WHITE"].name == "my name"
        bridge.handle(UgiResult("p1win", "king-escaped"))
        monkeypatch.setattr(tablut_client, "CLOSE_TIMEOUT_S", 0.2 if "stays" in habits else 60.0)
        bridge.clients["WHITE"].close()
        assert (bridge.clients["WHITE"]._process.returncode == -signal.SIGKILL) == ("stays" in habits)
    log = capfd.readouterr().err
    assert f"WHITE with {seconds or 6} s" in log
    assert "WHITE heard WHITEWIN" in log
    assert ("unasked" in log) == ("chatty" in habits)


# What a client sees


def states(log: str) -> list[str]:
    """The turns of the states a client was sent, in order."""
    return re.findall(r"state \d+: (\w+)", log)


@pytest.mark.parametrize(("opening", "seen"), [(6, ["WHITE"]), (5, ["WHITE", "BLACK"])])
def test_bridge_after_an_opening_sends_no_older_board_with_the_clients_turn(
    opening: int, seen: list[str], ports: None, capfd: pytest.CaptureFixture[str]
) -> None:
    role = seen[-1]
    with bridged(command=THREADS) as bridge:
        position = Position.start(ASHTON).play_all(OPENING[:opening])
        moves = list(OPENING[:opening])
        for _ in range(2):
            moves.append(asked(bridge, *moves))
            position = position.play(moves[-1])
            moves.append(position.texts[0])
            position = position.play(moves[-1])
        assert position.outcome is None
        bridge.handle(UgiResult("draw", "repetition"))
        bridge.clients[role].close()
    other = {"WHITE": "BLACK", "BLACK": "WHITE"}[role]
    log = capfd.readouterr().err
    assert states(log) == [*seen, other, role, other], log
    assert f"{role} heard DRAW" in log


@pytest.mark.parametrize("moves", [("e4f4", "a4a3"), ("e4f4",), OPENING[:6], ("e4f4", "a4a2", "e3f3", "a2a1")], ids=len)
def test_bridge_with_a_position_that_does_not_continue_starts_a_new_client(moves: tuple[str, ...], ports: None) -> None:
    with bridged(command=THREADS) as bridge:
        asked(bridge, "e4f4", "a4a3")
        (old,) = bridge.clients.values()
        assert asked(bridge, *moves) in Position.start(ASHTON).play_all(moves).texts
        (new,) = bridge.clients.values()
        assert new is not old
        assert old._process.returncode is not None


def test_bridge_with_a_position_that_continues_keeps_the_client(ports: None) -> None:
    with bridged(command=THREADS) as bridge:
        move = asked(bridge)
        (old,) = bridge.clients.values()
        asked(bridge, move, "a4a3")
        assert list(bridge.clients.values()) == [old]


@pytest.mark.long
def test_check_of_a_client_asks_every_question_of_a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_networks():
        pytest.skip("no network namespaces here")
    monkeypatch.setattr(requirement, "LEGAL_S", 0.0)
    monkeypatch.setattr(checking, "ABILITIES", ())
    monkeypatch.setattr(requirement, "MOVE_TIMES_MS", (1000, requirement.MOVE_TIMES_MS[-1]))
    report = check(threads(), [ASHTON], Sandbox("none"), LIMITS, move_ms=2000)
    assert report.is_fit, report.fault
    assert not report.capabilities.clocks
    step = next(step for step in report.steps if step.name == "time for a move")
    asked = [line for line in step.lines if line.startswith("> go")]
    assert len(asked) == step.lines.count("> isready") > 1


def test_match_of_two_clients_from_an_opening_has_no_forfeit() -> None:
    if not has_networks():
        pytest.skip("no network namespaces here")
    record = meet(
        threads(), threads(), "tablut", variant="ashton", time=SLOW, opening=OPENING, options=[("max_plies", 16)]
    )
    assert record.kind == "rules", (record.detail, record.logs)
    assert len(record.moves) == 16


def test_match_of_a_java_client_has_no_forfeit(tmp_path: Path) -> None:
    for program in ("javac", "java"):
        if not works(program):
            pytest.skip(f"{OPTIONAL}no {program} here")
    if not has_networks():
        pytest.skip("no network namespaces here")
    subprocess.run(["javac", "-d", str(tmp_path), str(HERE / "TablutThreads.java")], check=True, timeout=500)
    java = bridge("bologna", "--seconds", "3", "--", "java", "-Xmx64m", "-cp", str(tmp_path), "TablutThreads")
    record = meet(java, threads(), "tablut", variant="ashton", time=SLOW, opening=OPENING, options=[("max_plies", 16)])
    assert record.kind == "rules", (record.detail, record.logs)
    assert "to move is WHITE" in record.logs["first"]
    assert len(record.moves) == 16


@pytest.mark.parametrize(
    ("habit", "seconds", "code", "evidence"),
    [
        ("no-json", 3, BridgeExit.ANSWER, "the client's move is not JSON: 'e4 to f4'"),
        ("no-cells", 3, BridgeExit.ANSWER, "names no two cells"),
        ("huge", 3, BridgeExit.ANSWER, "a frame of 1073741824 bytes"),
        ("hangs-up", 3, BridgeExit.BROKEN, "closed its connection while it was to move and ended with exit code 7"),
        ("early-exit", 3, BridgeExit.BROKEN, "ended with code 9 and did not connect to port"),
    ],
)
def test_a_client_that_misbehaves_is_named(
    habit: str, seconds: int, code: BridgeExit, evidence: str, ports: None
) -> None:
    def play() -> None:
        with bridged(habit, seconds=seconds) as bridge:
            bridge.handle(SetPosition())
            bridge.handle(Go(movetime=8000))

    with pytest.raises(BridgeError) as error:
        play()
    assert error.value.code is code
    assert evidence in str(error.value)


@pytest.mark.parametrize(
    ("habit", "seconds", "evidence"),
    [("absent", 0, "did not connect to port"), ("silent", 3, "had no move after")],
)
def test_a_late_client_is_ended_by_stop_alone(
    habit: str,
    seconds: int,
    evidence: str,
    ports: None,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Desk, "is_impatient", True)
    with bridged(habit, seconds=seconds) as bridge:
        bridge.handle(SetPosition())
        bridge.handle(Go(movetime=50))
        assert bridge.console.said[-1] == "bestmove ------"  # type: ignore[attr-defined]
        assert not bridge.clients
    assert evidence in capfd.readouterr().err


def test_an_illegal_move_is_the_referees_to_judge() -> None:
    record = against(bologna("illegal", seconds=0), "a4a3")
    assert (record.termination, record.loser) == ("illegal-move", "first")
    assert "'a1i9'" in record.detail


def test_a_client_that_cannot_be_started(ports: None) -> None:
    with pytest.raises(BridgeError, match="cannot start the client '/no/such/client'") as error:
        TablutClient(["/no/such/client"], "WHITE", 3)
    assert error.value.code is BridgeExit.MISSING


def test_two_clients_play_a_match_each_in_its_own_network() -> None:
    if not has_networks():
        pytest.skip("no network namespaces here")
    record = meet(bologna("unquoted"), bologna("upper", seconds=0), "tablut", variant="ashton", time=SLOW)
    assert record.kind == "rules", record.detail


def test_no_other_variant_is_played() -> None:
    with pytest.raises(IneligibleError, match="Variant"):
        probe(Candidate(bologna()), GameConditions.of(load("tablut").settle(), LIMITS, None), Sandbox("none"))
    assert probe(Candidate(bologna()), GameConditions.of(ASHTON, LIMITS, None), Sandbox("none")).name == "bologna"


# Without a network of its own


def test_a_second_game_is_refused_while_one_is_played(ports: None) -> None:
    with listen("WHITE"):
        with listen("BLACK"):
            pass
        with pytest.raises(BridgeError, match="is taken") as refused:
            listen("WHITE")
        assert refused.value.code is BridgeExit.UNREACHABLE
        with pytest.raises(BridgeError, match="is taken"):
            TablutClient(["true"], "WHITE", 3)
    listen("WHITE").close()


# The wire


def test_boards_as_the_server_shows_them() -> None:
    start = Position.start(ASHTON)
    frame = state_frame(start)
    data = json.loads(frame[4:])
    assert struct.unpack(">i", frame[:4]) == (len(frame) - 4,)
    assert data["turn"] == "WHITE"
    assert data["board"][4] == [*["BLACK"] * 2, *["WHITE"] * 2, "KING", *["WHITE"] * 2, *["BLACK"] * 2]
    assert data["board"][0][3:6] == ["BLACK"] * 3
    after = start.play("e4f4").play("d1d4").play("e5e4")
    data = json.loads(state_frame(after, "DRAW")[4:])
    assert data["turn"] == "DRAW"
    assert (data["board"][4][4], data["board"][3][3:6]) == ("THRONE", ["BLACK", "KING", "WHITE"])


@pytest.mark.parametrize(
    ("payload", "name"),
    [
        (b'"me"', "me"),
        (b"me", "me"),
        (b" bare name\n", "bare name"),
        (b"[1]", "[1]"),
        (b"", "nameless"),
        (b'"\\u0007"', "nameless"),
    ],
)
def test_names(payload: bytes, name: str) -> None:
    assert read_name(payload) == name


@pytest.mark.parametrize("payload", [b'{"from":"E4","to":"F4"}', b'{"from":"e4","to":" f4 ","turn":"WHITE"}'])
def test_moves(payload: bytes) -> None:
    assert read_move(payload) == "e4f4"


@pytest.mark.parametrize("payload", [b"", b"[]", b"\xff", b'{"from":"e4"}', b'{"from":"e4","to":"j4"}', b"[" * 100_000])
def test_bad_moves(payload: bytes) -> None:
    with pytest.raises(BridgeError):
        read_move(payload)


def test_frames_come_in_any_pieces() -> None:
    whole = pack_frame("one") + pack_frame({"two": 2})
    frames, payloads = Frames(), []
    for place in range(len(whole)):
        payloads += frames.feed(whole[place : place + 1])
    assert payloads == [b'"one"', b'{"two":2}']
    for head in (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\0\0\0"):
        with pytest.raises(BridgeError, match="frame of"):
            Frames().feed(head)


def test_the_clients_command_line() -> None:
    assert command_line(["./bot"], "WHITE", 9) == ["./bot", "WHITE", "9", "127.0.0.1"]
    assert command_line(["./bot", "-t{seconds}", "{role}"], "BLACK", 9) == ["./bot", "-t9", "BLACK"]
    assert tablut_wire.PORTS == {"WHITE": 5800, "BLACK": 5801}


def test_unknown_placeholder_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=str(int(BridgeExit.USAGE))):
        main(["--namespace", "off", "--", "./bot", "{role}", "{time}"])
    assert "invalid placeholder {time}: expected {role}, {seconds}, {server}" in capsys.readouterr().err


def test_clients_that_keep_a_log_can_write_it_in_the_sandbox() -> None:
    spec = replace(read_bot(f"bridge:bologna --seconds 3 -- {' '.join(client('logs'))}", "tablut"), name="client")
    announced = ("--option", "option name Variant type combo default ashton var ashton")
    other = honest(*announced, "a4a3", "resign")
    record = meet(spec, other, "tablut", variant="ashton", time=SLOW, sandbox=sandbox_or_skip("bwrap"))
    assert (record.winner, record.termination) == ("first", "resigned"), (record.detail, record.logs)


def test_client_beside_a_folder_that_cannot_be_written_to_is_found(
    tmp_path: Path, ports: None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "client.py").write_text((HERE / "tablut_player.py").read_text(), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "here")
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and access(path, mode))
    with bridged(command=[sys.executable, "-S", "-E", "../client.py"]) as bridge:
        assert asked(bridge) in Position.start(ASHTON).texts


def test_a_workplace_mirrors_a_folder_that_cannot_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "old.txt").write_text("old", encoding="utf-8")
    (tmp_path / "client.jar").write_text("jar", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with writable_folder() as folder:
        assert folder is None, "the present folder will do"
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and access(path, mode))
    with writable_folder() as folder:
        assert folder
        here = Path(folder)
        assert (here / "client.jar").read_text(encoding="utf-8") == "jar"
        (here / "logs" / "new.txt").write_text("new", encoding="utf-8")
        assert sorted(os.listdir(here / "logs")) == ["new.txt", "old.txt"]
    assert not here.exists()
    assert os.listdir(tmp_path / "logs") == ["old.txt"]
    monkeypatch.setattr("bots.bridges.engine_process.MAX_LINKS", 0)
    with writable_folder() as folder:
        assert folder
        assert all(Path(entry.path).is_symlink() for entry in os.scandir(folder))


def test_a_tournament_by_the_command_line() -> None:
    """Two games of the same client at once: each has a network of its own."""
    if not has_networks():
        pytest.skip("no network namespaces here")
    command = f"bridge:bologna --seconds 3 -- {' '.join(client('upper'))}"
    words = ["play", f"bologna={command}", "sample:random", "--family", "tablut", "--variant", "ashton", "--games", "2"]
    words += ["--concurrency", "2", "--tc", "60/move", "--sandbox", "none", "--max-plies", "12", "--json"]
    done = arena(words, INTERPRETED)
    assert done.returncode == 0, done.stderr
    games = json.loads(done.stdout)["games"]
    assert [game["kind"] for game in games] == ["rules"] * 2, [game["detail"] for game in games]
