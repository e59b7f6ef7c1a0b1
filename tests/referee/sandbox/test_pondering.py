"""What a bot does while it is not to move: measured, and kept from it where the rules say so."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from referee.game.record import GameRecord, read_record
from referee.game.record_text import read_texts, write_text
from referee.game.spec import BotLimits, BotSpec, GameSpec, PlannedGame, Pondering, TimeControl
from referee.play import roster as rosters
from referee.play.play import play
from referee.play.roster import Roster
from referee.sandbox import Sandbox, pondering
from referee.sandbox.cgroup import Cgroup
from referee.sandbox.child import Child
from referee.sandbox.pondering import PONDER_GRACE_NS, PonderLimiter
from referee.sandbox.watchdog import Watchdog
from tests.badbots.catalogue import LIMITS
from tests.referee.sandbox.levels import public_python, sandbox_or_skip, working

# A bot that has a child, and with a word a thread of that child that never rests. It takes 30 ms for a move.
BOT = """
import os, sys, threading, time
if len(sys.argv) > 1:
    reader, writer = os.pipe()
    if not os.fork():
        os.close(writer)
        threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()
        os.read(reader, 1)
        os._exit(0)
moves = []
for line in sys.stdin:
    word, *words = line.split()
    if word == "ugi":
        print("id name rest\\nugiok", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "position":
        plies = len(words) - words.index("moves") - 1 if "moves" in words else 0
    elif word == "go":
        time.sleep(0.12)  # time enough for the other to get a processor, busy as the machine may be
        print("bestmove", (MOVES[plies] if plies < 6 else "resign"), flush=True)
"""
MOVES = ("b1b3", "h4f2", "b3b1", "f2h4", "b1b3", "h4f2")


class Clock:
    """Time that passes as told, and processes with nothing but processor time; no signal is sent."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.spent, self.calls = 10**9, {1: 0}, []
        monkeypatch.setattr(pondering.time, "monotonic_ns", lambda: self.now)
        monkeypatch.setattr(pondering.time, "clock_gettime_ns", lambda clock: self.spent[~(clock >> 3)])
        monkeypatch.setattr(pondering, "descendants", lambda pid: iter(set(self.spent) - {pid}))
        monkeypatch.setattr(pondering, "stop_tree", lambda pid: set())
        names = {signal.SIGSTOP: "stop", signal.SIGCONT: "go on"}
        monkeypatch.setattr(PonderLimiter, "_signal", lambda limiter, number: self.calls.append(names[number]))

    def turn(self, limiter: PonderLimiter, *, own_ms: int, other_ms: int, uses_ms: int) -> None:
        """A turn of its own, then one of the opponent."""
        limiter.end_wait()
        self.now += own_ms * 10**6
        limiter.begin_wait(self.now, own_ms * 10**6)
        self.now += other_ms * 10**6
        self.spent[1] += 0 if limiter.is_frozen else uses_ms * 10**6


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_who_rests_is_left_alone(clock: Clock) -> None:
    limiter = PonderLimiter(1, None)
    limiter.start_game("frozen")
    for _ in range(40):
        clock.turn(limiter, own_ms=5, other_ms=100, uses_ms=2)
        limiter.check()
    limiter.end_wait()
    assert (limiter.used_ns, clock.calls) == (80 * 10**6, []), "a fiftieth and a moment"
    for _ in range(30):
        clock.turn(limiter, own_ms=5, other_ms=100, uses_ms=3)
    assert limiter.is_frozen


def test_who_does_not_is_stopped_from_the_first_look_on(clock: Clock) -> None:
    limiter = PonderLimiter(1, None)
    limiter.start_game("frozen")
    clock.turn(limiter, own_ms=5, other_ms=90, uses_ms=90)
    assert not limiter.is_frozen
    limiter.check()
    assert limiter.is_frozen
    clock.turn(limiter, own_ms=5, other_ms=90, uses_ms=90)
    assert limiter.is_frozen, "at once this time"
    limiter.end_wait()
    assert clock.calls == ["stop", "go on", "stop", "go on"]
    assert limiter.used_ns == 90 * 10**6
    limiter.start_game("frozen")
    assert (limiter.used_ns, limiter.is_frozen) == (0, True), "it is remembered in its next game"


def test_short_turns_are_found_out_by_their_sum(clock: Clock) -> None:
    limiter = PonderLimiter(1, None)
    limiter.start_game("frozen")
    for _ in range(5):
        clock.turn(limiter, own_ms=0, other_ms=10, uses_ms=10)
    assert limiter.is_frozen
    assert PONDER_GRACE_NS < limiter.used_ns <= 40 * 10**6


@pytest.mark.parametrize("rule", ["allowed", "pinned"])
def test_what_is_allowed_is_measured(rule: Pondering, clock: Clock) -> None:
    limiter = PonderLimiter(1, None)
    limiter.start_game(rule)
    for _ in range(3):
        clock.turn(limiter, own_ms=5, other_ms=90, uses_ms=90)
        limiter.check()
    limiter.end_wait()
    assert (limiter.used_ns, clock.calls) == (270 * 10**6, [])


def test_processes_that_come_and_go_are_counted(clock: Clock) -> None:
    limiter = PonderLimiter(1, None)
    limiter.start_game("allowed")
    clock.turn(limiter, own_ms=5, other_ms=200, uses_ms=0)
    clock.spent[2] = 150 * 10**6
    limiter.end_wait()
    assert limiter.used_ns == 150 * 10**6
    clock.turn(limiter, own_ms=5, other_ms=200, uses_ms=3)
    limiter.end_wait()
    assert limiter.used_ns == 153 * 10**6


def test_a_control_group_stops_all_that_is_in_it(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "cgroup.freeze").write_text("0")
    limiter = PonderLimiter(1, Cgroup({"memory": str(tmp_path), "pids": "/none", "kill": str(tmp_path)}))
    limiter.freeze()
    assert (tmp_path / "cgroup.freeze").read_text() == "1"
    limiter.resume()
    assert (tmp_path / "cgroup.freeze").read_text() == "0"
    assert clock.calls == []
    (tmp_path / "cgroup.freeze").unlink()
    limiter = PonderLimiter(1, Cgroup({"memory": "/none", "pids": "/none"}))
    limiter.freeze()
    limiter.resume()
    assert clock.calls == ["stop", "go on"]


def test_a_process_with_its_children_is_stopped_and_goes_on() -> None:
    code = "import os,sys; os.fork(); os.write(1, b'x'); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(2) == b"xx"
        limiter = PonderLimiter(process.pid, None)
        limiter.freeze()
        assert come_to(process.pid, {"T"})
        limiter.resume()
        assert come_to(process.pid, {"R", "S", "D"})
        limiter.pin(frozenset({max(os.sched_getaffinity(0))}))
        assert os.sched_getaffinity(process.pid) == {max(os.sched_getaffinity(0))}
        limiter.freeze()
        assert come_to(process.pid, {"T"}), "once more, by what is known of them"
        limiter.resume()
        limiter.pin(frozenset())
        assert os.sched_getaffinity(process.pid) == os.sched_getaffinity(0)
        process.kill()
        limiter.close()


EVASIONS = {
    # Every generation starts the next and ends, in a group of its own if it can have one; each leaves a mark.
    "forks": """
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
    os.write(1, b"x")
""",
    # A timer resumes the process whenever it is stopped.
    "timer": """
event = struct.pack("=QiiQ40x", 0, signal.SIGCONT, 0, 0)
timer = ctypes.c_void_p()
if ctypes.CDLL(None).timer_create(1, event, ctypes.byref(timer)) == 0:
    ctypes.CDLL(None).timer_settime(timer, 0, struct.pack("=4q", 0, 10**6, 0, 10**6), None)
signal.signal(signal.SIGCONT, lambda *_: None)
while True:
    time.sleep(0.0002)
    os.write(1, b"x")
""",
    # A child lives on its own, and starts children in turn.
    "orphans": """
if os.fork():
    time.sleep(600)
if os.fork():
    os._exit(0)
while True:
    if not os.fork():
        os.write(1, b"x")
        os._exit(0)
    os.wait()
""",
}
START = "import ctypes, os, signal, struct, time\nos.write(1, b'x')\n"


@pytest.mark.parametrize("evasion", EVASIONS)
@pytest.mark.parametrize("level", ["bwrap", "landlock", "rlimits"])
def test_nothing_of_a_stopped_bot_runs(level: str, evasion: str) -> None:
    """Without control groups, whose freezer is the kernel's business."""
    python = public_python()
    # The first process stays, as the bot; what tries to run on is its child.
    code = f"{START}if os.fork(): time.sleep(600)\n{EVASIONS[evasion]}"
    launch = sandbox_or_skip(level, uses_groups=False).confine((python, "-ISBc", code), None, BotLimits())
    child = Child(launch, BotLimits(), Watchdog())
    try:
        for _ in range(6):
            marks(child, 0.02)
            child.ponder_limiter.freeze()
            # A process on a busy core notices the signal a little later.
            deadline = time.monotonic() + 60
            while marks(child, 0.05):
                assert time.monotonic() < deadline, "it runs while it is stopped"
            child.ponder_limiter.resume()
            assert marks(child, 30) > 0, "it does not run again"
    finally:
        child.end()


def marks(child: Child, wait_s: float) -> int:
    """Return how many marks a bot leaves until one is there, or the time is over; takes all that are there."""
    poll = select.poll()
    poll.register(child.stdout, select.POLLIN)
    if not poll.poll(wait_s * 1000):
        return 0
    count = 0
    with contextlib.suppress(BlockingIOError):
        while data := os.read(child.stdout, 65536):
            count += len(data)
    return count


def come_to(pid: int, wanted: set[str]) -> bool:
    """Whether all processes of a tree soon are in one of the states; a busy machine takes its time over it."""
    deadline = time.monotonic() + 60
    while not states(pid) <= wanted:
        if time.monotonic() > deadline:
            return False
        os.sched_yield()
    return True


def states(pid: int) -> set[str]:
    return {
        Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[0]
        for one in (pid, *pondering.descendants(pid))
    }


# -- real games ----------------------------------------------------------------------------------------------------


@pytest.fixture
def bots(open_folder: Path) -> dict[str, BotSpec]:
    program = open_folder / "bot.py"
    program.write_text(f"MOVES = {MOVES!r}\n{BOT}")
    command = (sys.executable, "-S", "-E", str(program))
    return {"quiet": BotSpec("quiet", command), "spins": BotSpec("spins", (*command, "spins"))}


def contest(bots: dict[str, BotSpec], roster: Roster, pondering: Pondering) -> GameRecord:
    spec = GameSpec(
        "loa",
        "standard",
        bots["spins"],
        bots["quiet"],
        time=TimeControl("clock", 20_000, 0),
        limits=LIMITS,
        pondering=pondering,
    )
    return play(PlannedGame.of(spec), roster)


@pytest.fixture(params=["none", "strongest"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Signals, and control groups where there are any."""
    return Sandbox("none") if request.param == "none" else sandbox_or_skip(working()[0])


def test_a_bot_that_spins_is_stopped_while_its_opponent_thinks(
    bots: dict[str, BotSpec], sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops: list[float] = []
    freeze = PonderLimiter.freeze
    monkeypatch.setattr(PonderLimiter, "freeze", lambda limiter: (stops.append(limiter.used_ns / 1e6), freeze(limiter)))
    monkeypatch.setattr(pondering, "PONDER_GRACE_NS", 200_000)  # on a busy machine a bot may get little done
    with Roster(sandbox, is_reaper=False) as roster:
        free = contest(bots, roster, "allowed")
        assert not stops
        for _ in range(3):  # on a machine that is busier still it may get nothing done at all
            stops.clear()
            held = contest(bots, roster, "frozen")
            if len(stops) >= 3:
                break
        assert len(stops) >= 3, "in each of its rests"
        assert len(roster._idle) == 2
        roster.end_idle()
        for bot in roster._idle:
            assert bot.process.ponder_limiter.is_frozen
            if sandbox.name == "none":
                assert come_to(bot.process.pid, {"T"}), "while there is no game nothing of a bot runs"
    assert (free.termination, held.termination) == ("resigned", "resigned"), (free.detail, held.detail)
    assert free.out_of_turn_ms[0] > 2
    assert free.out_of_turn_ms[1] < 20
    assert (free.pondering, held.pondering) == ("allowed", "frozen")


def test_the_record_says_what_was_used(bots: dict[str, BotSpec]) -> None:
    with Roster(Sandbox("none")) as roster:
        record = contest(bots, roster, "pinned")
    assert record.pondering == "pinned"
    assert read_record(record.line()) == record
    assert next(read_texts(write_text(record))).out_of_turn_ms == record.out_of_turn_ms
    before = replace(record, pondering="", out_of_turn_ms=(0.0, 0.0))
    assert not {"pondering", "out_of_turn_ms"} & set(before.as_json())


def test_idle_bots_end_after_a_while(bots: dict[str, BotSpec], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(rosters.time, "monotonic", lambda: now[0])
    with Roster(Sandbox("none")) as roster:
        assert roster.end_idle() is None
        contest(bots, roster, "frozen")
        now[0] += 1
        assert roster.end_idle() == rosters.IDLE_S - 1
        assert len(roster._idle) == 2
        now[0] += rosters.IDLE_S
        assert roster.end_idle() is None
        assert roster._idle == []
