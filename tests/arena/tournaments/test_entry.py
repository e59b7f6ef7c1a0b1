"""Entries: names, queries, eligibility and its explanations; standings of a tournament."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from arena import tournaments
from arena.errors import ConflictError
from arena.store import Store
from arena.tournaments import lifecycle
from arena.tournaments.entry import check_eligibility
from arena.tournaments.standing import standing
from arena.tournaments.stored_tournament import StoredTournament
from protocol.capabilities import Capabilities
from protocol.options import parse_option
from referee.rules import load
from referee.tournament.part import SettingsError
from tests.arena.coordinator.stage import Stage


@pytest.fixture
def stage(sqlite_store: Store, tmp_path: Path) -> Stage:
    """Return an arena with four bots."""
    return Stage(sqlite_store, tmp_path / "data")


def announced(*options: str, families: tuple[str, ...] = (), clocks: bool = True) -> dict[str, Any]:
    """Return the check report of a bot that announced these options."""
    return Capabilities(
        clocks=clocks, families=families, options=tuple(parse_option(option) for option in options)
    ).as_json()


def entered(stage: Stage, number: int) -> tuple[list[str], dict[str, str]]:
    """Return the names that play, in seat order, and the refused ones with reasons."""
    lines = stage.store.tournaments.entries(number)
    return [line.name for line in lines if not line.withdrawn], {
        line.name: line.eligibility for line in lines if line.withdrawn
    }


def later(stage: Stage) -> str:
    """Return the time in an hour."""
    return (stage.now + timedelta(hours=1)).isoformat()


def test_a_name_is_the_newest_active_version_unless_it_says_which(stage: Stage) -> None:
    stage.bot("ada")
    stage.bot("ada", state="failed")
    names, _ = entered(stage, stage.create(entries={"bots": ["ada", "bob", "ada v1"]}))
    assert names == ["ada v2", "bob v1", "ada v1"]


def test_queries(stage: Stage) -> None:
    stage.bot("ada")
    stage.bot("tab", families=["tablut"])
    names, _ = entered(stage, stage.create(entries={"all": True}))
    assert names == ["ada v2", "ada v1", "bob v1", "cleo v1", "dan v1"]
    names, _ = entered(stage, stage.create(entries={"newest": True, "exclude": ["cleo", "dan v1"]}))
    assert names == ["ada v2", "bob v1"]


def test_the_best_by_rating_and_seeded_formats_by_rating(stage: Stage) -> None:
    stage.play(stage.create(games=20))
    order = [line.name for line in stage.store.ratings.leaderboard("loa").items]
    names, _ = entered(stage, stage.create(entries={"top": 3}))
    assert names == order[:3]
    names, _ = entered(stage, stage.create(format="swiss", entries={"bots": order[::-1]}))
    assert names == order
    names, _ = entered(stage, stage.create(format="gauntlet", entries={"bots": order[::-1]}))
    assert names == order[::-1]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nobody", "no such bot"),
        ("adda", "did you mean ada"),
        ("ada v9", "no such version"),
        ("old v1", "is retired"),
        ("old", "has no active version"),
        ("tab", "plays tablut, not loa"),
        ("ada v1", "ada v1: is named twice"),
    ],
)
def test_entries_that_cannot_play_give_the_reason(stage: Stage, name: str, problem: str) -> None:
    stage.bot("tab", families=["tablut"])
    stage.store.versions.retire(stage.bot("old"))
    with pytest.raises(SettingsError, match=problem) as caught:
        stage.create(entries={"bots": ["ada", "bob", name]})
    assert caught.value.field == "entries.bots"
    assert stage.store.tournaments.page().items == []


def test_eligibility_is_negotiated_from_what_the_check_found(stage: Stage) -> None:
    family = "tablut"
    stage.bot("plain", families=[family], capabilities={family: announced()})
    able = announced(
        "option name Variant type combo default bell var bell var ashton", families=("tablut", "loa"), clocks=False
    )
    stage.bot("able", families=[family], capabilities={family: able})
    stage.bot("loafer", families=[family], capabilities={family: announced(families=("loa",))})
    stage.bot("nothing", families=[family], capabilities={"loa": announced()})
    stage.bot("able2", families=[family], capabilities=able)
    number = stage.create(family=family, variant="ashton", entries={"newest": True}, start_time=later(stage))
    names, refused = entered(stage, number)
    assert names == ["able v1", "able2 v1"]
    assert "announce: option name Variant type combo default bell var bell var ashton; submit" in refused["plain v1"]
    assert "plays loa only" in refused["loafer v1"]
    assert "has no check report for tablut" in refused["nothing v1"]
    reasons = {line.name: line.eligibility for line in stage.store.tournaments.entries(number)}
    assert "gets the options Variant=ashton" in reasons["able v1"]
    assert "does not support clocks" in reasons["able v1"]
    with pytest.raises(SettingsError, match="announce: option name Variant"):
        stage.create(family=family, variant="ashton", entries={"bots": ["plain", "able"]})


def test_a_refusal_names_the_load_until_the_time_was_measured_again(stage: Stage) -> None:
    slow = announced() | {"fit_from_ms": 5600, "load": "load 66.0 on 2 cores"}
    number = stage.bot("slow", families=["loa"], capabilities={"loa": slow})

    def refusal() -> str | None:
        waiting = stage.create(time_control="5/move", entries={"newest": True}, start_time=later(stage))
        return entered(stage, waiting)[1].get("slow v1")

    assert refusal() == (
        "needs at least 5.6 s per move according to its check on a busy machine (load 66.0 on 2 cores), "
        "which is repeated when it is less busy; 5/move gives it 5 s"
    )
    stage.store.checks.correct(number, {"loa": 5200})
    assert refusal() == "needs at least 5.2 s per move according to its check; 5/move gives it 5 s"


def test_a_version_that_was_measured_again_may_enter(stage: Stage) -> None:
    slow = announced() | {"fit_from_ms": 5600, "load": "load 66.0 on 2 cores"}
    number = stage.bot("slow", families=["loa"], capabilities={"loa": slow})
    stage.store.checks.correct(number, {"loa": 400})
    names, _ = entered(stage, stage.create(time_control="5/move", entries={"newest": True}, start_time=later(stage)))
    assert "slow v1" in names


def test_a_tournament_too_fast_for_a_bot_refuses_it_with_that_reason(stage: Stage) -> None:
    for name, fit_from_ms in (("quick", 50), ("human", 1000)):
        capabilities = announced() | {"fit_from_ms": fit_from_ms}
        stage.bot(name, families=["loa"], capabilities={"loa": capabilities})
    for time, is_refused in (
        ("10+0.1", True),
        ("38+0.05", False),
        ("1/move", False),
        ("0.9/move", True),
        ("depth:2", False),
    ):
        names, refused = entered(
            stage, stage.create(time_control=time, entries={"newest": True}, start_time=later(stage))
        )
        assert "quick v1" in names
        assert ("human v1" in refused, "human v1" in names) == (is_refused, not is_refused), time
    assert entered(stage, stage.create(time_control="10+0.1", entries={"newest": True}, start_time=later(stage)))[1][
        "human v1"
    ] == ("needs at least 1 s per move according to its check; 10+0.1 gives it 0.35 s per move in a game of 40 moves")
    waiting = stage.create(time_control="0.2/move", start_time=later(stage))
    human = stage.store.versions.find("human").id or 0
    with pytest.raises(SettingsError, match="needs at least 1 s per move"):
        tournaments.enter(stage.store, waiting, human)


def test_a_bot_that_cannot_set_up_positions_plays_where_none_must_be(stage: Stage) -> None:
    stage.bot("origin", families=["loa"], capabilities={"loa": announced() | {"startpos_only": True}})
    lines = ["1bbbbbb1/w6w/w6w/w6w/w6w/w6w/w6w/1bbbbbb1 w - 1"]
    for more, is_refused in (
        ({}, False),
        ({"openings": "random:2:1"}, False),
        ({"opening_lines": ["b1b3"]}, False),
        ({"opening_lines": lines}, True),
        ({"variant": "scrambled-eggs"}, True),
    ):
        names, refused = entered(stage, stage.create(entries={"newest": True}, start_time=later(stage), **more))
        assert ("origin v1" in names, "origin v1" in refused) == (not is_refused, is_refused), more
        assert "cannot set up positions" in refused.get("origin v1", "cannot set up positions")


def test_a_variant_its_check_did_not_find_it_fit_for(stage: Stage) -> None:
    stage.bot("half", families=["tablut"], variants={"tablut": ["bell"]})
    with pytest.raises(SettingsError, match="passed its check for bell, not for ashton; submit a version that can"):
        stage.create(family="tablut", variant="ashton", entries={"bots": ["half", "half"]})


def test_a_version_that_lacks_a_variant_is_told_the_line_to_announce() -> None:
    rules = load("tablut")
    report = {"tablut": Capabilities(families=("tablut",)).as_json()}
    by = check_eligibility(report, {"tablut": [rules.variants[0].name]}, rules.settle(rules.variants[1].name))
    assert not by.may_play
    assert "announce: option name Variant type combo default bell var bell var bell_a1" in by.reason


def test_queries_are_asked_again_when_it_begins(stage: Stage) -> None:
    number = stage.create(entries={"newest": True}, start_time=later(stage))
    stage.bot("ada")
    stage.bot("eve")
    stage.store.versions.retire(stage.ids["dan"])
    stage.now += timedelta(hours=1)
    stage.play(number)
    assert entered(stage, number)[0] == ["ada v2", "bob v1", "cleo v1", "eve v1"]


def test_entering_and_withdrawing_before_it_begins(stage: Stage) -> None:
    number = stage.create(entries={"bots": ["ada", "bob"]}, start_time=later(stage))
    reason = tournaments.enter(stage.store, number, stage.ids["cleo"])
    assert reason == "loa standard: not checked, trusted"
    with pytest.raises(ConflictError, match="already"):
        tournaments.enter(stage.store, number, stage.ids["cleo"])
    tournaments.withdraw(stage.store, number, stage.ids["ada"])
    with pytest.raises(ConflictError, match="does not play"):
        tournaments.withdraw(stage.store, number, stage.ids["dan"])
    stage.now += timedelta(hours=1)
    stage.play(number)
    assert entered(stage, number)[0] == ["bob v1", "cleo v1"]
    with pytest.raises(ConflictError, match="has already started"):
        tournaments.enter(stage.store, number, stage.ids["dan"])


def test_too_few_bots(stage: Stage) -> None:
    with pytest.raises(SettingsError, match="at least 2"):
        stage.create(entries={"bots": ["ada"]})
    number = stage.create(entries={"bots": ["ada", "bob"]}, start_time=later(stage))
    stage.store.versions.retire(stage.ids["bob"])
    stage.now += timedelta(hours=1)
    stage.play(number)
    tournament = stage.tournament(number)
    assert tournament.state == "cancelled"
    assert "bob: has no active version" in tournament.problem


def test_engine_options_of_a_handicap_that_the_bot_lacks_are_refused(stage: Stage) -> None:
    stage.bot("hal", capabilities={"loa": announced("option name Hash type spin default 16 min 1 max 99")})
    entries = {"bots": ["hal", "ada"]}
    with pytest.raises(SettingsError, match="hal v1 has no option 'Hsah'; it announced Hash"):
        stage.create(entries=entries, handicaps=[{"bot": "hal", "engine_options": {"Hsah": 1}}])
    with pytest.raises(SettingsError, match="does not take '0' for its option 'Hash'"):
        stage.create(entries=entries, handicaps=[{"bot": "hal", "engine_options": {"Hash": 0}}])
    number = stage.create(entries=entries, handicaps=[{"bot": "hal", "engine_options": {"Hash": 1}}])
    assert not stage.tournament(number).is_rated


def test_openings_that_cannot_be_drawn_are_refused(stage: Stage) -> None:
    for openings in ("nonsense", "random:x", "random:99", "setups:nowhere"):
        with pytest.raises(SettingsError) as caught:
            stage.create(openings=openings)
        assert caught.value.field == "openings"
    with pytest.raises(SettingsError, match="line 2"):
        stage.create(opening_lines=["b1b3", "a9a9"])


# -- where it stands -------------------------------------------------------------------------------------------------


def test_standings_of_every_format_add_up(stage: Stage) -> None:
    stage.bot("eve")
    for format in ("round-robin", "swiss", "knockout", "gauntlet", "ladder"):
        more: dict[str, Any] = {"ladder": {"games": 30}} if format == "ladder" else {}
        entries = {"bots": ["ada"], "all": True}
        number = stage.create(format=format, entries=entries, **more)
        stage.play(number)
        table = standing(StoredTournament.get(stage.store, number))
        games = stage.store.games.counts(number)["finished"]
        assert [line.rank for line in table.lines] == [1, 2, 3, 4, 5]
        assert sum(line.games for line in table.lines) == 2 * games
        byes = sum(line.byes for line in table.lines)
        assert byes == (found_rounds(stage, number) if format == "swiss" else 0)
        assert sum(line.points for line in table.lines) == games + 2 * byes
        assert {line.name for line in table.lines} == {strength.name for strength in table.strengths.strengths}
        if format == "knockout":
            assert [line.round for line in table.lines] == sorted((line.round for line in table.lines), reverse=True)
            assert table.lines[0].round == 4
        assert table.lines[0].estimate["games"] == table.lines[0].games


def found_rounds(stage: Stage, number: int) -> int:
    """Return the number of rounds played."""
    return max(game.round for game in stage.games(number))


@pytest.mark.parametrize("has_begun", [True, False])
def test_a_withdrawal_leaves_the_bye_of_a_round_that_has_begun(stage: Stage, has_begun: bool) -> None:
    stage.bot("eve")
    number, store = stage.create(format="swiss"), stage.store
    store.tournaments.move(number, "running")
    lifecycle.plan(store, number)
    first = store.queue.waiting(number, 1)[0].game.id
    store.queue.hand_out([first], "coordinator")
    if has_begun:
        store.queue.start(first)
    (resting,) = (line for line in standing(StoredTournament.get(store, number)).lines if line.byes)
    store.tournaments.withdraw(number, resting.version_id)
    lines = standing(StoredTournament.get(store, number)).lines
    assert next(line for line in lines if line.name == resting.name).byes == has_begun


def test_the_verdict_of_a_test_stands_beside_its_table(stage: Stage) -> None:
    number = stage.create(format="sprt", entries={"bots": ["ada", "bob"]}, sprt={"games": 20})
    stage.play(number)
    verdict = standing(StoredTournament.get(stage.store, number)).decision.verdict
    assert verdict is not None
    assert verdict.pairs == 10


def test_entries_without_the_rules_of_a_handicap_are_refused(stage: Stage) -> None:
    step = "option name Rule.king_max_step type spin default 0 min 0 max 8"
    opener = "option name Rule.first_player type combo default attackers var attackers var defenders"
    for name, options in (("all", (step, opener)), ("step", (step,)), ("none", ())):
        stage.bot(name, families=["tablut"], capabilities={"tablut": announced(*options)})
    rules = {"rule_options": {"king_max_step": 4}}
    for named, more, out in (
        (["all"], {"handicaps": [{"bot": "all", **rules}]}, {"none v1": "with the handicap of all: "}),
        (["all", "step"], {"handicaps": [{"bot": "all", "against": "step", **rules}]}, {}),
        (
            ["all"],
            {"sides": "random"},
            dict.fromkeys(("none v1", "step v1"), "if the draw lets defenders move first: "),
        ),
    ):
        entries = {"bots": named, "newest": True, "exclude": ["ada", "bob", "cleo", "dan"]}
        number = stage.create(family="tablut", entries=entries, rated=False, start_time=later(stage), **more)
        _, refused = entered(stage, number)
        assert {name: reason[: len(out.get(name, ""))] for name, reason in refused.items()} == out
        assert all("announce: option name" in reason for reason in refused.values())
    for handicap in ({"bot": "all"}, {"bot": "all", "against": "none"}, {"bot": "none", "against": "all"}):
        with pytest.raises(SettingsError, match=f"none v1: with the handicap of {handicap['bot']}"):
            stage.create(
                family="tablut", entries={"bots": ["all", "none"]}, rated=False, handicaps=[{**handicap, **rules}]
            )
