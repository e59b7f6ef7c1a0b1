"""No route lets many requests at once cost much more than one: what takes long is made once, or in another process."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.tools.bench import routes
from tests.tools.bench.league import open_league
from tests.tools.bench.server import Server, connected

AT_ONCE = 8
"""Requests at once: as many as tell an answer made once from one that is made for each."""
MOST_MS = 40
"""Processor time of each further request at once: those that nobody keeps cost less, also beside other tests."""


def test_requests_at_once_cost_little_more_than_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(routes, "AT_ONCE", AT_ONCE)
    league = open_league(2, 12)
    asked, dear = 0, []
    with Server(league.url) as server, connected(server.port) as (client,):
        for path in routes.addresses(league):
            if path.endswith(".gif") or client.get(path)[0] != 200:
                continue
            alone = routes.spent_ms(server, client, path, "cold")
            before = server.tell("cpu")
            routes.health_during(server, path)
            many = 1000 * (server.tell("cpu") - before)
            asked += 1
            if many > 3 * alone + MOST_MS * AT_ONCE:
                dear.append((path, round(alone), round(many)))
    assert asked > 70
    assert not dear, f"processor time of one request and of {AT_ONCE} at once, in milliseconds"
