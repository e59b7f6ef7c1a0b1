"""The service: dumps, limits, index."""

from __future__ import annotations

from arena.api.schemas.word import Out


class DumpItem(Out):
    """A dump of games. `first` and `last` are commit numbers."""

    file: str
    month: str
    games: int
    bytes: int
    sha256: str
    first: int
    last: int
    url: str


class LimitsResponse(Out):
    """The limits of this server. Requests are counted across all web processes."""

    max_upload_bytes: int
    max_bots: int
    max_versions: int
    max_user_bytes: int
    max_body_bytes: int
    max_page: int
    requests_per_minute: dict[str, float]
    streams: int
    exports: int
    provisional_games: int
    provisional_sigma: float


class Index(Out):
    """Addresses of the interface."""

    openapi: str
    docs: str
    version: str
    lists: dict[str, str]
