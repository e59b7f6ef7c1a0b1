"""Render the project's Markdown documents as HTML: no raw HTML, headings with anchors, no style attributes."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_COMMENT = re.compile(r"^<!--.*?-->\n?", re.DOTALL | re.MULTILINE)
"""Comments in documents that programs update in part. They are removed: with raw HTML off they would be shown."""


def slug(text: str) -> str:
    """Return the anchor of a heading, spelled as links within the documents spell it."""
    return re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", text.strip().lower()))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # imported with the first document: few processes render one

    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    return parser


def _table_open(self: Any, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    env["tables"] = env.get("tables", 0) + 1
    return f'<div class="wide" tabindex="0" role="region" aria-label="Table {env["tables"]}"><table>\n'


def _table_close(self: Any, tokens: list[Token], index: int, options: Any, env: Any) -> str:
    return "</table></div>\n"


def html(text: str, link: Callable[[str], str] = lambda target: target) -> Markup:
    """Render a document. `link` maps the target of each link to an address of the site.

    The cells of a table carry their headings, by which it collapses on phones.
    """
    parser = _parser()
    env: dict[str, Any] = {}
    tokens = parser.parse(_COMMENT.sub("", text), env)
    names: dict[str, int] = {}
    titles: list[str] = []
    labels = iter(titles)
    for index, token in enumerate(tokens):
        token.attrs.pop("style", None)  # column alignment: our content security policy forbids style attributes
        if token.type == "heading_open":
            name = slug(tokens[index + 1].content)
            names[name] = names.get(name, -1) + 1
            token.attrSet("id", f"{name}-{names[name]}" if names[name] else name)
        if token.type == "tr_open":
            labels = iter(titles)
        elif token.type == "table_open":
            titles.clear()
        elif token.type == "th_open":
            titles.append("".join(child.content for child in tokens[index + 1].children or ()))
        elif token.type == "td_open" and (label := next(labels, "")) and tokens[index + 1].content:
            token.attrSet("data-label", label)
        if token.type in ("fence", "code_block"):  # wide ones scroll, also by keys
            token.attrSet("tabindex", "0")
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("href", link(str(child.attrGet("href") or "")))
    # The renderer escapes all text: raw HTML is off.
    return Markup(parser.renderer.render(tokens, parser.options, env))  # noqa: S704


def inline(text: str) -> Markup:
    """Render one sentence: words in backticks become code."""
    return Markup(_parser().renderInline(text))  # noqa: S704 - escaped, as above
