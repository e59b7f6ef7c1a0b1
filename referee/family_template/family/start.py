"""The variants, each with its name, start position and options, and the parameters for the kernel."""

from __future__ import annotations

from referee.rules.rules import Variant

VARIANTS = (Variant("standard", "bbb/3/www w"),)
