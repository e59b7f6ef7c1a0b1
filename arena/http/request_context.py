"""Request context: what one request of a route may use, and what all routes of the web process share."""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

from aiohttp import web

from arena.documents.account import Identity
from arena.http.broadcast import Broadcasts
from arena.http.problem import Problem, too_many
from arena.http.rate_limit import BoundedQueue, ConcurrencyLimiter, Rate, RateLimiter, SharedRateLimiter
from arena.http.response_cache import CachePolicy, ResponseCache, negotiate
from arena.services import access
from arena.services.arena import Arena

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.coordinator.lobby import Lobby
    from arena.events.live import Live
    from arena.metrics import Metrics

P = ParamSpec("P")
T = TypeVar("T")

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def _networks(texts: Iterable[str]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(one, strict=False) for one in texts)


def _limiters(arena: Arena) -> dict[str, RateLimiter]:
    """Return the rate limiters that all web processes share, by kind of request.

    Their keys are users, or the addresses of anonymous clients.
    """
    settings = arena.settings
    rates = {
        "read": Rate(settings.reads_per_minute, max(20, settings.reads_per_minute // 3)),
        "write": Rate(settings.writes_per_minute, max(10, settings.writes_per_minute // 2)),
        "upload": Rate(settings.uploads_per_minute, 10),
        "page": Rate(settings.pages_per_minute, max(60, settings.pages_per_minute // 3)),
        "registration": Rate(settings.registrations_per_hour / 60, settings.registrations_per_hour),
        "wrong-token": Rate(WRONG_TOKENS_PER_MINUTE, WRONG_TOKENS_PER_MINUTE),
    }
    count = partial(access.count_requests, arena)
    return {name: SharedRateLimiter(name, rate, count) for name, rate in rates.items()}


WRONG_TOKENS_PER_MINUTE = 30
"""Limit of one address. Requests with a valid token are neither counted nor refused because of it."""
FREE_ADDRESS_BYTES, BYTES_PER_TOKEN = 400, 100
"""Length of an address that costs one request, and the further bytes that cost as much: some 20 moves."""


@dataclass(slots=True)
class Preparation:
    """The compilation of families before their first games: how many of them are ready, and what is compiled now."""

    families: int
    ready: int = 0
    now: dict[str, str] = field(default_factory=dict)
    """Families and their functions."""
    compiled: Counter[str] = field(default_factory=Counter)
    """Numbers of compiled functions of the families that are not ready."""

    @property
    def progress(self) -> float:
        """The number of compiled families, with parts of the others: a family has about 80 functions."""
        return self.ready + sum(min(functions / 80, 0.95) for functions in self.compiled.values())


@dataclass
class WebContext:
    """State of the web process that every route can use."""

    arena: Arena
    live: Live
    metrics: Metrics
    lobby: Lobby | None = None
    """The lobby of remote bots, in the process that runs the coordinator."""
    preparation: Preparation | None = None
    """What is compiled before the first games, in the process of the demo."""
    limiters: dict[str, RateLimiter] = field(init=False)
    streams: ConcurrencyLimiter = field(init=False)
    responses: ResponseCache = field(init=False)
    broadcasts: Broadcasts = field(init=False)
    exports: ConcurrencyLimiter = field(default_factory=lambda: ConcurrencyLimiter(2, 20))
    password_queue: BoundedQueue = field(default_factory=lambda: BoundedQueue(2, each=4, total=12))
    """Password checks from unknown devices: each takes 64 MiB and most of a second of a core."""
    trusted_password_queue: BoundedQueue = field(default_factory=lambda: BoundedQueue(1, each=2, total=8))
    """Password checks of users who are or were logged in from the same origin. Other clients cannot fill it."""
    probes: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "probes"))
    """A thread for liveness: what waits for the database in all others does not concern it."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the process has received the order to stop: it still serves for a short while."""
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server shuts down: streams end."""

    trusted: tuple[Network, ...] = field(init=False)
    """Networks of the proxies whose `X-Forwarded-For` is believed."""
    scrapers: tuple[Network, ...] = field(init=False)
    """Networks that may read the metrics without a token."""

    def __post_init__(self) -> None:
        self.limiters = _limiters(self.arena)
        self.broadcasts = Broadcasts(self.live, self.closing)
        self.responses = ResponseCache(self.arena.changes)
        self.streams = ConcurrencyLimiter(self.settings.streams_per_client, self.settings.max_streams)
        self.trusted = _networks(self.settings.trusted_proxies)
        self.scrapers = _networks(self.settings.metrics_from)

    @asynccontextmanager
    async def host(self, lobby: Lobby) -> AsyncIterator[None]:
        """Accept remote bots into this lobby until the context ends."""
        self.lobby = lobby
        try:
            yield
        finally:
            self.lobby = None

    @property
    def settings(self) -> Settings:
        return self.arena.settings

    @property
    def is_https(self) -> bool:
        """True if browsers reach this server over HTTPS."""
        return self.settings.is_https


CONTEXT: web.AppKey[WebContext] = web.AppKey("context", WebContext)
IDENTITY: web.RequestKey[Identity] = web.RequestKey("identity", Identity)


@dataclass(slots=True)
class RouteResult(Generic[T]):
    """The result of a route: a document, a status, headers, a cache policy. A body of bytes is a document as JSON."""

    body: T | bytes
    status: int = 200
    keep: CachePolicy | None = None
    headers: dict[str, str] = field(default_factory=dict)
    is_private: bool = False


class RequestContext:
    """One request of a route, with the identity that makes it."""

    def __init__(self, request: web.Request, context: WebContext, identity: Identity | None) -> None:
        self.request = request
        self.context = context
        self.identity = identity

    @property
    def arena(self) -> Arena:
        """The context of the use cases: database, bundles, settings, caches, and the bus to the coordinator."""
        return self.context.arena

    @property
    def user(self) -> Identity:
        """The authenticated identity. Raises Problem (401) without one."""
        if self.identity is None:
            raise Problem("unauthorised", "a token is required", headers={"WWW-Authenticate": "Bearer"})
        return self.identity

    @property
    def key(self) -> str:
        """The key of rate limits: the user, or the address of an anonymous client."""
        return f"user:{self.identity.user_id}" if self.identity else address_key(self.request)

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a blocking function, such as a use case, in a thread."""
        return await asyncio.to_thread(function, *args, **kwargs)

    def accepts(self, *offers: str) -> str:
        """Return the media type of `offers` that `Accept` prefers, the first one in a tie. Raises Problem (406)."""
        return negotiate(self.request.headers.get("Accept", ""), offers)


def client_address(request: web.BaseRequest) -> str:
    """Return the client's address: the peer's, or the last hop of `X-Forwarded-For` that is not a trusted proxy."""
    client = request.remote or ""
    trusted = request.app[CONTEXT].trusted if isinstance(request, web.Request) else ()
    if trusted:
        hops = [hop.strip() for value in request.headers.getall("X-Forwarded-For", []) for hop in value.split(",")]
        # From the right: each trusted proxy has added the hop that it saw, the client itself may have written the
        # others.
        while hops and is_in_networks(client, trusted):
            client = hops.pop()
    return client


def address_cost(request: web.BaseRequest) -> float:
    """Return the cost of a request for rate limits: 1, and more for a long URL, whose moves take time to replay."""
    return 1 + max(0, len(request.raw_path) - FREE_ADDRESS_BYTES) / BYTES_PER_TOKEN


async def charge(request: web.Request, cost: float) -> None:
    """Count a page or page fragment against the rate limit of the client's address. Raises Problem (429)."""
    if wait := await request.app[CONTEXT].limiters["page"].admit(address_key(request), cost):
        raise too_many(wait)


def is_in_networks(text: str, networks: Iterable[Network]) -> bool:
    """Return whether a text is an address in one of the networks."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return any(address in network for network in networks)


def address_key(request: web.BaseRequest) -> str:
    """Return the rate limit key of the client's address."""
    return address_key_of(client_address(request))


def address_key_of(text: str) -> str:
    """Return the rate limit key of an address. IPv6 addresses count by /64 network: one host has 2^64 of them."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return "address:unknown"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return f"address:{address.ipv4_mapped}"
        return f"address:{ipaddress.IPv6Network((address, 64), strict=False).network_address}"
    return f"address:{address}"


def require(identity: Identity | None, scope: str) -> None:
    """Raise Problem unless the identity has the scope (401 without an identity, 403 without the scope)."""
    if identity is None:
        raise Problem(
            "unauthorised",
            f'a token with the scope "{scope}" is required',
            hint="send it as Authorization: Bearer arena_…; create tokens on the account page",
            headers={"WWW-Authenticate": f'Bearer realm="arena", scope="{scope}"'},
        )
    if scope not in identity.scopes:
        raise Problem(
            "forbidden",
            f'the scope "{scope}" is required; yours are {", ".join(sorted(identity.scopes)) or "none"}',
            hint="create a token with that scope, or ask an admin for the role that has it",
            headers={"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{scope}"'},
        )
