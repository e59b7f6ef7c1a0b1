"""The quick way through one move of a conversation: ask, wait a moment, read, in one compiled call.

It serves the case that must be fast, and hands over everything else as it found it: see `QuickWay.ask`. What it did not
do, or did not understand, is done by `referee.wire` as if it had not been tried. Refuses to know what a line says
beyond `bestmove`.
"""

from __future__ import annotations

import os
import termios
from typing import Any

import numpy as np
import numpy.typing as npt

from referee.exchange import MOMENT_MS, MOST_BYTES, MS
from referee.rules.cache import IS_COMPILED
from referee.rules.jit import jit

TICK_NS = MOMENT_MS * MS // 2
"""How often a tick comes."""
UNSENT = -1
"""Nothing was sent: something waits to be heard before."""
_IN, _OUT, _QUESTION, _ANSWER, _POLL, _POLLED, _TIME, _LIMIT, _SECONDS, _NANOSECONDS, PLACES = range(11)
"""What stands where on the desk, an array that the compiled function is given: descriptors, addresses, sizes, and room
for a `timespec` and behind it for a `pollfd` each. One array, since each costs as much as a call."""
_POLLIN = 1
_MONOTONIC = 1
_HOW_MUCH, _NOT_WAITING = np.uint64(termios.FIONREAD), np.uint64(termios.FIONBIO)
_WORD = np.frombuffer(b"bestmove ", np.uint8).copy()
HEAD = len(_WORD)
_NEWLINE, _RETURN = 10, 13

if IS_COMPILED:
    from referee.rules.jit import c_function

    _write = c_function("write", "i8(i4,u8,u8)")
    _read = c_function("read", "i8(i4,u8,u8)")
    _poll = c_function("poll", "i4(u8,u8,i4)")
    _clock_gettime = c_function("clock_gettime", "i4(i4,u8)")
    _ioctl = c_function("ioctl", "i4(i4,u8,u8)")

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
    def has_spoken(desk: npt.NDArray[np.int64]) -> bool:
        """Whether anything waits to be heard, of the bot or of the others."""
        return _poll(np.uint64(desk[_POLL]), np.uint64(desk[_POLLED]), np.int32(0)) != 0  # type: ignore[no-any-return]

    @jit
    def _has_output(desk: npt.NDArray[np.int64]) -> bool:
        """Whether the bot's output waits to be read: in a tenth of the time that asking for all of the places takes."""
        desk[_SECONDS] = 0
        failed = _ioctl(np.int32(desk[_OUT]), _HOW_MUCH, np.uint64(desk[_TIME]))
        return failed != 0 or desk[_SECONDS] != 0  # type: ignore[no-any-return]

    @jit
    def set_waiting(desk: npt.NDArray[np.int64], is_waiting: bool) -> None:
        """Whether to read the bot's output is to wait for it, until a signal comes."""
        desk[_SECONDS] = 0 if is_waiting else 1
        _ioctl(np.int32(desk[_OUT]), _NOT_WAITING, np.uint64(desk[_TIME]))

    @jit
    def ask(
        desk: npt.NDArray[np.int64], answer: npt.NDArray[np.uint8], size: int, is_ticking: bool
    ) -> tuple[int, int, int, int]:
        """(bytes sent or UNSENT, bytes read, when the clock was started, when the answer came)

        The bytes read are negative where they are not `bestmove` and a word in one line of their own. `is_ticking`:
        reading waits (`set_waiting`) and a signal interrupts it every `TICK_NS`, the last one within the moment for
        good; what else there is to hear is looked at by the caller now and then. To set a timer for every wait, and to
        wait for more than one thing at once, takes longer than all the rest.
        """
        if _has_output(desk) if is_ticking else has_spoken(desk):
            return UNSENT, 0, 0, 0
        sent = _write(np.int32(desk[_IN]), np.uint64(desk[_QUESTION]), np.uint64(size))
        begin = _now(desk)
        if sent != size:
            return max(sent, 0), 0, begin, 0
        got, end = 0, begin
        if is_ticking:
            got = -1
            while got < 0 and end - begin < MS * MOMENT_MS - TICK_NS:
                got = _read(np.int32(desk[_OUT]), np.uint64(desk[_ANSWER]), np.uint64(MOST_BYTES))
                end = _now(desk)
            got = max(got, 0)
        else:
            ready = _poll(np.uint64(desk[_POLL]), np.uint64(desk[_POLLED]), np.int32(MOMENT_MS))
            if ready == 1 and desk[PLACES] >> 48 == _POLLIN:  # what else there is to hear is for others to see to
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
        self._desk = np.zeros(PLACES + len(others) + 1, np.int64)
        self.lay_out(self._desk, self._kept.ctypes.data, self._answer.ctypes.data)

    def lay_out(self, desk: npt.NDArray[np.int64], question: int, answer: int) -> None:
        """Make a desk for this process, with question and answer at these addresses."""
        stdin, places, limit = self._places
        begin = desk.ctypes.data
        addresses = question, answer, begin + 8 * PLACES, len(places), begin + 8 * _SECONDS
        polled = [place | _POLLIN << 32 for place in places]  # struct pollfd: an int, two shorts
        desk[: PLACES + len(places)] = stdin, places[0], *addresses, limit, 0, 0, *polled

    def ask(self, question: bytes) -> tuple[int, bytes, bytes, int, int]:
        """Send a question of at most `MOST_BYTES`, wait a moment, read the answer: (sent, word, data, begin, end).

        `sent`: how many bytes of the question, or UNSENT. `word`: what stood behind `bestmove`, where exactly one such
        line came; else `data`: what came. `begin` and `end` on the monotonic clock in nanoseconds: when the question
        was sent, and when the answer was there or the moment was over, be it that something else speaks.
        """
        size = len(question)
        self._question[:size] = question
        return come_of(self._said, *ask(self._desk, self._answer, size, False))


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
