"""Templates of bots: the examples of each language as archives, and a bundle made from one Python file."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from arena.errors import NotFoundError
from referee.bot.file import FILE
from referee.families import folder_of

LANGUAGES: Mapping[str, str] = {
    "python": "Python",
    "c": "C",
    "cpp": "C++",
    "java": "Java",
    "javascript": "JavaScript",
    "rust": "Rust",
}
"""The languages that have a template, with their titles."""
SOURCE = "my_bot.py"
MAX_SOURCE = 20_000
"""Maximum number of characters of a bot written on a page."""


def _folder(language: str) -> Path:
    return folder_of("bots") / "examples" / language


@cache
def python_source() -> str:
    """Return the source of the example bot in Python."""
    return (_folder("python") / SOURCE).read_text(encoding="utf-8")


@cache
def archive(language: str) -> bytes:
    """Return the example bot of a language as a zip archive. Raises NotFoundError."""
    if language not in LANGUAGES:
        raise NotFoundError("template", language, list(LANGUAGES))
    files = [path for path in sorted(_folder(language).iterdir()) if path.is_file()]
    return _zipped({path.name: path.read_bytes() for path in files})


def python_bundle(source: str) -> bytes:
    """Return a bundle whose only program is this Python source."""
    manifest = f'command = ["python", "{SOURCE}"]\n'
    return _zipped({FILE: manifest.encode(), SOURCE: source.replace("\r\n", "\n").encode()})


def _zipped(files: Mapping[str, bytes]) -> bytes:
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            # All files get the same fixed time, so that the same files give the same archive.
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return found.getvalue()
