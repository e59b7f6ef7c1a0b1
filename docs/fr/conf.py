"""Configuration of the French site: the same as the English one, in another language."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from conf import *  # noqa: F403

language = "fr"
exclude_patterns: list[str] = []
html_title = html_short_title = "Documentation"
html_theme_options = {
    "skip": "Aller au contenu",
    "go": "OK",
    "other_language": "en",
    "other_name": "English",
    "watch": "Regarder",
    "play": "Jouer",
    "tournaments": "Tournois",
    "rankings": "Classements",
    "explore": "Explorer",
    "docs": "Docs",
    "main": "Principal",
}
