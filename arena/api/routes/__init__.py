"""The routes of the interface, one module per noun, in the order of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Collection

from arena import feature
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
    schedules,
    service,
    steering,
    tournaments,
    users,
)

CORE: tuple[Route, ...] = tuple(
    route
    for module in (
        service,
        schedules,
        families,
        leaderboards,
        bots,
        challenges,
        bundles,
        tournaments,
        steering,
        games,
        play,
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
    "/submissions/{submission_id}.json": "/submissions/{submission_id}",
    "/workers.json": "/referee",
    "/errors.json": "/voids",
    "/account.json": "/account",
    "/dumps.json": "/dumps",
    "/{family}/leaderboard.json": "/leaderboards/{family}",
    "/{family}/explorer.json": "/explorer/{family}",
    "/{family}.json": "/families/{family}",
}
"""API paths by the addresses of pages with `.json` appended. Order matters: names come before patterns."""


def table(disabled: Collection[str] = ()) -> tuple[Route, ...]:
    """Return the routes of the core, then those of the features that are on."""
    modules = feature.loaded(feature.enabled(disabled, *feature.WEB), "api")
    return (*CORE, *(route for module in modules for route in module.routes.table))


def pages(disabled: Collection[str] = ()) -> dict[str, str]:
    """Return `PAGES` with the addresses of the features that are on."""
    of_features = (one.feature.json_pages for one in feature.enabled(disabled, *feature.WEB) if one.feature)
    return {address: path for addresses in (*of_features, PAGES) for address, path in addresses.items()}
