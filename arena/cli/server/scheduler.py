"""`arena scheduler`: run the Dask scheduler to which an arena and its workers connect.

It may be killed and started again at any time; no result is lost.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from arena.cli.source.database import add_settings
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.interrupt import heard


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "The meeting point of an arena and its workers. Anyone who reaches its port, or that of a worker, can "
        "run programs there: keep them in a private network, or use --tls."
    )
    parser.add_argument(
        "--bind", default="127.0.0.1", metavar="HOST", help="address to listen on (default 127.0.0.1: this machine)"
    )
    parser.add_argument(
        "--port", type=argument.port, metavar="PORT", help="port to listen on (default 8786, 0 = a free one)"
    )
    parser.add_argument(
        "--tls",
        action="store_true",
        help="accept only clients with a certificate of the cluster (settings cluster_ca, cluster_cert, cluster_key)",
    )
    parser.add_argument(
        "--init-tls",
        type=Path,
        metavar="DIR",
        help="create an authority and certificates for scheduler, referee and worker in a new folder, and exit",
    )
    parser.add_argument(
        "--worker-ttl",
        type=_ttl,
        default=10.0,
        metavar="SECONDS",
        help="how long a worker may be silent before its games are played elsewhere (default 10, at least 5)",
    )
    parser.add_argument("--dashboard", metavar="HOST:PORT", help="also serve Dask's dashboard at this address")
    add_settings(parser)


def _ttl(text: str) -> float:
    """Parse seconds, at least five: workers send a heartbeat every second or two."""
    try:
        found = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a number: {text!r}") from None
    if not 5 <= found <= 86_400:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 5 to 86,400")
    return found


def run(arguments: argparse.Namespace) -> int:
    """Run the scheduler until SIGTERM or Ctrl-C; print its address on stdout."""
    from arena import log
    from arena.config import read_settings

    settings = read_settings(arguments.config, data=arguments.data)
    log.configure(settings.log_format, settings.log_level)
    try:
        from arena.cluster.wire_config import PORT, ClusterError, security_of
    except ModuleNotFoundError as error:
        raise missing(error) from None
    if arguments.init_tls:
        return _init_tls(arguments.init_tls)
    port = PORT if arguments.port is None else arguments.port
    host = f"[{arguments.bind}]" if ":" in arguments.bind else arguments.bind
    address = f"{'tls' if arguments.tls else 'tcp'}://{host}:{port}"
    try:
        security = security_of(settings, address)
        asyncio.run(_serve(address, security, arguments.dashboard, arguments.worker_ttl))
    except ClusterError as error:
        raise CommandError(str(error), Exit.FAILED) from None
    return Exit.DONE


def _init_tls(folder: Path) -> int:
    """Create the certificates of a cluster, and print what to do with them."""
    from arena.cluster.certificates import ROLES, create
    from arena.cluster.wire_config import ClusterError

    try:
        create(folder)
    except ClusterError as error:
        raise CommandError(str(error), Exit.FAILED) from None
    output.text(f"{folder}: certificates of {', '.join(ROLES)}, and ca.key, which you should keep elsewhere.")
    output.text("Copy ca.pem and ROLE.pem, ROLE.key to the machines of each role, and set there:")
    output.text(f"  cluster_ca = {str(folder / 'ca.pem')!r}")
    output.text("  cluster_cert = 'ROLE.pem'\n  cluster_key = 'ROLE.key'")
    output.text("Then start `arena scheduler --tls`, and use tls://HOST:8786 for referee and workers.")
    return Exit.DONE


async def _serve(address: str, security: object, dashboard: str | None, worker_ttl_s: float) -> None:
    from arena.cluster.scheduler import serve

    stop = asyncio.Event()

    def tell(found: str) -> None:
        output.text(found.replace("tcp://", "dask://"))
        sys.stdout.flush()  # the parent process may be waiting for the address

    with heard(stop):
        await serve(address, stop, security=security, dashboard=dashboard, worker_ttl_s=worker_ttl_s, on_start=tell)


def missing(error: ModuleNotFoundError) -> CommandError:
    """Return the error for a package that the cluster needs and that is not installed."""
    return CommandError(
        f"{error.name} is not installed; install the arena with its extra: pip install 'bot-arena[cluster]'"
    )
