"""Columns of lists that several pages show."""

from __future__ import annotations

from collections.abc import Sequence

from aiohttp import web

from arena.documents.game import GameItem
from arena.pages.html_table import Column, SortedTable, sorted_table


def text_column(key: str, title: str, hint: str = "") -> Column:
    """Return a column of text, which the first click sorts in ascending order."""
    return Column(key, title, hint, is_number=False, is_descending_first=False)


_FAMILY = text_column("family", "Family")
GAMES = (
    Column("", "Game", is_number=False),
    text_column("first", "First"),
    text_column("second", "Second"),
    Column("winner", "Result", is_descending_first=False),
    text_column("termination", "Ended by"),
    Column("plies", "Plies"),
    Column("finished_at", "Finished"),
)

TOURNAMENTS = (
    text_column("name", "Name"),
    _FAMILY,
    text_column("format", "Format"),
    text_column("state", "State"),
    Column("finished_games", "Games"),
    text_column("is_rated", "Rated"),
    Column("start_time", "Start time"),
    Column("finished_at", "End"),
)


def sort_games(
    request: web.Request,
    lines: Sequence[GameItem],
    default: str = "-finished_at",
    *,
    with_family: bool = False,
    parameter: str = "games",
) -> SortedTable[GameItem]:
    """Return a table of games in the order that the request names, by default the latest result first.

    The store orders games by the commit of their result, which may come seconds after their end.
    """
    columns = (GAMES[0], _FAMILY, *GAMES[1:]) if with_family else GAMES
    return sorted_table(request, columns, lines, default, parameter=parameter)
