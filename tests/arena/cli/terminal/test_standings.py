"""The bracket of a knockout as the terminal shows it."""

from __future__ import annotations

from typing import Any

from arena.cli.terminal.standings import bracket_of, show_bracket
from referee.tournament.overview import BracketMatch, BracketRound


def game(number: int, first: str, second: str, winner: str | None) -> dict[str, Any]:
    return {"sequence": 1, "round": number, "first": first, "second": second, "winner": winner}


def places(**rounds: int) -> list[dict[str, Any]]:
    return [{"name": name, "round": number} for name, number in rounds.items()]


def test_bracket_of_a_server_names_winners_and_byes(capsys: Any) -> None:
    games = [
        game(1, "b", "c", "first"),
        game(1, "c", "b", "draw"),
        game(2, "a", "b", "second"),
        game(2, "b", "a", None),
    ]
    show_bracket(bracket_of(games, places(b=2, a=2, c=1)), {"a": 1, "b": 2, "c": 3})
    assert capsys.readouterr().out.splitlines() == [
        "semi-finals",
        "  (2) b 1.5 - 0.5 (3) c   b wins",
        "  (1) a has a bye",
        "final",
        "  (1) a 0 - 1 (2) b",
    ]


def test_bracket_of_a_server_names_final_and_third_place(capsys: Any) -> None:
    pairs = [("a", "d", 1), ("b", "c", 1), ("a", "b", 2), ("d", "c", 2)]
    games = [game(number, first, second, "first") for first, second, number in pairs]
    show_bracket(bracket_of(games, places(a=3, b=2, d=1, c=1)), {})
    assert capsys.readouterr().out.splitlines()[3:] == [
        "final",
        "  a 1 - 0 b   a wins",
        "third place",
        "  d 1 - 0 c   d wins",
    ]


def test_bracket_of_a_server_names_who_is_third_after_a_drawn_match_once_that_is_final(capsys: Any) -> None:
    pairs = [("a", "d", 1), ("b", "c", 1), ("a", "b", 2)]
    games = [game(number, first, second, "first") for first, second, number in pairs]
    games.append(game(2, "d", "c", "draw"))
    lines = places(a=3, b=2, c=1, d=1)
    show_bracket(bracket_of(games, lines), {})
    show_bracket(bracket_of(games, lines, is_final=True), {})
    shown = capsys.readouterr().out.splitlines()
    assert shown[6] == "  d 0.5 - 0.5 c"
    assert shown[-1] == "  d 0.5 - 0.5 c   c wins"


def test_bracket_says_why_a_match_was_not_decided_by_points(capsys: Any) -> None:
    matches = (
        BracketMatch("a", "d", (1.0, 1.0), "a", "seeding, after 2 extra pairs", (1, 2)),
        BracketMatch("b", "c", winner="c", reason="walkover"),
        BracketMatch("e", "f", reason="both withdrew"),
        BracketMatch("g", "h", (0.0, 0.0), games=(3,)),
        BracketMatch("i", ""),
        BracketMatch("", "", reason="bye"),
    )
    show_bracket([BracketRound("Semi-finals", matches), BracketRound("Final", (BracketMatch("a", "c"),))], {})
    assert capsys.readouterr().out.splitlines() == [
        "semi-finals",
        "  a 1 - 1 d   a wins (seeding, after 2 extra pairs)",
        "  b - c   c wins (walkover)",
        "  e - f   both withdrew",
        "  g 0 - 0 h",
        "  no bot is left",
    ]
