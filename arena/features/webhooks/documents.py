"""The documents that `arena webhook` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from arena.documents.table import Column, text_column
from referee.meaning import meaning

Kind = Literal["forfeit", "end", "leader"]
"""Kinds of news: a bot lost by a forfeit, a tournament ended, another version leads a pool."""
KINDS: Sequence[Kind] = get_args(Kind)
Form = Literal["json", "discord"]
FORMS: Sequence[Form] = get_args(Form)


@dataclass(frozen=True, slots=True)
class WebhookItem:
    """A webhook, without its secret."""

    id: int
    url: str
    form: str = field(metadata=meaning("json or discord"))
    news: list[str] = field(metadata=meaning("kinds of news that it gets"))
    created_at: datetime


@dataclass(frozen=True, slots=True)
class DeliveryItem:
    """News for a webhook, and how far it has come."""

    id: int
    created_at: datetime
    state: str = field(metadata=meaning("waiting, delivered or failed"))
    tries: int
    status: int | None = field(metadata=meaning("HTTP status of the last answer"))
    text: str
    problem: str = field(metadata=meaning("why the last attempt failed"))
    next_at: datetime | None = field(metadata=meaning("when it is tried again"))


HOOKS: Sequence[Column[WebhookItem]] = (
    Column("id", "Webhook", lambda hook: hook.id, "id"),
    text_column("url", "Address", lambda hook: hook.url),
    text_column("form", "Form", lambda hook: hook.form),
    text_column("news", "News", lambda hook: ", ".join(hook.news)),
)
DELIVERIES: Sequence[Column[DeliveryItem]] = (
    Column("id", "Delivery", lambda delivery: delivery.id, "id"),
    text_column("created_at", "When", lambda delivery: delivery.created_at),
    text_column("state", "State", lambda delivery: delivery.state),
    Column("tries", "Tries", lambda delivery: delivery.tries),
    Column("status", "HTTP", lambda delivery: delivery.status),
    text_column("text", "News", lambda delivery: delivery.text),
    text_column("problem", "Problem", lambda delivery: delivery.problem, "reason"),
)
