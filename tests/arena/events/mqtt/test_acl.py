"""The shipped configuration and access list in a real broker: permissions and TLS."""

from __future__ import annotations

import asyncio
import gc
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import aiomqtt
import pytest

from arena.config import Settings
from arena.events.bus import BusError
from arena.events.factory import open_bus
from arena.events.messages import KINDS, CoordinatorWakeup, GameSnapshot, VersionChanged, VersionStep
from arena.events.mqtt.outbox import topics_of
from tests.arena.events.mqtt.broker import Mosquitto, program
from tests.arena.events.mqtt.conftest import require
from tests.arena.events.mqtt.samples import GAME, PROCESS, SAMPLES, topic_of

DEPLOY = Path(__file__).parents[4] / "deploy"
PASSWORDS = {"arena": "server-secret", "spectator": "look"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    """Yield a broker with the shipped files: only their paths differ, and anonymous spectators are allowed."""
    require()
    folder = tmp_path_factory.mktemp("guarded")
    maker = program("mosquitto_passwd")
    if maker is None:
        pytest.skip("mosquitto_passwd is not installed: apt-get install mosquitto")
    passwords = folder / "arena.passwd"
    passwords.touch()
    for user, password in PASSWORDS.items():
        subprocess.run([maker, "-b", str(passwords), user, password], check=True)
    (folder / "arena.acl").write_text((DEPLOY / "mosquitto.acl").read_text())
    text = (DEPLOY / "mosquitto.conf").read_text()
    assert re.search(r"^listener 1883$", text, re.MULTILINE)
    text = text.replace("/etc/mosquitto/", f"{folder}/").replace("/var/lib/mosquitto/", f"{folder}/")
    text = text.replace("allow_anonymous false", "allow_anonymous true").replace("listener 1883", "")
    broker = Mosquitto(folder, text.splitlines())
    yield broker
    broker.kill()


TOPICS = {topic: kind for kind in KINDS for topic in topics_of(SAMPLES[kind], PROCESS)}
END = "arena/v1/games/ffffffffffffffff/plies"


def client(broker: Mosquitto, user: str) -> aiomqtt.Client:
    names = {"username": user, "password": PASSWORDS[user]} if user else {}
    return aiomqtt.Client("127.0.0.1", broker.port, **names)  # type: ignore[arg-type]


async def told(broker: Mosquitto, reader: str, writer: str) -> set[str]:
    """Return the topics on which one user receives the messages that another one publishes on all topics."""
    async with client(broker, reader) as ears:
        await ears.subscribe("arena/v1/#", qos=1)
        for topic in TOPICS:
            async with client(
                broker, writer
            ) as mouth:  # the broker disconnects clients that publish without permission
                await mouth.publish(topic, "said", qos=0)
        async with client(broker, "arena") as server:
            await server.publish(END, "over", qos=1)
        topics = set()
        async for message in ears.messages:
            if message.topic.value == END:
                return topics
            topics.add(message.topic.value)
    raise AssertionError("the broker has hung up")


def test_the_access_list_grants_reading_and_writing(guarded: Mosquitto) -> None:
    async def main() -> None:
        public = {topic for topic, kind in TOPICS.items() if kind.TOPIC.is_public}
        assert not public & {topic_of(kind) for kind in (CoordinatorWakeup, VersionChanged, VersionStep)}
        assert await told(guarded, "arena", "arena") == set(TOPICS)
        for user in ("spectator", ""):
            assert await told(guarded, user, "arena") == public
            assert await told(guarded, "arena", user) == set()

    asyncio.run(asyncio.wait_for(main(), 200))


def test_a_server_needs_the_right_password(guarded: Mosquitto) -> None:
    async def main() -> None:
        url = guarded.url.replace("mqtt://", "mqtt://arena:{}@")
        async with (
            open_bus(Settings(mqtt=url.format(PASSWORDS["arena"]))) as bus,
            bus.subscribe(GameSnapshot) as events,
        ):
            async with client(guarded, "arena") as server:
                body = '{"v":1,"from":"x","tournament":1,"attempt":1,"plies":[]}'
                await server.publish(GameSnapshot.TOPIC.of(GAME), body)
            assert await asyncio.wait_for(events.get(), 60)
        with pytest.raises(BusError, match="check the user and the password"):
            async with open_bus(Settings(mqtt=url.format("wrong"))):
                pass

    asyncio.run(asyncio.wait_for(main(), 200))


# A handshake that fails leaves a socket to the garbage collector, in paho.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
# paho leaves the socket of a failed handshake to the garbage collector: collect it here, not in another test.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_tls_uses_the_configured_ca(tmp_path: Path) -> None:
    require()
    openssl = program("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed: apt-get install openssl")
    key, certificate = tmp_path / "server.key", tmp_path / "server.crt"
    words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    line = [openssl, *words, *names, "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(line, check=True, stderr=subprocess.DEVNULL)
    lines = ["allow_anonymous true", f"cafile {certificate}", f"certfile {certificate}", f"keyfile {key}"]
    broker = Mosquitto(tmp_path, lines)

    async def main() -> None:
        url = f"mqtts://localhost:{broker.port}"
        async with open_bus(Settings(mqtt=url, mqtt_ca=str(certificate))):
            pass
        with pytest.raises(BusError, match=r"certificate.*set mqtt_ca"):
            async with open_bus(Settings(mqtt=url)):
                pass
        with pytest.raises(BusError, match=r"set mqtt_ca .*use the host name of the certificate"):
            async with open_bus(Settings(mqtt=url.replace("localhost", "127.0.0.1"), mqtt_ca=str(certificate))):
                pass
        with pytest.raises(BusError, match=r"no\.pem: No such file or directory; check the setting mqtt_ca"):
            async with open_bus(Settings(mqtt=url, mqtt_ca=str(tmp_path / "no.pem"))):
                pass

    try:
        asyncio.run(asyncio.wait_for(main(), 200))
    finally:
        broker.kill()
    gc.collect()
