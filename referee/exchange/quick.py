"""The quick way through one move of a conversation: ask, wait a moment, read, in one compiled call.

It serves the case that must be fast, and hands over everything else as it found it: see `QuickWay.ask`. What it did not
do, or did not understand, is done by `referee.wire` as if it had not been tried. Refuses to know what a line says
beyond `bestmove`.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from referee.exchange import MOMENT_MS, MOST_BYTES, MS
from referee.rules.cache import IS_COMPILED
from referee.rules.jit import jit

TICK_NS = MOMENT_MS * MS // 2
"""How often a ticker ticks."""
UNSENT = -1
"""Nothing was sent: something waits to be heard before."""
_IN, _OUT, _QUESTION, _ANSWER, _POLL, _POLLED, _TIME, _LIMIT, _SECONDS, _NANOSECONDS, PLACES = range(11)
"""What stands where on the desk, an array that the compiled function is given: descriptors, addresses, sizes, and room
for a `timespec` and behind it for a `pollfd` each. One array, since each costs as much as a call."""
_POLLIN = 1
_MONOTONIC = 1
_WORD = np.frombuffer(b"bestmove ", np.uint8).copy()
HEAD = len(_WORD)
_NEWLINE, _RETURN = 10, 13

if IS_COMPILED:
    from referee.rules.jit import c_function

    _write = c_function("write", "i8(i4,u8,u8)")
    _read = c_function("read", "i8(i4,u8,u8)")
    _poll = c_function("poll", "i4(u8,u8,i4)")
    _clock_gettime = c_function("clock_gettime", "i4(i4,u8)")

    @jit
    def _now(desk: npt.NDArray[np.int64]) -> Any:
        _clock_gettime(np.int32(_MONOTONIC), np.uint64(desk[_TIME]))
        return desk[_SECONDS] * 1_000_000_000 + desk[_NANOSECONDS]

    @jit
    def _is_answer(answer: npt.NDArray[np.uint8], size: int) -> bool:
        """Whether it is `bestmove`, a blank and something, in one line."""
        if size <= HEAD + 1 or answer[size - 1] != _NEWLINE:
            return False
        for place in range(HEAD):
            if answer[place] != _WORD[place]:
                return False
        for place in range(HEAD, size - 1):  # noqa: SIM110 - it is compiled
            if answer[place] == _NEWLINE or answer[place] == _RETURN:
                return False
        return True

    @jit
    def _listen(desk: npt.NDArray[np.int64], ticker: int, begin: int) -> Any:
        """Wait a moment; whether the bot's output, the first of the places, speaks, and nothing else."""
        places, count = np.uint64(desk[_POLL]), np.uint64(desk[_POLLED])
        if ticker < 0:
            return _poll(places, count, np.int32(MOMENT_MS)) == 1 and desk[PLACES] >> 48 == _POLLIN
        last = PLACES + desk[_POLLED]
        desk[last] = np.int64(ticker) | _POLLIN << 32
        while True:
            ready = _poll(places, count + np.uint64(1), np.int32(-1))
            if desk[last] >> 48 == 0:
                return ready == 1 and desk[PLACES] >> 48 == _POLLIN
            _read(np.int32(ticker), np.uint64(desk[_TIME]), np.uint64(8))
            if ready > 1:
                return ready == 2 and desk[PLACES] >> 48 == _POLLIN
            if _now(desk) - begin >= MS * MOMENT_MS - TICK_NS:
                return False

    @jit
    def ask(
        desk: npt.NDArray[np.int64], answer: npt.NDArray[np.uint8], size: int, ticker: int
    ) -> tuple[int, int, int, int]:
        """(bytes sent or UNSENT, bytes read, when the clock was started, when the answer came)

        The bytes read are negative where they are not `bestmove` and a word in one line of their own. With a `ticker`,
        a timer that ticks every `TICK_NS`, the last tick within the moment ends it: to set a timer for every wait takes
        longer than all the rest.
        """
        places, count = np.uint64(desk[_POLL]), np.uint64(desk[_POLLED])
        if _poll(places, count, np.int32(0)) != 0:
            return UNSENT, 0, 0, 0
        sent = _write(np.int32(desk[_IN]), np.uint64(desk[_QUESTION]), np.uint64(size))
        begin = _now(desk)
        if sent != size:
            return max(sent, 0), 0, begin, 0
        got = 0
        if _listen(desk, ticker, begin):  # what else there is to hear is for others to see to
            got = max(_read(np.int32(desk[_OUT]), np.uint64(desk[_ANSWER]), np.uint64(MOST_BYTES)), 0)
        end = _now(desk)
        return sent, got if got <= desk[_LIMIT] + 1 and _is_answer(answer, got) else -got, begin, end


class QuickWay:
    """To the process whose ends of pipes these are; `others` are descriptors with which it is over when they speak."""

    __slots__ = ("_answer", "_desk", "_kept", "_places", "_question", "_said")

    def __init__(self, stdin: int, stdout: int, others: tuple[int, ...], line_bytes: int) -> None:
        self._kept, self._answer = np.zeros(MOST_BYTES, np.uint8), np.zeros(MOST_BYTES, np.uint8)
        self._question, self._said = memoryview(self._kept), memoryview(self._answer)  # type: ignore[arg-type]
        self._places = (stdin, (stdout, *others), min(line_bytes, MOST_BYTES - 2))
        self._desk = np.zeros(PLACES + len(others) + 2, np.int64)
        self.lay_out(self._desk, self._kept.ctypes.data, self._answer.ctypes.data)

    def lay_out(self, desk: npt.NDArray[np.int64], question: int, answer: int) -> None:
        """Make a desk for this process, with question and answer at these addresses; the last place is a ticker's."""
        stdin, places, limit = self._places
        polled = desk[PLACES : PLACES + len(places)].view(np.int16)  # struct pollfd: an int, two shorts
        polled.view(np.int32)[::2] = places
        polled[2::4] = _POLLIN
        for place, value in (
            (_IN, stdin),
            (_OUT, places[0]),
            (_QUESTION, question),
            (_ANSWER, answer),
            (_POLL, polled.ctypes.data),
            (_POLLED, len(places)),
            (_TIME, desk[_SECONDS:].ctypes.data),
            (_LIMIT, limit),
        ):
            desk[place] = value

    def ask(self, question: bytes) -> tuple[int, bytes, bytes, int, int]:
        """Send a question of at most `MOST_BYTES`, wait a moment, read the answer: (sent, word, data, begin, end).

        `sent`: how many bytes of the question, or UNSENT. `word`: what stood behind `bestmove`, where exactly one such
        line came; else `data`: what came. `begin` and `end` on the monotonic clock in nanoseconds: when the question
        was sent, and when the answer was there or the moment was over, be it that something else speaks.
        """
        size = len(question)
        self._question[:size] = question
        return come_of(self._said, *ask(self._desk, self._answer, size, -1))


def come_of(said: memoryview, sent: int, got: int, begin_ns: int, end_ns: int) -> tuple[int, bytes, bytes, int, int]:
    """What came of a question, as `QuickWay.ask` tells it: what was said, and what `ask` returned."""
    if got > 0:
        return sent, bytes(said[HEAD : got - 1]), b"", begin_ns, end_ns
    return sent, b"", bytes(said[:-got]), begin_ns, end_ns


def get_ready() -> None:
    """Compile the quick way, or load it, before anybody's clock depends on it."""
    if IS_COMPILED:
        back, there = os.pipe()
        try:
            QuickWay(there, back, (), 1).ask(b"")
        finally:
            os.close(back)
            os.close(there)
