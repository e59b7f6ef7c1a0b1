"""Syntax of the names of users and bots."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

NAME_PATTERN: Final = "[a-z0-9]([a-z0-9_-]{0,38}[a-z0-9])?"
MAX_NAME: Final = 40
NAME_RULE: Final = "1 to 40 lower-case letters, digits, - and _, with a letter or a digit at both ends"


def as_name(text: str) -> str:
    """Return the name that is nearest to a title: `Zoë 2.0` gives `zoe-2-0`; empty if nothing is left of it."""
    plain = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9_]+", "-", plain).strip("-_")[:MAX_NAME].strip("-_")


def is_name(text: str) -> bool:
    """Return whether a text is a valid name of a user or a bot."""
    return re.fullmatch(NAME_PATTERN, text, re.ASCII) is not None
