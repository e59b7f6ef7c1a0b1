"""`arena solve`: its JSON and its exit codes are a contract."""

from __future__ import annotations

import json

import pytest

from arena.__main__ import main

LOA = ["loa", "--position", "8/8/3wb2w/3ww3/2wb1wb1/4bb2/2b2b2/8 b - 31"]
WON = ["loa", "--position", "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1"]


def run(capsys, *words: str) -> tuple[int, str, str]:
    code = main(["solve", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_solve_of_a_win_prints_the_documented_keys(capsys):
    code, out, _ = run(capsys, *WON, "--json")
    data = json.loads(out)
    assert code == 0
    assert data["position"] == WON[2]
    assert (data["side"], data["result"], data["in"]) == ("first", "win", 1)
    assert data["keys"] == ["d2c3", "d2d4"]
    assert (data["unique"], data["complete"], len(data["line"])) == (False, True, 1)
    assert data["nodes"] > 0
    assert data["seconds"] >= 0


def test_solve_of_the_other_side_tells_what_the_side_to_move_can_do(capsys):
    code, out, _ = run(capsys, *LOA, "--side", "White", "--in", "2")
    assert code == 0
    assert "second (White) has no win in 2" in out
    assert "moves that prevent it: f3xd5" in out
    code, out, _ = run(capsys, *LOA, "--side", "second", "--in", "2", "-o", "json")
    data = json.loads(out)
    assert (data["result"], data["in"], data["keys"], data["defences"]) == ("no-win", None, [], ["f3d5"])


def test_solve_in_words_shows_keys_line_and_later_wins(capsys):
    code, out, _ = run(capsys, *WON, "--in", "2", "--all")
    assert code == 0
    lines = out.splitlines()
    assert lines[:2] == ["first (Black) wins in 1", "keys: d2-c3 d2-d4"]
    assert lines[2].startswith("wins later: ")
    assert "(in 2)" in lines[2]
    assert lines[3] in ("main line: d2-c3", "main line: d2-d4")


def test_solve_without_enough_nodes_exits_with_one(capsys):
    code, out, _ = run(capsys, "loa", "--nodes", "2000", "--json")
    data = json.loads(out)
    assert code == 1
    assert (data["result"], data["in"], data["line"]) == ("unknown", None, [])
    assert data["no_win_in"] >= 1


def test_solve_with_a_condition(capsys):
    start = "5/4SS/2Ssss1/2Ssss2/2SssssS1/2Ss1s2/2SSS2/6/5 2 4 w 21 95"
    words = ["abalone", "--position", start, "--in", "4", "--condition", "marbles<=8"]
    code, out, _ = run(capsys, *words, "--json")
    data = json.loads(out)
    assert code == 0
    assert (data["condition"], data["in"], data["unique"]) == ("marbles<=8", 4, True)
    assert ", the only one" in run(capsys, *words)[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["loa", "--side", "green"], 'invalid --side "green": expected first or second or Black or White'),
        (["loa", "--all"], "--all needs --in MOVES"),
        (["loa", "--in", "0"], "whole number from 1 to 60"),
        (["loa", "--condition", "marbles<=7"], "unknown condition of loa"),
        (["abalone", "--condition", "many"], "invalid condition"),
        (["loa", "--position", "8/8/8/8/3w4/8/8/w6b b - 30"], "the game is over"),
    ],
)
def test_solve_with_invalid_arguments_is_refused(capsys, words, said):
    code, _, err = run(capsys, *words)
    assert code == 2
    assert said in err


def test_problems_find_solves_and_grades_positions_of_games(capsys, tmp_path):
    start = "8/4bwb1/1b1bb3/2bwbw2/1wwwb3/2ww4/3b4/2w5 b - 17"
    games = tmp_path / "games.txt"
    games.write_text(f'[Position "{start}"]\n\n17. d2-f4 *\n')
    words = ["problems", "find", "loa", "--collection", str(games), "--in", "2..3", "--unique"]
    assert main([*words, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    (problem,) = data["problems"]
    assert data["games"] == 1
    assert (problem["position"], problem["in"], problem["keys"], problem["unique"]) == (start, 3, ["d2f4"], True)
    assert (problem["quiet"], problem["tries"], problem["level"], problem["ply"]) == (True, 4, "medium", 0)
    assert main([*words, "-o", "ndjson", "--limit", "1"]) == 0
    assert json.loads(capsys.readouterr().out) == problem
    assert main([*words[:4], "/nowhere.txt"]) == 3
    assert main([*words[:6], "5..2"]) == 2
    assert main(words) == 0
    assert "d2f4" in capsys.readouterr().out
