"""Games of the archive, and what became of an import."""

from __future__ import annotations

from typing import Any, Literal

from arena.api.schemas.word import Out


class ArchiveItem(Out):
    """A game of the archive in a list. `serial` is its number for good; `number` what people call it: the number in its
    collection, else the serial. `source` is the collection, `arena` for games played here; `date` may be a year only.
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
    """A part of the games that match, and how many match in all. `next` is the cursor of the part that follows."""

    items: list[ArchiveItem]
    total: int
    next: str | None = None


class ArchiveResponse(ArchiveItem):
    """A game of the archive, whole: `position` is its start, `tags` what its text said of it."""

    options: dict[str, Any]
    position: str
    moves: list[str]
    tags: dict[str, str]
    notations: list[str]


class ArchiveSource(Out):
    """Where games come from: a collection, or `arena` for games played here; and how many of a variant it has."""

    source: str
    family: str
    variant: str
    games: int


class ArchiveSources(Out):
    """All of them."""

    items: list[ArchiveSource]


class BadGame(Out):
    """A game of an upload that cannot be used: where in the text, at which move (0: before the first), and why."""

    line: int
    move: int
    position: str
    problem: str


class ImportResponse(Out):
    """What came of an upload: games that can be used, how many were new, how many known; and the bad ones."""

    file: str
    format: str
    games: int
    new: int
    known: int
    bad: list[BadGame]
