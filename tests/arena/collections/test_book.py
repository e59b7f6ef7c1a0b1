"""Opening books: balanced by search, reproducible by seed, editable by hand; faults are reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from arena.analysis.engine import score_of
from arena.cli.terminal.run import run
from arena.collections.book import BookError, make_book, write_book
from referee.game.openings import Opening, end_of, file_openings
from referee.game.spec import read_time_control
from referee.play.roster import Roster
from referee.rules import load
from referee.rules.core import ParseError
from referee.rules.position import Position
from referee.rules.rules import Ruleset
from referee.sandbox import Sandbox

LOA = load("loa").settle()
PIJERSI = load("pijersi").settle()


def static(position: Position) -> int:
    """Return the kernel's static evaluation."""
    return int(position.ruleset.rules.kernel.evaluate(position.state, position.ruleset.config))


def read(ruleset: Ruleset, text: str) -> list[Opening]:
    count = sum(1 for line in text.splitlines() if line and not line.startswith("#"))
    return file_openings(ruleset, text, count)


@pytest.mark.parametrize("family", ["loa", "pijersi"])
def test_a_book_is_level_different_stable_and_read_again(family: str) -> None:
    ruleset = load(family).settle()

    def make(count: int, seed: int) -> list[Opening]:
        lines = make_book(ruleset, plies=4, count=count, seed=seed, margin=60, score_of=static)
        assert all(line.score is not None and abs(line.score) <= 60 for line in lines)
        text = write_book(lines, ruleset, heading=["a heading"])
        openings = [line.opening for line in lines]
        assert [opening.moves for opening in read(ruleset, text)] == [opening.moves for opening in openings]
        return openings

    book = make(12, 5)
    assert make(12, 5) == book
    assert make(5, 5) == book[:5]
    assert make(12, 6) != book
    ends = [end_of(ruleset, opening) for opening in book]
    assert len({end.key for end in ends}) == 12
    assert all(end.outcome is None for end in ends)


def test_the_strong_search_judges() -> None:
    with Roster(Sandbox("none")) as roster:
        engine = partial(score_of, roster=roster, depth=2)
        lines = make_book(LOA, plies=3, count=3, seed=1, margin=40, score_of=engine)
        assert [engine(end_of(LOA, line.opening)) for line in lines] == [line.score for line in lines]
        lost = Position.start(LOA, "8/8/2wb4/8/2b2w2/8/8/b6w b - 36")
        assert engine(lost) != 0


def test_numbered_set_ups_are_a_book() -> None:
    lines = make_book(PIJERSI, plies=0, count=6, seed=2, margin=0, score_of=None, setups="pijersi-8100#random/random")
    text = write_book(lines, PIJERSI, heading=[])
    assert all(line.startswith("pijersi-8100#") for line in text.splitlines())
    openings = read(PIJERSI, text)
    assert openings == [line.opening for line in lines]
    assert all(opening.position is None for opening in openings)
    prolonged = make_book(PIJERSI, plies=2, count=2, seed=2, margin=500, score_of=static, setups="half-random")
    again = read(PIJERSI, write_book(prolonged, PIJERSI, heading=[]))
    assert [end_of(PIJERSI, opening).key for opening in again] == [
        end_of(PIJERSI, line.opening).key for line in prolonged
    ]


def test_a_book_by_hand() -> None:
    text = """# a comment, and blank lines

b1b3 h4f2        # moves from the start
1bbbbbb1/w6w/w6w/w6w/w6w/w6w/w6w/1bbbbbb1 b - 1 ; d1-b3
1b1b1bb1/w6w/2b4w/wb5w/w1w4w/w6w/w6w/1bbbbbb1 w - 2
scrambled-eggs ; b1b3
"""
    first, second, third, fourth = read(LOA, text)
    assert (first.variant, first.position, first.moves) == ("standard", None, ("b1b3", "h4f2"))
    assert (second.position is not None, second.moves) == (True, ("d1b3",))
    assert (third.moves, fourth.variant) == ((), "scrambled-eggs")
    assert read(PIJERSI, "pijersi-36#12\npijersi-36#13/2 ; a4b5c4\n")[0].variant == "pijersi-36#12"


FINISHED = "8/8/2bb4/8/5w2/8/8/w7 w - 36"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("b1b3\nb1b3 b1b9\n", 2, "b1b9"),
        ("b1b3\n\nb1b3 h4f2 a1a2\n", 3, "a1a2"),
        (f"# one\n{FINISHED}\n", 2, "the game is already over (connection)"),
        ("b1b3 h4f2\n# x\nb1-b3 h4-f2\n", 3, "the same position as line 1"),
        ("b1b3 h4f2 c1c3\nc1c3 h4f2 b1b3\n", 2, "the same position as line 1"),
        ("b1b3\n8/8/8/8/8/8/8/bb5x b - 1\n", 2, "unreadable"),
        ("b1b3\nloa12\n", 2, "has other rules"),
        ("scrambled-eggz\n", 1, ""),
        ("b1b3 ; b1b3\n", 1, ""),
    ],
)
def test_book_check_reports_the_line_of_an_error(text: str, line: int, message: str) -> None:
    with pytest.raises(ParseError) as error:
        file_openings(LOA, text, 2)
    assert f"line {line}: " in str(error.value)
    assert message in str(error.value) or message == "unreadable"


def test_set_ups_that_do_not_exist_are_named_with_their_line() -> None:
    with pytest.raises(ParseError, match=r"line 2: no setup 36 in pijersi-36"):
        file_openings(PIJERSI, "pijersi-36#1\npijersi-36#36\n", 2)


def test_too_few_openings_are_an_error() -> None:
    with pytest.raises(BookError, match="raise --margin"):
        make_book(LOA, plies=1, count=40, seed=1, margin=1000, score_of=static)
    with pytest.raises(BookError, match="pass --plies"):
        make_book(LOA, plies=0, count=2, seed=1, margin=50, score_of=None)


# The command


@pytest.fixture
def arena(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def command(*words: str, code: int = 0) -> str:
        assert run(words) == code
        out, err = capsys.readouterr()
        return out if code == 0 else err

    return command


def test_the_command_makes_a_book_and_reads_it_again(arena: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "loa.book"
    words = ["book", "make", "loa", "--plies", "3", "--count", "4", "--seed", "7", "--margin", "60", "--depth", "2"]
    arena(*words, "--output-file", str(file))
    text = file.read_text()
    assert text.startswith(
        "# openings of loa standard: 4 of 3 plies, seed 7\n# within 60 centipawns by alphabeta at depth 2"
    )
    assert arena(*words) == text
    assert "4 openings of loa" in arena("book", "check", str(file), "--family", "loa")
    book = json.loads(arena("book", "check", str(file), "--family", "loa", "--json"))
    assert [len(opening["moves"]) for opening in book["openings"]] == [3] * 4
    assert read_time_control("depth:2").limit == 2


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["make", "lao"], 2, "did you mean loa"),
        (["make", "loa", "--plies", "61"], 2, "at most 60"),
        (["make", "loa", "--plies", "0", "--depth", "0"], 1, "--setups"),
        (["make", "loa", "--setups", "x", "--depth", "0"], 2, "no set-ups to draw"),
        (["make", "loa", "--plies", "1", "--count", "99", "--depth", "0"], 1, "only"),
        (["check", "BOOK", "--family", "loa"], 2, "line 2: the game is already over"),
        (["check", "/no/such.book", "--family", "loa"], 3, "no such file"),
    ],
)
def test_book_commands_report_invalid_input(
    words: list[str], code: int, message: str, arena: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "book").write_text(f"b1b3\n{FINISHED}\n")
    words = [str(tmp_path / "book") if word == "BOOK" else word for word in words]
    assert message in arena("book", *words, code=code)
