"""Standings of a tournament: one line per entry, ranked as the format requires.

A Swiss counts byes and breaks ties by Buchholz. A knockout ranks by the round reached, a ladder by points per game, a
race by what is decided (leaders, undecided, others), then by the share of points. Other formats rank by points and
Sonneborn-Berger. The table also has Davidson's Bradley-Terry strengths, and the state of a sequential test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from arena.documents.standings import StandingItem
from arena.store import Store
from arena.store.games.results import FinishedGame
from arena.tournaments import knockout, race, sequential, swiss
from arena.tournaments.match import Seed, TournamentGame
from arena.tournaments.participants import participants, played
from arena.tournaments.scores import PlayerScore, Scores
from arena.tournaments.settings import Document, read
from referee.ratings.bradley_terry import StrengthFit, fit
from referee.ratings.race import RaceState
from referee.ratings.sprt import SprtVerdict
from referee.ratings.standings import standings
from referee.ratings.strength import estimate


@dataclass(frozen=True)
class StandingTable:
    """The table of a tournament. `tie_breaks` has the criteria that break ties, in order; `scores` sums the results."""

    lines: tuple[StandingItem, ...]
    tie_breaks: tuple[str, ...]
    scores: Scores = field(default_factory=Scores, compare=False)
    verdict: SprtVerdict | None = None
    ratios: Sequence[float] = ()
    """Log-likelihood ratio of a sequential test after each pair."""
    race: RaceState | None = None
    """State of a race by seat; `seats` are the names."""
    seats: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def results(self) -> tuple[tuple[str, str, float], ...]:
        """The games played, by pairing: names of the first and the second version, points of the first."""
        return tuple(self.scores.results({line.version_id: line.name for line in self.lines}))

    @cached_property
    def strengths(self) -> StrengthFit:
        """Strengths from the results, independent of their order; fitted on first use."""
        return fit(self.results)

    @cached_property
    def sided(self) -> StrengthFit:
        """Strengths fitted together with the advantage of moving first; few games cannot tell these apart."""
        return fit(self.results, with_advantage=True)

    @cached_property
    def advantage(self) -> tuple[float, float] | None:
        """Advantage of moving first in Elo with its error (95 %), if significant; else None."""
        return (self.sided.advantage, self.sided.advantage_interval) if self.sided.has_advantage else None

    def strengths_as_json(self) -> dict[str, Any]:
        """Return the strengths and the advantage of moving first as plain data."""
        sided = self.sided.as_json()
        return self.strengths.as_json() | {key: sided[key] for key in ("advantage", "advantage_interval")}


def standing(store: Store, tournament_id: int, scores: Scores | None = None) -> StandingTable:
    """Return the present table of a tournament. `scores` are the sums of its results, if they are known.

    Raises NotFoundError, and SettingsError for an unreadable document.
    """
    tournament = store.tournaments.get(tournament_id)
    document = read(tournament.settings)
    entries = participants(store, tournament)
    if scores is None:
        scores = Scores()
        scores.extend(store.results.of_tournament(tournament_id, 0))
    games = played(store.queue.outline(tournament_id), entries) if document.format in _NEED_GAMES else []
    seeds = [Seed(entry.seat, entry.withdrawn is not None) for entry in entries]
    names = {entry.seat: entry.name for entry in entries}
    versions = {entry.seat: entry.version_id for entry in entries}
    lines = rank(document, seeds, games, names, versions, scores=scores)
    is_test = document.format == "sprt"
    verdict = sequential.verdict(document.sprt.sprt, games) if is_test else None
    ratios = sequential.ratios(document.sprt.sprt, games) if is_test else ()
    raced = race.state(document.race.race, seeds, games) if document.format == "race" else None
    return StandingTable(tuple(lines), TIE_BREAKS.get(document.format, _PLAIN), scores, verdict, ratios, raced, names)


def by_points(store: Store, tournament_id: int, results: Sequence[FinishedGame]) -> StandingTable:
    """Return the table of a tournament with an unreadable document (stored by another version), ranked by points."""
    met = {name for result in results for name in (result.first, result.second)}
    entries = {
        entry.name: entry
        for entry in store.tournaments.entries(tournament_id)
        if entry.withdrawn is None or entry.name in met
    }
    lines = [
        StandingItem(
            rank=one.rank,
            version_id=entries[one.name].version_id,
            name=one.name,
            points=one.points,
            games=one.games,
            wins=one.wins,
            draws=one.draws,
            losses=one.losses,
            byes=0,
            buchholz=0.0,
            buchholz_cut=0.0,
            sonneborn_berger=one.sonneborn_berger,
            round=0,
            is_withdrawn=entries[one.name].withdrawn is not None,
            estimate=estimate([], []).as_json(),
            score=one.score,
            forfeits=one.forfeits,
        )
        for one in standings(results, list(entries))
    ]
    return StandingTable(tuple(lines), _PLAIN)


_PLAIN = ("Sonneborn-Berger", "wins")
_NEED_GAMES = ("swiss", "knockout", "race", "sprt")
"""Formats whose standings follow from the games, not from sums of their results."""
TIE_BREAKS = {
    "swiss": ("Buchholz", "Buchholz cut 1", "Sonneborn-Berger", "wins"),
    "knockout": ("round reached", "points"),
    "ladder": ("points per game", "points"),
    "race": ("settled or not", "share of points against all alike"),
}


def rank(
    document: Document,
    seeds: Sequence[Seed],
    games: Sequence[TournamentGame],
    names: dict[int, str],
    versions: dict[int, int],
    *,
    scores: Scores | None = None,
) -> list[StandingItem]:
    """Return the lines of the standings, best first. Pure. `scores` are the sums of the results of `games` if known."""
    scores = Scores.of_games(games, versions) if scores is None else scores
    done = [scores.players.get(versions[seed.number], PlayerScore()) for seed in seeds]
    if document.format == "swiss":
        table = swiss.lines(seeds, games, document.games)
        breaks = swiss.tie_breaks(table)
        points = [line.points for line in table]
        byes = [line.byes for line in table]
    else:
        breaks, byes = [], [0] * len(seeds)
        points = [mine.points for mine in done]
    berger = scores.sonneborn_berger({versions[seed.number]: one for seed, one in zip(seeds, points, strict=True)})
    reached = _reached(document, seeds, games)
    settled = _settled(document, seeds, games)
    lines = []
    for index, seed in enumerate(seeds):
        mine = done[index]
        losses, draws, wins = mine.games
        count = losses + draws + wins
        lines.append(
            StandingItem(
                rank=0,
                name=names[seed.number],
                points=points[index],
                games=count,
                wins=wins,
                draws=draws,
                losses=losses,
                score=mine.points / count if count else 0.0,
                sonneborn_berger=breaks[index].sonneborn_berger if breaks else berger.get(versions[seed.number], 0.0),
                byes=byes[index],
                buchholz=breaks[index].buchholz if breaks else 0.0,
                buchholz_cut=breaks[index].cut if breaks else 0.0,
                round=reached.get(seed.number, 0),
                forfeits=scores.forfeits[versions[seed.number]],
                is_withdrawn=seed.is_withdrawn,
                estimate=mine.estimate.as_json(),
                version_id=versions[seed.number],
            )
        )
    order = sorted(
        range(len(lines)),
        key=lambda index: (
            *settled.get(seeds[index].number, ()),
            *_key(document, lines[index]),
            seeds[index].number,
        ),
    )
    return [replace(lines[index], rank=number) for number, index in enumerate(order, 1)]


def _key(document: Document, line: StandingItem) -> tuple[float, ...]:
    if document.format == "knockout":
        return (-line.round, -line.points)
    if document.format == "swiss":
        return (-line.points, -line.buchholz, -line.buchholz_cut, -line.sonneborn_berger, -line.wins)
    if document.format == "ladder":  # numbers of games differ between bots
        return (-line.score if line.games else -0.5, -line.points)
    return (-line.points, -line.sonneborn_berger, -line.wins)


def _settled(
    document: Document, seeds: Sequence[Seed], games: Sequence[TournamentGame]
) -> dict[int, tuple[float, float]]:
    """Return sort keys that order the seats of a race: leaders, undecided, others, withdrawn."""
    if document.format != "race":
        return {}
    state = race.state(document.race.race, seeds, games)
    groups = (state.leaders, state.undecided, state.others)
    known = {seat: (float(place), -state.shares[seat]) for place, group in enumerate(groups) for seat in group}
    return {seed.number: known.get(seed.number, (float(len(groups)), 0.0)) for seed in seeds}


def _reached(document: Document, seeds: Sequence[Seed], games: Sequence[TournamentGame]) -> dict[int, int]:
    """Return the last round that each seat of a knockout reached; the winner of the final reached one more."""
    if document.format != "knockout" or len(seeds) < 2:
        return {}
    settings = document.knockout
    bracket = knockout.Bracket(seeds, games, document.games, settings.tiebreak_pairs, third_place=settings.third_place)
    reached: dict[int, int] = {}
    for ties in bracket.rounds:
        for tie in ties:
            for seat in (tie.one, tie.two):
                if seat is not None:
                    reached[seat] = tie.round
            if tie.winner is not None:
                reached[tie.winner] = tie.round + 1
    return reached
