"""The scheduler of a cluster: Dask's scheduler, configured for the arena, in a separate process; and certificates.

The scheduler only forwards tasks; losing its whole state does no harm. The program openssl creates a certificate of an
authority and one of each role. Only the scheduler's may be a server's: who has a worker's certificate cannot stand in
for the scheduler, to which the others send programs.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from distributed import Scheduler

from arena.cluster.wire_config import WORKER_TTL_S, ClusterError, Security, configure


async def serve(
    address: str,
    stop: asyncio.Event,
    *,
    security: Security | None = None,
    dashboard: str | None = None,
    worker_ttl_s: float = WORKER_TTL_S,
    on_start: Callable[[str], None] | None = None,
) -> None:
    """Run a scheduler at `address` (port 0: any free port) until `stop` is set. Raises ClusterError if it cannot listen
    there.

    A worker without a heartbeat for `worker_ttl_s` seconds is lost. `dashboard` is HOST:PORT of Dask's dashboard;
    without it, other machines reach only the scheduler itself.
    """
    configure()
    scheduler = Scheduler(
        host=address,
        security=security,
        worker_ttl=worker_ttl_s,
        dashboard=dashboard is not None,
        dashboard_address=dashboard or "127.0.0.1:0",
    )
    try:
        await scheduler
    except OSError as error:
        raise ClusterError(f"cannot listen at {address}: {error.strerror or error}; choose another --port") from None
    if on_start:
        on_start(scheduler.address)
    ended = asyncio.create_task(scheduler.finished())
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((ended, stopping), return_when=asyncio.FIRST_COMPLETED)
    finally:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(scheduler.close(), 5)
        for task in (ended, stopping):
            task.cancel()
        await asyncio.gather(ended, stopping, return_exceptions=True)


USAGES = {"scheduler": "serverAuth, clientAuth", "referee": "clientAuth", "worker": "clientAuth"}
"""Extended key usages by role. A worker listens as Dask's do, but no process connects to it: results are events."""
_EXTENSIONS = "basicConstraints = critical, CA:FALSE\nkeyUsage = critical, digitalSignature\nextendedKeyUsage = {}\n"
DAYS = 3650
_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def create(folder: Path) -> None:
    """Create a new folder with `ca.pem`, `ca.key`, and `ROLE.pem` and `ROLE.key` for each role.

    Only the owner can read the files. Raises ClusterError if the folder has files already or cannot be written, or if
    openssl is not installed or fails.
    """
    program = shutil.which("openssl")
    if program is None:
        raise ClusterError("openssl is not installed; apt-get install openssl")
    if folder.exists() and any(folder.iterdir()):
        raise ClusterError(f"{folder} is not empty; give a new folder, or remove the old certificates first")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as name:
            new = Path(name, "new")
            new.mkdir(mode=0o700)
            _sign_all(program, new)
            for path in new.iterdir():
                path.chmod(0o600)
            os.rename(new, folder)
    except OSError as error:
        raise ClusterError(f"{folder}: {error.strerror}; give a folder that this user can write") from None


def _sign_all(program: str, folder: Path) -> None:
    def run(*words: str) -> None:
        done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ClusterError(
                f"openssl {words[0]} failed: {done.stderr.strip()[-500:]}; it needs version 1.1.1 or newer"
            )

    days = ("-days", str(DAYS))
    run("req", "-x509", *_NEW_KEY, *days, "-subj", "/CN=arena cluster", "-keyout", "ca.key", "-out", "ca.pem")
    for role, usages in USAGES.items():
        extensions = folder / f"{role}.ext"
        extensions.write_text(_EXTENSIONS.format(usages), encoding="ascii")
        run("req", *_NEW_KEY, "-subj", f"/CN={role}", "-keyout", f"{role}.key", "-out", f"{role}.csr")
        # Before version 3 openssl asks for a serial number; a random one needs no file that counts them.
        authority = ("-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial", f"0x{secrets.token_hex(16)}")
        more = ("-extfile", extensions.name, "-out", f"{role}.pem")
        run("x509", "-req", "-in", f"{role}.csr", *authority, *days, *more)
        (folder / f"{role}.csr").unlink()
        extensions.unlink()
