"""Webhooks, what is to be sent to each, and how far the news of the arena have been read."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Column, Index, Text, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.features.webhooks.documents import Form
from arena.store.base.fields import created, document, moment, number, word

State = Literal["waiting", "delivered", "failed"]


class Webhook(SQLModel, table=True):
    """An address that gets news. `secret` signs them; `is_private_allowed` permits addresses of a private network."""

    __tablename__ = "webhooks_hooks"
    id: int = number()
    url: str = Field(max_length=500)
    form: Form = word(8)
    secret: str = Field(max_length=80)
    news: list[str] = document(list)
    is_private_allowed: bool = False
    created_at: datetime = created()


class WebhookDelivery(SQLModel, table=True):
    """News for one webhook. `key` names what happened: nothing is sent twice to the same webhook.

    `tries` counts attempts, `next_at` is the time of the next one, `status` the HTTP status of the last answer, and
    `problem` says why the last attempt failed.
    """

    __tablename__ = "webhooks_deliveries"
    __table_args__ = (
        UniqueConstraint("hook_id", "key"),
        Index("ix_webhooks_deliveries_state_next_at", "state", "next_at"),
    )
    id: int = number()
    hook_id: int = Field(foreign_key="webhooks_hooks.id")
    key: str = Field(max_length=300)
    news: dict[str, Any] = document(dict)
    state: State = word(10, "waiting")
    tries: int = 0
    next_at: datetime = moment()
    status: int | None = None
    problem: str = Field(default="", sa_column=Column(Text, nullable=False))
    created_at: datetime = created()


class WebhookMark(SQLModel, table=True):
    """Marks up to which news were read: `commit`, the last commit number; `end`, the time (Unix) until which ends of
    tournaments were read; `leader POOL`, the id of the version that led the pool.
    """

    __tablename__ = "webhooks_marks"
    name: str = Field(primary_key=True, max_length=240)
    value: int
