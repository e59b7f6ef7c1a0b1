"""What a process that plays several games keeps, and what it forgets, name by name."""

from __future__ import annotations

from operator import attrgetter

import pytest

from referee.bot.bot import LocalBot
from referee.play.player import prepare
from referee.rules import load
from referee.sandbox import Sandbox
from tests.referee.conftest import PATIENT, scripted

KEPT = {
    "spec": "the roster sets that of the next game",
    "limits": "the same in all games of a process",
    "session": "the handshake; its anomalies are forgotten",
    "capabilities": "known from the handshake",
    "rule_options": "what a game by other rules must set back",
    "overshoot": "learned from all games on purpose",
    "side": "the player sets that of the next game",
    "has_answered": "about the process: it has loaded",
    "watchdog": "of the slot",
    "process": "its times out of turn and its budget of delays are forgotten",
    "wire": "the pipes; log and bytes are forgotten",
    "reader": "see below",
    "_sandbox": "the same in all games",
    "_has_played": "whether there is something to forget",
    "_has_been_ready": "about the process",
    "_is_slow": "a guess about the next turn, of no effect on the game",
}


PARTS = {
    "wire": {
        **dict.fromkeys(("_in", "_out", "_err", "_pid_fd", "_poll", "_child", "_answered"), "the pipes of the process"),
        **dict.fromkeys(("_process", "_limits", "_stop_fd"), "of the process or the slot"),
        **dict.fromkeys(("asked_ns", "arrived_ns", "lag_ns", "held_ns", "_meter"), "set by every question"),
        "_splitter": "a line of which the end is still to come",
        "lines": "lines not yet read, before the answer to `isready`",
        "transcript": "written only by a check, of one process",
        "_log": "forgotten",
        "output_bytes": "forgotten",
    },
    "reader": {
        **dict.fromkeys(("_process", "_wire", "_session", "_limits"), "parts of the bot"),
        "grace_ms": "the same in all games",
        "on_wait": "set by the slot",
    },
    "session": {
        **dict.fromkeys(("name", "author", "options", "families", "capabilities"), "the handshake"),
        **dict.fromkeys(("state", "_positioned", "query"), "set by every message; `uginewgame` leads to idle"),
        **dict.fromkeys(("anomalies", "anomaly_count"), "forgotten"),
    },
    "process": {
        **dict.fromkeys(("_spec", "_limits", "_sandbox", "_watchdog", "child"), "the process itself"),
        "is_sound": "a process that is not is never used again",
        "ponder_limiter": "see below",
        "queue": "see below",
    },
    "process.ponder_limiter": {
        **dict.fromkeys(("_pid", "_cgroup", "_handles", "_cores", "is_frozen"), "the process itself"),
        **dict.fromkeys(("_clocks", "_refreshed_ns"), "counts of the kernel that only grow"),
        **dict.fromkeys(("_rule", "_is_waiting", "_since_ns", "_spent_ns", "_waited_ns"), "set by start_game"),
        "_has_pondered": "about the process: it may do so again",
        "used_ns": "forgotten",
    },
    "process.queue": {
        **dict.fromkeys(("_pid", "_spent", "_sees_starts"), "the process"),
        **dict.fromkeys(("_files", "_refreshed_ns"), "the threads of the process"),
        **dict.fromkeys(("_before", "_latest", "_is_looking", "_spent_ns", "_ran"), "set by every turn"),
        "left_ns": "set anew",
    },
}
"""What the parts of a bot keep. An attribute that is not here needs a reason, or `begin_game` must reset it."""


@pytest.fixture
def bot():
    """A bot that has been made ready for its first game."""
    seat = LocalBot(scripted("one", "--echo", "b1b3"), PATIENT, Sandbox("none"))
    try:
        seat.start()
        seat.handshake()
        prepare(seat, load("loa").settle())
        seat.ready()
        yield seat
    finally:
        seat.close()


def test_every_attribute_of_a_reused_bot_says_why_it_is_kept(bot: LocalBot) -> None:
    assert set(vars(bot)) == KEPT.keys(), "say what becomes of it when the next game begins, or reset it in begin_game"


@pytest.mark.parametrize("part", PARTS)
def test_every_attribute_of_a_part_of_it_says_why_it_is_kept(bot: LocalBot, part: str) -> None:
    held = attrgetter(part)(bot)
    names = vars(held) if hasattr(held, "__dict__") else type(held).__slots__
    assert set(names) == PARTS[part].keys()


def test_begin_game_resets_what_belongs_to_the_game_before(bot: LocalBot) -> None:
    assert "ugi\n" in bot.log, "its start is in its first game"
    bot.session.receive(b"readyok")
    limiter, queue = bot.process.ponder_limiter, bot.process.queue
    assert limiter
    assert queue
    queue.end(10_000_000)
    limiter.used_ns = 5_000_000
    kept = {
        "log": lambda: bot.log,
        "bytes": lambda: bot.wire.output_bytes,
        "anomalies": lambda: (bot.anomaly_count, *bot.session.anomalies),
        "time out of turn": lambda: limiter.used_ns,
        "delays not charged": lambda: queue.left_ns,
    }
    before = {name: read() for name, read in kept.items()}
    bot.begin_game()
    after = {name: read() for name, read in kept.items()}
    assert [name for name in kept if before[name] == after[name]] == []
    assert list(after.values())[:4] == ["", 0, (0,), 0]
