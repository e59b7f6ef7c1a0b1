"""Games of the archive, and results of imports."""

from __future__ import annotations

from typing import Any, Literal

from arena.api.schemas.word import Out


class ArchiveItem(Out):
    """A game of the archive in a list. `serial` is its permanent number; `number` is its number in its collection, by
    default the serial.

    `source` is the collection, `arena` for games played here. `date` may be a year only.
    """

    serial: int
    number: str
    id: str
    family: str
    variant: str
    first: str
    second: str
    winner: Literal["first", "second", "draw"] | None
    termination: str
    source: str
    plies: int
    date: str


class ArchivePage(Out):
    """Part of the matching games, and the `total` number of matches. `next` is the cursor of the following part."""

    items: list[ArchiveItem]
    total: int
    next: str | None = None


class ArchiveResponse(ArchiveItem):
    """A game of the archive with its moves. `position` is its start, `tags` are those of the imported text."""

    options: dict[str, Any]
    position: str
    moves: list[str]
    tags: dict[str, str]
    notations: list[str]


class ArchiveSource(Out):
    """A collection, or `arena` for games played here, and its number of games of a variant."""

    source: str
    family: str
    variant: str
    games: int


class ArchiveSources(Out):
    """All collections."""

    items: list[ArchiveSource]


class RejectedGame(Out):
    """A game of an import that was rejected: its `line` in the text, the `move` number (0 before the first), and the
    reason.
    """

    line: int
    move: int
    position: str
    problem: str


class ImportResponse(Out):
    """The result of an import: the numbers of valid, new and already known games, and the rejected ones."""

    file: str
    format: str
    games: int
    new: int
    known: int
    bad: list[RejectedGame]
