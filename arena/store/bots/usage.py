"""A user's storage: bots, versions and the bytes of their bundles."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.errors import QuotaError
from arena.store.base.models import BotIdentity, Version


@dataclass(frozen=True, slots=True)
class Usage:
    """A user's numbers of bots and unretired versions, and the bytes of their bundles."""

    bots: int
    versions: int
    size_bytes: int

    def require_room(self, size_bytes: int, max_versions: int | None, max_bytes: int | None) -> None:
        """Raise QuotaError unless one more version of that size fits both limits; None means unlimited."""
        if max_versions is not None and self.versions >= max_versions:
            raise QuotaError(f"you have {self.versions} versions; the limit is {max_versions}; retire some")
        if max_bytes is not None and self.size_bytes + size_bytes > max_bytes:
            raise QuotaError(
                f"your bundles take {self.size_bytes} bytes; with {size_bytes} more they exceed the limit of "
                f"{max_bytes}; retire some versions"
            )


def usage_of(session: Session, owner_id: int) -> Usage:
    """Return the present usage of a user."""
    mine = col(BotIdentity.owner_id) == owner_id, col(BotIdentity.name).not_like("@%")
    bots = session.scalar(select(func.count()).where(*mine, col(BotIdentity.is_retired).is_(False)))
    versions, size = session.execute(
        select(func.count(), func.coalesce(func.sum(col(Version.size_bytes)), 0))
        .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
        .where(*mine, col(Version.state) != "retired")
    ).one()
    return Usage(bots or 0, int(versions), int(size))
