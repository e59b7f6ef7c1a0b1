"""Race: find the best N bots. Plays pairs of games until each bot is decided: among the best N or not.

In every cycle each undecided bot meets every other bot once; the bots whose order is least certain come first. Decided
bots play only as opponents of undecided ones. The next matches depend on the stored games only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from referee.ratings.race import Pairing, Race, RaceState, evaluate_race
from referee.tournament.formats.format import AHEAD, DecisionState, EvidenceFormat, Marks
from referee.tournament.match import NextStep, PlannedMatch, Seed, TournamentGame, finish
from referee.tournament.overview import UPCOMING, TournamentOverview, UpcomingMatch, planned
from referee.tournament.part import EvenGames, Part

if TYPE_CHECKING:
    from referee.tournament.document import Document


class RaceSettings(Part):
    """For `format = "race"`: find the `top` best bots; stop as soon as they are known."""

    top: int = Field(default=1, ge=1, le=100)
    """Number of bots to find: those with the largest share of points if all opponents count equally, in any order."""
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    """Confidence required to stop; holds however often intermediate results are checked."""
    games: EvenGames = Field(default=20_000, ge=2, le=1_000_000)
    """Games in total, at most; an even number."""

    @property
    def race(self) -> Race:
        """The parameters of the race, as `referee.ratings` takes them."""
        return Race(self.top, 1 - self.confidence)


def state(race: Race, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> RaceState:
    """Return the state of the race between all bots that have not withdrawn."""
    scores: dict[Pairing, list[float]] = {}
    for pairing, pairs in _pairs(played).items():
        known = scores[pairing] = []
        for games in pairs:
            if any(game.is_open for game in games):
                break  # in the order of planning: quick pairs must not come before slow ones
            known.append(sum(game.points_of(pairing[0]) for game in games) / 2)
    return evaluate_race(race, [seed.number for seed in seeds if not seed.is_withdrawn], scores)


def _pairs(played: Sequence[TournamentGame]) -> dict[Pairing, list[list[TournamentGame]]]:
    """Group pairs of games by pairing, in the order of planning, without pairs that have a void or cancelled game."""
    pairs: dict[int, list[TournamentGame]] = defaultdict(list)
    for game in sorted(played, key=lambda game: game.sequence):
        pairs[game.pair].append(game)
    by_pairing: dict[Pairing, list[list[TournamentGame]]] = defaultdict(list)
    for games in pairs.values():
        if len(games) == 2 and all(game.state in ("open", "done") for game in games):
            by_pairing[min(games[0].first, games[0].second), max(games[0].first, games[0].second)].append(games)
    return by_pairing


def step(race: Race, total: int, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int) -> NextStep:
    """Plan pairs until `ahead` are open, the race is decided, or `total` games are planned."""
    standing = state(race, seeds, played)
    if standing.is_settled:
        is_open = any(game.is_open for game in played)
        return NextStep(is_finished=not is_open, calls_off=is_open, reason=f"decided after {_done(played)} games")
    waiting = len({game.pair for game in played if game.is_open})
    room = min(ahead - waiting, total // 2 - len({game.pair for game in played}))
    if room > 0:
        return NextStep(upcoming(standing, played, room))
    return NextStep() if waiting else finish(played, "undecided: all games played")


def _done(played: Sequence[TournamentGame]) -> int:
    return sum(game.state == "done" for game in played)


def upcoming(standing: RaceState, played: Sequence[TournamentGame], count: int) -> tuple[PlannedMatch, ...]:
    """Return the next matches, `count` at most; open games count as played. Empty if the race is decided."""
    counts = {pairing: len(pairs) for pairing, pairs in _pairs(played).items()}
    number = len({game.pair for game in played})
    doubtful = list(dict.fromkeys(seat for doubt in standing.doubts for seat in (doubt.one, doubt.two)))
    matches: list[PlannedMatch] = []
    while doubtful and len(matches) < count:
        cycle = 1 + min(
            counts.get(_pairing(seat, rival), 0) for seat in doubtful for rival in standing.shares if seat != rival
        )
        for seat, rival in (
            (seat, rival) for seat in doubtful for rival in [*doubtful, *standing.shares] if seat != rival
        ):
            low, high = pairing = _pairing(seat, rival)
            if counts.get(pairing, 0) < cycle and len(matches) < count:
                sides = (low, high) if cycle % 2 else (high, low)
                matches.append(PlannedMatch(cycle, *sides, opening=number + len(matches)))
                counts[pairing] = cycle
    return tuple(matches)


def _pairing(one: int, two: int) -> Pairing:
    return min(one, two), max(one, two)


class RaceFormat(EvidenceFormat[RaceSettings]):
    """Games of bots in doubt, until the best are known."""

    name = "race"
    title = "race"
    purpose = "find the best bots: games of bots in doubt, until the best are known"
    Settings = RaceSettings
    is_followed = True
    has_curves = True
    winner = "First:"
    course = "Race"
    places = ("settled or not", "share of points against all alike")
    example = (
        "\n[race]\n"
        "top = 1                            # number of bots to find, in any order\n"
        "confidence = 0.95                  # confidence required to stop\n"
        "games = 400                        # in total, at most; an even number\n"
    )

    def next_step(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int = AHEAD
    ) -> NextStep:
        """Plan pairs until `ahead` are open, or the race is decided."""
        settings = self.of(document)
        return step(settings.race, settings.games, seeds, played, ahead)

    def max_games(self, document: Document) -> int:
        return self.of(document).games

    def count_games(self, document: Document, players: int) -> tuple[int, int]:
        """Return the bounds of the number of games: no bot is decided before a cycle is complete."""
        games = self.of(document).games
        return (min(players * (players - 1), games), games) if players > 1 else (0, 0)

    def min_players(self, document: Document) -> int:
        """Return one more than the number of bots to find."""
        return self.of(document).top + 1

    def marks(self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> Mapping[int, Marks]:
        """Return places in the order: leaders, undecided, others, withdrawn; in each by the share of points."""
        known = state(self.of(document).race, seeds, played)
        groups = (known.leaders, known.undecided, known.others)
        places = {seat: (float(place), -known.shares[seat]) for place, group in enumerate(groups) for seat in group}
        return {seed.number: Marks(place=places.get(seed.number, (float(len(groups)), 0.0))) for seed in seeds}

    def decision(self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> DecisionState:
        """Return the players that are settled and the doubts that are left."""
        return DecisionState(race=state(self.of(document).race, seeds, played))

    def overview(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], names: Mapping[int, str]
    ) -> TournamentOverview:
        """Return the running and the next matches, with the doubts that they decide."""
        settings = self.of(document)
        known = state(settings.race, seeds, played)
        left = settings.games // 2 - len({game.pair for game in played})
        matches = []
        for match in upcoming(known, played, max(0, min(UPCOMING, left))):
            pair = {match.first, match.second}
            reason = "every bot meets all others equally often"
            for doubt in known.doubts:
                if pair == {doubt.one, doubt.two}:
                    ahead, behind = (f"{names[at]} ({100 * known.shares[at]:.1f} %)" for at in (doubt.one, doubt.two))
                    reason = f"in doubt: is {ahead} ahead of {behind}? {100 * doubt.certainty:.1f} % sure"
            matches.append(UpcomingMatch(names[match.first], names[match.second], reason))
        return TournamentOverview(planned=planned(played, names), upcoming=tuple(matches))


FORMAT = RaceFormat()
