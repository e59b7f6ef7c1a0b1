"""Plays the ordinary plies of a game in compiled calls, and gives everybody concerned what they missed meanwhile.

Ordinary is: both bots are processes here, both are told their clocks or what limits their search, and each answers
within a moment with one line and a legal move whose text is known. With anything else nothing is done but to say what
came of the question, if one was asked: `referee.play` goes on from there as if there were no other way.
"""

from __future__ import annotations

import ctypes
import os
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
from referee.sandbox.rest import SHORT_NS, Rest

_LONGEST_NS = 20_000_000
"""How long a call may take: signals wait meanwhile, and whoever watches the game."""
_MONOTONIC = 1
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
    """A timer of this thread, started and stopped by compiled code: a `timerfd`, for which Python 3.11 has no word."""

    def __init__(self) -> None:
        self.descriptor = ctypes.CDLL(None, use_errno=True).timerfd_create(_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
        if self.descriptor < 0:
            raise OSError(ctypes.get_errno(), "no timer could be made")
        self.ticks, self.silence = np.array([0, TICK_NS, 0, TICK_NS], np.int64), np.zeros(4, np.int64)
        """As two `struct timespec`: how often, and when first."""

    def __del__(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)


_tickers = threading.local()


def _ticker() -> _Ticker:
    if not hasattr(_tickers, "own"):
        _tickers.own = _Ticker()
    return cast(_Ticker, _tickers.own)


@cache
def _text_table(family: str) -> _TextTable:
    return _TextTable()


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
        self._ticker = _ticker()
        self._pause = 0
        width, key_bytes = -(-start.nbytes // 8), rules.kernel.KEY_SIZE * start.itemsize
        rows = np.empty((loop.MOST_PLIES + 1, width), np.uint64)
        self._states = rows.view(np.uint8)[:, : start.nbytes].view(start.dtype)
        """After how many plies each: the last is never overwritten, whoever keeps one."""
        self._states[0] = start
        self._plies = np.empty(loop.LISTED + rules.kernel.MAX_MOVES, np.int64)
        self._game = np.zeros(loop.GAME, np.int64)
        for place, value in (
            (loop.LEGAL, kernel.legal),
            (loop.PLAY, kernel.play),
            (loop.RESULT, kernel.result),
            (loop.STATES, rows.ctypes.data),
            (loop.SIZE, len(start)),
            (loop.ITEM, start.itemsize),
            (loop.CONFIG, config.ctypes.data),
            (loop.COUNT, len(config)),
            (loop.MOVES, self._plies[loop.LISTED :].ctypes.data),
            (loop.MOST, rules.kernel.MAX_MOVES),
            (loop.KEY_WORDS, key_bytes // 8),
            (loop.KEY_MASK, (1 << 8 * (key_bytes % 8)) - 1),
            (loop.ROW_WORDS, width),
            (loop.FIRST, rules.side(start, config)),
            (loop.KNOWN, -1),
            (loop.UNTIL, min(course.spec.adjudication.max_plies or loop.MOST_PLIES, loop.MOST_PLIES)),
            (loop.SHORT, SHORT_NS),
            (loop.TICKER, self._ticker.descriptor),
            (loop.TICKS, self._ticker.ticks.ctypes.data),
            (loop.SILENCE, self._ticker.silence.ctypes.data),
        ):
            self._game[place] = value
        letters = np.empty((loop.ROWS, MOST_BYTES), np.uint8)
        self._letters = memoryview(letters).cast("B")  # type: ignore[arg-type]
        self._put(loop.WORDS, loop.GO_WORDS)
        self._sides, desks = np.zeros((2, loop.SIDE), np.int64), np.zeros((2, PLACES + 8), np.int64)
        for side, bot in enumerate(self._bots):
            shown, tail = clock.tail(side)
            row = self._sides[side]
            row[loop.IS_CLOCK], row[loop.TAIL], row[loop.OUTPUT_MOST] = bool(shown), len(tail), bot.limits.output_bytes
            if shown:
                row[loop.SHOWN], row[loop.SHOWN_TOO] = shown
            self._put(loop.TAILS + side, tail)
            assert bot.wire.quick
            bot.wire.quick.lay_out(desks[side], letters[side].ctypes.data, letters[loop.ANSWER].ctypes.data)
        self._times = np.array([0, 0, clock.margin_ms, *(each.increment_ms for each in clock.controls)], np.float64)
        book = np.zeros(2 * loop.BOOK, np.int32)
        self._rest = desks, letters, self._table.texts, rows.reshape(-1), book, self._plies

    def _put(self, row: int, text: bytes) -> None:
        self._letters[row * MOST_BYTES : row * MOST_BYTES + len(text)] = text

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
            self._put(side, line)

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
        and (control.kind != "clock" or player.bot.capabilities.clocks)
        and (control.kind == "clock" or player.bot.limits.move_ms * MS >= QUICK_NS)
        for player, control in zip(players, clock.controls, strict=True)
    ):
        return None
    kernel = addresses_of(course.ruleset)
    return QuickPlies(course, players, clock, adjudicator, kernel, texts) if kernel else None
