"""The metrics of the service, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, start_http_server

if TYPE_CHECKING:
    from collections.abc import Iterator

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
_COMMIT_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5)
_GAME_SECONDS = (0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)


class Metrics:
    """The metrics of one process, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "arena_http_requests_total",
            "HTTP requests.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "arena_http_request_seconds",
            "Response time, without streams.",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.streams = Gauge("arena_http_streams", "Open streams of games and tournaments.", registry=self.registry)
        self.upload_bytes = Counter("arena_upload_bytes_total", "Bytes of uploaded bots.", registry=self.registry)
        self._games = Gauge("arena_games", "Games by state.", ("state",), registry=self.registry)
        self._tournaments = Gauge("arena_tournaments", "Tournaments by state.", ("state",), registry=self.registry)
        self.bus_messages = Counter(
            "arena_bus_messages_total", "Messages over the broker.", ("direction",), registry=self.registry
        )
        self.bus_dropped = Counter(
            "arena_bus_dropped_total",
            "Dropped messages; topic, size, schema: invalid; overflow, queue: no room; offline: no broker.",
            ("reason",),
            registry=self.registry,
        )
        self.bus_connected = Gauge(
            "arena_bus_connected", "1 if the broker is connected or none is configured.", registry=self.registry
        )
        self.bus_connected.set(1)
        self.damaged = Gauge(
            "arena_database_damaged",
            "1 if an integrity check has found damage in the database.",
            registry=self.registry,
        )
        self.coordinator_up = Gauge(
            "arena_referee_up",
            "1 if any coordinator owns the lease, as far as this process knows.",
            registry=self.registry,
        )
        # The metrics of each combination of labels are cached, as every request uses them.
        self._count_of: Callable[..., Counter] = cache(self.requests.labels)
        self._time_of: Callable[..., Histogram] = cache(self.seconds.labels)

    def observe(self, route: str, method: str, status: int, seconds: float, *, is_stream: bool) -> None:
        """Count a request. `route` is the pattern of the address, so that the number of labels is bounded."""
        self._count_of(route, method, str(status)).inc()
        if not is_stream:
            self._time_of(route).observe(seconds)

    def set_database(self, games: Mapping[str, int], tournaments: Mapping[str, int], *, has_coordinator: bool) -> None:
        """Set the gauges to the present state of the database."""
        for gauge, counts in ((self._games, games), (self._tournaments, tournaments)):
            gauge.clear()
            for state, count in counts.items():
                gauge.labels(state).set(count)
        self.coordinator_up.set(has_coordinator)

    def text(self) -> bytes:
        return generate_latest(self.registry)


class CoordinatorMetrics:
    """The metrics of a coordinator, in the registry of its process."""

    def __init__(self, process: Metrics | None = None) -> None:
        process = process or Metrics()
        self.registry = registry = process.registry
        self.coordinator_up = process.coordinator_up
        self.acting = Gauge("arena_referee_acting", "1 if this process is the active coordinator.", registry=registry)
        self.slots = Gauge("arena_slots", "Games that can be played at once.", registry=registry)
        self.busy = Gauge("arena_slots_busy", "Games being played.", registry=registry)
        self.games = Counter(
            "arena_games_recorded_total", "Games with a result.", ("termination_class",), registry=registry
        )
        self.voids = Counter("arena_games_void_total", "Void attempts at games.", ("termination",), registry=registry)
        self.verified = Counter(
            "arena_games_verified_total", "Records of workers verified by the rules.", ("verdict",), registry=registry
        )
        self.game_seconds = Histogram(
            "arena_game_seconds", "Duration of games with a result.", buckets=_GAME_SECONDS, registry=registry
        )
        self.waiting = Gauge(
            "arena_results_waiting", "Results in the spool that are not committed yet.", registry=registry
        )
        self.waiting_seconds = Gauge(
            "arena_results_waiting_seconds",
            "Time for which the oldest result in the spool has waited.",
            registry=registry,
        )
        self.dropped = Counter(
            "arena_results_dropped_total",
            "Dropped results; over: the game had a result already; refused: not a game of this database.",
            ("reason",),
            registry=registry,
        )
        self.commit_seconds = Histogram(
            "arena_commit_seconds",
            "Time to commit a result.",
            buckets=_COMMIT_SECONDS,
            registry=registry,
        )
        self.checks = Counter("arena_checks_total", "Versions checked, by verdict.", ("verdict",), registry=registry)
        self.failures = Counter(
            "arena_background_failures_total",
            "Failed attempts at background work, by name.",
            ("work",),
            registry=registry,
        )
        self._tasks = Gauge(
            "arena_maintenance_done_timestamp_seconds",
            "Time when a daily task was last done, by name.",
            ("task",),
            registry=registry,
        )

    def set_lease(self, *, is_mine: bool, is_anothers: bool = False) -> None:
        """Set the gauges of the lease: is its owner this process, another one, or unknown?"""
        self.acting.set(is_mine)
        self.coordinator_up.set(is_mine or is_anothers)

    def task_done(self, task: str, at_s: float) -> None:
        """Set the gauge with the time at which a daily task was last done (Unix time)."""
        self._tasks.labels(task).set(at_s)


@contextmanager
def offered(registry: CollectorRegistry, host: str, port: int) -> Iterator[int]:
    """Serve metrics at `/metrics`, for a process without a web server; yield the port.

    Raises OSError if the port is in use.
    """
    server, thread = start_http_server(port, addr=host, registry=registry)
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
