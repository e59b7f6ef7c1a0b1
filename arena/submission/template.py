"""Templates of bots: the files of each language, also as archives, and a bundle made from one Python file.

A template plays every family: it has the rules from `bots.sdk`, or its legal moves from the referee.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from arena.errors import NotFoundError
from referee.bot.file import FILE
from referee.families import folder_of

LANGUAGES: Mapping[str, str] = {
    "python": "Python (bots.sdk)",
    "python-plain": "Python",
    "c": "C",
    "cpp": "C++",
    "java": "Java",
    "javascript": "JavaScript",
    "rust": "Rust",
    "go": "Go",
}
"""The languages that have a template, with their titles."""
SOURCE = "my_bot.py"
MAX_SOURCE = 20_000
"""Maximum number of characters of a bot written on a page."""


_FAMILY_LINE = re.compile(rb'^(FAMILY = |families = \[")\w+', re.MULTILINE)
"""Where a `Makefile` and a `bot.toml` name the family."""


def _folder(language: str) -> Path:
    return folder_of("bots") / "examples" / language


def template_files(language: str, family: str = "") -> dict[str, bytes]:
    """Return the contents of a template's files by name, for this family or the template's own.

    Raises NotFoundError for an unknown language.
    """
    if language not in LANGUAGES:
        raise NotFoundError("template", language, list(LANGUAGES))
    files = {path.name: path.read_bytes() for path in sorted(_folder(language).iterdir()) if path.is_file()}
    if not family:
        return files
    return {name: _FAMILY_LINE.sub(rb"\g<1>" + family.encode(), data) for name, data in files.items()}


def mode_of(data: bytes) -> int:
    """Return the permissions of a file of a template: a script with a `#!` line can be run."""
    return 0o755 if data.startswith(b"#!") else 0o644


@cache
def python_source() -> str:
    return (_folder("python") / SOURCE).read_text(encoding="utf-8")


@cache
def archive(language: str) -> bytes:
    """Return the template of a language as a zip archive. Raises NotFoundError."""
    return _zipped(template_files(language))


def python_bundle(source: str) -> bytes:
    """Return a bundle whose only program is this Python source."""
    manifest = f'command = ["python", "{SOURCE}"]\n'
    return _zipped({FILE: manifest.encode(), SOURCE: source.replace("\r\n", "\n").encode()})


def _zipped(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            # All files get the same fixed time, so that the same files give the same archive.
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = mode_of(data) << 16  # the upper half has the permissions of Unix
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
