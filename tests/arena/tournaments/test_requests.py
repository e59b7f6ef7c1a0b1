"""Seeding, half-point byes, late entries and forbidden pairs of tournaments on a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arena import tournaments
from arena.documents.tournament import EntryItem
from arena.errors import ConflictError
from arena.store import Store
from arena.tournaments import lifecycle
from arena.tournaments.standing import standing
from arena.tournaments.stored_tournament import StoredTournament, participants
from referee.tournament.part import SettingsError
from referee.tournament.standing import StandingItem
from tests.arena.coordinator.stage import Stage, on_sqlite
from tests.arena.field import record_of

BOTS = ("ada", "bob", "cleo", "dan", "eve", "flo", "gus", "hal")
pytestmark = on_sqlite


@pytest.fixture
def stage(store: Store, tmp_path: Path) -> Stage:
    """Return an arena with eight bots of one owner, and `ida` of another."""
    stage = Stage(store, tmp_path / "data", BOTS)
    stage.user_id = store.users.add("yan").id
    stage.ids["ida"] = stage.bot("ida")
    return stage


def swiss(stage: Stage, *names: str, rounds: int | None = None, **table: Any) -> int:
    """Create a Swiss of these bots, by default of all but `ida`; return its number."""
    return stage.create(format="swiss", entries={"bots": list(names or BOTS)}, rounds=rounds, swiss=table)


def play_round(stage: Stage, number: int) -> None:
    """Plan a round, and play its games."""
    lifecycle.plan(stage.store, number)
    for pending in stage.store.queue.waiting(number, 100):
        assert stage.store.results.commit(record_of(pending.game)) is not None


def line_of(stage: Stage, number: int, name: str) -> StandingItem:
    """Return the line of a bot in the standings."""
    lines = standing(StoredTournament.get(stage.store, number)).lines
    return next(line for line in lines if line.name == f"{name} v1")


def entry_of(stage: Stage, number: int, name: str) -> EntryItem:
    """Return the entry of a bot."""
    return next(entry for entry in stage.store.tournaments.entries(number) if entry.bot == name)


def rounds_of(stage: Stage, number: int, name: str) -> set[int]:
    """Return the rounds in which a bot has games."""
    seat = entry_of(stage, number, name).seat
    return {game.round for game in stage.games(number) if seat in (game.first, game.second)}


def pairs_of(stage: Stage, number: int, round: int = 0) -> set[frozenset[str]]:
    """Return the pairs of bots with games, of one round or of all."""
    names = {entry.seat: entry.bot for entry in stage.store.tournaments.entries(number)}
    games = [game for game in stage.games(number) if round in (0, game.round)]
    return {frozenset((names[game.first], names[game.second])) for game in games}


@pytest.mark.parametrize("format", ["swiss", "knockout"])
def test_the_seeding_decides_the_seats(stage: Stage, format: str) -> None:
    stage.play(stage.create(games=4))
    by_rating = [line.name for line in stage.store.ratings.leaderboard("loa").items]
    entries = [name.removesuffix(" v1") for name in reversed(by_rating)]

    def seats(**table: Any) -> list[str]:
        number = stage.create(format=format, entries={"bots": entries}, seed=5, **{format: table} if table else {})
        return [entry.name for entry in participants(stage.tournament(number), stage.store.tournaments.entries(number))]

    assert seats() == seats(seeding="rating") == by_rating
    assert seats(seeding="entry") == by_rating[::-1]
    drawn = seats(seeding="random")
    assert drawn == seats(seeding="random")
    assert drawn not in (by_rating, by_rating[::-1])
    assert sorted(drawn) == sorted(by_rating)


def test_the_bracket_of_a_knockout_is_in_the_order_of_its_entries(stage: Stage) -> None:
    number = stage.create(format="knockout", entries={"bots": BOTS[::-1]}, knockout={"seeding": "entry"})
    lifecycle.plan(stage.store, number)
    assert pairs_of(stage, number) == {
        frozenset(pair) for pair in (("hal", "ada"), ("gus", "bob"), ("flo", "cleo"), ("eve", "dan"))
    }
    assert line_of(stage, number, "hal").seed == 1


@pytest.mark.parametrize(("word", "points"), [("zero-point", 0), ("half-point", 1)])
def test_a_late_entry_is_paired_in_the_next_round_and_scores_its_byes(stage: Stage, word: str, points: int) -> None:
    number = swiss(stage, late_entry_byes=word)
    play_round(stage, number)
    play_round(stage, number)
    reason = tournaments.enter(stage.store, number, stage.ids["ida"])
    assert reason == "loa standard: not checked, trusted"
    settings = stage.tournament(number).settings
    assert settings["swiss"]["late_entries"] == {"ida v1": 3}
    assert settings["rounds"] == 4, "as many as eight bots play, not nine"
    assert settings["entries"]["bots"][-1] == "ida v1"
    assert line_of(stage, number, "ida").points == 2 * points
    stage.play(number)
    line = line_of(stage, number, "ida")
    assert rounds_of(stage, number, "ida") | {3, 4} == {3, 4}
    assert line.games == 2 * len(rounds_of(stage, number, "ida"))
    assert line.points == 2 * points + line.wins + line.draws / 2 + 2 * line.byes
    assert (line.half_point_byes, line.seed) == (2 * points, 9)
    assert max(game.round for game in stage.games(number)) == 4
    with pytest.raises(ConflictError, match="is finished"):
        tournaments.enter(stage.store, number, stage.bot("ivy"))


def test_an_entry_in_the_moment_of_planning_is_not_left_out(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    number = swiss(stage)
    play_round(stage, number)
    entered = False
    original = stage.store.queue.plan

    def plan(*arguments: Any, **more: Any) -> int:
        nonlocal entered
        if not entered:
            entered = True
            tournaments.enter(stage.store, number, stage.ids["ida"])
        return original(*arguments, **more)

    monkeypatch.setattr(stage.store.queue, "plan", plan)
    assert lifecycle.advance(stage.store, number).planned == 0, "the plan without the entry is dropped"
    assert lifecycle.advance(stage.store, number).planned == 8
    line = line_of(stage, number, "ida")
    assert rounds_of(stage, number, "ida") == {2} or line.byes == 1
    assert stage.tournament(number).settings["swiss"]["late_entries"] == {"ida v1": 2}


def test_nobody_enters_twice_or_when_all_rounds_are_planned(stage: Stage) -> None:
    number = swiss(stage, rounds=2)
    play_round(stage, number)
    with pytest.raises(ConflictError, match="already entered"):
        tournaments.enter(stage.store, number, stage.ids["ada"])
    assert stage.tournament(number).settings["swiss"]["late_entries"] == {}, "a refused entry leaves nothing"
    play_round(stage, number)
    with pytest.raises(ConflictError, match="all 2 rounds of tournament 1 are planned"):
        tournaments.enter(stage.store, number, stage.ids["ida"])


def test_a_late_entry_that_no_round_could_pair_is_refused(stage: Stage) -> None:
    number = swiss(stage, "ada", "bob", "cleo", forbidden_pairs=["ada - bob", "ada - cleo"], rounds=3)
    play_round(stage, number)
    assert pairs_of(stage, number) == {frozenset(("bob", "cleo"))}
    tournaments.enter(stage.store, number, stage.ids["ida"])
    play_round(stage, number)
    assert frozenset(("ada", "ida")) in pairs_of(stage, number, 2)


def test_half_point_byes_of_a_server(stage: Stage) -> None:
    number = swiss(stage, half_point_byes={"cleo": [2], "dan": [2]}, rounds=3, late_entries={"eve": 2})
    stage.play(number)
    assert rounds_of(stage, number, "cleo") | {1, 3} == {1, 3}
    assert rounds_of(stage, number, "dan") | {1, 3} == {1, 3}
    assert rounds_of(stage, number, "eve") | {2, 3} == {2, 3}
    line = line_of(stage, number, "cleo")
    assert line.points == 1 + line.wins + line.draws / 2 + 2 * line.byes
    assert line.half_point_byes == 1
    changed = stage.store.ratings.before_and_after(standing(StoredTournament.get(stage.store, number)).scores.ends)
    assert stage.ids["cleo"] in changed, "it is rated by its games alone"
    assert stage.store.ratings.check() == []


def test_bots_of_one_owner_do_not_meet_where_that_is_forbidden(stage: Stage) -> None:
    stage.ids["ivy"] = stage.bot("ivy")
    stage.ids["joe"] = stage.bot("joe")
    number = swiss(stage, "ada", "bob", "cleo", "ida", "ivy", "joe", forbidden_pairs=["same owner"], rounds=3)
    stage.play(number)
    mine = {"ada", "bob", "cleo"}
    assert all(len(pair & mine) == 1 for pair in pairs_of(stage, number))
    with pytest.raises(SettingsError, match="forbidden pairs leave no pairing of the 4 bots of round 1"):
        swiss(stage, "ada", "bob", "cleo", "ida", forbidden_pairs=["same owner"])


def test_a_knockout_keeps_forbidden_pairs_apart_in_its_first_round(stage: Stage) -> None:
    table = {"seeding": "entry", "forbidden_pairs": ["ada - hal"]}
    number = stage.create(format="knockout", entries={"bots": list(BOTS)}, knockout=table)
    lifecycle.plan(stage.store, number)
    assert frozenset(("ada", "gus")) in pairs_of(stage, number)
    stage.play(number)
    assert stage.tournament(number).state == "finished"


def test_a_tournament_that_cannot_be_paired_at_its_start_is_cancelled_with_the_reason(stage: Stage) -> None:
    later = stage.now.replace(day=2).isoformat()
    entries = {"newest": True, "exclude": ["ida"]}
    number = stage.create(format="swiss", entries=entries, swiss={"forbidden_pairs": ["same owner"]}, start_time=later)
    stage.now = stage.now.replace(day=3)
    stage.play(number)
    assert stage.tournament(number).state == "cancelled"
    assert stage.tournament(number).problem == "forbidden pairs leave no pairing of the 8 bots of round 1"


def test_who_withdraws_before_the_start_takes_its_requests_along(stage: Stage) -> None:
    number = stage.create(
        format="swiss",
        entries={"bots": list(BOTS)},
        swiss={"half_point_byes": {"ada": [1]}, "forbidden_pairs": ["ada - bob", "cleo - dan"]},
        start_time=stage.now.replace(day=2).isoformat(),
    )
    tournaments.withdraw(stage.store, number, stage.ids["ada"])
    table = stage.tournament(number).settings["swiss"]
    assert (table["half_point_byes"], table["forbidden_pairs"]) == ({}, ["cleo - dan"])
    stage.now = stage.now.replace(day=3)
    stage.play(number)
    assert stage.tournament(number).state == "finished"


def test_a_stored_tournament_of_1_0_continues(stage: Stage) -> None:
    number = swiss(stage, rounds=3)
    play_round(stage, number)
    settings = dict(stage.tournament(number).settings)
    del settings["swiss"]
    assert stage.store.tournaments.replace_settings(number, stage.tournament(number).settings, settings)
    before = pairs_of(stage, number)
    stage.play(number)
    assert before < pairs_of(stage, number)
    assert max(game.round for game in stage.games(number)) == 3
