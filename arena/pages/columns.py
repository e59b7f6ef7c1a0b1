"""The columns of the lists that several pages show, in the order asked for."""

from __future__ import annotations

from collections.abc import Sequence

from aiohttp import web

from arena.pages.html_table import Column, SortedTable, sorted_table
from arena.store.games.games import GameLine

_FAMILY = Column("family", "Family", is_number=False, is_descending_first=False)
GAMES = (
    Column("", "Game", is_number=False),
    Column("first", "First", is_number=False, is_descending_first=False),
    Column("second", "Second", is_number=False, is_descending_first=False),
    Column("winner", "Result", is_descending_first=False),
    Column("termination", "Ended by", is_number=False, is_descending_first=False),
    Column("plies", "Plies"),
    Column("finished_at", "Finished"),
)


def sort_games(
    request: web.Request, lines: Sequence[GameLine], *, with_family: bool = False, parameter: str = "games"
) -> SortedTable[GameLine]:
    """Games of one family or of several."""
    columns = (GAMES[0], _FAMILY, *GAMES[1:]) if with_family else GAMES
    return sorted_table(request, columns, lines, parameter=parameter)


def text_column(key: str, title: str, hint: str = "") -> Column:
    """A column of words, first things first."""
    return Column(key, title, hint, is_number=False, is_descending_first=False)
