"""Configuration of the documentation site: `make docs` builds it with Sphinx and MyST.

Sphinx was chosen over Zensical: it searches without a server in English and French, checks every link, makes the
reference of the SDK from its docstrings, and has been stable for years, where Zensical has no release 1.0 yet. The
theme is the arena's own, because the arena serves these pages under a policy that allows no inline script or style,
and the well-known themes have both.
"""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # diagrams play a few moves: not worth compiling the rules
_PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "Bot arena"
language = "en"
version = release = _PROJECT["version"]
extensions = [
    *("myst_parser", "sphinx.ext.autodoc"),
    *("docs.extensions.generated", "docs.extensions.architecture"),
    *("docs.extensions.diagrams", "docs.extensions.languages"),
]
exclude_patterns = ["fr", "theme", "extensions", "reference/bot-file-keys.md"]
html_theme = "theme"
html_title = html_short_title = "Documentation"
html_theme_options = {"other_language": "fr", "other_name": "Français"}
_PAGES = HERE.parent / "arena" / "pages" / "static"
html_static_path = [str(_PAGES / name) for name in ("icon.svg", "figtree.woff2", "theme.js")]
html_theme_path = [str(HERE)]
html_search_scorer = str(HERE / "theme" / "scorer.js")
html_copy_source = False
html_show_sourcelink = False
html_use_index = False
html_sidebars = {"**": []}
highlight_language = "text"
pygments_style = "default"
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
