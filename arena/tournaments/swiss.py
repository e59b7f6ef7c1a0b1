"""Swiss: in each round, bots with equal scores meet, and none meet twice if possible.

A round is a minimum-cost matching of the whole field. In order of importance: no rematches, equal points, balanced
sides (if matches have an odd number of games), and within a score group the fold (best of the upper half against best
of the lower half). In an odd field one bot has a bye, worth a won match: a bot without an earlier bye, with few points.
Seats are the seeding; ratings are not used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from arena.tournaments.match import NextStep, PlanAfter, PlannedMatch, Seed, TournamentGame, finish, matches

PLAN_AFTER = PlanAfter.ALL_OVER

WINDOW = 24
"""In large fields, opponents at most this far apart in rank, or from the ideal opponent, are tried first."""
_WHOLE = 64
"""Fields up to this size are searched completely."""
_BYE = -1


@dataclass(slots=True)
class SeatScore:
    """Score of a seat. `rivals` has, for every match in order of rounds, the opponent (None: a bye) and the points."""

    seat: int
    points: float = 0.0
    rivals: list[tuple[int | None, float]] = field(default_factory=list)
    balance: int = 0
    """Games as first minus games as second."""
    was_first: bool = False
    """Whether the seat moved first in the first game of its last match."""
    wins: int = 0

    @property
    def byes(self) -> int:
        """Number of byes."""
        return sum(rival is None for rival, _ in self.rivals)


def lines(seeds: Sequence[Seed], played: Sequence[TournamentGame], games: int) -> list[SeatScore]:
    """Return the score of every seat after all planned rounds.

    A void game counts half a point for both bots, a walkover one point for the bot that did not withdraw. A withdrawn
    bot keeps the byes before its last match; later byes are indistinguishable from its absence.
    """
    table = [SeatScore(seed.number) for seed in seeds]
    gone = {seed.number for seed in seeds if seed.is_withdrawn}
    for (_, low, high), match in matches(played).items():
        points = {low: 0.0, high: 0.0}
        for game in match.games:
            table[game.first].balance += 1
            table[game.second].balance -= 1
            for seat in (low, high):
                if game.state == "done":
                    points[seat] += game.points_of(seat)
                    table[seat].wins += game.points_of(seat) == 1
                elif game.state == "void" or (game.state == "cancelled" and not {low, high} & gone):
                    points[seat] += 0.5
                elif game.state == "cancelled" and seat not in gone:
                    points[seat] += 1.0
        for seat, rival in ((low, high), (high, low)):
            table[seat].was_first = match.games[0].first == seat
            table[seat].rivals.append((rival, points[seat]))
            table[seat].points += points[seat]
    for resting in byes(seeds, played).values():
        for seat in resting:
            table[seat].rivals.append((None, float(games)))
            table[seat].points += games
    return table


def byes(seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> dict[int, list[int]]:
    """Return the seats with a bye in each planned round; withdrawn seats only before their last match."""
    gone = {seed.number for seed in seeds if seed.is_withdrawn}
    playing: dict[int, set[int]] = {}
    last: dict[int, int] = {}
    for game in played:
        playing.setdefault(game.round, set()).update((game.first, game.second))
        for seat in (game.first, game.second):
            last[seat] = max(last.get(seat, 0), game.round)
    return {
        round: [
            seed.number
            for seed in seeds
            if seed.number not in playing[round] and (seed.number not in gone or round < last.get(seed.number, 0))
        ]
        for round in sorted(playing)
    }


def default_rounds(players: int) -> int:
    """Return enough rounds to find a winner and the next places: log2(players) + 1, at most those of a round robin."""
    return max(1, min(math.ceil(math.log2(max(2, players))) + 1, players - 1 + players % 2))


def step(rounds: int | None, games: int, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> NextStep:
    """Plan the next round once the previous one is over; finish after `rounds` rounds."""
    if any(game.is_open for game in played):
        return NextStep()
    done = max((game.round for game in played), default=0)
    active = [seed.number for seed in seeds if not seed.is_withdrawn]
    if done >= (rounds or default_rounds(len(seeds))) or len(active) < 2:
        return finish(played, f"{done} rounds played")
    table = lines(seeds, played, games)
    field_ = [table[number] for number in active]
    openings = (games + 1) // 2
    return NextStep(
        tuple(
            PlannedMatch(done + 1, first, second, done * openings, games)
            for first, second in pair(field_, done + 1, is_odd=games % 2 == 1)
        )
    )


def pair(field_: Sequence[SeatScore], round: int, *, is_odd: bool = False) -> list[tuple[int, int]]:
    """Pair a round: return (first, second) seats, best board first; a seat in no pair has the bye.

    `is_odd`: matches have an odd number of games, so the balance of sides matters.
    """
    ranked = sorted(field_, key=lambda line: (-line.points, line.seat))
    near = _edges(ranked, WINDOW if len(ranked) > _WHOLE else len(ranked))
    partner = (
        _match(ranked, near, is_odd, may_repeat=False)
        or _match(ranked, _edges(ranked, len(ranked)), is_odd, may_repeat=False)
        or _match(ranked, _edges(ranked, len(ranked)), is_odd, may_repeat=True)
    )
    assert partner is not None, "everybody may meet everybody: there is a pairing"
    tables: list[tuple[int, int]] = []
    for place, line in enumerate(ranked):
        rival = partner[place]
        if rival > place:
            tables.append(_colours(line, ranked[rival], round, len(tables)))
    return tables


def _group_folds(ranked: Sequence[SeatScore]) -> list[int]:
    """Return, for every place in the ranking, its ideal opponent by the fold: the place half a score group away."""
    ideal = [0] * len(ranked)
    begin = 0
    while begin < len(ranked):
        end = begin
        while end < len(ranked) and ranked[end].points == ranked[begin].points:
            end += 1
        half = (end - begin) // 2
        for place in range(begin, begin + half):
            ideal[place], ideal[place + half] = place + half, place
        if (end - begin) % 2:
            ideal[end - 1] = end  # the last of an odd group floats down, or has a bye
        begin = end
    return ideal


def _edges(ranked: Sequence[SeatScore], window: int) -> Iterable[tuple[int, int]]:
    ideal = _group_folds(ranked)
    for one in range(len(ranked)):
        for two in range(one + 1, len(ranked)):
            if two - one <= window or abs(two - ideal[one]) <= window or abs(one - ideal[two]) <= window:
                yield one, two


def _match(
    ranked: Sequence[SeatScore], edges: Iterable[tuple[int, int]], is_odd: bool, *, may_repeat: bool
) -> list[int] | None:
    """Return the opponent of every place in the ranking (`_BYE`: a bye); None if a place has no possible opponent."""
    from networkx import Graph, max_weight_matching  # 0.3 s to import: only when a round is paired

    size = len(ranked)
    ideal = _group_folds(ranked)
    # Each weight exceeds the largest sum of all following ones.
    fold = 1
    colour = 2 * fold * size * size
    most = max((abs(line.balance) for line in ranked), default=0) + 1
    score = 2 * colour * size * most * most
    spread = round(2 * (ranked[0].points - ranked[-1].points)) + 1
    repeat = 2 * score * size * spread * spread
    met = [_matches_by_rival(line) for line in ranked]
    graph = Graph()
    graph.add_nodes_from(range(size))
    for one, two in edges:
        again = met[one].get(ranked[two].seat, 0)
        if again and not may_repeat:
            continue
        cost = repeat * again * again
        cost += score * round(2 * (ranked[one].points - ranked[two].points)) ** 2
        if is_odd and ranked[one].balance * ranked[two].balance > 0:
            cost += colour * min(abs(ranked[one].balance), abs(ranked[two].balance)) ** 2
        cost += fold * abs(two - ideal[one])
        graph.add_edge(one, two, weight=-cost)
    if size % 2:
        for place, line in enumerate(ranked):
            if line.byes and not may_repeat:
                continue
            cost = repeat * line.byes**2 + score * round(2 * (line.points - ranked[-1].points)) ** 2
            graph.add_edge(place, _BYE, weight=-cost - fold * (size - 1 - place))
    matching = max_weight_matching(graph, maxcardinality=True)
    if 2 * len(matching) != size + size % 2:
        return None
    partner = [_BYE] * size
    for one, two in matching:
        if one != _BYE:
            partner[one] = two
        if two != _BYE:
            partner[two] = one
    return partner


def _matches_by_rival(line: SeatScore) -> dict[int, int]:
    counts: dict[int, int] = {}
    for rival, _ in line.rivals:
        if rival is not None:
            counts[rival] = counts.get(rival, 0) + 1
    return counts


def _colours(one: SeatScore, two: SeatScore, round: int, board: int) -> tuple[int, int]:
    """Return (first, second) of two seats. The first is the one that moved first less often; if equal, the one that did
    not begin its last match; if equal again, boards alternate.
    """
    if (one.balance, one.was_first) != (two.balance, two.was_first):
        is_one = (one.balance, one.was_first) < (two.balance, two.was_first)
    else:
        is_one = (round + board) % 2 == 1
    return (one.seat, two.seat) if is_one else (two.seat, one.seat)


@dataclass(frozen=True, slots=True)
class TieBreaks:
    """Tie-breaks after points: `buchholz` is the sum of the opponents' points, `cut` the same without the lowest."""

    buchholz: float
    cut: float
    sonneborn_berger: float


def tie_breaks(table: Sequence[SeatScore]) -> list[TieBreaks]:
    """Return the tie-breaks of every line. A bye counts as an opponent with the bot's own points (FIDE C.07, 16.4)."""
    breaks = []
    for line in table:
        sums = [line.points if rival is None else table[rival].points for rival, _ in line.rivals]
        berger = sum(points * (line.points if rival is None else table[rival].points) for rival, points in line.rivals)
        total = sum(sums)
        breaks.append(TieBreaks(total, total - min(sums, default=0.0), berger))
    return breaks
