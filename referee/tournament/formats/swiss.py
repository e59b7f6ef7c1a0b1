"""Swiss: in each round, bots with equal scores meet, and none meet twice if possible.

Rounds are paired by `referee.tournament.swiss_pairing`, and scored by `referee.tournament.swiss_scores`. Seats are the
seeding. A bot may ask for half-point byes, and enter late: its missed rounds are half-point or zero-point byes.
Forbidden pairs never meet. Where these leave too few bots for a round, requested byes of that round are not granted.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
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
    finish,
    matches,
)
from referee.tournament.overview import RoundResult, TournamentOverview
from referee.tournament.seeding import BotName, FindSeat, SeededSettings, labels_of, unknown_bots
from referee.tournament.swiss_pairing import has_pairing, pair
from referee.tournament.swiss_scores import HALF_POINT_BYE, ZERO_POINT_BYE, bye_points, byes, lines, tie_breaks
from referee.validation import Misfit

if TYPE_CHECKING:
    from referee.tournament.document import Document


def _rounds(given: Any) -> Any:
    """Return a round, or rounds with commas between them (as forms have them, in brackets or not), as a list."""
    if isinstance(given, str):
        return [int(part) if part.strip().isdecimal() else part.strip() for part in given.strip("[ ]").split(",")]
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


def default_rounds(players: int) -> int:
    """Return enough rounds to find a winner and the next places: log2(players) + 1, at most those of a round robin."""
    # Of an odd number each bot rests once, so that a round robin has one round more.
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
                known[seats] = has_pairing([by_seat[seat] for seat in seats])
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


FORMAT = Swiss()
