"""The variants: name and start position of each, and if needed its options and parameters for the kernel."""

from __future__ import annotations

from referee.rules.rules import Variant

VARIANTS = (Variant("standard", "bbb/3/www w"),)
