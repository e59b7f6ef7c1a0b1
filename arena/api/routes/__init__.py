"""The routes of the interface, one module per noun. `TABLE` lists all of them in the order of the OpenAPI document."""

from __future__ import annotations

from arena.api.registry import Route
from arena.api.routes import (
    account,
    analysis,
    archive,
    bots,
    bundles,
    challenges,
    explorer,
    families,
    games,
    leaderboards,
    play,
    problems,
    service,
    steering,
    tournaments,
    users,
)

TABLE: tuple[Route, ...] = tuple(
    route
    for module in (
        service,
        families,
        leaderboards,
        bots,
        challenges,
        bundles,
        tournaments,
        steering,
        games,
        play,
        problems,
        analysis,
        archive,
        explorer,
        account,
        users,
    )
    for route in module.routes.table
)

PAGES = {
    "/bots.json": "/bots",
    "/bots/{bot}.json": "/bots/{bot}",
    "/bots/{bot}/v/{number}.json": "/bots/{bot}/versions/{number}",
    "/bots/{bot}/vs/{other}.json": "/bots/{bot}/vs/{other}",
    "/tournaments.json": "/tournaments",
    "/tournaments/{tournament}.json": "/tournaments/{tournament}",
    "/tournaments/{tournament}/crosstable.json": "/tournaments/{tournament}/crosstable",
    "/games.json": "/games",
    "/games/{game}.json": "/games/{game}",
    "/archive.json": "/archive",
    "/archive/imports/{number}.json": "/archive/imports/{number}",
    "/archive/{serial}.json": "/archive/{serial}",
    "/problems.json": "/problems",
    "/problems/{number}.json": "/problems/{number}",
    "/submissions/{submission_id}.json": "/submissions/{submission_id}",
    "/workers.json": "/referee",
    "/errors.json": "/voids",
    "/account.json": "/account",
    "/dumps.json": "/dumps",
    "/{family}/leaderboard.json": "/leaderboards/{family}",
    "/{family}/starts.json": "/families/{family}/starts",
    "/{family}/explorer.json": "/explorer/{family}",
    "/{family}.json": "/families/{family}",
}
"""API paths by the addresses of pages with `.json` appended. Order matters: names come before patterns."""
