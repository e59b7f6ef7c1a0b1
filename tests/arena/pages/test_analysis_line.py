"""The cache of lines and of replays: bounded by scenes, whoever asks for however many long lines."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import pytest

from arena.http.rate_limit import Rate, RateLimiter
from arena.pages.drawing.replay import Replays
from arena.pages.drawing.scene import AnalysisLines
from referee.rules import load
from referee.rules.position import Position
from tests.arena.analysis.conftest import game_of
from tests.arena.pages.conftest import Site


@cache
def _longest() -> tuple[str, ...]:
    """Return 1,000 random moves of lines of action that do not end the game."""
    dice, position, moves = random.Random(1), Position.start(load("loa").settle()), list[str]()
    while len(moves) < 1000:
        following = position.play(dice.choice(position.moves))
        if following.outcome is None:
            assert following.move is not None
            moves.append(position.ruleset.rules.notation.write_move(following.move))
            position = following
    return tuple(moves)


def line_of(length: int) -> tuple[str, ...]:
    return _longest()[:length]


def test_lines_of_a_visitor_fill_no_more_than_the_cache() -> None:
    lines, ruleset = AnalysisLines(max_scenes=500), load("loa").settle()
    start = str(Position.start(ruleset))
    for length in range(100, 200):
        assert [scene.canonical for scene in lines.scenes(ruleset, start, line_of(length))[1:]] == list(line_of(length))
        assert lines.size <= 500


def test_line_longer_than_the_cache_is_shown_and_not_kept() -> None:
    lines, ruleset = AnalysisLines(max_scenes=50), load("loa").settle()
    start = str(Position.start(ruleset))
    assert len(lines.scenes(ruleset, start, line_of(80))) == 81
    assert lines.size == 0


def test_line_played_move_by_move_is_kept_once() -> None:
    lines, ruleset = AnalysisLines(), load("loa").settle()
    start = str(Position.start(ruleset))
    for length in range(60):
        lines.scenes(ruleset, start, line_of(length))
    assert lines.size == 60


def test_lines_that_branch_off_at_the_same_time_do_not_disturb_each_other() -> None:
    lines, ruleset = AnalysisLines(), load("loa").settle()
    start, stem = str(Position.start(ruleset)), line_of(40)
    ends = Position.start(ruleset).play_all(stem).texts[:20]
    lines.scenes(ruleset, start, stem)
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda move: lines.scenes(ruleset, start, (*stem, move)), ends))
    assert [scenes[-1].canonical for scenes in drawn] == ends
    assert [scenes[-1].position for scenes in drawn] == [
        str(Position.start(ruleset).play_all((*stem, move))) for move in ends
    ]


def test_replays_of_long_games_fill_no_more_than_the_cache() -> None:
    replays, ruleset = Replays(max_scenes=100), load("loa").settle()
    record = replace(game_of(ruleset, 0), moves=line_of(30))
    for number in range(20):
        assert replays.of_record(replace(record, id=f"{number:016}")).last == 30
        assert replays.size <= 100
    assert replays.of_record(replace(record, moves=line_of(200), id="f" * 16)).last == 200
    assert replays.size <= 100


@pytest.mark.parametrize("page", ["board", "board/scenes.json"])
def test_long_lines_cost_more_requests_than_short_ones(site: Site, page: str) -> None:
    limits, limiter = site.server.context.limiters, RateLimiter(Rate(0.001, 60))
    usual = limits["page"]
    limits["page"] = limiter
    try:
        assert site.server.get(f"/loa/{page}?moves=b1b3").status == 200
        assert limiter.left("address:127.0.0.1") == 59
        assert site.server.get(f"/loa/{page}?moves={'+'.join(line_of(400))}").status == 200
        assert limiter.left("address:127.0.0.1") in range(30, 45)
        assert site.server.get(f"/loa/{page}?moves={'+'.join(line_of(1000))}").status == 429
    finally:
        limits["page"] = usual


def test_page_of_a_long_line_links_its_last_plies_only(site: Site) -> None:
    usual = site.server.context.limiters["page"]
    site.server.context.limiters["page"] = RateLimiter(Rate(1e9, 10**9))
    try:
        sizes = []
        for plies in (200, 400):
            page = site.server.get(f"/loa/board?moves={'+'.join(line_of(plies))}").body.decode()
            moves = page[page.index('id="moves"') :]
            assert moves.count("data-ply=") == plies
            assert moves.partition("</ol>")[0].count("href=") == 50
            sizes.append(len(moves))
    finally:
        site.server.context.limiters["page"] = usual
    assert sizes[1] < 2.5 * sizes[0], "the size grows with the plies, not with their square"


def test_plies_of_a_game_count_like_moves_of_a_line(site: Site) -> None:
    limits, limiter = site.server.context.limiters, RateLimiter(Rate(0.001, 60))
    usual, game = limits["page"], site.stage.finished["loa"]
    plies = len(site.stage.store.games.record(game).moves)
    limits["page"] = limiter
    try:
        assert site.server.get(f"/loa/board?game={game}&ply={plies}").status == 200
    finally:
        limits["page"] = usual
    assert limiter.left("address:127.0.0.1") == int(60 - 1 - plies / 20)
