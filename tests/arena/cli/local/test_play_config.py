"""Matches from a file, and settings for all bots."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import arena.cli.local.results  # noqa: F401 - before the rules are interpreted
from arena.cli.local import play
from arena.cli.local.play_config import EXAMPLE, gather
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.parser import build
from arena.cli.terminal.run import run
from referee.check.probe import Candidate, GameConditions, IneligibleError, probe
from referee.rules import load
from referee.sandbox import Sandbox
from tests.referee.conftest import FAST, scripted

HASH = "option name Hash type spin default 16 min 1 max 99"
LOA = GameConditions.of(load("loa").settle(), FAST, None)


def parsed(*words: str) -> argparse.Namespace:
    arguments = build().parse_args(["play", *words])
    gather(arguments)
    return arguments


def written(path: Path, text: str) -> str:
    file = path / "match.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_the_example_of_a_file_is_read_and_stands_in_the_help(tmp_path: Path, capsys: Any) -> None:
    found = parsed("--config", written(tmp_path, EXAMPLE))
    assert found.bots == ["new=./mybot", "old=./mybot-1.0;tc=5+0.05", "sample:alphabeta"]
    assert (found.family, found.tc, found.games, found.rating_interval) == ("loa", "40/60+0.5", 100, 20)
    assert found.each == ["option.Hash=64", "option.Threads=1"]
    assert (found.draw, found.out) == ("after=40,moves=8,score=10", Path("runs/first"))
    run(["play", "--help"])
    shown = capsys.readouterr().out
    assert all(line in shown for line in EXAMPLE.splitlines())


def test_every_option_of_a_match_is_a_key_of_its_file(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    play.add(parser)
    options = {action.dest: action for action in parser._actions if action.option_strings and action.const != "json"}
    for name in ("help", "config"):
        del options[name]
    values = {"each": '"tc=1"', "option": '["repetition=3"]'}
    for name, action in options.items():
        is_flag = action.nargs == 0
        word = action.choices[-1] if isinstance(action.choices, tuple) else "loa" if name == "family" else "20"
        value = values.get(name, "true" if is_flag else f'"{word}"')
        found = parsed("a", "b", "--family=loa", "--config", written(tmp_path, f"{name} = {value}"))
        assert str(getattr(found, name)) in {word, "True", "['tc=1']", "['repetition=3']"}, name


def test_what_is_typed_wins_over_the_file(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        'bots = ["x", "y"]\nfamily = "loa"\ngames = 6\neach = "tc=1;option.Hash=1"\n[option]\nrepetition = 3\n',
    )
    found = parsed("--config", file, "a", "b", "c", "--games", "8", "--each", "option.Hash=2", "--option=repetition=4")
    assert (found.bots, found.games) == (["a", "b", "c"], 8)
    assert found.each == ["tc=1;option.Hash=1", "option.Hash=2"], "the last one counts"
    assert found.option == ["repetition=3", "repetition=4"]
    assert parsed(f"--config={file}", "--max-plies", "9").bots == ["x", "y"]


def test_a_bot_of_a_file_may_be_a_table(tmp_path: Path) -> None:
    found = parsed(
        "--config",
        written(
            tmp_path,
            "family = 'loa'\nbots = ['b', { bot = './a b', name = 'n', tc = '5', option.Book = 'x;y' }]\n",
        ),
    )
    assert found.bots == ["b", 'n=./a b;tc=5;option.Book="x;y"']


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gamse = 4", 'unknown key "gamse"; did you mean games?'),
        ("max_plis = 4", 'unknown key "max_plis"; did you mean max-plies?'),
        ("config = 'x'", 'unknown key "config"'),
        ("qqqq = 'x'", 'unknown key "qqqq"; keys are affinity, bots, concurrency'),
        ("games = 'many'", "--games: not a whole number: 'many'"),
        ("games = [4]", "games: expected a text or a number"),
        ("format = 'gauntled'", '--format: "gauntled" is not valid; did you mean gauntlet?'),
        ("log = 1", "log: expected true or false"),
        ("option = 3", 'option: expected a table or a list of texts such as "name=value"'),
        ("bots = './a'", "bots: expected a list"),
        ("bots = [3]", 'bots, number 1: expected a text such as "./mybot", or a table with "bot"'),
        ("bots = [{bot = 'a', nmae = 'b'}]", 'bots, number 1: unknown key "nmae"; did you mean name?'),
        ("games = ", "Invalid value"),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path: Path, capsys: Any, text: str, message: str) -> None:
    file = written(tmp_path, text)
    assert run(["play", "a", "b", "--family", "loa", "--config", file]) == Exit.USAGE
    assert f"{file}: {message}" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path, capsys: Any) -> None:
    assert run(["play", "--config", str(tmp_path / "no.toml")]) == Exit.NOT_FOUND
    assert run(["play", "--config"]) == Exit.USAGE
    assert run(["play", "--tc", "1"]) == Exit.USAGE
    assert "missing BOT, --family" in capsys.readouterr().err


def test_settings_of_all_bots_may_stand_in_a_word_each_with_bots_behind_them() -> None:
    one = "tc=1;option.Hash=2"
    for words in (["a", "b", "--each", one], ["--each", one, "a", "b"], ["a", "--each", one, "b"]):
        found = parsed("--family=loa", *words)
        assert (found.each, found.bots) == ([one], ["a", "b"])
    found = parsed("--each", "tc=1", "option.Hash=2", "x=a", "b", "--family", "loa")
    assert (found.each, found.bots) == (["tc=1", "option.Hash=2"], ["x=a", "b"])


def test_an_option_of_all_bots_is_left_out_where_a_bot_does_not_have_it() -> None:
    each = (("Hash", "64"),)

    def options(guest: Candidate) -> dict[str, str]:
        return dict(probe(guest, LOA, Sandbox("none")).options)

    knows = replace(scripted("knows", "--option", HASH), options=each)
    lacks = replace(scripted("lacks"), options=each)
    assert options(Candidate(knows, (), each)) == {"Hash": "64"}
    assert options(Candidate(lacks, (), each)) == {}
    with pytest.raises(IneligibleError, match="has no option 'Hash'"):
        probe(Candidate(lacks, each, each), LOA, Sandbox("none"))
    with pytest.raises(IneligibleError, match="does not take '0'"):
        probe(Candidate(knows, (), (("Hash", "0"),)), LOA, Sandbox("none"))


def test_a_match_from_a_file_is_played_with_the_settings_of_all_bots_and_continued(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    script = Path(__file__).parents[3] / "referee" / "scripted.py"
    start = f"{sys.executable} -S -E {script} resign --hear {tmp_path}"
    file = written(
        tmp_path,
        f"""\
bots = [
  "own={start}/own --option '{HASH}';option.Hash=3",
  "all={start}/all --option '{HASH}'",
  "none={start}/none",
]
family = "loa"
games = 2
openings = "none"
sandbox = "none"
each = "tc=7+0.1;option.Hash=64"
out = "{tmp_path}/run"
output = "json"
""",
    )
    assert run(["play", "--config", file]) == Exit.DONE
    out, err = capsys.readouterr()
    assert "none: no option 'Hash'" in err
    assert {game["time"] for game in json.loads(out)["games"]} == {"7+0.1"}
    heard = {name: (tmp_path / name).read_text(encoding="utf-8") for name in ("own", "all", "none")}
    assert "setoption name Hash value 3\n" in heard["own"]
    assert "setoption name Hash value 64\n" in heard["all"]
    assert "Hash" not in heard["none"]

    assert run(["play", "--config", file]) == Exit.DONE
    assert "6 of 6 games are there already" in capsys.readouterr().err
    assert run(["play", "--config", file, "--each", "option.Hash=5"]) == Exit.USAGE
    assert "holds a run with another each;" in capsys.readouterr().err
    assert run(["play", "/bin/true", "/bin/cat", "--family=loa", "--each", "Hash=4"]) == Exit.USAGE
    assert "--each: 'Hash=4' is not a setting; write tc=10+0.1 or option.NAME=VALUE" in capsys.readouterr().err


def test_bots_and_family_are_asked_for_without_a_parser_of_the_arena() -> None:
    parser = argparse.ArgumentParser()
    play.add(parser)
    with pytest.raises(CommandError, match="missing BOT, --family"):
        gather(parser.parse_args([]))
