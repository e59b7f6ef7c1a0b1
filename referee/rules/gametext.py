"""Games of texts with their rules, moves, results, marks, comments and variations.

A notation is a `Grammar` and a function that understands one game. `GameReader` joins them: its call reads the games of
a text, its `starts` says where they begin, both from the same tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from referee.rules.core import ParseError, UnknownNameError
from referee.rules.gameparts import GamePart, TokenLine, cut, parse
from referee.rules.gametags import FINAL, RESULTS, RULE, Draft, Remarks, placed, plain
from referee.rules.gametitle import NUMBER, TITLE, line_kinds, number_in, variant_in
from referee.rules.names import fold
from referee.rules.position import state_after
from referee.rules.rules import GameText, Rules, Ruleset, State, Variation
from referee.rules.tokens import Grammar, TextToken, tokens
from referee.rules.variations import MAX_DEPTH

WORDS_FOR_RESULTS: Final = ("first", "second", "draw")
"""Results as records write them."""

_LOST: Final = ("loses", "lost", "perd", "resign", "resigns", "resigned", "abandonne", "---")

Spell: TypeAlias = Callable[[str], str]
"""A function that brings the word of a move into a form that the family's notation reads."""


@dataclass(frozen=True, eq=False)
class GameReader:
    """The reader of one notation. `understand` makes a game of a part of a text."""

    grammar: Grammar
    understand: Callable[[GamePart, Ruleset], GameText]
    words: tuple[str, ...] = ()
    """Words of the notation, such as `pass`, that are no titles."""

    def _cut(self, text: str, rules: Rules) -> Iterator[list[TextToken]]:
        return cut(tokens(text, self.grammar, line_kinds(rules, self.words)))

    def starts(self, text: str, ruleset: Ruleset) -> Iterator[int]:
        """Yield the indexes at which the games of a text begin, for those that begin with a line."""
        for part in self._cut(text, ruleset.rules):
            if part and part[0].is_first:
                yield part[0].start

    def __call__(self, text: str, ruleset: Ruleset) -> list[GameText]:
        """Return the games of a text. Raise ParseError."""
        games: list[GameText] = []
        for game_tokens in self._cut(text, ruleset.rules):
            part = parse(game_tokens, text, self.grammar.hint)
            if not part.is_filled:
                continue
            if not (part.tags or part.setup) and not part.words and part.titles:
                problem = "a title without a game"
                raise ParseError(problem, text=text, index=part.index, hint="write the moves below it")
            games.append(self.understand(part, ruleset))
        return games


# What all notations understand in the same way


def take_tags(
    part: GamePart, ruleset: Ruleset, draft: Draft, own: Callable[[TextToken], bool] = lambda tag: False
) -> None:
    """Store the titles and the tags of a game in `draft`, without those that `own` takes.

    Raise ParseError for an unknown variant, option or result.
    """
    for title in part.titles:
        draft.variant = draft.variant or variant_in(title, ruleset.rules)
    for tag in part.tags:
        try:
            if not own(tag):
                _take(tag, draft, ruleset.rules)
        except UnknownNameError as error:
            hint = f"list them with: arena rules list {ruleset.rules.family}"
            raise ParseError(str(error), text=part.text, index=tag.start, hint=hint) from None
        except ParseError as error:
            problem = f"invalid {tag.text}: {error.problem}"
            raise ParseError(problem, text=part.text, index=tag.start, hint=error.hint) from None
    if part.titles:
        draft.tags.setdefault(TITLE, " / ".join(part.titles))
        if number := number_in(part.titles):
            draft.tags.setdefault(NUMBER, number)


def _take(tag: TextToken, draft: Draft, rules: Rules) -> None:
    """Store a tag. Raise UnknownNameError or ParseError."""
    name = tag.text.lower()
    if name == "variant":
        # Other programs write the name of the family, which says nothing of the variant.
        is_family = fold(tag.value) in {fold(word) for word in (rules.family, *rules.words.family)}
        draft.variant = draft.variant if is_family else rules.variant(tag.value.strip()).name
    elif tag.text.startswith(RULE):
        draft.take_rule(tag.text, tag.value, rules)
    elif name in ("position", "fen"):
        draft.position = tag.value
    elif name == FINAL.lower():
        raise ParseError("this game is undone from its end", text=tag.value, hint="read it as reversible")
    elif name == "result":
        draft.result = "*" if tag.value in ("", "?") else tag.value
        if draft.result not in (*RESULTS, *WORDS_FOR_RESULTS):
            raise ParseError("not a result", text=tag.value, hint="write one of " + " ".join(RESULTS))
    else:
        draft.tags[tag.text] = tag.value


def settle(draft: Draft, ruleset: Ruleset, part: GamePart) -> Ruleset:
    """Return the rules of a game: those that it names, otherwise those of `ruleset`. Raise ParseError."""
    if not (draft.variant or draft.options):
        return ruleset
    variant = draft.variant or ruleset.variant.name
    kept = ruleset.overrides if variant == ruleset.variant.name else {}
    try:
        return ruleset.rules.settle(variant, {**kept, **draft.options})
    except ParseError as error:
        raise ParseError(error.problem, text=part.text, index=part.index, hint=error.hint) from None


def place(draft: Draft, settled: Ruleset, part: GamePart) -> State:
    """Return the start of a game, and bring its text in `draft` into the usual form. Raise ParseError."""
    if draft.position is not None:
        try:
            draft.position = settled.write(settled.read(draft.position))
        except ParseError as error:
            problem = f"invalid position: {error.problem}"
            raise ParseError(problem, text=part.text, index=part.first, hint=error.hint) from None
    return settled.read(draft.position)


def read_moves(
    part: GamePart, settled: Ruleset, start: State, spell: Spell = plain, *, is_played: bool = False
) -> list[str]:
    """Return the moves of a game in canonical notation.

    With `is_played` they are played on the board, since some spellings need the position. Raise ParseError.
    """
    notation, config, state, moves = settled.rules.notation, settled.config, start, list[str]()
    for ply, word in enumerate(part.words, 1):
        spelled = spell(word.text.rstrip(",."))
        try:
            code = notation.read_move(spelled, state, config)
        except ParseError as error:
            skipped = word.text.rfind(spelled)
            raise placed(error, part.text, word.start + max(0, skipped)) from None
        if is_played:
            if ply in part.marks:
                part.leave_out_sign(ply, notation.display_move(code, state, config))
            after = state_after(settled, state, code)
            if after is None:
                hint = f"the position is {settled.write(state)}"
                raise ParseError(f"illegal move {word.text[:40]}", text=part.text, index=word.start, hint=hint)
            state = after
        moves.append(notation.write_move(code))
    return moves


def result_of(part: GamePart, settled: Ruleset, start: State, stated: str) -> str:
    """Return the result of a game: that at its end, else what its last words say, else the one `stated` by its tag."""
    if part.result or not part.ending:
        return part.result or stated
    *names, verb = part.ending.rstrip(".!").split()
    turn = settled.rules.side(start, settled.config)
    side = settled.side_named(names[0]) if names else (turn + len(part.words)) % 2
    if side is None:
        return stated
    return RESULTS[1 - side if verb.lower() in _LOST else side]


def remarked_game(
    part: GamePart, draft: Draft, moves: Sequence[str], settled: Ruleset, spell: Spell = plain
) -> GameText:
    """Return the game with its marks, comments and variations.

    What cannot be read as a variation, or is illegal, becomes a comment and is counted in `GameText.unread`. Raise
    ParseError for a variation before the first move.
    """
    draft.unread += part.asides
    draft.take_marks(part.marks)
    if any(isinstance(said, TokenLine) for _, said in part.remarks) and not moves:
        problem, hint = "a variation needs a move before it, which it replaces", "write it below the move"
        raise ParseError(problem, text=part.text, index=part.index, hint=hint)
    reader = _Variations(part.text, settled, spell, draft)
    variations = reader.beside(part, draft, moves, settled.read(draft.position))
    return replace(draft.game(moves), variations=variations)


class _Variations:
    """Reads the lines in parentheses of one game."""

    def __init__(self, text: str, ruleset: Ruleset, spell: Spell, draft: Draft) -> None:
        self.text, self.ruleset, self.spell, self.draft = text, ruleset, spell, draft
        self.depth = 0

    def beside(
        self, line: TokenLine, into: Remarks, moves: Sequence[str], start: State | None, base: int = 0
    ) -> tuple[Variation, ...]:
        """Return the variations of a line that begins after `base` plies in position `start`; store its comments."""
        variations: list[Variation] = []
        at, state = 0, start
        notation, config = self.ruleset.rules.notation, self.ruleset.config
        for count, said in line.remarks:
            if isinstance(said, str):
                into.comment(base + count, said)
                continue
            while at < count - 1 and state is not None:
                state = state_after(self.ruleset, state, notation.read_move(moves[at], state, config))
                at += 1
            variation = self.read(said, state, base + count - 1) if count and state is not None else None
            if variation is None:
                # Only what pretends to be a variation keeps its parentheses; other words are a comment as they are.
                inside = int(not said.has_number)
                into.comment(base + count, self.text[said.index + inside : said.end - inside])
                self.draft.unread += said.has_number
            else:
                variations.append(variation)
        return tuple(variations)

    def read(self, line: TokenLine, start: State, base: int) -> Variation | None:
        """Return a line in parentheses as a variation after `base` plies; None for any other line."""
        if self.depth >= MAX_DEPTH or line.is_strange or not line.words:
            return None
        notation, config = self.ruleset.rules.notation, self.ruleset.config
        moves: list[str] = []
        state = start
        for ply, word in enumerate(line.words, 1):
            try:
                code = notation.read_move(self.spell(word.text.rstrip(",.")), state, config)
            except ParseError:
                return None
            if ply in line.marks:
                line.leave_out_sign(ply, notation.display_move(code, state, config))
            after = state_after(self.ruleset, state, code)
            if after is None:
                return None
            state = after
            moves.append(notation.write_move(code))
        remarks = Remarks()
        remarks.take_marks({base + ply: marks for ply, marks in line.marks.items() if ply})
        self.depth += 1
        inner = self.beside(line, remarks, moves, start, base)
        self.depth -= 1
        return Variation(base + 1, tuple(moves), remarks.marks, remarks.comments, inner)


def understand(
    part: GamePart, ruleset: Ruleset, spell: Spell = plain, *, is_played: bool = False
) -> tuple[GameText, Ruleset]:
    """Return the game of a part of a text, and its rules. `ruleset` supplies what the tags omit.

    Raise ParseError; with `is_played` also for an illegal move.
    """
    draft = Draft()
    take_tags(part, ruleset, draft)
    settled = settle(draft, ruleset, part)
    start = place(draft, settled, part)
    moves = read_moves(part, settled, start, spell, is_played=is_played)
    draft.result = result_of(part, settled, start, draft.result)
    return remarked_game(part, draft, moves, settled, spell), settled
