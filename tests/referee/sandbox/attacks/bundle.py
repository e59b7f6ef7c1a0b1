"""Changes its own bundle, and runs a program in it that belongs to root and says so."""

import os
import subprocess
from pathlib import Path
from typing import Any

from attacker import error_of, run


def attack() -> dict[str, Any]:
    return {
        "write": error_of(lambda: Path("attacker.py").write_text("")),
        "create": error_of(lambda: Path("new").write_text("")),
        "append": error_of(lambda: os.open("attacker.py", os.O_APPEND | os.O_WRONLY)),
        "truncate": error_of(lambda: os.truncate("attacker.py", 0)),
        "remove": error_of(lambda: os.unlink("attacker.py")),
        "rename": error_of(lambda: os.rename("attacker.py", "other.py")),
        "mode": error_of(lambda: os.chmod("attacker.py", 0o777)),
        "owner": error_of(lambda: os.chown("attacker.py", os.getuid(), os.getgid())),
        "times": error_of(lambda: os.utime("attacker.py")),
        "link": error_of(lambda: os.link("attacker.py", "hard-link")),
        "through /proc": error_of(lambda: Path("/proc/self/cwd/new").write_text("")),
        "who": subprocess.run(["./setuid-id", "-u"], capture_output=True, text=True, check=False).stdout.strip(),
        "whoami": str(os.getuid()),
    }


run(attack)
