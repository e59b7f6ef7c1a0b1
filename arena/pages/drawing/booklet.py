"""PDF booklets of games and problems: a diagram on each page for presentation, or four to a page with the moves.

Typst typesets the booklets. It is one wheel with its own fonts, which it embeds, and it draws SVG, so the boards are
those of the pages; WeasyPrint would need system libraries and fonts. This is the only module that uses Typst. All text
reaches Typst as data, never as markup.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

from arena.pages.drawing import board
from arena.pages.drawing.scene import Scene, Scenes
from arena.pages.drawing.thumbnail import style
from arena.pages.filters import result, win_question
from arena.pages.language import marked, text, translated, using
from referee.errors import ArenaError
from referee.game.record import GameRecord, ruleset_of
from referee.rules import load
from referee.rules.core import SIDES, Kind
from referee.rules.position import Position
from referee.rules.rules import Ruleset, Variation

Layout = Literal["text", "presentation"]
MAX_DIAGRAMS: Final = 2_000
"""The largest number of diagrams in a booklet."""
_TEMPLATE: Final = Path(__file__).with_name("booklet.typ")
_MARKS: Final = {
    "!!": marked("brilliant move"),
    "!": marked("good move"),
    "!?": marked("interesting move"),
    "?!": marked("inaccuracy"),
    "?": marked("mistake"),
    "??": marked("blunder"),
}


class BookletError(ArenaError):
    """A booklet that cannot be made."""


@dataclass(frozen=True, slots=True)
class BookletProblem:
    """A problem to print: from `position` the side to move wins in `moves` moves; `solution` is a text."""

    ruleset: Ruleset
    position: str
    moves: int
    solution: str
    title: str = ""
    condition: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class BookletGame:
    """A game to print: its record with annotations, and its tags, such as `Date`."""

    record: GameRecord
    tags: Mapping[str, str]
    number: str = ""


def make_booklet(
    games: Sequence[BookletGame],
    problems: Sequence[BookletProblem] = (),
    *,
    title: str = "",
    layout: Layout = "text",
    language: str = "en",
) -> bytes:
    """Return a PDF of games and of problems, whose solutions are at the end.

    Raises BookletError like `count_diagrams`, and ParseError or IllegalMoveError for a game against the rules.
    """
    count_diagrams(games, problems)
    import typst

    with using(language):
        data = _content(games, problems, title, layout) | {"language": language}
    made = typst.compile(
        _TEMPLATE.read_bytes(), sys_inputs={"data": json.dumps(data)}, ignore_system_fonts=True, format="pdf"
    )
    return bytes(made)


def count_diagrams(games: Sequence[BookletGame], problems: Sequence[BookletProblem]) -> int:
    """Count the diagrams of a booklet. Raises BookletError without Typst, for too many diagrams, and for none."""
    count = sum(len(game.record.moves) + 1 for game in games) + len(problems)
    if count > MAX_DIAGRAMS:
        raise BookletError(f"too many diagrams: {count:,}", hint=f"print at most {MAX_DIAGRAMS:,}; choose fewer games")
    if count == 0:
        raise BookletError("an empty booklet", hint="choose games or problems")
    if find_spec("typst") is None:
        raise BookletError("booklets need Typst", hint="install the arena with its extra: pip install 'bot-arena[pdf]'")
    return count


def _content(
    games: Sequence[BookletGame], problems: Sequence[BookletProblem], title: str, layout: Layout
) -> dict[str, Any]:
    """Return what the template shows, in the current language."""
    shown = [_game(game) for game in games]
    several = text("Contents") if shown else text("Problems")
    return {
        "title": title or (shown[0]["title"] if len(shown) == 1 else several),
        "layout": layout,
        "words": {
            "against": text("against"),
            "moves": text("Moves"),
            "problems": text("Problems"),
            "solutions": text("Solutions"),
            "contents": text("Contents"),
            "variation": text("Variation"),
            "score": text("Score"),
        },
        "games": shown,
        "problems": [_problem(problem, number) for number, problem in enumerate(problems, 1)],
    }


def problem_of(mined: Mapping[str, Any]) -> BookletProblem:
    """Return a problem found by `arena problems find`. Raises BookletError for any other object."""
    try:
        ruleset = load(mined["family"]).settle(mined["variant"], mined["options"])
        position, line = Position.start(ruleset, mined["position"]), []
        for move in mined["line"]:
            code = ruleset.rules.notation.read_move(move, position.state, ruleset.config)
            line.append(position.display(code))
            position = position.play(code)
        return BookletProblem(ruleset, mined["position"], mined["in"], " ".join(line), title=mined.get("source", ""))
    except (KeyError, TypeError, ValueError) as error:
        hint = "expected the output of arena problems find -o ndjson"
        raise BookletError(f"not a problem: {type(error).__name__}: {error}", hint=hint) from None


def picture(ruleset: Ruleset, scene: Scene) -> str:
    """Return a scene as an SVG document of its own."""
    drawing = str(board.svg(ruleset.rules, scene, label=""))
    sprites = re.sub(r"</?svg[^>]*>", "", str(board.sprites([ruleset.rules])))
    head = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
    return re.sub(
        r"(<svg )([^>]*>)", rf"\g<1>\g<2><style>{style()}{_LABELS}</style>{sprites}", drawing, count=1
    ).replace("<svg ", head, 1)


_LABELS: Final = '.board text { font-family: "DejaVu Sans Mono"; fill: #555; }'


def _game(game: BookletGame) -> dict[str, Any]:
    """Return a game as the template shows it."""
    record = game.record
    ruleset = ruleset_of(record)
    scenes = Scenes(ruleset, record.position or None)
    scenes.extend(record.moves)
    number = f" {game.number}" if game.number else ""
    date = next((game.tags[name] for name in ("Date", "date") if game.tags.get(name)), "")
    facts = [
        (text("Variant"), translated(ruleset.variant.name)),
        (text("Date"), date),
        (text("Source"), record.event),
    ]
    variations: dict[int, list[str]] = {}
    for variation in record.variations:
        variations.setdefault(variation.ply, []).append(_line(variation, scenes.items[variation.ply - 1], ruleset))
    plies = [_ply(record, scene, ruleset, variations.get(scene.ply, [])) for scene in scenes.items]
    first, second = map(translated, ruleset.sides)
    return {
        "title": f"{translated(ruleset.rules.title)}{number}",
        "players": [{"name": record.first, "side": first}, {"name": record.second, "side": second}],
        "result": _result(record),
        "facts": [list(pair) for pair in facts if pair[1]],
        "plies": plies,
        "notation": _notation(plies[1:]),
        "comment": record.comments.get(0, ""),
    }


def _notation(plies: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the moves in pairs, each pair as one text after its move number."""
    pairs: list[str] = []
    for ply in plies:
        word = f"{ply['move']}{ply['mark']}"
        if pairs and ply["number"].endswith("..."):
            pairs[-1] += f" {word}"
        else:
            pairs.append(f"{ply['number']} {word}")
    return pairs


def _ply(record: GameRecord, scene: Scene, ruleset: Ruleset, variations: Sequence[str]) -> dict[str, Any]:
    mark = record.marks.get(scene.ply, "")
    turn = ruleset.rules.side(ruleset.read(record.position or None), ruleset.config)
    pair, second = divmod(scene.ply - 1 + turn, 2)
    side = translated(ruleset.sides[SIDES.index(scene.side)]) if scene.side else ""
    return {
        "number": f"{pair + 1}.{'..' * second}" if scene.ply else "",
        "side": side,
        "move": scene.move if scene.ply else text("Start"),
        "mark": mark,
        "meaning": translated(_MARKS.get(mark, "")),
        "comment": record.comments.get(scene.ply, "") if scene.ply else "",
        "score": scene.score,
        "variations": list(variations),
        "board": picture(ruleset, scene),
    }


def _line(variation: Variation, before: Scene, ruleset: Ruleset) -> str:
    """Return a variation as people write it, with numbers, comments, and its own variations in parentheses."""
    scenes = Scenes(ruleset, before.position)
    scenes.extend(variation.moves)
    turn = ruleset.rules.side(ruleset.read(before.position), ruleset.config)
    words = [variation.comments.get(variation.ply - 1, "")]
    is_alone = True
    for place, scene in enumerate(scenes.items[1:]):
        ply, second = variation.ply + place, (turn + place) % 2
        if is_alone or not second:
            words.append(f"{(ply - 1) // 2 + 1}.{'..' * second}")
        words += [f"{scene.move}{variation.marks.get(ply, '')}", variation.comments.get(ply, "")]
        inner = [variation for variation in variation.variations if variation.ply == ply]
        words += [f"({_line(branch, scenes.items[place], ruleset)})" for branch in inner]
        is_alone = bool(inner)
    return " ".join(filter(None, words))


def _result(record: GameRecord) -> str:
    """Describe the result: `1-0 (resigned)`."""
    if record.winner is None:
        return text("result unknown")
    how = "" if record.kind is Kind.VOID else f" ({translated(str(record.termination))})"
    return f"{result(record.winner)}{how}"


def _problem(problem: BookletProblem, number: int) -> dict[str, Any]:
    """Return a problem as the template shows it."""
    ruleset = problem.ruleset
    scene = Scenes(ruleset, problem.position).items[0]
    return {
        "name": text("Problem") + f" {number}",
        "family": translated(ruleset.rules.title),
        "title": problem.title,
        "question": win_question(ruleset.sides[SIDES.index(scene.to_move)], problem.moves, problem.condition),
        "text": problem.text,
        "solution": problem.solution,
        "board": picture(ruleset, scene),
    }
