"""Valid and invalid `bot.toml` files."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from arena.submission.manifest import Manifest, ManifestError, read_manifest
from arena.submission.unpack import BundleBounds, unpack
from tests.arena.submission.packing import SCRIPT, zipped


def read(text: str, tmp_path: Path, **more: bytes) -> Manifest:
    files = {"bot.toml": text.encode(), "run.sh": SCRIPT, "tool": b"plain", **more}
    return read_manifest(unpack(io.BytesIO(zipped(files)), tmp_path / "new", BundleBounds()))


def test_everything(tmp_path: Path) -> None:
    found = read(
        """
        name = "zeta"
        families = ["loa", "tablut", "loa"]
        command = "./run.sh --level '3 4'"
        description = "plays"
        author = "Zoe"
        [options]
        Hash = 64
        Ponder = false
        Style = "bold"
        [limits]
        memory_bytes = 5e8
        [capabilities]
        clocks = false
        """,
        tmp_path,
    )
    assert found == Manifest(
        ("./run.sh", "--level", "3 4"),
        "zeta",
        ("loa", "tablut"),
        {"Hash": "64", "Ponder": "false", "Style": "bold"},
        {"memory_bytes": 500_000_000},
        "plays",
    )


def test_a_program_named_without_a_path_is_the_bundles_own(tmp_path: Path) -> None:
    assert read('command = "tool -x"', tmp_path).command == ("./tool", "-x")
    assert os.access(tmp_path / "new" / "tool", os.X_OK)


def test_programs_of_the_system(tmp_path: Path) -> None:
    assert read('command = ["python3", "run.sh"]', tmp_path).command == ("python3", "run.sh")


def test_bridge_runs_with_the_python_of_the_player(tmp_path: Path) -> None:
    assert read('command = "bridge:python run.py:choose"', tmp_path).command == (
        *("python", "-P", "-m", "bots.bridges.python_agent", "--family", "{family}", "run.py:choose"),
    )
    with pytest.raises(ManifestError, match="command: unknown bridge 'phyton'; did you mean python"):
        read('command = ["bridge:phyton", "run.py"]', tmp_path / "other")


def test_manifest_of_a_bridge_makes_the_program_behind_it_executable(tmp_path: Path) -> None:
    files = {"bot.toml": b'command = "bridge:bologna --seconds 3 -- ./client"', "client": SCRIPT}
    contents = unpack(io.BytesIO(zipped(files)), tmp_path / "new", BundleBounds())
    (contents.folder / "client").chmod(0o444)
    assert read_manifest(contents).command[-2:] == ("--", "./client")
    assert os.access(contents.folder / "client", os.X_OK)


def test_a_single_executable_needs_no_manifest(tmp_path: Path) -> None:
    contents = unpack(io.BytesIO(SCRIPT), tmp_path / "new", BundleBounds())
    assert read_manifest(contents) == Manifest(("./bot",))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "missing command"),
        ("command = []", "missing command"),
        ("command = [1]", "missing command"),
        ("command = 'a \"b'", "quote"),
        ('command = "./nothing"', "no file './nothing'"),
        ('command = "../../bin/sh"', "outside the bundle"),
        ('command = "data/../../x"', "outside the bundle"),
        ('command = "./run.sh --book=../x"', "'--book=../x' lies outside the bundle"),
        ('command = "bridge:bologna -- ../client"', "'../client' lies outside the bundle"),
        ('command = "./run.sh \\u0007"', "printable"),
        (f"command = {['x'] * 40}", "at most 32"),
        ('command = "./run.sh"\nfamilies = ["chess"]', "unknown family 'chess'"),
        ('command = "./run.sh"\nfamilies = [1]', "write a list"),
        ('command = "./run.sh"\nname = 3', "must be strings"),
        ('command = "./run.sh"\ncolour = 3', "unknown key 'colour'"),
        ('command = "./run.sh"\noptions = 3', "options: expected a table"),
        ('command = "./run.sh"\noptions = {a = [1]}', "option 'a'"),
        ('command = "./run.sh"\noptions = {a = "b\\nc"}', "one line"),
        ('command = "./run.sh"\nlimits = {colour = 1}', "unknown limit 'colour'"),
        ('command = "./run.sh"\nlimits = {memory_bytes = -1}', "positive"),
        ('command = "./run.sh"\nlimits = {memory_bytes = true}', "positive"),
        ('command = "./run.sh"\nlimits = {memory_bytes = nan}', "positive"),
        ('command = "./run.sh"\nlimits = {memory_bytes = 99_000_000_000}', "the arena grants"),
        ('command = "./run.sh"\ncapabilities = 3', "capabilities: expected a table"),
        ('command = "./run.sh"\ncapabilities = {colour = true}', "unknown capability 'colour'"),
        ('command = "./run.sh"\ncapabilities = {clocks = "no"}', "clocks = 'no'; it is one of true, false"),
        ("command = './run.sh'\ndescription = 'a\u202eb'", "control characters"),
        ("command = './run.sh'\ndescription = \"a\\u0000b\"", "control characters"),
        ("command = [", "bot.toml:"),
        ("a" + ".a" * 20_000 + " = 1", r"bot\.toml: a key of more than 8 parts"),
        (f"command = './run.sh'\noptions = {{a = {'1' * 5000}}}", r"bot\.toml: a name or number of more than 100"),
        ("command = './run.sh'\nCommand = 3", "choose from name, families, .*description, capabilities, author"),
        ("a = " + "[" * 5000, "bot.toml:"),
    ],
)
def test_what_is_refused(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=words):
        read(text, tmp_path)


def test_without_a_manifest(tmp_path: Path) -> None:
    contents = unpack(io.BytesIO(zipped({"run.sh": SCRIPT})), tmp_path / "new", BundleBounds())
    with pytest.raises(ManifestError, match=r"missing bot.toml in the bundle, which has run.sh"):
        read_manifest(contents)
    contents = unpack(io.BytesIO(zipped({"bot.toml/x": SCRIPT, "y": b""})), tmp_path / "two", BundleBounds())
    with pytest.raises(ManifestError, match="is a folder"):
        read_manifest(contents)
    contents = unpack(io.BytesIO(zipped({"bot.toml": b"#" * 70_000})), tmp_path / "three", BundleBounds())
    with pytest.raises(ManifestError, match="too large"):
        read_manifest(contents)
    contents = unpack(io.BytesIO(zipped({"bot.toml": b"\xff\xfe"})), tmp_path / "four", BundleBounds())
    with pytest.raises(ManifestError, match=r"bot\.toml:"):
        read_manifest(contents)
