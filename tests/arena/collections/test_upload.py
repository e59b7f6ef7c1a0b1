"""Uploaded texts: read in a process of its own, which is ended beyond its bounds; and what is kept of them."""

from __future__ import annotations

import json
from statistics import median

import pytest

from arena.collections import uploaded_text
from arena.collections.best_reading import best_reading
from arena.collections.collection import read_collection
from arena.collections.conversion import remarks_of, to_archived, to_text
from arena.collections.recorded import RECORD
from arena.collections.uploaded_text import UploadedGames, UploadedText, read_portion, uploaded
from arena.offload import Bounds, call_bounded
from referee.machine.pool import JobError, WorkerLostError
from referee.rules import load
from referee.rules.position import Position
from referee.rules.rules import GameText

NUMBERS = range(4_000_001)
"""Numbers whose median takes 150 MiB: they are sorted."""


def test_call_within_its_bounds_returns_its_result() -> None:
    assert call_bounded(Bounds(60, 2**29), median, NUMBERS) == 2_000_000


def test_call_that_needs_too_much_time_is_ended() -> None:
    with pytest.raises(WorkerLostError):
        call_bounded(Bounds(1, 2**29), sum, range(10**12))


def test_call_that_needs_too_much_memory_is_ended() -> None:
    with pytest.raises(JobError, match="MemoryError"):
        call_bounded(Bounds(60, 2**26), median, NUMBERS)


def read(text: str, notation: str = "", after: int = 0) -> UploadedGames:
    """Read a portion of a text."""
    return read_portion(UploadedText(text, "club", "loa", "standard", notation), after)


def test_upload_is_read_like_any_text() -> None:
    text = "1. b1b3 a4c4"
    portion = read(text)
    here = uploaded(best_reading(text, load("loa").settle(), load("loa").formats), "club")
    assert (portion.format, here.format, portion.end) == ("loa", "loa", 1)
    ((first,), (second,)) = portion.games, here.games
    assert (first.game, first.text) == (second.game, second.text)
    assert first.entries.keys.tolist() == second.entries.keys.tolist()
    assert first.entries.tags.tolist() == second.entries.tags.tolist()
    assert len(first.entries.keys) > len(first.game.moves)
    assert read(text, "record").problems
    assert not read("").games


def test_portions_of_an_upload_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploaded_text, "PORTION_S", 0.0)
    text = "\n".join(f'[Black "p{number}"]\n{"# " * (number % 3)}\n1. b1b3 a4c4\n' for number in range(150))
    portions, after, lines = [], 0, UploadedText(text, "", "", "").lines
    while after < lines:
        portion = read(text, portions[0].format if portions else "", after)
        portions.append(portion)
        after = portion.end
    assert [len(portion.games) + len(portion.problems) for portion in portions] == [100, 50]
    whole = read_collection(text, load("loa").formats[0], load("loa").settle())
    assert [new.game.first for portion in portions for new in portion.games] == [
        to_archived(game, "", "loa").first for game in whole.games
    ]
    assert [bad for portion in portions for bad in portion.problems] == whole.problems


def test_upload_beyond_the_bounds_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploaded_text, "BOUNDS", Bounds(1, 2**30))
    with pytest.raises(WorkerLostError):
        read("1. a4c4 b1b3 2. a5c5\n\n" * 60_000)


def test_games_of_one_document_are_each_kept_with_their_own_text() -> None:
    ruleset = load("pijersi").settle()
    moves = Position.start(ruleset).texts[:50]
    games = [
        {"moves": [move], "tags": {"First": f"a{place}"}, "comments": {"1": "so"}} for place, move in enumerate(moves)
    ]
    document = json.dumps({"games": games})
    reading = read_collection(document, RECORD, ruleset)
    assert [game.game.moves for game in reading.games] == [(move,) for move in moves]
    assert sum(len(game.text) for game in reading.games) < 40 * len(document)
    for collected in reading.games:
        archived = to_archived(collected, "test", reading.format)
        assert json.loads(collected.text)["moves"] == list(collected.game.moves)
        assert remarks_of(archived).comments == {1: "so"}


def test_game_whose_own_text_cannot_be_written_is_kept_without() -> None:
    ruleset = load("loa").settle()
    move = Position.start(ruleset).texts[0]

    def refuse(game: GameText, _: object) -> str:
        raise ValueError("this notation has no tags")

    form = RECORD.__class__("odd", lambda text, _: [GameText((move,)), GameText((move,))], refuse, "")
    reading = read_collection("1. a", form, ruleset)
    assert [game.text for game in reading.games] == ["", ""]
    assert move in to_text(to_archived(reading.games[0], "test", "loa")).replace("-", "")


def test_many_bad_games_of_one_document_are_listed_without_reading_it_again_for_each() -> None:
    ruleset = load("loa").settle()
    reads = 0

    def read(text: str, rules: object) -> list[GameText]:
        nonlocal reads
        reads += 1
        return [GameText(("a1a1",)) for _ in range(1000)]

    reading = read_collection("2. a\n" * 1000, RECORD.__class__("odd", read, RECORD.write, ""), ruleset)
    assert len(reading.problems) == 1000
    assert reads < 400
