"""Field types of the schemas: names, numbers, times; and the base classes of requests and responses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from arena.documents import words

Number = Annotated[int, Field(**words.ID)]
FamilyName = Annotated[str, Field(**words.FAMILY)]
BotName = Annotated[str, Field(**words.NAME)]
EntryName = Annotated[str, Field(**words.ENTRY)]
"""A bot, or a version by its full name, as in standings."""
UserName = BotName
GameId = Annotated[str, Field(**words.GAME)]
VariantName = Annotated[str, Field(**words.VARIANT)]
PoolName = Annotated[str, Field(**words.POOL)]
OneLine = Annotated[str, Field(**words.ONE_LINE)]
Prose = Annotated[str, Field(**words.PROSE)]
Sha256 = Annotated[str, Field(**words.SHA256)]
ScopeName = Literal["read", "submit", "organise", "admin", "worker"]
RoleName = Literal["author", "organiser", "admin"]
Side = Literal["first", "second"]


class Out(BaseModel):
    """Base class of responses."""

    model_config = ConfigDict(from_attributes=True, json_schema_serialization_defaults_required=True)


class In(BaseModel):
    """Base class of requests: unknown fields and implicit type conversions are rejected."""

    model_config = ConfigDict(extra="forbid", strict=True)
