"""Whole games as text: setup lines, then `1 a4-b5=c4   2 f4=d5-d4`, every ply numbered, any number per line.

`#` at the start of a line or after a blank begins a comment. `#! random` and the like give the origin of the setup, `#!
pijersi-24#17` gives its number; a setup that does not match is rejected. Marks (`!?`) follow a ply; the first `!` of a
capture is the sign of the capture.

Comments of the form `# [Name "value"]` hold what the notation cannot express: variant, rules, other tags, the result,
and a position without setup lines. Readers that do not support them can ignore them. Limits and repetition are ignored:
a game is read as long as its turns are legal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from referee.rules import gametable
from referee.rules.core import ParseError, UnknownNameError
from referee.rules.gameparts import GamePart
from referee.rules.gametags import Draft, other_tags, plain, rule_tags, write_tag
from referee.rules.gametext import GameReader, read_moves, remarked_game, take_tags
from referee.rules.pijersi.notation import (
    display_move,
    read_move,
    read_setup,
    write_position,
    write_setup,
)
from referee.rules.pijersi.start import STANDARD, is_mirrored, is_setup, numbers
from referee.rules.pijersi.state import FULL, HALF, PHASE
from referee.rules.position import state_after
from referee.rules.reversible import REVERSIBLE
from referee.rules.rules import GameFormat, GameText, Ruleset, State
from referee.rules.tokens import Grammar, TextToken
from referee.rules.variations import TO_LINE_END, remarks

KINDS = ("standard", "random", "random/symmetry", "exercise")
"""Origins that `#!` may give: `random/symmetry` is mirrored, `random` is not, `exercise` is composed."""

SIDES = ("White", "Black")
RESULTS = {0: "*", 1: "1-0", 2: "0-1", 3: "1/2-1/2"}

GRAMMAR: Final = Grammar(
    hint="write a4b5c4, a4-b5=c4, b4=d4 or, in the swap phase, (a1b7) or ()",
    line_comment="#",
    has_line_tags=True,
    word=rf"\([ \t]*(?:[A-Ga-g][1-7][ \t]*[A-Ga-g][1-7][ \t]*)?\)|{Grammar.word}",
    bare=r"[0-9]{1,40}(?=[\sa-gA-G(|]|$)",
    setup=r"[A-Za-z][0-9]{1,3}[ \t]*:[^\r\n#]*",
    log=r"[ \t]*(?:Hello from PIJERSI-CERTU|pijersi-certu-v[0-9]|Turn [0-9]+ / player|g1[.a-zA-Z]{2}[ \t]+g2)",
)
_WON: Final = re.compile(r"Player (white|black)-(\S+) wins against (?:white|black)-(\S+)")
_DRAWN: Final = re.compile(r".*\bdraw between white-(\S+) and black-(\S+)")
"""What the author's programs write above or below a game."""


@dataclass
class _PijersiDraft(Draft):
    """One game while it is being read."""

    part: GamePart = field(kw_only=True)
    ruleset: Ruleset = field(kw_only=True)
    result: str = ""
    claim: tuple[str, int] | None = None

    def fail(self, problem: str, index: int, hint: str) -> ParseError:
        """Return a ParseError that names this index of the whole text."""
        return ParseError(problem, text=self.part.text, index=index, hint=hint)

    def own(self, tag: TextToken) -> bool:
        """Store the position of a tag; return whether it is one."""
        if tag.text != "Position":
            return False
        self.position = self.ruleset.write(self.ruleset.read(tag.value or "-"))
        return True

    def kind(self, word: str, index: int) -> None:
        """Store `#! word`: the origin or the name of a setup. Raise ParseError."""
        self.claim = word, index
        if word.lower() in KINDS:
            self.tags["Setup"] = word.lower()
            return
        variant = self.ruleset.rules.variant
        before = self.variant
        try:
            self.variant = variant(word).name
            if "#" in before and "#" in self.variant and variant(before).position != variant(word).position:
                raise self.fail(f"#! {word[:40]} contradicts {before} above", index, "omit one of them")
        except UnknownNameError:
            hint = "one of " + ", ".join(KINDS) + ", or the name of a setup such as pijersi-24#17"
            raise self.fail(f"unknown setup tag {word[:40]!r}", index, hint) from None
        except ParseError as error:
            raise self.fail(error.problem, index + error.index, error.hint) from None

    def take_heading(self) -> None:
        """Store the players and the result that the author's programs state in words."""
        said = (said for _, said in self.part.remarks if isinstance(said, str))
        for line in (*self.part.titles, *said):
            if won := _WON.match(line):
                players = (won[2], won[3]) if won[1] == "white" else (won[3], won[2])
                self.result = self.result or ("1-0" if won[1] == "white" else "0-1")
            elif drawn := _DRAWN.match(line):
                players, self.result = (drawn[1], drawn[2]), self.result or "1/2-1/2"
            else:
                continue
            self.tags.setdefault("White", players[0])
            self.tags.setdefault("Black", players[1])

    def _agree(self, placed: str, at: int) -> None:
        """Raise ParseError if `#!` contradicts the setup."""
        if self.claim is None:
            return
        word, index = self.claim
        kind, here = self.tags.get("Setup"), placed.removesuffix(" swap")
        if kind is None:
            wanted = self.ruleset.rules.variant(self.variant)
            is_member = "#" not in wanted.name and bool(numbers(here).get(wanted.name))
            if not wanted.is_dealt and not is_member and here != wanted.position:
                hint = f"omit #! {word}, or write {write_setup(self.ruleset.read(wanted.position))}"
                raise self.fail(f"the setup is not {wanted.name}", at, hint)
            kind = "random" if wanted.is_dealt else "exercise"
        allowed = {"standard": here == STANDARD, "exercise": True, "random": is_setup(here)}
        if not allowed.get(kind, is_setup(here) and is_mirrored(here)):
            raise self.fail(f"the setup contradicts #! {word[:40]}", index, "write #! exercise")

    def _placed(self, setup: Sequence[tuple[int, str]]) -> str | None:
        """Return the position that the setup lines describe; None if there are none. Raise ParseError."""
        if not setup:
            return None
        joined = "/".join(line for _, line in setup)
        try:
            return read_setup(joined)
        except ParseError as error:
            index, lines = error.index, iter(setup)
            start, line = next(lines)
            while index > len(line):
                index -= len(line) + 1
                start, line = next(lines)
            raise self.fail(error.problem, start + index, error.hint) from None

    def begin(self) -> State:
        """Determine the rules, and return the start. Raise ParseError."""
        part = self.part
        setup = [(token.start, token.text) for token in part.setup if not token.text.startswith("#!")]
        swapping = part.words[0].text.startswith("(") if part.words else None
        placed = self._placed(setup)
        if given := placed or self.position:
            self._agree(given, setup[0][0] if setup else part.first)
        rules, values = self.ruleset.rules, self.ruleset.values
        if not self.variant and self.ruleset.variant.name != "standard":
            self.variant = "standard"  # in this notation no setup means the standard one
        if self.variant:
            kept = self.ruleset.overrides if self.variant == self.ruleset.variant.name else {}
            values = rules.settle(self.variant, {**kept, **self.options}).values
        swaps = bool(self.options.get("swap_phase", values["swap_phase"]))
        if swapping is not None and swapping != swaps and self.position is None:
            self.options["swap_phase"] = swaps = swapping
        name = self.variant or self.ruleset.variant.name
        self.ruleset = rules.settle(name, {**self.ruleset.overrides, **self.options})
        if placed is not None and self.position is None:
            placed += " swap" if swaps else ""
            if placed != self.ruleset.variant.position:
                self.position = placed
        return self.ruleset.read(self.position)


def _check_numbers(part: GamePart) -> None:
    """Raise ParseError for a number that is not that of the next ply."""
    for count, token in part.numbers:
        if token.text and token.ordinal != count + 1:
            problem, hint = f"wrong ply number {token.text[:12]}", f"ply {count + 1} comes next"
            raise ParseError(problem, text=part.text, index=token.start, hint=hint)


def _spelled(word: str) -> str:
    return plain(word).lower()


def understand(part: GamePart, ruleset: Ruleset) -> GameText:
    """Return the game of a part of a text. Raise ParseError, also for an illegal ply."""
    draft = _PijersiDraft(part=part, ruleset=ruleset)
    take_tags(part, ruleset, draft, own=draft.own)
    for token in part.setup:
        if token.text.startswith("#!"):
            draft.kind(token.text[2:].strip(" \t"), token.start)
    start = draft.begin()
    settled = draft.ruleset
    _check_numbers(part)
    moves = read_moves(part, settled, start, _spelled, is_played=True)
    draft.result = part.result or draft.result
    draft.take_heading()
    if not draft.result:
        draft.result = _reached(settled, start, moves)
    return remarked_game(part, draft, moves, settled, _spelled)


def _reached(settled: Ruleset, state: State | None, moves: Sequence[str]) -> str:
    """Return the result after the moves by the rules."""
    for move in moves:
        assert state is not None
        state = state_after(settled, state, read_move(move, state, settled.config))
    return (
        RESULTS[int(settled.rules.kernel.result(state, settled.config, 1, 0)) % 4]
        if moves and state is not None
        else "*"
    )


def _tag(name: str, value: str) -> str:
    return "# " + write_tag(name, value)


def _head(game: GameText, ruleset: Ruleset, settled: Ruleset) -> list[str]:
    """Return the lines above the moves: tags, and setup lines unless the start is the standard one."""
    config = settled.config
    state = settled.read(game.position)
    tags = dict(other_tags(game))
    lines = [f"#! {tags.pop('Setup')}"] if tags.get("Setup") in KINDS else []
    name = game.variant or (ruleset.variant.name if ruleset.variant.name != "standard" else "")
    tags |= {"Variant": name} if name else {}
    lines += [_tag(name, value) for name, value in (*tags.items(), *rule_tags(game.options))]
    expressible = not state[PHASE] & 1 and state[HALF] == 0 and state[FULL] == 1
    start = write_position(state, config).removesuffix(" swap")
    if game.position is not None and not (expressible and game.position != settled.variant.position):
        lines.append(_tag("Position", write_position(state, config)))
    if expressible and start != STANDARD:
        setup = write_setup(state)
        lines += [setup] if setup else []
    return lines


def _plies(game: GameText, settled: Ruleset) -> tuple[list[str], str]:
    """Return the plies with their marks, and the result after them. Raise ValueError for an illegal one."""
    config = settled.config
    state, words = settled.read(game.position), []
    for number, text in enumerate(game.moves, start=1):
        code = read_move(text, state, config)
        after = state_after(settled, state, code)
        if after is None:
            raise ValueError(f"ply {number}, {text}, is not legal in {write_position(state, config)}")
        mark = game.marks.get(number, "")
        words.append(f"{display_move(code, state, config)} {mark}".rstrip())
        state = after
    code = int(settled.rules.kernel.result(state, config, 1, 0)) if words else 0
    return words, RESULTS[code % 4]


Body = Callable[[Sequence[str], dict[int, str], int], list[str]]


def _write(game: GameText, ruleset: Ruleset, body: Body) -> str:
    settled = ruleset.rules.settle(game.variant or ruleset.variant.name, {**ruleset.overrides, **game.options})
    lines = _head(game, ruleset, settled)
    words, reached = _plies(game, settled)
    if game.result != reached:
        lines.append(_tag("Result", game.result))
    said = {ply: text.rstrip("\n") for ply, text in remarks(game, settled, TO_LINE_END).items()}
    turn = settled.rules.side(settled.read(game.position), settled.config)
    return "\n".join([*lines, *([said[0]] if 0 in said else []), *body(words, said, turn)]) + "\n"


def _pairs(words: Sequence[str], said: dict[int, str], _: int) -> list[str]:
    """Return lines of two numbered plies; a comment or a variation ends its line."""
    lines: list[str] = []
    is_open = False
    for number, word in enumerate(words, start=1):
        text = f"{number} {word}" + (f" {said[number]}" if number in said else "")
        lines[-1:] = [f"{lines[-1]}   {text}"] if is_open else [*lines[-1:], text]
        is_open = not is_open and number not in said
    return lines


def _rows(words: Sequence[str], said: dict[int, str], turn: int) -> list[str]:
    """Return a table whose rows start with the number of their first ply; a comment ends its row."""
    rows: list[gametable.Row] = []
    for ply, word in enumerate(words, start=1):
        cell = word + (f" {said[ply]}" if ply in said else "")
        if (ply + turn) % 2:
            rows.append((str(ply), cell))
        elif ply > 1 and ply - 1 not in said:
            rows[-1] = (*rows[-1], cell)
        else:
            rows.append((str(ply), gametable.NO_MOVE, cell))
    return gametable.lines(SIDES, rows)


def write_game(game: GameText, ruleset: Ruleset) -> str:
    """Return one game's text: tags, setup lines unless the start is the standard one, and two plies per line.

    Raise ValueError for illegal moves.
    """
    return _write(game, ruleset, _pairs)


def write_table(game: GameText, ruleset: Ruleset) -> str:
    """Return one game's text with the plies in a table. Raise ValueError for illegal moves."""
    return _write(game, ruleset, _rows)


READER: Final = GameReader(GRAMMAR, understand)

FORMATS = (
    GameFormat(
        "pijersi", READER, write_game, "setup lines, numbered plies a4-b5=c4, # comments, #! tags", READER.starts
    ),
    GameFormat("pijersi-table", READER, write_table, "the same in a row for each pair of plies", READER.starts),
    REVERSIBLE,
)
