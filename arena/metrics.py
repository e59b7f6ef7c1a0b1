"""What the service counts, for Prometheus. Refuses to know who counts, and who asks."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)


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
        self._referee = Gauge("arena_referee_up", "Whether a referee holds the lease.", registry=self.registry)

    def observe(self, route: str, method: str, status: int, seconds: float, *, is_stream: bool) -> None:
        """Count a request. `route` is the pattern, never the address itself: names are bounded."""
        self.requests.labels(route, method, str(status)).inc()
        if not is_stream:
            self.seconds.labels(route).observe(seconds)

    def set_database(self, games: Mapping[str, int], tournaments: Mapping[str, int], *, has_referee: bool) -> None:
        """Take over what the database says at this moment."""
        for gauge, counts in ((self._games, games), (self._tournaments, tournaments)):
            gauge.clear()
            for state, count in counts.items():
                gauge.labels(state).set(count)
        self._referee.set(has_referee)

    def text(self) -> bytes:
        """Everything in the text format of Prometheus."""
        return generate_latest(self.registry)
