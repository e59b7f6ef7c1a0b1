"""The ledger of a tournament in memory: its planned games, their results in order, and what its format wants next.

A server keeps the same in its database. Both give formats the same seeds and games, so that they plan the same. Planned
matches become games here: specifications with all that a worker needs, numbered after the existing games.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random

from referee.game.openings import Opening, draw_opener, opening_of
from referee.game.record import GameRecord
from referee.game.spec import BotSpec, GameSpec, PlannedGame
from referee.game.unplayed import Suspension
from referee.ratings.trueskill import TrueSkillRating, fold
from referee.rules.core import Kind
from referee.tournament.document import Document
from referee.tournament.formats.format import AHEAD, DecisionState
from referee.tournament.handicap import handicapped, rules_with
from referee.tournament.match import NextStep, PlannedMatch, Seed, State, TournamentGame
from referee.tournament.overview import TournamentOverview
from referee.tournament.ranking import GameResult, Scores, StandingTable, rank
from referee.tournament.seeding import labels_of, order_of_seats


def planned_games(
    document: Document,
    event: str,
    book: Sequence[Opening],
    bots: Mapping[int, BotSpec],
    matches: Sequence[PlannedMatch],
    *,
    sequence: int,
    pair: int,
) -> list[PlannedGame]:
    """Return the games of the matches. `bots` maps seats to bots; `event` makes the ids of games unique.

    `sequence` and `pair` are the last numbers in use; matches without numbers of their own get the next ones.
    """
    control, adjudication, limits = document.control, document.game_adjudication, document.game_limits
    overrides = document.ruleset.overrides
    own = handicapped(bots, document.handicaps, document.entries.bots)
    names = {seat: bot.name for seat, bot in bots.items()}
    has_rules = any(handicap.rule_options for handicap in document.handicaps)
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


def result_line(record: GameRecord, order: int, seats: Mapping[str, int]) -> GameResult:
    """Return a result with its place in the order of results; `seats` are those of the bots by name."""
    return GameResult(
        id=record.id,
        commit_number=order,
        sequence=record.sequence,
        round=record.round,
        pair=record.pair,
        first_id=seats[record.first],
        second_id=seats[record.second],
        first=record.first,
        second=record.second,
        pool="",
        is_rated=False,
        attempt=1,
        winner=record.winner or "",
        kind=record.kind,
        termination=record.termination,
    )


class Ledger:
    """A tournament of these bots, in the order of `document.entries`; their seats follow from its seeding.

    The ledger's document names them as they introduced themselves, in entries and handicaps. `suspension` has the bots
    that failed to get ready; they get no new games, or forfeit them if all are planned.
    """

    def __init__(self, document: Document, bots: Sequence[BotSpec], book: Sequence[Opening]) -> None:
        self.document, labels = _named(document, bots)
        # No bot of a local run has a rating before it.
        self.bots = tuple(bots[place] for place in order_of_seats(document, [0.0] * len(bots)))
        self.names = {seat: bot.name for seat, bot in enumerate(self.bots)}
        self.games: list[PlannedGame] = []
        """All planned games, in planned order."""
        self.records: list[GameRecord] = []
        """The records of the games with a result, in the order of their results."""
        self.scores = Scores()
        self.ratings: dict[str, TrueSkillRating] = {}
        """TrueSkill ratings by name, from the results in their order."""
        self.suspension = Suspension(document.adjudication.suspend_after)
        self._book = book
        self._seats = {name: seat for seat, name in self.names.items()}
        self._labelled = {label: self._seats[name] for label, name in labels.items()}
        self._played: list[TournamentGame] = []
        self._places: dict[str, int] = {}
        self._open: dict[str, PlannedGame] = {}
        self._open_pairs: dict[int, int] = {}

    @property
    def played(self) -> Sequence[TournamentGame]:
        """All planned games as formats see them, in planned order."""
        return self._played

    @property
    def seeds(self) -> Sequence[Seed]:
        """The bots as formats see them, with their present ratings."""
        unknown, gone = TrueSkillRating(), self.suspension.names
        seeds = []
        for seat, name in self.names.items():
            rating = self.ratings.get(name, unknown)
            is_gone, left = name in gone, gone.get(name, 0)
            seeds.append(Seed(seat, is_gone, rating.mu, rating.sigma, is_suspended=is_gone, left=left))
        return self.document.system.with_requests(self.document, seeds, self._labelled.get, {})

    @property
    def open_games(self) -> list[PlannedGame]:
        """The games that wait to be played or are running, in planned order."""
        return list(self._open.values())

    def is_open_pair(self, pair: int) -> bool:
        return self._open_pairs.get(pair, 0) > 0

    def next_step(self, ahead: int = AHEAD) -> NextStep:
        """Return what the format plans now; a repeated call returns the same."""
        return self.document.system.next_step(self.document, self.seeds, self._played, ahead)

    def plan(self, matches: Sequence[PlannedMatch]) -> list[PlannedGame]:
        last = self._played[-1] if self._played else None
        games = planned_games(
            self.document,
            self.document.name,
            self._book,
            dict(enumerate(self.bots)),
            matches,
            sequence=last.sequence if last else 0,
            pair=last.pair if last else 0,
        )
        for game in games:
            spec = game.spec
            seats = self._seats[spec.first.name], self._seats[spec.second.name]
            self._places[game.id] = len(self.games)
            self.games.append(game)
            self._played.append(TournamentGame(spec.sequence, spec.round, spec.pair, *seats, "open"))
            self._open[game.id] = game
            self._open_pairs[spec.pair] = self._open_pairs.get(spec.pair, 0) + 1
        return games

    def add(self, record: GameRecord) -> None:
        """Add a result; that of a game called off counts as well."""
        self.records.append(record)
        order = len(self.records)
        game = self._close(record.id, "done")._replace(points=record.points[0], order=order)
        self._played[self._places[record.id]] = game
        self.scores.extend([result_line(record, order, self._seats)])
        self.ratings = fold([record], self.document.ruleset.rules.draw_probability, self.ratings)

    def resume(self, records: Iterable[GameRecord]) -> None:
        """Add the results of an earlier run, in their order, and suspend the bots that they suspended."""
        for record in records:
            self.add(record)
            self.suspension.add(record)

    def give_up(self, record: GameRecord) -> None:
        """Close a game that stayed void: the tournament continues without its result."""
        assert record.kind is Kind.VOID
        self._close(record.id, "void")

    def call_off(self) -> bool:
        """Cancel the open games if the format no longer needs them; return whether it did."""
        if not self._open or not self.next_step().calls_off:
            return False
        for game_id in tuple(self._open):
            self._close(game_id, "cancelled")
        return True

    def decision(self) -> DecisionState:
        """Return what decides when the tournament ends, as it stands."""
        return self.document.system.decision(self.document, self.seeds, self._played)

    def overview(self) -> TournamentOverview:
        """Return the bracket, the rounds or the next matches, if its format has them."""
        return self.document.system.overview(self.document, self.seeds, self._played, self.names)

    def table(self) -> StandingTable:
        versions = {seat: seat for seat in self.names}
        lines = rank(self.document, self.seeds, self._played, self.names, versions, scores=self.scores)
        criteria = self.document.system.tie_breaks
        return StandingTable(tuple(lines), criteria, self.scores, self.decision(), self.names)

    def _close(self, game_id: str, state: State) -> TournamentGame:
        place = self._places[game_id]
        game = self._played[place] = self._played[place]._replace(state=state)
        if self._open.pop(game_id, None):
            self._open_pairs[game.pair] -= 1
        return game


def _named(document: Document, bots: Sequence[BotSpec]) -> tuple[Document, dict[str, str]]:
    """Return the document with the names of the bots in place of what it calls them, and these names by label."""
    names: dict[str, str] = {}
    for text, bot in zip(document.entries.bots, bots, strict=True):
        for label in labels_of(text):
            names.setdefault(label, bot.name)
    handicaps = [
        handicap.model_copy(
            update={
                "bot": names.get(handicap.bot, handicap.bot),
                "against": handicap.against and names.get(handicap.against, handicap.against),
            }
        )
        for handicap in document.handicaps
    ]
    entries = document.entries.model_copy(update={"bots": [bot.name for bot in bots]})
    return document.model_copy(update={"entries": entries, "handicaps": handicaps}), names
