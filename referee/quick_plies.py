"""Plays the ordinary plies of a game in compiled calls, and gives everybody concerned what they missed meanwhile.

Ordinary is: both bots are processes here, both are told their clocks or what limits their search, and each answers
within a moment with one line and a legal move whose text is known. With anything else nothing is done but to say what
came of the question, if one was asked: `referee.play` goes on from there as if there were no other way.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from typing import cast

import numpy as np

from referee.adjudicate import Adjudicator
from referee.bot import Bot
from referee.clock import Clock
from referee.course import Course
from referee.exchange import MOST_BYTES, MS, QUICK_NS, loop
from referee.exchange.quick import PLACES, TICK_NS, come_of
from referee.move_text import MoveTexts
from referee.player import Player
from referee.rules.calling import Addresses, addresses_of
from referee.rules.core import Outcome
from referee.rules.rules import State
from referee.sandbox.rest import SHORT_NS, Rest

_LONGEST_NS = 20_000_000
"""How long a call may take: signals wait meanwhile, and whoever watches the game."""
_MONOTONIC = 1
_TICK = signal.SIGRTMIN + 7
_TO_THREAD = 4
"""`SIGEV_THREAD_ID`."""
_PAUSE = 16
"""How many plies are played the other way after an answer of several lines: such a bot will give more of them."""
_MOST_TEXTS = 3 * 2**14
"""The table of texts is never fuller than that."""


class _TextTable:
    """What `MoveTexts` knows of one family, as compiled code finds it."""

    def __init__(self) -> None:
        self.texts = np.zeros((loop.TEXTS, 3), np.uint64)
        self._count = 0

    def update(self, codes: Mapping[bytes, int]) -> None:
        """Take in the texts that have been met since, as far as there is room."""
        if len(codes) == self._count:
            return
        for text, code in islice(codes.items(), self._count if len(codes) > self._count else 0, _MOST_TEXTS):
            if len(text) <= loop.WORD_BYTES:
                loop.look_up(self.texts, np.array([*text], np.uint8), 0, len(text), code)
        self._count = len(codes)


class _Ticker:
    """A timer whose signals interrupt what this thread waits for; started and stopped by compiled code.

    Python has no word for any of it: `timer_create(2)`, and a handler that is no Python, does nothing, and lets no call
    go on that it interrupts.
    """

    def __init__(self) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        library.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
        library.signal.restype = ctypes.c_void_p
        library.signal(_TICK, ctypes.cast(library.abs, ctypes.c_void_p))
        library.siginterrupt(_TICK, 1)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (_TICK,))
        event = np.zeros(16, np.int32)  # struct sigevent: a value, the signal, how, the thread
        self.thread = threading.get_native_id()
        event[2:5] = _TICK, _TO_THREAD, self.thread
        timer = ctypes.c_void_p()
        if library.timer_create(_MONOTONIC, ctypes.c_void_p(event.ctypes.data), ctypes.byref(timer)):
            raise OSError(ctypes.get_errno(), "no timer could be made")
        self.timer = timer.value or 0
        self._process, self._delete = os.getpid(), library.timer_delete
        self.ticks, self.silence = np.array([0, TICK_NS, 0, TICK_NS], np.int64), np.zeros(4, np.int64)
        """As two `struct timespec`: how often, and when first."""
        self.ticks_address, self.silence_address = self.ticks.ctypes.data, self.silence.ctypes.data

    def __del__(self) -> None:
        if hasattr(self, "_process") and self._process == os.getpid():  # a copy of a process has none of its timers
            self._delete(ctypes.c_void_p(self.timer))


_own = threading.local()
"""The timer of this thread, and its rooms by family."""


def _ticker() -> _Ticker:
    if not hasattr(_own, "ticker") or _own.ticker.thread != threading.get_native_id():
        _own.ticker = _Ticker()
    return cast(_Ticker, _own.ticker)


@cache
def _text_table(family: str) -> _TextTable:
    return _TextTable()


class _Room:
    """What is large of what a game is played in: kept for the next one of its family, as fresh memory takes longer."""

    def __init__(self, start: State, most_moves: int) -> None:
        self.width = -(-start.nbytes // 8)
        self.rows = np.empty((loop.MOST_PLIES + 1, self.width), np.uint64)
        self.states = self.rows.view(np.uint8)[:, : start.nbytes].view(start.dtype)
        """After how many plies each: the last is never overwritten in its game, whoever keeps one."""
        self.plies = np.empty(loop.LISTED + most_moves, np.int64)
        self.book = np.zeros(2 * loop.BOOK, np.int32)
        self.desks = np.zeros((2, PLACES + 7), np.int64)
        letters = np.empty((loop.ROWS, MOST_BYTES), np.uint8)
        self.letters = memoryview(letters).cast("B")  # type: ignore[arg-type]
        self.text_address, self.states_address = letters.ctypes.data, self.rows.ctypes.data
        self.moves_address = self.plies[loop.LISTED :].ctypes.data
        self.arrays = self.desks, letters
        self.put(loop.WORDS, loop.GO_WORDS)

    def put(self, row: int, text: bytes) -> None:
        """Write a text at the begin of a row of letters."""
        self.letters[row * MOST_BYTES : row * MOST_BYTES + len(text)] = text


def _room(family: str, start: State, most_moves: int) -> _Room:
    """That of this thread, which plays one game at a time."""
    if not hasattr(_own, "rooms"):
        _own.rooms = {}
    rooms = cast(dict[str, _Room], _own.rooms)
    if family not in rooms:
        rooms[family] = _Room(start, most_moves)
    return rooms[family]


class QuickPlies:
    """Those of one game. Ask `open_for` for them, then `play_on` before every ply."""

    def __init__(  # noqa: PLR0917
        self,
        course: Course,
        players: Sequence[Player],
        clock: Clock,
        adjudicator: Adjudicator,
        kernel: Addresses,
        texts: MoveTexts,
    ) -> None:
        rules, start, config = course.ruleset.rules, course.line.start, course.ruleset.config
        self._course, self._players, self._clock, self._adjudicator = course, players, clock, adjudicator
        self._texts, self._table = texts.codes, _text_table(course.spec.family)
        self._bots = [cast(Bot, player.bot) for player in players]
        self._pause = 0
        self._room = room = _room(course.spec.family, start, rules.kernel.MAX_MOVES)
        self._states, self._plies, self._letters = room.states, room.plies, room.letters
        self._states[0] = start
        room.book.fill(0)
        ticker, key_bytes = _ticker(), rules.kernel.KEY_SIZE * start.itemsize
        game = [0] * loop.GAME
        for place, value in (
            (loop.LEGAL, kernel.legal),
            (loop.PLAY, kernel.play),
            (loop.RESULT, kernel.result),
            (loop.STATES, room.states_address),
            (loop.SIZE, len(start)),
            (loop.ITEM, start.itemsize),
            (loop.CONFIG, config.ctypes.data),
            (loop.COUNT, len(config)),
            (loop.MOVES, room.moves_address),
            (loop.MOST, rules.kernel.MAX_MOVES),
            (loop.KEY_WORDS, key_bytes // 8),
            (loop.KEY_MASK, (1 << 8 * (key_bytes % 8)) - 1),
            (loop.ROW_WORDS, room.width),
            (loop.FIRST, rules.side(start, config)),
            (loop.KNOWN, -1),
            (loop.UNTIL, min(course.spec.adjudication.max_plies or loop.MOST_PLIES, loop.MOST_PLIES)),
            (loop.SHORT, SHORT_NS),
            (loop.TICKER, ticker.timer),
            (loop.TICKS, ticker.ticks_address),
            (loop.SILENCE, ticker.silence_address),
        ):
            game[place] = value
        self._game, self._sides = np.array(game, np.int64), np.zeros((2, loop.SIDE), np.int64)
        for side, bot in enumerate(self._bots):
            shown, tail = clock.tail(side)
            row = self._sides[side]
            row[loop.IS_CLOCK], row[loop.TAIL], row[loop.OUTPUT_MOST] = bool(shown), len(tail), bot.limits.output_bytes
            if shown:
                row[loop.SHOWN], row[loop.SHOWN_TOO] = shown
            room.put(loop.TAILS + side, tail)
            assert bot.wire.quick
            line, answer = (room.text_address + row * MOST_BYTES for row in (side, loop.ANSWER))
            bot.wire.quick.lay_out(room.desks[side], line, answer)
        self._times = np.array([0, 0, clock.margin_ms, *(each.increment_ms for each in clock.controls)], np.float64)
        self._rest = *room.arrays, self._table.texts, room.rows.reshape(-1), room.book, room.plies

    def play_on(self) -> Outcome | None:
        """Play on as long as all is ordinary; the outcome by adjudication. That by the rules is the line's."""
        if self._pause:
            self._pause -= 1
            return None
        course, game, before = self._course, self._game, len(self._course.line.codes)
        if before >= game[loop.UNTIL] or course.is_in_phase or course.was_in_phase:
            return None
        rests = [bot.process.rest for bot in self._bots if bot.wire.is_plain]
        if not all(rest and rest.is_quiet for rest in rests) or len(rests) < 2:
            return None
        for rest in rests:
            cast(Rest, rest).end()
        known = max(0, int(game[loop.KNOWN]))
        self._plies[known:before] = course.line.codes[known:]
        game[loop.PLIES], game[loop.CODE] = before, 0
        game[loop.DEADLINE] = min(time.monotonic_ns() + _LONGEST_NS, self._bots[0].watchdog.next_ns)
        self._table.update(self._texts)
        for side, player in enumerate(self._players):
            self._lay_out(side, player)
        self._times[:2] = self._clock.left_ms
        ended, *came = loop.play_on(game, self._sides, self._times, *self._rest)
        after = int(game[loop.PLIES])
        self._let_rest(after, is_short=ended != loop.LONG)
        if ended == loop.ASKED:
            self._bots[self._side(after)].wire.asked = come_of(self._letters[loop.ANSWER * MOST_BYTES :], *came)
            if came[1] < 0:
                self._pause = _PAUSE
        if after > before:
            self._take_over(before, after)
        if course.line.outcome is None:
            for ply in range(max(before, after - 2), after):  # what it counts of earlier ones ends with these
                if outcome := self._adjudicator.ply(self._side(ply), ply + 1, None, False):
                    return outcome
        return None

    def _side(self, ply: int) -> int:
        """Who moves after so many plies."""
        return (int(self._game[loop.FIRST]) + ply) & 1

    def _lay_out(self, side: int, player: Player) -> None:
        line, row, bot = player.position, self._sides[side], self._bots[side]
        row[loop.LENGTH], row[loop.HAS_MOVES] = len(line), player.has_moves
        row[loop.OUTPUT], row[loop.ANSWERS] = bot.wire.output_bytes, 0
        row[loop.SINCE], row[loop.RESTED] = cast(Rest, bot.process.rest).counted
        if len(line) <= MOST_BYTES:
            self._room.put(side, line)

    def _let_rest(self, plies: int, *, is_short: bool) -> None:
        """Let rest whoever is not to move, and count the turns and rests of whoever has moved."""
        for side, bot in enumerate(self._bots):
            row, rest = self._sides[side], cast(Rest, bot.process.rest)
            is_next = side == self._side(plies)
            if row[loop.ANSWERS]:
                bot.session.ask_and_answer()
                bot.wire.arrived_ns, bot.wire.output_bytes = int(row[loop.ARRIVED]), int(row[loop.OUTPUT])
                rest.count(int(row[loop.SINCE]), int(row[loop.RESTED]), is_short=is_short or is_next)
            elif not is_next:
                rest.begin(time.monotonic_ns(), 0)

    def _take_over(self, before: int, after: int) -> None:
        self._clock.left_ms[:] = self._times[:2].tolist()
        for side, player in enumerate(self._players):
            begin = side * MOST_BYTES
            words = bytes(self._letters[begin + len(player.position) : begin + int(self._sides[side, loop.LENGTH])])
            player.follow_words(words)
        self._course.push_all(
            words.decode().split(" ")[before - after :],
            self._plies[before:after].tolist(),
            self._states[before + 1 : after + 1],
            int(self._game[loop.CODE]),
            self._plies[loop.TIMES + 3 * before : loop.TIMES + 3 * after].tobytes(),
        )


def open_for(
    course: Course, players: Sequence[Player], clock: Clock, adjudicator: Adjudicator, texts: MoveTexts
) -> QuickPlies | None:
    """The quick plies of a game; None for one that has none."""
    if not all(
        isinstance(player.bot, Bot)
        and player.bot.wire.quick
        and control.kind != "movetime"
        and not control.moves  # those are counted by the clock
        and (control.kind != "clock" or player.bot.capabilities.clocks)
        and (control.kind == "clock" or player.bot.limits.move_ms * MS >= QUICK_NS)
        for player, control in zip(players, clock.controls, strict=True)
    ):
        return None
    kernel = addresses_of(course.ruleset)
    return QuickPlies(course, players, clock, adjudicator, kernel, texts) if kernel else None
