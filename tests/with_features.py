"""The features that the environment leaves on: tests of the core leave out the cases of the others.

The core alone passes its tests: `ARENA_DISABLED_FEATURES='["all"]' pytest --ignore tests/arena/features`.
"""

from __future__ import annotations

from arena import feature
from arena.config_file import read_settings

DISABLED = tuple(read_settings(None).disabled_features)
"""The setting of the environment, for what takes one: `table(DISABLED)` are the routes of the JSON interface."""


def is_on(name: str) -> bool:
    """Return whether the environment leaves a feature on."""
    return not feature.is_disabled(name, DISABLED)


def commands_off() -> set[str]:
    """Return the names of the commands of features that are off: documents name them, `arena` does not know them."""
    off = [entry.feature for entry in feature.installed() if entry.feature and not is_on(entry.name)]
    return {command.name for feature_off in off for command in feature_off.commands}
