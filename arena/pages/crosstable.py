"""The crosstable on a page: with its games for few bots, as a heat map for many, in blocks for very many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote

from multidict import MultiMapping

from arena import services
from arena.pages.filters import bot_of, path_part, plain
from arena.pages.html_table import number
from arena.services import Arena
from arena.services.standings_cache import TournamentStandings
from referee.tournament.crosstable import Row
from referee.tournament.standing import StandingItem

PARAMETERS = ("rows", "against", "row")
"""Query parameters: the block of rows and of columns, and the place of the bot whose results are listed."""
BLOCK = 50
"""Rows and columns on one page; links lead to further blocks."""
MAX_DETAILED = 12
"""Most bots of a crosstable that shows every game; larger ones are heat maps."""
MAX_LINKED = 30
"""Most bots of a heat map whose cells are large enough for links, and whose pairs are compared without asking."""


@dataclass(frozen=True, slots=True)
class LinkedBot:
    """A bot of the crosstable, prepared once for its many cells: its name, as text and as parts of addresses."""

    bot: str
    version: str
    text: str

    @classmethod
    def of(cls, name: str) -> LinkedBot:
        """Prepare the version of that name."""
        return cls(path_part(bot_of(name)), quote(name), plain(name, 60))


@dataclass(frozen=True)
class CrosstableBlock:
    """The part of a crosstable that a page shows: some `rows`, with a column for each bot of `against`."""

    order: Sequence[StandingItem]
    blocks: Sequence[tuple[int, int]]
    """The first and the last place of each block."""
    shown: tuple[int, int]
    """The numbers of the blocks of the rows and of the columns, from 1."""
    rows: Sequence[Row]
    against: Sequence[StandingItem]
    chosen: Row | None
    """The bot whose results are listed below."""

    @property
    def is_heat_map(self) -> bool:
        """True if there are too many bots to show every game."""
        return len(self.order) > MAX_DETAILED

    @property
    def are_cells_linked(self) -> bool:
        """True if cells are large enough for links."""
        return len(self.order) <= MAX_LINKED

    @cached_property
    def linked(self) -> dict[str, LinkedBot]:
        """All bots by name."""
        return {line.name: LinkedBot.of(line.name) for line in self.order}

    @cached_property
    def rivals(self) -> list[StandingItem]:
        """The bots that the chosen one met."""
        cells = self.chosen.cells if self.chosen else (None,) * len(self.order)
        return [line for line, cell in zip(self.order, cells, strict=True) if cell and cell.games]

    @property
    def letters(self) -> dict[tuple[str, int], str]:
        """The results of the listed games, by bot and number of the game."""
        return {
            (row.standing.name, number): letter
            for row in self.rows
            for cell in row.cells
            if cell and cell.numbers
            for pair in cell.linked
            for letter, number in pair
        }


def read_block(
    arena: Arena, tables: TournamentStandings, query: MultiMapping[str], *, has_rounds: bool
) -> CrosstableBlock:
    """Read the block that the parameters of a page name. With rounds the page lists the games of all."""
    order = tables.standing.lines
    blocks = [(start + 1, min(start + BLOCK, len(order))) for start in range(0, len(order), BLOCK)]
    down, across = (number(query, name, 1, high=max(1, len(blocks))) for name in ("rows", "against"))
    rows, columns = (slice((place - 1) * BLOCK, place * BLOCK) for place in (down, across))
    are_games_listed = has_rounds or len(order) <= MAX_LINKED
    table = services.standings.block(arena, tables, rows, columns, are_games_listed=are_games_listed)
    place = number(query, "row", 0, high=max(1, len(order)))
    chosen = services.standings.block(arena, tables, slice(place - 1, place), slice(None)) if place and order else ()
    return CrosstableBlock(order, blocks, (down, across), table, order[columns], chosen[0] if chosen else None)
