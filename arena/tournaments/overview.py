"""Overview of a running tournament: bracket of a knockout, rounds of a Swiss, next matches of a ladder or a race.

Computed from the same seeds and games as the plan of the next games (`format.step`). Pure functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.tournaments import knockout, ladder, race, swiss
from arena.tournaments.match import Seed, TournamentGame, matches
from arena.tournaments.settings import Document

UPCOMING = 6
"""Matches of a ladder or a race shown in advance."""


@dataclass(frozen=True, slots=True)
class BracketMatch:
    """A match of a bracket. A name is empty while the player is unknown, and for a bye.

    `reason` says how it was decided: `points`, `bye`, `walkover`, `both withdrew` or `seeding, after N extra pairs`;
    empty while it is open. `games` are the numbers of its games in the plan.
    """

    one: str
    two: str
    points: tuple[float, float] = (0.0, 0.0)
    winner: str = ""
    reason: str = ""
    games: tuple[int, ...] = ()

    @property
    def is_bye(self) -> bool:
        """True for a bye."""
        return self.reason == "bye"


@dataclass(frozen=True, slots=True)
class BracketRound:
    """A round with its name, such as `Semi-finals`."""

    name: str
    matches: tuple[BracketMatch, ...]


@dataclass(frozen=True, slots=True)
class RoundResult:
    """A bot's result in a round of a Swiss: its opponent (empty for a bye), its points, the opponent's points.

    `games` are the numbers of its games in the plan; `is_open`: some of them are not over yet.
    """

    rival: str
    points: float
    against: float
    games: tuple[int, ...] = ()
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class UpcomingMatch:
    """A match that is running, or that comes next; then `reason` says why."""

    first: str
    second: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TournamentOverview:
    """Overview of a tournament; fields that belong to other formats than its own are empty."""

    bracket: tuple[BracketRound, ...] = ()
    champion: str = ""
    third: str = ""
    rounds: tuple[int, ...] = ()
    results: Mapping[str, Mapping[int, RoundResult]] | None = None
    """Results of a Swiss by name of the bot and round."""
    playing: tuple[UpcomingMatch, ...] = ()
    upcoming: tuple[UpcomingMatch, ...] = ()


def overview(
    document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], names: Mapping[int, str]
) -> TournamentOverview:
    """Return the overview of a tournament with the games in `played`."""
    if len(seeds) < 2:
        return TournamentOverview()
    match document.format:
        case "knockout":
            return _knockout(document, seeds, played, names)
        case "swiss":
            return _swiss(document, seeds, played, names)
        case "ladder":
            return _ladder(document, seeds, played, names)
        case "race":
            return _race(document, seeds, played, names)
    return TournamentOverview()


def _knockout(
    document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], names: Mapping[int, str]
) -> TournamentOverview:
    settings = document.knockout
    bracket = knockout.Bracket(seeds, played, document.games, settings.tiebreak_pairs, third_place=settings.third_place)
    met = matches(played)

    def encounter(tie: knockout.Tie) -> BracketMatch:
        one, two = (names.get(-1 if seat is None else seat, "") for seat in (tie.one, tie.two))
        winner = "" if tie.winner is None else names[tie.winner]
        match = None
        if tie.one is not None and tie.two is not None:
            match = met.get((tie.round, min(tie.one, tie.two), max(tie.one, tie.two)))
        if match is None or tie.one is None or tie.two is None:
            return BracketMatch(one, two, winner=winner, reason=tie.reason)
        points = (match.points(tie.one), match.points(tie.two))
        return BracketMatch(one, two, points, winner, tie.reason, tuple(game.sequence for game in match.games))

    rounds = [
        BracketRound(_round_name(len(bracket.rounds) - number), tuple(encounter(tie) for tie in ties))
        for number, ties in enumerate(bracket.rounds)
    ]
    third = encounter(bracket.third) if bracket.third else None
    if third:
        rounds.append(BracketRound("Third place", (third,)))
    final = bracket.rounds[-1][0].winner
    return TournamentOverview(
        bracket=tuple(rounds), champion="" if final is None else names[final], third=third.winner if third else ""
    )


def _round_name(left: int) -> str:
    """Name a round by the number of rounds left, itself included."""
    return {1: "Final", 2: "Semi-finals", 3: "Quarter-finals"}.get(left, f"Round of {2**left}")


def _swiss(
    document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], names: Mapping[int, str]
) -> TournamentOverview:
    results: dict[str, dict[int, RoundResult]] = {names[seed.number]: {} for seed in seeds}
    for (round, low, high), match in matches(played).items():
        games = tuple(game.sequence for game in match.games)
        for seat, rival in ((low, high), (high, low)):
            results[names[seat]][round] = RoundResult(
                names[rival], match.points(seat), match.points(rival), games, is_open=match.is_open
            )
    byes = swiss.byes(seeds, played)
    for round, resting in byes.items():
        for seat in resting:
            results[names[seat]][round] = RoundResult("", float(document.games), 0.0)
    return TournamentOverview(rounds=tuple(byes), results=results)


def _ladder(
    document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], names: Mapping[int, str]
) -> TournamentOverview:
    sigma = {seed.number: seed.sigma for seed in seeds}
    mu = {seed.number: seed.mu for seed in seeds}
    kept = sum(game.state != "cancelled" for game in played)
    left = (document.ladder.games - kept) // 2 if document.ladder.games else UPCOMING
    upcoming = []
    wish, count = document.ladder, max(0, min(UPCOMING, left))
    for choice in ladder.upcoming(wish.max_games_per_bot, seeds, played, count, rest=wish.rest_after):
        one, two = choice.match.first, choice.match.second
        if choice.starved is not None:
            reason = f"{names[choice.starved]} has waited for {choice.waited} pairs"
        else:
            unsure = max((one, two), key=lambda seat: sigma[seat])
            reason = f"most informative: {abs(mu[one] - mu[two]):.1f} apart, {names[unsure]} ± {2 * sigma[unsure]:.1f}"
        upcoming.append(UpcomingMatch(names[one], names[two], reason))
    return TournamentOverview(playing=_playing(played, names), upcoming=tuple(upcoming))


def _playing(played: Sequence[TournamentGame], names: Mapping[int, str]) -> tuple[UpcomingMatch, ...]:
    open_pairs = {game.pair: game for game in sorted(played, key=lambda game: -game.sequence) if game.is_open}
    return tuple(UpcomingMatch(names[game.first], names[game.second]) for _, game in sorted(open_pairs.items()))


def _race(
    document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], names: Mapping[int, str]
) -> TournamentOverview:
    question = document.race.race
    state = race.state(question, seeds, played)
    left = document.race.games // 2 - len({game.pair for game in played})
    upcoming = []
    for match in race.upcoming(state, played, max(0, min(UPCOMING, left))):
        pair = {match.first, match.second}
        doubt = next(one for one in state.doubts if pair & {one.one, one.two})
        one, two = (f"{names[seat]} ({100 * state.shares[seat]:.1f} %)" for seat in (doubt.one, doubt.two))
        own = "" if pair == {doubt.one, doubt.two} else "; every bot meets all others equally often"
        upcoming.append(
            UpcomingMatch(
                names[match.first],
                names[match.second],
                f"in doubt: is {one} ahead of {two}? Evidence {doubt.wealth:.3g} of {state.bound:.3g}{own}",
            )
        )
    return TournamentOverview(playing=_playing(played, names), upcoming=tuple(upcoming))
