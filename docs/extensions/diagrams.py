"""Directive `board`: a position drawn by the code that draws the boards of the arena's pages.

The moves of a diagram are played by the rules when the site is built: a wrong one fails the build.

:::{board} loa
:moves: b1b3
:next: h4f2

Caption
:::

Options: `variant`, `rules` (`NAME=VALUE …`) and `position` choose the start; `moves` are played; `next` are legal moves
shown as arrows; `targets` is a cell whose legal moves are shown as dots; `plain` leaves out the marks that the family
puts on cells; `illegal` are moves that must not be legal;
`ends` is the termination that the position must have.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import OptionSpec

from arena.pages.drawing import board
from arena.pages.drawing.scene import Scene, Scenes
from referee.rules import load
from referee.rules.move_input import cells_named
from referee.rules.position import Position
from referee.rules.rules import Mark, Rules, Ruleset

_STATIC = Path(board.__file__).parents[1] / "static"
_TARGET = Mark("target", "a legal target", "spot")


class BoardDirective(SphinxDirective):
    """A diagram with its caption."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[OptionSpec | None] = {
        **dict.fromkeys(
            ("variant", "rules", "position", "moves", "next", "targets", "illegal", "ends"),
            directives.unchanged_required,
        ),
        "plain": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Return the figure. Raises an error of the directive for a move that the rules do not allow."""
        try:
            drawing = self._draw(load(self.arguments[0]))
        except (LookupError, ValueError) as error:
            raise self.error(f"{self.arguments[0]}: {error}") from error
        text, messages = self.state.inline_text(" ".join(self.content), self.lineno)
        raw = nodes.raw("", drawing, format="html", family=self.arguments[0])
        return [nodes.figure("", raw, nodes.caption("", "", *text), classes=["diagram"]), *messages]

    def _words(self, name: str) -> list[str]:
        return self.options.get(name, "").split()

    def _draw(self, rules: Rules) -> str:
        options = dict(word.split("=") for word in self._words("rules"))
        ruleset = rules.settle(self.options.get("variant"), options)
        scenes = Scenes(ruleset, self.options.get("position"))
        moves = _canonical(Position.start(ruleset, self.options.get("position")), self._words("moves"))
        scenes.extend(moves)
        scene = scenes.items[-1]
        last = Position.start(ruleset, scene.position)
        self._check(last)
        if "plain" in self.options:
            scene = replace(scene, board=replace(scene.board, marks={}))
        if arrows := self._words("next"):
            scene = replace(scene, trail=_trails(ruleset, scene, arrows), struck=())
        if cells := self._words("targets"):
            rules, scene = _with_targets(rules, scene, last, cells[0])
        return str(board.svg(rules, scene, label=f"Position {scene.position}"))

    def _check(self, position: Position) -> None:
        if wrong := set(self._words("illegal")) & set(position.texts):
            raise ValueError(f"marked as illegal, but legal: {', '.join(sorted(wrong))}")
        if expected := self.options.get("ends"):
            reason = position.outcome.reason if position.outcome else None
            if reason != expected:
                raise ValueError(f"the position ends by {reason}, not by {expected}")


def _canonical(position: Position, moves: Sequence[str]) -> list[str]:
    """Return moves, played in turn from `position`, in the canonical notation of their family."""
    found = []
    for move in moves:
        code = position.read(move)
        found.append(position.ruleset.rules.notation.write_move(code))
        position = position.play(code)
    return found


def _trails(ruleset: Ruleset, scene: Scene, moves: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the arrows of legal moves, each as a polyline of cells."""
    found: list[tuple[str, ...]] = []
    for move in moves:
        scenes = Scenes(ruleset, scene.position)
        scenes.extend(_canonical(Position.start(ruleset, scene.position), [move]))
        found += scenes.items[-1].trail
    return tuple(found)


def _with_targets(rules: Rules, scene: Scene, position: Position, cell: str) -> tuple[Rules, Scene]:
    """Return the rules and the scene with a mark on the last cell of each legal move that begins at `cell`."""
    ways = [cells_named(text, scene.board) for text in position.texts]
    marks: dict[str, tuple[str, ...]] = {way[-1]: (_TARGET.name,) for way in ways if way[:1] == (cell,)}
    if not marks:
        raise ValueError(f"no legal move begins at {cell}")
    drawn = replace(scene.board, marks={**scene.board.marks, **marks})
    return replace(rules, marks=(*rules.marks, _TARGET)), replace(scene, board=drawn)


def add_sprites(_: Sphinx, document: nodes.document) -> None:
    """Put the symbols of the pieces on a page once, below its text, as the search shows the beginning of a page."""
    drawings = [node for node in document.findall(nodes.raw) if node.get("family")]
    families = dict.fromkeys(node["family"] for node in drawings)
    if drawings:
        sprites = str(board.sprites([load(name) for name in families]))
        document.append(nodes.raw("", sprites, format="html"))


def write_styles(app: Sphinx) -> None:
    """Add the part of the pages' style sheet that colours boards."""
    sheet = (_STATIC / "board.css").read_text(encoding="utf-8")
    boards = sheet[sheet.index("/* boards */") : sheet.index("/* the viewer")]
    colours = re.findall(r"^:root \{.*?^\}|^@media \(prefers-color-scheme.*?\}$", sheet, re.MULTILINE | re.DOTALL)
    folder = Path(app.doctreedir) / "boards"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "boards.css").write_text("\n".join([*colours, boards]), encoding="utf-8")
    app.config.html_static_path.append(str(folder))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive, the symbols of pieces and their colours."""
    app.add_directive("board", BoardDirective)
    app.add_css_file("boards.css")
    app.connect("builder-inited", write_styles)
    app.connect("doctree-read", add_sprites)
    return {"parallel_read_safe": True}
