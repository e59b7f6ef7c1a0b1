"""Finds the notation of a text of games: the one whose reading leaves the least text unread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import dropwhile, islice, takewhile

from arena.collections.collection import Collection, pieces, read_parts, told_once
from referee.rules.rules import GameFormat, GameText, Ruleset

_FIRST = 10
"""Number of pieces of a long text from which its possible notations are detected."""
_SHORT = 20_000
"""Characters of a text that is read at once in every notation."""


def best_reading(text: str, ruleset: Ruleset, forms: tuple[GameFormat, ...]) -> Collection:
    """Return the reading, among several notations, that leaves the least text unread, then has the most moves.

    Among equal readings, choose the one whose notation writes the first game with a number of lines nearest to that in
    the text. A long text is judged by its first games; the others are read in further notations only if some of them
    are invalid. Raises ValueError for a text without a game.
    """
    # Parts are read independently: a notation that fails in the first parts cannot be better than one that reads all.
    able, limit = forms, _end_of_first(text, ruleset, forms)
    if limit is not None:
        readings = _readings(text, forms, ruleset, limit)
        readings = [reading for reading in readings if reading.games and not reading.problems]
        if readings:
            best = _best(readings, forms)
            able = tuple(form for form in forms if form.name in {reading.format for reading in readings})
            form = next(form for form in forms if form.name == best.format)
            last = limit
            later = dropwhile(lambda part: part[0] <= last, pieces(text, form, ruleset))
            best.add(read_parts(later, form, ruleset))
            if not best.problems:
                return best
    readings = _readings(text, able, ruleset)
    if len(able) < len(forms) and all(reading.problems for reading in readings):
        readings = _readings(text, forms, ruleset)
    readings = [reading for reading in readings if reading.games or reading.problems]
    if not readings:
        raise ValueError("the text contains no game")
    return told_once(_best(readings, forms), text)


def _end_of_first(text: str, ruleset: Ruleset, forms: Iterable[GameFormat]) -> int | None:
    """Return the number of lines that hold the first games in each notation that has more; None for a short text."""
    if len(text) < _SHORT:
        return None
    starts = {form.starts: form for form in forms}.values()
    ends = [next(islice(pieces(text, form, ruleset), _FIRST, None), None) for form in starts]
    return min((end[0] - 1 for end in ends if end is not None), default=None)


def _readings(text: str, forms: Iterable[GameFormat], ruleset: Ruleset, limit: int | None = None) -> list[Collection]:
    """Read the text, up to the line `limit`, in each notation; notations with a common reader are read once."""
    readings: list[Collection] = []
    by_reader: dict[Callable[[str, Ruleset], Sequence[GameText]], Collection] = {}
    for form in forms:
        if form.read not in by_reader:
            parts = pieces(text, form, ruleset)
            within = takewhile(lambda part: limit is None or part[0] <= limit, parts)
            by_reader[form.read] = read_parts(within, form, ruleset)
        reading = Collection(form.name)
        reading.add(by_reader[form.read])
        readings.append(reading)
    return readings


def _best(readings: Sequence[Collection], forms: Iterable[GameFormat]) -> Collection:
    # Of readings without a game, the one that came furthest names the cause.
    ranks = [
        (False, reading.unread, -reading.moves) if reading.games else (True, -reading.moves, -reading.problems[0].line)
        for reading in readings
    ]
    best = [reading for reading, rank in zip(readings, ranks, strict=True) if rank == min(ranks)]
    writers = {form.name: form.write for form in forms}
    return best[0] if len(best) == 1 else min(best, key=lambda reading: _lines_apart(reading, writers[reading.format]))


def _lines_apart(reading: Collection, write: Callable[[GameText, Ruleset], str]) -> int:
    """Return the difference in number of lines between the first game's text and the same game as `write` writes it."""
    if not reading.games:
        return 0
    first = reading.games[0]
    try:
        return abs(write(first.game, first.ruleset).strip().count("\n") - first.text.strip().count("\n"))
    except ValueError:
        return first.text.count("\n")
