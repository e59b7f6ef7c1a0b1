"""Drawing of openings in a helper process: compiling the rules' kernel would block the server for seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.offload import OffloadProcess
from arena.tournaments import openings
from arena.tournaments.settings import Document, SettingsError, read
from referee.game.openings import Opening
from referee.machine.pool import JobError


def draw_json(document: Mapping[str, Any], count: int) -> tuple[Opening, ...]:
    """Draw the first `count` openings of a document that is given as plain data; the helper process calls this."""
    return openings.draw(read(document), count)


class OpeningDrawer:
    """Draws openings in a process, for one thread at a time."""

    def __init__(self) -> None:
        self._process = OffloadProcess()
        self.close = self._process.close
        self._drawn: dict[str, tuple[Opening, ...]] = {}

    def draw(self, document: Document, count: int) -> Sequence[Opening]:
        """Return the first `count` openings; they are cached. Raises SettingsError."""
        if not openings.needs_kernel(document, count):
            return openings.draw(document, count)
        fields = {"family", "variant", "rule_options", "openings", "opening_lines", "seed"}
        key = f"{count} {document.model_dump_json(include=fields)}"
        if key not in self._drawn:
            if len(self._drawn) >= 64:
                self._drawn.clear()
            self._drawn[key] = self._ask(document, count)
        return self._drawn[key]

    def _ask(self, document: Document, count: int) -> tuple[Opening, ...]:
        try:
            return self._process.call(draw_json, document.as_json(), count)
        except JobError as error:
            raise SettingsError(f"could not be drawn: {error}", "openings") from None
