"""Analysis on pages: marks and figures of a game, sorted lists, the game of the month, and requests on the analysis
board.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from urllib.parse import urlencode

import pytest

from arena.analysis.engine import Evaluations, PositionRef
from arena.analysis.game_analysis import analyse
from arena.analysis.marking import EvaluatedPosition
from arena.analysis.storage import save
from arena.analysis.win_model import WinModel
from arena.collections import following
from arena.pages.routes import archive
from referee.game.record import GameRecord
from tests.arena.api.server import Server
from tests.arena.field import Field
from tests.arena.pages.test_archive import logged_in


@pytest.fixture(scope="module")
def games(server: Server) -> list[GameRecord]:
    """Three games, the second with a blunder of first at ply 1."""
    records = Field(server.store).play(3)
    following.follow(server.store)
    record = records[1]

    def ask(places: Sequence[PositionRef], nodes: int) -> Evaluations:
        sides, scores = ("first", "second"), (250, 300, -300)
        scored = []
        for ply, move in places:
            score = scores[min(ply, 2 - ply % 2)]
            scored.append(EvaluatedPosition(sides[(ply + bool(move)) % 2], -score if move else score, "e5e6", "", 9))
        return Evaluations("fake", scored)

    save(server.store, analyse(record, ask, nodes=20_000, win_model=WinModel(100.0, "test")))
    return records


def words(page: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", page)).split())


def test_a_game_shows_marks_chances_and_figures(server: Server, games: list[GameRecord]) -> None:
    page = server.get(f"/games/{games[1].id}").body.decode()
    assert re.search(
        r'<span class="nag blunder"\s+title="Winning chances −1.75; the engine prefers e5e6">\?\?</span>', page
    )
    shown = words(page)
    assert "Winning chances (up: " in shown
    assert "Accuracy: 3.0. Blunders: 1." in shown
    assert "fake; nodes per position: 20,000; win model: test" in shown
    assert "Not analysed yet." in words(server.get(f"/games/{games[0].id}").body.decode())


def test_lists_are_narrowed_and_sorted(server: Server, games: list[GameRecord]) -> None:
    def listed(path: str) -> list[str]:
        return [item["id"] for item in server.get(path).json["items"]]

    assert listed("/api/v1/games?blunders=1") == [games[1].id]
    assert listed("/api/v1/games?sort=accuracy&order=rising") == [games[1].id]
    assert listed("/api/v1/games?sort=first_accuracy") == [games[1].id]
    assert listed("/api/v1/archive?sort=second_accuracy") == [games[1].id]
    assert listed("/api/v1/archive?blunders=1&sort=blunders") == [games[1].id]
    assert listed("/api/v1/archive?blunders=9") == []
    for path in ("/games?blunders=1", "/games?by=accuracy", "/games?by=second_accuracy", "/games?max_accuracy=99"):
        page = server.get(path).body.decode()
        assert re.findall(r'href="/games/([0-9a-f]+)"', page) == [games[1].id], path
        assert "??</small>" in page
    assert server.get("/games?blunders=many").status == 400
    page = server.get("/archive?blunders=1").body.decode()
    assert "Games found: <strong>1</strong>" in page
    assert server.get("/archive?blown_win=perhaps").status == 400


def test_a_month_has_its_game(server: Server, games: list[GameRecord]) -> None:
    day = games[1].finished[:7]
    page = words(server.get(f"/archive/month?month={day}&by=blunders").body.decode())
    assert "Blunders: 1. Turning points: 1." in page
    assert "No analysed game" in words(server.get("/archive/month?month=1999-12").body.decode())
    assert "← November 1999 January 2000 →" in words(server.get("/archive/month?month=1999-12").body.decode())
    assert server.get("/archive/month?month=1999-13").status == 400


def test_a_new_month_shows_the_last_one_until_a_game_is_analysed(
    server: Server, games: list[GameRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    played = datetime.fromisoformat(games[1].finished)
    monkeypatch.setattr(archive, "now", lambda: played.replace(day=28) + timedelta(days=5))
    page = words(server.get("/archive/month?by=blunders").body.decode())
    assert f"Game of the month, {played:%B %Y}" in page
    assert "Blunders: 1. Turning points: 1." in page


def test_the_analysis_as_data(server: Server, games: list[GameRecord]) -> None:
    found = server.get(f"/api/v1/games/{games[1].id}/analysis").json
    assert (found["state"], found["blunders"], found["plies"][0]["mark"]) == ("done", {"first": 1, "second": 0}, "??")
    assert server.get(f"/api/v1/games/{games[0].id}/analysis").json["state"] == "none"
    assert server.get(f"/api/v1/games/{'0' * 16}/analysis").status == 404


def post(server: Server, cookie: str, shown: str, path: str) -> object:
    page = server.get(shown, headers={"Cookie": cookie}).body.decode()
    token = re.search(r'name="csrf" value="([^"]+)"', page)
    assert token, page[:500]
    assert html.escape(path) in page
    return server.post(
        path,
        data=urlencode({"csrf": token[1]}).encode(),
        headers={"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"},
    )


def test_who_is_logged_in_asks(server: Server, games: list[GameRecord]) -> None:
    server.store.users.add("nora")
    cookie = logged_in(server, "nora")
    name = games[0].id
    reply = post(server, cookie, f"/games/{name}", f"/games/{name}/analysis")
    assert reply.status == 303  # type: ignore[attr-defined]
    assert "Begins in a few seconds." in words(server.get(f"/games/{name}").body.decode())
    assert server.store.analyses.next().game_id == name  # type: ignore[union-attr]
    board = "/loa/board?moves=b1b3"
    reply = post(server, cookie, board, "/loa/board/question?moves=b1b3")
    assert reply.status == 303  # type: ignore[attr-defined]
    place = reply.headers["Location"]  # type: ignore[attr-defined]
    assert 'data-state="waiting"' in server.get(place, headers={"Cookie": cookie}).body.decode()
    elsewhere = place.replace("/loa/", "/tablut/")
    assert server.get(elsewhere, headers={"Cookie": cookie}).headers["Location"] == place
    assert server.get(place).headers["Location"] == f"/login?next={place}"
    server.store.users.add("eve")
    assert server.get(place, headers={"Cookie": logged_in(server, "eve")}).status == 404
    number = int(place.rsplit("/", 1)[1])
    question = json.loads(server.store.analyses.request(number).record)
    assert question["moves"] == ["b1b3"]
    answer = {"family": "loa", "side": "second", "engine": "fake", "nodes": 200_000, "win_model": "test"}
    more = {"score": 30, "winning_chances": 0.15, "best": "a2c2", "line": ["a2c2", "b3b5", "nonsense"]}
    server.store.analyses.answer(number, {**answer, **more})
    page = server.get(place, headers={"Cookie": cookie}).body.decode()
    assert 'data-state="done"' in page
    assert "winning chances +0.15" in words(page)
    assert page.count("<figure") == 2
    assert "<polyline" in page, "arrows"
