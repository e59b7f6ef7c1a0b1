"""The starts: each variant's name and position, options of its own, and parameters for the kernel."""

from __future__ import annotations

from referee.rules.rules import Variant

VARIANTS = (Variant("standard", "bbb/3/www w"),)
