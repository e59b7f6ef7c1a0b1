"""The configuration that all processes of a cluster share: addresses, certificates, versions, and settings of Dask."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import dask
import distributed  # noqa: F401 - its defaults are there before ours
from distributed.core import rpc
from distributed.security import Security as Security  # noqa: PLC0414 - the others have it from here

from referee.errors import ArenaError
from referee.machine import source

if TYPE_CHECKING:
    from arena.config import Settings

PORT = 8786
"""Default port of a Dask scheduler."""
SLOT = "slot"
"""The Dask resource of a worker; each job takes one."""
WIRE = 8
"""Version of the messages between arena and workers; raised with each change."""
METADATA = "arena"
"""The key in the scheduler's metadata under which the arena publishes its version."""
TOPIC = "arena-events"
"""Prefix of the topics on which workers send events of jobs to an arena."""
TAKEN = "taken"
"""The event at the start of a job."""
FINISH = "finish"
"""The event with the record of a game. It precedes the result of the job, which has only void attempts."""
RESULT = "result"
"""The event with the result of a job as JSON, or with its error. It precedes the end of the Dask task, which has no
result: Dask would pickle it.
"""
WORKER_TTL_S = 10.0
"""A worker without a heartbeat for so long is lost."""

_SETTINGS: dict[str, Any] = {
    # No retries by Dask: the arena itself requeues lost games.
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.worker-ttl": WORKER_TTL_S,
    # A new worker takes queued jobs from busy ones; running jobs are never moved.
    "distributed.scheduler.work-stealing": True,
    "distributed.scheduler.work-stealing-interval": "500ms",
    "distributed.scheduler.events-cleanup-delay": "1m",
    "distributed.scheduler.active-memory-manager.start": False,
    # No memory limits: a Dask worker keeps only small records, as slots and bots are separate processes.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.worker.profile.enabled": False,
    # The scheduler forwards events, and keeps only the latest ones, as they carry whole results.
    "distributed.admin.low-level-log-length": 100,
    "distributed.admin.system-monitor.disk": False,
    "distributed.admin.system-monitor.host-cpu": False,
    "distributed.diagnostics.nvml": False,
    # Nothing uses Dask's event-loop lag monitor, and polling at 50 Hz costs CPU time.
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
"""Loggers that report each lost connection with a traceback; we log it ourselves in one line."""


class ClusterError(ArenaError):
    """A cluster cannot be used; the message says which cluster, why, and what to do."""

    kind = "unavailable"


class VersionError(ClusterError):
    """The arena and a worker have different versions, or different sources of the rules."""

    kind = "conflict"


class QuarantinedError(ClusterError):
    """The arena has quarantined this worker: one of its records was wrong, or bots are too slow on it."""

    kind = "forbidden"


def configure() -> None:
    """Configure Dask for this process, overriding files and environment variables that would affect games."""
    dask.config.set(_SETTINGS)
    for name in (*_DASK_LOGS, *_SILENCED_LOGS):
        log = logging.getLogger(name)
        log.handlers.clear()
        log.propagate = True
        log.setLevel(logging.CRITICAL if name in _SILENCED_LOGS else logging.WARNING)


def version() -> str:
    """Return what arena and worker must share: package version, wire version, digest of rules and referee."""
    return f"{source.release()}/{WIRE}/{source.digest()}"


def difference(theirs: Mapping[str, Any]) -> str:
    """Describe how this worker's version differs from the arena's in `theirs`; empty if both are equal."""
    if theirs["version"] == version():
        return ""
    parts, mine = dict(theirs.get("parts") or {}), source.parts()
    other = [
        f"{name} ({parts.get(name, 'none')} there, {mine.get(name, 'none')} here)"
        for name in sorted({*parts, *mine})
        if parts.get(name) != mine.get(name)
    ]
    sentence = f"is version {theirs['version']}, this worker is {version()}"
    return f"{sentence}; they differ in {', '.join(other)}" if parts and other else sentence


def address_of(url: str) -> str:
    """Return the address for Dask: `dask://HOST[:PORT]` and `tcp://…` are plain, `tls://…` encrypted. Raises
    ValueError.
    """
    parts = urlsplit(url if "://" in url or ":" not in url else f"dask://{url}")
    try:
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        host, port = None, 0
    scheme = {"dask": "tcp", "tcp": "tcp", "tls": "tls"}.get(parts.scheme)
    if scheme is None or not host or parts.path.strip("/"):
        raise ValueError(f"invalid address of a scheduler: {url}; write dask://HOST:PORT or tls://HOST:PORT")
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def host_towards(address: str) -> str | None:
    """Return this machine's address in the network of a scheduler, or None if it is unknown.

    A worker listens on this address only, as any client of its port can run programs.
    """
    parts = urlsplit(address)
    with contextlib.suppress(OSError):
        for family, kind, _, _, place in socket.getaddrinfo(parts.hostname, parts.port, type=socket.SOCK_DGRAM):
            with socket.socket(family, kind) as datagram:
                datagram.connect(place)  # sends nothing
                return str(datagram.getsockname()[0])
    return None


def security_of(settings: Settings, address: str) -> Security | None:
    """Return the certificates for an encrypted address, None for a plain one. Raises ClusterError."""
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
    """Return the metadata of the arena that uses a scheduler, or None before an arena has connected.

    Raises OSError, TimeoutError.

    `version` is always present. `parts` has the digests that the version combines, by name. `quarantined` maps the ids
    of quarantined workers to the reasons.
    """
    arguments = security.get_connection_args("worker") if security else {}
    async with rpc(address, connection_args=arguments) as scheduler:
        metadata = await scheduler.get_metadata(keys=[METADATA], default=None)
    return metadata if isinstance(metadata, dict) and "version" in metadata else None


def reason(error: BaseException) -> str:
    """Return the message of the system error that Dask has wrapped, or else Dask's message."""
    message, inner = str(error) or type(error).__name__, error.__cause__
    while inner is not None:
        message = getattr(inner, "strerror", None) or message
        inner = inner.__cause__
    return message
