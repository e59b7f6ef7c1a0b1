"""The game of the day in two sentences: where it turned, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from arena.documents.analysis import AnalysedMove
from arena.pages.drawing.replay import Replay
from arena.pages.drawing.scene import Scenes
from arena.pages.routes.home import _story
from referee.game.record import Ply
from referee.rules import load

MOVES = ("b1b3", "a2c2", "d1d3", "a3a8")


def replay(*scores: int | None) -> Replay:
    """Four plies with these scores of their movers."""
    ruleset = load("loa").settle()
    scenes = Scenes(ruleset)
    scenes.extend(MOVES)
    plies = [Ply(score=score) for score in scores]
    return Replay(ruleset.rules, scenes.items, plies, [(None, None)] * 5, is_over=True, ruleset=ruleset)


def tell(winner: str | None, scores: Sequence[int | None] = (None,) * 4, turn: AnalysedMove | None = None) -> list[str]:
    game: Any = SimpleNamespace(first="ada v1", second="bob v2", winner=winner, termination="connection")
    return _story(game, replay(*scores), turn)


def turn(best: str) -> AnalysedMove:
    return AnalysedMove(3, "first", "d1d3", 500, 0.9, best, 0.9, "??", "")


@pytest.mark.parametrize(
    ("winner", "end"),
    [
        ("first", "ada v1 won at ply 4: all pieces of one side are connected."),
        ("second", "bob v2 won at ply 4: all pieces of one side are connected."),
        ("draw", "The game was drawn at ply 4: all pieces of one side are connected."),
    ],
)
def test_a_game_without_scores_is_told_by_its_end(winner: str, end: str) -> None:
    assert tell(winner) == [end]


def test_a_turning_point_names_mover_move_and_what_the_engine_preferred() -> None:
    sentences = tell("second", turn=turn("c1a3"))
    assert sentences[0] == "ada v1 had a won game until ply 3, d1-d3; the engine preferred c1xa3."
    assert len(sentences) == 2
    assert tell("second", turn=turn(""))[0] == "ada v1 had a won game until ply 3, d1-d3."


@pytest.mark.parametrize(
    ("winner", "scores", "ply"),
    [
        ("first", (10, -20, 30, -40), 1),
        ("first", (-10, 20, 30, -40), 3),
        ("first", (0, -20, 30, -40), 2),
        ("second", (10, -20, -30, 40), 3),
        ("second", (10, None, -30, 40), 3),
    ],
)
def test_without_a_turning_point_the_scores_tell_who_was_ahead(
    winner: str, scores: Sequence[int | None], ply: int
) -> None:
    name = {"first": "ada v1", "second": "bob v2"}[winner]
    assert tell(winner, scores)[0] == f"By the scores of both bots, {name} was ahead from ply {ply} on."


def test_scores_to_the_last_against_the_winner_tell_nothing() -> None:
    assert len(tell("first", (-10, 20, -30, 40))) == 1
    assert len(tell("draw", (10, -20, 30, -40))) == 1
