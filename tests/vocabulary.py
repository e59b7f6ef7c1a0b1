"""Words and sentences from below the pages, which pages show in the language of the reader."""

from __future__ import annotations

from collections.abc import Iterator

from arena.errors import KINDS
from referee.rules.core import Termination


def words() -> Iterator[tuple[str, str]]:
    """Return the messages, each with the place where it is written."""
    for one in Termination:
        yield "referee/rules/core.py", one.sentence
        yield "referee/rules/core.py", one.value.replace("-", " ")
    for kind in KINDS.values():
        yield "arena/errors.py", kind.title
        yield "arena/errors.py", kind.meaning
