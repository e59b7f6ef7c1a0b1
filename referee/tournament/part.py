"""The base class of the tables of a settings document, and the error of an invalid document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from referee.errors import ArenaError
from referee.validation import Misfit


class Part(BaseModel):
    """A table of a document. The string below a field is its description in the reference, the form and the help."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


def _even(games: int) -> int:
    if games % 2:
        raise ValueError(f"must be even: games are played in pairs; write {games + 1}")
    return games


EvenGames = Annotated[int, AfterValidator(_even)]
"""A number of games that are played in pairs."""


class SettingsError(ArenaError, ValueError):
    """An invalid document. `field` is the path of the invalid key, such as `entries.top`.

    `errors` lists all faults as `{"field", "message"}`.
    """

    def __init__(self, message: str, field: str = "", *, errors: Sequence[Misfit] = ()) -> None:
        faults = [{"field": fault.field, "message": fault.sentence} for fault in errors]
        super().__init__(f"{field}: {message}" if field else message, field=field or None, errors=faults)
