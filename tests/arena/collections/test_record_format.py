"""Every notation converts to a record and back, and a game has the same identity in every notation."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.cli.terminal.run import run
from arena.collections.recorded import RECORD, players_of, record_of
from referee.game.record import read_record
from referee.game.record_text import read_texts, write_text
from referee.rules import families, load
from referee.rules.core import ParseError
from referee.rules.ply_reference import read_ply, write_ply
from referee.rules.rules import GameText
from referee.verify.verification import verify

VECTORS = Path(__file__).parents[2] / "data" / "vectors"
TOKENS = {"first": "1-0", "second": "0-1", "draw": "1/2-1/2"}
FORMATS = [(family, form.name) for family in families() for form in load(family).formats]


def stdin(text: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")


def games(family: str) -> list[tuple[GameText, Any]]:
    """Return games of the test vectors with marks and comments, and their rules."""
    texts = []
    for place, game in enumerate(json.loads((VECTORS / f"{family}.json").read_text())["games"][:6]):
        ruleset = load(family).settle(game["variant"], game["options"])
        position = game["position"] and ruleset.write(ruleset.read(game["position"]))
        result = TOKENS[game["result"]["winner"]] if game["result"] else "*"
        last = len(game["moves"])
        text = GameText(
            tuple(game["moves"]),
            ruleset.variant.name,
            ruleset.overrides,
            None if position == ruleset.variant.position else position,
            {"First": f"Ada {place}", "Second": "Bob", "Date": "2017-03-05"},
            result,
            {1: "!", last: "??"},
            {0: "avant", last: "fin"},
        )
        texts.append((text, ruleset))
    return texts


@pytest.mark.parametrize(("family", "name"), FORMATS)
def test_there_and_back(family: str, name: str) -> None:
    rules = load(family)
    form = next(form for form in rules.formats if form.name == name)
    count = 0
    for game, ruleset in games(family):
        try:
            written = form.write(game, ruleset)
            read = list(form.read(written, rules.settle()))
        except ValueError:
            continue  # a notation need not have words for every start
        count += 1
        assert len(read) == 1
        settled = rules.settle(read[0].variant or None, read[0].options)
        line = RECORD.write(read[0], rules.settle())
        (back,) = RECORD.read(line, rules.settle())
        assert (back.moves, back.marks, back.comments) == (game.moves, game.marks, game.comments)
        assert (back.result, players_of(back.tags, settled)) == (game.result, (game.tags["First"], "Bob"))
        assert back.position in (read[0].position, None)
        assert RECORD.read(RECORD.write(back, rules.settle()), rules.settle()) == [back]
        assert form.write(replace(back, tags=read[0].tags), rules.settle()) == form.write(read[0], rules.settle())
        record = read_record(line)
        verify(record)
        assert record.id == record_of(game, ruleset).id, written
        assert list(read_texts(write_text(record))) == [record]
    assert count >= 3


def test_identity_is_equal_in_every_notation() -> None:
    rules = load("pijersi")
    numbered = GameText(("a4b5c4",), "pijersi-36#0")
    placed = GameText(("a4b5c4",), "standard", {}, rules.settle("pijersi-36#0").variant.position)
    assert record_of(numbered, rules.settle()).id == record_of(placed, rules.settle()).id
    other = replace(placed, moves=("a2b3",))
    assert record_of(placed, rules.settle()).id != record_of(other, rules.settle()).id
    tablut = load("tablut")
    bell = GameText(("d1d3",), "bell", {"king_max_step": 4})
    assert record_of(bell, tablut.settle()).id == record_of(GameText(("d1d3",), "bell_k4"), tablut.settle()).id
    assert record_of(bell, tablut.settle()).id != record_of(replace(bell, options={}), tablut.settle()).id


def test_players_under_the_names_of_their_sides() -> None:
    tablut = load("tablut")
    tags = {"Moscovites": "Ada", "Defenders": "Bob"}
    assert players_of(tags, tablut.settle("bell")) == ("Ada", "Bob")
    assert players_of(tags, tablut.settle("ashton")) == ("Bob", "Ada")
    assert players_of({"Blanc": "Ada"}, load("abalone").settle()) == ("unknown", "Ada")


@pytest.mark.parametrize(
    ("tags", "result", "termination"),
    [
        ({}, "1-0", "unstated"),
        ({}, "1/2-1/2", "unstated"),
        ({}, "*", "stopped"),
        ({"Termination": "White resigns"}, "0-1", "resigned"),
        ({"Reason": "Abandon des Blancs"}, "1-0", "resigned"),
        ({"Termination": "time forfeit"}, "1-0", "time"),
        ({"Termination": "by agreement"}, "1/2-1/2", "draw-agreed"),
        ({"Termination": "resigned"}, "1/2-1/2", "unstated"),
        ({"Termination": "normal"}, "1-0", "unstated"),
    ],
)
def test_a_game_ends_as_its_text_says_and_for_no_other_reason(
    tags: dict[str, str], result: str, termination: str
) -> None:
    record = record_of(GameText(("b1b3",), "standard", tags=tags, result=result), load("loa").settle())
    assert record.termination.value == termination


@pytest.mark.parametrize(("said", "termination"), [("B+R", "resigned"), ("W+T", "time"), ("B+", "unstated")])
def test_a_reason_of_a_smart_game_is_read(said: str, termination: str) -> None:
    rules = load("loa").settle()
    form = next(form for form in rules.rules.formats if "sgf" in form.name)
    (game,) = form.read(f"(;GM[9]RE[{said}];B[b1-b3])", rules)
    assert record_of(game, rules).termination.value == termination
    (again,) = form.read(form.write(game, rules), rules)
    assert record_of(again, rules).termination.value == termination


def test_a_record_in_a_text_keeps_its_reason() -> None:
    rules = load("loa").settle()
    record = record_of(GameText(("b1b3",), "standard", tags={"Termination": "time"}, result="1-0"), rules)
    (game,) = RECORD.read(record.line(), rules)
    assert record_of(game, rules).termination.value == "time"


def test_a_game_that_cannot_be_played_is_a_record_that_says_so() -> None:
    record = record_of(GameText(("e4e5", "a1a2"), "standard", result="1-0"), load("abalone").settle())
    assert (record.winner, record.termination.value, record.final_position) == ("first", "unstated", "")
    with pytest.raises(ValueError, match="ply 1: illegal move 'e4e5'"):
        verify(record)


@pytest.mark.parametrize(
    "data", [{"marks": 3}, {"comments": {"x": "y"}}, {"marks": {"1": 2}}, {"variant": "no-such"}, {"options": {"a": 1}}]
)
def test_records_that_cannot_be_read(data: dict[str, Any]) -> None:
    with pytest.raises(ParseError):
        RECORD.read(json.dumps({"moves": ["e4e5"], **data}), load("abalone").settle())


def test_a_pasted_text_is_converted_and_replayed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", stdin("Marguerite belge\n\n1.a1b2! i5h5 2.a2b3 {bien} i6h6?! 3…\n"))
    assert run(["rules", "convert", "Abalone", "--from", "auto", "--to", "record"]) == 0
    line = capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", stdin(line))
    assert run(["replay", "-", "--ply", "2x"]) == 0
    shown = capsys.readouterr().out
    assert "ply 3 of 4 (2x): first (Black) played a2b3 {bien}" in shown
    assert "belgian-daisy" in shown
    monkeypatch.setattr("sys.stdin", stdin(line))
    assert run(["rules", "convert", "abalone", "--from", "record", "--to", "aba-pro"]) == 0
    assert "1.a1b2! i5h5 2.a2b3 {bien} i6h6?!" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "begins", "ply"),
    [
        ("33", 0, 33),
        ("ply 33", 0, 33),
        ("17x", 0, 33),
        ("17y", 0, 34),
        ("17y", 1, 33),
        ("2...", 0, 4),
        ("2 Noir", 0, 3),
    ],
)
def test_references(text: str, begins: int, ply: int) -> None:
    ruleset = load("abalone").settle()
    assert read_ply(text, ruleset, begins) == ply
    assert read_ply(write_ply(ply, begins), ruleset, begins) == ply


def test_a_reference_follows_the_sides_of_the_game() -> None:
    tablut = load("tablut")
    assert read_ply("2 attackers", tablut.settle("bell")) == 3
    assert read_ply("2 attackers", tablut.settle("ashton")) == 4


@pytest.mark.parametrize("text", ["", "x", "17z", "0x", "1x", "seventeen"])
def test_references_that_mean_nothing(text: str) -> None:
    with pytest.raises(ParseError):
        read_ply(text, load("abalone").settle(), 1)
