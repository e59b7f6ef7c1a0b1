"""Syntax of the names of users and bots."""

from __future__ import annotations

import re
from typing import Final

NAME_PATTERN: Final = "[a-z0-9]([a-z0-9_-]{0,38}[a-z0-9])?"
NAME_RULE: Final = "1 to 40 lower-case letters, digits, - and _, with a letter or a digit at both ends"


def is_name(text: str) -> bool:
    """Return whether a text is a valid name of a user or a bot."""
    return re.fullmatch(NAME_PATTERN, text, re.ASCII) is not None
