"""Swiss: in each round, bots with equal scores meet, and none meet twice if possible.

A round is a minimum-cost matching of the whole field. In order of importance: no second bye while another bot has had
none, no rematches, a bye for the fewest points, equal points, balanced sides (if matches have an odd number of games),
and within a score group the fold (best of the upper half against best of the lower half). Seats are the seeding.

Byes follow the FIDE Handbook as of February 2026. C.04.1, articles 2 to 4: no rematches; a bye is worth a win; who had
one, or a win without a game, gets no other. C.04.3 (Dutch system), [C5]: of the others, it goes to one with the fewest
points. Where no round has neither a second bye nor a rematch, the arbiter decides (C.04.3, 1.9.3): here bots meet
again, as a second bye would give points for nothing. Rounds without a game count in tie-breaks by C.07 (March 2026),
article 16.

A bot may ask for half-point byes, and enter late: its missed rounds are half-point or zero-point byes. Forbidden pairs
never meet. Where these leave too few bots for a round, requested byes of that round are not granted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field

from referee.tournament.formats.format import (
    AHEAD,
    POINTS,
    SONNEBORN_BERGER,
    WINS,
    Criterion,
    Marks,
    SeededFormat,
)
from referee.tournament.match import (
    MAX_ROUNDS,
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
from referee.tournament.seeding import BotName, FindSeat, SeededSettings, labels_of, unknown_bots
from referee.validation import Misfit

if TYPE_CHECKING:
    from referee.tournament.document import Document

WINDOW = 24
"""In large fields, opponents at most this far apart in rank, or from the ideal opponent, are tried first."""
_WHOLE = 64
"""Fields up to this size are searched completely."""
_BYE = -1
BYE, HALF_POINT_BYE, ZERO_POINT_BYE = "bye", "half-point bye", "zero-point bye"


def _rounds(given: Any) -> Any:
    """Return a round, or rounds with commas between them (as forms have them), as a list."""
    if isinstance(given, str):
        return [int(part) if part.strip().isdecimal() else part.strip() for part in given.split(",")]
    return [given] if isinstance(given, int) else given


class SwissSettings(SeededSettings):
    """For `format = "swiss"`: in each round, bots with equal scores meet that have not met before."""

    half_point_byes: dict[
        BotName, Annotated[list[Annotated[int, Field(ge=1, le=MAX_ROUNDS)]], BeforeValidator(_rounds)]
    ] = Field(default={}, max_length=1000)
    """Half-point byes on request, by bot, such as `zeta = [2, 3]`: in these rounds it is not paired, and scores half of
    the points of a match.
    """
    late_entries: dict[BotName, Annotated[int, Field(ge=2, le=MAX_ROUNDS)]] = Field(default={}, max_length=1000)
    """Bots that enter late, each with the first round in which it plays, such as `zeta = 3`. `arena tournament enter`
    adds to them while a Swiss runs.
    """
    late_entry_byes: Literal["zero-point", "half-point"] = "zero-point"
    """Score of a late entry in each round that it missed: nothing, or half of the points of a match."""

    def without(self, names: Iterable[str]) -> Self:
        """Return the table without what it says of these bots."""
        gone = set(names)
        byes = {name: rounds for name, rounds in self.half_point_byes.items() if name not in gone}
        late = {name: round for name, round in self.late_entries.items() if name not in gone}
        return super().without(gone).model_copy(update={"half_point_byes": byes, "late_entries": late})

    def missing(self, round: int) -> int:
        """Return how many bots are not paired in a round: they have a half-point bye, or enter later."""
        late = {name for name, first in self.late_entries.items() if round < first}
        return len(late | {name for name, rounds in self.half_point_byes.items() if round in rounds})


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
        """Number of half-point byes."""
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


def default_rounds(players: int) -> int:
    """Return enough rounds to find a winner and the next places: log2(players) + 1, at most those of a round robin."""
    return max(1, min(math.ceil(math.log2(max(2, players))) + 1, players - 1 + players % 2))


def available(seeds: Sequence[Seed], round: int) -> list[int]:
    """Return the seats that are paired in a round: those that are there, and did not ask for a bye.

    Byes are not granted if fewer than two bots would play: a round without a game would end the tournament.
    """
    here = [seed for seed in seeds if not seed.is_withdrawn and seed.first_round <= round]
    willing = [seed for seed in here if round not in seed.half_point_byes]
    return [seed.number for seed in (willing if len(willing) > 1 else here)]


def step(
    rounds: int | None,
    games: int,
    seeds: Sequence[Seed],
    played: Sequence[TournamentGame],
    late_bye: str = ZERO_POINT_BYE,
) -> NextStep:
    """Plan the next round once the previous one is over; finish after `rounds` rounds."""
    if any(game.is_open for game in played):
        return NextStep()
    done = max((game.round for game in played), default=0)
    active = [seed.number for seed in seeds if not seed.is_withdrawn]
    if done >= (rounds or default_rounds(len(seeds))) or len(active) < 2:
        return finish(played, f"{done} rounds played")
    table = {line.seat: line for line in lines(seeds, played, games, late_bye)}
    pairs = pair([table[seat] for seat in available(seeds, done + 1)], done + 1, is_odd=games % 2 == 1)
    if not pairs:
        return finish(played, f"no further pairing is allowed after {done} rounds")
    # Two games of a match share an opening, with the sides swapped.
    openings = (games + 1) // 2
    return NextStep(tuple(PlannedMatch(done + 1, first, second, done * openings, games) for first, second in pairs))


def pair(field_: Sequence[SeatScore], round: int, *, is_odd: bool = False) -> list[tuple[int, int]]:
    """Pair a round: return (first, second) seats, best board first; a seat in no pair has the bye.

    If withdrawals and byes leave no round without a forbidden pair, as many bots as necessary have the bye.
    `is_odd`: matches have an odd number of games, so the balance of sides matters.
    """
    ranked = sorted(field_, key=lambda line: (-line.points, line.seat))
    near = _edges(ranked, WINDOW if len(ranked) > _WHOLE else len(ranked))
    partner = (
        _match(ranked, near, is_odd, may_repeat=False)
        or _match(ranked, _edges(ranked, len(ranked)), is_odd, may_repeat=False)
        or _match(ranked, _edges(ranked, len(ranked)), is_odd, may_repeat=True)
        or _match(ranked, _edges(ranked, len(ranked)), is_odd, may_repeat=True, may_rest=True)
    )
    assert partner is not None, "everybody may have the bye: there is a pairing"
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
    ranked: Sequence[SeatScore],
    edges: Iterable[tuple[int, int]],
    is_odd: bool,
    *,
    may_repeat: bool,
    may_rest: bool = False,
) -> list[int] | None:
    """Return the opponent of every place in the ranking (`_BYE`: a bye); None if a place has no possible opponent.

    `may_rest`: any places may have a bye, if there is no other way.
    """
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
        if (again and not may_repeat) or ranked[lower].seat in ranked[upper].forbidden:
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
            if line.byes == fewest or may_rest:
                cost = rest * round(2 * (line.points - ranked[-1].points)) + fold * (size - 1 - place)
                cost += repeat * size * (line.byes - fewest)
                graph.add_edge(place, _BYE, weight=-cost)
    # As many pairs as possible first: by weight alone, an empty matching would be best, as no weight is positive.
    matching = max_weight_matching(graph, maxcardinality=True)
    if 2 * len(matching) != size + size % 2 and not may_rest:
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


_BUCHHOLZ = Criterion("Buchholz", lambda line: line.buchholz)
_BUCHHOLZ_CUT = Criterion("Buchholz cut 1", lambda line: line.buchholz_cut)


class Swiss(SeededFormat[SwissSettings]):
    """In each round, bots with equal scores meet that have not met before."""

    name = "swiss"
    title = "Swiss system"
    purpose = "in each round, bots with equal scores meet that have not met before"
    Settings = SwissSettings
    keys = ("rounds",)
    plan_after = PlanAfter.ALL_OVER
    takes_late_entries = True
    needs_games = True
    needs_rounds = True
    is_followed = True
    columns = ("seed", "buchholz", "byes")
    course = "Rounds"
    criteria = (POINTS, _BUCHHOLZ, _BUCHHOLZ_CUT, SONNEBORN_BERGER, WINS)
    example = (
        "games = 2                          # of each pairing, in pairs with one opening and sides swapped\n"
        "rounds = 2                         # default: as many as it takes to find a winner\n"
        "\n[swiss]\n"
        'seeding = "rating"                 # or "entry" (the order of the entries, best first), "random"\n'
        'late_entry_byes = "zero-point"     # or "half-point": for each round that a late entry missed\n'
        '# forbidden_pairs = ["greedy - random"]   # never meet; "same owner": no two bots of one owner\n'
        "# half_point_byes = {greedy = [2]}  # not paired in round 2, for half of the points\n"
    )

    def rounds(self, document: Document, players: int) -> int:
        """Return the rounds that the document sets, else enough to find a winner."""
        return document.rounds or default_rounds(players)

    def late_bye(self, document: Document) -> str:
        """Return what a late entry has in the rounds that it missed."""
        return HALF_POINT_BYE if self.of(document).late_entry_byes == "half-point" else ZERO_POINT_BYE

    def with_requests(
        self, document: Document, seeds: Sequence[Seed], find: FindSeat, owners: Mapping[int, Hashable]
    ) -> Sequence[Seed]:
        """Return the seeds with their half-point byes, first rounds and forbidden opponents."""
        settings = self.of(document)
        byes = {find(name): frozenset(rounds) for name, rounds in settings.half_point_byes.items()}
        first = {find(name): round for name, round in settings.late_entries.items()}
        return [
            replace(seed, first_round=first.get(seed.number, 1), half_point_byes=byes.get(seed.number, frozenset()))
            for seed in settings.keep_apart(seeds, find, owners)
        ]

    def late_entry(self, document: Document, name: str, players: int, rounds: int) -> Document | None:
        """Return the document in which a bot enters the next round; None if all rounds are planned.

        The number of rounds stays what it was, also where it followed from the number of bots.
        """
        last = self.rounds(document, players)
        if rounds >= last:
            return None
        late = {**self.of(document).late_entries, **({name: rounds + 1} if rounds else {})}
        settings = self.of(document).model_copy(update={"late_entries": late})
        return document.model_copy(update={self.table: settings, "rounds": last})

    def faults(self, document: Document) -> Iterator[Misfit]:
        """Yield a fault for each bot that is not entered, each bye after the last round, and pairs that cannot be."""
        settings, field_ = self.of(document), f"{self.table}.half_point_byes"
        yield from settings.faults(document, self.table)
        yield from unknown_bots(document, field_, settings.half_point_byes)
        yield from unknown_bots(document, f"{self.table}.late_entries", settings.late_entries)
        for key, last in (
            (field_, max((max(rounds, default=0) for rounds in settings.half_point_byes.values()), default=0)),
            (f"{self.table}.late_entries", max(settings.late_entries.values(), default=0)),
        ):
            if document.rounds and last > document.rounds:
                yield Misfit(key, f"round {last} is after the last one", f"write {document.rounds} or less")
        if not document.entries.has_query:  # who plays is known, except who has which owner
            seats = {name: seat for seat, bot in enumerate(document.entries.bots) for name in labels_of(bot)}
            seeds = [Seed(seat) for seat in range(len(document.entries.bots))]
            if problem := self.obstacle(document, self.with_requests(document, seeds, seats.get, {})):
                yield Misfit(f"{self.table}.forbidden_pairs", problem, "allow more pairs, or enter more bots")

    def obstacle(self, document: Document, seeds: Sequence[Seed]) -> str:
        """Return which round has no pairing without a forbidden pair; empty if all have one."""
        if not any(seed.forbidden for seed in seeds):
            return ""
        known: dict[tuple[int, ...], bool] = {}
        by_seat = {seed.number: seed for seed in seeds}
        for round in range(1, self.rounds(document, len(seeds)) + 1):
            seats = tuple(available(seeds, round))
            if seats not in known:
                known[seats] = _has_pairing([by_seat[seat] for seat in seats])
            if not known[seats]:
                return f"forbidden pairs leave no pairing of the {len(seats)} bots of round {round}"
        return ""

    def next_step(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int = AHEAD
    ) -> NextStep:
        """Plan the next round once the previous one is over."""
        return step(document.rounds, document.games, seeds, played, self.late_bye(document))

    def count_games(self, document: Document, players: int) -> tuple[int, int]:
        """Return the number of games, twice."""
        missing = self.of(document).missing
        rounds = range(1, self.rounds(document, players) + 1) if players > 1 else range(0)
        games = sum((players - missing(round)) // 2 for round in rounds) * document.games
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
        rounds, done = self.rounds(document, len(seeds)), max((game.round for game in played), default=0)
        pairs = sum(len(available(seeds, round)) // 2 for round in range(done + 1, rounds + 1))
        games = kept + pairs * document.games
        return PlanItem(games, games_per_pairing=document.games, rounds=rounds)

    def total(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], planned: int
    ) -> int | None:
        """Return the number of games if no other bot withdraws."""
        return self.plan_size(document, seeds, played, planned).games

    def marks(self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> Mapping[int, Marks]:
        """Return the points with byes, and the tie-breaks."""
        table = lines(seeds, played, document.games, self.late_bye(document))
        return {
            line.seat: Marks(
                line.points,
                breaks.sonneborn_berger,
                line.byes,
                line.half_point_byes,
                breaks.buchholz,
                breaks.cut,
            )
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
        resting = byes(seeds, played, self.late_bye(document))
        for round, seats in resting.items():
            for seat, bye in seats.items():
                results[names[seat]][round] = RoundResult("", bye_points(bye, document.games), 0.0, bye=bye)
        return TournamentOverview(rounds=tuple(resting), results=results)


def _has_pairing(seeds: Sequence[Seed]) -> bool:
    """Return whether these bots can be paired without a forbidden pair; one of an odd number rests."""
    seats = {seed.number for seed in seeds}
    fewest = min((len(seats) - 1 - len(seed.forbidden & seats) for seed in seeds), default=0)
    if 2 * fewest >= len(seeds):  # Dirac: there is a circle through all of them; the search takes much longer
        return True
    from networkx import Graph, max_weight_matching  # 0.3 s to import

    graph = Graph()
    graph.add_edges_from(
        (seed.number, rival.number)
        for place, seed in enumerate(seeds)
        for rival in seeds[:place]
        if rival.number not in seed.forbidden
    )
    return len(max_weight_matching(graph, maxcardinality=True)) == len(seeds) // 2


FORMAT = Swiss()
