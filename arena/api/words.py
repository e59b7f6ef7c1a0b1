"""Types of parameters and of fields of requests: names, numbers, texts; and the base class of requests."""

from __future__ import annotations

from typing import Annotated

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
OneLine = Annotated[str, Field(**words.ONE_LINE)]
Prose = Annotated[str, Field(**words.PROSE)]
Sha256 = Annotated[str, Field(**words.SHA256)]


class In(BaseModel):
    """Base class of requests: unknown fields and implicit type conversions are rejected.

    The string below a field is its description in the reference.
    """

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)
