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

from referee.exchange import MOMENT_MS, MOST_BYTES
from referee.rules.cache import IS_COMPILED
from referee.rules.jit import jit

UNSENT = -1
"""Nothing was sent: something waits to be heard before."""
_IN, _OUT, _QUESTION, _ANSWER, _POLL, _POLLED, _TIME, _LIMIT, _SECONDS, _NANOSECONDS, _PLACES = range(11)
"""What stands where on the desk, an array that the compiled function is given: descriptors, addresses, sizes, and room
for a `timespec` and behind it for a `pollfd` each. One array, since each costs as much as a call."""
_POLLIN = 1
_MONOTONIC = 1
_WORD = np.frombuffer(b"bestmove ", np.uint8).copy()
_HEAD = len(_WORD)
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
        if size <= _HEAD + 1 or answer[size - 1] != _NEWLINE:
            return False
        for place in range(_HEAD):
            if answer[place] != _WORD[place]:
                return False
        for place in range(_HEAD, size - 1):  # noqa: SIM110 - it is compiled
            if answer[place] == _NEWLINE or answer[place] == _RETURN:
                return False
        return True

    @jit
    def _ask(desk: npt.NDArray[np.int64], answer: npt.NDArray[np.uint8], size: int) -> tuple[int, int, int, int]:
        """(bytes sent or UNSENT, bytes read, when the clock was started, when the answer came)

        The bytes read are negative where they are not `bestmove` and a word in one line of their own.
        """
        places, count = np.uint64(desk[_POLL]), np.uint64(desk[_POLLED])
        if _poll(places, count, np.int32(0)) != 0:
            return UNSENT, 0, 0, 0
        sent = _write(np.int32(desk[_IN]), np.uint64(desk[_QUESTION]), np.uint64(size))
        begin = _now(desk)
        if sent != size:
            return max(sent, 0), 0, begin, 0
        got = 0
        # The bot's output is the first of the places: what else there is to hear is for others to see to.
        if _poll(places, count, np.int32(MOMENT_MS)) == 1 and desk[_PLACES] >> 48 == _POLLIN:
            got = max(_read(np.int32(desk[_OUT]), np.uint64(desk[_ANSWER]), np.uint64(MOST_BYTES)), 0)
        end = _now(desk)
        return sent, got if got <= desk[_LIMIT] + 1 and _is_answer(answer, got) else -got, begin, end


class QuickWay:
    """To the process whose ends of pipes these are; `others` are descriptors with which it is over when they speak."""

    __slots__ = ("_answer", "_desk", "_kept", "_question", "_said")

    def __init__(self, stdin: int, stdout: int, others: tuple[int, ...], line_bytes: int) -> None:
        question, self._answer = np.zeros(MOST_BYTES, np.uint8), np.zeros(MOST_BYTES, np.uint8)
        self._question, self._said = memoryview(question), memoryview(self._answer)  # type: ignore[arg-type]
        places = (stdout, *others)
        desk = self._desk = np.zeros(_PLACES + len(places), np.int64)
        polled = desk[_PLACES:].view(np.int16)  # struct pollfd: an int, two shorts
        polled.view(np.int32)[::2] = places
        polled[2::4] = _POLLIN
        for place, value in (
            (_IN, stdin),
            (_OUT, stdout),
            (_QUESTION, question.ctypes.data),
            (_ANSWER, self._answer.ctypes.data),
            (_POLL, polled.ctypes.data),
            (_POLLED, len(places)),
            (_TIME, desk[_SECONDS:].ctypes.data),
            (_LIMIT, min(line_bytes, MOST_BYTES - 2)),
        ):
            desk[place] = value
        self._kept = question  # its address is on the desk

    def ask(self, question: bytes) -> tuple[int, bytes, bytes, int, int]:
        """Send a question of at most `MOST_BYTES`, wait a moment, read the answer: (sent, word, data, begin, end).

        `sent`: how many bytes of the question, or UNSENT. `word`: what stood behind `bestmove`, where exactly one such
        line came; else `data`: what came. `begin` and `end` on the monotonic clock in nanoseconds: when the question
        was sent, and when the answer was there or the moment was over, be it that something else speaks.
        """
        size = len(question)
        self._question[:size] = question
        sent, got, begin_ns, end_ns = _ask(self._desk, self._answer, size)
        if got > 0:
            return sent, bytes(self._said[_HEAD : got - 1]), b"", begin_ns, end_ns
        return sent, b"", bytes(self._said[:-got]), begin_ns, end_ns


def get_ready() -> None:
    """Compile the quick way, or load it, before anybody's clock depends on it."""
    if IS_COMPILED:
        back, there = os.pipe()
        try:
            QuickWay(there, back, (), 1).ask(b"")
        finally:
            os.close(back)
            os.close(there)
