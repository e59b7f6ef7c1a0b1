"""How long a tournament is in what its format counts, how it is made longer, and the plan that follows. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.tournaments import format, roundrobin, swiss
from arena.tournaments.match import Seed, TournamentGame
from arena.tournaments.settings import Document, SettingsError


@dataclass(frozen=True, slots=True)
class Length:
    """How long a tournament is: `count` of `unit`, extended in steps of `step`; `table` and `key` are the setting."""

    count: int
    unit: str
    step: int
    table: str
    key: str


@dataclass(frozen=True, slots=True)
class PlannedSize:
    """What a tournament comes to: `games` in all, those played and those to be played; cancelled games do not count.

    `is_most`: it may end with fewer. `games_per_pairing` and `rounds` are None in formats that have none.
    """

    games: int
    is_most: bool = False
    games_per_pairing: int | None = None
    rounds: int | None = None


def length(document: Document, players: int) -> Length:
    """Return how long a tournament of so many players is. Raises SettingsError for one that cannot be longer."""
    match document.format:
        case "knockout":
            raise SettingsError("a knockout ends with its final", "format")
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
            raise SettingsError("this ladder has no end, so it cannot be longer", "format")
    if document.games % 2:
        raise SettingsError("only tournaments with an even number of games of each pairing can be longer", "games")
    return Length(document.games, "games of each pairing", 2, "", "games")


def extended(document: Document, players: int, *, to: int | None = None, amount: int | None = None) -> dict[str, Any]:
    """Return the settings of a tournament made longer: up to `to`, or by `amount`, of what its format counts.

    Raises SettingsError.
    """
    if (to is None) == (amount is None):
        raise SettingsError("give either `to`, the number to reach, or `amount`, so many more", "to")
    field, given = ("to", to) if to is not None else ("amount", amount or 0)
    if not given or not 1 <= given <= 1_000_000:
        raise SettingsError("between 1 and 1,000,000", field)
    known = length(document, players)
    count = given if field == "to" else known.count + given
    if count <= known.count:
        more = known.count + known.step
        raise SettingsError(f"it has {known.count} {known.unit}; write {more} or more, or +N for N more", field)
    if (count - known.count) % known.step:
        raise SettingsError("must be even: games are played in pairs", field)
    settings = document.as_json()
    (settings[known.table] if known.table else settings)[known.key] = count
    return settings


def planned(document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> PlannedSize:
    """Return what a tournament that can be made longer comes to from here."""
    kept = sum(game.state != "cancelled" for game in played)
    active = sum(not seed.is_withdrawn for seed in seeds)
    match document.format:
        case "swiss":
            rounds = length(document, len(seeds)).count
            left = max(0, rounds - max((game.round for game in played), default=0)) if active > 1 else 0
            games = kept + left * (active // 2) * document.games
            return PlannedSize(games, games_per_pairing=document.games, rounds=rounds)
        case "round-robin" | "gauntlet" as name:
            games = kept + sum(one.games for one in format.step(document, seeds, played).matches)
            rounds = max((one.round for one in roundrobin.plan(name, document.games, seeds)), default=0)
            return PlannedSize(games, games_per_pairing=document.games, rounds=rounds)
    known = length(document, len(seeds))
    return PlannedSize(known.count if known.key == "games" else known.count * active // 2, is_most=True)
