"""The seat of a remote bot over a link that is a script: what is charged, what is told again, and how it loses."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from protocol.messages import SetOption, UgiResult
from referee.bot.remote import seat
from referee.bot.remote.link import LineLost, LinkAllowance, ProgramGone
from referee.bot.remote.seat import RemoteBot
from referee.bot.seat import Overshoot
from referee.game.failure import BotError, SandboxError
from referee.game.record import NetworkFigures
from referee.game.spec import BotLimits, BotSpec
from referee.rules.core import Termination

_MS = 1_000_000
LOST = "lost"
Answer = tuple[str, float]
"""Lines, and how many milliseconds after the question they arrive; or LOST, and when something was heard last."""
QUESTION = b"position startpos\ngo p1time 10000 p2time 9000 p1inc 100 p2inc 100\n"


_NOW_NS = [0]


@pytest.fixture(autouse=True)
def _no_time_passes_but_the_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seat, "time", SimpleNamespace(monotonic_ns=lambda: _NOW_NS[0]))
    _NOW_NS[0] = 10**12


class Script:
    """Stands for a link: answers a program gives to each `go`, in turn; everything said is kept."""

    def __init__(self, *answers: Answer, terms: LinkAllowance | None = None, comes_back: bool = True) -> None:
        self.terms = terms or LinkAllowance(move_ms=300, game_ms=500, grace_ms=30_000)
        self.latency_ms = self.longest_ms = 100.0
        self.checked_ms = 100.0
        self.absent_ms = 0.0
        """How long the first attempt to start a program takes, which fails; 0: it succeeds at once."""
        self.arrived_ns = 0
        self.said: list[str] = []
        self._answers = list(answers)
        self._comes_back = comes_back
        self._asked_ns = 0
        self._waiting: list[Answer] = []

    def open(self) -> None:
        if self.absent_ms:
            _NOW_NS[0] += int(self.absent_ms * _MS)
            self.absent_ms = 0.0
            raise LineLost(_NOW_NS[0])
        self.said.append("(open)")
        self._waiting.clear()

    def close(self) -> None:
        self.said.append("(close)")

    def say(self, lines: str) -> None:
        self.said += lines.split("\n")
        if self.said[-1] != "stop":
            self._asked_ns = _NOW_NS[0]
        match self.said[-1].split()[0]:
            case "ugi":
                self._waiting = [("id name far", 1), ("option name Depth type spin default 1", 1), ("ugiok", 1)]
            case "isready":
                self._waiting = [("readyok", 1)]
            case "go":
                text, after_ms = self._answers.pop(0) if self._answers else ("", 0)
                self._waiting = [(line, after_ms) for line in text.split("\n") if line]

    def line(self, deadline_ns: int) -> bytes | None:
        if not self._waiting:
            _NOW_NS[0] = deadline_ns
            return None
        text, after_ms = self._waiting[0]
        at = self._asked_ns + int(after_ms * _MS)
        _NOW_NS[0] = min(at, deadline_ns)
        if text == LOST:
            raise LineLost(at)
        if text == "gone":
            raise ProgramGone("exit code 3")
        if at > deadline_ns:
            return None
        self._waiting.pop(0)
        self.arrived_ns = at
        return text.encode()

    def check(self, _since_ns: int) -> float:
        return self.checked_ms

    def returns(self, deadline_ns: int) -> bool:
        if not self._comes_back:
            _NOW_NS[0] = max(_NOW_NS[0], deadline_ns)
        return self._comes_back and deadline_ns > _NOW_NS[0]


def sitting(script: Script, **limits: int) -> RemoteBot:
    link: Callable[[], Any] = lambda: script  # noqa: E731
    return RemoteBot(BotSpec("far", ("remote",), place="remote"), BotLimits(**limits), Overshoot(0, 0), link)


def figures(bot: RemoteBot) -> NetworkFigures:
    assert bot.network
    return bot.network


def seated(script: Script, **limits: int) -> RemoteBot:
    bot = sitting(script, **limits)
    bot.start()
    bot.handshake()
    bot.tell(SetOption("Depth", "3"))
    bot.new_game()
    bot.ready()
    return bot


def test_what_the_network_usually_takes_is_not_the_bots() -> None:
    bot = seated(Script(("bestmove b1b3", 250)))
    thought = bot.think(QUESTION, 10_000)
    assert (thought.move, thought.ms) == ("b1b3", 150)
    assert figures(bot).allowed_ms == 100


def test_there_is_an_allowance_a_move_and_one_a_game() -> None:
    script = Script(*[("bestmove b1b3", 1000)] * 3)
    script.latency_ms = script.longest_ms = 400
    bot = seated(script)
    assert [bot.think(QUESTION, 10_000).ms for _ in range(3)] == [700, 800, 1000]
    assert figures(bot).allowed_ms == 500


def test_a_late_answer_loses_on_time() -> None:
    with pytest.raises(BotError, match="answered after 1300 ms, 100 of them") as caught:
        seated(Script(("bestmove b1b3", 1300)), grace_ms=2500).think(QUESTION, 1000)
    assert caught.value.termination is Termination.TIME


def test_an_answer_that_the_network_held_up_does_not() -> None:
    script = Script(("info nodes 7\nbestmove b1b3", 3100))
    script.checked_ms = 2500
    bot = seated(script, grace_ms=2500)
    thought = bot.think(QUESTION, 1000)
    assert thought.move == "b1b3"
    assert thought.info
    assert thought.info.nodes == 7
    assert thought.ms == 1000
    assert figures(bot).paused_ms == 1800


def test_an_outage_that_is_longer_than_the_grace_does_not_help() -> None:
    script = Script(("bestmove b1b3", 3100), terms=LinkAllowance(300, 500, 500))
    script.checked_ms = 2500
    with pytest.raises(BotError) as caught:
        seated(script, grace_ms=2500).think(QUESTION, 1000)
    assert caught.value.termination is Termination.TIME


def test_no_answer_at_all_is_a_stall() -> None:
    script = Script()
    with pytest.raises(BotError) as caught:
        seated(script).think(QUESTION, 1000)
    assert caught.value.termination is Termination.STALLED
    assert script.said[-1] == "stop"


def test_a_lost_connection_costs_only_what_was_thought_before() -> None:
    script = Script((LOST, 400), ("bestmove b1b3", 250))
    bot = seated(script)
    before = len(script.said)
    thought = bot.think(QUESTION, 10_000)
    assert thought.ms == 550
    again = script.said[before + 2 :]
    assert again[:6] == ["(open)", "ugi", "setoption name Depth value 3", "uginewgame", "isready", "position startpos"]
    told = re.fullmatch(r"go p1time (\d+) p2time 9000 p1inc 100 p2inc 100", again[6])
    assert told
    assert told[1] == "9600"
    assert (figures(bot).losses, figures(bot).reconnected) == (1, 1)


def test_a_connection_lost_again_while_the_program_starts_costs_nothing_more() -> None:
    script = Script((LOST, 400), ("bestmove b1b3", 250))
    bot = seated(script)
    script.absent_ms = 4_000
    assert bot.think(QUESTION, 10_000).ms == 550
    assert (figures(bot).losses, figures(bot).reconnected) == (2, 2)


def test_a_result_that_the_lobby_cannot_send_any_more_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(lines: str) -> None:
        raise SandboxError("the lobby for remote bots is gone")

    script = Script()
    bot = seated(script)
    bot.capabilities = replace(bot.capabilities, result=True)
    bot.announce(UgiResult("1-0", "goal"))
    assert script.said[-1].startswith("result ")
    monkeypatch.setattr(script, "say", gone)
    bot.announce(UgiResult("1-0", "goal"))


def test_a_connection_that_stays_away_is_the_end() -> None:
    bot = seated(Script((LOST, 0), comes_back=False))
    with pytest.raises(BotError, match="30 s are allowed") as caught:
        bot.think(QUESTION, 10_000)
    assert caught.value.termination is Termination.DISCONNECTED
    assert (figures(bot).losses, figures(bot).reconnected) == (1, 0)


@pytest.mark.parametrize("comes_back", [True, False])
def test_the_wait_for_a_program_that_starts_late_is_recorded(comes_back: bool) -> None:
    script = Script(comes_back=comes_back)
    script.absent_ms = 4_000
    bot = sitting(script)
    if comes_back:
        bot.start()
    else:
        with pytest.raises(BotError, match="30 s are allowed"):
            bot.start()
    wait_ms = 4_000 if comes_back else 34_000
    assert (figures(bot).wait_ms, figures(bot).reconnected) == (wait_ms, int(comes_back))
    bot.close()
    assert figures(bot).wait_ms == wait_ms


@pytest.mark.parametrize(
    ("line", "termination", "words"),
    [
        ("gone", Termination.CRASHED, "exit code 3"),
        ("x" * 9000, Termination.OUTPUT_LIMIT, "9,000 bytes"),
    ],
)
def test_verdicts_are_those_on_any_bot(line: str, termination: Termination, words: str) -> None:
    with pytest.raises(BotError, match=words) as caught:
        seated(Script((line, 1))).think(QUESTION, 1000)
    assert caught.value.termination is termination
