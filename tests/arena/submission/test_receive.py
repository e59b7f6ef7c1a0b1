"""Uploads up to the version that waits for its check."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from arena.documents.account import Identity
from arena.errors import ConflictError, QuotaError, StoreUnavailableError
from arena.store import Store
from arena.store.base.tables.bots import Version
from arena.store.bots.versions import bot_spec
from arena.submission.bundle_store import BundleStore
from arena.submission.receive import NotYoursError, Quota, SubmissionError, TooLargeError, receive
from referee.bot.file import read_bot_file, read_local_bot
from tests.arena.submission.packing import HONEST, SCRIPT, tarred, zipped
from tests.arena.submission.test_manifest import EVERYTHING, FILES


@pytest.fixture
def store(sqlite_store: Store) -> Store:
    return sqlite_store


@pytest.fixture
def bundles(tmp_path: Path) -> BundleStore:
    return BundleStore(str(tmp_path / "store"), tmp_path / "unpacked")


Send = Callable[..., Version]


@pytest.fixture
def send(store: Store, bundles: BundleStore) -> Send:
    users = {name: Identity(store.users.add(name).id or 0, name, "author", frozenset()) for name in ("zoe", "ada")}

    def submit(data: bytes, name: str = "zeta", families: tuple[str, ...] = ("loa",), by: str = "zoe", **more: object):  # type: ignore[no-untyped-def]
        stream = more.pop("stream", None) or io.BytesIO(data)
        return receive(store, bundles, stream, name=name, families=families, user=users[by], **more)  # type: ignore[arg-type]

    return submit


def left(tmp_path: Path) -> list[str]:
    """Return every file in the bundle store and the work folder."""
    return [str(path) for folder in ("store", "unpacked") for path in (tmp_path / folder).rglob("*") if path.is_file()]


def test_a_script_becomes_a_version(store: Store, send: Send, tmp_path: Path) -> None:
    version = send(SCRIPT)
    digest = hashlib.sha256(SCRIPT).hexdigest()
    assert (version.name, version.state, version.bundle, version.size_bytes) == (
        "zeta v1",
        "uploaded",
        digest,
        len(SCRIPT),
    )
    assert version.bot_file.command == ("./bot",)
    assert version.id is not None
    assert store.versions.families(version.id) == {"loa": ()}
    assert [Path(path).name for path in left(tmp_path)] == [digest]


def test_receive_reads_name_and_families_of_the_manifest(store: Store, send: Send) -> None:
    files = {
        **HONEST,
        "bot.toml": b'name = "eta"\nfamilies = ["loa", "tablut"]\ncommand = "./run.sh"\noptions = {a = 1}',
    }
    version = send(zipped(files), name="", families=())
    assert (version.name, version.bot_file.command, version.bot_file.options) == ("eta v1", ("./run.sh",), {"a": "1"})
    assert version.id is not None
    assert set(store.versions.families(version.id)) == {"loa", "tablut"}
    given = send(zipped({**files, "more": b"x"}), name="theta", families=("loa",))
    assert given.id is not None
    assert (given.name, set(store.versions.families(given.id))) == ("theta v1", {"loa"})


def test_every_key_of_a_bots_file_is_kept_and_passed_to_the_bot_as_on_the_authors_machine(
    store: Store, bundles: BundleStore, send: Send, tmp_path: Path
) -> None:
    version = send(zipped({**FILES, "bot.toml": EVERYTHING.encode()}), name="", families=())
    folder = bundles.folder(version.bundle)
    written, bot = read_bot_file(folder), store.bots.find("zeta")
    assert store.versions.get(version.id or 0).bot_file == written
    assert (bot.name, bot.description) == (written.name, written.description)
    assert tuple(store.versions.families(version.id or 0)) == written.families
    assert store.versions.of_bot(bot.id)[0].remarks == written.remarks
    here, there = read_local_bot(folder, "loa"), bundles.resolve(bot_spec(version, "loa"))
    of_upload = {name: getattr(there, name) for name in ("name", "version", "bundle", "capabilities")}
    assert there == replace(here, **of_upload)


def test_receive_makes_a_name_of_the_title_in_the_file(send: Send) -> None:
    text = 'name = "Zoë: Début 2.0"\ncommand = "./run.sh"'
    assert send(zipped({**HONEST, "bot.toml": text.encode()}), name="").name == "zoe-debut-2-0 v1"
    with pytest.raises(SubmissionError, match=r"missing bot name: give one, or add name to bot\.toml"):
        send(zipped({**HONEST, "bot.toml": 'name = "象棋"\ncommand = "./run.sh"'.encode()}), name="")


def test_a_time_control_says_at_what_pace_it_is_checked(send: Send) -> None:
    assert send(SCRIPT).bot_file.limits == {}
    assert send(SCRIPT + b"#2", tc="5/move").bot_file.limits == {"move_ms": 5000}
    assert send(SCRIPT + b"#3", tc="10+0.1").bot_file.limits == {"move_ms": 350}
    files = {**HONEST, "bot.toml": b'command = "./run.sh"\nlimits = {move_ms = 900, processes = 2}'}
    assert send(zipped(files)).bot_file.limits == {"move_ms": 900, "processes": 2}
    assert send(zipped({**files, "more": b"x"}), tc="1/move").bot_file.limits == {"move_ms": 1000, "processes": 2}
    for tc in ("depth:3", "soon"):
        with pytest.raises(SubmissionError, match=r"5/move|time control"):
            send(SCRIPT + b"#4", tc=tc)


def test_the_next_version(store: Store, send: Send) -> None:
    assert send(SCRIPT).number == 1
    assert send(SCRIPT + b"#2").number == 2
    with pytest.raises(ConflictError, match="duplicate bundle: zeta v1"):
        send(SCRIPT)
    version = store.checks.claim()
    assert version is not None
    assert version.id is not None
    store.checks.conclude(version.id, report={}, variants={}, capabilities={}, problem="no answer")
    assert send(SCRIPT).number == 3  # one that failed may be tried again


@pytest.mark.parametrize(
    ("data", "more", "words"),
    [
        (b"", {}, "empty"),
        (b"hello", {}, "neither an archive nor"),
        (SCRIPT, {"families": ()}, "missing families"),
        (SCRIPT, {"families": ("chess",)}, "unknown family 'chess'"),
        (SCRIPT, {"name": ""}, "missing bot name"),
        (zipped({"run.sh": SCRIPT}), {}, "missing bot.toml"),
        (tarred({"../x": SCRIPT}), {}, "outside the bundle"),
    ],
)
def test_what_is_refused_leaves_nothing(
    data: bytes, more: dict[str, object], words: str, store: Store, send: Send, tmp_path: Path
) -> None:
    with pytest.raises(SubmissionError, match=words):
        send(data, **more)
    assert left(tmp_path) == []
    assert store.bots.page().items == []


def test_bad_names(send: Send) -> None:
    for name in ("Zeta", "z/../x", "z" * 50):
        with pytest.raises(ValueError, match="lower-case"):
            send(SCRIPT, name=name)


def test_an_upload_that_cannot_be_read_leaves_nothing(store: Store, send: Send, tmp_path: Path) -> None:
    class Cut(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell() > 1000:
                raise OSError("the disk is gone")
            return super().read(size)

    with pytest.raises(StoreUnavailableError):
        send(b"", stream=Cut(b"#!" + b"x" * 10**6))
    assert left(tmp_path) == []
    assert store.bots.page().items == []
    assert list((tmp_path / "unpacked").iterdir()) == []


def test_limits(store: Store, send: Send, tmp_path: Path) -> None:
    with pytest.raises(TooLargeError, match="at most 20 bytes"):
        send(SCRIPT + b"#" * 100, quota=Quota(upload_bytes=20))
    assert left(tmp_path) == []
    quota = Quota(bots=1, versions=2, size_bytes=2 * len(SCRIPT) + 5)
    send(SCRIPT, quota=quota)
    with pytest.raises(QuotaError, match="maximum of 1 bots"):
        send(SCRIPT, name="other", quota=quota)
    with pytest.raises(QuotaError, match="exceed"):
        send(SCRIPT + b"#" * 10, quota=quota)
    send(SCRIPT + b"#2", quota=quota)
    with pytest.raises(QuotaError, match="you have 2 versions"):
        send(SCRIPT + b"#3", quota=quota)
    with pytest.raises(QuotaError, match="you have 2 versions"):
        send(SCRIPT, name="other", quota=replace(quota, bots=2))
    assert [bot.name for bot in store.bots.page().items] == ["zeta"]
    assert len(left(tmp_path)) == 2


def test_receive_refuses_bots_of_others_and_retired_ones(store: Store, send: Send, tmp_path: Path) -> None:
    send(SCRIPT)
    with pytest.raises(NotYoursError, match="another user"):
        send(SCRIPT + b"#2", by="ada")
    assert send(SCRIPT, name="mine", by="ada").bundle == hashlib.sha256(SCRIPT).hexdigest()
    assert len(left(tmp_path)) == 1  # the same content is stored once
    assert store.versions.bundles() == {hashlib.sha256(SCRIPT).hexdigest()}
    store.bots.retire(store.bots.find("zeta").id or 0)
    with pytest.raises(ConflictError, match="retired"):
        send(SCRIPT + b"#3")
