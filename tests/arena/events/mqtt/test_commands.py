"""`--mqtt` on the command line: messages for an unusable broker, `arena doctor`, the embedded broker."""

from __future__ import annotations

import asyncio
import gc
import json
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from arena.cli.server import doctor
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.run import run
from arena.config import Settings
from arena.events.bus import BusError
from arena.events.factory import open_bus
from arena.events.messages import CoordinatorWakeup
from arena.events.mqtt.bus import MqttBus
from arena.store import Store
from tests.arena.api.test_serve import _environment
from tests.arena.events.mqtt.broker import Mosquitto
from tests.arena.events.mqtt.test_mqtt import act, listening, moves, play, until, written
from tests.port import free_port

pytest.importorskip("amqtt", reason="amqtt is not installed: pip install 'bot-arena[broker]'")


def test_the_referee_runs_without_the_broker(tmp_path: Path) -> None:
    assert run(["init", "--data", str(tmp_path), "--json"]) == Exit.DONE
    port = free_port()
    words = ["--data", str(tmp_path), "--mqtt", f"mqtt://ann:hush@127.0.0.1:{port}"]
    line = [sys.executable, "-m", "arena", "referee", *words]
    environment = {**_environment(), "ARENA_SANDBOX": "none", "ARENA_ALLOW_WEAK_SANDBOX": "true"}
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        log = ""
        while '"acting"' not in log:
            text = process.stderr.readline()
            assert text, log
            log += text
        process.send_signal(signal.SIGTERM)
        log += process.stderr.read()
        assert process.wait(100) == 0
    assert log.count("broker unavailable") == 1
    assert f"mqtt://ann@127.0.0.1:{port}" in log
    assert "start it there, or change the setting mqtt" in log
    assert "hush" not in log


def broker_part(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path, url: str) -> Any:
    monkeypatch.setenv("ARENA_MQTT", url)
    doctor.run(doctor.DoctorArguments(data=folder, config=None, output="json"))
    parts = {part["name"]: part for part in json.loads(capsys.readouterr().out)["parts"]}
    return parts["broker"]


def test_doctor_checks_the_broker(
    tmp_path: Path, mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    part = broker_part(monkeypatch, capsys, tmp_path, mosquitto.url)
    assert (part["state"], part["detail"]) == ("ok", f"{mosquitto.url} lets us in")
    mosquitto.kill()
    part = broker_part(monkeypatch, capsys, tmp_path, mosquitto.url.replace("//", "//ann:hush@"))
    assert (part["state"], part["fix"]) == ("broken", "start it there, or change the setting mqtt")
    assert "hush" not in str(part)
    port = free_port()
    part = broker_part(monkeypatch, capsys, tmp_path, f"embedded:{port}")
    assert (part["state"], part["detail"]) == (
        "ok",
        f"amqtt can be started at mqtt://127.0.0.1:{port}, for development",
    )


# amqtt leaves the sockets of its clients to the garbage collector: collect them here, not in another test.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_embedded_broker_serves_other_processes_too() -> None:
    port = free_port()

    async def main() -> None:
        async with open_bus(Settings(mqtt=f"embedded:{port}"), has_pages=False) as referee:
            assert isinstance(referee, MqttBus)
            act(referee)
            play(referee, 1, 4)
            other = Settings(mqtt=f"mqtt://127.0.0.1:{port}", referee=False)
            async with open_bus(other) as server, listening(server) as live:
                await until(lambda: moves(live) == written(4))
                play(referee, 5, 9)
                await until(lambda: moves(live) == written(9))
                async with referee.subscribe(CoordinatorWakeup) as orders:
                    server.publish(CoordinatorWakeup(tournament=3))
                    assert await asyncio.wait_for(orders.get(), 60)
        with socket.socket() as probe:  # the port is free again
            assert probe.connect_ex(("127.0.0.1", port)) != 0

    asyncio.run(asyncio.wait_for(main(), 200))
    gc.collect()


def test_the_embedded_broker_reports_a_port_in_use() -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(
                BusError, match=rf"embedded broker at mqtt://127\.0\.0\.1:{port}: .*choose another port"
            ):
                async with open_bus(Settings(mqtt=f"embedded:{port}")):
                    pass

    asyncio.run(asyncio.wait_for(main(), 200))


def test_serve_with_the_embedded_broker_starts_and_stops_cleanly(tmp_path: Path) -> None:
    port = free_port()
    Store.in_folder(tmp_path / "data").close()
    line = [sys.executable, "-m", "arena", "serve", "--data", str(tmp_path / "data"), "--port", "0"]
    line += ["--no-referee", "--mqtt", f"embedded:{port}"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment()) as process:
        assert process.stdout is not None
        url = process.stdout.readline().decode().strip()
        with urllib.request.urlopen(f"{url}/healthz", timeout=60) as answer:
            assert answer.status == 200
        socket.create_connection(("127.0.0.1", port), 60).close()
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == Exit.DONE, err.decode()
    assert b"Traceback" not in err
