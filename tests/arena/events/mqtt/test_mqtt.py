"""The bus over a real broker: delivery, late joiners, dying brokers, forged messages, refused clients."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from arena.config import Settings
from arena.events.bus import BusError, E, EventBus, Subscription
from arena.events.factory import open_bus
from arena.events.live import Live
from arena.events.messages import (
    CoordinatorChanged,
    CoordinatorWakeup,
    GameAborted,
    GameEnded,
    GameMoved,
    GamePlies,
    GameSnapshot,
    GameStarted,
    RatingsChanged,
    SnapshotRequest,
    Subject,
    TournamentChanged,
    TournamentPlanned,
)
from arena.events.mqtt import connection
from arena.events.mqtt.bus import MqttBus
from arena.metrics import Metrics
from tests.arena.events.mqtt.broker import Mosquitto
from tests.arena.events.mqtt.samples import ENDED, GAME, OTHER, ended, ply

TIMEOUT_S = 60
MARK = "tests/that-is-all"
PLY = {"move": "a1a2", "ms": 1.5, "score": None}
OUTCOME = {
    "game": GAME,
    "tournament": 3,
    "winner": "first",
    "termination": "resign",
    "termination_class": "rules",
    "detail": "",
    "commit_number": 7,
}
SAID = {"v": 1, "from": "other", "attempt": 1, "plies": [PLY]}
RESULT = {"v": 1, **OUTCOME, "state": "finished"}
Opened = tuple[MqttBus, Metrics]


def time_limit(main: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(main, 200))


@asynccontextmanager
async def opened(broker: Mosquitto, *, is_coordinator: bool = False, **settings: Any) -> AsyncIterator[Opened]:
    """Open the bus of one process: a coordinator's, or a web server's."""
    metrics = Metrics()
    wanted = Settings(mqtt=broker.url, referee=is_coordinator, **settings)
    async with open_bus(wanted, metrics, has_pages=not is_coordinator) as bus:
        assert isinstance(bus, MqttBus)
        yield bus, metrics


@asynccontextmanager
async def listening(bus: EventBus) -> AsyncIterator[Live]:
    live = Live(bus)
    task = asyncio.create_task(live.run())
    await asyncio.sleep(0)
    yield live
    task.cancel()


async def until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(0.02)


async def following(events: Subscription[E]) -> E:
    event = await events.get()
    assert event is not None
    return event


def act(bus: EventBus) -> None:
    bus.publish(CoordinatorChanged(state="acting", lease_owner="here"))


def play(bus: EventBus, first: int, last: int, game: str = GAME) -> None:
    """Publish plies of a game, which starts with the first."""
    if first == 1:
        bus.publish(GameStarted(game=game, tournament=3, attempt=1))
    for number in range(first, last + 1):
        bus.publish(ply(number, game))


def moves(live: Live, game: str = GAME) -> list[str]:
    """Return the moves that a watcher of a game sees."""
    live.watch(game)
    found = live.games.get(game)
    return [one.move for one in found.plies] if found else []


def written(last: int) -> list[str]:
    return [f"a1a{number}" for number in range(1, last + 1)]


def publish(broker: Mosquitto, topic: str, payload: Any, *, is_retained: bool = True) -> None:
    body = payload if isinstance(payload, str) else json.dumps(payload)
    words = ["-r"] if is_retained else []
    subprocess.run(broker.client("mosquitto_pub", "-q", "1", "-t", topic, "-m", body, *words), check=True, timeout=30)


def kept(broker: Mosquitto, topic: str) -> list[str]:
    """Return the retained topics of a pattern: they arrive before any message of the last subscription."""
    publish(broker, MARK, "here")
    words = broker.client("mosquitto_sub", "-t", topic, "-t", MARK, "--retained-only", "-F", "%t")
    topics: list[str] = []
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as listener:
        assert listener.stdout is not None
        while (line := listener.stdout.readline().strip()) != MARK:
            assert line, "mosquitto_sub has ended"
            topics.append(line)
        listener.kill()
    return topics


async def throw_out(broker: Mosquitto, client: str) -> None:
    """Connect with the name of a client, so that the broker drops the client as if it had died.

    It sends nothing but the name, as the client, which reconnects soon, would otherwise drop it first.
    """
    reader, thief = await asyncio.open_connection("127.0.0.1", broker.port)
    name = client.encode()
    thief.write(bytes([0x10, 12 + len(name)]) + b"\0\4MQTT\4\2\0\x3c" + bytes([0, len(name)]) + name)
    assert (await reader.readexactly(4)) == b"\x20\2\0\0"
    thief.close()


def dropped(metrics: Metrics, reason: str) -> float:
    return metrics.registry.get_sample_value("arena_bus_dropped_total", {"reason": reason}) or 0.0


def is_connected(metrics: Metrics) -> bool:
    return metrics.registry.get_sample_value("arena_bus_connected") == 1.0


def test_events_reach_other_processes_and_late_joiners_get_a_snapshot(mosquitto: Mosquitto) -> None:
    async def main() -> None:
        async with (
            opened(mosquitto, is_coordinator=True) as (referee, _),
            opened(mosquitto) as (early, _),
            listening(early) as live,
        ):
            act(referee)
            play(referee, 1, 5)
            await until(lambda: moves(live) == written(5))
            async with opened(mosquitto) as (late, metrics), listening(late) as other:
                await until(lambda: moves(other) == written(5))
                play(referee, 6, 9)
                await until(lambda: moves(live) == moves(other) == written(9))
                news = (GameSnapshot, GameEnded, TournamentChanged, RatingsChanged)
                async with late.subscribe(*news) as events:
                    late.publish(SnapshotRequest())
                    first = await following(events)
                    assert isinstance(first, GameSnapshot)
                    assert (first.game, len(first.plies)) == (GAME, 9)
                    said = {
                        ENDED,
                        TournamentChanged(tournament=3, state="finished"),
                        RatingsChanged(pool="loa", game=GAME, commit_number=7),
                    }
                    for event in said:
                        referee.publish(event)
                    assert {await events.get() for _ in said} == said
                await until(lambda: not live.games and not other.games)
                text = metrics.text().decode()
                assert 'arena_bus_messages_total{direction="in"}' in text
                assert "arena_bus_connected 1.0" in text

        assert set(kept(mosquitto, "arena/#")) == {CoordinatorChanged.TOPIC.of(referee.id)}

    time_limit(main())


def test_orders_reach_the_coordinator_at_once(mosquitto: Mosquitto) -> None:
    async def main() -> None:
        async with (
            opened(mosquitto, is_coordinator=True) as (referee, _),
            opened(mosquitto) as (server, _),
            referee.subscribe(CoordinatorWakeup) as orders,
        ):
            server.publish(CoordinatorWakeup(tournament=3))
            assert await asyncio.wait_for(orders.get(), TIMEOUT_S) == CoordinatorWakeup(tournament=3)

    time_limit(main())


def test_a_killed_broker_costs_only_live_updates(mosquitto: Mosquitto) -> None:
    async def main() -> None:
        async with (
            opened(mosquitto, is_coordinator=True) as (referee, at_referee),
            opened(mosquitto) as (server, metrics),
            listening(server) as live,
        ):
            act(referee)
            play(referee, 1, 3)
            play(referee, 1, 2, OTHER)
            await until(lambda: moves(live) == written(3) and moves(live, OTHER) == written(2))
            mosquitto.kill()
            await until(lambda: not is_connected(metrics) and not is_connected(at_referee))
            play(referee, 4, 8)
            referee.publish(ended(OTHER))
            referee.publish(TournamentChanged(tournament=3, state="running"))
            # Events of the outage may be lost: listeners of a tournament are notified to read the database.
            with live.changes(Subject("game", GAME)) as bell, live.changes(Subject("tournament", 3)) as other:
                mosquitto.start()
                await until(lambda: moves(live) == written(8) and OTHER not in live.games)
                assert bell.is_set()
                assert other.is_set()
            play(referee, 9, 10)
            await until(lambda: moves(live) == written(10))

    time_limit(main())


def test_a_hanging_broker_is_detected(mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "TIMEOUT_S", 1.0)

    async def main() -> None:
        async with (
            opened(mosquitto, is_coordinator=True) as (referee, metrics),
            opened(mosquitto) as (server, _),
            listening(server) as live,
        ):
            act(referee)
            play(referee, 1, 2)
            await until(lambda: moves(live) == written(2))
            mosquitto.stop()
            referee.publish(TournamentChanged(tournament=3, state="running"))
            await until(lambda: not is_connected(metrics))
            play(referee, 3, 4)
            mosquitto.go_on()
            await until(lambda: moves(live) == written(4))

    time_limit(main())


def test_a_reconnected_listener_gets_snapshots_of_running_games(mosquitto: Mosquitto) -> None:
    """Only the listener loses its connection, to another client of its name."""

    async def main() -> None:
        async with (
            opened(mosquitto, is_coordinator=True) as (referee, at_referee),
            opened(mosquitto) as (server, metrics),
            listening(server) as live,
        ):
            act(referee)
            play(referee, 1, 3)
            await until(lambda: moves(live) == written(3))
            # Plies that are lost and not repeated.
            publish(mosquitto, GamePlies.TOPIC.of(OTHER), {**SAID, "first": 2}, is_retained=False)
            await throw_out(mosquitto, server.id)
            await until(lambda: not is_connected(metrics))
            play(referee, 4, 6)
            await until(lambda: moves(live) == written(6))
            assert is_connected(at_referee)
            assert set(live.games) == {GAME}

    time_limit(main())


def test_a_dropped_listener_gets_snapshots_of_its_own_process_too(mosquitto: Mosquitto) -> None:
    async def main() -> None:
        async with opened(mosquitto, is_coordinator=True) as (referee, _):
            act(referee)
            play(referee, 1, 3)
            async with listening(referee) as live:  # starts when the game is running
                await until(lambda: moves(live) == written(3))

    time_limit(main())


def test_forged_and_broken_messages_are_dropped_and_counted(mosquitto: Mosquitto) -> None:
    async def main() -> None:
        async with (
            opened(mosquitto, is_coordinator=True) as (referee, _),
            opened(mosquitto) as (server, metrics),
            listening(server) as live,
        ):
            act(referee)
            play(referee, 1, 3)
            await until(lambda: moves(live) == written(3))
            good = {"v": 1, "from": "mallory", "attempt": 1, "first": 4, "plies": [PLY]}
            for topic, payload in (
                ("arena/v1/games/../../etc/plies", good),
                ("arena/v1/executor/start", {"v": 1, "from": "x", "game": GAME}),
                (GamePlies.TOPIC.of(GAME), "not json"),
                (GamePlies.TOPIC.of(GAME), {**good, "v": 2}),
                (GamePlies.TOPIC.of(GAME), {**good, "plies": [{"move": "x" * 9000}]}),
                (TournamentChanged.TOPIC.of("3"), {"v": 1, "from": "x", "state": ["finished"]}),
                (CoordinatorWakeup.TOPIC.of(), {"v": 1, "from": "x", "tournament": -3}),
            ):
                publish(mosquitto, topic, payload, is_retained=False)
            await until(lambda: dropped(metrics, "topic") == 2 and dropped(metrics, "schema") == 5)
            # Of another attempt, and after a gap: well formed, but ignored too.
            publish(mosquitto, GamePlies.TOPIC.of(GAME), {**good, "attempt": 7}, is_retained=False)
            publish(mosquitto, GamePlies.TOPIC.of(GAME), {**good, "first": 9}, is_retained=False)
            play(referee, 4, 5)
            await until(lambda: moves(live) == written(5))

    time_limit(main())


def test_events_of_own_games_from_other_processes_are_ignored(mosquitto: Mosquitto) -> None:
    async def main() -> None:
        async with opened(mosquitto, is_coordinator=True) as (referee, metrics), listening(referee) as live:
            act(referee)
            play(referee, 1, 2)
            await until(lambda: moves(live) == written(2))
            forged = {"v": 1, "from": "mallory", "tournament": 3, "attempt": 1, "plies": [PLY] * 9}
            publish(mosquitto, GameSnapshot.TOPIC.of(GAME), forged)
            publish(mosquitto, GameEnded.TOPIC.of(3), {**RESULT, "from": "mallory"})
            publish(mosquitto, GameAborted.TOPIC.of(GAME), {"v": 1, "from": "mallory"})
            publish(mosquitto, CoordinatorWakeup.TOPIC.of(), "junk", is_retained=False)
            await until(lambda: dropped(metrics, "schema") == 1)
            assert moves(live) == written(2)

    time_limit(main())


def test_a_new_attempt_of_another_coordinator_replaces_the_old_one(mosquitto: Mosquitto) -> None:
    body = {"v": 1, "from": "dead", "tournament": 3, "attempt": 1, "plies": [PLY] * 4}

    async def main() -> None:
        async with opened(mosquitto) as (server, metrics), listening(server) as live:
            await until(lambda: is_connected(metrics))
            publish(mosquitto, GameSnapshot.TOPIC.of(GAME), body, is_retained=False)
            await until(lambda: len(moves(live)) == 4)
            async with opened(mosquitto, is_coordinator=True) as (referee, _):
                act(referee)
                referee.publish(GameStarted(game=GAME, tournament=3, attempt=2))
                await until(lambda: moves(live) == [])
                assert live.games[GAME].attempt == 2
                referee.publish(ply(1))
                await until(lambda: moves(live) == written(1))

    time_limit(main())


def test_a_killed_coordinator_is_offline_and_a_stopped_one_is_stopped(
    mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_CLOSE_TIMEOUT_S", 30.0)

    async def main() -> None:
        async with opened(mosquitto, is_coordinator=True) as (referee, _):
            act(referee)
            words = mosquitto.client("mosquitto_sub", "-t", CoordinatorChanged.TOPIC.of(referee.id))
            listener = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE)
            assert listener.stdout is not None

            async def said() -> str:
                return str(json.loads(await listener.stdout.readline())["state"])

            while await said() != "acting":
                pass
            await throw_out(mosquitto, referee.id)
            assert await said() == "offline"
            assert await said() == "acting", "it is back, and says so"
        assert await said() == "stopped"
        listener.kill()
        await listener.wait()
        late = await asyncio.to_thread(subprocess.run, [*words, "-C", "1", "-W", "30"], check=True, capture_output=True)
        assert json.loads(late.stdout)["state"] == "stopped", "retained for later subscribers"

    time_limit(main())


def test_a_flood_of_plies_is_batched(mosquitto: Mosquitto) -> None:
    async def main() -> None:
        async with (
            opened(mosquitto, is_coordinator=True) as (referee, metrics),
            opened(mosquitto) as (server, _),
            listening(server) as live,
        ):
            act(referee)
            await until(lambda: is_connected(metrics))
            play(referee, 1, 4000)
            await until(lambda: len(moves(live)) == 4000)
            assert metrics.registry.get_sample_value("arena_bus_messages_total", {"direction": "out"}) < 30
            assert moves(live) == written(4000)

    time_limit(main())


def test_messages_that_are_handed_over_together_arrive_in_order(mosquitto: Mosquitto) -> None:
    async def main() -> None:
        async with (
            opened(mosquitto, is_coordinator=True) as (referee, _),
            opened(mosquitto) as (server, _),
            server.subscribe(TournamentPlanned) as events,
        ):
            numbers = range(1, 3 * connection.MAX_BATCH)
            for number in numbers:
                referee.publish(TournamentPlanned(tournament=3, planned=number))
            assert [(await following(events)).planned for _ in numbers] == [*numbers]

    time_limit(main())


@pytest.mark.parametrize("user", ["", "arena:wrong@"])
def test_a_wrong_password_ends_the_start(mosquitto: Mosquitto, tmp_path: Path, user: str) -> None:
    mosquitto.kill()
    folder = tmp_path / "closed"
    folder.mkdir()
    (folder / "passwd").write_text("")
    closed = Mosquitto(folder, ["allow_anonymous false", f"password_file {folder}/passwd"])
    url = closed.url.replace("mqtt://", f"mqtt://{user}")

    async def main() -> None:
        with pytest.raises(BusError, match=r"check the user and the password") as caught:
            async with open_bus(Settings(mqtt=url)):
                pass
        assert str(closed.port) in str(caught.value)
        assert "wrong" not in str(caught.value)

    try:
        time_limit(main())
    finally:
        closed.kill()


def test_processes_that_start_without_a_broker_connect_later(mosquitto: Mosquitto) -> None:
    mosquitto.kill()

    async def main() -> None:
        async with (
            opened(mosquitto, is_coordinator=True) as (referee, metrics),
            opened(mosquitto) as (server, _),
            listening(server) as live,
        ):
            assert not is_connected(metrics)
            act(referee)
            play(referee, 1, 3)
            await asyncio.to_thread(mosquitto.start)
            await until(lambda: moves(live) == written(3))  # the game is sent as a snapshot

    time_limit(main())


def test_another_service_at_the_brokers_address_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "TIMEOUT_S", 0.5)

    async def main() -> None:
        is_over, is_closed = asyncio.Event(), asyncio.Event()

        async def nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await is_over.wait()
            writer.close()
            await writer.wait_closed()
            is_closed.set()

        server = await asyncio.start_server(nothing, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        metrics = Metrics()
        with capture_logs() as said:
            async with open_bus(Settings(mqtt=f"mqtt://127.0.0.1:{port}"), metrics):
                assert not is_connected(metrics)
        assert "check that an MQTT broker without TLS listens there" in str(said)
        is_over.set()
        await is_closed.wait()
        server.close()

    time_limit(main())


def test_without_a_broker_the_bus_stays_in_the_process() -> None:
    async def main() -> None:
        async with open_bus(Settings()) as bus, bus.subscribe(GameMoved) as events:
            bus.publish(ply(1))
            assert await following(events) == ply(1)

    time_limit(main())
