"""Documents of the project as HTML: Markdown without raw HTML, headings with names, no style attributes."""

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
"""What a document says to programs that write parts of it; raw HTML is off, so that it would be shown."""


def slug(text: str) -> str:
    """The name of a heading, as the documents' own links spell it."""
    return re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", text.strip().lower()))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # with the first document: few that start a server ask for one

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
    """A document as HTML. `link` gives the address of a relative link; headings begin with `<h1>`."""
    parser = _parser()
    env: dict[str, Any] = {}
    tokens = parser.parse(_COMMENT.sub("", text), env)
    names: dict[str, int] = {}
    for index, token in enumerate(tokens):
        token.attrs.pop("style", None)  # alignment of columns: our policy allows no style attributes
        if token.type == "heading_open":
            name = slug(tokens[index + 1].content)
            names[name] = names.get(name, -1) + 1
            token.attrSet("id", f"{name}-{names[name]}" if names[name] else name)
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("href", link(str(child.attrGet("href") or "")))
    # The renderer escapes all text: raw HTML is off.
    return Markup(parser.renderer.render(tokens, parser.options, env))  # noqa: S704


def inline(text: str) -> Markup:
    """A sentence of the project as HTML: words in backticks as code."""
    return Markup(_parser().renderInline(text))  # noqa: S704 - escaped, as above
