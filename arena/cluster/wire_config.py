"""What all processes of a cluster agree upon: addresses, certificates, versions, and how Dask is set."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import dask
import distributed  # noqa: F401 - its defaults are there before ours
from distributed.core import rpc
from distributed.security import Security as Security  # noqa: PLC0414 - the others have it from here

from arena.errors import ArenaError
from referee import source

if TYPE_CHECKING:
    from arena.config import Settings

PORT = 8786
"""Where Dask schedulers listen unless told otherwise."""
SLOT = "slot"
"""The resource of a worker that one job takes."""
WIRE = 7
"""Raised whenever what an arena and its workers send each other changes."""
METADATA = "arena"
"""Under which key of the scheduler's metadata the arena says what it is."""
TOPIC = "arena-events"
"""What the topics begin with under which workers tell an arena of its jobs."""
TAKEN = "taken"
"""The event that says: this job has been begun."""
FINISH = "finish"
"""The event that brings the record of a game: before its job ends, whose answer says only what came to nothing."""
WORKER_TTL_S = 10.0
"""A worker not heard of for so long is given up."""

_SETTINGS: dict[str, Any] = {
    # What becomes of a lost game is for the arena to decide, at once.
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.worker-ttl": WORKER_TTL_S,
    # A worker that joins takes over what waits at a busy one; what has begun is never moved.
    "distributed.scheduler.work-stealing": True,
    "distributed.scheduler.work-stealing-interval": "500ms",
    "distributed.scheduler.events-cleanup-delay": "1m",
    "distributed.scheduler.active-memory-manager.start": False,
    # Records are small, and the slots with their bots are processes of their own: nothing to spill or to pause for.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.worker.profile.enabled": False,
    # Events are passed on, not kept: results are among them.
    "distributed.admin.low-level-log-length": 100,
    "distributed.admin.system-monitor.disk": False,
    "distributed.admin.system-monitor.host-cpu": False,
    "distributed.diagnostics.nvml": False,
    # How late a loop is nobody asks; fifty looks a second take a core from the bots on it.
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.cycle": "10s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.comm.timeouts.connect": "5s",
    "distributed.comm.timeouts.tcp": "20s",
}

_DASK_LOGS = ("distributed", "distributed.gc", "bokeh", "tornado", "tornado.application")
_SILENCED_LOGS = (
    "distributed.client",
    "distributed.comm",
    "distributed.core",
    "distributed.batched",
    "distributed.worker",
)
"""That a connection broke is told by us, in one line; these tell it with a trace, each on its own."""


class ClusterError(ArenaError):
    """A cluster that cannot be used; the message says which, why and what to do."""

    kind = "unavailable"


class VersionError(ClusterError):
    """The arena and a worker are not of the same version, or do not judge games by the same sources."""

    kind = "conflict"


class QuarantinedError(ClusterError):
    """The arena wants no more games from this worker: what it said of one was wrong, or bots are too slow there."""

    kind = "forbidden"


def configure() -> None:
    """Set Dask up for this process: nothing left to files and variables that would change what becomes of games."""
    dask.config.set(_SETTINGS)
    for name in (*_DASK_LOGS, *_SILENCED_LOGS):
        log = logging.getLogger(name)
        log.handlers.clear()
        log.propagate = True
        log.setLevel(logging.CRITICAL if name in _SILENCED_LOGS else logging.WARNING)


def version() -> str:
    """What both sides must have in common: the version, that of the wire, and the digest of what judges games."""
    return f"{_number()}/{WIRE}/{source.digest()}"


@cache
def _number() -> str:
    """What is installed; looked up once, as every job asks."""
    try:
        return version_of("bot-arena")
    except PackageNotFoundError:
        return "0"


def difference(theirs: Mapping[str, Any]) -> str:
    """What of this machine is not as an arena is that tells `theirs` of itself; empty when all is."""
    if theirs["version"] == version():
        return ""
    parts, mine = dict(theirs.get("parts") or {}), source.parts()
    other = [
        f"{name} ({parts.get(name, 'none')} there, {mine.get(name, 'none')} here)"
        for name in sorted({*parts, *mine})
        if parts.get(name) != mine.get(name)
    ]
    found = f"is version {theirs['version']}, this worker is {version()}"
    return f"{found}; they differ in {', '.join(other)}" if parts and other else found


def address_of(url: str) -> str:
    """The address Dask uses; `dask://HOST[:PORT]` and `tcp://…` are plain, `tls://…` encrypted. Raises ValueError."""
    parts = urlsplit(url if "://" in url or ":" not in url else f"dask://{url}")
    try:
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        host, port = None, 0
    scheme = {"dask": "tcp", "tcp": "tcp", "tls": "tls"}.get(parts.scheme)
    if scheme is None or not host or parts.path.strip("/"):
        raise ValueError(f"not the address of a scheduler: {url}; write dask://HOST:PORT or tls://HOST:PORT")
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def host_towards(address: str) -> str | None:
    """The address of this machine in the network where a scheduler is; None where that cannot be told.

    A worker listens there and nowhere else: whoever reaches its port runs programs.
    """
    parts = urlsplit(address)
    with contextlib.suppress(OSError):
        for family, kind, _, _, place in socket.getaddrinfo(parts.hostname, parts.port, type=socket.SOCK_DGRAM):
            with socket.socket(family, kind) as found:
                found.connect(place)  # sends nothing
                return str(found.getsockname()[0])
    return None


def security_of(settings: Settings, address: str) -> Security | None:
    """The certificates for an encrypted address; None for a plain one. Raises ClusterError."""
    if not address.startswith("tls://"):
        return None
    ca, cert, key = settings.cluster_ca, settings.cluster_cert, settings.cluster_key
    for name, file in (("cluster_ca", ca), ("cluster_cert", cert), ("cluster_key", key)):
        if not file:
            raise ClusterError(f"{address} is encrypted: {name} is not set; set cluster_ca, cluster_cert, cluster_key")
        if not os.access(file, os.R_OK):
            raise ClusterError(f"{name}: {file} cannot be read")
    return Security(
        require_encryption=True,
        tls_ca_file=ca,
        **{f"tls_{role}_cert": cert for role in ("client", "scheduler", "worker")},
        **{f"tls_{role}_key": key for role in ("client", "scheduler", "worker")},
    )


async def ask_arena(address: str, security: Security | None) -> Mapping[str, Any] | None:
    """What the arena that uses a scheduler tells of itself; None when none has come yet. Raises OSError, TimeoutError.

    `version` is always in it, `parts` what its digest is made of, `quarantined` the workers it wants no more, and why.
    """
    arguments = security.get_connection_args("worker") if security else {}
    async with rpc(address, connection_args=arguments) as scheduler:
        found = await scheduler.get_metadata(keys=[METADATA], default=None)
    return found if isinstance(found, dict) and "version" in found else None


def reason(error: BaseException) -> str:
    """What the system said, where Dask has wrapped it; else what Dask says."""
    said, inner = str(error) or type(error).__name__, error.__cause__
    while inner is not None:
        said = getattr(inner, "strerror", None) or said
        inner = inner.__cause__
    return said
