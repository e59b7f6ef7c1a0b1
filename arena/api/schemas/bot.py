"""Changes of bots."""

from __future__ import annotations

from arena.api.schemas.word import In, Prose


class BotChange(In):
    """Changes of a bot. Omitted fields stay. `plays_people`: people may play against it."""

    description: Prose | None = None
    plays_people: bool | None = None
