"""`arena worker` and `arena scheduler`: invalid configurations and their messages."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import sys
import threading
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from arena.__main__ import main
from arena.cluster.wire_config import WIRE, ClusterError, Security, address_of, difference, security_of, version
from arena.config import Settings
from arena.store import Store
from referee.machine import source
from tests.arena.cluster import processes
from tests.arena.cluster.conftest import Cluster, Opener
from tests.arena.cluster.processes import Command
from tests.port import free_port

OTHER = (
    f"from arena.cluster import wire_config; wire_config.WIRE = {WIRE + 1}; "
    "from arena.__main__ import main; raise SystemExit(main())"
)


def test_addresses() -> None:
    assert address_of("dask://10.0.0.1") == "tcp://10.0.0.1:8786"
    assert address_of("dask://10.0.0.1:99/") == "tcp://10.0.0.1:99"
    assert address_of("tls://far.example:99") == "tls://far.example:99"
    assert address_of("dask://[::1]:99") == "tcp://[::1]:99"
    for url in ("http://10.0.0.1", "dask://", "dask://x:y", "dask://x/path"):
        with pytest.raises(ValueError, match="write dask://HOST:PORT"):
            address_of(url)


def test_a_worker_of_another_version_is_rejected(cluster: Cluster, open_executor: Opener, tmp_path: Path) -> None:
    open_executor()
    words = ["worker", "--scheduler", cluster.address, "--slots", "1", "--data", str(tmp_path), "--sandbox", "none"]
    stranger = Command(*words, "--no-warm", program=("-c", OTHER))
    try:
        assert stranger.end() == 1, stranger.said
        (line,) = [line for line in stranger.said if "install the arena's version" in line]
        assert version() in line
        assert version().replace(f"/{WIRE}/", f"/{WIRE + 1}/") in line
    finally:
        stranger.close()


def test_a_worker_exits_when_an_arena_of_another_version_connects(tmp_path: Path, open_executor: Opener) -> None:
    from arena.cluster.executor import ClusterExecutor

    with processes.scheduler() as (address, _):
        words = ["worker", "--scheduler", address, "--slots", "1", "--data", str(tmp_path), "--sandbox", "none"]
        stranger = Command(*words, "--no-warm", program=("-c", OTHER))
        try:
            stranger.until('"state": "ready"')
            executor = ClusterExecutor(address_of(address))
            try:
                assert executor.size == 0
                assert stranger.end() == 1, stranger.said
            finally:
                executor.shutdown(cancel_futures=True)
        finally:
            stranger.close()


def test_a_difference_lists_the_differing_parts() -> None:
    told = {"version": version(), "parts": dict(source.parts())}
    assert difference(told) == ""
    told = {"version": "0.1/2/abc", "parts": {**source.parts(), "numba": "0.1"}}
    assert difference(told).startswith(
        f"is version 0.1/2/abc, this worker is {version()}; they differ in numba (0.1 th"
    )
    assert difference({"version": "0.1/2"}) == f"is version 0.1/2, this worker is {version()}"


def test_commands_report_a_missing_scheduler(sqlite_store: Store, tmp_path: Path) -> None:
    url = f"dask://127.0.0.1:{free_port()}"
    worker = Command("worker", "--scheduler", url, "--data", str(tmp_path), "--slots", "1", "--no-warm", "--wait", "0")
    referee = Command("referee", "--data", str(tmp_path), "--executor", url, ARENA_SCHEDULER_WAIT_SECONDS="0.5")
    try:
        for command in (worker, referee):
            assert command.end() == 5, command.said
            (line,) = [line for line in command.said if "no Dask scheduler answers" in line]
            assert url.removeprefix("dask") in line
            assert "refused" in line or "imed out" in line
            assert "arena scheduler" in line
    finally:
        worker.close()
        referee.close()


def test_invalid_arguments_are_reported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARENA_ALLOW_WEAK_SANDBOX", raising=False)
    there = ["--data", str(tmp_path)]
    assert main(["worker", *there, "--scheduler", "http://x"]) == 2
    assert "write dask://HOST:PORT" in capsys.readouterr().err
    assert main(["worker", *there, "--scheduler", "tls://x"]) == 2
    assert "cluster_ca is not set" in capsys.readouterr().err
    assert main(["worker", *there, "--scheduler", "dask://127.0.0.1:1", "--sandbox", "none"]) == 4
    assert "ARENA_ALLOW_WEAK_SANDBOX" in capsys.readouterr().err


def test_missing_certificates_are_reported(tmp_path: Path) -> None:
    assert security_of(Settings(data=tmp_path), "tcp://x:1") is None
    settings = Settings(data=tmp_path, cluster_ca=str(tmp_path / "ca.pem"), cluster_cert="c", cluster_key="k")
    with pytest.raises(ClusterError, match=r"cluster_ca: .*ca.pem cannot be read"):
        security_of(settings, "tls://x:1")


def files_of(role: str, folder: Path) -> dict[str, str]:
    """Return the settings of a role in the environment."""
    names = {"CA": "ca.pem", "CERT": f"{role}.pem", "KEY": f"{role}.key"}
    return {f"ARENA_CLUSTER_{name}": str(folder / file) for name, file in names.items()}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the certificates of a cluster."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make certificates with; install openssl")
    folder = tmp_path_factory.mktemp("tls") / "certificates"
    assert main(["scheduler", "--init-tls", str(folder)]) == 0
    return folder


def test_certificates_are_for_their_owner_alone_and_never_overwritten(
    certificates: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    roles = ("ca", "scheduler", "referee", "worker")
    assert {path.name for path in certificates.iterdir()} == {
        f"{role}.{end}" for role in roles for end in ("pem", "key")
    }
    assert {path.stat().st_mode & 0o777 for path in certificates.iterdir()} == {0o600}
    before = {path: path.read_bytes() for path in certificates.iterdir()}
    assert main(["scheduler", "--init-tls", str(certificates)]) == 1
    assert "is not empty; give a new folder" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in certificates.iterdir()} == before


@pytest.mark.parametrize(
    ("server", "client", "is_accepted"),
    [
        ("scheduler", "worker", True),
        ("scheduler", "referee", True),
        ("worker", "worker", False),
        ("worker", "referee", False),
        ("referee", "worker", False),
    ],
)
def test_only_the_certificate_of_the_scheduler_is_a_servers(
    certificates: Path, tmp_path: Path, server: str, client: str, is_accepted: bool
) -> None:
    def contexts(role: str) -> Security:
        files = {name.removeprefix("ARENA_").lower(): file for name, file in files_of(role, certificates).items()}
        security = security_of(Settings(data=tmp_path, **files), "tls://x:1")
        assert security is not None
        return security

    ours, theirs = socket.socketpair()
    listening = contexts(server).get_listen_args("scheduler")["ssl_context"]

    def serve() -> None:
        with suppress(OSError), listening.wrap_socket(theirs, server_side=True) as connection:
            connection.recv(1)

    thread = threading.Thread(target=serve)
    thread.start()
    connecting = contexts(client).get_connection_args("client")["ssl_context"]
    with ours, nullcontext() if is_accepted else pytest.raises(ssl.SSLCertVerificationError, match="purpose"):
        connecting.wrap_socket(ours).close()
    thread.join(60)
    assert not thread.is_alive()


def test_certificates_need_openssl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["scheduler", "--init-tls", str(tmp_path / "tls")]) == 1
    assert "openssl is not installed" in capsys.readouterr().err
    assert not (tmp_path / "tls").exists()


def test_an_encrypted_cluster_rejects_clients_without_a_certificate(certificates: Path, tmp_path: Path) -> None:
    from arena.cluster.executor import ClusterExecutor

    with processes.scheduler(0, "--tls", **files_of("scheduler", certificates)) as (address, _):
        assert address.startswith("tls://")
        with processes.worker(address, tmp_path / "worker", **files_of("worker", certificates)):
            own = files_of("referee", certificates)
            files = {name.removeprefix("ARENA_").lower(): file for name, file in own.items()}
            security = security_of(Settings(data=tmp_path, **files), address)
            executor = ClusterExecutor(address, security=security)
            try:
                assert executor.submit(int, "7").result(processes.TIMEOUT_S) == 7
            finally:
                executor.shutdown(cancel_futures=True)
        with pytest.raises(ClusterError, match="no Dask scheduler answers"):
            ClusterExecutor(address.replace("tls://", "tcp://"), connect_timeout_s=0.5)


def test_help_needs_no_dask() -> None:
    code = "import sys; from arena.__main__ import main; main(['--help']); main(['worker', '--help']); "
    done = subprocess.run(
        [sys.executable, "-c", code + "print('distributed' in sys.modules)"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "False"


def test_the_doctor_checks_the_cluster(cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from arena.cli.server.doctor import examine

    def executor(url: str) -> tuple[str, str]:
        part = next(part for part in examine(Settings(data=tmp_path, executor=url)) if part.name == "executor")
        return part.state, f"{part.detail} {part.fix}"

    state, text = executor(f"dask://127.0.0.1:{free_port()}")
    assert (state, "no scheduler answers" in text, "arena scheduler" in text) == ("broken", True, True)
    cluster.worker()
    idle = ("ok", "1 workers with 1 slots, 0 of them busy ")
    # It may be rejoining, or finishing the job of an earlier test.
    processes.wait(lambda: executor(cluster.address) == idle, "an idle worker")
    with processes.scheduler() as (address, _):
        state, text = executor(address)
        assert (state, "games wait" in text, "arena worker" in text) == ("weak", True, True)


def test_an_unavailable_sandbox_is_reported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str, **options: bool) -> None:
        raise ValueError(f"sandbox {name} does not work here: bubblewrap is not installed; apt-get install bubblewrap")

    monkeypatch.setattr("referee.sandbox.open_sandbox", missing)
    words = ["worker", "--data", str(tmp_path), "--scheduler", "dask://127.0.0.1:1", "--sandbox", "bwrap"]
    assert main(words) == 4
    said = capsys.readouterr().err
    assert "bubblewrap is not installed; apt-get install bubblewrap, or give another --sandbox" in said
    assert "Traceback" not in said
