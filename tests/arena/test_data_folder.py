"""Data folders are private: bots at no confining sandbox level can read them."""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from arena import data_folder
from arena.__main__ import main
from arena.config_file import read_settings
from arena.data_folder import exposed, make_file, make_folder
from arena.submission.bundle_store import BundleStore
from referee.game.spec import BotSpec, GameSpec, PlannedGame
from referee.play.play import play
from referee.sandbox import open_sandbox
from tests.arena.submission.packing import zipped
from tests.badbots import match
from tests.referee.sandbox.conftest import ATTACKS, LIMITS, is_root
from tests.referee.sandbox.levels import working
from tests.referee.sandbox.test_landlock import HONEST, PYTHON


@pytest.fixture
def home() -> Iterator[Path]:
    """Return a world-readable folder with the path of a data folder to be created, under a permissive umask."""
    before = os.umask(0)
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("is_root", [False, True])
def test_folders_and_files_are_private(is_root: bool, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_folder, "is_passed_through", lambda: is_root)
    make_folder(home / "data" / "unpacked", is_passage=True)
    make_folder(home / "data" / "deep" / "incoming")
    make_file(home / "data" / "file")
    passage = 0o711 if is_root else 0o700
    assert [mode(home / "data" / name) for name in (".", "unpacked", "deep", "deep/incoming", "file")] == [
        *(passage, passage, 0o700, 0o700),
        0o600,
    ]
    make_folder(home)
    assert mode(home) == 0o755, "what is there stays as it is"
    assert list(exposed(home / "data")) == []
    (home / "data" / "file").chmod(0o644)
    assert list(exposed(home / "data")) == ([home / "data" / "file"] if is_root else [])
    (home / "data").chmod(0o755)
    assert list(exposed(home / "data")) == [home / "data"]
    with pytest.raises(FileExistsError):
        make_folder(home / "data" / "file")


def test_bots_cannot_read_the_database_the_settings_or_other_bundles(
    home: Path,
) -> None:
    data = home / "data"
    assert main(["init", "--data", str(data)]) == 0
    bundles = BundleStore.of(read_settings(data=data))
    kept = [bundles.folder(stored(bundles, f"print({number})")) for number in range(2)]
    own, other = kept
    secrets = [data, data / "arena.sqlite3", data / "arena.toml", data / "unpacked"]
    secrets += [other.parent, other.parent / "files.json", other, other / "bot.py"]
    secrets += [data / "bundles", *(path for path in (data / "bundles").rglob("*") if path.is_file())]
    command = (str(PYTHON), "-S", "-E", "files.py", *map(str, secrets))
    assert len(other.name) > 32, "to a bot that sees all files it is hidden by a name that cannot be guessed"
    hidden = {str(other), str(other / "bot.py")}
    # At the weaker levels bots run as the user of the arena, unless they have their own user.
    levels = working("bwrap", "landlock", *(["rlimits"] if is_root() else []))
    assert mode(data) == (0o711 if is_root() else 0o700)
    for level in levels:
        spec = GameSpec(
            "loa",
            "standard",
            BotSpec("files", command, str(own)),
            BotSpec("honest", ("/bin/sh", "honest.sh"), str(own)),
            limits=LIMITS,
        )
        with match.roster(open_sandbox(level)) as roster:
            record = play(PlannedGame.of(spec), roster)
        assert record.termination == "resigned", (level, record.detail, record.logs)
        tried = json.loads(record.logs["first"].splitlines()[0])["found"]
        seen = {path for path in map(str, secrets) if tried[path].startswith("done")}
        assert seen <= (hidden if level == "rlimits" else set()), level


def stored(bundles: BundleStore, text: str) -> str:
    """Store a bundle with the attackers and an honest bot; return its digest."""
    manifest = 'families = ["loa"]\ncommand = ["python3", "bot.py"]\n'
    files = {"bot.toml": manifest.encode(), "bot.py": text.encode(), "deep/file": b"1"}
    files |= {path.name: path.read_bytes() for path in (*ATTACKS.glob("*.py"), Path(HONEST.command[1]))}
    packed = zipped(files)
    digest = sha256(packed).hexdigest()
    bundles.put(io.BytesIO(packed), digest)
    return digest
