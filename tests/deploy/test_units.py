"""The systemd units: understood by systemd where it is installed, and as strict as the sandbox of bots can bear."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy.sources import DEPLOY, UNITS, unit

PLAY_BOTS = {"arena-one.service", "arena-referee.service", "arena-worker@.service"}
FORBIDDEN = {
    "RestrictNamespaces": "bots live in namespaces of their own",
    "ProtectKernelTunables": "covers parts of /proc, and bubblewrap may then mount none",
    "ProtectKernelLogs": "covers parts of /proc, and bubblewrap may then mount none",
    "ProcSubset": "covers parts of /proc, and bubblewrap may then mount none",
    "ProtectControlGroups": "every bot gets a control group",
    "ProtectHostname": "bots have a host name of their own",
    "MemoryDenyWriteExecute": "rules are compiled at run time",
    "ProtectProc": "a bot could hide from the watch on its memory",
}
HIGHEST = {"arena.service": 1.5, "arena-scheduler.service": 1.5}
"""The highest exposure that systemd may find, of 10."""
OTHERS = 3.5


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_systemd_understands_it(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "ExecStart=/opt/arena/bin/arena " in text
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("optional: no systemd-analyze here; it comes with systemd")
    # It wants the program to be there, and a name for what is started more than once.
    copy = tmp_path / path.name.replace("@.", "@one.")
    copy.write_text(text.replace("/opt/arena/bin/arena", "/bin/true"), encoding="utf-8")
    done = subprocess.run([program, "verify", "--man=no", str(copy)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert path.name not in done.stderr
    line = [program, "security", "--offline=yes", "--no-pager", str(copy)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert exposure, done.stdout + done.stderr
    assert float(exposure[1]) <= HIGHEST.get(path.name, OTHERS)


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_it_gives_no_rights(path: Path) -> None:
    found = unit(path)
    assert found["User"] == ["arena"]
    assert found["NoNewPrivileges"] == found["ProtectHome"] == found["PrivateTmp"] == ["yes"]
    assert found["CapabilityBoundingSet"] == [""]
    assert found["ProtectSystem"] == ["strict"]
    assert found["Restart"] == ["always"]
    assert found["KillMode"] == ["mixed"]  # the program itself ends its games and bots


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_bots_can_be_confined_where_they_are_played(path: Path) -> None:
    settings = unit(path)
    if path.name not in PLAY_BOTS:
        assert "Delegate" not in settings
        assert set(FORBIDDEN) - {"MemoryDenyWriteExecute", "ProcSubset"} <= set(settings)
        return
    assert not set(FORBIDDEN) & set(settings)
    assert settings["Delegate"] == ["yes"]
    assert settings["OOMPolicy"] == ["continue"]  # a bot that is too big must not end the service
    assert "AF_NETLINK" in settings["RestrictAddressFamilies"][0]  # bubblewrap brings up the loopback of a bot
    assert "@mount" not in " ".join(settings["SystemCallFilter"])
    assert int(settings["TimeoutStopSec"][0]) > 40  # 20 s for running games, 20 s to call them off


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_its_documentation_is_installed(path: Path) -> None:
    steps = (DEPLOY.parent / "docs" / "how-to" / "run-with-systemd.md").read_text(encoding="utf-8")
    for address in unit(path)["Documentation"]:
        assert f" {address.removeprefix('file:')}\n" in steps
