"""The bundle store and its unpacked copies."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from arena.errors import StoreUnavailableError
from arena.submission.bundle_store import BundleError, BundleStore
from arena.submission.unpack import BundleBounds
from referee.game.spec import BotSpec, GameSpec, PlannedGame
from tests.arena.submission.packing import HONEST, SCRIPT, zipped

ZIP = zipped(HONEST)
DIGEST = hashlib.sha256(ZIP).hexdigest()


@pytest.fixture(params=["folder", "memory"])
def bundles(request: pytest.FixtureRequest, tmp_path: Path) -> BundleStore:
    url = str(tmp_path / "store") if request.param == "folder" else f"memory://{tmp_path.name}-{time.monotonic_ns()}"
    return BundleStore(url, tmp_path / "unpacked")


@pytest.fixture
def local(tmp_path: Path) -> BundleStore:
    return BundleStore(str(tmp_path / "store"), tmp_path / "unpacked")


def stored(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_stored_once_and_given_back(bundles: BundleStore, tmp_path: Path) -> None:
    assert not bundles.has(DIGEST)
    assert bundles.put(io.BytesIO(ZIP), DIGEST)
    assert not bundles.put(io.BytesIO(ZIP), DIGEST)
    assert bundles.has(DIGEST)
    target = io.BytesIO()
    assert bundles.fetch(DIGEST, target) == len(ZIP)
    assert target.getvalue() == ZIP
    folder = bundles.folder(DIGEST)
    assert (folder / "data" / "weights.txt").read_bytes() == b"1 2 3"
    assert os.access(folder / "run.sh", os.X_OK)
    assert bundles.folder(DIGEST) == folder


def test_names_are_digests(bundles: BundleStore) -> None:
    for name in ("", "../../etc/passwd", DIGEST.upper(), DIGEST + "0"):
        with pytest.raises(BundleError, match="invalid bundle name"):
            bundles.has(name)
        with pytest.raises(BundleError, match="invalid bundle name"):
            bundles.folder(name)
    with pytest.raises(BundleError, match="not in the store"):
        bundles.folder(DIGEST)


def test_a_damaged_bundle_is_never_unpacked(local: BundleStore, tmp_path: Path) -> None:
    local.put(io.BytesIO(ZIP), DIGEST)
    (tmp_path / "store" / DIGEST[:2] / DIGEST).write_bytes(ZIP[:-1])
    with pytest.raises(BundleError, match="damaged"):
        local.folder(DIGEST)
    assert stored(tmp_path / "unpacked") == []


def test_a_copy_that_was_changed_is_unpacked_again(local: BundleStore, tmp_path: Path) -> None:
    local.put(io.BytesIO(ZIP), DIGEST)
    folder = local.folder(DIGEST)
    (folder / "run.sh").chmod(0o755)
    (folder / "run.sh").write_bytes(b"#!/bin/sh\necho changed\n")
    again = BundleStore(str(tmp_path / "store"), tmp_path / "unpacked")
    assert (again.folder(DIGEST) / "run.sh").read_bytes() == SCRIPT
    (again.folder(DIGEST) / "more").write_bytes(b"x")
    again = BundleStore(str(tmp_path / "store"), tmp_path / "unpacked")
    assert not (again.folder(DIGEST) / "more").exists()
    assert [path.name for path in (tmp_path / "unpacked").glob("work-*")] == []


def test_concurrent_fetches_unpack_once(local: BundleStore, tmp_path: Path) -> None:
    local.put(io.BytesIO(ZIP), DIGEST)
    others = [BundleStore(str(tmp_path / "store"), tmp_path / "unpacked") for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        folders = set(pool.map(lambda bundles: bundles.folder(DIGEST), others))
    assert len(folders) == 1
    assert [path.name for path in (tmp_path / "unpacked").iterdir()] == [DIGEST[:2]]


def test_concurrent_puts_store_one_bundle(local: BundleStore, tmp_path: Path) -> None:
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: local.put(io.BytesIO(ZIP), DIGEST), range(6)))
    assert stored(tmp_path / "store") == [f"{DIGEST[:2]}/{DIGEST}"]


def test_an_upload_that_fails_leaves_nothing(local: BundleStore, tmp_path: Path) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(StoreUnavailableError, match="the disk of the server is full"):
        local.put(Broken(), DIGEST)
    assert stored(tmp_path / "store") == []
    assert not local.has(DIGEST)


def test_room_is_made_for_what_is_used(tmp_path: Path) -> None:
    bundles = BundleStore(str(tmp_path / "store"), tmp_path / "unpacked", cache_bytes=2500)
    digests = []
    for number in range(4):
        data = zipped({**HONEST, "big": b"x" * 900, "number": str(number).encode()})
        digests.append(hashlib.sha256(data).hexdigest())
        bundles.put(io.BytesIO(data), digests[-1])
        folder = bundles.folder(digests[-1])
        listing = next(parent / "files.json" for parent in folder.parents if (parent / "files.json").exists())
        os.utime(listing, (0, time.time() - 86400 * (10 - number)))
    kept = {path.name for path in (tmp_path / "unpacked").glob("*/*")}
    assert kept == set(digests[2:])
    assert (bundles.folder(digests[0]) / "big").exists()  # fetched again
    recent = BundleStore(str(tmp_path / "store"), tmp_path / "unpacked", cache_bytes=1)
    for digest in digests:
        recent.folder(digest)
    assert len(list((tmp_path / "unpacked").glob("*/*"))) == 4  # all in use


def test_sweep_keeps_what_versions_use(bundles: BundleStore) -> None:
    other = hashlib.sha256(SCRIPT).hexdigest()
    bundles.put(io.BytesIO(ZIP), DIGEST)
    bundles.put(io.BytesIO(SCRIPT), other)
    assert bundles.sweep(lambda: {DIGEST}) == 0  # too young: it may be on its way into a version
    assert bundles.sweep(lambda: {DIGEST}, at=time.time() + 2 * 86400) == 1
    assert bundles.has(DIGEST)
    assert not bundles.has(other)


def test_sweep_of_a_missing_store_removes_nothing(bundles: BundleStore) -> None:
    assert bundles.sweep(set) == 0


def test_put_renews_the_age_of_a_bundle(tmp_path: Path) -> None:
    bundles = BundleStore(str(tmp_path / "store"), tmp_path / "unpacked")
    bundles.put(io.BytesIO(ZIP), DIGEST)
    assert bundles.put(io.BytesIO(ZIP), DIGEST) is False
    stored = tmp_path / "store" / DIGEST[:2] / DIGEST
    os.utime(stored, (0, 0))
    assert bundles.put(io.BytesIO(ZIP), DIGEST) is True
    assert bundles.sweep(set) == 0
    assert bundles.has(DIGEST)


def test_resolve_replaces_bundle_and_python(local: BundleStore) -> None:
    local.put(io.BytesIO(ZIP), DIGEST)
    bundled = BotSpec("zeta v1", ("./run.sh",), bundle=DIGEST)
    sample = BotSpec("greedy v1", ("python", "-m", "bots.samples.greedy", "--family", "loa"))
    plain = BotSpec("x", ("/usr/bin/true",))
    planned = PlannedGame.of(GameSpec("loa", "standard", bundled, sample))
    resolved = local.resolve_game(planned)
    assert resolved.id == planned.id
    game = resolved.spec
    assert game.first.folder == str(local.folder(DIGEST))
    assert game.second.command == (sys.executable, *sample.command[1:])
    assert local.resolve(plain) == plain


def test_what_a_bundle_says_of_itself_is_not_read_again(local: BundleStore) -> None:
    content = zipped({"bot.toml": b"a" + b".a" * 20_000 + b" = 1", "run.txt": b"exit 0"})
    digest = hashlib.sha256(content).hexdigest()
    local.put(io.BytesIO(content), digest)
    spec = local.resolve(BotSpec("zeta v1", ("./run.txt", "../../x"), bundle=digest))
    assert os.access(Path(spec.folder or "") / "run.txt", os.X_OK), "archives of other systems know no executables"
    outside = BotSpec("zeta v1", ("../../files.json",), bundle=digest)
    assert not os.access(Path(local.resolve(outside).folder or "") / "../files.json", os.X_OK)


def test_a_bundle_beyond_the_bounds(tmp_path: Path) -> None:
    bundles = BundleStore(str(tmp_path / "store"), tmp_path / "unpacked", bounds=BundleBounds(10, 10))
    bundles.put(io.BytesIO(ZIP), DIGEST)
    with pytest.raises(BundleError, match="cannot be unpacked"):
        bundles.folder(DIGEST)


def test_damaged_listing_is_rebuilt(local: BundleStore) -> None:
    local.put(io.BytesIO(ZIP), DIGEST)
    folder = local.folder(DIGEST)
    for text in ("{", "[]", json.dumps({"files": 3}), "null"):
        (folder.parent / "files.json").write_text(text)
        again = BundleStore(local._root, local._cache)
        assert (again.folder(DIGEST) / "run.sh").exists()


def test_unusable_store_url_raises_bundle_error(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="cannot use"):
        BundleStore("nosuch://x", tmp_path)
