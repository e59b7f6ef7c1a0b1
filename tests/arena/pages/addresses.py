"""The addresses of all pages, read from the application, so that every test visits a new page from its first day.

A path parameter without an example makes the tests fail and name it.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Sequence
from urllib.parse import parse_qsl, quote, urlsplit

from referee.rules import families
from tests.arena.pages.conftest import Site

DATA = ("/api/", "/static/", "/healthz", "/readyz", "/metrics", "/docs")
MORE = (
    "/tournaments/2?sort=-score&games=-plies&state=finished",
    "/games?termination_class=forfeit",
    "/games?family=loa&variant=standard&winner=first&since=2020-01-01&until=2030-01-01",
    "/bots?retired=1",
    "/bots/dan?by=game",
    "/loa/leaderboard?pace=blitz&variant=standard",
    "/loa/leaderboard?at=2026-11-01&state=all",
    "/loa/leaderboard?at=1999-01-01",
    "/tournaments/1?state=planned",
    "/errors?family=abalone",
    "/archive?family=abalone&number=427",
    "/archive?player=nobody&sort=-date",
)
"""Pages with filters, as links and forms show them."""


def examples(site: Site) -> dict[str, Sequence[object]]:
    """Return example values of path parameters by name."""
    stage = site.stage
    return {
        "family": families(),
        "bot": ("ada", "dan", stage.odd_bot),
        "other": ("bob", stage.odd_bot),
        "number": (1,),
        "sequence": (1,),
        "schedule": (stage.schedule,),
        "user": ("zoe",),
        "tournament": list(stage.tournaments.values()),
        "game": [*stage.finished.values(), *(game.id for game in stage.running.values()), stage.forfeit],
        "submission": (stage.submission,),
        "language": ("python",),
        "question": (stage.question,),
        "serial": (1,),
        "player": ("Tour / Lutu",),
        "name": ("nothing.sha256",),
        "path": ("loa",),
        "start": ("fairest",),
    }


def patterns(site: Site) -> list[str]:
    """Return the GET routes of pages as the application declares them, without those of data."""
    addresses = [
        route.resource.canonical
        for route in site.server.runner.app.router.routes()  # type: ignore[union-attr]
        if route.method == "GET" and route.resource is not None
    ]
    files = (".json", ".toml", ".atom", ".png", ".gif", ".pdf", ".zip", ".xml", ".webmanifest")
    return [
        address for address in dict.fromkeys(addresses) if not address.startswith(DATA) and not address.endswith(files)
    ]


def filled(site: Site, pattern: str) -> list[str]:
    """Return the addresses of a pattern with every example. Fails for a parameter without one."""
    given = examples(site)
    names = re.findall(r"\{(\w+)\}", pattern)
    missing = [name for name in names if name not in given]
    assert not missing, f"say in tests/arena/pages/addresses.py what {missing} of {pattern} may be"
    return [
        pattern.format(**dict(zip(names, values, strict=True)))
        for values in itertools.product(*([quote(str(value), safe="") for value in given[name]] for name in names))
    ]


def pages(site: Site) -> list[str]:
    """Return every public page, without addresses that serve something other than a page."""
    if not site.pages:
        public, private = [], []
        for address in [*itertools.chain.from_iterable(filled(site, pattern) for pattern in patterns(site)), *MORE]:
            reply = site.server.get(address)
            target = reply.headers.get("Location", "")
            if reply.status == 303 and target.startswith("/login"):
                private.append(re.sub(r"\d+", "1", address))
            elif reply.status == 303:
                public.append(target)
            elif reply.body.lstrip().startswith(b"<!doctype html>"):
                assert reply.status == (404 if "nothing." in address else 200), (address, reply.status)
                public.append(address)
        site.pages, site.private = list(dict.fromkeys(public)), list(dict.fromkeys(private))
    return site.pages


def kinds(site: Site) -> list[str]:
    """Return one page of each kind, and those with boards of squares and of hexagons."""
    known = pages(site)
    every = [filled(site, pattern) for pattern in patterns(site)]
    firsts = [next((address for address in some if address in known), "") for some in every]
    led_to = [address for address in known if not any(address in some for some in every)]
    games = [site.stage.finished["loa"], site.stage.finished["pijersi"], site.stage.running["loa"].id]
    boards = [*(f"/games/{game}" for game in games), "/loa", "/pijersi"]
    return [address for address in dict.fromkeys([*firsts, *led_to, *boards]) if address in known]


def private(site: Site) -> list[str]:
    """Return the pages for logged-in users."""
    pages(site)
    return site.private


def parameters(text: str, address: str) -> set[str]:
    """Return the query parameters that a page's own links and forms use."""
    path = urlsplit(address).path
    names = set(re.findall(r'<(?:select|input)[^>]* name="([a-z_-]+)"', "".join(_forms(text))))
    for link in re.findall(r'href="([^"]+)"', text):
        target = urlsplit(html.unescape(link))
        if target.query and target.path in ("", path):
            names |= {name for name, _ in parse_qsl(target.query, keep_blank_values=True)}
    return names


def _forms(text: str) -> list[str]:
    return re.findall(r'<form class="filters" method="get".*?</form>', text, re.DOTALL)
