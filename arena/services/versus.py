"""Two bots head to head: their versions, the results between them, and the games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arena.documents.bot import MeetingsQuery
from arena.documents.game import GameItem, GameQuery, Tally
from arena.documents.page import PageResponse
from arena.errors import NotFoundError
from arena.services import bot
from arena.services.arena import Arena


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """Results and games between versions of two bots. `openings` maps games to their openings, if any.

    `mine` and `theirs` are the ids of the compared versions, `versions` the names of all versions of both bots.
    """

    versions: tuple[list[str], list[str]]
    mine: list[int]
    theirs: list[int]
    tallies: list[Tally]
    games: PageResponse[GameItem]
    openings: Mapping[str, str]


def games(arena: Arena, name: str, other: str, query: MeetingsQuery) -> PageResponse[GameItem]:
    """Return the results between two bots, latest first. Raises NotFoundError, BadValueError for an invalid cursor."""
    mine, theirs = _chosen(_versions(arena, name), query.mine), _chosen(_versions(arena, other), query.theirs)
    return arena.store.games.latest(GameQuery(limit=query.limit, after=query.after), versions=mine, against=theirs)


def read(arena: Arena, name: str, other: str, query: MeetingsQuery) -> HeadToHead:
    """Return the result counts of the games between two bots, and a page of these games. Raises what `games` raises."""
    versions = _versions(arena, name), _versions(arena, other)
    mine, theirs = _chosen(versions[0], query.mine), _chosen(versions[1], query.theirs)
    found = games(arena, name, other, query)
    return HeadToHead(
        versions=(list(versions[0]), list(versions[1])),
        mine=mine,
        theirs=theirs,
        tallies=arena.store.results.tally(mine, theirs) if mine and theirs else [],
        games=found,
        openings=arena.store.games.openings([game.id for game in found.items]),
    )


def _versions(arena: Arena, name: str) -> dict[str, int]:
    """Return the ids of a bot's versions by name. Raises NotFoundError."""
    return {line.name: line.id for line in arena.store.versions.of_bot(bot.find(arena, name).id or 0)}


def _chosen(versions: Mapping[str, int], name: str | None) -> list[int]:
    """Return the ids of all versions, or of the named one. Raises NotFoundError."""
    if name is None:
        return list(versions.values())
    if name not in versions:
        raise NotFoundError("version", name, versions)
    return [versions[name]]
