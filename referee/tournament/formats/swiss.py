"""Swiss: in each round, bots with equal scores meet, and none meet twice if possible.

A round is a minimum-cost matching of the whole field. In order of importance: no second bye while another bot has had
none, no rematches, a bye for the fewest points, equal points, balanced sides (if matches have an odd number of games),
and within a score group the fold (best of the upper half against best of the lower half). Seats are the seeding;
ratings are not used.

Byes follow the FIDE Handbook as of February 2026. C.04.1, articles 2 to 4: no rematches; a bye is worth a win; who had
one, or a win without a game, gets no other. C.04.3 (Dutch system), [C5]: of the others, it goes to one with the fewest
points. Where no round has neither a second bye nor a rematch, the arbiter decides (C.04.3, 1.9.3): here bots meet
again, as a second bye would give points for nothing. Rounds without a game count in tie-breaks by C.07 (March 2026),
article 16.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from referee.tournament.formats.format import (
    AHEAD,
    POINTS,
    SONNEBORN_BERGER,
    WINS,
    Criterion,
    Format,
    Marks,
    NoSettings,
)
from referee.tournament.match import (
    Length,
    NextStep,
    PlanAfter,
    PlanItem,
    PlannedMatch,
    Seed,
    TournamentGame,
    absent,
    finish,
    matches,
)
from referee.tournament.overview import RoundResult, TournamentOverview

if TYPE_CHECKING:
    from referee.tournament.document import Document

WINDOW = 24
"""In large fields, opponents at most this far apart in rank, or from the ideal opponent, are tried first."""
_WHOLE = 64
"""Fields up to this size are searched completely."""
_BYE = -1


@dataclass(slots=True)
class SeatScore:
    """Points, sides and byes of a seat in all rounds planned so far."""

    seat: int
    points: float = 0.0
    rivals: list[tuple[int, float]] = field(default_factory=list)
    """The opponent and the points of every match with a game."""
    unplayed: list[tuple[int | None, float]] = field(default_factory=list)
    """The same of every other round: a win or a loss without a game; without opponent a bye, or after withdrawal."""
    balance: int = 0
    """Games as first minus games as second."""
    was_first: bool = False
    """Whether the seat moved first in the first game of its last match."""
    wins: int = 0

    @property
    def byes(self) -> int:
        """Number of byes and of wins without a game."""
        return sum(points > 0 for _, points in self.unplayed)


def lines(seeds: Sequence[Seed], played: Sequence[TournamentGame], games: int) -> list[SeatScore]:
    """Return the score of every seat after all planned rounds.

    A void game counts half a point for both bots, a walkover one point for the bot that did not withdraw. A withdrawn
    bot keeps all that it scored, also its byes in rounds that had begun.
    """
    table = [SeatScore(seed.number) for seed in seeds]
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
                table[seat].unplayed.append((rival, points))
            else:
                table[seat].was_first = match.games[0].first == seat
                table[seat].rivals.append((rival, points))
    resting = byes(seeds, played)
    for seat in (seat for seats in resting.values() for seat in seats):
        table[seat].unplayed.append((None, float(games)))
        table[seat].points += games
    for seat in left:
        after = len(resting) - len(table[seat].rivals) - len(table[seat].unplayed)
        table[seat].unplayed += [(None, 0.0)] * after
    return table


def _points(game: TournamentGame, seat: int, gone: Collection[int]) -> float:
    """Return the points of a seat; `gone` has the withdrawn one of the two, or both."""
    if game.state == "void" or (game.state == "cancelled" and not gone):
        return 0.5
    if game.state == "cancelled":
        return float(seat not in gone)
    return game.points_of(seat)


def byes(seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> dict[int, list[int]]:
    """Return the seats with a bye in each planned round.

    A withdrawn seat keeps those of rounds that had begun, or came before its last match.
    """
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
            if seed.number not in playing[round]
            and (not seed.is_withdrawn or round <= max(seed.rounds, last.get(seed.number, 0)))
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
    # Two games of a match share an opening, with the sides swapped.
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
    # The fold costs at most `size` in each of `size / 2` pairs; the other costs are bounded in the same way.
    fold = 1
    colour = 2 * fold * size * size
    most = max((abs(line.balance) for line in ranked), default=0) + 1
    score = 2 * colour * size * most * most
    spread = round(2 * (ranked[0].points - ranked[-1].points)) + 1
    rest = 2 * score * size * spread * spread
    repeat = 2 * rest * spread
    met = [_matches_by_rival(line) for line in ranked]
    graph = Graph()
    graph.add_nodes_from(range(size))
    for upper, lower in edges:
        again = met[upper].get(ranked[lower].seat, 0)
        if again and not may_repeat:
            continue
        # Squares: two bots that meet a third time cost more than two pairs that meet a second time.
        cost = repeat * again * again
        # Points are multiples of a half: doubled, they are whole numbers.
        cost += score * round(2 * (ranked[upper].points - ranked[lower].points)) ** 2
        if is_odd and ranked[upper].balance * ranked[lower].balance > 0:
            cost += colour * min(abs(ranked[upper].balance), abs(ranked[lower].balance)) ** 2
        cost += fold * abs(lower - ideal[upper])
        # networkx maximises. Whole numbers make it compute exactly, however large they are.
        graph.add_edge(upper, lower, weight=-cost)
    if size % 2:
        fewest = min(line.byes for line in ranked)
        for place, line in enumerate(ranked):
            if line.byes == fewest:
                cost = rest * round(2 * (line.points - ranked[-1].points)) + fold * (size - 1 - place)
                graph.add_edge(place, _BYE, weight=-cost)
    # As many pairs as possible first: by weight alone, an empty matching would be best, as no weight is positive.
    matching = max_weight_matching(graph, maxcardinality=True)
    if 2 * len(matching) != size + size % 2:
        return None
    partner = [_BYE] * size
    for left, right in matching:
        if left != _BYE:
            partner[left] = right
        if right != _BYE:
            partner[right] = left
    return partner


def _matches_by_rival(line: SeatScore) -> dict[int, int]:
    return Counter(rival for rival, _ in line.rivals)


def _colours(left: SeatScore, right: SeatScore, round: int, board: int) -> tuple[int, int]:
    """Return (first, second) of two seats. The first is the one that moved first less often; if equal, the one that did
    not begin its last match; if equal again, boards alternate.
    """
    if (left.balance, left.was_first) != (right.balance, right.was_first):
        is_left = (left.balance, left.was_first) < (right.balance, right.was_first)
    else:
        is_left = (round + board) % 2 == 1
    return (left.seat, right.seat) if is_left else (right.seat, left.seat)


@dataclass(frozen=True, slots=True)
class TieBreaks:
    """Tie-breaks after points: `buchholz` is the sum of the opponents' points, `cut` the same without the lowest."""

    buchholz: float
    cut: float
    sonneborn_berger: float


def tie_breaks(table: Sequence[SeatScore], games: int) -> list[TieBreaks]:
    """Return the tie-breaks of every line, where rounds without a game count by FIDE C.07 (March 2026), article 16.

    Rounds after a withdrawal are drawn for the opponents (16.3.2); all others count with the points scored (16.3.1).
    For a bot itself, a round without a game is one against a bot with its own points, but not more than those of the
    opponent that did not come (16.4.1), or of a bot that drew every round (16.4.2). Cut 1 leaves out the lowest of the
    rounds that it missed, if there is one (16.5).
    """
    drawn = games / 2
    seen = [line.points + drawn * line.unplayed.count((None, 0.0)) for line in table]
    breaks = []
    for line in table:
        cap = drawn * (len(line.rivals) + len(line.unplayed))
        met = [(seen[rival], points) for rival, points in line.rivals]
        own = [(min(line.points, cap if rival is None else seen[rival]), points) for rival, points in line.unplayed]
        scores = [score for score, _ in (*met, *own)]
        missed = [score for score, points in own if not points]
        total = sum(scores)
        squares = sum(score * points for score, points in (*met, *own))
        breaks.append(TieBreaks(total, total - min(missed or scores, default=0.0), squares))
    return breaks


_BUCHHOLZ = Criterion("Buchholz", lambda line: line.buchholz)
_BUCHHOLZ_CUT = Criterion("Buchholz cut 1", lambda line: line.buchholz_cut)


class Swiss(Format[NoSettings]):
    """In each round, bots with equal scores meet that have not met before."""

    name = "swiss"
    title = "Swiss system"
    purpose = "in each round, bots with equal scores meet that have not met before"
    keys = ("rounds",)
    plan_after = PlanAfter.ALL_OVER
    is_seeded = True
    needs_games = True
    needs_rounds = True
    is_followed = True
    columns = ("buchholz", "byes")
    course = "Rounds"
    criteria = (POINTS, _BUCHHOLZ, _BUCHHOLZ_CUT, SONNEBORN_BERGER, WINS)
    example = (
        "games = 2                          # of each pairing, in pairs with one opening and sides swapped\n"
        "rounds = 2                         # default: as many as it takes to find a winner\n"
    )

    def rounds(self, document: Document, players: int) -> int:
        """Return the rounds that the document sets, else enough to find a winner."""
        return document.rounds or default_rounds(players)

    def next_step(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int = AHEAD
    ) -> NextStep:
        """Plan the next round once the previous one is over."""
        return step(document.rounds, document.games, seeds, played)

    def count_games(self, document: Document, players: int) -> tuple[int, int]:
        """Return the number of games, twice."""
        games = self.rounds(document, players) * (players // 2) * document.games if players > 1 else 0
        return games, games

    def count_openings(self, document: Document, players: int) -> int:
        """Return the pairs of games of all rounds: every round has openings of its own."""
        return (document.games + 1) // 2 * self.rounds(document, players)

    def length(self, document: Document, players: int) -> Length:
        """Return the number of rounds."""
        return Length(self.rounds(document, players), "rounds", 1, "", "rounds")

    def plan_size(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], kept: int
    ) -> PlanItem:
        """Return the number of games if no other bot withdraws."""
        active = sum(not seed.is_withdrawn for seed in seeds)
        rounds = self.rounds(document, len(seeds))
        left = max(0, rounds - max((game.round for game in played), default=0)) if active > 1 else 0
        games = kept + left * (active // 2) * document.games
        return PlanItem(games, games_per_pairing=document.games, rounds=rounds)

    def total(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], planned: int
    ) -> int | None:
        """Return the number of games if no other bot withdraws."""
        return self.plan_size(document, seeds, played, planned).games

    def marks(self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> Mapping[int, Marks]:
        """Return the points with byes, and the tie-breaks."""
        table = lines(seeds, played, document.games)
        return {
            line.seat: Marks(line.points, breaks.sonneborn_berger, line.byes, breaks.buchholz, breaks.cut)
            for line, breaks in zip(table, tie_breaks(table, document.games), strict=True)
        }

    def overview(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], names: Mapping[int, str]
    ) -> TournamentOverview:
        """Return the rounds with each bot's results and byes."""
        results: dict[str, dict[int, RoundResult]] = {names[seed.number]: {} for seed in seeds}
        for (round, low, high), match in matches(played).items():
            games = tuple(game.sequence for game in match.games)
            for seat, rival in ((low, high), (high, low)):
                results[names[seat]][round] = RoundResult(
                    names[rival], match.points(seat), match.points(rival), games, is_open=match.is_open
                )
        resting = byes(seeds, played)
        for round, seats in resting.items():
            for seat in seats:
                results[names[seat]][round] = RoundResult("", float(document.games), 0.0)
        return TournamentOverview(rounds=tuple(resting), results=results)


FORMAT = Swiss()
