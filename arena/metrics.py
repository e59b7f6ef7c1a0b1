"""What the service counts, for Prometheus."""

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
    """The counters of one process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "arena_http_requests_total",
            "Requests answered.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "arena_http_request_seconds",
            "Time to answer, streams left out.",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.streams = Gauge("arena_http_streams", "Open streams of games and tournaments.", registry=self.registry)
        self.upload_bytes = Counter("arena_upload_bytes_total", "Bytes of bots taken in.", registry=self.registry)
        self._games = Gauge("arena_games", "Games by state.", ("state",), registry=self.registry)
        self._tournaments = Gauge("arena_tournaments", "Tournaments by state.", ("state",), registry=self.registry)
        self.bus_messages = Counter(
            "arena_bus_messages_total", "Messages over the broker.", ("direction",), registry=self.registry
        )
        self.bus_dropped = Counter(
            "arena_bus_dropped_total",
            "Messages given up: topic, size, schema: not to be believed; overflow, queue, offline: no room, no broker.",
            ("reason",),
            registry=self.registry,
        )
        self.bus_connected = Gauge(
            "arena_bus_connected", "Whether the broker is connected; 1 without a broker.", registry=self.registry
        )
        self.bus_connected.set(1)
        self.damaged = Gauge(
            "arena_database_damaged", "Whether the database is known to be damaged.", registry=self.registry
        )
        self.referee_up = Gauge(
            "arena_referee_up",
            "Whether a referee holds the lease, this process or another, as far as this process knows.",
            registry=self.registry,
        )
        # Looked up once: these are counted with every request.
        self._count_of: Callable[..., Counter] = cache(self.requests.labels)
        self._time_of: Callable[..., Histogram] = cache(self.seconds.labels)

    def observe(self, route: str, method: str, status: int, seconds: float, *, is_stream: bool) -> None:
        """Count a request. `route` is the pattern, never the address itself: names are bounded."""
        self._count_of(route, method, str(status)).inc()
        if not is_stream:
            self._time_of(route).observe(seconds)

    def set_database(self, games: Mapping[str, int], tournaments: Mapping[str, int], *, has_referee: bool) -> None:
        """Take over what the database says at this moment."""
        for gauge, counts in ((self._games, games), (self._tournaments, tournaments)):
            gauge.clear()
            for state, count in counts.items():
                gauge.labels(state).set(count)
        self.referee_up.set(has_referee)

    def text(self) -> bytes:
        """Everything in the text format of Prometheus."""
        return generate_latest(self.registry)


class RefereeMetrics:
    """What a referee counts, beside the other counters of its process."""

    def __init__(self, process: Metrics | None = None) -> None:
        process = process or Metrics()
        self.registry = one = process.registry
        self.referee_up = process.referee_up
        self.acting = Gauge("arena_referee_acting", "Whether this process is the one that acts.", registry=one)
        self.slots = Gauge("arena_slots", "Games that can be played at once.", registry=one)
        self.busy = Gauge("arena_slots_busy", "Games being played.", registry=one)
        self.games = Counter("arena_games_recorded_total", "Games with a result, by kind.", ("kind",), registry=one)
        self.voids = Counter("arena_games_void_total", "Attempts that came to nothing.", ("termination",), registry=one)
        self.verified = Counter(
            "arena_games_verified_total", "Games of workers played again by the rules.", ("verdict",), registry=one
        )
        self.game_seconds = Histogram(
            "arena_game_seconds", "How long games with a result took.", buckets=_GAME_SECONDS, registry=one
        )
        self.waiting = Gauge("arena_results_waiting", "Results that are not in the database yet.", registry=one)
        self.dropped = Counter(
            "arena_results_dropped_total",
            "Results that came too late (over: another one was recorded) or were not for this database (refused).",
            ("reason",),
            registry=one,
        )
        self.commit_seconds = Histogram(
            "arena_commit_seconds",
            "How long the database took to record a result.",
            buckets=_COMMIT_SECONDS,
            registry=one,
        )
        self.checks = Counter("arena_checks_total", "Versions checked, by verdict.", ("verdict",), registry=one)
        self.failures = Counter(
            "arena_background_failures_total",
            "Attempts at background work that ended with an error, by name.",
            ("work",),
            registry=one,
        )
        self._tasks = Gauge(
            "arena_maintenance_done_timestamp_seconds",
            "When a daily task was last done, by name.",
            ("task",),
            registry=one,
        )
        self._old_tasks = Gauge(
            "arena_chore_done_timestamp_seconds",
            "The old name of arena_maintenance_done_timestamp_seconds; it goes with the next minor version.",
            ("chore",),
            registry=one,
        )

    def set_lease(self, *, is_mine: bool, is_anothers: bool = False) -> None:
        """Set who holds the lease: this process, another one, or neither as far as can be known."""
        self.acting.set(is_mine)
        self.referee_up.set(is_mine or is_anothers)

    def task_done(self, task: str, at_s: float) -> None:
        """Note that a daily task was done at a time, in seconds since 1970."""
        self._tasks.labels(task).set(at_s)
        self._old_tasks.labels(task).set(at_s)


@contextmanager
def offered(registry: CollectorRegistry, host: str, port: int) -> Iterator[int]:
    """The metrics of a process without a web server at `/metrics`; its port. Raises OSError when it is taken."""
    server, thread = start_http_server(port, addr=host, registry=registry)
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
