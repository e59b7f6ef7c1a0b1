"""Whole games as text: tags and numbered moves, in the display form, in vchess's form or in coordinates.

One reader accepts all three. It plays every move on the board, since some spellings need the position, so it rejects
games with illegal moves. Tags hold the rest: `[Variant "..."]`, `[Rule.<option> "..."]`, `[Position "..."]` (also
`Fen`), `[Result "..."]`, and any others. The source of the vchess form is `getPgn` of its client.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from referee.rules import gametable
from referee.rules.baroque.notation import display_move, explain, read_move, square_name, victim_squares, write_move
from referee.rules.baroque.state import NUMBER, SIDE, SYMBOLS
from referee.rules.core import ParseError
from referee.rules.gameparts import GamePart
from referee.rules.gametags import annotated, other_tags, plain, rule_tags, tag_lines, wrapped, write_tag
from referee.rules.gametext import GameReader, understand
from referee.rules.position import state_after
from referee.rules.reversible import REVERSIBLE
from referee.rules.rules import Config, GameFormat, GameText, Ruleset, State
from referee.rules.tokens import Grammar
from referee.rules.variations import remarks

_EXACT: Final = r"[a-h][1-8]\.[a-h][1-8][ \t]+[-.a-zA-Z0-9]{1,400}/[-.a-zA-Z0-9]{1,400}"
"""Regular expression for a move of vchess's list for machines: `d4.e5 wke5/wkd4.bpe5`."""
GRAMMAR: Final = Grammar(
    hint="write tags, numbered moves as 1. Pa2a3 Pa7a6, {comments} and a result",
    word=rf"{_EXACT}|{Grammar.word}",
    bare=r"[0-9]{1,3}(?=[ \t|])",
    again=r"[0-9]{1,9}\.[wb](?=[ \t])",
)
_CAPITALS = re.compile(r"([PRNBQMK])?([A-H][1-8])?(?:(X)?([A-H][1-8])(X)?|(-OFF))")


def _spelled(word: str) -> str:
    """Return a move in the usual case, `Pc2c4X` for `PC2C4X`, without signs of check, or a move of vchess's list."""
    if len(word) > 5 and word[2] == ".":
        return word[:2] + word[3:5]
    word = plain(word).rstrip("+#")
    match = _CAPITALS.fullmatch(word)
    if match is None:
        return word
    letter, origin, takes, end, mark, off = (part or "" for part in match.groups())
    return letter + origin.lower() + takes.lower() + end.lower() + mark + off.lower()


def _understand(part: GamePart, ruleset: Ruleset) -> GameText:
    """Return the game of a part of a text. Raise ParseError, also for an illegal move."""
    game, settled = understand(part, ruleset, _spelled, is_played=True)
    comments = dict(game.comments)
    if comments:
        for ply, (state, move) in enumerate(_played(settled, game.position, game.moves), 1):
            _leave_out(comments, ply, explain(move, state, settled.config) if ply in comments else "")
    return replace(game, comments=comments)


def _leave_out(comments: dict[int, str], ply: int, said: str) -> None:
    """Remove `said`, the generated description of a move, from the start of its comment."""
    if said and comments[ply] == said:
        del comments[ply]
    elif said and comments[ply].startswith(f"{said}; "):
        comments[ply] = comments[ply].removeprefix(f"{said}; ")


def _played(ruleset: Ruleset, position: str | None, moves: Sequence[str]) -> list[tuple[State, int]]:
    """Return each move as its code, with the position before it. Raise ParseError for an illegal one."""
    state, played = ruleset.read(position), list[tuple[State, int]]()
    for ply, move in enumerate(moves):
        code = read_move(move, state, ruleset.config)
        after = state_after(ruleset, state, code)
        if after is None:
            index, hint = len(" ".join([*moves[:ply], ""])), f"the position is {ruleset.write(state)}"
            raise ParseError(f"illegal move {move[:12]}", text=" ".join(moves), index=index, hint=hint)
        played.append((state, code))
        state = after
    return played


# Writing


def _settled(game: GameText, ruleset: Ruleset) -> Ruleset:
    if not (game.variant or game.options):
        return ruleset
    inherited = {} if game.variant else ruleset.overrides
    return ruleset.rules.settle(game.variant or ruleset.variant.name, inherited | dict(game.options))


def _words(
    game: GameText, played: Sequence[tuple[State, int]], settled: Ruleset, spell: Callable[[int, State, Config], str]
) -> tuple[str, list[str]]:
    """Return what precedes the moves, and the moves, each with its mark, a description of its captures, its comment and
    its variations.
    """
    comments = dict(game.comments)
    for ply, (state, move) in enumerate(played, 1):
        told, comment = explain(move, state, settled.config), comments.get(ply, "")
        # A comment of the same words would be taken for the description, so the description precedes it.
        if told and (spell is display_move or comment == told or comment.startswith(f"{told}; ")):
            comments[ply] = f"{told}; {comment}" if comment else told
    said = remarks(replace(game, comments=comments), settled)
    return said.get(0, ""), annotated([spell(move, state, settled.config) for state, move in played], game.marks, said)


def _numbered(
    game: GameText, played: Sequence[tuple[State, int]], settled: Ruleset, spell: Callable[[int, State, Config], str]
) -> list[str]:
    """Return `1. Pa2a3 Pa7a6 2. ...`, or `1... Pa7a6` if Black begins, with marks and comments."""
    before, moves = _words(game, played, settled, spell)
    words = [before]
    for ply, word in enumerate(moves, 1):
        state, _ = played[ply - 1]
        if not state[SIDE]:
            words.append(f"{int(state[NUMBER])}.")
        elif ply == 1:
            words.append(f"{int(state[NUMBER])}...")
        words.append(word)
    return words


def _coordinates(move: int, state: State, config: Config) -> str:
    return write_move(move)


def _short(move: int, state: State, config: Config) -> str:
    """Return a move in vchess's form: only moves of pincers and suicides keep their origin."""
    shown = display_move(move, state, config)
    if shown.startswith("P") or shown.endswith("-off"):
        return shown
    return shown[0] + shown[3:]


def _exact(move: int, state: State, config: Config) -> str:
    """Return a move in vchess's form for machines: `c2.c4 wpc4/wpc2.brd4`, the pieces that appear and those that
    vanish.
    """
    origin, end = divmod(move, 64)
    side = int(state[SIDE])

    def name(square: int) -> str:
        place = next(place for place in range(14) if int(state[place]) >> square & 1)
        return "wb"[place // 7] + SYMBOLS[place].lower() + square_name(square)

    appears = "-" if origin == end else name(origin)[:2] + square_name(end)
    vanishes = [name(square) for square in (origin, *victim_squares(move, state, config))]
    marker = f"{int(state[NUMBER])}.{'wb'[side]}"
    return f"{marker} {square_name(origin)}.{square_name(end)} {appears}/{'.'.join(vanishes)}"


def _head(game: GameText) -> list[str]:
    """Return the lines of a game's tags."""
    own = [("Variant", game.variant), *rule_tags(game.options), ("Position", game.position or "")]
    return tag_lines(game, own=[*own, ("Result", game.result)])


def _write(game: GameText, ruleset: Ruleset, spell: Callable[[int, State, Config], str]) -> str:
    settled = _settled(game, ruleset)
    words = _numbered(game, _played(settled, game.position, game.moves), settled, spell)
    return "\n".join([*_head(game), "", *wrapped([*words, game.result]), ""])


def write_table(game: GameText, ruleset: Ruleset) -> str:
    """Return a game in the display form, a row for each pair of moves. Raise ParseError for illegal moves."""
    settled = _settled(game, ruleset)
    said, words = _words(game, _played(settled, game.position, game.moves), settled, display_move)
    start = settled.read(game.position)
    table = gametable.lines(settled.sides, gametable.rows(words, int(start[NUMBER]), int(start[SIDE])))
    return "\n".join([*_head(game), "", *([said] if said else []), *table, game.result, ""])


def write(game: GameText, ruleset: Ruleset) -> str:
    """Return a game in the display form. Raise ParseError for illegal moves."""
    return _write(game, ruleset, display_move)


def write_coordinates(game: GameText, ruleset: Ruleset) -> str:
    """Return a game in canonical moves. Raise ParseError for illegal moves."""
    return _write(game, ruleset, _coordinates)


def write_vchess(game: GameText, ruleset: Ruleset) -> str:
    """Return a game as vchess's client saves it. Rules unknown to vchess become tags that it ignores.

    Raise ParseError for illegal moves.
    """
    settled = _settled(game, ruleset)
    played = _played(settled, game.position, game.moves)
    defaults = {option.name: option.default for option in settled.rules.options}
    rules = {name: value for name, value in settled.values.items() if value != defaults[name]}
    tags = [*other_tags(game), ("Variant", "Baroque"), *rule_tags(rules)]
    tags += [("Fen", settled.write(settled.read(game.position))), ("Result", game.result)]
    lines = [write_tag(name, value) for name, value in tags]
    exact = [_exact(move, state, settled.config) for state, move in played]
    return "\n".join([*lines, "", *wrapped(_numbered(game, played, settled, _short)), "", *exact, ""])


READER: Final = GameReader(GRAMMAR, _understand)

FORMATS: tuple[GameFormat, ...] = (
    GameFormat("display", READER, write, "piece, origin and destination: 1. Pc2c4X Kd4xe5", READER.starts),
    GameFormat(
        "display-table", READER, write_table, "the same in a numbered row for each pair of moves", READER.starts
    ),
    GameFormat("coordinates", READER, write_coordinates, "canonical moves: 1. c2c4 d4e5", READER.starts),
    GameFormat(
        "vchess",
        READER,
        write_vchess,
        "the format of vchess.club: 1. Pc2c4X Kxe5, then a list for machines",
        READER.starts,
    ),
    REVERSIBLE,
)
