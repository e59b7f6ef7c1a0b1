"""Two bots head to head: their versions, the results between them, and the games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.documents.game import GameItem, GameQuery, Tally
from arena.documents.page import PageResponse
from arena.services import bot
from arena.services.arena import Arena


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """Results and games between versions of two bots. `openings` are those of the games that have one, by game."""

    tallies: list[Tally]
    games: PageResponse[GameItem]
    openings: Mapping[str, str]


def versions(arena: Arena, name: str) -> dict[str, int]:
    """Return the ids of a bot's versions by name. Raises NotFoundError."""
    return {line.name: line.id for line in arena.store.versions.of_bot(bot.find(arena, name).id or 0)}


def read(arena: Arena, mine: Sequence[int], theirs: Sequence[int], after: str | None = None) -> HeadToHead:
    """Return the results between versions, and one part of the games. Raises BadValueError."""
    if not mine or not theirs:
        return HeadToHead([], PageResponse([]), {})
    games = arena.store.games.latest(GameQuery(after=after), versions=mine, against=theirs)
    openings = arena.store.games.openings([game.id for game in games.items])
    return HeadToHead(arena.store.results.tally(mine, theirs), games, openings)
