"""Writes as much as it can wherever it can: one big file, many big files, ever so many small ones."""

import os
import sys
from pathlib import Path
from typing import Any

from attacker import error_of, run

BLOCK = b"x" * 2**20
ENOUGH = 400 * 2**20


COMMON = ("/", "/tmp", "/var/tmp", "/dev", "/dev/shm", "/run", "/proc", "/sys", ".")


def mounts() -> list[tuple[str, str]]:
    """The mount points with their options; common ones if the sandbox hides them."""
    try:
        text = Path("/proc/self/mountinfo").read_text()
    except PermissionError:
        return [(folder, "rw") for folder in COMMON]
    return [(line.split()[4], line.split()[5]) for line in text.splitlines()]


def writable() -> list[str]:
    """Every folder in which a file can be made: at the root of every mount, and below those not mounted read-only."""
    places = []
    for mount, options in mounts():
        for folder, folders, _ in os.walk(mount):
            name = os.path.join(folder, "attack")
            try:
                os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
                os.unlink(name)
                places.append(folder)
            except OSError:
                pass
            if "rw" not in options.split(",") or mount == "/proc":
                folders.clear()
    return places


def fill(folder: str) -> tuple[int, str]:
    """Fill a folder with big files; the bytes written and what ended it."""
    total, number = 0, 0
    while total < ENOUGH:
        number += 1
        try:
            descriptor = os.open(f"{folder}/big{number}", os.O_CREAT | os.O_WRONLY)
        except OSError as error:
            return total, str(error.strerror)
        for _ in range(32):
            try:
                total += os.write(descriptor, BLOCK)
            except OSError as error:
                return total, str(error.strerror)
    return total, "enough"


def litter(folder: str) -> dict[str, Any]:
    """Make small files without end."""
    number = 0
    while True:
        number += 1
        os.close(os.open(f"{folder}/small{number:0200}", os.O_CREAT | os.O_WRONLY))


def attack() -> dict[str, Any]:
    if sys.argv[1] == "litter":
        return litter("/tmp")
    places = writable()
    found = {place: fill(place) for place in places}
    big = error_of(lambda: os.truncate("/tmp/big1", 2**40))
    return {"places": found, "truncate": big}


run(attack)
