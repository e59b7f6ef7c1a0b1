"""Whole games as text."""

from __future__ import annotations

from referee.rules import GameFormat

FORMATS: tuple[GameFormat, ...] = ()
