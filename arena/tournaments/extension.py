"""Extension of tournaments: the length in the unit of the format, the settings of the longer tournament, its new size.

Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.documents.tournament import PlanItem
from arena.tournaments import format, roundrobin, swiss
from arena.tournaments.match import Seed, TournamentGame
from arena.tournaments.settings import Document, SettingsError


@dataclass(frozen=True, slots=True)
class Length:
    """Length of a tournament: `count` in `unit`, extended in steps of `step`.

    `table` and `key` are the place of the length in the document.
    """

    count: int
    unit: str
    step: int
    table: str
    key: str


def length(document: Document, players: int) -> Length:
    """Return the length of a tournament with `players` bots. Raises SettingsError if it cannot be extended."""
    match document.format:
        case "knockout":
            raise SettingsError("a knockout ends with its final and cannot be extended", "format")
        case "swiss":
            rounds = document.rounds if document.rounds is not None else swiss.default_rounds(players)
            return Length(rounds, "rounds", 1, "", "rounds")
        case "race" | "sprt" as name:
            return Length(getattr(document, name).games, "games in all", 2, name, "games")
        case "ladder":
            ladder = document.ladder
            if ladder.games:
                return Length(ladder.games, "games in all", 2, "ladder", "games")
            if ladder.max_games_per_bot:
                return Length(ladder.max_games_per_bot, "games of each bot", 2, "ladder", "max_games_per_bot")
            raise SettingsError("this ladder has no end and cannot be extended", "format")
    if document.games % 2:
        raise SettingsError("must be even to extend the tournament: games are added in pairs", "games")
    return Length(document.games, "games of each pairing", 2, "", "games")


def extended(document: Document, players: int, *, to: int | None = None, amount: int | None = None) -> dict[str, Any]:
    """Return the settings of a longer tournament: up to `to`, or by `amount`, in the unit that its format counts.

    Raises SettingsError.
    """
    if (to is None) == (amount is None):
        raise SettingsError("write either `to`, the new length, or `amount`, the number to add", "to")
    field, given = ("to", to) if to is not None else ("amount", amount or 0)
    if not given or not 1 <= given <= 1_000_000:
        raise SettingsError("must be between 1 and 1,000,000", field)
    known = length(document, players)
    count = given if field == "to" else known.count + given
    if count <= known.count:
        more = known.count + known.step
        raise SettingsError(
            f"must be more than its {known.count} {known.unit}; write {more} or more, or +N to add N", field
        )
    if (count - known.count) % known.step:
        raise SettingsError("must be even: games are played in pairs", field)
    settings = document.as_json()
    (settings[known.table] if known.table else settings)[known.key] = count
    return settings


def planned(document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], kept: int) -> PlanItem:
    """Return the size of an extensible tournament as it stands now. `kept` counts its uncancelled stored games.

    If the plan is known in advance, `played` need contain only the last game.
    """
    active = sum(not seed.is_withdrawn for seed in seeds)
    match document.format:
        case "swiss":
            rounds = length(document, len(seeds)).count
            left = max(0, rounds - max((game.round for game in played), default=0)) if active > 1 else 0
            games = kept + left * (active // 2) * document.games
            return PlanItem(games, games_per_pairing=document.games, rounds=rounds)
        case "round-robin" | "gauntlet" as name:
            games = kept + format.later(document, seeds, played)
            rounds = roundrobin.rounds(name, document.games, len(seeds))
            return PlanItem(games, games_per_pairing=document.games, rounds=rounds)
    known = length(document, len(seeds))
    return PlanItem(known.count if known.key == "games" else known.count * active // 2, is_most=True)
