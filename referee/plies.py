"""How the plies of a game were played: one by one, or all of a game packed in few objects.

A game has hundreds of plies, and its record goes from process to process: packed, that costs next to nothing.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import overload


@dataclass(slots=True)
class Ply:
    """One ply as it was played. Times in milliseconds with three decimals.

    `ms` is from the flush of `go` to the arrival of `bestmove`; `lag_ms` what of that the machine added (see
    `referee.lag`), `charged_ms` what the clock was charged (0 without a clock). `book` marks an opening ply nobody
    thought about.
    """

    ms: float = 0.0
    charged_ms: float = 0.0
    lag_ms: float = 0.0
    score: int | None = None
    depth: int | None = None
    nodes: int | None = None
    book: bool = False
    pv: str = ""
    """The line it expected, its own move first, as it wrote it (`referee.variation`); left out of the JSON if none."""


NAMES = tuple(one.name for one in fields(Ply))
_Said = tuple[int | None, int | None, int | None, bool, str]
_NOTHING: _Said = (None, None, None, False, "")
_US = 1000
"""Microseconds in a millisecond."""
_JSON = '{"ms":%r,"charged_ms":%r,"lag_ms":%r,"score":null,"depth":null,"nodes":null,"book":false}'


class Plies(Sequence[Ply]):
    """The plies of a game as they are played: grows at its end, and what stands in it does not change.

    Times in whole microseconds. What is rare, a score say, is kept beside them.
    """

    __slots__ = ("_said", "_times")

    def __init__(self, plies: Iterable[Ply] = ()) -> None:
        self._times = array("q")
        """Three for each ply."""
        self._said: dict[int, _Said] = {}
        for ply in plies:
            self.append(ply)

    def add_times(self, ms: float, charged_ms: float, lag_ms: float) -> None:
        """One more ply, of which nothing else is known."""
        self._times.extend((int(_US * ms + 0.5), int(_US * charged_ms + 0.5), int(_US * lag_ms + 0.5)))

    def add_all(self, times: bytes) -> None:
        """More plies of which nothing else is known: three native int64 for each, in microseconds."""
        self._times.frombytes(times)

    def append(self, ply: Ply) -> None:
        """One more ply."""
        said = (ply.score, ply.depth, ply.nodes, ply.book, ply.pv)
        if said != _NOTHING:
            self._said[len(self)] = said
        self.add_times(ply.ms, ply.charged_ms, ply.lag_ms)

    def __len__(self) -> int:
        return len(self._times) // 3

    def __iter__(self) -> Iterator[Ply]:
        said, times = self._said, iter(self._times)
        for number, (us, charged_us, lag_us) in enumerate(zip(times, times, times, strict=True)):
            yield Ply(us / _US, charged_us / _US, lag_us / _US, *said.get(number, _NOTHING))

    @overload
    def __getitem__(self, place: int) -> Ply: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Ply, ...]: ...

    def __getitem__(self, place: int | slice) -> Ply | tuple[Ply, ...]:
        if isinstance(place, slice):
            return tuple(self[number] for number in range(len(self))[place])
        number = range(len(self))[place]
        us, charged_us, lag_us = self._times[3 * number : 3 * number + 3]
        return Ply(us / _US, charged_us / _US, lag_us / _US, *self._said.get(number, _NOTHING))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Plies):
            return self._times == other._times and self._said == other._said
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(Ply.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[object, ...]:
        return _unpacked, (self._times.tobytes(), self._said)

    def __repr__(self) -> str:
        return f"Plies({list(self)})"

    @property
    def lags_us(self) -> array[int]:
        """How late the referee was in each."""
        return self._times[2::3]

    def json(self) -> str:
        """What `json.dumps` makes of them in a record, in a fraction of its time."""
        times = [us / _US for us in self._times]
        found = list(map(_JSON.__mod__, zip(times[::3], times[1::3], times[2::3], strict=True)))
        for number, (score, depth, nodes, book, pv) in self._said.items():
            ms, charged_ms, lag_ms = times[3 * number : 3 * number + 3]
            line = f',"pv":{_dumped(pv)}' if pv else ""
            found[number] = (
                f'{{"ms":{ms!r},"charged_ms":{charged_ms!r},"lag_ms":{lag_ms!r},"score":{_number(score)},'
                f'"depth":{_number(depth)},"nodes":{_number(nodes)},"book":{"true" if book else "false"}{line}}}'
            )
        return f"[{','.join(found)}]"


def _unpacked(times: bytes, said: dict[int, _Said]) -> Plies:
    found = Plies()
    found._times.frombytes(times)
    found._said = said
    return found


def _dumped(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _number(value: int | None) -> str:
    return "null" if value is None else str(value)
