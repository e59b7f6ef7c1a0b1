"""Content-addressed store of bot bundles (a folder, or any fsspec file system), and a cache of unpacked copies.

A bundle is the unchanged upload, named by its SHA-256. Every copy read from the store is verified against its name.
Each process verifies an unpacked copy once before it uses it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import fsspec  # type: ignore[import-untyped]
from fsspec.core import url_to_fs  # type: ignore[import-untyped]
from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped]

from arena.data_folder import file_digest, make_file, make_folder
from arena.errors import StorageError, StoreUnavailableError, storage_problem
from arena.submission.unpack import SINGLE, ArchiveError, BundleBounds, Contents, unpack
from referee.bot.bridge import FAMILY
from referee.bot.command import BotFileError, programs_of
from referee.bot.file import FILE, BotFile, read_bot_file

if TYPE_CHECKING:
    from arena.config import Settings
    from referee.game.spec import BotSpec, PlannedGame

_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_CHUNK = 1024 * 1024
_IN_USE_S = 6 * 3600
"""Unpacked bundles used within this time are never removed."""
_STALE_S = 24 * 3600
"""Age from which remains of an interrupted upload or unpacking are removed."""


class BundleError(Exception):
    """A bundle that is missing from the store or damaged, through no fault of the bot."""


class BundleStore:
    """The store at `url` (a path, or an fsspec URL with `options`) and the unpacked copies below `cache`."""

    def __init__(
        self,
        url: str,
        cache: Path,
        *,
        options: Mapping[str, Any] | None = None,
        bounds: BundleBounds | None = None,
        cache_bytes: int = 4 * 2**30,
    ) -> None:
        try:
            self._fs, self._root = _open(url, dict(options or {}))
        except (ImportError, ValueError) as error:
            raise BundleError(f"cannot use the bundle store {url!r}: {error}") from None
        self._cache = cache
        self._cache_bytes = cache_bytes
        self.bounds = bounds or BundleBounds()
        self._sound: set[str] = set()

    @classmethod
    def of(cls, settings: Settings) -> BundleStore:
        return cls(
            settings.bundles_url,
            settings.data / "unpacked",
            options=settings.bundle_options,
            bounds=BundleBounds(settings.max_bundle_bytes, settings.max_bundle_files),
            cache_bytes=settings.bundle_cache_max_bytes,
        )

    # -- the store ---------------------------------------------------------------------------------------------------

    def has(self, digest: str) -> bool:
        """Return whether a bundle is stored. Raises StoreUnavailableError."""
        with _reachable():
            return bool(self._fs.exists(self._path(digest)))

    def put(self, file: BinaryIO, digest: str) -> bool:
        """Store an upload under its SHA-256 atomically; return False if it was stored already.

        An old copy is stored again, because `sweep` might be about to remove it.
        """
        path = self._path(digest)
        with _reachable():
            if self._fs.exists(path) and _age(self._fs, path, self._fs.info(path)) > time.time() - _STALE_S / 2:
                return False
        incoming = f"{self._root}/incoming/{uuid.uuid4().hex}"
        # The caller has read the file to its end, for the digest.
        file.seek(0)
        with _reachable():
            for folder in (os.path.dirname(incoming), os.path.dirname(path)):
                if isinstance(self._fs, LocalFileSystem):
                    make_folder(Path(folder))
                else:
                    self._fs.makedirs(folder, exist_ok=True)
            try:
                with self._fs.open(incoming, "wb") as target:
                    shutil.copyfileobj(file, target, _CHUNK)
                self._fs.mv(incoming, path)
            except BaseException:
                with contextlib.suppress(OSError):
                    self._fs.rm(incoming)
                raise
        return True

    def fetch(self, digest: str, target: BinaryIO) -> int:
        """Copy a bundle into a file, verify it and return its size. Raises BundleError, StoreUnavailableError."""
        total, size = hashlib.sha256(), 0
        try:
            for chunk in self.chunks(digest):
                total.update(chunk)
                size += len(chunk)
                target.write(chunk)
        except FileNotFoundError:
            raise BundleError(f"bundle {digest} is not in the store") from None
        if total.hexdigest() != digest:
            raise BundleError(f"bundle {digest} is damaged: the SHA-256 of its content is {total.hexdigest()}")
        return size

    def chunks(self, digest: str) -> Iterator[bytes]:
        """Yield the content of a bundle, unverified. Raises FileNotFoundError, BundleError, StoreUnavailableError."""
        with _reachable(), self._fs.open(self._path(digest), "rb") as source:
            while chunk := source.read(_CHUNK):
                yield chunk

    def sweep(self, known: Callable[[], Iterable[str]], at: float | None = None) -> int:
        """Remove bundles older than a day that no version uses, and remains of interrupted uploads. Return their
        number.

        `known` returns the bundles in use. It is called after the candidates are listed, so that a new bundle is not
        removed.
        """
        limit, strays = (at or time.time()) - _STALE_S, []
        with _reachable():
            for path, info in self._fs.find(self._root, detail=True).items():
                is_ours = "/incoming/" in path or _DIGEST.fullmatch(os.path.basename(path)) is not None
                if is_ours and _age(self._fs, path, info) < limit:
                    strays.append(path)
        used = set(known())
        with _reachable():
            strays = [path for path in strays if os.path.basename(path) not in used]
            for path in strays:
                self._fs.rm(path)
        return len(strays)

    def _path(self, digest: str) -> str:
        if not _DIGEST.fullmatch(digest):
            raise BundleError(f"invalid bundle name {digest[:80]!r}: expected a SHA-256")
        return f"{self._root}/{digest[:2]}/{digest}"

    # -- unpacked copies ---------------------------------------------------------------------------------------------

    def folder(self, digest: str) -> Path:
        """Return the folder of the unpacked bundle. The bundle is fetched, verified and unpacked if needed.

        Raises BundleError, StoreUnavailableError.
        """
        if not _DIGEST.fullmatch(digest):
            raise BundleError(f"invalid bundle name {digest[:80]!r}: expected a SHA-256")
        place = self._cache / digest[:2] / digest
        listing = place / "files.json"
        with _reachable():
            if digest not in self._sound and place.exists() and not _is_sound(place):
                _remove(place)
            if not place.exists():
                self._unpack(digest, place)
                self._make_room(place)
            self._sound.add(digest)
            # The time of the last use, by which `_make_room` chooses.
            os.utime(listing)
            contents = json.loads(listing.read_text(encoding="utf-8"))
            return place / str(contents.get("folder", "files")) / str(contents["root"])

    @contextlib.contextmanager
    def workspace(self) -> Iterator[Path]:
        """Create a temporary folder and remove it afterwards. Folders of killed processes are removed within days."""
        work = self._cache / f"work-{uuid.uuid4().hex}"
        make_folder(work, is_passage=True)
        try:
            yield work
        finally:
            _remove(work)

    def _unpack(self, digest: str, place: Path) -> None:
        with self.workspace() as work:
            files = work / f"files-{uuid.uuid4().hex}"  # bots of other users cannot guess the name
            try:
                with tempfile.TemporaryFile(dir=work) as file:
                    self.fetch(digest, file)
                    contents = unpack(file, files, self.bounds)
            except ArchiveError as error:
                raise BundleError(f"bundle {digest} cannot be unpacked: {error}") from None
            listing = {
                "folder": files.name,
                "root": str(contents.folder.relative_to(files)),
                "size_bytes": contents.size_bytes,
                "files": {name: file_digest(files / name) for name in contents.files},
            }
            make_file(work / "files.json")
            (work / "files.json").write_text(json.dumps(listing), encoding="utf-8")
            make_folder(place.parent, is_passage=True)
            try:
                work.rename(place)
            except OSError:
                if not place.exists():  # otherwise another process has unpacked the same bundle
                    raise

    def _make_room(self, keep: Path) -> None:
        """Remove the least recently used copies while all together exceed the size of the cache."""
        now, copies = time.time(), []
        # Match only the two-letter folders: work folders of other processes vanish during the walk.
        for listing in self._cache.glob("??/*/files.json"):
            with contextlib.suppress(OSError, ValueError):
                size = int(json.loads(listing.read_text(encoding="utf-8"))["size_bytes"])
                copies.append((listing.stat().st_mtime, size, listing.parent))
        for stray in self._cache.glob("work-*"):
            with contextlib.suppress(OSError):
                if stray.stat().st_mtime < now - _STALE_S:
                    _remove(stray)
        total = sum(size for _, size, _ in copies)
        for used, size, place in sorted(copies):
            # The copies are in the order of their last use: all that follow were used even later.
            if total <= self._cache_bytes or used > now - _IN_USE_S:
                break
            if place != keep:
                _remove(place)
                total -= size

    # -- for the referee ---------------------------------------------------------------------------------------------

    def resolve(self, spec: BotSpec) -> BotSpec:
        """Return the bot with its folder on this machine. `python` of a sample bot becomes this interpreter.

        Raises BundleError, StoreUnavailableError.
        """
        if spec.bundle:
            folder = self.folder(spec.bundle) / (spec.folder or "")
            for program in programs_of(spec.command):
                make_executable(folder, program)
            return replace(spec, folder=str(folder))
        if spec.command[:1] == ("python",):
            return replace(spec, command=(sys.executable, *spec.command[1:]))
        return spec

    def resolve_game(self, game: PlannedGame) -> PlannedGame:
        """Return the game with both of its bots resolved, see `resolve`."""
        spec = game.spec
        return replace(game, spec=replace(spec, first=self.resolve(spec.first), second=self.resolve(spec.second)))


def _open(url: str, options: dict[str, Any]) -> tuple[Any, str]:
    fs, root = url_to_fs(url, **options)
    assert isinstance(fs, fsspec.AbstractFileSystem)
    return fs, root.rstrip("/")


@contextlib.contextmanager
def _reachable() -> Any:
    """Convert errors of disks and networks to StoreUnavailableError; FileNotFoundError is passed on."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if problem := storage_problem(error):
            raise StorageError(f"{problem}: no bundle can be stored") from error
        raise StoreUnavailableError(f"the bundle store is unavailable: {error.strerror or error}") from error


def _age(fs: Any, path: str, info: Mapping[str, Any]) -> float:
    # Each file system of fsspec has its own name for the time.
    for key in ("mtime", "LastModified", "last_modified", "created"):
        if (value := info.get(key)) is not None:
            return float(value.timestamp() if hasattr(value, "timestamp") else value)
    return float(fs.modified(path).timestamp())


def _is_sound(place: Path) -> bool:
    """Return whether an unpacked copy is intact: the same files with the same contents and no others."""
    try:
        listing = json.loads((place / "files.json").read_text(encoding="utf-8"))
        files: dict[str, str] = listing["files"]
        root = place / listing.get("folder", "files")
        present = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_symlink() or not path.is_dir()}
        return present == set(files) and all(file_digest(root / name) == digest for name, digest in files.items())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _remove(folder: Path) -> None:
    """Remove a folder. It is renamed first, so that no other process uses it half-removed."""
    gone = folder.with_name(f"work-gone-{uuid.uuid4().hex}") if not folder.name.startswith("work-") else folder
    with contextlib.suppress(FileNotFoundError):
        if gone is not folder:
            # Next to the workspaces: what a killed process leaves there is removed with them.
            gone = folder.parent.parent / gone.name
            folder.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


def read_manifest(contents: Contents) -> BotFile:
    """Read the bot's file of an unpacked bundle; a single executable needs none. Raises BotFileError.

    It is read once, at the upload, and stored with the version. A bridge in its command is replaced by the command that
    runs the bridge, and the bundle's programs become executable.
    """
    if contents.kind in ("executable", "script"):
        return BotFile((f"./{SINGLE}",))
    if not (contents.folder / FILE).exists():
        seen = ", ".join(contents.files[:5])
        raise BotFileError(f"missing {FILE} in the bundle, which has {seen}; add one with a command")
    bot = read_bot_file(contents.folder, contents.folder)
    command = bot.command_for(FAMILY)
    for program in programs_of(command):
        make_executable(contents.folder / bot.folder, program)
    return replace(bot, command=command)


def make_executable(folder: Path, program: str) -> None:
    """Make the bundle's program executable: archives from other systems may lack the permission."""
    target = (folder / program).resolve()
    if target.is_relative_to(folder.resolve()) and target.is_file() and not target.stat().st_mode & 0o100:
        target.chmod(0o555)
