"""Whole games as text: tags and numbered moves, in the display form, in vchess's form or in coordinates.

One reader accepts all three. It plays every move on the board, since some spellings need the position, so it rejects
games with illegal moves. Tags hold the rest: `[Variant "..."]`, `[Rule.<option> "..."]`, `[Position "..."]` (also
`Fen`), `[Result "..."]`, and any others. The source of the vchess form is `getPgn` of its client.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from referee.rules import gametable
from referee.rules.baroque.notation import display_move, explain, read_move, square_name, victim_squares, write_move
from referee.rules.baroque.state import NUMBER, SIDE, SYMBOLS
from referee.rules.core import ParseError, UnknownNameError
from referee.rules.gametags import (
    MARK,
    NAME,
    RESULTS,
    RULE,
    Draft,
    braced,
    placed,
    plain,
    step,
    unescape,
    write_tag,
)
from referee.rules.gametitle import titled
from referee.rules.reversible import REVERSIBLE
from referee.rules.rules import Config, GameFormat, GameText, Ruleset, State
from referee.rules.variations import branched, branching

WIDTH = 100
"""Maximum line length of move text."""
ANY_VARIANT = frozenset({"baroque", "ultima"})
"""Variant names of other programs that mean the family."""
OWN_TAGS = frozenset({"variant", "position", "fen", "result"})

_TOKEN = re.compile(
    rf"""(?:(?P<space>[ \t\r\n|]+)
      | (?P<comment>\{{[^}}]*\}}|;[^\n]*|\([^()]*\))
      | \[[ \t]*(?P<name>{NAME})[ \t]+"(?P<value>(?:[^"\\\n]|\\["\\])*)"[ \t]*\]
      | (?P<result>1-0|0-1|1/2-1/2|1/2|\*)(?![^ \t\r\n{{\[;])
      | (?P<exact>[0-9]{{1,9}}\.[wb](?=[ \t]))
      | (?P<number>[0-9]{{1,9}}(?:\.+|…)|[0-9]{{1,3}}(?=[ \t|])|\.{{2,}}|…)
      | (?P<from>[a-h][1-8])\.(?P<to>[a-h][1-8])[ \t]+[-.a-zA-Z0-9]{{1,400}}/[-.a-zA-Z0-9]{{1,400}}
      | (?P<move>[A-Za-z][A-Za-z0-9×]*(?:-(?:off|OFF))?)[+#]*(?P<marked>{MARK})?
      | (?P<mark>\$[0-9]{{1,3}}|{MARK}))[ \t\r\n|]*
    """,
    re.VERBOSE,
)
_CAPITALS = re.compile(r"([PRNBQMK])?([A-H][1-8])?(?:(X)?([A-H][1-8])(X)?|(-OFF))")


@dataclass
class _BaroqueDraft(Draft):
    """One game while it is being read.

    A game of vchess lists its moves twice: for people, then for machines. `exact` are the moves of the second list.
    """

    moves: list[tuple[int, str]] = field(default_factory=list)
    exact: list[tuple[int, str]] = field(default_factory=list)
    is_begun: bool = False
    """Whether a move or a result was read, after which a tag starts the next game."""
    is_empty: bool = True

    def tag(self, name: str, value: str, ruleset: Ruleset, text: str, index: int) -> None:
        """Store one tag. Raise ParseError for an unknown variant, rule or value."""
        rules = ruleset.rules
        try:
            if name.lower() == "variant":
                if value.strip().lower() not in ANY_VARIANT:
                    self.variant = rules.variant(value.strip().lower()).name
            elif name.startswith(RULE):
                self.take_rule(name, value, rules)
            elif name.lower() in ("position", "fen"):
                self.position = ruleset.write(ruleset.read(value)) if value else None
            elif name.lower() == "result":
                self.result = _result(value, text, index)
            else:
                self.tags[name] = value
        except UnknownNameError as error:
            raise ParseError(
                str(error), text=text, index=index, hint="list them with: arena rules list baroque"
            ) from None
        except ParseError as error:
            raise ParseError(f"{name}: {error.problem}", text=text, index=index, hint=error.hint) from None

    def finish(self, ruleset: Ruleset, text: str) -> GameText:
        """Play the moves and return the game. Raise ParseError for an unreadable or illegal move."""
        if self.variant or self.options:
            inherited = {} if self.variant else ruleset.overrides
            try:
                ruleset = ruleset.rules.settle(self.variant or ruleset.variant.name, inherited | self.options)
            except ParseError as error:
                raise ParseError(error.problem, text=text, hint=error.hint) from None
        played = list(_played(ruleset, self.position, self.exact or self.moves, text))
        for ply, (state, move) in enumerate(played, 1):
            if ply in self.comments:
                self._leave_out(ply, explain(move, state, ruleset.config))
        return self.game(write_move(move) for _, move in played)

    def _leave_out(self, ply: int, said: str) -> None:
        """Remove `said`, the generated description of a move, from the start of its comment."""
        comment = self.comments[ply]
        rest = comment.removeprefix(said)
        if said and rest != comment and rest[:1] in ("", " ", ";"):
            self.comments[ply] = rest.lstrip("; ")
            if not self.comments[ply]:
                del self.comments[ply]


def _lowered(word: str) -> str:
    """Convert a move in capitals to the usual case: `PC2C4X` to `Pc2c4X`."""
    found = _CAPITALS.fullmatch(word)
    if found is None:
        return word
    letter, origin, takes, end, mark, off = (part or "" for part in found.groups())
    return letter + origin.lower() + takes.lower() + end.lower() + mark + off.lower()


def _result(word: str, text: str, index: int) -> str:
    word = "1/2-1/2" if word == "1/2" else word
    if word not in RESULTS:
        raise ParseError("not a result", text=text, index=index, hint="write one of " + " ".join(RESULTS))
    return word


def _played(
    ruleset: Ruleset, position: str | None, words: Sequence[tuple[int, str]], text: str
) -> Iterator[tuple[State, int]]:
    """Yield each move as its code, with the position before it.

    `words` are (index in `text`, move). Raise ParseError.
    """
    state = ruleset.read(position)
    for index, word in words:
        try:
            move = read_move(word, state, ruleset.config)
        except ParseError as error:
            raise placed(error, text, index) from None
        after = step(ruleset, state, move)
        if after is None:
            where = ruleset.write(state)
            raise ParseError(f"illegal move {word[:12]}", text=text, index=index, hint=f"the position is {where}")
        yield state, move
        state = after


def read_games(text: str, ruleset: Ruleset) -> list[GameText]:
    """Return all games of a text. `ruleset` supplies what the tags omit. Raise ParseError."""
    games: list[GameText] = []
    draft, place, is_exact = _BaroqueDraft(), 0, False
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None or (text[place] == "(" and not draft.is_begun):
            hint = "write tags, numbered moves as 1. Pa2a3 Pa7a6, {comments} and a result"
            raise ParseError("not game text", text=text, index=place, hint=hint)
        start, place = place, found.end()
        if found["space"]:
            continue
        if found["comment"]:
            said = found["comment"]
            draft.comment(len(draft.exact if is_exact else draft.moves), said[1:] if said[0] == ";" else said[1:-1])
            continue
        if found["name"] and draft.is_begun:
            games.append(draft.finish(ruleset, text))
            draft, is_exact = _BaroqueDraft(), False
        draft.is_empty = False
        if found["name"]:
            draft.tag(found["name"], unescape(found["value"]), ruleset, text, start)
            continue
        draft.is_begun = True
        if found["exact"]:
            is_exact = True
        elif found["move"]:
            (draft.exact if is_exact else draft.moves).append((start, _lowered(plain(found["move"]))))
            draft.mark(len(draft.exact if is_exact else draft.moves), found["marked"] or "")
        elif found["mark"]:
            draft.mark(len(draft.moves), found["mark"])
        elif found["from"]:
            draft.exact.append((start, found["from"] + found["to"]))
        elif found["result"]:
            draft.result = _result(found["result"], text, start)
            games.append(draft.finish(ruleset, text))
            draft, is_exact = _BaroqueDraft(), False
    if not draft.is_empty:
        games.append(draft.finish(ruleset, text))
    return games


# Writing


def _settled(game: GameText, ruleset: Ruleset) -> Ruleset:
    if not (game.variant or game.options):
        return ruleset
    inherited = {} if game.variant else ruleset.overrides
    return ruleset.rules.settle(game.variant or ruleset.variant.name, inherited | dict(game.options))


def _tag(name: str, value: object) -> str:
    shown = str(value).lower() if isinstance(value, bool) else " ".join(str(value).split())
    return write_tag(name, shown)


def _other_tags(game: GameText) -> list[str]:
    """Return the lines of `game.tags`, without names that the reader rejects or uses for other data."""
    return [
        _tag(name, value)
        for name, value in game.tags.items()
        if re.fullmatch(NAME, name) and name.lower() not in OWN_TAGS and not name.startswith(RULE)
    ]


def _words(
    game: GameText, played: Sequence[tuple[State, int]], config: Config, spell: Callable[[int, State, Config], str]
) -> list[str]:
    """Return the moves, each with its mark, a description of its captures, and its comment."""
    words = []
    for ply, (state, move) in enumerate(played, 1):
        said = explain(move, state, config) if spell is display_move else ""
        comment = braced("; ".join(part for part in (said, game.comments.get(ply, "")) if part))
        shown = spell(move, state, config) + game.marks.get(ply, "")
        words.append(f"{shown} {comment}" if comment else shown)
    return words


def _numbered(
    game: GameText, played: Sequence[tuple[State, int]], config: Config, spell: Callable[[int, State, Config], str]
) -> str:
    """Return `1. Pa2a3 Pa7a6 2. ...`, or `1... Pa7a6` if Black begins, with marks and comments."""
    words = [braced(game.comments.get(0, ""))]
    for ply, word in enumerate(_words(game, played, config, spell), 1):
        state, _ = played[ply - 1]
        if not state[SIDE]:
            words.append(f"{int(state[NUMBER])}.")
        elif ply == 1:
            words.append(f"{int(state[NUMBER])}...")
        words.append(word)
    return " ".join(word for word in words if word)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


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


def _play(game: GameText, ruleset: Ruleset) -> list[tuple[State, int]]:
    text = " ".join(game.moves)
    places = accumulate((len(move) + 1 for move in game.moves[:-1]), initial=0)
    return list(_played(ruleset, game.position, list(zip(places, game.moves, strict=False)), text))


def _head(game: GameText) -> list[str]:
    """Return the lines of a game's tags."""
    lines = _other_tags(game)
    if game.variant:
        lines.append(_tag("Variant", game.variant))
    lines += [_tag(RULE + name, value) for name, value in game.options.items()]
    if game.position:
        lines.append(_tag("Position", game.position))
    return [*lines, _tag("Result", game.result), ""]


def _write(game: GameText, ruleset: Ruleset, spell: Callable[[int, State, Config], str]) -> str:
    settled = _settled(game, ruleset)
    moves = _numbered(game, _play(game, settled), settled.config, spell)
    return "\n".join([*_head(game), *_wrapped(f"{moves} {game.result}".strip()), ""])


def write_table(game: GameText, ruleset: Ruleset) -> str:
    """Return a game in the display form, a row for each pair of moves. Raise ParseError for illegal moves."""
    settled = _settled(game, ruleset)
    words = _words(game, _play(game, settled), settled.config, display_move)
    start = settled.read(game.position)
    table = gametable.lines(settled.sides, gametable.rows(words, int(start[NUMBER]), int(start[SIDE])))
    said = [braced(game.comments[0])] if 0 in game.comments else []
    return "\n".join([*_head(game), *said, *table, game.result, ""])


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
    played = _play(game, settled)
    defaults = {option.name: option.default for option in settled.rules.options}
    lines = [*_other_tags(game), _tag("Variant", "Baroque")]
    lines += [_tag(RULE + name, value) for name, value in settled.values.items() if value != defaults[name]]
    lines.append(_tag("Fen", settled.write(settled.read(game.position))))
    lines.append(_tag("Result", game.result))
    shown = _numbered(game, played, settled.config, _short)
    exact = [_exact(move, state, settled.config) for state, move in played]
    return "\n".join([*lines, "", *_wrapped(shown), "", *exact, ""])


read = titled(branched(read_games))

FORMATS: tuple[GameFormat, ...] = (
    GameFormat("display", read, branching(write), "piece, origin and destination: 1. Pc2c4X Kd4xe5"),
    GameFormat("display-table", read, branching(write_table), "the same in a numbered row for each pair of moves"),
    GameFormat("coordinates", read, branching(write_coordinates), "canonical moves: 1. c2c4 d4e5"),
    GameFormat(
        "vchess", read, branching(write_vchess), "the format of vchess.club: 1. Pc2c4X Kxe5, then a list for machines"
    ),
    REVERSIBLE,
)
