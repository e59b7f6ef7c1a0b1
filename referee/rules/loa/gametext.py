"""Whole games as text: `1. b1-b3 h4-f2 2. d1:a4 h2-e2 {a comment} 1-0`.

Move numbers are optional; squares are separated by a dash, `x`, a colon or nothing. Tags `[Variant "zen"]`, `[Position
"..."]`, `[Rule.simultaneous "mover"]` and any others precede the moves; a result ends a game.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from referee.rules import gametable
from referee.rules.core import ParseError, UnknownNameError
from referee.rules.gametags import MARK, RESULTS, RULE, Draft, braced, placed, plain, remarked, unescape, write_tag
from referee.rules.gametitle import titled
from referee.rules.loa.notation import read_move, write_move
from referee.rules.reversible import REVERSIBLE
from referee.rules.rules import GameFormat, GameText, Ruleset
from referee.rules.variations import branched, branching

_TOKEN = re.compile(
    rf"""(?:(?P<space>[ \t\r\n|]+)
      | (?P<comment>\{{[^}}]*\}}|;[^\n]*)
      | (?P<tag>\[[ \t]*(?P<name>[A-Za-z][A-Za-z0-9_.]*)[ \t]+"(?P<value>(?:[^"\\\n]|\\["\\])*)"[ \t]*\])
      | (?P<result>1-0|0-1|1/2-1/2|\*)(?![^ \t\r\n{{\[;])
      | (?P<number>[0-9]{{1,6}}(?:\.+|\)|…)|[0-9]{{1,3}}(?=[ \t\r\n|])|\.{{2,}}|…)
      | (?P<mark>\$[0-9]{{1,3}}|{MARK})
      | (?P<word>[A-Za-z0][A-Za-z0-9:–—×-]*),?)[ \t\r\n|]*
    """,
    re.VERBOSE,
)
_POSITION_TAGS = ("Position", "FEN")


class _LoaDraft(Draft):
    """One game while it is being read."""

    def __init__(self, ruleset: Ruleset) -> None:
        super().__init__()
        self.ruleset = ruleset
        self.moves: list[str] = []
        self.started = False

    def tag(self, name: str, value: str, text: str, index: int) -> None:
        """Store one tag. Raise ParseError for an unknown variant, rule or value."""
        self.started = True
        try:
            if name == "Variant":
                self.variant = self.ruleset.rules.variant(value.strip().lower()).name
            elif name.startswith(RULE):
                self.take_rule(name, value, self.ruleset.rules)
            elif name in _POSITION_TAGS:
                self.position = value
            elif name == "Result":
                if value not in RESULTS:
                    raise ParseError("invalid result", text=text, index=index, hint="one of " + " ".join(RESULTS))
                self.result = value
            else:
                self.tags[name] = value
        except UnknownNameError as error:
            raise ParseError(
                str(error), text=text, index=index, hint="list the options with: arena rules list loa"
            ) from None

    def settle(self, text: str, index: int) -> None:
        """Determine the rules for reading the moves, once all tags are known. Raise ParseError."""
        if self.variant or self.options:
            variant = self.variant or self.ruleset.variant.name
            kept = self.ruleset.overrides if variant == self.ruleset.variant.name else {}
            self.ruleset = self.ruleset.rules.settle(variant, {**kept, **self.options})
        if self.position is not None:
            try:
                self.position = self.ruleset.write(self.ruleset.read(self.position))
            except ParseError as error:
                raise ParseError(
                    f"invalid position: {error.problem}", text=text, index=index, hint=error.hint
                ) from None
        self._state = self.ruleset.read(self.position)

    def move(self, word: str, text: str, index: int) -> None:
        """Append one move. Raise ParseError."""
        if not self.moves:
            self.settle(text, index)
        try:
            code = read_move(word, self._state, self.ruleset.config)
        except ParseError as error:
            raise placed(error, text, index) from None
        self.started = True
        self.moves.append(write_move(code))

    def finish(self, text: str, index: int) -> GameText:
        """Finish parsing and return the game. Raise ParseError."""
        if not self.moves:
            self.settle(text, index)
        return self.game(self.moves)


def read_games(text: str, ruleset: Ruleset) -> list[GameText]:
    """Return the games of a text, in order. `ruleset` supplies the variant and options that tags omit. Raise
    ParseError.
    """
    return list(_games(text, ruleset))


def _games(text: str, ruleset: Ruleset) -> Iterator[GameText]:
    draft, index = _LoaDraft(ruleset), 0
    while index < len(text):
        token = _TOKEN.match(text, index)
        if token is None:
            hint = "close the comment with }" if text[index] == "{" else "write moves as b1-b3, d1xa4, pass"
            raise ParseError("unreadable game text", text=text, index=index, hint=hint)
        if token["tag"]:
            if draft.moves:
                yield draft.finish(text, index)
                draft = _LoaDraft(ruleset)
            draft.tag(token["name"], unescape(token["value"]), text, index)
        elif token["result"]:
            draft.result = token["result"]
            yield draft.finish(text, index)
            draft = _LoaDraft(ruleset)
        elif token["word"]:
            draft.move(plain(token["word"]), text, index)
        elif token["mark"]:
            draft.mark(len(draft.moves), token["mark"])
        elif token["comment"]:
            draft.comment(len(draft.moves), token["comment"].lstrip("{;").removesuffix("}"))
        index = token.end()
    if draft.started:
        yield draft.finish(text, index)


def _tag(name: str, value: str) -> str:
    return write_tag(name, re.sub(r"[\r\n]", " ", value)) + "\n"


def _head(game: GameText) -> str:
    """Return the lines of a game's tags."""
    lines = "".join(_tag(name, value) for name, value in game.tags.items())
    lines += _tag("Variant", game.variant) if game.variant else ""
    lines += "".join(_tag(RULE + name, str(value)) for name, value in game.options.items())
    lines += _tag("Position", game.position) if game.position is not None else ""
    return lines + _tag("Result", game.result)


def _moves(game: GameText, settled: Ruleset) -> tuple[list[str], int]:
    """Return the moves with their annotations, and the side (0 or 1) that makes the first one."""
    words = [remarked(re.sub(r"(?<=[0-9])(?=[a-l])", "-", move), game, ply) for ply, move in enumerate(game.moves, 1)]
    return words, settled.rules.side(settled.read(game.position), settled.config)


def write_game(game: GameText, ruleset: Ruleset) -> str:
    """Return one game's text: its tags, the numbered moves with dashes, and the result.

    Captures look like other moves, since the separator has no meaning. If the second side begins, the first move has
    the number `1...`.
    """
    moves, turn = _moves(game, ruleset.rules.settle(game.variant or ruleset.variant.name, game.options))
    words = braced(game.comments.get(0, "")).split()
    for place, move in enumerate(moves, turn):
        if place % 2 == 0 or place == turn:
            words.append(f"{place // 2 + 1}." + (".." if place % 2 else ""))
        words += move.split()
    body, width = "", 0
    for word in [*words, game.result]:
        if width and width + 1 + len(word) > 100:
            body, width = body + "\n", 0
        body += (" " if width else "") + word
        width += len(word) + 1
    return f"{_head(game)}\n{body}\n"


def write_table(game: GameText, ruleset: Ruleset) -> str:
    """Return one game's text with a row for each pair of moves."""
    moves, turn = _moves(game, ruleset.rules.settle(game.variant or ruleset.variant.name, game.options))
    said = [braced(game.comments[0])] if 0 in game.comments else []
    table = gametable.lines(ruleset.rules.sides, gametable.rows(moves, 1, turn))
    return "\n".join([_head(game), *said, *table, game.result, ""])


_read = titled(branched(read_games), moves=("pass",))

FORMATS = (
    GameFormat("loa", _read, branching(write_game), "numbered moves with dashes, PGN-like tags, {comments}, results"),
    GameFormat("loa-table", _read, branching(write_table), "a numbered row for each pair of moves"),
    REVERSIBLE,
)
