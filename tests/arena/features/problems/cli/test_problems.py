"""`arena problems`: find in files and archives, set, list, solve, in a data folder and on a server."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from arena.__main__ import main
from tests.arena.api.filled import Arena

POSITION = "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1"
GAME = (
    '[First "Ann"]\n[Second "Bob"]\n[Position "8/4bwb1/1b1bb3/2bwbw2/1wwwb3/2ww4/3b4/2w5 b - 17"]\n'
    "1. d2f4 c1c5 2. b6c7 c3e1 3. e7f6 1-0\n"
)


def run(capsys, *words: str) -> tuple[int, str, str]:
    code = main(["problems", *words])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def folder(data_folder: Path, capsys) -> str:
    """A data folder with the problem 1."""
    data = str(data_folder)
    code, out, _ = run(capsys, "add", "loa", "--position", POSITION, "--in", "2", "--title", "Close up", "--data", data)
    assert (code, out.splitlines()[-1]) == (0, "problem 1: accepted")
    return data


def test_a_problem_of_the_folder_is_listed_shown_and_chosen(folder, capsys):
    code, out, _ = run(capsys, "list", "--data", folder, "--json")
    (line,) = json.loads(out)["items"]
    assert (code, line["id"], line["moves"], line["level"], line["title"]) == (0, 1, 1, "easy", "Close up")
    code, out, _ = run(capsys, "show", "1", "--data", folder)
    assert code == 0
    assert out.splitlines()[0] == "Close up"
    assert out.splitlines()[-1] == "first (Black) to move wins in 1"
    code, out, _ = run(capsys, "month", "1", "--month", "2026-12", "--data", folder)
    assert (code, out) == (0, "problem 1 is that of 2026-12\n")
    code, _, err = run(capsys, "list", "--level", "hard", "--data", folder)
    assert (code, "no problem matches" in err) == (0, True)


def test_a_problem_is_solved_by_options_and_by_dialogue(folder, capsys, monkeypatch):
    code, out, _ = run(capsys, "solve", "1", "--moves", "d2c3", "--data", folder)
    assert (code, out) == (0, "solved: d2c3\n")
    code, out, _ = run(capsys, "solve", "1", "--moves", "d2e2", "--data", folder)
    assert (code, out) == (1, "d2e2 does not win in time\n")
    code, out, _ = run(capsys, "solve", "1", "--solution", "--data", folder)
    assert (code, out) == (0, "1. d2-c3 (1. d2-d4)\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("z9\n\nd2e2\nd2-d4\n"))
    code, out, err = run(capsys, "solve", "1", "--data", folder)
    assert code == 0
    assert "does not win in time" in out
    assert out.endswith("solved: d2d4\n")
    assert "cannot read z9" in err
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert run(capsys, "solve", "1", "--data", folder)[0] == 1


def test_problems_found_in_the_archive_are_added(tmp_path, data_folder, capsys):
    games = tmp_path / "games.txt"
    games.write_text(GAME, encoding="utf-8")
    data = str(data_folder)
    assert main(["archive", "import", str(games), "--family", "loa", "--data", data]) == 0
    capsys.readouterr()
    code, printed, _ = run(capsys, "find", "loa", "--arena", "--data", data, "--in", "3", "--unique", "-o", "ndjson")
    (problem,) = map(json.loads, printed.splitlines())
    assert (code, problem["keys"], problem["source"]) == (0, ["d2f4"], "Ann - Bob, ply 0")
    code, from_file, _ = run(capsys, "find", "loa", "--collection", str(games), "--in", "3", "-o", "ndjson")
    assert json.loads(from_file)["position"] == problem["position"]
    file = tmp_path / "found.ndjson"
    file.write_text(printed * 2, encoding="utf-8")
    code, out, err = run(capsys, "add", "loa", "--file", str(file), "--data", data)
    assert (code, out.splitlines()[-1]) == (0, "problem 1: accepted")
    assert "left out: problem 1 is the same" in err
    code, out, _ = run(capsys, "remove", "1", "--data", data, "--json")
    assert (code, json.loads(out)) == (0, {"schema": 1, "id": 1, "state": "removed"})
    code, out, _ = run(capsys, "add", "loa", "--file", str(file), "--data", data)
    assert (code, out.splitlines()[-1]) == (0, "problem 2: accepted")
    booklet = tmp_path / "booklet.pdf"
    words = ["archive", "export", "--problems", str(file), "--output-file", str(booklet), "--data", data]
    assert main(words) == 0
    assert booklet.read_bytes().startswith(b"%PDF")


def test_a_problem_that_is_wrong_or_unreadable_is_refused(tmp_path, data_folder, capsys):
    data = str(data_folder)
    words = [
        "add",
        "loa",
        "--position",
        "8/4bwb1/1b1bb3/2bwbw2/1wwwb3/2ww4/3b4/2w5 b - 17",
        "--in",
        "1",
        "--data",
        data,
    ]
    code, out, _ = run(capsys, *words)
    assert code == 1
    assert out.splitlines()[-1].startswith("problem 1: refused: there is no win in 1")
    for text in ("no json\n", "[]\n"):
        file = tmp_path / "bad.ndjson"
        file.write_text(text, encoding="utf-8")
        assert run(capsys, "add", "loa", "--file", str(file), "--data", data)[0] == 2


def test_problems_of_a_server(arena: Arena, capsys, monkeypatch):
    server = ["--server", arena.server.url, "--token", arena.tokens["author"]]
    code, out, _ = run(capsys, "add", "loa", "--position", POSITION, *server)
    assert code == 0
    number = out.split()[1].rstrip(":")
    assert out == f"problem {number}: waiting\n"
    code, _, err = run(capsys, "solve", number, "--moves", "d2c3", *server)
    assert code == 1
    assert "is waiting" in err
    code, out, _ = run(capsys, "list", "--state", "waiting", "--json", *server)
    assert str(json.loads(out)["items"][0]["id"]) == number
    assert run(capsys, "show", number, *server)[0] == 0
    assert run(capsys, "month", number, *server)[0] == 4
    assert run(capsys, "remove", number, *server)[:2] == (0, f"problem {number} removed\n")
    assert run(capsys, "show", number, *server)[0] == 3
