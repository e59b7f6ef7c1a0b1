"""One request as a route sees it: who asks, what it may use, the answer it gives. Refuses to know routes."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

from aiohttp import web

from arena.http.broadcast import Broadcasts
from arena.http.cache_control import CachePolicy
from arena.http.content_negotiation import negotiate
from arena.http.problem import Problem
from arena.http.rate_limit import BoundedQueue, ConcurrencyLimiter, Rate, RateLimiter, SharedRateLimiter
from arena.http.response_cache import ResponseCache
from arena.store.people.users import Identity

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.coordinator.lobby import Lobby
    from arena.events.live import Live
    from arena.metrics import Metrics
    from arena.services.arena import Arena
    from arena.store import Store

P = ParamSpec("P")
T = TypeVar("T")

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def _networks(texts: Iterable[str]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(one, strict=False) for one in texts)


def _limiters(settings: Settings, store: Store) -> dict[str, RateLimiter]:
    """How often one user (one address without a token) may ask, by what a route costs, of all web processes."""
    rates = {
        "read": Rate(settings.reads_per_minute, max(20, settings.reads_per_minute // 3)),
        "write": Rate(settings.writes_per_minute, max(10, settings.writes_per_minute // 2)),
        "upload": Rate(settings.uploads_per_minute, 10),
        "page": Rate(settings.pages_per_minute, max(60, settings.pages_per_minute // 3)),
        "wrong-token": Rate(WRONG_TOKENS_PER_MINUTE, WRONG_TOKENS_PER_MINUTE),
    }
    return {name: SharedRateLimiter(name, rate, store.login_attempts) for name, rate in rates.items()}


WRONG_TOKENS_PER_MINUTE = 30
"""Of one address; good tokens of the same address are not counted and never refused for them."""
STREAMS = 2000
"""Streams open at a time, of all clients together."""


@dataclass
class WebContext:
    """What the web process offers to every route."""

    arena: Arena
    live: Live
    metrics: Metrics
    lobby: Lobby | None = None
    """Where remote bots are connected, in the process that has the referee."""
    limiters: dict[str, RateLimiter] = field(init=False)
    streams: ConcurrencyLimiter = field(init=False)
    responses: ResponseCache = field(init=False)
    broadcasts: Broadcasts = field(init=False)
    exports: ConcurrencyLimiter = field(default_factory=lambda: ConcurrencyLimiter(2, 20))
    password_queue: BoundedQueue = field(default_factory=lambda: BoundedQueue(2, each=4, total=12))
    """For passwords of people in strange places: each takes 64 MiB and most of a second of a core."""
    trusted_password_queue: BoundedQueue = field(default_factory=lambda: BoundedQueue(1, each=2, total=8))
    """For those of people who are logged in, or have logged in from there before: strangers cannot fill it."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the order to stop has come: still serving, but not for long."""
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server shuts down: streams end."""

    trusted: tuple[Network, ...] = field(init=False)
    """The proxies whose word on the client's address is taken."""
    scrapers: tuple[Network, ...] = field(init=False)
    """Who may read the metrics without a token."""

    def __post_init__(self) -> None:
        self.limiters = _limiters(self.settings, self.store)
        self.broadcasts = Broadcasts(self.live, self.closing)
        self.responses = ResponseCache(self.store.changes)
        self.streams = ConcurrencyLimiter(self.settings.streams_per_client, STREAMS)
        self.trusted = _networks(self.settings.trusted_proxies)
        self.scrapers = _networks(self.settings.metrics_from)

    @asynccontextmanager
    async def host(self, lobby: Lobby) -> AsyncIterator[None]:
        """Meanwhile remote bots that come to this process come to that lobby."""
        self.lobby = lobby
        try:
            yield
        finally:
            self.lobby = None

    @property
    def store(self) -> Store:
        """The database."""
        return self.arena.store

    @property
    def settings(self) -> Settings:
        """How this server is set."""
        return self.arena.settings

    @property
    def is_https(self) -> bool:
        """Whether browsers reach this server over https."""
        return self.settings.is_https


CONTEXT: web.AppKey[WebContext] = web.AppKey("context", WebContext)
IDENTITY: web.RequestKey[Identity] = web.RequestKey("identity", Identity)


@dataclass(slots=True)
class RouteResult(Generic[T]):
    """A route's answer where it is more than a document: another status, headers, or how long it may be kept."""

    body: T
    status: int = 200
    keep: CachePolicy | None = None
    headers: dict[str, str] = field(default_factory=dict)
    is_private: bool = False


class RequestContext:
    """The request of one route."""

    def __init__(self, request: web.Request, context: WebContext, identity: Identity | None) -> None:
        self.request = request
        self.context = context
        self.identity = identity

    @property
    def arena(self) -> Arena:
        """What use cases get."""
        return self.context.arena

    @property
    def store(self) -> Store:
        """The database."""
        return self.context.store

    @property
    def user(self) -> Identity:
        """Who asks, on a route that demands it."""
        if self.identity is None:
            raise Problem("unauthorised", "this needs a token", headers={"WWW-Authenticate": "Bearer"})
        return self.identity

    @property
    def key(self) -> str:
        """Who counts for limits: the user, or the address of somebody unknown."""
        return f"user:{self.identity.user_id}" if self.identity else address_key(self.request)

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call something that blocks (a use case, the store) in a thread."""
        return await asyncio.to_thread(function, *args, **kwargs)

    def accepts(self, *offers: str) -> str:
        """The media type of `offers` that `Accept` likes best, the first in doubt. Raises Problem (406)."""
        return negotiate(self.request.headers.get("Accept", ""), offers)


def client_address(request: web.BaseRequest) -> str:
    """The client's address: the peer's, or what proxies that are trusted say, read from the last one backwards."""
    found = request.remote or ""
    trusted = request.app[CONTEXT].trusted if isinstance(request, web.Request) else ()
    if trusted:
        hops = [hop.strip() for value in request.headers.getall("X-Forwarded-For", []) for hop in value.split(",")]
        while hops and is_in_networks(found, trusted):
            found = hops.pop()
    return found


def is_in_networks(text: str, networks: Iterable[Network]) -> bool:
    """Whether an address is in one of these networks; what is none is in none."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return any(address in network for network in networks)


def address_key(request: web.BaseRequest) -> str:
    """The client's address for counting."""
    return address_key_of(client_address(request))


def address_key_of(text: str) -> str:
    """An address for counting; of IPv6 the network, since one machine has 2^64 of them."""
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return "address:unknown"
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped:
            return f"address:{found.ipv4_mapped}"
        return f"address:{ipaddress.IPv6Network((found, 64), strict=False).network_address}"
    return f"address:{found}"


def require(identity: Identity | None, scope: str) -> None:
    """Let only those pass who have the scope. Raises Problem (401, 403)."""
    if identity is None:
        raise Problem(
            "unauthorised",
            f'this needs a token with the scope "{scope}"',
            hint="send it as Authorization: Bearer arena_…; tokens are made on the account page",
            headers={"WWW-Authenticate": f'Bearer realm="arena", scope="{scope}"'},
        )
    if scope not in identity.scopes:
        raise Problem(
            "forbidden",
            f'this needs the scope "{scope}"; yours are {", ".join(sorted(identity.scopes)) or "none"}',
            hint="make a token with that scope, or ask an admin for the role that has it",
            headers={"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{scope}"'},
        )
