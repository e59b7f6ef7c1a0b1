"""Booklets: a PDF of every game and of problems, in two layouts and two languages."""

from __future__ import annotations

import re

import pytest

from arena.collections.recorded import record_of
from arena.pages.drawing import booklet
from arena.pages.drawing.booklet import BookletError, BookletGame, BookletProblem, make_booklet, picture
from arena.pages.drawing.scene import Scenes
from arena.pages.language import using
from referee.game.record import GameRecord
from referee.rules import load
from referee.rules.rules import GameText, Variation
from tests.arena.pages.conftest import Site
from tests.arena.pages.stage import random_moves


def record(family: str, plies: int = 5) -> GameRecord:
    ruleset = load(family).settle()
    moves = random_moves(ruleset, plies, 1)
    other = random_moves(ruleset, 1, 2)
    text = GameText(
        tuple(moves),
        tags={"First": "Zoé #1 $x$", "Second": "*Bob* _b_"},
        result="1-0",
        marks={1: "??"},
        comments={0: "#let", 1: "a [comment] \\ @x"},
        variations=(Variation(1, tuple(other)),),
    )
    return record_of(text, ruleset)


def pages_of(pdf: bytes) -> int:
    found = re.findall(rb"/Type */Pages[^>]*?/Count (\d+)|/Count (\d+)", pdf)
    return max(int(one or two) for one, two in found)


def test_a_booklet_for_presentation_has_a_page_for_each_ply() -> None:
    found = make_booklet([BookletGame(record("pijersi"), {}, "7")], layout="presentation", language="fr")
    assert found.startswith(b"%PDF")
    assert pages_of(found) == 6
    assert b"/FontFile" in found  # embedded


def test_a_booklet_with_text_has_four_diagrams_to_a_page() -> None:
    games = [BookletGame(record("loa", 13), {}), BookletGame(record("abalone", 13), {})]
    assert pages_of(make_booklet(games)) == 8  # two of fourteen diagrams are below each title


def test_variations_inside_variations_are_printed_in_parentheses() -> None:
    ruleset = load("loa").settle()
    inner = Variation(3, ("f1d3",), {3: "?"}, {2: "or", 3: "too slow"})
    outer = Variation(2, ("a2c2", "d1d3", "a4c4"), {}, {2: "quiet"}, (inner,))
    moves = ("b1b3", "h2f2")
    text = GameText(moves, variations=(outer,))
    game = booklet._game(BookletGame(record_of(text, ruleset), {}))
    assert game["plies"][2]["variations"] == ["1... a2-c2 quiet 2. d1-d3 (or 2. f1-d3? too slow) 2... a4-c4"]


def test_problems_are_followed_by_their_solutions() -> None:
    ruleset = load("loa").settle()
    problem = BookletProblem(ruleset, "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1", 1, "1. d2-c3", "*", "marbles<=7")
    assert pages_of(make_booklet([], [problem] * 4)) == 2


def test_problems_that_were_found_are_read() -> None:
    found = {"family": "loa", "variant": "standard", "options": {}, "in": 1, "line": ["d2c3"]}
    problem = booklet.problem_of({**found, "position": "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1"})
    assert (problem.moves, problem.solution) == (1, "d2-c3")
    with pytest.raises(BookletError, match="not a problem"):
        booklet.problem_of(found)


def test_a_booklet_that_is_empty_or_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BookletError, match="empty"):
        make_booklet([])
    monkeypatch.setattr(booklet, "MAX_DIAGRAMS", 3)
    with pytest.raises(BookletError, match="too many diagrams: 6"):
        make_booklet([BookletGame(record("loa"), {})])


def test_a_picture_is_a_document_of_its_own() -> None:
    ruleset = load("tablut").settle()
    drawing = picture(ruleset, Scenes(ruleset).items[0])
    assert drawing.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert "<style>" in drawing
    assert "var(--" not in drawing


def test_every_game_can_be_downloaded(site: Site) -> None:
    game = site.stage.finished["tablut"]
    for path in (f"/games/{game}", "/archive/1"):
        assert f'href="{path}/booklet.pdf?language=en"' in site.server.get(path).body.decode().replace("\n", " ")
        reply = site.server.get(f"{path}/booklet.pdf?language=fr&layout=presentation")
        assert (reply.status, reply.headers["Content-Type"]) == (200, "application/pdf")
        assert reply.body.startswith(b"%PDF")
    assert site.server.get(f"/games/{game}/booklet.pdf?layout=poster").status == 400
    running = site.stage.running["loa"].id
    assert site.server.get(f"/games/{running}/booklet.pdf").status == 404


def test_a_booklet_uses_the_words_of_the_pages_in_its_language() -> None:
    ruleset = load("abalone").settle()
    problem = BookletProblem(ruleset, ruleset.write(ruleset.read(None)), 2, "1. a1-a2", "", "marbles<=7")
    with using("fr"):
        game = booklet._game(BookletGame(record("tablut"), {"Date": "2026-11-27"}, "7"))
        question = booklet._problem(problem, 1)["question"]
    assert [player["side"] for player in game["players"]] == ["Moscovites", "Suédois"]
    assert game["result"] == "1-0 (sans raison donnée)"
    assert (game["plies"][0]["move"], game["plies"][1]["meaning"]) == ("Départ", "gaffe")
    assert question == "Les Noirs jouent et gagnent en 2 coups, en déplaçant au plus 7 billes en tout"
