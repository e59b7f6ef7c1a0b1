"""Which games of remote bots are dispatched, with a scripted lobby and store."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from arena.coordinator.context import Job
from arena.coordinator.remote_games import RemoteGames
from arena.store.bots.bots import ConnectedBot
from arena.store.tournaments.queue import PendingGame
from referee.game.spec import BotSpec, GameSpec, PlannedGame

NEAR = BotSpec("near", ("near",))
FAR = BotSpec("far", ("remote",), place="remote")
SETTINGS = {"name": "x", "family": "loa", "entries": {"bots": ["far", "near"]}, "remote_join_timeout_s": 60}


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def planned(first: BotSpec = FAR, second: BotSpec = NEAR) -> PendingGame:
    return PendingGame(PlannedGame.of(GameSpec("loa", "standard", first, second)), 7)


def made(present: dict[str, ConnectedBot], clock: Clock, open_pool: Any = None) -> RemoteGames:
    store: Any = SimpleNamespace(
        versions=SimpleNamespace(remote=lambda: {"far"}),
        tournaments=SimpleNamespace(get=lambda number: SimpleNamespace(settings=SETTINGS)),
    )
    lobby: Any = SimpleNamespace(present=present, place="/there/seats", key="secret")
    return RemoteGames(store, lobby, open_pool, clock)


def test_games_wait_for_a_disconnected_bot_until_the_timeout() -> None:
    clock, present = Clock(), dict[str, ConnectedBot]()
    games = made(present, clock)
    games.look([])
    assert games.waited_for(7) == {"far"}
    clock.now += 59
    assert games.waited_for(7) == {"far"}
    clock.now += 1
    assert games.waited_for(7) == frozenset()
    assert games.admits([planned()]), "it is handed out all the same"
    present["far"] = ConnectedBot(1, 0, 1, None, is_open=False)
    games.look([])
    assert games.waited_for(7) == frozenset()
    del present["far"]
    games.look([])
    assert games.waited_for(7) == {"far"}, "it waits again"


def test_a_bot_gets_at_most_the_games_it_accepts() -> None:
    games = made({"far": ConnectedBot(1, 0, 2, None, is_open=False)}, Clock())
    games.look([Job(7, [planned()])])
    assert games.waited_for(7) == frozenset()
    assert not games.admits([planned(FAR, FAR)]), "against itself it takes two"
    assert games.admits([planned(NEAR, FAR)])
    assert not games.admits([planned()])
    assert games.waited_for(7) == {"far"}
    assert games.admits([planned(NEAR, NEAR)])


def test_games_carry_the_address_of_the_lobby() -> None:
    games = made({}, Clock())
    waiting = planned()
    (ready,) = games.ready([waiting.game])
    assert ready.id == waiting.game.id
    assert (ready.spec.first.folder, ready.spec.first.command) == ("/there/seats", ("remote", "secret"))
    assert ready.spec.second == NEAR


def test_games_of_remote_bots_never_go_to_a_cluster() -> None:
    pool, cluster = SimpleNamespace(), SimpleNamespace()
    games = made({}, Clock(), lambda: pool)
    assert games.executor([planned().game], cluster) is pool  # type: ignore[arg-type]
    assert games.executor([planned(NEAR, NEAR).game], cluster) is cluster  # type: ignore[arg-type]
    assert made({}, Clock()).executor([planned().game], cluster) is cluster  # type: ignore[arg-type]
