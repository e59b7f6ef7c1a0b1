"""Runs tests as on a bare machine: `python -m tests.bare PYTEST-ARGUMENTS`.

Optional programs cannot be found: the path has all others in one folder, and PostgreSQL and Chromium, which tests look
for at places of their own, are taken to be missing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

NAME = "ARENA_TESTS_BARE"
HIDDEN = (
    *("bwrap", "chrom", "mosquitto", "nginx", "promtool", "buildah", "debootstrap", "systemd-analyze"),
    *("postgres", "psql", "pg_", "initdb", "createdb", "dropdb"),
)
"""How the names of programs begin that nobody is obliged to have."""


def is_bare() -> bool:
    """Return whether this run is to find none of the optional programs."""
    return NAME in os.environ


def link_programs(folder: Path, path: str) -> None:
    """Link every program of a search path that is not optional into a folder; the first of a name counts."""
    for place in map(Path, path.split(os.pathsep)):
        for program in sorted(place.iterdir()) if place.is_dir() else ():
            link = folder / program.name
            if not program.name.startswith(HIDDEN) and not link.is_symlink() and os.access(program, os.X_OK):
                link.symlink_to(program.absolute())


def main() -> int:
    """Run pytest with these arguments; its exit code."""
    with tempfile.TemporaryDirectory(prefix="arena-bare-") as name:
        os.chmod(name, 0o755)
        link_programs(Path(name), os.environ["PATH"])
        kept = {key: value for key, value in os.environ.items() if key != "ARENA_FORBID_SKIPS"}
        line = [sys.executable, "-m", "pytest", *sys.argv[1:]]
        return subprocess.run(line, env={**kept, "PATH": name, NAME: "1"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
