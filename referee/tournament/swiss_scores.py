"""The scores of a Swiss: points, sides and byes of every seat, and the tie-breaks.

Byes follow the FIDE Handbook as of February 2026 (C.04.1, articles 2 to 4): a bye is worth a win. Rounds without a game
count in tie-breaks by C.07 (March 2026), article 16.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from referee.tournament.match import Seed, TournamentGame, absent, matches

BYE, HALF_POINT_BYE, ZERO_POINT_BYE = "bye", "half-point bye", "zero-point bye"


@dataclass(frozen=True, slots=True)
class UnplayedRound:
    """A round in which a bot played no game: a win or a loss without a game, or a bye, which has no opponent.

    `is_voluntary`: the bot lost without a game, or was away. `is_last`: it was away and did not come back.
    """

    rival: int | None
    points: float
    is_voluntary: bool
    is_last: bool = False
    bye: str = ""


@dataclass(slots=True)
class SeatScore:
    """Points, sides and byes of a seat in all rounds planned so far."""

    seat: int
    points: float = 0.0
    rivals: list[tuple[int, float]] = field(default_factory=list)
    """The opponent and the points of every match with a game."""
    unplayed: list[UnplayedRound] = field(default_factory=list)
    """Every other round."""
    balance: int = 0
    """Games as first minus games as second."""
    was_first: bool = False
    """Whether the seat moved first in the first game of its last match."""
    wins: int = 0
    forbidden: frozenset[int] = frozenset()
    """Seats that it must not meet."""

    @property
    def byes(self) -> int:
        """Number of byes and of wins without a game."""
        return sum(round.points > 0 and not round.is_voluntary for round in self.unplayed)

    @property
    def half_point_byes(self) -> int:
        return sum(round.bye == HALF_POINT_BYE for round in self.unplayed)


def lines(
    seeds: Sequence[Seed], played: Sequence[TournamentGame], games: int, late_bye: str = ZERO_POINT_BYE
) -> list[SeatScore]:
    """Return the score of every seat after all planned rounds.

    A void game counts half a point for both bots, a walkover one point for the bot that did not withdraw. A withdrawn
    bot keeps all that it scored, also its byes in rounds that had begun. `late_bye` is what a late entry has in the
    rounds that it missed.
    """
    table = {seed.number: SeatScore(seed.number, forbidden=seed.forbidden) for seed in seeds}
    left = {seed.number: seed.left for seed in seeds if seed.is_withdrawn}
    for (_, low, high), match in matches(played).items():
        gone = absent(left, low, high)
        for game in match.games:
            if game.state != "cancelled":  # games that were not played have no sides
                table[game.first].balance += 1
                table[game.second].balance -= 1
        is_walkover = bool(gone) and all(game.state == "cancelled" for game in match.games)
        for seat, rival in ((low, high), (high, low)):
            points = sum(_points(game, seat, gone) for game in match.games)
            table[seat].wins += sum(game.points_of(seat) == 1 for game in match.games)
            table[seat].points += points
            if is_walkover:
                table[seat].unplayed.append(UnplayedRound(rival, points, is_voluntary=not points))
            else:
                table[seat].was_first = match.games[0].first == seat
                table[seat].rivals.append((rival, points))
    rounds = byes(seeds, played, late_bye)
    for seat, bye in (pair for resting in rounds.values() for pair in resting.items()):
        points = bye_points(bye, games)
        table[seat].unplayed.append(UnplayedRound(None, points, is_voluntary=bye != BYE, bye=bye))
        table[seat].points += points
    for seat in left:
        after = len(rounds) - len(table[seat].rivals) - len(table[seat].unplayed)
        table[seat].unplayed += [UnplayedRound(None, 0.0, is_voluntary=True, is_last=True)] * after
    return list(table.values())


def bye_points(bye: str, games: int) -> float:
    """Return the points of a bye where matches have `games` games."""
    return {BYE: float(games), HALF_POINT_BYE: games / 2, ZERO_POINT_BYE: 0.0}[bye]


def _points(game: TournamentGame, seat: int, gone: Collection[int]) -> float:
    """Return the points of a seat; `gone` has the withdrawn one of the two, or both."""
    if game.state == "void" or (game.state == "cancelled" and not gone):
        return 0.5
    if game.state == "cancelled":
        return float(seat not in gone)
    return game.points_of(seat)


def byes(
    seeds: Sequence[Seed], played: Sequence[TournamentGame], late_bye: str = ZERO_POINT_BYE
) -> dict[int, dict[int, str]]:
    """Return the seats with a bye in each planned round, each with the kind of the bye.

    A withdrawn seat keeps those of rounds that had begun, or came before its last match.
    """

    def kind(seed: Seed, round: int) -> str:
        if round < seed.first_round:
            return late_bye
        return HALF_POINT_BYE if round in seed.half_point_byes else BYE

    playing: dict[int, set[int]] = {}
    last: dict[int, int] = {}
    for game in played:
        playing.setdefault(game.round, set()).update((game.first, game.second))
        for seat in (game.first, game.second):
            last[seat] = max(last.get(seat, 0), game.round)
    return {
        round: {
            seed.number: kind(seed, round)
            for seed in seeds
            if seed.number not in playing[round]
            and (not seed.is_withdrawn or round <= max(seed.rounds, last.get(seed.number, 0)))
        }
        for round in sorted(playing)
    }


@dataclass(frozen=True, slots=True)
class TieBreaks:
    """Tie-breaks after points: `buchholz` is the sum of the opponents' points, `cut` the same without the lowest."""

    buchholz: float
    cut: float
    sonneborn_berger: float


def tie_breaks(table: Sequence[SeatScore], games: int) -> list[TieBreaks]:
    """Return the tie-breaks of every line, where rounds without a game count by FIDE C.07 (March 2026), article 16.

    Rounds after a withdrawal are drawn for the opponents (16.3.2); all others, also requested byes and the rounds
    before a late entry, count with the points scored (16.3.1). For a bot itself, a round without a game is one against
    a bot with its own points, but not more than those of the opponent that did not come (16.4.1), or of a bot that
    drew every round (16.4.2). Cut 1 leaves out the lowest of the rounds that it missed by its own will, if there is
    one (16.5).
    """
    drawn = games / 2
    seen = {line.seat: line.points + drawn * sum(round.is_last for round in line.unplayed) for line in table}
    breaks = []
    for line in table:
        cap = drawn * (len(line.rivals) + len(line.unplayed))
        met = [(seen[rival], points) for rival, points in line.rivals]
        own = [min(line.points, cap if round.rival is None else seen[round.rival]) for round in line.unplayed]
        scores = [*(score for score, _ in met), *own]
        missed = [score for score, round in zip(own, line.unplayed, strict=True) if round.is_voluntary]
        total = sum(scores)
        squares = sum(score * points for score, points in met)
        squares += sum(score * round.points for score, round in zip(own, line.unplayed, strict=True))
        breaks.append(TieBreaks(total, total - min(missed or scores, default=0.0), squares))
    return breaks
