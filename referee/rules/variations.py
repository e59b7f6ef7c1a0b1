"""Comments and variations as they are written after the move to which they belong.

`3. b1b3 {so} (3. c1c3 {better} h4f4) h5f5`: a variation is in parentheses after the move that it replaces, and may
contain others. Notations differ only in the brackets of comments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from referee.rules.position import state_after
from referee.rules.rules import GameText, Ruleset, State, Variation
from referee.rules.tokens import COLON_TAG, NAME, escaped

MAX_DEPTH: Final = 12
"""The deepest nesting that is read as variations."""

_TAG_LIKE: Final = re.compile(rf'\s*(?:{NAME}\s+")')


@dataclass(frozen=True, slots=True)
class Style:
    """The brackets of comments. A comment without a closing bracket goes to the end of its line."""

    before: str
    after: str

    def comment(self, said: str) -> str:
        """Return a comment as it is written, "" for an empty one; it cannot be mistaken for a tag."""
        if not said:
            return ""
        written = escaped(said, (self.before + self.after).strip("# \n"))
        if self.before == "[" and (COLON_TAG.fullmatch(written) or _TAG_LIKE.match(written)):
            written = re.sub('[:"]', lambda sign: f"&#{ord(sign[0])};", written, count=1)
        if self.before == "# " and written.startswith("["):
            written = f"&#{ord('[')};{written[1:]}"
        return f"{self.before}{written}{self.after}"


BRACES: Final = Style("{", "}")
BRACKETS: Final = Style("[", "]")
TO_LINE_END: Final = Style("# ", "\n")


def remarks(game: GameText, settled: Ruleset, style: Style = BRACES) -> dict[int, str]:
    """Return the comment of each ply and the variations that replace it, as they are written after its move."""
    written = {ply: style.comment(said) for ply, said in game.comments.items()}
    if game.variations:
        state = settled.read(game.position)
        writer = _Writer(settled, style, settled.rules.side(state, settled.config))
        for ply, text in writer.beside(game.variations, game.moves, 1, state).items():
            written[ply] = f"{written[ply]} {text}" if written.get(ply) else text
    return {ply: text for ply, text in written.items() if text}


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes variations. `turn` is the side that has the first move of the game."""

    settled: Ruleset
    style: Style
    turn: int

    def beside(
        self, variations: Sequence[Variation], moves: Sequence[str], first: int, start: State | None
    ) -> dict[int, str]:
        """Return the variations of a line of moves that begins at ply `first` in position `start`, by ply."""
        notation, config, written = self.settled.rules.notation, self.settled.config, dict[int, str]()
        at, state = first, start
        for variation in sorted(variations, key=lambda variation: variation.ply):
            while at < variation.ply and state is not None:
                state = state_after(self.settled, state, notation.read_move(moves[at - first], state, config))
                at += 1
            text, before = f"({self.line(variation, state)})", written.get(variation.ply)
            written[variation.ply] = f"{before} {text}" if before else text
        return written

    def line(self, variation: Variation, start: State | None) -> str:
        """Return the moves of a variation with numbers, marks, comments, and the variations of its own moves.

        Moves are written as people write them; after an illegal move, in canonical notation.
        """
        notation, config = self.settled.rules.notation, self.settled.config
        inner = self.beside(variation.variations, variation.moves, variation.ply, start)
        state, words, is_alone = start, list[str](), True
        for ply, move in enumerate(variation.moves, variation.ply):
            number, second = divmod(ply - 1 + self.turn, 2)
            if is_alone or not second:
                words.append(f"{number + 1}." + ".." * second)
            if ply == variation.ply:
                words.append(self.style.comment(variation.comments.get(ply - 1, "")))
            shown = move
            if state is not None:
                code = notation.read_move(move, state, config)
                shown, state = notation.display_move(code, state, config), state_after(self.settled, state, code)
            words.append(shown + variation.marks.get(ply, ""))
            words += [self.style.comment(variation.comments.get(ply, "")), inner.get(ply, "")]
            is_alone = ply in inner
        return " ".join(word for word in words if word)
