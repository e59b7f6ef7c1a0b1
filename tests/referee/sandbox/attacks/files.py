"""Reads what is not its own: secrets of the system and the arena, other bots, the environment, links in its bundle."""

import os
import sys
from pathlib import Path
from typing import Any

from attacker import error_of, run

SECRETS = sys.argv[1:]
INIT = 1


def attack() -> dict[str, Any]:
    names = ["/etc/passwd", "/etc/shadow", "/etc/hostname", "/root", "/home", "/var/log", "/sys/kernel", "/proc/kcore"]
    results = {
        name: error_of(lambda name=name: os.listdir(name) if os.path.isdir(name) else Path(name).read_bytes()[:9])
        for name in [*names, *SECRETS]
    }
    own = {
        name: error_of(lambda name=name: Path(name).read_bytes()[:40])
        for name in (
            "link",
            "link-up",
            "link-folder/secret",
            "hard",
            "/proc/self/cwd/link",
            os.path.join("/proc", str(INIT), "root", "etc/shadow"),
        )
    }
    return {
        "found": results,
        "own": own,
        "environment": dict(os.environ),
        "raw environment": Path("/proc/self/environ").read_text(),
        "descriptors": sorted(os.readlink(f"/proc/self/fd/{name}").split(":")[0] for name in ("0", "1", "2")),
        "more descriptors": sorted(name for name in os.listdir("/proc/self/fd") if int(name) > 2),
        "folder": os.getcwd(),
    }


run(attack)
