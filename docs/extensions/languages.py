"""Language switch above each page: the address of the same page in the other language."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
ROOTS = {"en": (DOCS, "/docs/"), "fr": (DOCS / "fr", "/docs/fr/")}
"""By language: the folder of its sources, and its address."""


def other_page(language: str, page: str) -> str:
    """Return the address of a page in the other language, or of the start page if that language lacks the page."""
    folder, address = ROOTS["fr" if language == "en" else "en"]
    if page == "search":
        return f"{address}search/"
    if not (folder / f"{page}.md").is_file():
        return address
    return f"{address}{page}".removesuffix("index").rstrip("/") + "/"


def add_switch(app: Sphinx, page: str, _: str, context: dict[str, Any], __: object) -> None:
    """Give the template of a page the address of the page in the other language."""
    context["other_url"] = other_page(app.config.language, page)


def write_messages(app: Sphinx, error: Exception | None) -> None:
    """Replace Sphinx's script of translated messages, such as those of the search, by one that only holds data.

    Sphinx's own script evaluates a plural rule as code, which the arena's content security policy forbids.
    """
    script = Path(app.outdir) / "_static" / "translations.js"
    if error is None and script.is_file():
        text = script.read_text(encoding="utf-8")
        text = re.sub(r"^Documentation\.addTranslations\((.*)\);$", r"\1", text.strip(), flags=re.DOTALL)
        script.write_text(f"Object.assign(Documentation.TRANSLATIONS, ({text}).messages);\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the switch to every page."""
    app.connect("html-page-context", add_switch)
    app.connect("build-finished", write_messages)
    return {"parallel_read_safe": True}
