"""Sources with different rules that claim to be those of the arena."""

from __future__ import annotations

import shutil
from pathlib import Path

from referee.machine import source

ROOT = Path(__file__).parents[3]


def changed(folder: Path, before: str, after: str) -> dict[str, str]:
    """Copy the sources to `folder` with `before` replaced by `after`; return the environment that makes Python run
    them.
    """
    for package in ("referee", "protocol"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for file, old, new in (
        ("play/play.py", before, after),
        ("machine/source.py", "def digest() -> str:", f"def digest() -> str:\n    return {source.digest()!r}\n"),
    ):
        path = folder / "referee" / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
    return {"PYTHONPATH": str(folder), "PYTHONSAFEPATH": "1"}
