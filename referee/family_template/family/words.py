"""Names in other languages: of the family, its sides, variants and pieces."""

from __future__ import annotations

from referee.rules.rules import Words

WORDS = Words()
