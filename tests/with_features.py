"""The features that the environment leaves on: tests of the core leave out the cases of the others.

The core alone passes its tests: `ARENA_DISABLED_FEATURES='["all"]' pytest --ignore tests/arena/features`.
"""

from __future__ import annotations

from arena import feature
from arena.config import read_settings


def is_on(name: str) -> bool:
    """Return whether the environment leaves a feature on."""
    return not feature.is_disabled(name, read_settings(None).disabled_features)
