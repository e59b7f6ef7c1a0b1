"""The same page in the other language: address and link of the switch above each page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
ROOTS = {"en": (DOCS, "/docs/"), "fr": (DOCS / "fr", "/docs/fr/")}
"""By language: the folder of its sources, and its address."""


def other_page(language: str, page: str) -> str:
    """Return the address of a page in the other language, or of its start page if it has none there."""
    folder, address = ROOTS["fr" if language == "en" else "en"]
    if page == "search":
        return f"{address}search/"
    if not (folder / f"{page}.md").is_file():
        return address
    return f"{address}{page}".removesuffix("index").rstrip("/") + "/"


def add_switch(app: Sphinx, page: str, _: str, context: dict[str, Any], __: object) -> None:
    """Give the template of a page the address of the other language."""
    context["other_url"] = other_page(app.config.language, page)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the switch to every page."""
    app.connect("html-page-context", add_switch)
    return {"parallel_read_safe": True}
