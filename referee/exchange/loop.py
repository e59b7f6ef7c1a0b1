"""Ordinary plies, one after the other, in one compiled call: asked, answered at once, legal, played, judged.

Whatever is not ordinary ends the call before anything was done about it: `referee.quick_plies` says what that is, and
goes on from there. Kernels are called by the addresses of their functions, so that one compiled loop serves all
families. It is one long function on few arrays, since each function and each array takes long to compile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from referee.exchange import MOST_BYTES, MS, QUICK_NS
from referee.exchange.quick import HEAD, PLACES, UNSENT
from referee.rules.cache import IS_COMPILED
from referee.rules.jit import jit

# The game, an array of int64: what the kernel is called with, then how far the game is.
(LEGAL, PLAY, RESULT, STATES, SIZE, ITEM, CONFIG, COUNT, MOVES, MOST) = range(10)
(KEY_WORDS, KEY_MASK, ROW_WORDS, FIRST, KNOWN, PLIES, UNTIL, DEADLINE, SHORT, CODE) = range(10, 20)
(TICKER, TICKS, SILENCE) = range(20, 23)
GAME = 23
"""`KEY_WORDS` whole words and the bits of `KEY_MASK` in the next are what repetition compares, of `ROW_WORDS` a state;
`FIRST` is who moved first; the first `KNOWN` of `PLIES` plies are in the book of positions, and the start if that is
not negative; the call ends at `UNTIL` plies, when the monotonic clock has come to `DEADLINE`, after a turn or a rest
not shorter than `SHORT`, or when the kernel's result is `CODE`. `TICKER` is a timer whose signals interrupt this
thread, started and stopped by what stands at the addresses `TICKS` and `SILENCE`."""
NO_TIMER = 2**31 - 1
"""For `TICKER` where there is none: nothing is played."""
# A side, a row of int64.
(LENGTH, HAS_MOVES, IS_CLOCK, TAIL, SHOWN, SHOWN_TOO, OUTPUT, OUTPUT_MOST) = range(8)
(ARRIVED, SINCE, RESTED, ANSWERS) = range(8, 12)
SIDE = 12
"""`LENGTH` of its `position` line and whether that has moves; `IS_CLOCK` whether `go` tells times, those of `SHOWN` and
`SHOWN_TOO`, and the length of its `TAIL`; what the bot has written, and may write; when its last answer came, and as
`referee.sandbox.rest` counts it, since when it rests and how long it has rested; how many of its answers there were."""
MARGIN, INCREMENT, CLOCKS = 2, 3, 5
"""Behind what both sides have left: the margin, and their increments. In milliseconds."""
ANSWER, TAILS, WORDS, ROWS = 2, 3, 5, 6
"""Rows of letters: the lines of both sides, the answer, how `go` ends for both, and what stands in `GO_WORDS`."""
GO_WORDS = b"\ngo p1time  p2time  moves"
_GO, _TIME, _MOVES, _END = 0, 11, 19, len(GO_WORDS)
NOTHING, ASKED, OVER, LONG = range(4)
"""Why a call ended: nothing is open; a question is; the rules ended the game; a turn or a rest was no short one."""
MOST_PLIES = 4000
"""The longest game that is followed here."""
BOOK = 8192
"""Places in the book of positions, more than plies, a power of two; behind them how often each stood on the board."""
TIMES = MOST_PLIES
LISTED = 4 * MOST_PLIES
"""Where in the numbers of the plies, behind their codes, three times for each begin, and the room for legal moves."""
TEXTS = 1 << 16
"""Places in the table of move texts, a power of two."""
WORD_BYTES = 15
"""The longest text in that table."""
_ROOM = 400
"""More than is ever written behind a line."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HIGH = np.uint64(32)
_LENGTH_BITS = np.uint64(56)
_NONE = np.uint64(0)

if IS_COMPILED:
    from referee.exchange.quick import ask, has_spoken, set_waiting
    from referee.rules.calling import FAILED, call_legal, call_play, call_result
    from referee.rules.jit import c_function

    _timer_settime = c_function("timer_settime", "i4(u8,i4,u8,u8)")

    @jit
    def look_up(texts: Any, text: Any, begin: int, size: int, code: int) -> int:
        """The code of a move's text, -1 for one that is not in the table; put there where `code` is not negative.

        A text is two words with its length on top, so that different ones never look the same.
        """
        low, high = _NONE, np.uint64(size) << _LENGTH_BITS
        for letter in range(size):
            if letter < 8:
                low |= np.uint64(text[begin + letter]) << np.uint64(8 * letter)
            else:
                high |= np.uint64(text[begin + letter]) << np.uint64(8 * letter - 64)
        mixed = (low ^ (high * _MIX)) * _MIX
        place: Any = np.int64((mixed ^ (mixed >> _HIGH)) & np.uint64(TEXTS - 1))
        while texts[place, 1] != _NONE and (texts[place, 0] != low or texts[place, 1] != high):
            place = (place + 1) & (TEXTS - 1)
        if code >= 0:
            texts[place, 0], texts[place, 1], texts[place, 2] = low, high, np.uint64(code)
        return np.int64(texts[place, 2]) if texts[place, 1] != _NONE else np.int64(-1)  # type: ignore[return-value]

    @jit
    def _copy(letters: Any, row: int, at: int, source: int, begin: int, end: int) -> int:
        for place in range(begin, end):
            letters[row, at + place - begin] = letters[source, place]
        return at + end - begin

    @jit
    def _put_number(letters: Any, row: int, at: int, number: int) -> int:
        size, rest = 1, number
        while rest >= 10:
            rest //= 10
            size += 1
        for place in range(size):
            letters[row, at + size - 1 - place] = 48 + number % 10
            number //= 10
        return at + size

    @jit
    def play_on(
        game: Any,
        sides: Any,
        clocks: Any,
        desks: Any,
        letters: Any,
        texts: Any,
        states: Any,
        book: Any,
        plies: Any,
    ) -> tuple[int, int, int, int, int]:
        """(why it ended, and of an open question what `referee.exchange.quick.ask` returns)

        `plies`: first the code of each, then three times for each in microseconds, as `referee.plies` has them.

        Nobody is asked while somebody speaks unasked, on whatever descriptor: that is looked at first, and once in a
        millisecond; and before each question whether the output of who is asked is empty.
        """
        ended, sent, got, begin, end = NOTHING, 0, 0, 0, 0
        if _timer_settime(np.uint64(game[TICKER]), np.int32(0), np.uint64(game[TICKS]), np.uint64(0)) != 0:
            return ended, sent, got, begin, end
        for each in range(2):
            set_waiting(desks[each], True)
        looked = game[DEADLINE]  # so long ago, or so soon, that it is looked at first
        size, item, config, count = game[SIZE], game[ITEM], game[CONFIG], game[COUNT]
        width, words, mask = game[ROW_WORDS], game[KEY_WORDS], np.uint64(game[KEY_MASK])
        number, word, code = 0, 0, 0
        while True:
            ply = game[KNOWN]
            is_new = ply == game[PLIES]
            state = game[STATES] + 8 * width * ply
            after = state + 8 * width
            if is_new:
                number = (game[FIRST] + ply) & 1
                if ply >= game[UNTIL] or end >= game[DEADLINE]:
                    break
                if abs(end - looked) >= MS:
                    looked = end
                    if has_spoken(desks[0]) or has_spoken(desks[1]):
                        break
                if sides[number, IS_CLOCK] and (max(0.0, clocks[number]) + clocks[MARGIN]) * MS < QUICK_NS:
                    break
                if max(sides[0, LENGTH], sides[1, LENGTH]) > MOST_BYTES - _ROOM:
                    break
                at = sides[number, LENGTH]
                if sides[number, IS_CLOCK]:
                    for each in range(2):
                        at = _copy(letters, number, at, WORDS, (_GO, _TIME)[each], (_TIME, _MOVES)[each])
                        left: Any = np.int64(clocks[sides[number, SHOWN + each]])
                        at = _put_number(letters, number, at, max(1, left))
                at = _copy(letters, number, at, TAILS + number, 0, sides[number, TAIL])
                sent, got, begin, end = ask(desks[number], letters[ANSWER], at, True)
                if sent == UNSENT:
                    break
                ended, word = ASKED, got - HEAD - 1
                if sent != at or got <= 0 or word > WORD_BYTES:
                    break
                code = look_up(texts, letters[ANSWER], HEAD, word, -1)
                if code < 0 or sides[number, OUTPUT] + got > sides[number, OUTPUT_MOST]:
                    break
                low, high = (
                    LISTED,
                    LISTED + call_legal(game[LEGAL], state, size, item, config, count, game[MOVES], game[MOST]),
                )
                top = high
                while low < high:
                    middle = (low + high) >> 1
                    if plies[middle] < code:
                        low = middle + 1
                    else:
                        high = middle
                if low >= top or plies[low] != code:
                    break
            elif ply >= 0:
                code = plies[ply]
            if ply >= 0 and call_play(game[PLAY], state, size, item, config, count, code, after):
                break
            # The position after the ply, or the start, into the book.
            row, mixed, gap, times = (ply + 1) * width, _NONE, np.int64(0), np.int64(1)
            for place in range(words):
                mixed = (mixed ^ states[row + place]) * _MIX
                mixed ^= mixed >> _HIGH
            if mask:
                mixed = (mixed ^ (states[row + words] & mask)) * _MIX
                mixed ^= mixed >> _HIGH
            found = np.int64(mixed & np.uint64(BOOK - 1))
            while book[found] != 0:
                old, is_same = (np.int64(book[found]) - 1) * width, True
                for place in range(words):
                    is_same &= states[old + place] == states[row + place]
                if mask:
                    is_same &= (states[old + words] ^ states[row + words]) & mask == _NONE
                if is_same:
                    gap = ply + 2 - np.int64(book[found])
                    times = np.int64(book[BOOK + ply + 1 - gap]) + 1
                    break
                found = (found + 1) & (BOOK - 1)
            book[found], book[BOOK + ply + 1] = ply + 2, times
            if is_new:
                result = call_result(game[RESULT], after, size, item, config, count, times, gap)
                if result == FAILED:
                    break
                # From here on the ply is played: nothing may hand it back.
                ended, game[CODE], plies[ply], game[PLIES] = NOTHING, result, code, ply + 1
                for each in range(2):
                    at = sides[each, LENGTH]
                    if not sides[each, HAS_MOVES]:
                        at, sides[each, HAS_MOVES] = _copy(letters, each, at, WORDS, _MOVES, _END), 1
                    letters[each, at] = 32
                    sides[each, LENGTH] = _copy(letters, each, at + 1, ANSWER, HEAD, HEAD + word)
                took_ns = end - begin
                ms, lag_ms = took_ns / MS, max(0, took_ns - MS) / MS
                charged_ms = ms - lag_ms
                if sides[number, IS_CLOCK]:
                    clocks[number] = max(0.0, clocks[number] - charged_ms) + clocks[INCREMENT + number]
                else:
                    charged_ms = 0.0
                plies[TIMES + 3 * ply] = np.int64(1000 * ms + 0.5)
                plies[TIMES + 3 * ply + 1] = np.int64(1000 * charged_ms + 0.5)
                plies[TIMES + 3 * ply + 2] = np.int64(1000 * lag_ms + 0.5)
                turn_ns = np.int64(ms * 1e6)
                rest_ns = end - turn_ns - sides[number, SINCE]
                sides[number, OUTPUT] += got
                sides[number, ANSWERS] += 1
                sides[number, RESTED] += rest_ns
                sides[number, ARRIVED] = sides[number, SINCE] = end
                if result:
                    ended = OVER
                elif turn_ns >= game[SHORT] or rest_ns >= game[SHORT]:
                    ended = LONG
            game[KNOWN] = ply + 1
            if ended != NOTHING:
                break
        for each in range(2):
            set_waiting(desks[each], False)
        _timer_settime(np.uint64(game[TICKER]), np.int32(0), np.uint64(game[SILENCE]), np.uint64(0))
        return ended, sent, got, begin, end


def get_ready() -> None:
    """Compile the loop, or load it: called for a game that has no plies."""
    if IS_COMPILED:
        game, letters, texts = np.zeros(GAME, np.int64), np.zeros((ROWS, 1), np.uint8), np.zeros((TEXTS, 3), np.uint64)
        game[TICKER] = NO_TIMER
        look_up(texts, letters[0], 0, 0, 0)
        sides, desks = np.zeros((2, SIDE), np.int64), np.zeros((2, PLACES), np.int64)
        states, book, plies = np.zeros(1, np.uint64), np.zeros(2 * BOOK, np.int32), np.zeros(1, np.int64)
        play_on(game, sides, np.zeros(CLOCKS), desks, letters, texts, states, book, plies)
