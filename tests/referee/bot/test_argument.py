"""What people write for a bot, as what is run; and bots that are found out before the first game."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from referee.bot.argument import read_bot, typed_options
from referee.bot.file import read_local_bot
from referee.bot.file_writer import at_home, bot_file_of, write_bot_file
from referee.bot.settings import split_settings
from referee.check.probe import Candidate, GameConditions, IneligibleError, ProbeError, probe
from referee.game.record_text import read_texts, write_text
from referee.game.spec import BotLimits, BotSpec, GameSpec, PlannedGame, read_time_control
from referee.play.play import play
from referee.play.roster import Roster
from referee.play.sandbox_choice import why_not
from referee.rules import load
from referee.rules.core import UnknownNameError
from referee.sandbox import Sandbox
from referee.sandbox.view import make_view, named_files
from referee.verify.verification import verify
from tests.referee.conftest import PATIENT, scripted
from tests.referee.sandbox.levels import sandbox_or_skip

PYTHON = sys.executable
LOA = GameConditions.of(load("loa").settle(), PATIENT, None)
AGENT = "def choose(position, clock):\n    return position.moves[0]\n"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("bridge:bologna -- ./client --fast", ["bologna", "--", "./client", "--fast"]),
        ("bridge:bologna ./client --fast", ["bologna", "--", "./client", "--fast"]),
        ("bridge:bologna --seconds 5 -- java -jar c.jar", ["bologna", "--seconds", "5", "--", "java", "-jar", "c.jar"]),
        ("bridge:command ./program -x", ["command", "--family", "loa", "--", "./program", "-x"]),
        ("bridge:command --name N -- ./p", ["command", "--family", "loa", "--name", "N", "--", "./p"]),
        ("bridge:python file.py:choose", ["python_agent", "--family", "loa", "file.py:choose"]),
        ("bridge:python 'my file.py:A' --family=tablut", ["python_agent", "my file.py:A", "--family=tablut"]),
        ("bridge:tcp localhost 4000", ["tcp", "localhost", "4000"]),
    ],
)
def test_a_bridge_by_its_name_runs_with_the_interpreter_of_the_arena(text: str, command: list[str]) -> None:
    module, *words = command
    assert read_bot(text, "loa").command == (PYTHON, "-P", "-m", f"bots.bridges.{module}", *words)
    assert read_bot(f"mine={text}", "loa").name == "mine"


def test_a_bridge_that_is_none_names_those_that_are() -> None:
    with pytest.raises(UnknownNameError, match="bologna"):
        read_bot("bridge:bolonia ./client", "tablut")
    with pytest.raises(ValueError, match=r"bridge:python file\.py:choose"):
        read_bot("bridge:python", "loa")


@pytest.mark.parametrize("text", ["/no/such/bot", "mine=./no/such/bot --fast", "no-such-program-anywhere 3"])
def test_a_program_that_is_not_there_is_refused(text: str) -> None:
    with pytest.raises(FileNotFoundError) as error:
        read_bot(text, "loa")
    assert error.value.filename in text


def test_the_python_of_the_arena_is_there_whatever_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    name = os.path.basename(PYTHON)
    assert read_bot(f"{name} bot.py", "loa").command == (name, "bot.py")


@pytest.mark.parametrize(
    ("command", "limits", "reason"),
    [
        ((PYTHON, "-c", "raise SystemExit('my book is missing')"), PATIENT, "my book is missing"),
        (
            ("/bin/sh", "-c", "echo I speak another language; cat >/dev/null"),
            replace(PATIENT, start_ms=500),
            "no answer to `ugi`",
        ),
        (("/no/such/program",), PATIENT, "/no/such/program"),
    ],
    ids=["ends", "silent", "missing"],
)
def test_a_bot_that_does_not_introduce_itself_is_found_out(
    command: tuple[str, ...], limits: BotLimits, reason: str
) -> None:
    with pytest.raises(ProbeError, match=reason) as error:
        probe(
            Candidate(BotSpec("mute", command)), GameConditions.of(load("loa").settle(), limits, None), Sandbox("none")
        )
    assert "bot 'mute' did not complete its handshake" in str(error.value)
    assert "arena check" in str(error.value)
    assert probe(Candidate(scripted("", "b1b3")), LOA, Sandbox("none")).name == "scripted"


# -- what a sandbox shows ----------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder, with an agent and its weights in folders below it."""
    for name in ("agents/agent.py", "data/net.bin", "engine"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(AGENT if name.endswith(".py") else "#!/bin/sh\n", encoding="utf-8")
        file.chmod(0o755)
    tmp_path.chmod(0o755)  # in a sandbox a bot may be another user
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("word", "named"),
    [
        ("agents/agent.py", ["agents/agent.py"]),
        ("agents/agent.py:choose", ["agents/agent.py"]),
        ("--weights=data/net.bin", ["data/net.bin"]),
        ("-Dnet=data/net.bin:2", ["data/net.bin"]),
        ("data:agents:missing", ["data", "agents"]),
        ("--fast", []),
        ("data/net", []),
        ("=:", []),
    ],
)
def test_files_are_named_in_many_ways(word: str, named: list[str], place: Path) -> None:
    assert named_files(word) == named


def test_files_named_in_arguments_are_shown(place: Path) -> None:
    shown = make_view((PYTHON, "agents/agent.py:choose", "--weights=data/net.bin"), None).shown
    assert {str(place / "agents"), str(place / "data")} <= set(shown)
    assert str(place) not in shown
    assert str(place / "data") in make_view((PYTHON, "data"), None).shown, "a folder is shown itself"
    assert str(place / "data") not in make_view((PYTHON, "--net=data/net.bin"), str(place / "agents")).shown


@pytest.mark.parametrize("word", ["/", "--root=/", "a:/etc", "--net={home}", "{home}"])
def test_no_home_nor_half_the_machine_is_shown_because_it_is_named(
    word: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(place))
    shown = make_view((PYTHON, word.format(home=place)), None).shown
    assert not {"/", "/etc", str(place)} & set(shown)


@pytest.mark.parametrize(
    ("typed", "below", "written"),
    [
        ("./engine --net=data/net.bin", ".", ["./engine", "--net=data/net.bin"]),
        ("{place}/engine {place}/data:x", ".", ["./engine", "data:x"]),
        ("{place}/engine -q", "data", ["./engine", "-q"]),
        ("/bin/sh ../engine --net=net.bin", "data", ["/bin/sh", "engine", "--net=data/net.bin"]),
        ("python3 agents/agent.py:x", ".", ["python3", "agents/agent.py:x"]),
    ],
)
def test_a_bot_is_written_down_from_its_folder(
    typed: str, below: str, written: list[str], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place / below)
    words = typed.format(place=place).split()
    spec = BotSpec("x", (os.path.abspath(words[0]) if words[0].startswith(".") else words[0], *words[1:]))
    settled = at_home(spec, place)
    assert (settled.command, settled.folder) == (tuple(written), str(place))
    for file, is_named in ((place / "bot.toml", False), (place / "data" / "bot.toml", True)):
        write_bot_file(bot_file_of(settled, "loa"), file)
        assert (f'folder = "{place}"' in file.read_text(encoding="utf-8")) == is_named
        assert read_local_bot(file) == settled
    assert at_home(settled, place / "data") == settled


def test_a_home_is_no_bots_folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(place))
    assert at_home(BotSpec("x", (str(place / "agents" / "agent.py"),)), place).folder == str(place / "agents")
    with pytest.raises(ValueError, match="to a folder of their own"):
        at_home(BotSpec("x", (str(place / "engine"),)), place)
    assert at_home(BotSpec("x", ("python3", "-m", "thing")), place / "data").folder == str(place / "data")


def test_what_was_written_down_starts_in_the_sandbox(place: Path) -> None:
    (place / "bots").mkdir()
    (place / "bots" / "__init__.py").write_text("raise SystemExit('not the bots of the arena')", encoding="utf-8")
    spec = at_home(read_bot("bridge:python agents/agent.py:choose", "loa"), place)
    write_bot_file(bot_file_of(spec, "loa"), place / "engine.toml")
    sandbox = sandbox_or_skip("bwrap")
    assert not why_not(read_bot("engine.toml", "loa"), sandbox, PATIENT)
    assert not why_not(read_bot("bridge:python agents/agent.py:choose", "loa"), sandbox, PATIENT)


# -- settings of its own -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "bot", "time", "options"),
    [
        ("fast=./engine;tc=10+0.1;option.Hash=64;option.Threads=1", "fast=./engine", "10+0.1", "Hash=64 Threads=1"),
        ("./engine -x ; tc = 1/move ; option.Own Book = a b", "./engine -x ", "1/move", "Own Book=a b"),
        ("sh -c 'a; b';tc=depth:4", "sh -c 'a; b'", "depth:4", ""),
        ('./engine;option.Book="x;tc=1";option.Note=', "./engine", None, "Book=x;tc=1 Note="),
        ("./o'neil;tc=2", "./o'neil", "2+0", ""),
        ("./engine", "./engine", None, ""),
        ("./engine;option.Clear Hash;tc=2", "./engine", "2+0", "Clear Hash="),
    ],
)
def test_settings_stand_behind_a_bot(text: str, bot: str, time: str | None, options: str) -> None:
    found, own = split_settings(text)
    assert found == bot
    assert own.time == (read_time_control(time) if time else None)
    assert " ".join(f"{name}={value}" for name, value in own.options) == options


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("./engine;tc=soon", "10+0.1"),
        ("./engine;time=3", "'time=3' is not a setting; write BOT;tc=10+0.1;option.NAME=VALUE"),
        ("./engine;option.=3", "'option.=3' is not a setting"),
        ("./engine;option.", "'option.' is not a setting"),
        ("./engine;", "'' is not a setting"),
        ("./engine;tc=1;tc=2", "'tc=2' is set twice"),
        ("./engine;option.Hash=1;option.Hash=2", "'option.Hash=2' is set twice"),
        ("./engine;option.Hash=1\nquit", "one printable line"),
    ],
)
def test_a_setting_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        split_settings(text)


def test_what_is_typed_comes_before_what_the_file_says(place: Path) -> None:
    (place / "bot.toml").write_text('command = "./engine"\noptions = { Hash = 1, Threads = 2 }\n', encoding="utf-8")
    spec = read_bot("big=.;option.Hash=64;tc=5+0", "loa")
    assert (spec.name, dict(spec.options), str(spec.time)) == ("big", {"Hash": "64", "Threads": "2"}, "5+0")
    (place / "odd;tc=1").write_text("", encoding="utf-8")
    assert read_bot("odd;tc=1", "loa") == BotSpec("", (str(place / "odd;tc=1"),)), "a file of that name is the bot"
    assert typed_options("odd;tc=1") == ()


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("Hsah", "64", "has no option 'Hsah'; it announced Hash"),
        ("Hash", "0", "does not take '0' for its option 'Hash': option name Hash type spin default 16 min 1 max 99"),
        ("Variant", "zen", "gets 'Variant' from the referee"),
        ("Rule.simultaneous", "draw", "gets 'Rule.simultaneous' from the referee"),
    ],
)
def test_an_option_that_the_bot_did_not_announce_is_refused_before_the_first_game(
    option: str, value: str, message: str
) -> None:
    spec = scripted("knows", "--option", "option name Hash type spin default 16 min 1 max 99")
    with pytest.raises(IneligibleError, match=re.escape(f"bot 'knows' {message}")):
        probe(Candidate(spec, [(option, value)]), LOA, Sandbox("none"))
    assert probe(Candidate(spec, [("Hash", "64")]), LOA, Sandbox("none")).name == "knows"


def test_a_bot_that_cannot_set_up_positions_is_not_asked_to() -> None:
    spec = replace(scripted("plain"), capabilities={"startpos_only": True})
    with pytest.raises(IneligibleError, match="cannot set up positions"):
        probe(Candidate(spec), replace(LOA, is_shown=True), Sandbox("none"))
    assert probe(Candidate(spec), LOA, Sandbox("none")).name == "plain"


def test_time_odds_are_played_recorded_and_verified(roster: Roster) -> None:
    first, second = scripted("one", "--echo", "b1b3", "resign"), scripted("two", "--echo", "h4f2")
    odds = replace(first, time=read_time_control("300+0.2")), replace(second, time=read_time_control("100/move"))
    spec = GameSpec("loa", "standard", *odds, time=read_time_control("9+0"), limits=PATIENT)
    record = play(PlannedGame.of(spec), roster)
    assert (record.time, record.winner, record.termination) == ("300+0.2 v 100/move", "second", "resigned")
    assert "go p1time 300000 p2time 300000 p1inc 200 p2inc 200" in record.logs["first"]
    assert "go movetime" in record.logs["second"]
    verify(record, spec)
    (again,) = read_texts(write_text(record))
    assert again.time == record.time
