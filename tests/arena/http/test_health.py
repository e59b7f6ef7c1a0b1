"""/healthz, /readyz and /metrics."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from arena.http.address import PREFIX
from tests.arena.api.filled import Arena


def samples(arena: Arena) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    text = arena.server.get("/metrics").body.decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_alive_and_ready(arena: Arena) -> None:
    health = arena.server.get("/healthz").json
    assert health["status"] == "ok"
    assert health["sandbox"] in ("bwrap", "landlock", "rlimits", "none")
    ready = arena.server.get("/readyz")
    assert ready.status == 200
    assert ready.json["parts"]["database"] == "ok"
    assert ready.headers["Cache-Control"] == "no-store"


def test_requests_are_counted_by_route_not_by_address(arena: Arena) -> None:
    label = (("method", "GET"), ("route", f"{PREFIX}/bots/{{bot}}"), ("status", "404"))
    before = samples(arena).get(("arena_http_requests_total", label), 0.0)
    for name in ("one", "two", "three"):
        arena.server.get(f"{PREFIX}/bots/{name}")
    found = samples(arena)
    assert found["arena_http_requests_total", label] == before + 3
    assert found["arena_games", (("state", "planned"),)] >= 1
    assert found["arena_tournaments", (("state", "finished"),)] == 1
    assert found["arena_referee_up", ()] == 0
    assert not any("three" in str(key) for key in found)


def test_metrics_are_not_for_everybody(arena: Arena) -> None:
    from ipaddress import ip_network

    context = arena.server.context
    context.trusted = (ip_network("127.0.0.0/8"),)
    try:
        far = {"X-Forwarded-For": "198.51.100.7"}
        assert arena.server.get("/metrics", headers=far).status == 403
        assert arena.server.get("/metrics", headers=far, token=arena.tokens["author"]).status == 403
        assert arena.server.get("/metrics", headers=far, token=arena.tokens["admin"]).status == 200
    finally:
        context.trusted = ()
