"""Real programs attack from inside bubblewrap: each gets the right verdict, or nothing at all."""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from referee.game.spec import Adjudication, GameSpec, PlannedGame
from referee.play.play import play
from referee.play.roster import Roster
from referee.sandbox.reaper import children
from tests.referee.conftest import PATIENT_TIME
from tests.referee.sandbox.conftest import FOUND_OUT_LATE, LIMITS, Attack, attacker, is_root
from tests.referee.sandbox.levels import sandbox_or_skip

FRUITLESS = ("resigned", "second")
"""The honest opponent resigned: the attack changed nothing."""


def outcome(record: object) -> tuple[str, str]:
    return record.termination, record.loser


# -- too much of everything ----------------------------------------------------------------------------------------


@pytest.fixture(params=["control groups", "watchdog"])
def bounded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, roster: Roster) -> Roster:
    """The sandbox with and without control groups; where there are none to be had, twice without."""
    sandbox = sandbox_or_skip("bwrap", uses_groups=request.param == "control groups")
    monkeypatch.setattr(roster, "sandbox", sandbox)
    return roster


@pytest.mark.parametrize("kind", ["own", "children"])
def test_a_memory_hog_is_stopped(kind: str, bounded: Roster, attack: Attack) -> None:
    record, _ = attack("memory_hog", kind)
    assert outcome(record) == ("memory-limit", "first")
    assert "157,286,400 bytes" in record.detail


def test_a_fork_bomb_goes_out(bounded: Roster, attack: Attack) -> None:
    before = children()
    record, _ = attack("fork_bomb", **FOUND_OUT_LATE)
    assert outcome(record) == ("process-limit", "first"), record.detail
    assert children() <= before | {bot.process.pid for bot in bounded._idle}


def test_files_without_end_count_as_memory(bounded: Roster, attack: Attack) -> None:
    record, _ = attack("disk_filler", "litter")
    assert outcome(record) == ("memory-limit", "first")


def test_nothing_is_written_but_a_bounded_memory_disk(attack: Attack) -> None:
    record, found = attack("disk_filler", "big", limits=replace(LIMITS, memory_bytes=2**28))
    assert outcome(record) == FRUITLESS
    assert {"/tmp", "/dev/shm"} <= set(found["places"])
    assert not [place for place in found["places"] if not place.startswith(("/tmp", "/dev/shm"))]
    assert sum(written for written, _ in found["places"].values()) <= 2 * 64 * 2**20
    assert {ending for _, ending in found["places"].values()} == {"No space left on device"}
    assert found["truncate"] == "File too large"


def test_busy_processes_do_not_keep_the_opponent_from_answering(attack: Attack) -> None:
    record, _ = attack("cpu_hog", limits=replace(LIMITS, processes=64))
    assert outcome(record) == FRUITLESS


# -- the network and other bots ------------------------------------------------------------------------------------


@pytest.fixture
def servers(open_folder: Path) -> Iterator[tuple[int, str, str]]:
    """Somebody to talk to on this machine: a TCP port, an abstract socket, a socket in the file system."""
    abstract, path = f"arena-test-{os.getpid()}", str(open_folder / "socket")  # short: an address has 107 bytes
    with (
        socket.create_server(("0.0.0.0", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as unnamed,
        socket.socket(socket.AF_UNIX) as named,
    ):
        unnamed.bind("\0" + abstract)
        named.bind(path)
        os.chmod(path, 0o777)
        for listening in (unnamed, named):
            listening.listen()
        yield tcp.getsockname()[1], abstract, path


def test_a_bot_gets_no_socket(attack: Attack, servers: tuple[int, str, str]) -> None:
    port, abstract, path = servers
    record, results = attack("network", port, "127.0.0.1", abstract, f"at:{path}")
    assert outcome(record) == FRUITLESS
    refused = {name: result for name, result in results.items() if name != "name"}
    assert set(refused.values()) == {"Permission denied"}
    assert not results["name"].startswith("done")


def test_nobody_can_be_reached_in_a_network_of_its_own(attack: Attack, servers: tuple[int, str, str]) -> None:
    port, abstract, path = servers
    record, results = attack("network", port, "127.0.0.1", abstract, f"at:{path}", network="loopback")
    assert outcome(record) == FRUITLESS
    allowed = {name for name, result in results.items() if result.startswith("done")}
    assert allowed == {"listen"}, "it may listen in a network that has nobody else in it"
    assert results["tcp to the referee"] == "Connection refused"
    assert (results["tcp out"], results["udp out"]) == ("Network is unreachable", "Permission denied")
    assert results["AF_VSOCK"] == "Address family not supported by protocol"


def test_a_port_it_listens_on_is_not_this_machines(attack: Attack) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        record, results = attack("network", port, "127.0.0.1", "nobody", "nothing", network="loopback")
    assert outcome(record) == FRUITLESS
    assert results["listen"] == "done: 0", "the port is free where it is"


def test_two_bots_cannot_meet(bundle: Path, roster: Roster) -> None:
    spec = GameSpec(
        "loa",
        "standard",
        replace(attacker(bundle, "meeting"), name="one"),
        replace(attacker(bundle, "meeting"), name="two"),
        time=PATIENT_TIME,
        limits=LIMITS,
        opening=("b1b3", "h4f2", "d1a4"),
        adjudication=Adjudication(max_plies=5),
    )
    record = play(PlannedGame.of(spec), roster)
    assert record.termination == "max-plies", record.detail
    for side in ("first", "second"):
        results = json.loads(record.logs[side].splitlines()[0])
        assert not [place for place, result in results["found"].items() if result.startswith("done")]
        assert results["processes"] == 2, "the first process of the sandbox, and the bot"


# -- other people's files ------------------------------------------------------------------------------------------


def test_files_and_secrets_stay_unseen(
    attack: Attack, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the password")
    secret.chmod(0o600)
    other = tmp_path / "other-bundle"
    other.mkdir()
    (other / "bot.py").write_text("trade secret")
    database = tmp_path / "arena.db"
    database.write_text("SQLite format 3")
    (bundle / "link").symlink_to(secret)
    (bundle / "link-up").symlink_to("../secret")
    (bundle / "link-folder").symlink_to(tmp_path)
    os.link(secret, bundle / "hard")
    monkeypatch.setenv("ARENA_TOKEN", "hush")
    record, results = attack("files", secret, other / "bot.py", database, Path.home() / ".ssh", Path(__file__))
    assert outcome(record) == FRUITLESS
    seen = {name: result for name, result in results["found"].items() if result.startswith("done")}
    assert set(seen) <= {"/root", "/home"}, "folders that lead to what it may see"
    assert all(not set(json.loads(result[6:].replace("'", '"'))) & {".ssh", ".bashrc"} for result in seen.values())
    own = {name for name, result in results["own"].items() if result.startswith("done")}
    # A hard link is the same file under another name: only its owner and mode protect it, so whoever unpacks an
    # upload must not make any. Under root the bot is another user.
    assert own == (set() if is_root() else {"hard"})
    assert set(results["environment"]) <= {
        *(
            "PATH",
            "HOME",
            "TMPDIR",
            "LANG",
            "NUMBA_CACHE_DIR",
            "PYTHONDONTWRITEBYTECODE",
            "OPENBLAS_NUM_THREADS",
            "PWD",
        ),
        *("COMPlus_EnableDiagnostics", "DOTNET_EnableDiagnostics"),
    }
    assert "hush" not in results["raw environment"]
    assert results["descriptors"] == ["pipe"] * 3
    assert len(results["more descriptors"]) == 1, "the one by which it counted"
    assert results["folder"] == "/bot"


def test_its_own_bundle_is_read_only_and_gives_no_rights(attack: Attack, bundle: Path) -> None:
    program = bundle / "setuid-id"
    shutil.copy(shutil.which("id"), program)
    program.chmod(0o6755)
    before = {path.name: (path.stat().st_mtime_ns, path.stat().st_mode) for path in bundle.iterdir()}
    record, results = attack("bundle")
    assert outcome(record) == FRUITLESS
    assert results.pop("who") == results.pop("whoami"), "a program that belongs to root runs as the bot all the same"
    assert not [name for name, result in results.items() if result.startswith("done")]
    assert results["write"] == results["create"] == "Read-only file system"
    after = {path.name: (path.stat().st_mtime_ns, path.stat().st_mode) for path in bundle.iterdir()}
    assert after == before


# -- other processes and the kernel --------------------------------------------------------------------------------


def test_other_processes_are_out_of_reach(attack: Attack) -> None:
    record, reported = attack("processes", os.getpid(), os.getppid())
    assert outcome(record) == FRUITLESS
    seen, guard = reported.pop("seen"), reported.pop("filter of the first")
    assert len(seen) == 2
    assert not [line for line in seen.values() if "pytest" in line]
    results = [
        result for value in reported.values() for result in (value.values() if isinstance(value, dict) else [value])
    ]
    done = [result for result in results if result.startswith("done")]
    if is_root():
        assert not done
    else:  # the first process is the bot's own user's, but as confined as the bot
        assert guard == "2"
        assert not [result for result in done if "TOKEN" in result]


def test_the_kernel_gives_nothing_away(attack: Attack) -> None:
    record, results = attack("kernel")
    assert outcome(record) == FRUITLESS
    calls = results.pop("calls")
    if platform.machine() == "x86_64":
        assert not [name for name, result in calls.items() if result.startswith("done")]
    assert not [name for name, result in results.pop("limits").items() if result.startswith("done")]
    assert results.pop("capabilities") == ["0" * 16] * 5
    assert (results.pop("no new privileges"), results.pop("filter")) == ("1", "2")
    assert results.pop("user") not in ({0, os.getuid()} if is_root() else {0})
    before, after = results.pop("cores")
    assert before == after
    groups = results.pop("groups")
    assert groups == [] or not is_root()
    assert not [name for name, result in results.items() if result.startswith("done")]
