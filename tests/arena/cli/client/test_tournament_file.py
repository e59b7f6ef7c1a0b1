"""Tournament files before any server sees them: examples, and all problems at once in the words of who wrote them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from arena.cli.terminal.exit import Exit
from arena.cli.terminal.run import run
from referee import toml
from referee.tournament.document import problems, read
from referee.tournament.formats import names


def checked(capsys: Any, file: Path, text: str) -> tuple[int, dict[str, str]]:
    file.write_text(text)
    code = run(["tournament", "create", str(file), "--check", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is (code == Exit.DONE)
    return code, {one["field"]: one["message"] for one in found["problems"]}


@pytest.mark.parametrize("format", names())
def test_an_example_is_right_as_it_stands(capsys: Any, tmp_path: Path, format: str) -> None:
    assert run(["tournament", "create", "--example", format]) == Exit.DONE
    text = capsys.readouterr().out
    assert read(toml.read(text)).format == format
    assert checked(capsys, tmp_path / "a.toml", text) == (Exit.DONE, {})
    lines = [line for line in text.splitlines() if line and not line.startswith("[")]
    assert all("#" in line for line in lines if "[" not in line), "every key has a comment"


@pytest.mark.parametrize("format", names())
def test_what_is_commented_out_in_an_example_is_right_too(capsys: Any, format: str) -> None:
    run(["tournament", "create", "--example", format])
    text = capsys.readouterr().out
    lines = [line[2:] if line.startswith("# ") and ("=" in line or "[" in line) else line for line in text.splitlines()]
    document = tomllib.loads(
        "\n".join(line for line in lines if "arena tournament" not in line and "begin with" not in line)
    )
    assert document.pop("start_time").year == 2027
    assert document["schedule"]["cron"]
    named = document["entries"].pop("bots")
    document["entries"] = {"bots": named} if format == "sprt" else {"bots": named, **document["entries"]}
    assert problems(document) == []


def test_all_problems_are_named_at_once(capsys: Any, tmp_path: Path) -> None:
    code, named = checked(
        capsys,
        tmp_path / "a.toml",
        """
        name = "Open"
        family = "lao"
        format = "swis"
        tc = "10+0.1"
        bots = ["a", "b"]
        gmaes = 2
        rated = "yes"
        seed = -1
        time_control = "soon"
        start_time = "tomorrow"
        zzz = 1
        [entries]
        botz = ["a"]
        top = 2000
        [rule_options]
        stalemate = []
        [adjudication]
        draw = "whenever"
        """,
    )
    assert code == Exit.FAILED
    assert named.pop("zzz").startswith("unknown key; choose from name, family, variant")
    assert named == {
        "family": "unknown family 'lao'; did you mean loa? known: abalone, baroque, loa, pijersi, tablut",
        "format": "invalid value 'swis'; did you mean swiss? "
        "Choose from round-robin, gauntlet, knockout, ladder, race, sprt, swiss",
        "tc": "unknown key; did you mean time_control?",
        "bots": "unknown key; did you mean entries.bots?",
        "gmaes": "unknown key; did you mean games?",
        "rated": "'yes' is not true or false; write true or false",
        "seed": "-1 is too small; write 0 or more",
        "time_control": "not a time control at column 1 of 'soon'; write 10+0.1, 40/60, 1/move, depth:4 or nodes:10000",
        "start_time": "'tomorrow' is not a time such as 2027-01-31T20:00:00Z; "
        "write a time such as 2027-01-31T20:00:00Z",
        "entries.botz": "unknown key; did you mean entries.bots?",
        "entries.top": "2000 is too large; write 1,000 or less",
        "rule_options.stalemate": "invalid value; write a text, a number or true",
        "adjudication": "--draw: cannot read 'whenever'; write after=N,moves=N,score=N",
    }


@pytest.mark.parametrize(
    ("text", "field", "said"),
    [
        ('format = "knockout"\ngames = 3', "games", "write 4"),
        ('format = "ladder"\ngames = 4', "games", "ladder.games"),
        ("rounds = 3", "rounds", "leave it out"),
        ('variant = "zne"', "variant", "did you mean zen"),
        ("rule_options = { repetition = 1 }", "rule_options", "except 1"),
        ('start_time = 2027-01-31T20:00:00Z\nschedule = { cron = "0 20 * * 5" }', "start_time", "schedule"),
        ("ladder = { games = 3 }", "ladder.games", "write 4"),
        ('name = " x"', "name", "blanks"),
        ("sprt = { elo0 = 5, elo1 = 5 }", "sprt", "elo0 must be less than elo1"),
        ("time_control = 5", "time_control", "5 is not a text"),
        ("entries = 3", "entries", "3 is not a table"),
        ("knockout = { third = true }", "knockout.third", "did you mean knockout.third_place"),
    ],
)
def test_each_problem_says_what_to_write(capsys: Any, tmp_path: Path, text: str, field: str, said: str) -> None:
    head = "" if text.startswith("name") else 'name = "Open"\n'
    tail = "" if "entries" in text else '\n[entries]\nbots = ["a", "b"]\n'
    code, found = checked(capsys, tmp_path / "a.toml", f'{head}family = "loa"\n{text}{tail}')
    assert (code, list(found)) == (Exit.FAILED, [field])
    assert said in found[field]


def test_what_people_read(capsys: Any, tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text('family = "loa"\n')
    assert run(["tournament", "create", str(file), "--check"]) == Exit.FAILED
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "  name: is missing; write it",
        "  entries: has no bots; name bots, or set top, all or newest",
    ]
    assert err == f"error: {file}: 2 problems; correct them and check again\n"
    assert run(["tournament", "create"]) == Exit.USAGE
    assert "--example FORMAT" in capsys.readouterr().err
