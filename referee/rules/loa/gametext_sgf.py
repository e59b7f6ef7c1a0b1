"""Lines of Action as SGF, GM[9]: `(;GM[9]PB[Ada]PW[Bob]RE[B+];B[b1-b3];W[h4-f2])`.

The source is red-bean.com/sgf/loa.html. `RU` holds the variant and its options, `KP` the position at the start, `KT`
any other tags as `name:value`; other programs ignore the last two. Variations are the further branches of the tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from referee.rules.core import ParseError, value_text
from referee.rules.gametags import RULE, Draft, Remarks, other_tags, placed, plain
from referee.rules.loa.notation import read_move, write_move
from referee.rules.position import state_after
from referee.rules.rules import GameFormat, GameText, Ruleset, State, Variation
from referee.rules.tokens import escaped, folded
from referee.rules.variations import MAX_DEPTH

_PIECE: Final = re.compile(
    r"(?P<open>\()|(?P<close>\))|(?P<node>;)|(?P<name>[A-Za-z]+)\s*(?=\[)|\[(?P<value>(?:[^\]\\]|\\.)*)\]|(?P<blank>\s+)",
    re.DOTALL,
)
_TAGS: Final = {"PB": "Black", "PW": "White", "EV": "Event", "DT": "Date", "RO": "Round", "PC": "Site", "GN": "Title"}
_MARKS: Final = {"!!": "TE[2]", "!": "TE[1]", "??": "BM[2]", "?": "BM[1]", "!?": "IT[]", "?!": "DO[]"}
_READ: Final = frozenset(
    (
        *("FF", "AP", "CA", "ST", "IP", "IY", "VW", "GM", "SZ", "SU", "RE", "RU", "KP", "KT", "C", "B", "W", "PL"),
        *("TE", "BM", "IT", "DO"),
    )
)
"""Properties that are no tags."""
_RESULTS: Final = {"1-0": "B+", "0-1": "W+", "1/2-1/2": "Draw", "*": "?"}
_HINT: Final = "write (;GM[9];B[b1-b3];W[h4-f2])"


@dataclass
class _Node:
    """A node of the tree: its properties, where it begins, and its branches."""

    at: int
    properties: dict[str, list[str]] = field(default_factory=dict)
    branches: list[_Node] = field(default_factory=list)

    def value(self, name: str) -> str:
        """Return the first value of a property, "" without one."""
        return next(iter(self.properties.get(name, ())), "")

    def has(self, written: str) -> bool:
        """Return whether the node has a property with this value, as `TE[1]`."""
        name, _, value = written.rstrip("]").partition("[")
        return name in self.properties and (self.value(name) == value or (value == "1" and self.value(name) != "2"))

    @property
    def move(self) -> str:
        """The move of the node, "" without one."""
        return self.value("B") or self.value("W")


def _trees(text: str) -> Iterator[_Node]:
    """Yield the roots of the games of a text. Raise ParseError."""
    root, at, name = _Node(0), 0, ""
    stack: list[_Node] = []
    here = root
    while at < len(text):
        match = _PIECE.match(text, at)
        kind = match.lastgroup if match is not None else None
        if match is None or (not stack and kind not in ("open", "blank")):
            raise ParseError("this is not SGF", text=text, index=at, hint=_HINT)
        if kind == "open":
            here = here if stack else root
            stack.append(here)
        elif kind == "close":
            here = stack.pop()
            if not stack:
                yield from root.branches
                root = here = _Node(0)
        elif kind == "node":
            here.branches.append(_Node(at))
            here = here.branches[-1]
        elif kind == "name":
            name = match["name"].upper()
        elif kind == "value" and here is not root:
            here.properties.setdefault(name, []).append(re.sub(r"\\(.)", r"\1", match["value"], flags=re.DOTALL))
        at = match.end()
    if stack:
        raise ParseError("this SGF has no end", text=text, index=len(text), hint="close it with )")


def starts(text: str, _: Ruleset) -> Iterator[int]:
    """Yield where the games of a text begin."""
    depth, at = 0, 0
    while at < len(text) and (match := _PIECE.match(text, at)) is not None:
        if match.lastgroup == "open":
            if not depth and not text[text.rfind("\n", 0, at) + 1 : at].strip():
                yield at
            depth += 1
        depth -= match.lastgroup == "close"
        at = match.end()


def read_games(text: str, ruleset: Ruleset) -> list[GameText]:
    """Return the games of SGF trees. Raise ParseError."""
    return [_Reading(text, root, ruleset).game() for root in _trees(text)]


@dataclass
class _Reading:
    text: str
    root: _Node
    settled: Ruleset
    draft: Draft = field(default_factory=Draft)

    def fail(self, problem: str, hint: str = _HINT) -> ParseError:
        return ParseError(problem, text=self.text, index=self.root.at, hint=hint)

    def game(self) -> GameText:
        """Return the game. Raise ParseError."""
        if (kind := self.root.value("GM")) != "9":
            raise self.fail(f"this looks like SGF of another game, GM[{kind[:8]}]", "SGF of Lines of Action has GM[9]")
        self._settle()
        draft = self.draft
        draft.position = folded(self.root.value("KP")) or None
        try:
            start = self.settled.read(draft.position)
        except ParseError as error:
            raise self.fail(f"invalid position: {error.problem}", error.hint) from None
        draft.position = self.settled.write(start) if draft.position is not None else None
        self._tags()
        moves, variations = self.line(_line(self.root), draft, start, 0, 0)
        return replace(draft.game(moves), variations=variations)

    def _settle(self) -> None:
        """Determine the rules. Raise ParseError."""
        rules, draft = self.settled.rules, self.draft
        name, *options = self.root.value("RU").split() or [""]
        setup = self.root.value("SU")
        try:
            draft.variant = rules.variant_named(name) or rules.variant_named(setup)
            for option in options:
                key, sign, value = option.partition("=")
                if sign:
                    draft.take_rule(f"{RULE}{key}", value, rules)
        except ValueError as error:
            raise self.fail(str(error)) from None
        is_placed = not self.root.properties.keys().isdisjoint(("AB", "AW"))
        if is_placed or (setup and not draft.variant):
            raise self.fail(f"a start of SGF that is not read: {setup[:30] or 'AB, AW'}", "write KP[position]")
        if draft.variant or draft.options:
            variant = draft.variant or self.settled.variant.name
            kept = self.settled.overrides if variant == self.settled.variant.name else {}
            self.settled = rules.settle(variant, {**kept, **draft.options})

    def _tags(self) -> None:
        for name, values in self.root.properties.items():
            if name not in _READ:
                self.draft.tags[_TAGS.get(name, name)] = folded(values[0])
        for pair in self.root.properties.get("KT", ()):
            name, _, value = pair.partition(":")
            self.draft.tags[name] = folded(value)
        said = self.root.value("RE").lower()
        results = {"b+": "1-0", "w+": "0-1", "0": "1/2-1/2", "dr": "1/2-1/2"}
        self.draft.result = results.get(said[:2], "*")
        if reason := {"r": "resigned", "t": "time"}.get(said[2:3]):
            self.draft.tags.setdefault("Termination", reason)

    def line(
        self, nodes: Sequence[_Node], into: Remarks, start: State, base: int, depth: int
    ) -> tuple[list[str], tuple[Variation, ...]]:
        """Return the moves of a line after `base` plies, and its variations; store its remarks.

        Raise ParseError for a move that cannot be read, within a variation also for an illegal one.
        """
        moves, variations, state, config = list[str](), list[Variation](), start, self.settled.config
        is_legal = True
        for node in nodes:
            if node.move.lower().startswith("resign"):
                self.draft.result = "0-1" if node.value("B") else "1-0"
            elif node.move:
                try:
                    code = read_move(plain(node.move).rstrip("+!?# "), state, config)
                except ParseError as error:
                    raise placed(error, self.text, node.at) from None
                after = state_after(self.settled, state, code) if is_legal else None
                is_legal, state = after is not None, state if after is None else after
                if depth and not is_legal:
                    raise ParseError("illegal move", text=self.text, index=node.at, hint=_HINT)
                moves.append(write_move(code))
            ply = base + len(moves)
            into.comment(ply, node.value("C"))
            into.mark(ply, next((mark for mark, name in _MARKS.items() if node.has(name)), ""))
            for branch in node.branches[1:]:
                variation = self.variation(branch, state, ply, depth + 1) if is_legal else None
                variations += [variation] if variation is not None else []
                self.draft.unread += variation is None
        return moves, tuple(variations)

    def variation(self, branch: _Node, start: State, base: int, depth: int) -> Variation | None:
        """Return a branch of the tree as a variation; None if it cannot be read."""
        remarks = Remarks()
        if depth > MAX_DEPTH:
            return None
        try:
            moves, inner = self.line(_line(branch), remarks, start, base, depth)
        except ParseError:
            return None
        return Variation(base + 1, tuple(moves), remarks.marks, remarks.comments, inner) if moves else None


def _line(first: _Node) -> list[_Node]:
    """Return a node and all those that follow it on the first branches."""
    nodes = [first]
    while nodes[-1].branches:
        nodes.append(nodes[-1].branches[0])
    return nodes


def _written(value: str) -> str:
    return "[" + escaped(value).replace("\\", "\\\\").replace("]", "\\]") + "]"


@dataclass(frozen=True)
class _Writer:
    """Writes nodes. `turn` is the side that has the first move of the game."""

    settled: Ruleset
    turn: int

    def nodes(self, line: GameText | Variation, base: int, start: State | None) -> str:
        """Return the nodes of a line after `base` plies in position `start`, with its branches."""
        notation, config = self.settled.rules.notation, self.settled.config
        state, written, tails = start, list[str](), list[str]()
        for ply, move in enumerate(line.moves, base + 1):
            shown, after = move, None
            if state is not None:
                code = notation.read_move(move, state, config)
                shown, after = notation.display_move(code, state, config), state_after(self.settled, state, code)
            said = line.comments.get(ply, "")
            mark = _MARKS.get(line.marks.get(ply, ""), "")
            node = f";{'BW'[(self.turn + ply - 1) % 2]}[{shown}]{mark}" + (f"C{_written(said)}" if said else "")
            beside = [variation for variation in line.variations if variation.ply == ply]
            if beside:
                node = f"({node}"
                tails.append(")" + "".join(f"({self.branch(variation, state)})" for variation in beside))
            written.append(node if ply % 8 else f"{node}\n")
            state = after
        return "".join([*written, *reversed(tails)])

    def branch(self, variation: Variation, start: State | None) -> str:
        said = variation.comments.get(variation.ply - 1, "")
        nodes = self.nodes(variation, variation.ply - 1, start)
        # A node without a move keeps the variations of the first move apart from those of the variation.
        before = f";C{_written(said)}" if said else ";" if nodes.startswith("(") else ""
        return before + nodes


def write_game(game: GameText, ruleset: Ruleset) -> str:
    """Return one game as SGF. Raise UnknownNameError for an unknown variant or option."""
    settled = ruleset.rules.settle(game.variant or ruleset.variant.name, game.options)
    state = settled.read(game.position)
    names = {tag: name for name, tag in _TAGS.items()}
    size = len(settled.write(state).split("/"))
    properties = [f"GM[9]FF[4]CA[UTF-8]SZ[{size}]RE[{_RESULTS.get(game.result, '?')}]"]
    options = [f"{name}={value_text(value)}" for name, value in game.options.items()]
    if game.variant or options:
        properties.append("RU" + _written(" ".join([game.variant or settled.variant.name, *options])))
    properties += [f"KP{_written(game.position)}"] if game.position is not None else []
    tags = other_tags(game)
    properties += [names[name] + _written(value) for name, value in tags if name in names]
    others = [_written(value).replace("[", f"[{name}:", 1) for name, value in tags if name not in names]
    properties += [f"KT{''.join(others)}"] if others else []
    said = game.comments.get(0, "")
    properties += [f"C{_written(said)}"] if said else []
    writer = _Writer(settled, settled.rules.side(state, settled.config))
    return f"(;{''.join(properties)}\n{writer.nodes(game, 0, state)})\n"


SGF: Final = GameFormat("sgf", read_games, write_game, "SGF of Lines of Action, GM[9], with variations", starts)
