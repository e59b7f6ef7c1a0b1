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
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from referee.rules import gametable
from referee.rules.core import ParseError, UnknownNameError
from referee.rules.gametags import MARK, RULE, Draft, placed, plain, split_mark, step, unescape, write_tag
from referee.rules.gametitle import titled
from referee.rules.pijersi.notation import (
    display_move,
    read_move,
    read_setup,
    write_move,
    write_position,
    write_setup,
)
from referee.rules.pijersi.start import STANDARD, is_mirrored, is_setup, numbers
from referee.rules.pijersi.state import FULL, HALF, PHASE
from referee.rules.reversible import REVERSIBLE
from referee.rules.rules import GameFormat, GameText, Ruleset, State
from referee.rules.variations import MARKER, branched, branching, to_line_end

KINDS = ("standard", "random", "random/symmetry", "exercise")
"""Origins that `#!` may give: `random/symmetry` is mirrored, `random` is not, `exercise` is composed."""

SIDES = ("White", "Black")
RESULTS = {0: "*", 1: "1-0", 2: "0-1", 3: "1/2-1/2"}

_LINE = re.compile(r"[^\r\n]+")
_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#.*")
_TAG = re.compile(r"#[ \t]*\[([A-Za-z][A-Za-z0-9_.]*)[ \t]+\"((?:[^\"\\]|\\[\"\\])*)\"\][ \t]*")
_WORD = re.compile(r"\([^()]*\)|[^ \t|]+")
_PLY = re.compile(r"[0-9]+(?:\.+|…)?")
_MARK = re.compile(rf"{MARK}|\$[0-9]{{1,3}}")
_DOTS = re.compile(r"\.+|…")
_BAD = re.compile(r"[\r\n]+")


class _PijersiDraft(Draft):
    """One game while it is being read; `whole` is the text that contains it."""

    def __init__(self, ruleset: Ruleset, whole: str) -> None:
        super().__init__(result="")
        self.ruleset = ruleset
        self.whole = whole
        self.setup: list[tuple[int, str]] = []
        self.moves: list[str] = []
        self.started = False
        self.state: State | None = None
        self.claim: tuple[str, int] | None = None

    def fail(self, problem: str, index: int, hint: str) -> ParseError:
        """Return a ParseError that names this index of the whole text."""
        return ParseError(problem, text=self.whole, index=index, hint=hint)

    def tag(self, name: str, value: str, index: int) -> None:
        """Store a tag. Raise ParseError for an unknown variant, rule or value."""
        self.started = True
        try:
            if name == "Variant":
                self.variant = self.ruleset.rules.variant(value).name
            elif name.startswith(RULE):
                self.take_rule(name, value, self.ruleset.rules)
            elif name == "Position":
                self.position = self.ruleset.write(self.ruleset.read(value or "-"))
            elif name == "Result":
                self.result = value
            else:
                self.tags[name] = value
        except UnknownNameError as error:
            raise self.fail(str(error), index, "list them with: arena rules list pijersi") from None
        except ParseError as error:
            raise self.fail(f"invalid {name}: {error.problem}", index, error.hint) from None

    def kind(self, word: str, index: int) -> None:
        """Store `#! word`: the origin or the name of a setup. Raise ParseError."""
        self.started = True
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

    def _placed(self) -> str | None:
        """Return the position that the setup lines describe; None if there are none. Raise ParseError."""
        if not self.setup:
            return None
        joined = "/".join(line for _, line in self.setup)
        try:
            return read_setup(joined)
        except ParseError as error:
            index, lines = error.index, iter(self.setup)
            start, line = next(lines)
            while index > len(line):
                index -= len(line) + 1
                start, line = next(lines)
            raise self.fail(error.problem, start + index, error.hint) from None

    def begin(self, index: int, swapping: bool | None) -> None:
        """Determine rules and start before the first ply.

        `swapping` says whether the first ply is a swap; None without any ply. Raise ParseError.
        """
        placed = self._placed()
        if given := placed or self.position:
            self._agree(given, self.setup[0][0] if self.setup else index)
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
        self.state = self.ruleset.read(self.position)

    def move(self, word: str, index: int) -> None:
        """Play one ply. Raise ParseError for an unreadable or illegal one."""
        if self.state is None:
            self.begin(index, word.startswith("("))
        self.started = True
        state, config = self.state, self.ruleset.config
        assert state is not None
        word, mark = split_mark(plain(word).lower())
        try:
            code = read_move(word, state, config)
        except ParseError as error:
            raise placed(error, self.whole, index) from None
        after = step(self.ruleset, state, code)
        if after is None:
            raise self.fail(f"illegal ply {word[:40]!r}", index, f"the position is {write_position(state, config)}")
        self.moves.append(write_move(code))
        if mark and display_move(code, state, config).endswith("!"):
            mark = mark.removeprefix("!")
        self.mark(len(self.moves), mark)
        self.state = after

    def word(self, word: str, index: int) -> None:
        """Handle a word of the moves: a result, a mark, dots, or a ply with or without number. Raise ParseError."""
        if word in RESULTS.values():
            self.started, self.result = True, word
        elif word == MARKER:
            self.comment(len(self.moves), MARKER)
        elif _MARK.fullmatch(word):
            self.mark(len(self.moves), word)
        elif not _DOTS.fullmatch(word):
            number = _PLY.match(word)
            if number is not None:
                if _ply_of(word) != len(self.moves) + 1:
                    hint = f"ply {len(self.moves) + 1} comes next"
                    raise self.fail(f"wrong ply number {number[0][:12]}", index, hint)
                word, index = word[number.end() :], index + number.end()
            if word:
                self.move(word, index)

    def finish(self, index: int) -> GameText:
        """Finish parsing and return the game. Raise ParseError."""
        if self.state is None:
            self.begin(index, None)
        if not self.result and self.moves:
            code = int(self.ruleset.rules.kernel.result(self.state, self.ruleset.config, 1, 0))  # type: ignore[arg-type]
            self.result = RESULTS[code % 4]
        self.result = self.result or "*"
        return self.game(self.moves)


def _words(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield (kind, content, index); the kinds are `comment`, `setup` (a whole line) and `word` (of any other line)."""
    for line in _LINE.finditer(text):
        comment = _COMMENT.search(line[0])
        content = line[0] if comment is None else line[0][: comment.start()]
        if ":" in content:
            yield "setup", content, line.start()
        else:
            for word in _WORD.finditer(content):
                yield "word", word[0], line.start() + word.start()
        if comment is not None:
            yield "comment", comment[0], line.start() + comment.start()


def _games(text: str, ruleset: Ruleset) -> Iterator[GameText]:
    draft = _PijersiDraft(ruleset, text)
    for what, content, index in _words(text):
        tag = _TAG.fullmatch(content) if what == "comment" else None
        is_heading = what == "setup" or tag is not None or content.startswith("#!")
        if draft.moves and (is_heading or (what == "word" and _ply_of(content) == 1)):
            yield draft.finish(index)
            draft = _PijersiDraft(ruleset, text)
        if tag:
            draft.tag(tag[1], unescape(tag[2]), index)
        elif what == "setup":
            draft.started = True
            draft.setup.append((index, content))
        elif is_heading:
            draft.kind(content[2:].strip(" \t"), index)
        elif what == "comment":
            draft.comment(len(draft.moves), content.lstrip("#"))
        else:
            draft.word(content, index)
    if draft.started:
        yield draft.finish(len(text))


def _ply_of(word: str) -> int:
    """Return the ply number at the start of a word; 0 if it has none."""
    number = None if not word[:1].isdecimal() or word in RESULTS.values() else _PLY.match(word)
    if number is None:
        return 0
    return int(number[0].rstrip(".…")) if len(number[0]) < 9 else -1


def read_games(text: str, ruleset: Ruleset) -> list[GameText]:
    """Return the games of a text, in order. Ply 1, setup lines or `#!` start a new one. Raise ParseError."""
    return list(_games(text, ruleset))


def _tag(name: str, value: Any) -> str:
    return "# " + write_tag(name, _BAD.sub(" ", str(value)))


def _comment(text: str, before: str = "") -> str:
    """Return a comment to the end of the line, written so that no reader mistakes it for a tag; "" for an empty one."""
    return f"{before}# {text.replace('[', '(').replace(']', ')')}" if text else ""


def _head(game: GameText, ruleset: Ruleset, settled: Ruleset) -> list[str]:
    """Return the lines above the moves: tags, and setup lines unless the start is the standard one."""
    config = settled.config
    state = settled.read(game.position)
    tags = dict(game.tags)
    lines = []
    if tags.get("Setup") in KINDS:
        lines.append(f"#! {tags.pop('Setup')}")
    lines += [_tag(name, value) for name, value in tags.items()]
    name = game.variant or (ruleset.variant.name if ruleset.variant.name != "standard" else "")
    lines += [_tag("Variant", name)] if name else []
    lines += [_tag(RULE + option, value) for option, value in game.options.items()]
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
        after = step(settled, state, code)
        if after is None:
            raise ValueError(f"ply {number}, {text}, is not legal in {write_position(state, config)}")
        words.append(f"{display_move(code, state, config)} {game.marks.get(number, '')}".rstrip())
        state = after
    code = int(settled.rules.kernel.result(state, config, 1, 0)) if words else 0
    return words, RESULTS[code % 4]


def _write(game: GameText, ruleset: Ruleset, body: Callable[[GameText, Sequence[str], int], list[str]]) -> str:
    settled = ruleset.rules.settle(game.variant or ruleset.variant.name, {**ruleset.overrides, **game.options})
    lines = _head(game, ruleset, settled)
    words, reached = _plies(game, settled)
    if game.result != reached:
        lines.append(_tag("Result", game.result))
    said = _comment(game.comments.get(0, ""))
    turn = settled.rules.side(settled.read(game.position), settled.config)
    return "\n".join([*lines, *([said] if said else []), *body(game, words, turn)]) + "\n"


def _pairs(game: GameText, words: Sequence[str], _: int) -> list[str]:
    """Return lines of two numbered plies; a comment ends its line."""
    body = [""]
    for number, word in enumerate(words, start=1):
        is_full = body[-1].count("   ") or "#" in body[-1]
        body += [""] if body[-1] and is_full else []
        body[-1] += ("   " if body[-1] else "") + f"{number} {word}"
        body[-1] += _comment(game.comments.get(number, ""), " ")
    return [line for line in body if line]


def _rows(game: GameText, words: Sequence[str], turn: int) -> list[str]:
    """Return a table whose rows start with the number of their first ply; a comment ends its row."""
    rows: list[gametable.Row] = []
    for ply, word in enumerate(words, start=1):
        cell = word + _comment(game.comments.get(ply, ""), " ")
        if (ply + turn) % 2:
            rows.append((str(ply), cell))
        elif ply > 1 and "#" not in rows[-1][1]:
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


def _heading(ruleset: Ruleset) -> str:
    """Return the tags that a variation needs before its moves: the variant, and the position to begin in."""
    return f"{_tag('Variant', ruleset.variant.name)}\n{_tag('Position', ruleset.variant.position)}\n"


_MARKER = to_line_end("#", _heading)
_read = titled(branched(read_games, _MARKER), tag=lambda variant: _tag("Variant", variant) + "\n", brackets="")

FORMATS = (
    GameFormat(
        "pijersi", _read, branching(write_game, _MARKER), "setup lines, numbered plies a4-b5=c4, # comments, #! tags"
    ),
    GameFormat("pijersi-table", _read, branching(write_table, _MARKER), "the same in a row for each pair of plies"),
    REVERSIBLE,
)
