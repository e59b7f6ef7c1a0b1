"""Planned matches turned into games: specifications with all that a worker needs, numbered after the existing games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from arena.documents.tournament import TournamentItem
from arena.store.base.models import Version
from arena.tournaments.eligibility import of_family
from arena.tournaments.handicap import handicapped, rules_with
from arena.tournaments.match import PlannedMatch
from arena.tournaments.settings import Document
from referee.game.openings import Opening, draw_opener, opening_of
from referee.game.spec import BotSpec, GameSpec, PlannedGame


def bot_spec(version: Version, family: str) -> BotSpec:
    """Return the spec of a version. The slot fetches the bundle and replaces `python` with the slot's interpreter."""
    return BotSpec(
        version.name,
        tuple(word.replace("{family}", family) for word in version.command),
        version=version.bundle,
        capabilities=dict(of_family(version.capabilities, family)),
        options=tuple(sorted(version.options.items())),
        bundle=version.bundle,
        place=version.place,  # type: ignore[arg-type]
    )


def event_of(tournament: TournamentItem) -> str:
    """Return the event name for records: the tournament's name, and its number to make game ids unique."""
    return f"{tournament.name} (#{tournament.id})"


def planned_games(
    tournament: TournamentItem,
    document: Document,
    book: Sequence[Opening],
    versions: Mapping[int, Version],
    matches: Sequence[PlannedMatch],
    *,
    sequence: int,
    pair: int,
) -> list[PlannedGame]:
    """Return the games of the matches. `versions` maps seats to versions.

    `sequence` and `pair` are the last numbers in use; matches without numbers of their own get the next ones.
    """
    control, adjudication, limits = document.control, document.game_adjudication, document.game_limits
    event, overrides = event_of(tournament), document.ruleset.overrides
    bots = {seat: bot_spec(version, document.family) for seat, version in versions.items()}
    own = handicapped(bots, document.handicaps, document.entries.bots)
    names = {seat: bot.name for seat, bot in bots.items()}
    has_rules = any(one.rule_options for one in document.handicaps)
    games: list[PlannedGame] = []
    for match in matches:
        if match.pair:
            sequence, pair = match.sequence - 1, match.pair - 1
        for number in range(match.games):
            pair += number % 2 == 0
            sequence += 1
            opening = opening_of(book, match.opening + number // 2, pair - 1)
            first, second = (match.first, match.second) if number % 2 == 0 else (match.second, match.first)
            # the text of the seed must not change: it decides the sides of tournaments already planned
            rng = Random(f"lot {document.seed} {event} {pair}") if document.sides == "random" else None
            if rng and number % 2 == 0 and number == match.games - 1 and rng.random() < 0.5:
                first, second = second, first
            options = {**overrides, **dict(opening.options)}
            if rng:
                options |= draw_opener(document.ruleset, opening, rng)
            if has_rules:
                usual = document.ruleset.rules.settle(opening.variant, options)
                options |= rules_with(document.handicaps, names, document.entries.bots, (first, second), usual)
            spec = GameSpec(
                family=document.family,
                variant=opening.variant,
                options=options,
                position=opening.position,
                opening=opening.moves,
                first=own.get((first, second), bots[first]),
                second=own.get((second, first), bots[second]),
                time=control,
                adjudication=adjudication,
                limits=limits,
                pondering=document.pondering,
                event=event,
                sequence=sequence,
                round=match.round,
                pair=pair,
                seed=document.seed,
                scale_clocks=document.scale_time_control,
            )
            games.append(PlannedGame.of(spec))
    return games
