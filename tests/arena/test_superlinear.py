"""No reader of a stranger's text takes time out of proportion to its length: four times the text, at most eight times
the time.

Every text is a piece that is repeated, alone or between other text. Processor times are compared, the shortest of
several, and only those long enough to compare.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import pytest

from arena.collections.collection import read_collection
from arena.collections.recorded import RECORD
from arena.pages import filters
from arena.pages.drawing.scene import Scenes
from arena.services import study
from protocol.parser import parse_bot_line, parse_referee_line
from referee import toml
from referee.errors import near
from referee.game.openings import file_openings
from referee.game.record import read_record
from referee.game.spec import read_time_controls
from referee.rules import families, load
from referee.rules.ply_reference import read_ply
from referee.rules.position import IllegalMoveError, Position
from referee.rules.rules import GameFormat, GameText, Ruleset, Variation
from referee.solver.proofs import Condition
from referee.tournament import document as settings
from tests.conftest import EFFORT

FACTOR, AT_MOST = 4, 8
MEASURABLE_S = 0.03
"""A reading that takes less is fast enough whatever the ratio."""
TRIES = 6
"""Measurements before a reader is called slow: other work on the machine disturbs some of them."""
SIZE = 2000
"""Characters of the shorter texts."""
KNOWN = ("\n", "a", "{a}\n")
"""Pieces that have been slow."""
GAME_PIECES = (
    "{a}\n",
    *(" ", "\n", "\r\n", "a", "A", "1", ".", "-", "–", "(", "[", "{", "}", '"', "\\", "|", "?", "é", "\u202e"),
    *(
        "a ",
        "1\n",
        "1. ",
        "2. ",
        "a1 ",
        "a1b2 ",
        "a1:",
        "1-0 ",
        "$1 ",
        '[A "b"]\n',
        '[A "',
        "[Rule.",
        "{a} ",
        "{a\n",
        "# a\n",
        "(1. ",
        "(1. a) ",
    ),
    *("(1... ", "(1. {", "{}(", "{(1. )} ", "1. (1. ", "1. ) ( ", "; \n(1. ", "#! \n", "\x01", "\u3000"),
    *("Partie ", "Game 2\n", "Ab cd\n\n", "Ab,", '{"', '{"moves":[]}\n', "[[", "1|a|b\n", "1... ", "=+"),
)
PIECES = (
    *GAME_PIECES,
    *(
        "\t",
        "9",
        "0",
        "..",
        "=",
        ",",
        ";",
        ":",
        "/",
        "#",
        "*",
        "!",
        ")",
        "()",
        "]",
        "[]",
        "{}",
        '""',
        '"\\',
        "'",
        "<",
        "~",
        "$",
        "_",
    ),
    *(
        "@",
        "+",
        "x",
        "=\n",
        "A a\n",
        "1.",
        "#1 ",
        "a1-",
        "; a\n",
        "a=1\n",
        "a.b=1\n",
        "[a]\n",
        "[[a]]\n",
        "a={",
        "a.",
        "```",
        "**",
    ),
    *(
        "[a](",
        "<!--",
        "|a|\n",
        "\0",
        "info pv ",
        "score cp 1 ",
        "option name ",
        "var a ",
        "- a\n",
        "> ",
        "&#1;",
        "http://a ",
    ),
)


@dataclass(frozen=True)
class Reader:
    """A reader of text, with beginnings that are valid for it, and pieces of its own."""

    name: str
    read: Callable[[str], object]
    contexts: tuple[tuple[str, str], ...] = (("", ""), ("", " ~"))
    """What stands before and after the repeated piece."""
    pieces: tuple[str, ...] = PIECES
    sample: int = len(PIECES)
    """How many of the other pieces are repeated in each context; a release repeats all."""


def _moves(ruleset: Ruleset, count: int) -> tuple[str, ...]:
    """Return the first legal moves of a game, which ends with none of them."""
    position = Position.start(ruleset)
    moves: list[str] = []
    while len(moves) < count:
        for text in position.texts:
            following = position.play(text)
            if following.outcome is None and following.moves:
                break
        moves.append(text)
        position = following
    return tuple(moves)


def readers_of(family: str) -> Iterator[Reader]:
    """Yield the readers that a family has of its own: of positions, moves, and games in each of its notations."""
    ruleset = load(family).settle()
    start, moves = Position.start(ruleset), _moves(ruleset, 12)
    yield Reader("position", ruleset.read, (("", ""), (ruleset.start, ""), (ruleset.start[:-3], " 1")))
    yield Reader("move", start.read, (("", ""), (moves[0], ""), (moves[0][:2], "1")))
    if read_setup := ruleset.rules.notation.read_setup:
        yield Reader("setup", read_setup, (("", ""),))
    for form in ruleset.rules.formats:
        yield _games(ruleset, moves, form)
    commented = f"{moves[0]} [{moves[0]} {{so}}] "
    yield Reader("tree", lambda text: study.read_tree(ruleset, "", text), (("", ""),), (*GAME_PIECES, commented), 8)
    yield Reader("any notation", lambda text: study.tree_of_text(ruleset, text), (("", ""),), GAME_PIECES, 8)


def readers_for(family: str) -> Iterator[Reader]:
    """Yield the readers that are the same code for every family, with a family."""
    ruleset = load(family).settle()
    moves = _moves(ruleset, 12)
    words = " ".join(moves)
    for name, read in (
        ("variation", lambda text: Scenes(ruleset).extend(text.split())),
        ("line", lambda text: study.read(ruleset, "", text.split())),
    ):
        yield Reader(name, read, ((words + " ", ""),), ("a ", f"{moves[0]} ", "a", "1"))
    yield Reader("variant", ruleset.rules.variant_named, (("", ""), (ruleset.variant.name, "")))
    yield Reader("options", lambda text: study.settle(family, ruleset.variant.name, text))
    yield Reader("reference", lambda text: read_ply(text, ruleset))
    book = ("a ", "\n", "# ", ";", " ; ", "=", f"{words}\n", f"{ruleset.start} ; ", "[", "{")
    yield Reader("book", lambda text: file_openings(ruleset, text, 2), (("", ""), (f"{words}\n", "")), book)
    yield _games(ruleset, moves, RECORD)


def _games(ruleset: Ruleset, moves: tuple[str, ...], form: GameFormat) -> Reader:
    """Return the reader of games in a notation."""
    text = form.write(GameText(moves, ruleset.variant.name, {}), ruleset).strip()
    varied = GameText(moves[:1], ruleset.variant.name, {}, variations=(Variation(1, moves[:1], {1: "!"}, {1: "so"}),))
    begun = text[: len(text) * 2 // 3].rpartition(" ")[0]
    return Reader(
        f"games as {form.name}",
        lambda text: read_collection(text, form, ruleset),
        (
            ("", ""),
            ("", " ~"),
            (f"{text}\n", ""),
            (f"{begun} ", f" {moves[0]}"),
            (f"{begun} {{", f"}}\n{moves[0]}"),
        ),
        (*GAME_PIECES, f"{text}\n\n", f"{text[-20:]} ", form.write(varied, ruleset)),
        sample=2,
    )


def readers() -> Iterator[Reader]:
    """Yield the readers that know no family."""
    yield Reader(
        "tournament", lambda text: settings.read(toml.read(text)), (("", ""), ('[tournament]\nname = "a"\n', ""))
    )
    yield Reader("condition", Condition.read)
    yield Reader("time control", read_time_controls, (("", ""), ("60+1", "")))
    yield Reader("record", read_record, (("", ""), ('{"id": "', "")))
    yield Reader(
        "line of a bot",
        parse_bot_line,
        tuple((words, "") for words in ("", "info ", "info pv ", "option name a type combo ", "bestmove a ")),
    )
    yield Reader(
        "line of the referee",
        parse_referee_line,
        tuple((words, "") for words in ("", "position ", "go ", "setoption name ")),
    )
    yield Reader("name", lambda text: near(text, ("tournament", "greedy", "alphabeta")))
    yield Reader("shown text", filters.plain)


ALL = [
    *(pytest.param(one, id=one.name) for one in readers()),
    *(pytest.param(one, id=f"{family}: {one.name}") for family in families() for one in readers_of(family)),
    *(pytest.param(one, id=f"loa: {one.name}") for one in readers_for("loa")),
]


@pytest.mark.parametrize("reader", ALL)
def test_reader_of_a_longer_text_takes_time_in_proportion(reader: Reader) -> None:
    slow = [found for text in _texts(reader) if (found := _disproportion(reader, *text))]
    assert slow == []


@pytest.mark.parametrize(("power", "is_reported"), [(1, False), (2, True)])
def test_time_out_of_proportion_is_reported(monkeypatch: pytest.MonkeyPatch, power: int, is_reported: bool) -> None:
    monkeypatch.setitem(globals(), "_seconds", lambda _, text: (len(text) / SIZE) ** power)
    assert bool(_disproportion(Reader("of any text", len), "", "a", "")) is is_reported


def _texts(reader: Reader) -> Iterator[tuple[str, str, str]]:
    for before, after in reader.contexts:
        known = [piece for piece in KNOWN if piece in reader.pieces]
        others = [piece for piece in reader.pieces if piece not in known]
        random.Random(f"{reader.name} {before} {after}").shuffle(others)
        for piece in (*known, *others[: reader.sample if EFFORT == 1 else None]):
            yield before, piece, after


def _disproportion(reader: Reader, before: str, piece: str, after: str) -> str:
    """Return a description of a text that takes too long; nothing for one that does not."""
    count = SIZE // len(piece) + 1
    short, long = before + piece * count + after, before + piece * count * FACTOR + after
    long_s, short_s = _seconds(reader, long), float("inf")
    for _ in range(TRIES):
        if long_s < MEASURABLE_S:
            return ""
        short_s = min(short_s, _seconds(reader, short))
        if long_s < AT_MOST * short_s:
            return ""
        long_s = min(long_s, _seconds(reader, long))
    where = f"{before[-30:]!r}, {piece!r} repeated, {after!r}"
    return f"{where}: {short_s:.3f} s for {len(short):,} characters, {long_s:.3f} s for {len(long):,}"


def _seconds(reader: Reader, text: str) -> float:
    """Return the processor time of a reading, whether it succeeds or not."""
    begin = time.thread_time()
    with suppress(ValueError, IllegalMoveError, json.JSONDecodeError):
        reader.read(text)
    return time.thread_time() - begin
