"""Access: the user of a token or a session, shared rate limits, and who may read logs, host names, lease owners."""

from __future__ import annotations

from dataclasses import replace

from arena.config import Settings
from arena.credentials import digest_of
from arena.documents.account import Identity
from arena.documents.service import VoidItem
from arena.errors import UnauthorisedError
from arena.services.arena import Arena
from arena.store.people.login_attempts import BackoffPolicy
from referee.rules.core import Termination


def of_token(arena: Arena, secret: str) -> Identity:
    """Return the identity of an API token. Raises UnauthorisedError, which says why the token is not valid."""
    identity = arena.store.users.by_token(digest := digest_of(secret))
    if identity is None:
        raise UnauthorisedError(arena.store.users.why_useless(digest))
    return identity


def of_session(arena: Arena, secret: str) -> Identity | None:
    """Return the identity of a browser session; None if it has ended."""
    return arena.store.users.by_login(digest_of(secret))


def count_requests(arena: Arena, key: str, free: int, forgiven_s: float) -> float:
    """Count a batch of requests under a key, for all web processes; return 0, or the seconds until the next is allowed.

    `free` batches are allowed at once, and one more after every `forgiven_s` seconds. Raises StoreUnavailableError.
    """
    policy = BackoffPolicy(free, forgiven_s=forgiven_s, longest_s=forgiven_s)
    return arena.store.login_attempts.take({digest_of(key): policy})


def may_read_log(by: Identity | None, owner: str) -> bool:
    """Return whether a reader may see a bot's standard error: its owner, organisers and admins may."""
    return by is not None and (by.name == owner or "organise" in by.scopes)


def may_read_hosts(settings: Settings, by: Identity | None) -> bool:
    """Return whether a reader may see host names: organisers always, everyone if `public_hosts` is set."""
    return settings.public_hosts or (by is not None and "organise" in by.scopes)


def shown_owner(settings: Settings, by: Identity | None, owner: str) -> str:
    """Return the lease owner as a reader may see it. Its name contains a host name, so others get a digest of it."""
    return owner if not owner or may_read_hosts(settings, by) else f"referee-{digest_of(owner)[:8]}"


def shown_void(settings: Settings, by: Identity | None, line: VoidItem) -> VoidItem:
    """Return a void attempt at a game as a reader may see it: host names are removed unless the reader may see them."""
    if may_read_hosts(settings, by):
        return line
    is_accusation = line.termination == Termination.WORKER_WRONG.value  # begins with the worker's name
    detail = f"a worker: {line.detail.partition(': ')[2]}" if is_accusation else line.detail
    return replace(line, detail=detail, lease_owner=shown_owner(settings, by, line.lease_owner))
