"""The compose file: by its schema, and by what it promises: who reaches whom, who may do what."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from arena.config_file import read_settings
from tests.deploy.sources import DEPLOY, compose

SERVICES: dict[str, dict[str, Any]] = compose()["services"]


def test_it_is_a_compose_file() -> None:
    line = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    found = subprocess.run([*line, str(DEPLOY / "compose.yaml")], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_held_in(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert "privileged" not in service
    assert service["restart"] == ("no" if name == "migrate" else "unless-stopped")
    assert "healthcheck" in service or name == "arena"  # which has that of the image
    assert re.fullmatch(r"(\$\{IMAGE:-)?[a-z-]+(/[a-z-]+)?:v?\d[\w.-]*\}?", service["image"])


def test_only_what_plays_bots_may_make_namespaces() -> None:
    lifted = {name for name, service in SERVICES.items() if "seccomp:unconfined" in service["security_opt"]}
    assert lifted == {"referee", "worker"}


def test_workers_reach_scheduler_and_pages_only() -> None:
    assert SERVICES["worker"]["networks"] == ["cluster", "bundles"]
    assert members("bundles") == {"arena", "worker"}
    assert members("control") == {"referee", "scheduler", "prometheus"}
    assert members("data") == {"arena", "referee", "migrate", "database"}
    assert members("events") == {"arena", "referee", "broker"}
    assert members("pages") == {"proxy", "arena", "prometheus"}


def test_where_programs_are_run_are_scheduler_and_workers_alone() -> None:
    """Workers listen in the network of the scheduler only: `tests/arena/cluster/test_worker.py`."""
    assert members("cluster") == {"scheduler", "worker"}
    assert not set(SERVICES["scheduler"]["networks"]) & set(SERVICES["arena"]["networks"])


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_has_limits(name: str) -> None:
    service = SERVICES[name]
    assert service["pids_limit"] <= 4096
    assert service["mem_limit"]
    assert service["cpus"]


def test_workers_are_watched_by_what_they_say() -> None:
    (_, probe) = SERVICES["worker"]["healthcheck"]["test"]
    assert probe.split()[1] == "/data/worker/state"
    assert "ARENA_WORKER_TOKEN" not in SERVICES["worker"]["environment"], "environments are shown"


def members(network: str) -> set[str]:
    return {name for name, service in SERVICES.items() if network in service["networks"]}


def test_only_the_proxy_is_reached_from_outside() -> None:
    networks = compose()["networks"]
    assert [name for name, network in networks.items() if not (network or {}).get("internal")] == ["outside"]
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert set(published) == {"proxy", "prometheus"}
    assert all(port.startswith("127.0.0.1:") for port in published["prometheus"])


def test_the_proxy_is_believed() -> None:
    network = compose()["networks"]["pages"]["ipam"]["config"][0]["subnet"]
    assert network in SERVICES["arena"]["environment"]["ARENA_TRUSTED_PROXIES"]


def test_fixed_network_overlaps_none_that_docker_chooses() -> None:
    pages = compose()["networks"]["pages"]["ipam"]["config"][0]["subnet"]
    fixed = ip_network(pages.removeprefix("${PAGES_SUBNET:-").removesuffix("}"))
    assert not any(fixed.overlaps(ip_network(own)) for own in ("172.16.0.0/12", "192.168.0.0/16"))


def test_secrets_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not shutil.which("mosquitto_passwd") or not shutil.which("openssl"):
        pytest.skip("no mosquitto_passwd or no openssl; install mosquitto and openssl")
    for name in ("secrets.sh", ".env.example"):
        shutil.copy(DEPLOY / name, tmp_path / name.removesuffix(".example"))
    done = subprocess.run([tmp_path / "secrets.sh"], capture_output=True, text=True, check=True)
    folder = tmp_path / "secrets"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    wanted = {Path(secret["file"]).name for secret in compose()["secrets"].values()}
    assert wanted <= set(os.listdir(folder))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert b"arena:$7$" in before["broker_passwords"]  # hashed
    assert b"CN = arena.example" in _subject(folder / "tls.crt")
    assert before["broker_password"].strip() not in done.stdout.encode()

    subprocess.run([tmp_path / "secrets.sh"], capture_output=True, check=True)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    for name in [name for name in os.environ if name.startswith("ARENA_")]:
        monkeypatch.delenv(name)
    settings = read_settings(folder / "arena.toml")
    assert before["database_password"].decode().strip() in settings.database
    assert before["broker_password"].decode().strip() in settings.mqtt


def _subject(file: Path) -> bytes:
    line = ["openssl", "x509", "-in", str(file), "-noout", "-subject"]
    return subprocess.run(line, capture_output=True, check=True).stdout


def test_every_secret_is_declared_and_used() -> None:
    used = set()
    for service in SERVICES.values():
        used |= {one if isinstance(one, str) else one["source"] for one in service.get("secrets", [])}
    assert used == set(compose()["secrets"])
