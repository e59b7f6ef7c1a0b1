"""The options of `arena play`, its files, and settings for all bots."""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import arena.cli.local.results  # noqa: F401 - before the rules are interpreted
from arena.cli.local import play, tournament_input
from arena.cli.local.tournament_input import read_document
from arena.cli.local.tournament_options import EXAMPLE, IN_FILES, ON_SERVERS, document_options
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.parser import build, find
from arena.cli.terminal.run import run
from referee import toml
from referee.check.probe import Candidate, GameConditions, IneligibleError, probe
from referee.rules import load
from referee.sandbox import Sandbox
from referee.tournament import formats
from referee.tournament.document import Document, read
from referee.tournament.toml_text import example
from referee.validation import keys
from tests.referee.conftest import PATIENT, scripted

HASH = "option name Hash type spin default 16 min 1 max 99"
LOA = GameConditions.of(load("loa").settle(), PATIENT, None)
BOTS = ("a", "b", "--family=loa")


def parsed(*words: str) -> Document:
    """The tournament that a command line describes."""
    return read_document(build(find("play")).parse_args(["play", *words]), play.machine_options())


def written(path: Path, text: str) -> str:
    file = path / "match.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_the_example_of_a_file_is_read_and_stands_in_the_help(tmp_path: Path, capsys: Any) -> None:
    document = parsed("--config", written(tmp_path, EXAMPLE))
    assert document == read(toml.read(EXAMPLE))
    assert document.entries.bots == ["new=./mybot", "old=./mybot-1.0;tc=5+0.05", "sample:alphabeta"]
    assert (document.family, document.time_control, document.games) == ("loa", "40/60+0.5", 100)
    assert document.setoptions == (("Hash", "64"), ("Threads", "1"))
    assert document.adjudication.draw == "after=40,moves=8,score=10"
    run(["play", "--help"])
    shown = capsys.readouterr().out
    assert all(line in shown for line in EXAMPLE.splitlines())


def test_every_key_of_a_document_is_an_option_or_of_servers_or_of_files() -> None:
    paths = {option.path for option in document_options()}
    left = [
        key
        for key in keys(Document)
        if key.partition(".")[0] not in ON_SERVERS | IN_FILES and not {key, key.partition(".")[0]} & paths
    ]
    assert set(left) <= {"adjudication", "limits"}, "tables whose keys are options"
    names = [name for option in document_options() for name in option.names]
    assert len(names) == len(set(names))


def test_every_default_stands_in_the_help() -> None:
    parser = argparse.ArgumentParser()
    play.add(parser)
    unsaid = [
        action.dest
        for action in parser._actions
        if action.default not in (None, False, [], argparse.SUPPRESS)
        and not (str(action.default) in (action.help or "") and "default" in (action.help or ""))
    ]
    assert unsaid == []
    helps = {action.dest: str(action.help) for action in parser._actions}
    for option in document_options():
        if option.table is None and option.field.default not in (None, "", {}) and not option.field.is_required():
            assert "default" in helps[option.path], option.path


def test_every_option_of_a_field_sets_it() -> None:
    words = {"variant": "zen", "family": "loa", "format": "swiss", "time_control": "1/move", "openings": "none"}
    words |= {"sides": "random", "pondering": "pinned", "name": "a b", "adjudication.draw": "moves=8"}
    words |= {"adjudication.resign": "moves=4", "limits.memory_bytes": "64"}
    for option in document_options():
        if option.table or option.is_mapping or "draw-agreement" in option.names[0]:
            continue
        word = words.get(option.path, "500")
        if option.path == "rounds":
            word = "5"
        value: Any = parsed("a", "b", "--family=loa", "--format=swiss", option.names[0], word)
        for name in option.path.split("."):
            value = getattr(value, name)
        assert str(value) == {"limits.memory_bytes": str(64 * 2**20)}.get(option.path, word)
    assert parsed(*BOTS, "--no-draw-agreement").adjudication.draw_agreement is False


def test_short_options_are_aliases() -> None:
    found = parsed(*BOTS, "--tc", "5+0.1", "--option", "repetition=4", "--margin", "50", "--memory", "100")
    assert (found.time_control, found.ruleset.overrides) == ("5+0.1", {"repetition": 4})
    assert (found.limits.margin_ms, found.limits.memory_bytes) == (50, 100 * 2**20)
    assert parsed(*BOTS, "--each", "tc=3", "option.Hash=2").setoptions == (("Hash", "2"),)


def test_the_option_of_a_format_chooses_it_and_takes_all_games() -> None:
    test = parsed(*BOTS, "--sprt", "elo0=0,elo1=20,alpha=.01", "--games", "500")
    assert test.format == "sprt"
    assert test.model_dump()["sprt"] == {
        **{"elo0": 0, "elo1": 20, "alpha": 0.01, "beta": 0.05, "games": 500},
        "model": "logistic",
    }
    assert parsed(*BOTS, "--format", "ladder", "--games", "8").model_dump()["ladder"]["games"] == 8
    cup = parsed(*BOTS, "--knockout", "third_place=true,tiebreak_pairs=2", "--games", "4")
    assert (cup.format, cup.games) == ("knockout", 4)
    assert cup.knockout.model_dump(exclude_defaults=True) == {"third_place": True, "tiebreak_pairs": 2}
    swiss = parsed(*BOTS, "--swiss", "seeding=random")
    assert (swiss.format, swiss.swiss.seeding) == ("swiss", "random")
    for words in (("--sprt", "elo0=0", "--race", "top=2"), ("--sprt", "elo0=0", "--format", "swiss")):
        with pytest.raises(CommandError, match="choose one format"):
            parsed(*BOTS, *words)


def test_what_is_typed_wins_over_the_file(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        """name = "cup"
family = "loa"
games = 6
time_control = "1"
[entries]
bots = ["x", "y"]
[rule_options]
repetition = 3
[engine_options]
Hash = 1
Threads = 2
""",
    )
    document = parsed(
        "--config", file, "a", "b", "c", "--games", "8", "--each", "option.Hash=2", "--option=repetition=4"
    )
    assert (document.entries.bots, document.games, document.name) == (["a", "b", "c"], 8, "cup")
    assert document.setoptions == (("Hash", "2"), ("Threads", "2"))
    assert document.rule_options == {"repetition": "4"}
    other = parsed(f"--config={file}", "--max-plies", "9")
    assert (other.entries.bots, other.adjudication.max_plies) == (["x", "y"], 9)


@pytest.mark.parametrize("format", formats.names())
def test_the_example_of_a_format_is_a_file_for_a_local_run_as_well(tmp_path: Path, format: str) -> None:
    text = example(format).replace('"greedy", "random", "alphabeta"', '"sample:greedy", "sample:random", "sample:mcts"')
    found = parsed("--config", written(tmp_path, text))
    assert found.format == format
    assert len(found.entries.bots) >= 2
    assert run(["tournament", "create", str(tmp_path / "match.toml"), "--check"]) == Exit.DONE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gamse = 4", "gamse: unknown key; did you mean games"),
        ("tc = '4'", "tc: unknown key; did you mean time_control?"),
        ("bots = ['x', 'y']", "bots: unknown key; did you mean entries.bots?"),
        ("max_plies = 4", "max_plies: unknown key; did you mean adjudication.max_plies?"),
        ("[each]\ntc = '1'", "each: unknown key; did you mean engine_options?"),
        ("[option]\nrepetition = 1", "option: unknown key; did you mean rule_options?"),
        ("concurrency = 2", "concurrency belongs to the machine, not to the tournament; write --concurrency on"),
        ("rating-interval = 2", "rating-interval belongs to the machine"),
        ("out = 'x'", "out belongs to the machine"),
        ("games = 'many'", "games: 'many' is not a whole number"),
        ("format = 'gauntled'", "did you mean gauntlet?"),
        ("start_time = 2027-01-31T20:00:00Z", "start_time: a local run starts at once"),
        ("[schedule]\ncron = '0 20 * * 5'", "schedule: a local run starts at once"),
        ("[entries]\nbots = ['x']\ntop = 8", "only a server knows other bots; name them all"),
        ("openings = 'book.txt'", "openings 'book.txt'"),
        ("games = ", "Invalid value"),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path: Path, capsys: Any, text: str, message: str) -> None:
    file = written(tmp_path, text)
    assert run(["play", "a", "b", "--family", "loa", "--config", file]) == Exit.USAGE
    err = capsys.readouterr().err
    assert file in err
    assert message in err


def test_every_fault_of_a_file_and_of_options_is_named(tmp_path: Path, capsys: Any) -> None:
    file = written(tmp_path, "format = 'swis'\nsed = 7\ntime_control = 'nods:4'")
    assert run(["play", "a", "b", "--family", "loa", "--config", file, "--tc", "5x"]) == Exit.USAGE
    err = capsys.readouterr().err
    assert f"{file}: format: invalid value 'swis'" in err
    assert f"{file}: sed: unknown key; did you mean seed?" in err
    assert "; --tc: not a time control at column 1 of '5x'" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--games", "0"), "--games: '0' is too small; write 1 or more"),
        (("--games", "x"), "--games: 'x' is not a whole number"),
        (("--tc", "soon"), "--tc: "),
        (("--sprt", "elo0=5,elo1=0"), "--sprt: elo0 must be less than elo1"),
        (("--sprt", "x=1"), "--sprt: unknown key"),
        (("--sprt", "elo0=a"), "--sprt: 'a' is not a number"),
        (("--sprt", "nan"), "--sprt: cannot read 'nan'; write elo0=…,elo1=…,"),
        (("--sprt", "elo0=-1e9"), "--sprt: '-1e9' is too small"),
        (("--option", "x"), "--option: cannot read 'x'; write NAME=VALUE"),
        (("--option", "simultanous=draw"), "simultaneous"),
        (("--format", "gauntled"), '--format: "gauntled" is not valid; did you mean gauntlet?'),
        (("--variant", "zzen"), "--variant: "),
        (("--rounds", "3"), "--rounds: is for format swiss only"),
        (("--draw", "x=1"), "--draw: "),
        (("--sprt", "elo1=5", "--each", "tc=1", "c"), "a sequential test is between two bots"),
        (("--each", "Hash=4"), "--each: 'Hash=4' is not a setting; write tc=10+0.1 or option.NAME=VALUE"),
        (("--openings", "random:many"), "random:PLIES"),
    ],
)
def test_a_wrong_option_is_refused_by_name(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(CommandError) as caught:
        parsed(*BOTS, *words)
    assert message in str(caught.value)


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path, capsys: Any) -> None:
    assert run(["play", "--config", str(tmp_path / "no.toml")]) == Exit.NOT_FOUND
    assert run(["play", "--config"]) == Exit.USAGE
    assert run(["play", "--tc", "1"]) == Exit.USAGE
    assert "missing BOT, --family" in capsys.readouterr().err
    assert run(["play", "a", "--family", "loa"]) == Exit.USAGE
    assert "at least two bots" in capsys.readouterr().err


def test_command_says_how_many_openings_a_book_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / "mac.book"
    old.write_bytes(b"\xef\xbb\xbf# of an old Mac\rb1b3 h4f2\r\rc1c3\rd1d3")
    assert len(parsed(*BOTS, "--openings", str(old)).opening_lines) == 3
    assert f"{old}: 3 openings\n" in capsys.readouterr().err


def test_book_that_is_too_long_is_cut_and_said_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tournament_input, "MAX_BOOK_LINES", 2)
    book = tmp_path / "long.book"
    book.write_text("b1b3 h4f2\nc1c3\nd1d3\n", encoding="utf-8")
    assert len(parsed(*BOTS, "--openings", str(book)).opening_lines) == 2
    assert f"{book}: 3 openings; the first 2 of them are used\n" in capsys.readouterr().err


def test_a_book_becomes_the_openings_of_the_document(tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text("# two\nb1b3 h4f2 c1c3\nc1c3 h4f2\n", encoding="utf-8")
    assert parsed(*BOTS, "--openings", str(book)).opening_lines == ["standard ; b1b3 h4f2 c1c3", "standard ; c1c3 h4f2"]
    file = written(tmp_path, 'name = "x"\nopening_lines = ["b1b3"]')
    assert parsed(*BOTS, "--config", file).opening_lines == ["b1b3"]
    assert parsed(*BOTS, "--config", file, "--openings", "none").opening_lines == []
    cut = parsed(*BOTS, "--openings", f"{book};plies=1;order=random", "--seed", "3")
    assert sorted(cut.opening_lines) == ["standard ; b1b3", "standard ; c1c3"]


def test_settings_of_all_bots_may_stand_in_a_word_each_with_bots_behind_them() -> None:
    one = "tc=1;option.Hash=2"
    for words in (["a", "b", "--each", one], ["--each", one, "a", "b"], ["a", "--each", one, "b"]):
        found = parsed("--family=loa", *words)
        assert (found.time_control, found.setoptions, found.entries.bots) == ("1+0", (("Hash", "2"),), ["a", "b"])
    found = parsed("--each", "tc=1", "option.Hash=2", "x=a", "b", "--family", "loa")
    assert (found.setoptions, found.entries.bots) == ((("Hash", "2"),), ["x=a", "b"])


def test_an_option_of_all_bots_is_left_out_where_a_bot_does_not_have_it() -> None:
    for_all = (("Hash", "64"),)

    def options(guest: Candidate) -> dict[str, str]:
        return dict(probe(guest, LOA, Sandbox("none")).options)

    knows = replace(scripted("knows", "--option", HASH), options=for_all)
    lacks = replace(scripted("lacks"), options=for_all)
    assert options(Candidate(knows, (), for_all)) == {"Hash": "64"}
    assert options(Candidate(lacks, (), for_all)) == {}
    with pytest.raises(IneligibleError, match="has no option 'Hash'"):
        probe(Candidate(lacks, for_all, for_all), LOA, Sandbox("none"))
    with pytest.raises(IneligibleError, match="does not take '0'"):
        probe(Candidate(knows, (), (("Hash", "0"),)), LOA, Sandbox("none"))


def test_a_tournament_from_a_file_is_played_with_the_settings_of_all_bots_and_continued(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    script = Path(__file__).parents[3] / "referee" / "scripted.py"
    start = f"{sys.executable} -S -E {script} --clocks resign --hear {tmp_path}"
    file = written(
        tmp_path,
        f"""\
name = "cup"
family = "loa"
openings = "none"
time_control = "7+0.1"

[entries]
bots = [
  "own={start}/own --option '{HASH}';option.Hash=3",
  "all={start}/all --option '{HASH}'",
  "none={start}/none",
]

[engine_options]
Hash = 64

[[handicaps]]
bot = "none"
time_control = "9+0.1"
""",
    )
    words = ["play", "--config", file, "--sandbox", "none", "--out", f"{tmp_path}/run", "--json"]
    assert run(words) == Exit.DONE
    out, err = capsys.readouterr()
    assert "none: no option 'Hash'" in err
    games = json.loads(out)["games"]
    assert {game["time"] for game in games} == {"7+0.1", "7+0.1 v 9+0.1", "9+0.1 v 7+0.1"}
    assert {game["event"] for game in games} == {"cup"}
    heard = {name: (tmp_path / name).read_text(encoding="utf-8") for name in ("own", "all", "none")}
    assert "setoption name Hash value 3\n" in heard["own"]
    assert "setoption name Hash value 64\n" in heard["all"]
    assert "Hash" not in heard["none"]

    named = Path(file).with_name("named.toml")
    named.write_text(re.sub(r'"(own|all|none)=.*"', r'"\1"', Path(file).read_text()), encoding="utf-8")
    assert run(["tournament", "create", str(named), "--check"]) == Exit.DONE
    assert run(words) == Exit.DONE
    assert "6 of 6 games are there already" in capsys.readouterr().err
    assert run([*words, "--each", "option.Hash=5"]) == Exit.USAGE
    assert "holds a run with another engine_options.Hash;" in capsys.readouterr().err
