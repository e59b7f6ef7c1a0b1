"""The columns of the lists that several pages show, in the order asked for."""

from __future__ import annotations

from collections.abc import Sequence

from aiohttp import web

from arena.pages.html_table import Arranged, Column, arranged
from arena.store.games import GameLine

_FAMILY = Column("family", "Family", is_number=False, falls=False)
GAMES = (
    Column("", "Game", is_number=False),
    Column("first", "First", is_number=False, falls=False),
    Column("second", "Second", is_number=False, falls=False),
    Column("winner", "Result", falls=False),
    Column("termination", "Ended by", is_number=False, falls=False),
    Column("plies", "Plies"),
    Column("finished", "Finished"),
)


def games(
    request: web.Request, lines: Sequence[GameLine], *, with_family: bool = False, parameter: str = "games"
) -> Arranged[GameLine]:
    """Games of one family or of several."""
    columns = (GAMES[0], _FAMILY, *GAMES[1:]) if with_family else GAMES
    return arranged(request, columns, lines, parameter=parameter)


def column(key: str, title: str, hint: str = "") -> Column:
    """A column of words, first things first."""
    return Column(key, title, hint, is_number=False, falls=False)
