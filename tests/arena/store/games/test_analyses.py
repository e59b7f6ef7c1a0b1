"""Analyses: one per game, searchable by figures, requested in order, deleted with the result."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from arena.clock import now
from arena.collections import following
from arena.documents.analysis import AnalysedGamesQuery, AnalysisFigures, PositionEvaluation
from arena.documents.archive import ArchiveQuery
from arena.documents.game import GameQuery
from arena.errors import QuotaError
from arena.store import Store
from arena.store.archive.search import ArchiveSearch
from arena.store.base.tables.analyses import StoredWinModel
from arena.store.games.analyses import MAX_WAITING_PER_USER, AnalysisTask
from tests.arena.field import Field


def figures(game_id: str, blunders: int = 1, **more: Any) -> AnalysisFigures:
    known: dict[str, Any] = {
        **{
            "game_id": game_id,
            "family": "loa",
            "engine": "alphabeta",
            "nodes": 100,
            "win_model": "test",
            "blunders": blunders,
        },
        **{"first_blunders": blunders, "second_blunders": 0, "accuracy": 80.0, "first_accuracy": 80.0},
        **{"second_accuracy": 99.0, "turning_points": 0, "has_blown_win": False, "analysed_at": now()},
    }
    return AnalysisFigures(**{**known, **more})


def test_put_second_analysis_replaces_first(store: Store) -> None:
    store.analyses.ask(None, 100, game_id="g1")
    store.analyses.put(figures("g1", 1), {"plies": [1]})
    store.analyses.put(figures("g1", 4), {"plies": [2]})
    assert store.analyses.get("g1") == {"plies": [2]}
    assert store.analyses.figures(["g1", "g2"])["g1"].blunders == 4
    assert store.analyses.next() is None
    assert store.analyses.get("g2") is None


def test_next_returns_requests_first_and_positions_before_games(store: Store) -> None:
    user = store.users.add("ada").id
    first = store.analyses.ask(user, 100, game_id="g1")
    assert store.analyses.ask(user, 100, game_id="g1") == first
    store.analyses.ask(user, 100, game_id="g2")
    question = store.analyses.ask(user, 500, question={"record": "a"})
    assert store.analyses.next() == AnalysisTask(question, None, {"record": "a"}, 500, user)
    answer = PositionEvaluation("loa", "first", "alphabeta", 500, "test", 3, 0.1, "b1b3", ["b1b3"])
    store.analyses.answer(question, asdict(answer))
    request = store.analyses.request(question)
    assert (request.is_done, request.answer, request.record, request.user_id) == (True, answer, "a", user)
    wanted = store.analyses.next()
    assert wanted is not None
    assert (wanted.game_id, wanted.request) == ("g1", first)
    store.analyses.fail(wanted, "no such thing")
    after = store.analyses.next()
    assert after is not None
    assert after.game_id == "g2"
    assert store.analyses.request_of("g1").problem == "no such thing"  # type: ignore[union-attr]
    store.analyses.ask(user, 100, game_id="g1")
    assert store.analyses.next() == AnalysisTask(first, "g1", {}, 100, user)


def test_next_serves_users_in_turn(sqlite_store: Store) -> None:
    analyses, ada, eve = sqlite_store.analyses, sqlite_store.users.add("ada").id, sqlite_store.users.add("eve").id
    games = [analyses.ask(user, 100, game_id=f"g{number}") for number, user in enumerate((ada, ada, eve, None))]
    served, after = [], -1
    for _ in range(4):
        task = analyses.next(after)
        assert task is not None
        after = task.user
        served.append(task.request)
    assert served == [games[3], games[0], games[2], games[3]]


def test_ahead_counts_requests_of_the_same_user(sqlite_store: Store) -> None:
    analyses, ada, eve = sqlite_store.analyses, sqlite_store.users.add("ada").id, sqlite_store.users.add("eve").id
    for name, user in (("e1", eve), ("a1", ada), ("a2", ada), ("a3", ada)):
        analyses.ask(user, 100, game_id=name)
    done = analyses.ask(ada, 100, question={"record": "a"})
    analyses.answer(done, {})

    def ahead(name: str) -> int:
        request = analyses.request_of(name)
        assert request is not None
        return analyses.ahead(request)

    assert [ahead(name) for name in ("e1", "a1", "a3")] == [0, 0, 2]
    analyses.ask(ada, 100, question={"record": "b"})
    assert ahead("a1") == 1, "positions are quick, and come first"


def test_ask_over_limit_raises_quota_error(sqlite_store: Store) -> None:
    user = sqlite_store.users.add("ada").id
    for number in range(MAX_WAITING_PER_USER):
        sqlite_store.analyses.ask(user, 1, game_id=f"g{number}")
    with pytest.raises(QuotaError, match="of yours"):
        sqlite_store.analyses.ask(user, 1, question={})
    sqlite_store.analyses.ask(sqlite_store.users.add("eve").id, 1, question={})


def test_next_unasked_returns_latest_results_within_budget(store: Store) -> None:
    field = Field(store)
    games = field.play(3)
    day = now() - timedelta(hours=1)
    wanted = store.analyses.next_unasked(100, day, 2)
    assert wanted == AnalysisTask(None, games[2].id, {}, 100)
    store.analyses.put(figures(games[2].id), {})
    second = store.analyses.next_unasked(100, day, 2)
    assert second is not None
    assert second.game_id == games[1].id
    store.analyses.fail(second, "broken")
    third = store.analyses.next_unasked(100, day, 2)
    assert third is not None
    assert third.game_id == games[0].id
    assert store.analyses.next_unasked(100, day, 1) is None
    assert store.analyses.next_unasked(100, now() + timedelta(hours=1), 1) is not None


def test_undo_deletes_analysis(store: Store) -> None:
    game = Field(store).play(1)[0]
    store.analyses.put(figures(game.id), {})
    store.analyses.ask(None, 1, game_id=game.id)
    assert store.results.undo({game.id: "wrong"}) == [game.id]
    assert store.analyses.get(game.id) is None
    assert store.analyses.next() is None


def test_curve_returns_latest_of_family(sqlite_store: Store) -> None:
    assert sqlite_store.analyses.win_model("loa") is None
    for scale in (100.0, 200.0):
        row = StoredWinModel(family="loa", scale=scale, games=1, positions=300, log_loss=0.5)
        number = sqlite_store.analyses.add_win_model(row)
    found = sqlite_store.analyses.win_model("loa")
    assert found is not None
    assert (found.id, found.scale) == (number, 200.0)


def test_games_are_filtered_and_sorted_by_analysis(store: Store) -> None:
    games = Field(store).play(4)
    for game, blunders, accuracy, thrown in zip(
        games, (3, 0, 3), (50.0, None, 90.0), (True, False, False), strict=False
    ):
        sides = {"first_accuracy": 95.0, "second_accuracy": accuracy}
        store.analyses.put(
            figures(game.id, blunders, accuracy=accuracy, has_blown_win=thrown, turning_points=blunders // 2, **sides),
            {},
        )
    first, second, third, _ = (game.id for game in games)

    def found(**words: Any) -> list[str]:
        return [line.id for line in store.games.latest(GameQuery(**words)).items]

    assert found(blunders=1) == [third, first]
    assert found(max_blunders=0) == [second]
    assert found(max_accuracy=60) == [first]
    assert found(accuracy=60, min_turning_points=1) == [third]
    assert found(blown_win="no") == [third, second]
    page = store.games.by_figure(GameQuery(sort="blunders", limit=2))
    assert [line.id for line in page.items] == [third, first]
    assert [line.id for line in store.games.by_figure(GameQuery(sort="blunders", limit=2, after=page.next)).items] == [
        second
    ]
    assert [line.id for line in store.games.by_figure(GameQuery(sort="accuracy", order="rising")).items] == [
        first,
        third,
    ]
    assert [line.id for line in store.games.by_figure(GameQuery(sort="second_accuracy")).items] == [third, first]
    assert [line.id for line in store.games.by_figure(GameQuery(sort="first_accuracy")).items] == [third, second, first]
    assert not AnalysedGamesQuery().is_about_analysis


def test_archive_search_filters_by_analysis(sqlite_store: Store) -> None:
    games = Field(sqlite_store).play(3)
    following.follow(sqlite_store)
    for game, blunders in zip(games, (1, 5), strict=False):
        sqlite_store.analyses.put(figures(game.id, blunders, has_blown_win=blunders == 5), {})
    archive = sqlite_store.archive

    def found(sort: Any = "number", **words: Any) -> list[int]:
        return [line.serial for line in archive.search(ArchiveSearch(query=ArchiveQuery(sort=sort, **words))).items]

    assert found() == [3, 2, 1]
    assert found(blunders=1) == [2, 1]
    assert found(blown_win="yes") == [2]
    assert found("blunders") == [2, 1]
    first = archive.search(ArchiveSearch(query=ArchiveQuery(sort="blunders", limit=1)))
    assert [line.serial for line in first.items] == [2]
    assert [
        line.serial
        for line in archive.search(ArchiveSearch(query=ArchiveQuery(sort="blunders", after=first.next))).items
    ] == [1]


def test_lists_by_figures_use_indexes(sqlite_store: Store) -> None:
    with sqlite_store.reading() as session:
        for name in ("blunders", "accuracy", "turning_points", "has_blown_win"):
            plan = session.execute(
                text(f"EXPLAIN QUERY PLAN SELECT game_id FROM analyses WHERE {name} >= 1 ORDER BY {name}")
            ).all()
            assert f"ix_analyses_{name}" in str(plan)
