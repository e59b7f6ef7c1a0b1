"""Bots' files in bundles: what an upload accepts and refuses is what the same file does on the author's machine."""

from __future__ import annotations

import io
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest

from arena.submission.bundle_store import read_manifest
from arena.submission.unpack import BundleBounds, Contents, unpack
from referee.bot.argument import read_bot
from referee.bot.bridge import FAMILY
from referee.bot.command import BotFileError
from referee.bot.file import REMARKS, BotFile, read_bot_file
from referee.bot.file_writer import at_home, bot_file_of, write_bot_file
from tests.arena.submission.packing import SCRIPT, zipped

EVERYTHING = f"""
name = "zeta"
families = ["loa", "tablut", "loa"]
command = "./run.sh --level '3 4' --family {FAMILY}"
folder = "engine"
description = "plays"
network = "loopback"
{"".join(f"{key} = 1.2{chr(10)}" for key in REMARKS)}
[options]
Hash = 64
Ponder = false
Style = "bold"
[limits]
memory_bytes = 5e8
[capabilities]
clocks = false
"""
FILES = {
    "run.sh": SCRIPT,
    "tool": b"plain",
    "engine/run.sh": SCRIPT,
    "engine/loa.sh": SCRIPT,
    "report.json": b'{"name": "x", "capabilities": {"stop": false}}',
    "broken.json": b"[" * 100_000,
    "large.json": b" " * 2_000_000,
}

ACCEPTED = [
    EVERYTHING,
    'command = "./run.sh"',
    'command = "tool -x"',
    'command = ["python3", "run.sh"]',
    'command = ["python", "run.sh"]',
    'command = ["/usr/bin/env", "sh", "run.sh"]',
    'command = ["./run.sh", "--book=a/../b", "http://x/y"]',
    'command = "bridge:python run.py:choose"',
    'command = "bridge:bologna --seconds 3 -- ./tool"',
    'command = "bridge:command ./tool -x"',
    'command = "bridge:command tool -x"',
    'command = "bridge:tcp localhost 4000"',
    'command = "./run.sh"\nfolder = "."',
    'command = "./run.sh"\nfolder = "engine/"',
    'command = "./run.sh"\nfolder = "engine/../engine"',
    'command = "./{family}.sh"\nfolder = "engine"\nfamilies = "loa"',
    'command = "./run.sh"\nname = "Zoë 2.0"',
    'command = "./run.sh"\nauthor = ["A", "B"]\nversion = 2026-01-01\nurl = 3',
    'command = "./run.sh"\noptions = {Day = 2026-01-01, Load = 1.5, "Own Book" = "x y"}',
    'command = "./run.sh"\ncapabilities = "report.json"',
    'command = "./run.sh"\n[capabilities]\nsetoption = "bare"\noptions = []',
    'command = "./run.sh"\n[limits]\nprocesses = 2',
    f'command = "./run.sh"\ndescription = "{"long " * 400}"',
    '\ufeffcommand = "./run.sh"',
    'command = "./run.sh"\r\nname = "windows"\r\n[options]\r\nA = 1\r\n',
    'command = "./run.sh"\rname = "old"\r[options]\rA = 1\r',
]

REFUSED = [
    ('command = "./run.sh"\nnetwork = "internet"', "network = 'internet'; write \"loopback\", or leave it out"),
    ('command = "./run.sh"\nnetwork = true', "network = True; write"),
    ("", "missing command"),
    ("command = []", "missing command"),
    ("command = [1]", "missing command"),
    ("command = 'a \"b'", "quote"),
    ('command = "./nothing"', "no file './nothing' in the bot's folder"),
    ('command = "./engine"', "no file './engine'"),
    ('command = "bridge:bologna -- ./nothing"', "no file './nothing'"),
    ('command = "./{family}.sh"\nfolder = "engine"\nfamilies = ["loa", "tablut"]', "no file './tablut.sh'"),
    ('command = "../../bin/sh"', "outside the bot's folder"),
    ('command = "data/../../x"', "outside the bot's folder"),
    ('command = ["./run.sh", ".."]', "outside the bot's folder"),
    ('command = "./run.sh --book=../x"', r"'\.\./x' lies outside the bot's folder, .* or write another folder"),
    ('command = "java -cp lib:../x.jar Client"', r"'\.\./x.jar' lies outside"),
    ('command = "bridge:bologna -- ../client"', r"'\.\./client' lies outside"),
    ('command = "../run.sh"\nfolder = "engine"', "outside the bot's folder"),
    ('command = "bridge:phyton run.py"', "command: unknown bridge 'phyton'; did you mean python"),
    ('command = "bridge:command --"', "command: bridge:command: missing command"),
    ('command = "bridge:python"', "command: bridge:python: missing command"),
    ('command = "./run.sh \\u0007"', "printable"),
    (f"command = {['x'] * 40}", "at most 32"),
    ('command = "./run.sh"\nfolder = 3', "folder: expected one line"),
    ('command = "./run.sh"\nfolder = "none"', "folder: no folder 'none'"),
    ('command = "./run.sh"\nfolder = "tool"', "folder: no folder 'tool'"),
    ('command = "./run.sh"\nfamilies = ["chess"]', "unknown family 'chess'"),
    ('command = "./run.sh"\nfamilies = [1]', "write a list"),
    ('command = "./run.sh"\nname = 3', "name: expected one line"),
    ('command = "./run.sh"\nname = "a\\nb"', "name: expected one line"),
    ('command = "./run.sh"\ncolour = 3', "unknown key 'colour'"),
    ("command = './run.sh'\nCommand = 3", "choose from command, name, families, .*folder, .*description, .*author"),
    ('command = "./run.sh"\noptions = 3', "options: expected a table"),
    ('command = "./run.sh"\noptions = {a = [1]}', "option 'a'"),
    ('command = "./run.sh"\noptions = {a = "b\\nc"}', "one line"),
    ('command = "./run.sh"\nlimits = 3', "limits: expected a table"),
    ('command = "./run.sh"\nlimits = {colour = 1}', "unknown limit 'colour'"),
    ('command = "./run.sh"\nlimits = {memory_bytes = "a"}', "positive"),
    ('command = "./run.sh"\nlimits = {memory_bytes = -1}', "positive"),
    ('command = "./run.sh"\nlimits = {memory_bytes = true}', "positive"),
    ('command = "./run.sh"\nlimits = {memory_bytes = nan}', "positive"),
    ('command = "./run.sh"\nlimits = {memory_bytes = 99_000_000_000}', "the arena grants"),
    ('command = "./run.sh"\ncapabilities = 3', "capabilities: expected a table"),
    ('command = "./run.sh"\ncapabilities = "none.json"', "capabilities: cannot read none.json"),
    ('command = "./run.sh"\ncapabilities = "broken.json"', "capabilities: cannot read broken.json"),
    ('command = "./run.sh"\ncapabilities = "large.json"', "large.json is too large: at most 1,048,576 bytes"),
    ('command = "./run.sh"\ncapabilities = {colour = true}', "unknown capability 'colour'"),
    ('command = "./run.sh"\ncapabilities = {clocks = "no"}', "clocks = 'no'; it is one of true, false"),
    ('command = "./run.sh"\ncapabilities = {query = "odd"}', "none, response, bare"),
    ('command = "./run.sh"\ndescription = 3', "description: expected a text"),
    ("command = './run.sh'\ndescription = 'a\u202eb'", "control characters"),
    ("command = './run.sh'\ndescription = \"a\\u0000b\"", "control characters"),
    ("command = [", "not TOML"),
    ("a" + ".a" * 20_000 + " = 1", "a key of more than 8 parts"),
    (f"command = './run.sh'\noptions = {{a = {'1' * 5000}}}", "a name or number of more than 100"),
    ("a = " + "[" * 5000, "bot.toml:"),
    ("#" * 70_000, "too large"),
    (b"\xff\xfec\x00", "not UTF-8 text"),
]

OUTSIDE = [
    ('command = "./run.sh"\nfolder = "../other"', "folder: '../other' lies outside the bundle"),
    ('command = "./run.sh"\nfolder = "/etc"', "folder: '/etc' lies outside the bundle"),
    ('command = "./run.sh"\ncapabilities = "../report.json"', "capabilities: '../report.json' lies outside the bundle"),
    ('command = "./run.sh"\ncapabilities = "/etc/passwd"', "capabilities: '/etc/passwd' lies outside the bundle"),
]


def unpacked(text: str | bytes, tmp_path: Path) -> Contents:
    data = text if isinstance(text, bytes) else text.encode()
    return unpack(io.BytesIO(zipped({**FILES, "bot.toml": data})), tmp_path / "new", BundleBounds())


def refusal(read: Callable[[], object]) -> str:
    with pytest.raises(BotFileError) as error:
        read()
    return str(error.value)


@pytest.mark.parametrize("text", ACCEPTED)
def test_a_file_that_is_accepted_here_is_accepted_uploaded(text: str, tmp_path: Path) -> None:
    contents = unpacked(text, tmp_path)
    here = read_bot_file(contents.folder)
    assert read_manifest(contents) == replace(here, command=here.command_for(FAMILY))
    assert read_bot(str(contents.folder), "loa").name == here.name


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_a_file_that_is_refused_here_is_refused_uploaded_with_the_same_sentence(
    text: str | bytes, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = unpacked(text, tmp_path)
    monkeypatch.chdir(contents.folder)
    sentence = refusal(lambda: read_manifest(contents))
    assert sentence.startswith("bot.toml: ")
    assert re.search(words, sentence), sentence
    assert refusal(lambda: read_bot("bot.toml", "loa")) == sentence


@pytest.mark.parametrize(("text", "words"), OUTSIDE)
def test_an_upload_names_nothing_outside_its_bundle(text: str, words: str, tmp_path: Path) -> None:
    contents = unpacked(text, tmp_path)
    (tmp_path / "other").mkdir()
    shutil.copy(contents.folder / "report.json", tmp_path)
    assert words in refusal(lambda: read_manifest(contents))


def test_every_key_is_read(tmp_path: Path) -> None:
    bot = read_manifest(unpacked(EVERYTHING, tmp_path))
    assert bot == BotFile(
        command=("./run.sh", "--level", "3 4", "--family", FAMILY),
        name="zeta",
        families=("loa", "tablut"),
        options={"Hash": "64", "Ponder": "false", "Style": "bold"},
        capabilities={"clocks": False},
        limits={"memory_bytes": 500_000_000},
        network="loopback",
        folder="engine",
        description="plays",
        remarks=dict.fromkeys(REMARKS, "1.2"),
    )
    usual = BotFile(())
    assert all(getattr(bot, key.name) != getattr(usual, key.name) for key in fields(BotFile))


def test_every_key_is_passed_to_the_bot_or_is_for_the_arena(tmp_path: Path) -> None:
    bot, usual = read_manifest(unpacked(EVERYTHING, tmp_path)), BotFile(("./bot",))
    spec = bot.spec("loa")
    passed = {
        key.name
        for key in fields(BotFile)
        if replace(bot, **{key.name: getattr(usual, key.name)}).spec("loa") != spec  # type: ignore[arg-type]
    }
    assert passed | {"families", "limits", "description", "remarks"} == {key.name for key in fields(BotFile)}
    written = replace(bot_file_of(spec, "loa"), capabilities=bot.capabilities)
    assert written.spec("loa") == spec, "`arena check --write-config` writes every key that is passed to the bot"


def test_a_program_named_without_a_path_is_the_bots_own(tmp_path: Path) -> None:
    contents = unpacked('command = "tool -x"', tmp_path)
    assert read_manifest(contents).command == read_bot(str(contents.folder), "loa").command == ("./tool", "-x")
    assert os.access(contents.folder / "tool", os.X_OK)


def test_a_bridge_runs_with_the_python_of_the_player(tmp_path: Path) -> None:
    command = read_manifest(unpacked('command = "bridge:python run.py:choose"', tmp_path)).command
    assert command == (*("python", "-P", "-m", "bots.bridges.python_agent", "--family", "{family}", "run.py:choose"),)


def test_the_program_behind_a_bridge_becomes_executable(tmp_path: Path) -> None:
    contents = unpacked('command = "bridge:bologna --seconds 3 -- run.sh"\nfolder = "engine"', tmp_path)
    (contents.folder / "engine" / "run.sh").chmod(0o444)
    assert read_manifest(contents).command[-2:] == ("--", "./run.sh"), "it stands there without its path"
    assert os.access(contents.folder / "engine" / "run.sh", os.X_OK)


def test_a_single_executable_needs_no_manifest(tmp_path: Path) -> None:
    contents = unpack(io.BytesIO(SCRIPT), tmp_path / "new", BundleBounds())
    assert read_manifest(contents) == BotFile(("./bot",))


def test_a_bundle_without_a_file_names_what_it_has(tmp_path: Path) -> None:
    contents = unpack(io.BytesIO(zipped({"run.sh": SCRIPT})), tmp_path / "new", BundleBounds())
    assert "missing bot.toml in the bundle, which has run.sh" in refusal(lambda: read_manifest(contents))
    contents = unpack(io.BytesIO(zipped({"bot.toml/x": SCRIPT, "y": b""})), tmp_path / "two", BundleBounds())
    assert refusal(lambda: read_manifest(contents)) == "bot.toml is a folder"


PYTHON_BRIDGE = ("python", "-P", "-m", "bots.bridges.python_agent", "--family", "loa", "run.py:choose")
COMMAND_BRIDGE = ("python", "-P", "-m", "bots.bridges.command", "--family", "loa", "--", "./run.sh")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder, with programs, and with a bot in a folder below it."""
    place = tmp_path / "place"
    agent = {"run.py": b"def choose(): pass", "engine/bot.toml": b'command = "./run.sh --family {family}"\nlimits = {}'}
    for name, data in {**FILES, **agent}.items():
        (place / name).parent.mkdir(exist_ok=True, parents=True)
        (place / name).write_bytes(data)
    monkeypatch.chdir(place)
    return place


@pytest.mark.parametrize(
    ("text", "command", "folder"),
    [
        ("sample:random", ("python", "-P", "-m", "bots.samples.random_mover", "--family", "loa"), "."),
        ("./engine/run.sh -q", ("engine/run.sh", "-q"), "."),
        ("python3 run.py", ("python3", "run.py"), "."),
        ("bridge:python run.py:choose", PYTHON_BRIDGE, "."),
        ("bridge:command -- ./run.sh", COMMAND_BRIDGE, "."),
        ("mine=engine;option.Hash=3", ("./run.sh", "--family", "loa"), "engine"),
    ],
)
def test_a_file_written_by_a_check_can_be_uploaded(text: str, command: list[str], folder: str, place: Path) -> None:
    spec = at_home(read_bot(text, "loa"), place)
    write_bot_file(replace(bot_file_of(spec, "loa"), name="Zoë 2.0", capabilities={"stop": False}), place / "bot.toml")
    files = {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}
    uploaded = read_manifest(unpack(io.BytesIO(zipped(files)), place / "new", BundleBounds()))
    assert (uploaded.name, uploaded.families, uploaded.command) == ("Zoë 2.0", ("loa",), command)
    assert (uploaded.folder, uploaded.options) == (folder, dict(spec.options))
    assert uploaded.capabilities == {"stop": False}
