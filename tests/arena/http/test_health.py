"""Liveness, readiness and metrics: /healthz, /readyz, /metrics."""

from __future__ import annotations

import re
import time
from ipaddress import ip_network

import pytest
from prometheus_client.parser import text_string_to_metric_families

from arena.events.messages import CoordinatorWorkers
from arena.events.payload import WorkerPayload
from arena.http import health
from arena.http.problem import PREFIX
from arena.http.rate_limit import Rate, RateLimiter
from arena.store.base.tables.games import Void
from arena.store.people.audit import QUARANTINED, THROTTLED, VERIFIED
from tests.arena.api.filled import Arena


def samples(arena: Arena) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    text = arena.server.get("/metrics", token=arena.tokens["admin"]).body.decode()
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


def test_absent_referee_is_a_degraded_state_that_a_probe_may_require(arena: Arena) -> None:
    ready = arena.server.get("/readyz")
    assert (ready.status, ready.json["status"], ready.json["degraded"]) == (200, "degraded", ["referee"])
    assert arena.server.get("/readyz?require=disk,results,referee_disk").status == 200
    for required in ("referee", "disk,referee", "all"):
        refused = arena.server.get(f"/readyz?require={required}")
        assert (refused.status, refused.json["degraded"]) == (503, ["referee"])
    assert arena.server.get("/readyz?require=refree").status == 422


def test_full_disk_of_the_referee_is_a_degraded_state(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    """The referee of a scaled arena is on another machine, so only its report tells."""
    server, live = arena.server, arena.server.context.live
    monkeypatch.setattr(health.status, "has_coordinator", lambda _: True)

    def ready(query: str = "") -> tuple[int, str, list[str], str]:
        answer = server.get(f"/readyz{query}")
        return answer.status, answer.json["status"], answer.json["degraded"], answer.json["parts"]["referee_disk"]

    assert ready("?require=all") == (200, "ok", [], "unknown")
    for disk in ("full", "unwritable"):
        monkeypatch.setattr(live, "workers", CoordinatorWorkers(workers=[], disk=disk))
        monkeypatch.setattr(live, "workers_at", time.time())
        assert ready() == (200, "degraded", ["referee_disk"], disk)
        assert ready("?require=referee_disk") == (503, "degraded", ["referee_disk"], disk)
    assert server.get("/readyz").json["parts"]["disk"] == "ok"
    monkeypatch.setattr(live, "workers", CoordinatorWorkers(workers=[]))
    assert ready("?require=all") == (200, "ok", [], "ok")


def test_requests_are_counted_by_route_not_by_address(arena: Arena) -> None:
    label = (("method", "GET"), ("route", f"{PREFIX}/bots/{{bot}}"), ("status", "404"))
    before = samples(arena).get(("arena_http_requests_total", label), 0.0)
    for name in ("one", "two", "three"):
        arena.server.get(f"{PREFIX}/bots/{name}")
    counted = samples(arena)
    assert counted["arena_http_requests_total", label] == before + 3
    assert counted["arena_games", (("state", "planned"),)] >= 1
    assert counted["arena_tournaments", (("state", "finished"),)] == 1
    assert counted["arena_referee_up", ()] == 0
    assert not any("three" in str(key) for key in counted)


def test_metrics_are_not_for_everybody(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    server = arena.server
    refused = server.get("/metrics")
    assert refused.status == 403, "not even for this machine: a proxy may be on it"
    assert b"metrics_from" in refused.body
    assert server.get("/metrics", token=arena.tokens["author"]).status == 403
    assert server.get("/metrics", token=arena.tokens["admin"]).status == 200
    monkeypatch.setattr(server.context, "scrapers", (ip_network("192.0.2.0/24"),))
    monkeypatch.setattr(server.context, "trusted", (ip_network("127.0.0.0/8"),))
    assert server.get("/metrics", headers={"X-Forwarded-For": "192.0.2.7"}).status == 200
    assert server.get("/metrics", headers={"X-Forwarded-For": "198.51.100.7"}).status == 403


def test_pages_are_not_for_hammering(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(arena.server.context.limiters, "page", RateLimiter(Rate(60, 2), clock=lambda: 0.0))
    replies = [arena.server.get(path) for path in ("/limits", "/login", "/static/arena.css")]
    assert [reply.status for reply in replies] == [200, 200, 429]
    assert replies[-1].headers["Retry-After"] == "1"
    assert replies[-1].headers["Content-Type"].startswith("text/html")
    assert arena.server.get("/readyz").status == 200
    assert arena.server.get(f"{PREFIX}/families").status == 200


def test_host_names_are_for_organisers(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    server, context = arena.server, arena.server.context
    server.store.leases.take("referee", "host.example:17:0", 60)
    news = CoordinatorWorkers(
        lease_owner="host.example:17:0", workers=[WorkerPayload("host.example-4", 2, 1)], cores=2, load=0
    )
    monkeypatch.setattr(context.live, "workers", news)
    monkeypatch.setattr(context.live, "workers_at", time.time())
    for token in (None, arena.tokens["author"]):
        holder = server.get(f"{PREFIX}/referee", token=token).json["lease_owner"]
        assert holder.startswith("referee-")
    shown = server.get("/workers").body.decode()
    assert "host.example" not in shown
    assert holder in shown
    assert "worker 1" in shown
    assert server.get(f"{PREFIX}/referee", token=arena.tokens["organiser"]).json["lease_owner"] == "host.example:17:0"
    monkeypatch.setattr(context.arena, "settings", context.settings.model_copy(update={"public_hosts": True}))
    assert "host.example-4" in server.get("/workers").body.decode()


def test_who_was_shut_out_stands_on_the_page_of_the_referees(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    server, audit = arena.server, arena.store.audit
    assert "Shut out" not in server.get("/workers").body.decode()
    for action, worker, problem in (
        (QUARANTINED, "host.example-1", "ply 3: not legal"),
        (QUARANTINED, "host.example-2", "ply 4: not legal"),
        (VERIFIED, "host.example-1", "ply 3: not legal"),
        (THROTTLED, "host.example-3", "bots search at 60 % of their speed elsewhere"),
    ):
        audit.note(action, f"worker:{worker}", worker=worker, problem=problem)
    shown = server.get("/workers").body.decode()
    assert "host.example" not in shown
    rows = re.findall(r"a worker</bdi>.*?</tr>", shown, re.DOTALL)
    for row, (problem, results) in zip(
        rows,
        (
            ("60 % of their speed", "kept"),
            ("ply 4", "being verified"),
            ("ply 3", "verified; wrong games are played again"),
        ),
        strict=True,
    ):
        assert problem in row
        assert results in row
    public = server.context.settings.model_copy(update={"public_hosts": True})
    monkeypatch.setattr(server.context.arena, "settings", public)
    assert "host.example-3" in server.get("/workers").body.decode()


def test_voids_name_no_machine_but_to_organisers(arena: Arena) -> None:
    with arena.store.writing() as session:
        void = Void(
            game_id=arena.games[0],
            attempt=1,
            termination="worker-wrong",
            detail="host.example-17: ply 3: not legal",
            lease_owner="host.example:17:0",
        )
        session.add(void)
    (shown,) = arena.server.get(f"{PREFIX}/voids?limit=1").json["items"]
    assert shown["detail"] == "a worker: ply 3: not legal"
    assert b"host.example" not in arena.server.get("/errors").body
    (shown,) = arena.server.get(f"{PREFIX}/voids?limit=1", token=arena.tokens["organiser"]).json["items"]
    assert shown["detail"] == void.detail
