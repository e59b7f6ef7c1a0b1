"""A plugin of pytest that adds the format of this folder as if its module stood among the others."""

from __future__ import annotations

from pathlib import Path

from referee.tournament import formats

formats.__path__.append(str(Path(__file__).parent / "own"))
