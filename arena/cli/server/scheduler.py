"""`arena scheduler`: run the scheduler of a cluster, to which an arena and its workers connect."""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.source.database import SettingsArguments
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import option
from arena.cli.terminal.interrupt import heard

if TYPE_CHECKING:
    from arena.cluster.wire_config import Security


def _ttl(text: str) -> float:
    """Parse seconds, at least five: workers send a heartbeat every second or two."""
    try:
        seconds = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a number: {text!r}") from None
    if not 5 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 5 to 86,400")
    return seconds


@dataclass(frozen=True, kw_only=True)
class SchedulerArguments(SettingsArguments):
    bind: str = option("address to listen on (default 127.0.0.1: this machine)", metavar="HOST", default="127.0.0.1")
    port: int | None = option("port to listen on (default 8786, 0 = a free one)", metavar="PORT", type=argument.port)
    tls: bool = option(
        "accept only clients with a certificate of the cluster (settings cluster_ca, cluster_cert, cluster_key)",
        default=False,
    )
    init_tls: Path | None = option(
        "create an authority and certificates for scheduler, referee and worker in a new folder, and exit",
        metavar="DIR",
    )
    worker_ttl: float = option(
        "how long a worker may be silent before its games are played elsewhere (default 10, at least 5)",
        metavar="SECONDS",
        default=10.0,
        type=_ttl,
    )
    dashboard: str | None = option("also serve Dask's dashboard at this address", metavar="HOST:PORT")


def run(arguments: SchedulerArguments) -> None:
    """Run the scheduler until SIGTERM or Ctrl-C; print its address on stdout.

    It may be killed and started again at any time; no result is lost.
    """
    from arena import log

    settings = arguments.read()
    log.configure(settings.log_format, settings.log_level)
    try:
        from arena.cluster.wire_config import PORT, ClusterError, security_of
    except ModuleNotFoundError as error:
        raise missing(error) from None
    if arguments.init_tls:
        _init_tls(arguments.init_tls)
        return
    port = PORT if arguments.port is None else arguments.port
    host = f"[{arguments.bind}]" if ":" in arguments.bind else arguments.bind
    address = f"{'tls' if arguments.tls else 'tcp'}://{host}:{port}"
    try:
        security = security_of(settings, address)
        asyncio.run(_serve(address, security, arguments.dashboard, arguments.worker_ttl))
    except ClusterError as error:
        raise CommandError(str(error), Exit.FAILED) from None


def _init_tls(folder: Path) -> None:
    """Create the certificates of a cluster, and print what to do with them."""
    from arena.cluster.scheduler import USAGES, create
    from arena.cluster.wire_config import ClusterError

    try:
        create(folder)
    except ClusterError as error:
        raise CommandError(str(error), Exit.FAILED) from None
    output.text(f"{folder}: certificates of {', '.join(USAGES)}, and ca.key, which you should keep elsewhere.")
    output.text("Copy ca.pem and ROLE.pem, ROLE.key to the machines of each role, and set there:")
    output.text(f"  cluster_ca = {str(folder / 'ca.pem')!r}")
    output.text("  cluster_cert = 'ROLE.pem'\n  cluster_key = 'ROLE.key'")
    output.note("Then start `arena scheduler --tls`, and use tls://HOST:8786 for referee and workers.")


async def _serve(address: str, security: Security | None, dashboard: str | None, worker_ttl_s: float) -> None:
    from arena.cluster.scheduler import serve

    stop = asyncio.Event()

    def tell(listening: str) -> None:
        output.text(listening.replace("tcp://", "dask://"))
        sys.stdout.flush()  # the parent process may be waiting for the address

    with heard(stop):
        await serve(address, stop, security=security, dashboard=dashboard, worker_ttl_s=worker_ttl_s, on_start=tell)


def missing(error: ModuleNotFoundError) -> CommandError:
    """Return the error for a package that the cluster needs and that is not installed."""
    return CommandError(
        f"{error.name} is not installed; install the arena with its extra: pip install 'bot-arena[cluster]'"
    )
