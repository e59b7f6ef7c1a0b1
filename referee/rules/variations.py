"""Variations in game texts, in parentheses after the move that they replace: `3. b1b3 (3. c1c3 {better} h4f4) h5f5`.

As in PGN they may be nested. A variation begins with the number of its first move, which tells it from other
parentheses of a notation. One pair of functions serves all notations: `branched` extends a reader, `branching` a
writer. Both mark the place of a variation by a comment of one character in the main line, so each notation needs only
to know its own comments. A variation that cannot be read, or that the rules do not allow, stays a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from referee.rules.core import ParseError
from referee.rules.gametags import step
from referee.rules.rules import GameText, Ruleset, State, Variation

Reader: TypeAlias = Callable[[str, Ruleset], Sequence[GameText]]
Writer: TypeAlias = Callable[[GameText, Ruleset], str]

MAX_DEPTH: Final = 12
"""The deepest nesting that is read as variations."""
MARKER: Final = "\x01"
"""The comment that marks the place of a variation."""

_SCANNED: Final = re.compile(
    r'\{[^{}]*\}|"(?:[^"\\\n]|\\.)*"|[;#][^\n]*|(?P<open>\((?P<number>[ \t\r\n]*[0-9]{1,6}(?:\.|…))?)|(?P<close>\))'
)
_NUMBER: Final = re.compile(r'\{[^{}]*\}|"(?:[^"\\\n]|\\.)*"|[;#][^\n]*|(?P<number>(?<![^\s(])[0-9]{1,6}(?:\.+|…+))')
_NOT_BLANK: Final = re.compile(r"[^\r\n]")


@dataclass(frozen=True, slots=True)
class Marker:
    """The form of comments in a notation: the text before and after a comment, and the pattern of one with `MARKER`.

    The group `said` of the pattern is the comment without `MARKER`. If the notation's reader ignores the start position
    of the ruleset, `heading` returns the lines that state it before the moves of a variation.
    """

    before: str
    after: str
    pattern: re.Pattern[str]
    heading: Callable[[Ruleset], str] = lambda ruleset: ""


def _bracketed(before: str, after: str) -> Marker:
    inside = rf"[^{re.escape(before + after)}\x01]*?"
    return Marker(before, after, re.compile(rf"{re.escape(before)}(?P<said>{inside})[\s;]*\x01{re.escape(after)}"))


BRACES: Final = _bracketed("{", "}")
BRACKETS: Final = _bracketed("[", "]")


def to_line_end(sign: str, heading: Callable[[Ruleset], str]) -> Marker:
    """Return the `Marker` of a notation whose comments go from `sign` to the end of the line.

    The reader of the notation must accept the character `MARKER` as a comment, without `sign`.
    """
    return Marker("", "", re.compile(rf"{re.escape(sign)} (?P<said>[^\n\x01]*?) *\x01"), heading)


def branched(read: Reader, marker: Marker = BRACES, inner: Reader | None = None) -> Reader:
    """Extend a reader so that it also reads variations, by `inner` (default: the same reader).

    The time is linear in the length of the text.
    """

    def read_branched(text: str, ruleset: Ruleset) -> Sequence[GameText]:
        if "(" not in text:
            return read(text, ruleset)
        return _Reading(read, inner or read, marker).games(text.replace(MARKER, " "), ruleset)

    return read_branched


class _Reading:
    """Reads the variations of a text with the reader of a notation."""

    def __init__(self, read: Reader, inner: Reader, marker: Marker) -> None:
        self._read, self._inner, self._marker = read, inner, marker

    def games(self, text: str, ruleset: Ruleset) -> list[GameText]:
        """Return the games of a text with their variations. Raise ParseError."""
        main, groups = self._split(text)
        found = self._read(main, ruleset)
        if groups and not any(game.moves for game in found):
            raise ParseError("a variation needs a move before it, which it replaces", text=text)
        parts = iter(groups)
        return [self._with_variations(game, parts, ruleset, 0, 0) for game in found]

    def _split(self, text: str) -> tuple[str, list[str]]:
        """Replace each outermost variation by a marker of the same length; return the text and the variations."""
        pieces, groups, last = [], [], 0
        for start, end in _groups(text):
            before, after = self._marker.before + MARKER, self._marker.after
            blank = _NOT_BLANK.sub(" ", text[start + len(before) : end - len(after)])
            pieces += [text[last:start], before, blank, after]
            groups.append(text[start + 1 : end - 1])
            last = end
        return "".join([*pieces, text[last:]]), groups

    def _with_variations(
        self, game: GameText, groups: Iterator[str], ruleset: Ruleset, base: int, depth: int
    ) -> GameText:
        """Return a game, or a variation that begins after `base` plies, with `groups` in place of its markers."""
        if not any(MARKER in said for said in game.comments.values()):
            return game
        line = _Line(game, ruleset)
        comments: dict[int, str] = {}
        variations: list[Variation] = []
        for ply, said in sorted(game.comments.items()):
            words = []
            for part in re.split(f"({MARKER})", said):
                if part != MARKER:
                    words.append(part.strip())
                    continue
                group = next(groups, "")
                variation = self._variation(group, line, ply, base, depth) if ply else None
                if variation is None:
                    words.append(f"({' '.join(group.split())})")
                else:
                    variations.append(variation)
            if rest := " ".join(filter(None, words)):
                comments[ply] = rest
        return replace(game, comments=comments, variations=tuple(variations))

    def _variation(self, group: str, line: _Line, ply: int, base: int, depth: int) -> Variation | None:
        """Read a variation that replaces move `ply` of a line; return None if `group` cannot be read as one."""
        start = line.before(ply)
        if depth >= MAX_DEPTH or start is None:
            return None
        ruleset = replace(line.ruleset, variant=replace(line.ruleset.variant, position=line.ruleset.write(start)))
        main, parts = self._split(group)
        bare = _NUMBER.sub(lambda one: " " * len(one[0]) if one["number"] else one[0], main)
        try:
            games = self._inner(self._marker.heading(ruleset) + bare, ruleset)
        except ParseError:
            return None
        if len(games) != 1 or not games[0].moves or games[0].tags:
            return None
        own = _Line(games[0], ruleset)
        is_placed = games[0].position in (None, ruleset.variant.position) and own.ruleset.values == ruleset.values
        if not is_placed or own.before(len(games[0].moves) + 1) is None:
            return None
        found = self._with_variations(games[0], iter(parts), ruleset, base + ply - 1, depth + 1)
        shift = base + ply - 1
        return Variation(
            shift + 1,
            found.moves,
            {shift + at: mark for at, mark in found.marks.items()},
            {shift + at: said for at, said in found.comments.items()},
            found.variations,
        )


def _groups(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the outermost variations of a text."""
    depth, start, outer = 0, -1, 0
    pending: list[bool] = []
    for found in _SCANNED.finditer(text):
        if found["open"] is not None:
            is_variation = found["number"] is not None
            pending.append(is_variation)
            if is_variation and start < 0:
                start, outer = found.start(), depth
            depth += 1
        elif found["close"] is not None and pending:
            pending.pop()
            depth -= 1
            if start >= 0 and depth == outer:
                yield start, found.end()
                start = -1


class _Line:
    """The positions of a game's moves, up to the first illegal one, computed as `before` asks for them."""

    def __init__(self, game: GameText, ruleset: Ruleset) -> None:
        if game.variant or game.options:
            variant = game.variant or ruleset.variant.name
            kept = ruleset.overrides if variant == ruleset.variant.name else {}
            settled = ruleset.rules.settle(variant, {**kept, **game.options})
            is_same = settled.variant.name == ruleset.variant.name
            ruleset = replace(settled, variant=ruleset.variant) if is_same else settled
        self.ruleset, self._moves = ruleset, game.moves
        self._at = 1
        self._state: State | None = ruleset.read(game.position)

    def before(self, ply: int) -> State | None:
        """Return the position before a ply, which never decreases from call to call; None after an illegal move."""
        notation, config = self.ruleset.rules.notation, self.ruleset.config
        while self._at < ply and self._state is not None:
            code = notation.read_move(self._moves[self._at - 1], self._state, config)
            self._state = step(self.ruleset, self._state, code)
            self._at += 1
        return self._state


def branching(write: Writer, marker: Marker = BRACES) -> Writer:
    """Extend a writer so that it also writes variations."""

    def write_branching(game: GameText, ruleset: Ruleset) -> str:
        if not game.variations:
            return write(game, ruleset)
        comments = {ply: said.replace(MARKER, " ") for ply, said in game.comments.items()}
        written: dict[int, list[str]] = {}
        line = _Line(game, ruleset)
        turn = line.ruleset.rules.side(line.ruleset.read(game.position), line.ruleset.config)
        for one in sorted(game.variations, key=lambda one: one.ply):
            start = line.before(one.ply)
            written.setdefault(one.ply, []).append(f"({_written(one, line.ruleset, start, turn, marker)})")
        for ply in written:
            comments[ply] = f"{comments.get(ply, '')} {MARKER}".lstrip()
        text = write(replace(game, comments=comments), ruleset)
        order = iter([" ".join(written[ply]) for ply in sorted(written)])
        return marker.pattern.sub(lambda found: _placed(found, next(order), marker), text)

    return write_branching


def _placed(found: re.Match[str], variations: str, marker: Marker) -> str:
    """Return a comment as written, without its marker and followed by `variations`."""
    said = found["said"]
    if not marker.before:
        sign = found[0].partition(" ")[0]
        return f"{sign} {said}\n{variations}" if said else f"\n{variations}"
    return f"{marker.before}{said}{marker.after} {variations}" if said.strip(" -") else variations


def _written(variation: Variation, ruleset: Ruleset, state: State | None, turn: int, marker: Marker) -> str:
    """Return the moves of a variation with numbers, marks, comments, and the variations of its own moves.

    Moves are written as people write them; after an illegal move, in canonical notation.
    """
    notation, config = ruleset.rules.notation, ruleset.config
    inner: Mapping[int, list[Variation]] = _by_ply(variation)
    words: list[str] = []
    is_alone = True
    for ply, move in enumerate(variation.moves, variation.ply):
        number, second = divmod(ply - 1 + turn, 2)
        if is_alone or not second:
            words.append(f"{number + 1}." + ".." * second)
        if ply == variation.ply:
            words.append(_comment(variation.comments.get(ply - 1, ""), marker))
        shown, after = move, None
        if state is not None:
            code = notation.read_move(move, state, config)
            shown, after = notation.display_move(code, state, config), step(ruleset, state, code)
        words.append(shown + variation.marks.get(ply, ""))
        words.append(_comment(variation.comments.get(ply, ""), marker))
        words += [f"({_written(one, ruleset, state, turn, marker)})" for one in inner.get(ply, ())]
        is_alone = ply in inner
        state = after
    return " ".join(word for word in words if word)


def _by_ply(variation: Variation) -> Mapping[int, list[Variation]]:
    found: dict[int, list[Variation]] = {}
    for one in variation.variations:
        found.setdefault(one.ply, []).append(one)
    return found


def _comment(text: str, marker: Marker) -> str:
    """Return a comment as it is written within a variation."""
    if not text:
        return ""
    if not marker.before:
        return f"# {text.replace('[', '(').replace(']', ')')}\n"
    before, after = marker.before, marker.after
    return f"{before}{text.replace(before, '(').replace(after, ')')}{after}"
