"""The history of one game: its position, its moves in canonical notation, and how each was played.

Canonical move texts and their codes are in tables. No code depends on a position, so each text is parsed once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from referee.game.record import Ply
from referee.game.spec import GameSpec
from referee.rules import load
from referee.rules.core import ParseError
from referee.rules.history import LineOfPlay

_MAX_TEXTS = 500_000


class MoveTexts:
    """The move texts of one family: the table `codes` maps texts to codes, `names` maps codes to texts.

    The number of different moves bounds both tables. Callers look in the tables first; `read` and `write` add to them.
    """

    def __init__(self, family: str) -> None:
        self.codes: dict[bytes, int] = {}
        self.names: dict[int, str] = {}
        self._notation = load(family).notation

    def code(self, text: str | None, line: LineOfPlay) -> int | None:
        """Return the code of a text: from the table, or by `read`."""
        found = self.codes.get(text.encode()) if text else None
        return self.read(text, line) if found is None else found

    def read(self, text: str | None, line: LineOfPlay) -> int | None:
        """Return the code of a bot's move in this position; None if the text is not a move."""
        try:
            code = self._notation.read_move(text or "", line.state, line.ruleset.config)
        except ParseError:
            return None
        if text == self._notation.write_move(code):
            if len(self.codes) > _MAX_TEXTS:
                self.codes.clear()
            self.codes[text.encode()] = code
        return code

    def write(self, code: int) -> str:
        name = self.names[code] = self._notation.write_move(code)
        return name


@cache
def move_texts(family: str) -> MoveTexts:
    """Return the `MoveTexts` of a family, the same object for the whole process. Raises UnknownNameError."""
    return MoveTexts(family)


Watch = Callable[[int, str, Ply], None]
"""Called after every ply with its number (from 1), the canonical move, and how it was played."""


class GameHistory:
    """The history of a game: opening, moves played and the present position.

    `is_in_phase` is True during the phase before regular play. `played` are the moves that an interrupted game had
    after its opening; `watch` is called after every ply but these. Raises UnknownNameError and ParseError for an
    invalid spec.
    """

    def __init__(self, spec: GameSpec, watch: Watch | None = None, played: Sequence[tuple[str, Ply]] = ()) -> None:
        self.spec = spec
        self.ruleset = load(spec.family).settle(spec.variant, spec.options)
        self.line = LineOfPlay(self.ruleset, spec.position)
        self.moves: list[str] = []
        self.plies: list[Ply] = []
        self.move_line = bytearray()
        """The moves as the line `position` lists them, each after a space."""
        self.start = self.ruleset.start if spec.position is None else self.position
        self._watch = watch
        self._phase = self.ruleset.phase
        self.is_in_phase = self._is_before_play()
        self.regular_play: tuple[str, int] = "", 0
        """The position after the phase before regular play, empty without one, and where in `move_line` it stands."""
        for text in spec.opening:
            self.push_text(text, Ply(book=True))
        self._watch = None
        for text, ply in played:
            self.push_text(text, ply)
        self._watch = watch

    @property
    def position(self) -> str:
        """The present position as text."""
        return self.ruleset.write(self.line.state)

    def _is_before_play(self) -> bool:
        return self._phase is not None and self._phase.holds(self.line.state, self.ruleset.config)

    def push(self, text: str, ply: Ply, code: int) -> bool:
        """Play a move, given as canonical text and code, if it is legal; return whether it was played."""
        if not self.line.push(code):
            return False
        self.moves.append(text)
        self.plies.append(ply)
        self.move_line += b" " + text.encode()
        if self.is_in_phase:
            self.is_in_phase = self._is_before_play()
            self.regular_play = "" if self.is_in_phase else self.position, len(self.move_line)
        if self._watch:
            self._watch(len(self.moves), text, ply)
        return True

    def push_text(self, text: str, ply: Ply) -> None:
        """Play a move given as text, such as one of the opening. Raises ParseError if it is not legal."""
        code = self.ruleset.rules.notation.read_move(text, self.line.state, self.ruleset.config)
        if not self.push(text, ply, code):
            raise ParseError("illegal opening move", text=text, hint=f"in {self.position}")

    def push_pass(self) -> None:
        """Pass for a bot that does not implement the phase before regular play."""
        notation = self.ruleset.rules.notation
        self.push_text(notation.write_move(notation.pass_move), Ply())
