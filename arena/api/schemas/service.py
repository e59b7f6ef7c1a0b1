"""The audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from arena.api.schemas.word import Out


class AuditItem(Out):
    """An entry of the audit log: the user, the action, and its subject."""

    id: int
    logged_at: datetime
    user: str | None
    action: str
    subject: str
    detail: dict[str, Any]
