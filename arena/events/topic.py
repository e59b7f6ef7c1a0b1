"""The topics at the broker: a tree below `arena/v1`, where 1 is the version of the tree."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote, unquote

VERSION = 1
ROOT = f"arena/v{VERSION}"
_PLACE = r"[A-Za-z0-9_.%~-]{1,200}"
_SUBJECTS: dict[str, tuple[str, Callable[[str], str | int]]] = {
    "game": (r"[0-9a-f]{16,32}", str),
    "tournament": (r"[0-9]{1,18}", int),
    "version": (r"[0-9]{1,18}", int),
    "pool": (_PLACE, unquote),
    "from": (_PLACE, unquote),
}
"""The pattern of each kind of subject, and how it is parsed."""


@dataclass(frozen=True)
class Topic:
    """One topic of the tree. `{…}` in `pattern` is its subject: a field of the event, or `from` (the sender)."""

    pattern: str
    about: str
    """A short description of its events."""
    is_retained: bool = False
    is_public: bool = True
    """Whether spectators may read it."""
    is_subject_in_payload: bool = False
    """Whether the payload also contains the subject."""

    @cached_property
    def subject(self) -> str:
        """The name of the subject; empty for a topic without one."""
        found = re.search(r"\{(\w+)\}", self.pattern)
        return found[1] if found else ""

    @property
    def filter(self) -> str:
        return f"{ROOT}/{self._with('+')}"

    def of(self, subject: str | int = "") -> str:
        return f"{ROOT}/{self._with(quote(str(subject), safe=''))}"

    def match(self, topic: str) -> str | int | None:
        """Return the subject in a topic (empty for a topic without one), or None for another topic."""
        found = self._form.fullmatch(topic)
        if found is None:
            return None
        return _SUBJECTS[self.subject][1](found[1]) if self.subject else ""

    @cached_property
    def _form(self) -> re.Pattern[str]:
        text = re.escape(f"{ROOT}/{self._with('@')}")
        return re.compile(text.replace("@", f"({_SUBJECTS[self.subject][0]})") if self.subject else text)

    def _with(self, subject: str) -> str:
        return self.pattern.replace(f"{{{self.subject}}}", subject) if self.subject else self.pattern
