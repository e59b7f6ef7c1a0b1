"""The front page: what is being played, what comes next, who leads."""

from __future__ import annotations

from arena.documents.game import GameQuery
from arena.documents.human_game import PlayRequest
from arena.services import Arena, front_page, game, people
from arena.services.people import Visitor
from referee.game.spec import PlannedGame
from referee.rules import families
from referee.rules.core import Termination
from tests.arena.field import Field, record_of


def test_read_without_running_games_returns_the_latest_results(arena: Arena) -> None:
    field = Field(arena.store)
    played = field.play(3)
    found = front_page.read(arena)
    assert (found.running, found.specs) == ([], {})
    assert found.of_the_day is None, "games of two plies are too short"
    assert [line.id for line in found.recent] == [one.id for one in reversed(played)]
    games, top = found.leaders["loa"]
    assert (games, list(found.leaders)) == (3, list(families()))
    assert [line.conservative for line in top] == sorted((line.conservative for line in top), reverse=True)
    assert [one.id for one in found.tournaments] == [field.tournament_id]


def test_read_returns_running_games_strongest_first(arena: Arena) -> None:
    field = Field(arena.store)
    field.play(8)
    planned = field.plan(3, first_sequence=9)
    arena.store.queue.hand_out([one.id for one in planned], "worker-1")
    for one in planned[:2]:
        arena.store.queue.start(one.id)
    found = front_page.read(arena)
    assert {line.id for line in found.running} == {one.id for one in planned[:2]} == set(found.specs)
    assert [line.id for line in found.following] == [planned[2].id]
    assert found.of_the_day is None
    strength = {line.name: line.conservative for line in found.leaders["loa"][1]}
    sums = [strength[line.first] + strength[line.second] for line in found.running]
    assert sums == sorted(sums, reverse=True)


def test_games_of_guests_are_not_featured_and_their_losses_are_no_errors(arena: Arena) -> None:
    store = arena.store
    store.samples.ensure({"first": "bots.first"}, {"loa": ("standard",)})
    guest = Visitor.new("192.0.2.1")
    lost, won = (people.begin(arena, PlayRequest(family="loa", bot="first", side="first"), guest) for _ in range(2))
    store.people.start(lost, "here")
    found = front_page.read(arena)
    assert (found.running, found.following, found.of_the_day, found.recent) == ([], [], None, [])
    for game_id, winner in ((lost, "second"), (won, "first")):
        planned = PlannedGame(game_id, store.games.spec(game_id))
        store.results.commit(record_of(planned, winner=winner, termination=Termination.TIME))
    found = front_page.read(arena)
    assert (found.of_the_day, found.recent) == (None, [])
    assert [line.id for line in game.search(arena, GameQuery(errors=True)).items] == [won], (
        "only the bot's own loss on time"
    )
