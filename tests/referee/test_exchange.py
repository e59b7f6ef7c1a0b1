"""The quick way through a move: the answer at once, and everything else left as it was found."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest

from referee.exchange import MOMENT_MS
from referee.exchange.quick import UNSENT, QuickWay
from referee.play import play
from referee.record import GameRecord
from referee.roster import Roster
from referee.rules.cache import IS_COMPILED
from referee.spec import PlannedGame
from tests.referee.conftest import BLACK, WHITE

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="optional: the quick way is compiled")
LINE_BYTES = 40


@dataclass
class Pipes:
    """Our ends and the bot's ends of its pipes, and the quick way."""

    stdin: int
    stdout: int
    stderr: int
    hears: int
    says: int
    complains: int
    quick: QuickWay

    def ask(self, answer: bytes) -> tuple[int, bytes, bytes]:
        """What comes of asking a bot that gives this answer; asked again where the machine was too slow for it."""
        for _ in range(500):
            bot = threading.Thread(target=lambda: (os.read(self.hears, 100), os.write(self.says, answer)))
            bot.start()
            sent, word, data, begin_ns, end_ns = self.quick.ask(b"go\n")
            bot.join()
            if word or data:
                assert begin_ns < end_ns
                return sent, word, data
            with suppress(BlockingIOError):
                os.read(self.stdout, 1000)
        raise AssertionError("never answered in time")


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    hears, stdin = os.pipe()
    stdout, says = os.pipe()
    stderr, complains = os.pipe()
    for descriptor in (stdin, stdout, stderr):
        os.set_blocking(descriptor, False)
    quick = QuickWay(stdin, stdout, (stderr,), LINE_BYTES)
    yield Pipes(stdin, stdout, stderr, hears, says, complains, quick)
    for descriptor in (hears, stdin, stdout, says, stderr, complains):
        with suppress(OSError):
            os.close(descriptor)


def test_a_bestmove_in_a_line_of_its_own_is_an_answer(pipes: Pipes) -> None:
    assert pipes.ask(b"bestmove b1b3\n") == (3, b"b1b3", b"")
    assert pipes.ask(b"bestmove x\n") == (3, b"x", b"")
    longest = b"m" * (LINE_BYTES - len(b"bestmove "))
    assert pipes.ask(b"bestmove " + longest + b"\n") == (3, longest, b"")


@pytest.mark.parametrize(
    "said",
    [
        b"bestmove b1b3\r\n",
        b"bestmove b1b3",
        b"bestmove b1b3\nbestmove b1b3\n",
        b"\nbestmove b1b3\n",
        b"info depth 1\nbestmove b1b3\n",
        b"bestmove \n",
        b"bestmoves b1b3\n",
        b"hello\n",
        b"\n",
        b"bestmove " + b"m" * (LINE_BYTES - len(b"bestmove ") + 1) + b"\n",
    ],
)
def test_anything_else_is_handed_over_as_it_came(said: bytes, pipes: Pipes) -> None:
    assert pipes.ask(said) == (3, b"", said)


def test_nothing_is_sent_where_something_waits_to_be_heard(pipes: Pipes) -> None:
    os.write(pipes.says, b"bestmove b1b3\n")
    assert pipes.quick.ask(b"go\n") == (UNSENT, b"", b"", 0, 0)
    assert os.read(pipes.stdout, 100) == b"bestmove b1b3\n"
    os.write(pipes.complains, b"!")
    assert pipes.quick.ask(b"go\n")[0] == UNSENT
    os.set_blocking(pipes.hears, False)
    with pytest.raises(BlockingIOError):
        os.read(pipes.hears, 100)


def test_a_bot_that_takes_its_time_is_waited_for_a_moment_only(pipes: Pipes) -> None:
    sent, word, data, begin_ns, end_ns = pipes.quick.ask(b"go\n")
    assert (sent, word, data) == (3, b"", b"")
    assert end_ns - begin_ns >= MOMENT_MS * 1_000_000
    assert os.read(pipes.hears, 100) == b"go\n"


def test_what_a_full_pipe_takes_is_told(pipes: Pipes) -> None:
    with suppress(BlockingIOError):
        while True:
            os.write(pipes.stdin, b"x" * 4096)
    assert pipes.quick.ask(b"go\n")[:3] == (0, b"", b"")
    taken = len(os.read(pipes.hears, 4096))
    assert pipes.quick.ask(b"y" * 2 * taken)[0] == taken


def test_a_bot_that_has_hung_up_is_seen_by_who_asks_next(pipes: Pipes) -> None:
    os.close(pipes.hears)
    assert pipes.quick.ask(b"go\n")[:3] == (0, b"", b"")
    os.close(pipes.says)
    assert pipes.quick.ask(b"go\n")[0] == UNSENT


def _essence(record: GameRecord) -> object:
    said = [(ply.score, ply.depth, ply.nodes, ply.book) for ply in record.plies]
    left_out = {"plies": (), "started": "", "finished": "", "out_of_turn_ms": (0.0, 0.0)}
    return replace(record, **left_out), said


@pytest.mark.parametrize(
    "one",
    [
        [*BLACK, "resign"],
        [*BLACK, "a1a9"],
        [*BLACK, "b1b4"],
        [*BLACK, "B1B3"],
        ["--say", "info depth 3 score cp 25 nodes 7", *BLACK, "resign"],
        [f"{BLACK[0]}_draw", *BLACK[1:], "resign"],
    ],
    ids=" ".join,
)
def test_all_ways_lead_to_the_same_record(
    one: list[str], game: Callable[..., PlannedGame], roster: Roster, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = game(one, WHITE)
    play(planned, roster)
    quick = play(planned, roster)  # once more: by now its moves are known
    monkeypatch.setattr("referee.play.IS_COMPILED", False)
    assert _essence(play(planned, roster)) == _essence(quick)
    roster.close()
    monkeypatch.setattr("referee.wire.IS_COMPILED", False)
    assert _essence(play(planned, roster)) == _essence(quick)
