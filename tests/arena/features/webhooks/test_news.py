"""What is told to webhooks: forfeits, ends and new leaders since they were added, each once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from arena.clock import now
from arena.errors import NotFoundError, QuotaError
from arena.features.webhooks import store as module
from arena.features.webhooks.store import BACKOFF, Webhooks
from arena.features.webhooks.tables import Webhook
from arena.store import Store
from referee.game.spec import GameSpec
from referee.rules.core import Termination
from tests.arena.field import Field, record_of


def hook(*news: str) -> Webhook:
    return Webhook(url="https://club.example/", form="json", secret="whsec_AAAA", news=list(news))


def best(spec: GameSpec, champion: str) -> str:
    """Return the winner of a game if the champion wins all of its games."""
    return {spec.first.name: "first", spec.second.name: "second"}.get(champion, "draw")


def told(store: Store, number: int) -> list[str]:
    return [delivery.news["text"] for delivery in reversed(Webhooks(store).deliveries(number))]


def test_forfeits_since_a_webhook_was_added_are_told_once(store: Store) -> None:
    field, hooks = Field(store), Webhooks(store)
    games = field.plan(4)
    store.results.commit(record_of(games[0], winner="first", termination=Termination.TIME))
    mine, other = hooks.add(hook("forfeit")).id, hooks.add(hook("end")).id
    assert hooks.read_news() == 0, "what was before is no news"
    store.results.commit(record_of(games[1], winner="second", termination=Termination.CRASHED))
    store.results.commit(record_of(games[2], winner="first", termination=Termination("connection")))
    assert [hooks.read_news() for _ in range(3)] == [1, 0, 0]
    first, second = games[1].spec.first.name, games[1].spec.second.name
    assert told(store, mine) == [f"{first} lost to {second} by crashed in cup"]
    assert told(store, other) == []
    (delivery,) = hooks.deliveries(mine)
    assert (delivery.news["path"], delivery.news["data"]["bot"]) == (f"/games/{games[1].id}", first)


def test_end_of_a_tournament_is_told_with_its_first_places(store: Store) -> None:
    field, hooks = Field(store), Webhooks(store)
    known, settings = (
        store.tournaments.get(field.tournament_id).settings,
        {"name": "cup", "family": "loa", "entries": {"all": True}},
    )
    assert store.tournaments.replace_settings(field.tournament_id, known, settings)
    mine = hooks.add(hook("end")).id
    assert hooks.read_news() == 0
    for game in field.plan(12):
        store.results.commit(record_of(game, winner=best(game.spec, "ada v1")))
    assert hooks.read_news() == 0
    store.tournaments.move(field.tournament_id, "finished")
    assert [hooks.read_news() for _ in range(2)] == [1, 0]
    (text,) = told(store, mine)
    assert text.startswith("cup is finished: 1. ada v1, 2. ")
    assert text.count("v1") == 3


def test_new_leader_is_told_when_another_version_leads(store: Store) -> None:
    field, hooks = Field(store), Webhooks(store)
    mine = hooks.add(hook("leader")).id
    for game in field.plan(80):
        store.results.commit(record_of(game, winner=best(game.spec, "ada v1")))
    assert hooks.read_news() == 0, "who leads first is no news"
    (ada,) = [version.id or 0 for version in field.versions if version.name == "ada v1"]
    store.versions.retire(ada)
    assert hooks.read_news() == 0, "no game was played"
    field.play(4, first_sequence=81)
    second = store.ratings.leaderboard("loa").items[0]
    assert [hooks.read_news() for _ in range(2)] == [1, 0]
    assert told(store, mine) == [f"{second.name} leads loa with {second.conservative:.2f}"]


def test_delivery_is_tried_again_until_the_pauses_are_used_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    field, hooks, begun = Field(store), Webhooks(store), now()
    mine = hooks.add(hook("forfeit")).id
    hooks.read_news()
    games = field.plan(2)
    for game in games:
        store.results.commit(record_of(game, winner="first", termination=Termination.TIME))
    assert hooks.read_news() == 2
    time = now()
    monkeypatch.setattr(module, "now", lambda: time)
    (_, lost), (_, done) = hooks.due(9)
    hooks.note(done.id, 204, "")
    for pause in (*BACKOFF, None):
        assert [delivery.id for _, delivery in hooks.due(9)] == [lost.id]
        hooks.note(lost.id, 503, "HTTP 503")
        assert hooks.due(9) == []
        time += (pause or timedelta(days=99)) - timedelta(seconds=1)
        assert hooks.due(9) == []
        time += timedelta(seconds=1)
    states = {delivery.id: (delivery.state, delivery.tries, delivery.status) for delivery in hooks.deliveries(mine)}
    assert states == {done.id: ("delivered", 1, 204), lost.id: ("failed", 6, 503)}
    assert hooks.forget(begun) == 0
    assert hooks.forget(time) == 2


def test_removed_webhook_gets_nothing_and_a_new_one_no_old_news(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    field, hooks = Field(store), Webhooks(store)
    mine = hooks.add(hook("forfeit")).id
    hooks.read_news()
    games = field.plan(2)
    store.results.commit(record_of(games[0], winner="first", termination=Termination.TIME))
    hooks.read_news()
    hooks.remove(mine)
    assert hooks.due(9) == []
    hooks.note(1, 200, "")  # it was being sent
    with pytest.raises(NotFoundError, match="no webhook"):
        hooks.remove(mine)
    store.results.commit(record_of(games[1], winner="first", termination=Termination.TIME))
    assert hooks.read_news() == 0
    hooks.add(hook("forfeit"))
    assert hooks.read_news() == 0
    monkeypatch.setattr(module, "MAX_HOOKS", 1)
    with pytest.raises(QuotaError):
        hooks.add(hook("forfeit"))
