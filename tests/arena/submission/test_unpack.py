"""Unpacking: valid archives are complete; others are refused and leave nothing."""

from __future__ import annotations

import gzip
import io
import lzma
import random
import stat
import struct
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from arena.submission.unpack import ArchiveError, BundleBounds, kind_of, unpack
from tests.arena.submission.packing import HONEST, SCRIPT, special, tarred, zipped

BOUNDS = BundleBounds(size_bytes=100_000, entries=50)


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("zip", zipped(HONEST)),
        ("zip", zipped(HONEST, compression=zipfile.ZIP_STORED)),
        ("tar", tarred(HONEST)),
        ("tar.gz", tarred(HONEST, mode="w:gz")),
        ("tar.bz2", tarred(HONEST, mode="w:bz2")),
        ("tar.xz", tarred(HONEST, mode="w:xz")),
        ("tar.zst", zstd(tarred(HONEST))),
    ],
)
def test_every_kind_of_archive(kind: str, data: bytes, tmp_path: Path) -> None:
    contents = unpack(io.BytesIO(data), tmp_path / "new", BOUNDS)
    assert (contents.kind, contents.files) == (kind, tuple(sorted(HONEST)))
    assert files_in(contents.folder) == HONEST
    assert contents.size_bytes == sum(map(len, HONEST.values()))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in contents.folder.rglob("*") if path.is_file()}
    assert modes == {"bot.toml": 0o444, "run.sh": 0o555, "weights.txt": 0o444}


@pytest.mark.parametrize(("kind", "data"), [("script", SCRIPT), ("executable", b"\x7fELF" + b"\0" * 600)])
def test_single_executables(kind: str, data: bytes, tmp_path: Path) -> None:
    contents = unpack(io.BytesIO(data), tmp_path / "new", BOUNDS)
    assert (contents.kind, contents.files) == (kind, ("bot",))
    assert (contents.folder / "bot").read_bytes() == data
    assert stat.S_IMODE((contents.folder / "bot").stat().st_mode) == 0o555


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_a_folder_packed_whole(pack: Callable[..., bytes], tmp_path: Path) -> None:
    data = pack({f"mybot-1.0/{name}": content for name, content in HONEST.items()})
    contents = unpack(io.BytesIO(data), tmp_path / "new", BOUNDS)
    assert contents.folder == tmp_path / "new" / "mybot-1.0"
    assert files_in(contents.folder) == HONEST


BY_PRODUCTS = {
    "__MACOSX/mybot/._bot.toml": b"\0\5\x16\7",
    "__MACOSX/._mybot": b"x",
    "mybot/.DS_Store": b"x",
    "mybot/data/._weights.txt": b"x",
    "mybot/data/Thumbs.db": b"x",
    "mybot/Desktop.ini": b"x",
    "mybot/Icon\r": b"",
    ".DS_Store": b"x",
    "desktop.ini": b"x",
}


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_by_products_of_macos_and_windows_are_left_out(pack: Callable[..., bytes], tmp_path: Path) -> None:
    data = pack({**BY_PRODUCTS, **{f"mybot/{name}": content for name, content in HONEST.items()}})
    contents = unpack(io.BytesIO(data), tmp_path / "new", BOUNDS)
    assert contents.folder == tmp_path / "new" / "mybot"
    assert files_in(contents.folder) == HONEST
    assert contents.files == tuple(sorted(f"mybot/{name}" for name in HONEST))


def test_folder_of_by_products_is_left_out(tmp_path: Path) -> None:
    data = tarred({"mybot/a": b"x"}, more=[special("__MACOSX/", tarfile.DIRTYPE)])
    assert unpack(io.BytesIO(data), tmp_path / "new", BOUNDS).folder.name == "mybot"


def test_files_with_similar_names_are_kept(tmp_path: Path) -> None:
    names = {".env": b"1", "thumbs.db.txt": b"2", "a._b": b"3", "MACOSX/a": b"4", "DS_Store": b"5"}
    contents = unpack(io.BytesIO(zipped(names)), tmp_path / "new", BOUNDS)
    assert files_in(contents.folder) == names


def test_names_with_dots_and_folders(tmp_path: Path) -> None:
    data = tarred(
        {"./a/./b": b"1", "c//d": b"2"}, more=[special("./e/", tarfile.DIRTYPE), special("./", tarfile.DIRTYPE)]
    )
    contents = unpack(io.BytesIO(data), tmp_path / "new", BOUNDS)
    assert files_in(contents.folder) == {"a/b": b"1", "c/d": b"2"}
    assert (contents.folder / "e").is_dir()


def sparse() -> bytes:
    entry = special("holes", tarfile.GNUTYPE_SPARSE)
    return tarred({"a": b"x"}, more=[entry])


def long_header() -> bytes:
    entry = tarfile.TarInfo("a")
    entry.pax_headers = {"comment": "x" * 200_000}
    return tarred({}, more=[entry])


def header_after_header() -> bytes:
    block = special("x", tarfile.XHDTYPE).tobuf(tarfile.USTAR_FORMAT)
    return block * 3000


def encrypted() -> bytes:
    data = bytearray(zipped({"a": b"secret"}))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def many_entries() -> bytes:
    """Return a zip file with a central directory of 6 MB."""
    one = zipped({"a": b""})
    start, end = one.index(b"PK\x01\x02"), one.index(b"PK\x05\x06")
    entry = one[start:end]
    count = 6 * 2**20 // len(entry)
    tail = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count % 65536, count % 65536, len(entry) * count, start, 0)
    return one[:start] + entry * count + tail


HOSTILE: dict[str, tuple[str, bytes]] = {
    "absolute zip": ("absolute", zipped({"/etc/passwd": b"x"})),
    "absolute tar": ("absolute", tarred({"/etc/passwd": b"x"})),
    "climbing zip": ("outside", zipped({"a/../../b": b"x"})),
    "climbing tar": ("outside", tarred({"../b": b"x"})),
    "climbing folder": ("outside", tarred({"a": b"x"}, more=[special("../c", tarfile.DIRTYPE)])),
    "windows path": ("backslash", tarred({"a\\..\\b": b"x"})),
    "control characters": ("unprintable", tarred({"a\nb": b"x"})),
    "not utf-8": ("unprintable", tarred({"a\udcff": b"x"})),
    "long name": ("too long", tarred({"x" * 300: b"x"})),
    "deep folders": ("nested deeper", zipped({"a/" * 30 + "b": b"x"})),
    "empty name": ("missing file name", zipped({"": b"x", **HONEST})),
    "empty name in tar": ("missing file name", tarred({"": b"x", **HONEST})),
    "by-products only": ("no files", zipped(BY_PRODUCTS)),
    "script behind a mark": ("byte order mark", b"\xef\xbb\xbf" + SCRIPT),
    "no name": ("missing file name", zipped({".": b"x"})),
    "twice": ("duplicate", tarred({"a": b"x", "./a": b"y"})),
    "file and folder": ("both a file and a folder", tarred({"a": b"x", "a/b": b"y"})),
    "folder and file": ("duplicate", tarred({"a/b": b"x", "a": b"y"})),
    "symbolic link": ("link; only", tarred({"a": b"x"}, more=[special("b", tarfile.SYMTYPE, "/etc/passwd")])),
    "hard link": ("link; only", tarred({"a": b"x"}, more=[special("b", tarfile.LNKTYPE, "a")])),
    "device": ("device", tarred({"a": b"x"}, more=[special("b", tarfile.CHRTYPE)])),
    "pipe": ("device", tarred({"a": b"x"}, more=[special("b", tarfile.FIFOTYPE)])),
    "link in zip": ("link; only", zipped({"b": b"/etc/passwd"}, modes={"b": stat.S_IFLNK | 0o777})),
    "device in zip": ("device", zipped({"b": b""}, modes={"b": stat.S_IFCHR | 0o666})),
    "sparse": ("unsupported header", sparse()),
    "long header": ("unsupported header", long_header()),
    "headers only": ("damaged", header_after_header()),
    "encrypted": ("encrypted", encrypted()),
    "lzma in zip": ("deflate", zipped({"a": b"x"}, compression=zipfile.ZIP_LZMA)),
    "too many entries": ("too many", many_entries()),
    "too many files": ("more than 50", zipped({f"f{number}": b"" for number in range(60)})),
    "too many folders": (
        "more than 50",
        tarred({"a": b""}, more=[special(f"d{n}", tarfile.DIRTYPE) for n in range(60)]),
    ),
    "the same folder": ("more than 100", tarred({"a": b""}, more=[special("d", tarfile.DIRTYPE)] * 200)),
    "bomb in zip": ("exceeds", zipped({"a": bytes(5_000_000)})),
    "bomb in tar": ("exceeds", gzip.compress(tarred({"a": bytes(5_000_000)}))),
    "many small bombs": ("exceeds", zipped({f"f{number}": bytes(9_000) for number in range(40)})),
    "gzip of nothing for ever": ("exceeds|damaged|no files", gzip.compress(bytes(5_000_000))),
    "xz that wants memory": (
        "damaged",
        lzma.compress(tarred(HONEST), filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 512 * 2**20, "preset": 0}]),
    ),
    "nothing in it": ("no files", zipped({})),
    "folders only": ("no files", tarred({}, more=[special("a", tarfile.DIRTYPE)])),
    "text": ("neither an archive nor", b"hello world\n" * 100),
    "nothing": ("neither an archive nor", b""),
    "cut zip": ("damaged", zipped(HONEST)[:-30]),
    "cut tar": ("damaged", tarred({"a": random.Random(1).randbytes(5000)}, mode="w:gz")[:3000]),
    "plain gzip": ("damaged", gzip.compress(b"hello world\n" * 100)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives(name: str, tmp_path: Path) -> None:
    words, data = HOSTILE[name]
    begin = time.process_time()
    with pytest.raises(ArchiveError, match=words):
        unpack(io.BytesIO(data), tmp_path / "new", BOUNDS)
    assert time.process_time() - begin < 20
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("pack", ["zip", "tar", "tar.gz", "tar.bz2", "tar.xz", "tar.zst"])
def test_damaged_archives(pack: str, tmp_path: Path) -> None:
    """Any bytes are unpacked within the limits or refused with ArchiveError."""
    dice = random.Random(pack)
    source = {
        "zip": zipped(HONEST),
        "tar": tarred(HONEST),
        "tar.gz": tarred(HONEST, mode="w:gz"),
        "tar.bz2": tarred(HONEST, mode="w:bz2"),
        "tar.xz": tarred(HONEST, mode="w:xz"),
        "tar.zst": zstd(tarred(HONEST)),
    }[pack]
    for number in range(300):
        data = bytearray(source)
        for _ in range(dice.randint(1, 6)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        if dice.random() < 0.3:
            del data[dice.randrange(len(data)) :]
        target = tmp_path / str(number)
        try:
            contents = unpack(io.BytesIO(bytes(data)), target, BOUNDS)
        except ArchiveError:
            assert not target.exists()
        else:
            assert contents.size_bytes <= BOUNDS.size_bytes
            assert all(path.resolve().is_relative_to(target) for path in target.rglob("*"))


def test_kind_of_leaves_the_file_at_its_begin() -> None:
    file = io.BytesIO(SCRIPT)
    assert kind_of(file) == "script"
    assert file.tell() == 0
