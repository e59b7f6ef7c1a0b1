"""The same in other languages: names of the family, its sides, variants and pieces."""

from __future__ import annotations

from referee.rules.rules import Words

WORDS = Words()
