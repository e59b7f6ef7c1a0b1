"""The front page: what is being played, what comes next, who leads."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import update
from sqlmodel import col

from arena.analysis.storage import save
from arena.documents.analysis import Accuracy, AnalysedMove, BlownWin, Blunders, GameAnalysis
from arena.documents.game import GameQuery
from arena.documents.human_game import PlayRequest
from arena.services import Arena, front_page, game, people
from arena.services.people import Visitor
from arena.store.base.tables.tournaments import Schedule, Tournament
from referee.game.spec import PlannedGame
from referee.rules import families
from referee.rules.core import Termination
from tests.arena.field import Field, record_of


def test_read_without_running_games_returns_the_latest_results(arena: Arena) -> None:
    field = Field(arena.store)
    played = field.play(3)
    page = front_page.read(arena)
    assert (page.running, page.specs) == ([], {})
    assert page.of_the_day is None, "games of two plies are too short"
    assert [line.id for line in page.recent] == [record.id for record in reversed(played)]
    games, top = page.leaders["loa"]
    assert (games, list(page.leaders)) == (3, list(families()))
    assert [line.conservative for line in top] == sorted((line.conservative for line in top), reverse=True)
    assert [tournament.id for tournament in page.tournaments] == [field.tournament_id]


def test_read_returns_running_games_strongest_first(arena: Arena) -> None:
    field = Field(arena.store)
    field.play(8)
    planned = field.plan(3, first_sequence=9)
    arena.store.queue.hand_out([planned_game.id for planned_game in planned], "worker-1")
    for begun in planned[:2]:
        arena.store.queue.start(begun.id)
    page = front_page.read(arena)
    assert {line.id for line in page.running} == {planned_game.id for planned_game in planned[:2]} == set(page.specs)
    assert [line.id for line in page.following] == [planned[2].id]
    assert page.of_the_day is None
    strength = {line.name: line.conservative for line in page.leaders["loa"][1]}
    sums = [strength[line.first] + strength[line.second] for line in page.running]
    assert sums == sorted(sums, reverse=True)


def test_games_of_guests_are_not_featured_and_their_losses_are_no_errors(arena: Arena) -> None:
    store = arena.store
    store.samples.ensure({"first": "bots.first"}, {"loa": ("standard",)})
    guest = Visitor.new("192.0.2.1")
    lost, won = (people.begin(arena, PlayRequest(family="loa", bot="first", side="first"), guest) for _ in range(2))
    store.people.start(lost, "here")
    page = front_page.read(arena)
    assert (page.running, page.following, page.of_the_day, page.recent) == ([], [], None, [])
    for game_id, winner in ((lost, "second"), (won, "first")):
        planned = PlannedGame(game_id, store.games.spec(game_id))
        store.results.commit(record_of(planned, winner=winner, termination=Termination.TIME))
    page = front_page.read(arena)
    assert (page.of_the_day, page.recent) == (None, [])
    assert [line.id for line in game.search(arena, GameQuery(errors=True)).items] == [won], (
        "only the bot's own loss on time"
    )


def test_the_costliest_turning_point_is_told(arena: Arena) -> None:
    (record,) = Field(arena.store).play(1)
    assert front_page._turning_point(arena, record.id) is None
    costs = {1: 0.9, 2: 1.4, 3: 1.2, 4: 0.4}
    plies = [AnalysedMove(n, "first", "b1b3", 300, 0.9, "c1c3", loss, "??", "") for n, loss in costs.items()]
    figures = (Blunders(4, 0), Accuracy(50.0, 50.0), 3, BlownWin(first=True, second=False))
    save(arena.store, GameAnalysis(record.id, "loa", "champion", 100, "shipped 1", plies, *figures))
    point = front_page._turning_point(arena, record.id)
    assert point is not None
    assert point.number == 2


def test_what_begins_next_is_an_announced_tournament_or_a_schedule(arena: Arena) -> None:
    store, at = arena.store, datetime(2027, 1, 1, tzinfo=UTC)
    assert front_page.read(arena).next_start is None
    field = Field(store)  # its tournament runs
    assert front_page.read(arena).next_start is None
    for name, hour, enabled in (("late", 3, True), ("early", 1, True), ("off", 0, False)):
        row = Schedule(name=name, cron="0 0 * * *", timezone="UTC", created_by=field.user_id)
        row.next_fire, row.is_enabled = at.replace(hour=hour), enabled
        with store.writing() as session:
            session.add(row)
    chosen = front_page.read(arena).next_start
    assert chosen is not None
    assert chosen.name == "early"
    tournament = field.add_tournament(start_time=at)
    with store.writing() as session:
        session.execute(update(Tournament).where(col(Tournament.id) == tournament.id).values(state="scheduled"))
    chosen = front_page.read(arena).next_start
    assert chosen is not None
    assert chosen.id == tournament.id
    assert chosen.name == "cup"
