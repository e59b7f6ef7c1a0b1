"""The coordinator turn by turn, with random results; what its statements decide in SQLite and PostgreSQL."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from arena import tournaments
from arena.coordinator import cron
from arena.coordinator.committer import MAX_ATTEMPTS
from arena.errors import ConflictError, LeaseLostError, StoreUnavailableError
from arena.events.messages import (
    CoordinatorWakeup,
    Event,
    GameEnded,
    RatingsChanged,
    SlotStarted,
    TournamentChanged,
)
from arena.offload import OffloadProcess
from arena.store.bots.versions import bot_spec
from arena.tournaments import StateError, creation
from arena.tournaments.lifecycle import event_of
from referee.game.record import GameRecord
from referee.game.spec import PlannedGame
from referee.machine.pool import WorkerLostError
from referee.ratings.sprt import Sprt
from referee.rules.core import Kind, Termination
from referee.tournament import openings
from referee.tournament.document import read
from referee.tournament.formats import round_robin
from referee.tournament.formats import sprt as sequential
from referee.tournament.ledger import planned_games
from referee.tournament.match import Seed
from referee.tournament.part import SettingsError
from tests.arena.coordinator.stage import Dice, Stage, on_sqlite, record_of, void_of

TIMEOUT_S = 100
DOCUMENTS: dict[str, dict[str, Any]] = {
    "round-robin": {"games": 4},
    "gauntlet": {"games": 2, "entries": {"bots": ["cleo"], "all": True}},
    "swiss": {"rounds": 3},
    "knockout": {"knockout": {"tiebreak_pairs": 2, "third_place": True}},
    "ladder": {"ladder": {"games": 40, "max_games_per_bot": 0}},
    "race": {"race": {"games": 40}},
    "sprt": {"entries": {"bots": ["ada", "bob"]}, "sprt": {"games": 30}},
}


def totals(stage: Stage, number: int) -> tuple[int, int]:
    """Return the numbers of finished and of all games, as pages show them."""
    found = stage.tournament(number)
    return found.finished_games, found.planned_games


@pytest.mark.parametrize("format", DOCUMENTS)
@on_sqlite
def test_every_format_is_played_to_its_end(stage: Stage, format: str) -> None:
    number = stage.create(format=format, **DOCUMENTS[format])
    stage.play(number)
    stage.check_exactly_once(number)
    tournament = stage.tournament(number)
    assert (tournament.state, tournament.finished_at is not None) == ("finished", True)
    expected = {"round-robin": 24, "gauntlet": 6, "swiss": 12, "ladder": 40, "sprt": 30}
    assert len(stage.games(number)) == expected.get(format, tournament.planned_games)
    if format == "gauntlet":
        assert all("cleo v1" in (game.first, game.second) for game in stage.store.results.in_planned_order(number))


@on_sqlite
def test_results_are_recorded_while_openings_are_drawn(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    may_draw, draw_elsewhere = threading.Event(), OffloadProcess.call

    def draw(process: OffloadProcess, *call: Any) -> Any:
        assert may_draw.wait(TIMEOUT_S)
        return draw_elsewhere(process, *call)

    monkeypatch.setattr(OffloadProcess, "call", draw)
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    playing = stage.create()
    coordinator.turn()
    waiting = stage.create(openings="random:2:7")
    dice.release(1)
    coordinator.turn()
    coordinator.turn()
    assert totals(stage, playing)[0] == 2
    assert (stage.tournament(waiting).state, stage.games(waiting)) == ("scheduled", [])
    may_draw.set()
    while stage.tournament(waiting).state == "scheduled":
        coordinator.turn()
    assert {len(planned.game.spec.opening) for planned in stage.store.queue.waiting(waiting, 100)} == {2}


@on_sqlite
def test_a_decided_sequential_test_cancels_running_games(stage: Stage) -> None:
    settings = {"games": 400, "elo0": 0, "elo1": 200}
    number = stage.create(format="sprt", entries={"bots": ["ada", "bob"]}, sprt=settings)
    dice = Dice(is_held=True)
    dice.reply = lambda game: record_of(game, winner="first" if game.spec.first.name == "ada v1" else "second")
    dice.size = 4
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    while not dice.called_off:
        dice.begin()
        dice.release(1)
        coordinator.turn()
    assert len(dice.called_off) == 7
    coordinator.turn()
    assert stage.tournament(number).state == "finished"
    with pytest.raises(StateError, match="more games would change nothing: H1 after"):
        tournaments.extend(stage.store, number, amount=2)
    games = stage.games(number)
    verdict = sequential.verdict(Sprt(0, 200), games)
    assert verdict.state == "H1"
    assert Counter(game.state for game in games) == {
        "done": 2 * verdict.pairs,
        "cancelled": len(games) - 2 * verdict.pairs,
    }
    assert len(dice.played) == 2 * verdict.pairs
    assert totals(stage, number) == (2 * verdict.pairs, 2 * verdict.pairs)


def whole_plan(stage: Stage, number: int) -> list[str]:
    """Return the ids of all games of a round robin or gauntlet, planned at once."""
    tournament, entries = stage.store.tournaments.get(number), stage.store.tournaments.entries(number)
    document = read(tournament.settings)
    versions = {entry.seat: stage.store.versions.get(entry.version_id) for entry in entries}
    bots = {seat: bot_spec(version, document.family) for seat, version in versions.items()}
    event = event_of(tournament)
    seeds = [Seed(entry.seat) for entry in entries]
    matches = list(document.system.plan(document.games, seeds))
    book = openings.draw(document, openings.size(document, len(seeds)))
    return [game.id for game in planned_games(document, event, book, bots, matches, sequence=0, pair=0)]


@pytest.mark.parametrize("format", ["round-robin", "gauntlet"])
@on_sqlite
def test_a_plan_in_windows_has_the_same_games_as_the_whole_in_spite_of_restarts(
    stage: Stage, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(round_robin, "WINDOW", 2)
    entries = {"bots": ["cleo"], "all": True}
    number = stage.create(format=format, games=5, sides="random", seed=7, entries=entries)
    stage.coordinator(Dice(is_held=True)).turn()
    plan = whole_plan(stage, number)
    for _ in range(200):
        tournament = stage.tournament(number)
        if tournament.state == "finished":
            break
        assert tournament.planned_games == sum(stage.store.games.counts(number).values()) == len(plan)
        assert len(stage.store.queue.frontier(number, stage.seats(number))) <= 2 * max(2, 8) + 1
        coordinator = stage.coordinator(Dice())
        coordinator.turn()
        coordinator.turn()
    stage.check_exactly_once(number, len(plan))
    assert [line.id for line in stage.store.games.of_tournament(number).items] == plan


def test_creating_a_large_tournament_stores_a_window_of_its_plan(stage: Stage) -> None:
    number = stage.create(games=1000)
    coordinator = stage.coordinator(Dice(is_held=True))
    coordinator.turn()
    tournament = stage.tournament(number)
    assert (tournament.planned_games, tournament.later_games) == (6000, 6000 - 2 * round_robin.WINDOW)
    assert stage.store.queue.open() == {"planned": 6000 - 8, "queued": 8}
    assert len(stage.games(number)) == 2 * round_robin.WINDOW
    tournaments.pause(stage.store, number, stage.now)
    tournaments.withdraw(stage.store, number, stage.ids["ada"])
    out = [game.spec for job in coordinator.in_flight.jobs.values() for game in job.games]
    queued = sum("ada v1" in (spec.first.name, spec.second.name) for spec in out)
    assert totals(stage, number) == (0, 3000 + queued)
    tournaments.cancel(stage.store, number, stage.now)
    assert totals(stage, number) == (0, 0)
    assert stage.store.queue.open() == {}


@on_sqlite
def test_several_tournaments_share_the_slots(stage: Stage) -> None:
    numbers = [stage.create(name=f"cup {index}", games=4) for index in range(3)]
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    while not all(stage.tournament(number).state == "finished" for number in numbers):
        dice.release(1)
        coordinator.turn()
    order = [stage.store.games.get(game).tournament_id for game in dice.played]
    assert set(order[:12]) == set(numbers)
    for number in numbers:
        stage.check_exactly_once(number, 24)


@on_sqlite
def test_short_jobs_are_handed_out_ahead_until_they_take_longer(stage: Stage) -> None:
    stage.create(games=2000, entries={"bots": ["ada", "bob"]})
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)

    def most_in_flight(pause: timedelta) -> int:
        """Let two jobs end before each of many turns; return how many are in flight at last."""
        for _ in range(20):
            dice.release(2)
            stage.now += pause
            coordinator.turn()
        return len(dice.held)

    assert most_in_flight(timedelta(seconds=1)) == 4
    assert most_in_flight(timedelta(seconds=0.1)) == 10  # as many as end in half a second
    assert most_in_flight(timedelta(seconds=0.01)) == 16
    assert most_in_flight(timedelta(seconds=1)) == 4


def handed_out(stage: Stage, until: int) -> list[int]:
    """Play with held slots until a tournament is over; return the tournaments of all games in the order of play."""
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    while stage.tournament(until).state != "finished":
        dice.release(1)
        coordinator.turn()
    return [stage.store.games.get(game).tournament_id for game in dice.played]


@on_sqlite
def test_equal_priorities_share_alike_and_higher_ones_get_more(stage: Stage) -> None:
    low = stage.create(games=8, entries={"bots": ["ada", "bob"]}, priority=-5)
    equals = [stage.create(games=40, entries={"bots": ["cleo", "dan"]}) for _ in range(2)]
    order = handed_out(stage, low)
    shares = Counter(order[:20])
    assert shares == {equals[0]: 8, equals[1]: 8, low: 4}


@on_sqlite
def test_the_lowest_priority_gets_its_share_beside_the_highest(stage: Stage) -> None:
    high = stage.create(games=200, entries={"bots": ["ada", "bob"]}, priority=100)
    low = stage.create(games=4, entries={"bots": ["cleo", "dan"]}, priority=-100)
    order = handed_out(stage, low)
    assert [number for number, game in enumerate(order) if game == low][2] <= 2 + 2 * 17
    assert Counter(order)[high] >= 30


@on_sqlite
def test_the_first_game_of_a_newcomer_does_not_wait_for_the_end_of_a_race(stage: Stage) -> None:
    stage.create(format="race", race={"games": 20_000}, entries={"bots": ["ada", "bob", "cleo"]})
    (ladder,) = creation.ensure_ladders(stage.store, ["loa"], "5+0.1", stage.now)
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    for _ in range(220):  # until all bots of the ladder have their games, and it rests
        coordinator.turn()
        dice.release(1)
    begun = len(dice.played)
    for name in ("eve", "fay"):
        stage.bot(name)
        before = len(dice.played) + sum(len(games) for _, games in dice.held)
        coordinator.order(None)
        coordinator.turn()
        for _ in range(60):
            dice.release(1)
            stage.now += timedelta(seconds=1)
            coordinator.turn()
        records = [stage.store.games.get(game) for game in dice.played[before:]]
        mine = [number for number, game in enumerate(records) if f"{name} v1" in (game.first, game.second)]
        assert mine[0] <= 2 * 5, "among the next five pairs that are handed out"
        assert records[mine[0]].tournament_id == ladder.id
    later = Counter(stage.store.games.get(game).tournament_id == ladder.id for game in dice.played[begun:])
    assert later[False] > 3 * later[True], "and the race goes on"


@on_sqlite
def test_the_priority_of_a_running_tournament_can_be_changed(stage: Stage) -> None:
    first, second = (stage.create(games=40, entries={"bots": ["ada", "bob"]}) for _ in range(2))
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    dice.release()
    assert stage.store.tournaments.prioritise(second, 10).priority == 10
    assert [tournament.priority for tournament in stage.store.tournaments.live()] == [0, 10]
    played = len(dice.played)
    for _ in range(30):
        coordinator.turn()
        dice.release(1)
    shares = Counter(stage.store.games.get(game).tournament_id for game in dice.played[played + 2 : played + 42])
    assert 3 <= shares[second] / shares[first] <= 5, "four times as many"
    stage.store.tournaments.move(first, "cancelled")
    with pytest.raises(ConflictError, match="cancelled: it has no more games"):
        stage.store.tournaments.prioritise(first, 1)
    of_people = stage.store.people.tournament("loa", "Games", {"variant": "standard"}, "loa")
    with pytest.raises(ConflictError, match="has no priority: players start its games"):
        stage.store.tournaments.prioritise(of_people, 1)


@on_sqlite
def test_a_tournament_without_priority_has_the_default(stage: Stage) -> None:
    number = stage.create()
    settings = stage.tournament(number).settings
    without = {name: settings[name] for name in settings if name != "priority"}
    assert stage.store.tournaments.replace_settings(number, settings, without)
    assert stage.tournament(number).priority == 0
    assert [found.priority for found in stage.store.tournaments.live()] == [0]


@on_sqlite
def test_a_tournament_starts_when_it_is_due(stage: Stage) -> None:
    number = stage.create(start_time=(stage.now + timedelta(hours=1)).isoformat())
    coordinator = stage.coordinator(Dice())
    coordinator.turn()
    assert stage.tournament(number).state == "scheduled"
    stage.now += timedelta(hours=1, seconds=1)
    coordinator.turn()
    assert stage.tournament(number).state == "running"
    early = stage.create(start_time=(stage.now + timedelta(hours=1)).isoformat())
    tournaments.start(stage.store, early, stage.now)
    stage.play(early)
    stage.check_exactly_once(early)


@on_sqlite
def test_the_games_of_a_pair_go_to_one_slot_with_sides_swapped(stage: Stage) -> None:
    number = stage.create(games=2)
    dice = Dice(is_held=True)
    stage.coordinator(dice).turn()
    assert len(dice.held) == 4
    for _, pair in dice.held:
        first, second = (game.spec for game in pair)
        assert (first.first.name, first.second.name) == (second.second.name, second.first.name)
        assert first.pair == second.pair
    assert stage.store.games.counts(number) == {"planned": 4, "queued": 8}


@pytest.mark.parametrize("format", ["race", "sprt"])
@on_sqlite
def test_formats_that_may_end_after_any_result_dispatch_one_pair_at_a_time(stage: Stage, format: str) -> None:
    number = stage.create(format=format, entries={"bots": ["ada", "bob"]}, **{format: {"games": 40}})
    dice = Dice(record_of, is_held=True)
    coordinator = stage.coordinator(dice)
    while stage.tournament(number).state != "finished":
        coordinator.turn()
        assert all(len(games) <= 2 for _, games in dice.held)
        dice.release()


def test_a_lost_worker_charges_one_game_and_all_are_replayed(stage: Stage) -> None:
    number = stage.create(games=24, entries={"bots": ["ada", "bob"]})
    lost: list[str] = []

    def reply(game: PlannedGame) -> GameRecord:
        if game.spec.sequence == 15 and not lost:
            lost.append(game.id)
            raise WorkerLostError("killed")
        return record_of(game)

    stage.play(number, Dice(reply), turn=timedelta(minutes=1))
    stage.check_exactly_once(number, 24)
    assert sum(len(stage.store.voids.of(line.id)) for line in stage.store.games.of_tournament(number).items) == 1


# -- what goes wrong -------------------------------------------------------------------------------------------------


def test_every_void_game_has_a_number_of_attempts() -> None:
    replayed = {termination for termination in Termination if termination.kind is Kind.VOID} - {Termination.STOPPED}
    assert set(MAX_ATTEMPTS) == replayed


@pytest.mark.parametrize("termination", MAX_ATTEMPTS)
@on_sqlite
def test_a_void_game_is_retried_a_bounded_number_of_times(stage: Stage, termination: Termination) -> None:
    most = MAX_ATTEMPTS[termination]
    number = stage.create(games=2)
    tries: Counter[int] = Counter()

    def reply(game: PlannedGame) -> GameRecord:
        tries[game.spec.sequence] += 1
        is_void = game.spec.sequence == 5 or (game.spec.sequence == 8 and tries[8] < most)
        return void_of(game, termination) if is_void else record_of(game)

    stage.play(number, Dice(reply), turn=timedelta(minutes=1))
    assert tries == {sequence: most if sequence in (5, 8) else 1 for sequence in range(1, 13)}
    games = {game.sequence: game for game in stage.store.games.of_tournament(number).items}
    lost = games.pop(5)
    assert (lost.state, lost.winner, lost.termination_class, lost.commit_number) == ("void", None, "void", None)
    assert {game.state for game in games.values()} == {"finished"}
    assert [void.attempt for void in stage.store.voids.of(lost.id)] == [*range(1, most + 1)]
    assert stage.store.ratings.of_game(lost.id) == {}
    lines = stage.store.ratings.leaderboard("loa").items
    assert sum(line.games for line in lines) == 2 * 11
    assert sum(line.forfeits for line in lines) == sum(game.termination_class == "forfeit" for game in games.values())
    assert stage.store.ratings.check() == []
    tournament = stage.tournament(number)
    assert (tournament.state, tournament.planned_games, tournament.finished_games) == ("finished", 12, 12)


@on_sqlite
def test_repeated_void_attempts_back_off_without_blocking_others(stage: Stage) -> None:
    number = stage.create(games=4)
    tried: list[datetime] = []

    def reply(game: PlannedGame) -> GameRecord:
        if game.spec.sequence > 1:
            return record_of(game)
        tried.append(stage.now)
        return void_of(game) if len(tried) < 6 else record_of(game)

    stage.play(number, Dice(reply), turn=timedelta(seconds=0.5))
    rests = [(after - before).total_seconds() for before, after in pairwise(tried)]
    assert rests[0] <= 1
    assert all(least <= rest <= least + 1 for rest, least in zip(rests[1:], (1, 2, 4, 8), strict=True))
    stage.check_exactly_once(number, 24)


@on_sqlite
def test_games_of_another_owner_are_not_requeued(stage: Stage) -> None:
    number = stage.create(games=2)
    dice = Dice(is_held=True)
    first = stage.coordinator(dice)
    first.turn()
    stage.coordinator(Dice(is_held=True)).turn()
    before = stage.store.games.of_tournament(number).items
    for future, _ in dice.held:
        future.cancel()
    first.recorder.collect()
    assert stage.store.games.of_tournament(number).items == before
    assert {game.lease_owner for game in before if game.state == "queued"} != {first.leadership.name}


@on_sqlite
def test_only_the_running_game_is_charged_for_a_lost_worker(stage: Stage) -> None:
    number = stage.create(games=2, entries={"bots": ["ada", "bob"]})

    def reply(game: PlannedGame) -> GameRecord:
        stage.bus.publish(SlotStarted(game=game.id))
        if game.spec.sequence == 2:
            raise WorkerLostError("killed")
        return record_of(game)

    dice = Dice(reply)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    for _ in range(40):  # there is no listener: report started games as it would
        for game in coordinator.in_flight.by_game:
            if stage.store.games.get(game).sequence == 2:
                coordinator.recorder.game_began(game)
        coordinator.turn()
        stage.now += timedelta(minutes=1)
    games = {game.sequence: game for game in stage.store.games.of_tournament(number).items}
    assert (games[2].state, games[2].termination) == ("void", "worker-lost")
    assert len(stage.store.voids.of(games[2].id)) == MAX_ATTEMPTS[Termination.WORKER_LOST]
    assert stage.tournament(number).state == "finished"
    assert (games[1].state, len(stage.store.voids.of(games[1].id))) == ("finished", 0)


def test_an_unavailable_database_loses_no_result(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    number = stage.create(games=2)
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    is_away = True

    for noun, name in (("results", "commit"), ("queue", "start"), ("queue", "hand_out"), ("tournaments", "live")):
        target = getattr(stage.store, noun)
        method = getattr(target, name)

        def away(*arguments: Any, _method: Any = method, **options: Any) -> Any:
            if is_away:
                raise StoreUnavailableError("locked")
            return _method(*arguments, **options)

        monkeypatch.setattr(target, name, away)
    dice.release()
    for _ in range(3):
        with pytest.raises(StoreUnavailableError):
            coordinator.turn()
    is_away = False
    played = len(dice.played)
    while stage.tournament(number).state != "finished":
        coordinator.turn()
        dice.release()
    assert len(dice.played) == len(set(dice.played)) == 12 > played
    stage.check_exactly_once(number, 12)


def test_a_crash_at_any_moment_records_every_result_once(stage: Stage) -> None:
    number = stage.create(games=6)
    for kept in (0, 1, 2, 3, 1, 0, 2):  # each coordinator is lost after some results, with others arriving
        dice = Dice(is_held=True)
        coordinator = stage.coordinator(dice)
        coordinator.turn()
        dice.release(kept)
        coordinator.turn()
        dice.release(1)  # a result without an event
    stage.play(number)
    stage.check_exactly_once(number, 36)


def test_a_fenced_coordinator_records_nothing_and_its_results_reach_the_next(stage: Stage) -> None:
    number = stage.create(games=2)
    old_dice, new_dice = Dice(is_held=True), Dice(is_held=True)
    old = stage.coordinator(old_dice)
    old.turn()
    new = stage.coordinator(new_dice)
    new.turn()
    old_dice.release()
    with pytest.raises(LeaseLostError):
        old.turn()
    assert stage.store.games.counts(number).get("finished", 0) == 0
    assert len(old.spool) == len(new.spool) == 8  # one data folder, as both are on this machine
    new.recorder.restore()  # as it does periodically; all these games are in flight in its own slots
    new_dice.release()
    for _ in range(20):
        new.turn()
        new_dice.release()
    stage.check_exactly_once(number, 12)
    assert len(new.spool) == 0


# -- steering --------------------------------------------------------------------------------------------------------


@on_sqlite
def test_pause_cancels_games_and_resume_replays_them_even_after_a_restart(stage: Stage) -> None:
    number = stage.create(games=2)
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    dice.begin()
    tournaments.pause(stage.store, number, stage.now)
    coordinator.turn()
    assert len(dice.called_off) == 4
    coordinator.turn()
    assert stage.store.games.counts(number) == {"planned": 12}
    assert stage.store.voids.page().items == []
    again = stage.coordinator(Dice())
    for _ in range(3):
        again.turn()
    assert stage.store.games.counts(number) == {"planned": 12}
    tournaments.resume(stage.store, number, stage.now)
    stage.play(number)
    stage.check_exactly_once(number, 12)


@on_sqlite
def test_draining_lets_running_games_finish_then_pauses(stage: Stage) -> None:
    number = stage.create(games=2)
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    first = dice.held[0][0]
    first.set_running_or_notify_cancel()
    for game in coordinator.in_flight.jobs[first].games:
        coordinator.recorder.game_began(game.id)
    tournaments.drain(stage.store, number, stage.now)
    coordinator.turn()
    coordinator.turn()
    assert stage.store.games.counts(number) == {"planned": 10, "running": 2}
    assert stage.tournament(number).state == "draining"
    dice.release()
    coordinator.turn()
    assert stage.tournament(number).state == "paused"
    assert stage.store.games.counts(number) == {"planned": 10, "finished": 2}
    tournaments.resume(stage.store, number, stage.now)
    stage.play(number)
    stage.check_exactly_once(number, 12)


@on_sqlite
def test_a_draining_tournament_survives_a_restart(stage: Stage) -> None:
    number = stage.create(games=2)
    stage.coordinator(Dice(is_held=True)).turn()
    tournaments.drain(stage.store, number, stage.now)
    stage.coordinator(Dice()).turn()
    assert stage.tournament(number).state == "paused"
    assert stage.store.games.counts(number) == {"planned": 12}


@on_sqlite
def test_draining_the_last_game_finishes_the_tournament(stage: Stage) -> None:
    number = stage.create(games=2, entries={"bots": ["ada", "bob"]})
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    dice.begin()
    tournaments.drain(stage.store, number, stage.now)
    dice.release()
    coordinator.turn()
    coordinator.turn()
    assert stage.tournament(number).state == "finished"


def test_cancelling_is_final_and_keeps_results(stage: Stage) -> None:
    number = stage.create(games=2)
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    dice.release(1)
    coordinator.turn()
    dice.begin()
    tournaments.cancel(stage.store, number, stage.now)
    coordinator.turn()
    coordinator.turn()
    assert stage.store.games.counts(number) == {"cancelled": 10, "finished": 2}
    assert totals(stage, number) == (2, 2)
    stage.coordinator(Dice()).turn()
    assert stage.store.games.counts(number) == {"cancelled": 10, "finished": 2}
    assert stage.store.ratings.check() == []
    for verb in (tournaments.resume, tournaments.pause, tournaments.drain, tournaments.cancel, tournaments.start):
        with pytest.raises(StateError) as caught:
            verb(stage.store, number, stage.now)
        assert caught.value.state == "cancelled"


@on_sqlite
def test_a_scheduled_tournament_can_be_paused_and_resumed(stage: Stage) -> None:
    number = stage.create(start_time=(stage.now + timedelta(hours=1)).isoformat())
    tournaments.pause(stage.store, number, stage.now)
    stage.now += timedelta(hours=2)
    stage.coordinator(Dice()).turn()
    assert stage.tournament(number).state == "paused"
    assert tournaments.resume(stage.store, number, stage.now).state == "scheduled"
    stage.play(number)


@pytest.mark.parametrize(
    ("format", "amount", "more"),
    [("round-robin", 2, 12), ("swiss", 1, 4), ("ladder", 6, 6), ("race", 6, 6), ("gauntlet", 2, 6)],
)
@on_sqlite
def test_extending_continues_a_finished_tournament(stage: Stage, format: str, amount: int, more: int) -> None:
    number = stage.create(format=format, **{**DOCUMENTS[format], **({"rounds": 2} if format == "swiss" else {})})
    stage.play(number)
    before = stage.tournament(number).planned_games
    plan = tournaments.extend(stage.store, number, amount=amount)
    assert plan.games == before + more
    assert stage.tournament(number).state == "running"
    stage.play(number)
    stage.check_exactly_once(number, before + more)
    for bad in (0, -2, 10**9):
        with pytest.raises(SettingsError):
            tournaments.extend(stage.store, number, amount=bad)


@on_sqlite
def test_a_withdrawn_bot_plays_no_further_games(stage: Stage) -> None:
    number = stage.create(games=4)
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    tournaments.withdraw(stage.store, number, stage.ids["ada"])
    planned = stage.store.games.counts(number)
    assert planned["cancelled"] > 0
    assert totals(stage, number) == (0, 24 - planned["cancelled"])
    stage.bus.publish(CoordinatorWakeup(tournament=number))
    coordinator.order(number)
    for _ in range(40):
        coordinator.turn()
        dice.release()
    assert stage.tournament(number).state == "finished"
    counts = stage.store.games.counts(number)
    assert counts["cancelled"] > 0
    assert counts["finished"] + counts["cancelled"] == 24
    assert totals(stage, number) == (counts["finished"], counts["finished"])
    played = stage.store.results.in_planned_order(number)
    assert sum("ada v1" not in (game.first, game.second) for game in played) == 12
    plan = tournaments.extend(stage.store, number, to=6)
    assert (plan.games_per_pairing, plan.games) == (6, counts["finished"] + 6)
    stage.play(number)
    assert totals(stage, number) == (plan.games, plan.games)


@on_sqlite
def test_a_new_version_joins_a_ladder_and_a_retired_one_leaves_it(stage: Stage) -> None:
    number = stage.create(format="ladder", ladder={"games": 60})
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    eve = stage.bot("eve")
    stage.store.versions.retire(stage.ids["dan"])
    for _ in range(80):
        dice.release()
        coordinator.turn()
    assert stage.tournament(number).state == "finished"
    played = stage.store.results.in_planned_order(number)
    assert sum(eve in (game.first_id, game.second_id) for game in played) > 4
    last = max(game.sequence for game in played if stage.ids["dan"] in (game.first_id, game.second_id))
    assert last < len(played)
    stage.store.ratings.check()


# -- schedules -------------------------------------------------------------------------------------------------------


def recurring(stage: Stage, missed: str = "once", **more: Any) -> int:
    """Create an hourly round robin."""
    document = {
        "name": "hourly {date} {time}",
        "family": "loa",
        "openings": "none",
        "entries": {"newest": True},
        "schedule": {"cron": "0 * * * *", "timezone": "UTC", "catch_up": missed},
        **more,
    }
    schedule = cron.create(stage.store, document, stage.user_id, stage.now)
    assert schedule.id is not None
    return schedule.id


def names(stage: Stage) -> list[str]:
    """Return the names of all tournaments, oldest first."""
    return [found.name for found in stage.store.tournaments.page().items][::-1]


@on_sqlite
def test_a_schedule_creates_tournaments_that_are_played(stage: Stage) -> None:
    recurring(stage)
    coordinator = stage.coordinator(Dice())
    coordinator.turn()
    assert names(stage) == []
    for _ in range(2):
        stage.now += timedelta(hours=1)
        for _ in range(8):
            coordinator.turn()
    assert names(stage) == ["hourly 2026-05-01 13:00", "hourly 2026-05-01 14:00"]
    assert {tournament.state for tournament in stage.store.tournaments.page().items} == {"finished"}


@pytest.mark.parametrize(
    ("zone", "expression", "name"),
    [
        ("America/Los_Angeles", "0 20 * * 5", "Cup 2026-05-01 20:00"),
        ("Asia/Tokyo", "0 8 * * *", "Cup 2026-05-02 08:00"),
        ("Europe/Paris", "0 0 * * *", "Cup 2026-05-02 00:00"),
    ],
)
@on_sqlite
def test_a_recurring_tournament_is_named_by_the_clock_of_its_schedule(
    stage: Stage, zone: str, expression: str, name: str
) -> None:
    schedule = {"cron": expression, "timezone": zone}
    number = recurring(stage, name="Cup {date} {time}", schedule=schedule)
    fire = stage.store.schedules.get(number).next_fire
    assert fire
    (tournament,) = cron.tick(stage.store, fire)
    assert (tournament.name, tournament.start_time) == (name, fire)
    document = {**tournament.settings, "schedule": None}
    stage.store.tournaments.move(tournament.id, "paused")
    assert tournaments.change(stage.store, tournament.id, document, fire).name == name


@on_sqlite
def test_a_start_in_the_past_is_refused_but_that_of_a_paused_tournament_stays(stage: Stage) -> None:
    late, soon = (stage.now - timedelta(minutes=6)).isoformat(), (stage.now + timedelta(minutes=1)).isoformat()
    with pytest.raises(SettingsError, match=r"start_time: 2026-05-01T11:54:00\+00:00 has passed; leave it out"):
        stage.create(start_time=late)
    number = stage.create(start_time=soon)
    document = stage.tournament(number).settings
    stage.store.tournaments.move(number, "paused")
    stage.now += timedelta(hours=1)
    assert tournaments.change(stage.store, number, document, stage.now).start_time.isoformat() == soon
    with pytest.raises(SettingsError, match="has passed"):
        tournaments.change(stage.store, number, {**document, "start_time": late}, stage.now)


def test_firing_twice_has_no_effect(stage: Stage) -> None:
    number = recurring(stage)
    schedule = stage.store.schedules.get(number)
    stage.now += timedelta(hours=1)
    first = cron.tick(stage.store, stage.now)
    assert len(first) == 1
    # As if the process had been killed before it stored the next time, or another one had just fired.
    stage.store.schedules.fired(number, stage.store.schedules.get(number).next_fire, schedule.next_fire)
    assert cron.tick(stage.store, stage.now) == []
    assert len(names(stage)) == 1
    assert stage.store.schedules.get(number).next_fire == stage.now + timedelta(hours=1)


@pytest.mark.parametrize(("missed", "count"), [("skip", 0), ("once", 1), ("all", 5)])
@on_sqlite
def test_missed_fires_follow_the_policy(stage: Stage, missed: str, count: int) -> None:
    recurring(stage, missed)
    stage.now += timedelta(hours=5, minutes=30)
    assert len(cron.tick(stage.store, stage.now)) == count


@on_sqlite
def test_a_disabled_schedule_does_not_fire_and_continues_from_now(stage: Stage) -> None:
    number = recurring(stage, "all")
    cron.enable(stage.store, number, False, stage.user_id, stage.now)
    stage.now += timedelta(hours=3)
    assert cron.tick(stage.store, stage.now) == []
    cron.enable(stage.store, number, True, stage.user_id, stage.now)
    assert cron.tick(stage.store, stage.now) == []
    stage.now += timedelta(hours=1)
    assert len(cron.tick(stage.store, stage.now)) == 1


@on_sqlite
def test_a_scheduled_tournament_without_entries_is_cancelled_with_the_reason(stage: Stage) -> None:
    recurring(stage, entries={"bots": ["ada", "ghost"]})
    stage.now += timedelta(hours=1)
    stage.coordinator(Dice()).turn()
    found = stage.store.tournaments.page().items[0]
    assert found.state == "cancelled"
    assert "too few bots: 1 may play" in found.problem
    assert "ghost: no such bot" in found.problem


def test_a_tournament_name_is_unique(stage: Stage) -> None:
    recurring(stage)
    with pytest.raises(ConflictError):
        recurring(stage)


@on_sqlite
def test_events_of_a_tournament(stage: Stage) -> None:
    heard: list[Event] = []
    stage.bus.publish = heard.append  # type: ignore[method-assign]
    number = stage.create(games=2, entries={"bots": ["ada", "bob"]})
    stage.play(number)
    counts = Counter(type(event) for event in heard)
    assert counts[GameEnded] == 2
    rated = [event for event in heard if isinstance(event, RatingsChanged)]
    assert {event.pool for event in rated} == {"loa"}
    assert rated[-1].commit_number == 2, "the last result of a turn stands for all of it"
    (*_, last) = [event for event in heard if isinstance(event, TournamentChanged)]
    assert (last.tournament, last.state) == (number, "finished")
