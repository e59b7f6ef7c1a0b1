"""Replays of games for the viewer: scenes, times, clocks and scores, from a record or from the plies of a running game.

Scenes are cached; those of a running game are extended as it grows.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from cachetools import LRUCache

from arena.analysis.win_model import shipped
from arena.documents.game import GameItem
from arena.pages.drawing import plot
from arena.pages.drawing.scene import Scene, Scenes
from arena.pages.language import text, translated
from arena.plain_text import plain
from referee.game.clock import GameClock
from referee.game.record import GameRecord, Ply
from referee.game.spec import GameSpec, read_time_controls
from referee.rules import load
from referee.rules.core import SIDES, ParseError, Side
from referee.rules.ply_reference import read_ply
from referee.rules.position import IllegalMoveError
from referee.rules.rules import Rules, Ruleset

MAX_SCENES = 20_000
"""Maximum of cached scenes of all games together, at about 5 KB each."""
_MARGIN_MS = 10**9
"""A side that played a move had the time for it: the margin, which a record does not tell, was enough."""
_DECIDED, _APART = 1000, 200
"""In centipawns: scores are clipped at `_DECIDED`, and scores `_APART` from each other disagree."""


def _ply(number: float) -> str:
    """Return the label of a number on the axis of plies; empty for a fraction."""
    return f"{number:g}" if number == int(number) else ""


def _percent(chance: float) -> float:
    """Convert winning chances from -1 to 1 to percent."""
    return 50 + 50 * chance


_WHOLE = plot.Axis(text=_ply)


@dataclass(frozen=True, slots=True)
class Replay:
    """A game as far as it has been played. `plies[i]` led to `scenes[i + 1]`; `problem` says why scenes are missing."""

    rules: Rules
    scenes: Sequence[Scene]
    plies: Sequence[Ply]
    clocks: Sequence[tuple[float | None, float | None]]
    """Both clocks (ms) at every scene; None without a clock."""
    is_over: bool
    problem: str = ""
    ruleset: Ruleset | None = None

    @property
    def sides(self) -> tuple[str, str]:
        """The names of the first and the second side in this game, in the language of the page."""
        first, second = (self.ruleset or self.rules).sides
        return translated(first), translated(second)

    @property
    def last(self) -> int:
        """The number of the last ply."""
        return len(self.scenes) - 1

    def clamp(self, ply: int) -> int:
        """Return the ply, or the nearest that exists."""
        return max(0, min(ply, self.last))

    def ply_named(self, text: str) -> int:
        """Return the ply that a text names by a number (`33`), or by a move and its side (`17y`, `17 White`).

        If the game has no such ply, return the nearest one. Raises ParseError.
        """
        begins = int(self.last > 0 and self.scenes[1].side == "second")
        return self.clamp(read_ply(text, self.ruleset or self.rules.settle(), begins))

    def score(self, number: int) -> int | None:
        """Return the score that the mover of a ply reported, in centipawns from the view of the first side."""
        found = self.plies[number - 1].score if 0 < number <= len(self.plies) else None
        return -found if found is not None and self._side(number) == "second" else found

    def chances(self, number: int) -> float | None:
        """Return the first side's winning chances (-1 to 1) by the score that the mover of a ply reported."""
        score = self.score(number)
        return None if score is None else round(shipped(self.rules.family).winning_chances(score), 3)

    def disagreements(self) -> list[int]:
        """Return the plies at which the latest scores of the two bots differ by `_APART` or more."""
        latest: dict[Side | None, tuple[int, int]] = {}
        numbers = []
        for number in range(1, len(self.plies) + 1):
            if (score := self.score(number)) is not None:
                latest[self._side(number)] = number, max(-_DECIDED, min(_DECIDED, score))
            both = [score for at, score in latest.values() if number - at < 2]
            if len(both) == 2 and abs(both[0] - both[1]) >= _APART:
                numbers.append(number)
        return numbers

    def line(self, number: int) -> list[Scene]:
        """Return the principal variation reported at a ply, up to its first illegal move, as scenes.

        The first scene is the position before that ply.
        """
        pv = self.plies[number - 1].pv.split() if 0 < number <= len(self.plies) else []
        if not pv or self.ruleset is None:
            return []
        scenes = Scenes(self.ruleset, self.scenes[number - 1].position)
        with suppress(ParseError, IllegalMoveError):
            for end in range(1, len(pv) + 1):
                scenes.extend(pv[:end])
        return scenes.items

    def last_of(self, side: Side, ply: int) -> int:
        """Return the last ply of a side up to `ply`; 0 without one."""
        return next((number for number in range(ply, 0, -1) if self._side(number) == side), 0)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the move list: `number`, and for each side (scene, ply), or None if it did not move."""
        rows: list[dict[str, Any]] = []
        for scene, ply in zip(self.scenes[1:], self.plies, strict=False):
            if scene.side == "first" or not rows or rows[-1]["second"] is not None:
                rows.append({"number": len(rows) + 1, "first": None, "second": None})
            rows[-1][scene.side or "first"] = (scene, ply)
        return rows

    def times_chart(self) -> Any:
        """Draw the time of every move."""
        series = self._series(lambda ply: None if ply.book else ply.own_ms / 1000)
        return plot.bars(
            text("Time per move in seconds"), series, _WHOLE, width=plot.SMALL_WIDTH, height=plot.SMALL_HEIGHT
        )

    def scores_chart(self) -> Any:
        """Draw the scores that both bots reported, as winning chances of the first side in percent."""
        series = []
        for number, (side, name) in enumerate(zip(SIDES, self.sides, strict=True), 1):
            points = [
                plot.Point(ply, _percent(chances))
                for ply in range(1, len(self.plies) + 1)
                if self._side(ply) == side and (chances := self.chances(ply)) is not None
            ]
            series.append(plot.Series(name, points, number))
        spans: list[tuple[float, float]] = []
        for number in self.disagreements():
            start = spans.pop()[0] if spans and spans[-1][1] == number - 0.5 else number - 0.5
            spans.append((start, number + 0.5))
        axis = plot.Axis(text=_ply, bounds=(0, 100), unit=" %", spans=spans, span_name=text("engines disagree"))
        title = text("Evaluation: winning chances of %(side)s in percent") % {"side": self.sides[0]}
        return plot.lines(title, series, axis, width=plot.SMALL_WIDTH, height=plot.SMALL_HEIGHT)

    def chances_chart(self, chances: Mapping[int, float]) -> Any:
        """Draw the first side's winning chances (-1 to 1) before each ply, as an engine evaluated them."""
        points = [plot.Point(number, _percent(chance)) for number, chance in sorted(chances.items())]
        axis = plot.Axis(text=_ply, bounds=(0, 100), unit=" %")
        title = text("Winning chances of %(side)s before each ply, in percent") % {"side": self.sides[0]}
        series = [plot.Series(text("engine"), points, 1)]
        return plot.lines(title, series, axis, width=plot.SMALL_WIDTH, height=plot.SMALL_HEIGHT)

    def clocks_chart(self) -> Any:
        """Draw the time left on both clocks."""
        series = []
        for index, name in enumerate(self.sides):
            points = [
                plot.Point(number, pair[index] / 1000)  # type: ignore[operator]
                for number, pair in enumerate(self.clocks)
                if pair[index] is not None
            ]
            series.append(plot.Series(name, points, index + 1))
        return plot.lines(
            text("Time left in seconds"), series, _WHOLE, width=plot.SMALL_WIDTH, height=plot.SMALL_HEIGHT
        )

    def share(self, ply: int, index: int) -> float | None:
        """Return the fraction of its initial time that a side has left, at most 1; None without a clock."""
        left, whole = self.clocks[ply][index], self.clocks[0][index]
        return None if left is None or not whole else round(min(1.0, left / whole), 3)

    def _side(self, number: int) -> Side | None:
        return self.scenes[number].side if number < len(self.scenes) else None

    def _series(self, value: Any) -> list[plot.Series]:
        found: tuple[list[plot.Point], list[plot.Point]] = ([], [])
        for number, ply in enumerate(self.plies, 1):
            measured = value(ply)
            if measured is not None:
                found[self._side(number) == "second"].append(plot.Point(number, measured))
        return [plot.Series(name, found[index], index + 1) for index, name in enumerate(self.sides)]


@dataclass(slots=True)
class _CachedScenes:
    scenes: Scenes
    problem: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def size(self) -> int:
        """Number of scenes, which bounds the cache."""
        return len(self.scenes.items)


class Replays:
    """The cached replays of a server process. Thread-safe."""

    def __init__(self, max_scenes: int = MAX_SCENES) -> None:
        self._kept: LRUCache[tuple[str, int], _CachedScenes] = LRUCache(max_scenes, lambda kept: kept.size)
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Number of cached scenes."""
        return int(self._kept.currsize)

    def of_record(self, record: GameRecord, attempt: int = 0) -> Replay:
        """Return the replay of a finished game. An illegal record is shown up to its first illegal move."""
        ruleset = load(record.family).settle(record.variant, record.options)
        scenes, problem = self._scenes((record.id, attempt), ruleset, record.position or None, record.moves)
        clocks = _clocks(record.time, record.plies, scenes)
        scenes = [_annotated(scene, record) for scene in scenes]
        return Replay(load(record.family), scenes, record.plies, clocks, is_over=True, problem=problem, ruleset=ruleset)

    def of_moves(self, game: GameItem, spec: GameSpec, plies: Sequence[Ply]) -> Replay:
        """Return the replay of a waiting or running game, from its ply events."""
        moves = [ply.move for ply in plies]
        ruleset = load(spec.family).settle(spec.variant, spec.options)
        scenes, problem = self._scenes((game.id, game.attempt), ruleset, spec.position, moves)
        count = min(len(scenes) - 1, len(moves))
        time = "" if spec.scale_clocks else spec.time_text  # the scaled clocks are known only from the record
        clocks = _clocks(time, plies[:count], scenes[: count + 1])
        return Replay(
            load(spec.family),
            scenes[: count + 1],
            plies[:count],
            clocks,
            is_over=False,
            problem=problem,
            ruleset=ruleset,
        )

    def _scenes(
        self, key: tuple[str, int], ruleset: Ruleset, start: str | None, moves: Sequence[str]
    ) -> tuple[list[Scene], str]:
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                kept = self._kept[key] = _CachedScenes(Scenes(ruleset, start))
        with kept.lock:
            if not kept.problem:
                try:
                    kept.scenes.extend(moves)
                except (ParseError, IllegalMoveError) as error:
                    kept.problem = f"ply {kept.scenes.moves + 1} cannot be shown: {error}"
            scenes = list(kept.scenes.items)
        with self._lock:
            self._kept.pop(key, None)
            if len(scenes) <= self._kept.maxsize:
                self._kept[key] = kept  # with its present size
        return scenes, kept.problem


def _annotated(scene: Scene, record: GameRecord) -> Scene:
    """Return a scene with the annotators' mark and comment on its ply."""
    mark, comment = plain(record.marks.get(scene.ply, "")), plain(record.comments.get(scene.ply, ""))
    if not mark and not comment:
        return scene
    return replace(scene, annotation=mark, comment=comment)


def _clocks(time: str, plies: Sequence[Ply], scenes: Sequence[Scene]) -> list[tuple[float | None, float | None]]:
    """Return both clocks after every ply; None for a side without a clock."""
    try:
        first, second = read_time_controls(time)
    except ParseError:
        return [(None, None)] * (len(plies) + 1)
    clock = GameClock(first, _MARGIN_MS, second=second)
    is_shown = [control.kind == "clock" for control in clock.controls]

    def shown() -> tuple[float | None, float | None]:
        first_s, second_s = (
            max(0.0, left) if is_clock else None for left, is_clock in zip(clock.left_ms, is_shown, strict=True)
        )
        return first_s, second_s

    clocks = [shown()]
    for ply, scene in zip(plies, scenes[1:], strict=False):
        if (ply.ms or ply.charged_ms) and not ply.book:  # moves of the opening and forced passes take no time
            # News of a running game tell no charge, but what the machine added.
            clock.charge(int(scene.side == "second"), ply.charged_ms or ply.own_ms)
        clocks.append(shown())
    return clocks
