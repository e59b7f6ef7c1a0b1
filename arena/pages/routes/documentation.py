"""The documentation site built by `make docs`, rules and protocol of each installed family, limits in numbers, and the
page of the JSON interface, rendered from its OpenAPI document without third-party scripts.
"""

from __future__ import annotations

import asyncio
import mimetypes
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp_jinja2
from aiohttp import web
from markupsafe import Markup

from arena.documents.table import Column, text_column
from arena.events import messages
from arena.events.topic import Topic
from arena.http import response_cache
from arena.http.problem import DOCS, OPENAPI, Problem, not_found
from arena.http.request_context import CONTEXT
from arena.pages import filters, language, markdown
from arena.pages.drawing import board
from arena.pages.html_table import HtmlTable, sorted_table
from arena.pages.markdown import inline
from arena.pages.page import (
    add_template_context,
    allow_parameters,
    cached_page,
    in_a_language,
    path_family,
    redirect_permanently,
    render,
    run,
)
from arena.pages.routes.leaderboard import start_drawing
from arena.pages.schema import DocumentedField, documented_fields, type_link, type_name
from referee.errors import KINDS
from referee.families import folder, folder_of
from referee.game.spec import Adjudication, BotLimits
from referee.rules.rules import Rules

routes = web.RouteTableDef()

SITE = Path(__file__).parents[2] / "documentation"
"""The built site: part of the wheel, and made by `make` in a checkout."""
_MAIN = '<main id="main" role="main">'
"""What begins the content in every page of the site, see `docs/theme/layout.html`."""
_HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)
"""A heading in the HTML of `arena.pages.markdown`: its anchor and its text."""
_WORDS: tuple[Column[tuple[str, str]], ...] = (
    text_column("word", "Word", lambda row: row[0], is_heading=True),
    text_column("meaning", "Meaning", lambda row: row[1]),
)
_FIELDS: tuple[Column[DocumentedField], ...] = (
    text_column("title", "Limit", lambda limit: limit.title, "word", is_heading=True),
    Column("value", "Value", lambda limit: limit.value, is_sortable=False),
    text_column("text", "Meaning", lambda limit: limit.text, "inline"),
)
_UPLOAD_SETTINGS = (
    "max_upload_bytes",
    "max_bundle_bytes",
    "max_bundle_files",
    "quota_bots",
    "quota_versions",
    "quota_bytes",
)
"""The settings that limit uploads."""
_UPLOADS: tuple[Column[tuple[str, int, str]], ...] = (
    text_column("text", "Limit", lambda row: row[2], "inline", is_heading=True),
    Column(
        "value",
        "Value",
        lambda row: filters.size(row[1]) if row[0].endswith("_bytes") else language.number(row[1]),
        is_sortable=False,
    ),
)
_RATES: tuple[Column[tuple[str, float | None, float, str]], ...] = (
    text_column("name", "Kind", lambda row: row[0], "word", is_heading=True),
    text_column("text", "Meaning", lambda row: row[3], "word"),
    Column("per_minute", "Per minute", lambda row: row[1], "count"),
    Column("burst", "Burst", lambda row: row[2], "count"),
)
_KINDS = {
    "read": language.marked("Requests to the JSON interface that change nothing"),
    "write": language.marked("Requests to the JSON interface that change something"),
    "upload": language.marked("Uploaded bots"),
    "page": language.marked("Pages of this site"),
    "registration": language.marked("New accounts"),
    "wrong-token": language.marked("Requests with an invalid token"),
    "streams": language.marked("Streams of live events that are open at once"),
    "exports": language.marked("Downloads of many games that run at once"),
}
"""What is counted by each limit on requests."""


class Member(NamedTuple):
    """A parameter of an operation, found `where`, or a member of a document."""

    name: str
    schema: Mapping[str, Any]
    description: str
    is_required: bool
    where: str = ""


_PARAMETERS: tuple[Column[Member], ...] = (
    text_column("name", "Parameter", lambda member: member.name, "member", is_heading=True),
    text_column("where", "In", lambda member: member.where),
    text_column("type", "Type", lambda member: type_name(member.schema)),
    text_column("meaning", "Meaning", lambda member: inline(member.description)),
)
_MEMBERS: tuple[Column[Member], ...] = (
    text_column("name", "Member", lambda member: member.name, "member", is_heading=True),
    text_column("type", "Type", lambda member: type_link(member.schema)),
    text_column("meaning", "Meaning", lambda member: inline(member.description)),
)
_TOPICS: tuple[Column[Topic], ...] = (
    text_column("filter", "Topic", lambda topic: topic.filter, "code", is_heading=True),
    text_column("is_retained", "Retained", lambda topic: topic.is_retained),
    text_column("about", "Content", lambda topic: inline(topic.about)),
)


def address(page: str = "") -> str:
    """Return the address of a page of the site, in the reader's language if the site has the page in it."""
    translated = f"{language.current()}/{page}"
    return f"/docs/{translated if (SITE / translated).is_dir() else page}".rstrip("/") + "/"


def rules_address(family: str) -> str:
    """Return the address of a family's rules with diagrams, or `/FAMILY/rules` if the site has none."""
    page = f"players/rules/{family}"
    return address(page) if (SITE / page).is_dir() else f"/{family}/rules"


@routes.get("/docs")
@routes.get("/docs/{path:.*}")
async def site(request: web.Request) -> web.StreamResponse:
    """Serve a file of the documentation site, or the page of a folder."""
    name = request.match_info.get("path", "")
    path = await run(_file, name)
    if path is None:
        if not SITE.is_dir():
            raise Problem("not-found", "the documentation is not built on this server; its operator runs `make docs`")
        raise not_found("page of the documentation", name)
    if path.name == "index.html" and not request.path.endswith(("/", "index.html")):
        return redirect_permanently(f"{request.path}/")
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    if kind == "text/html" and language.current() not in ("en", name.partition("/")[0]):
        text = (await run(path.read_text, "utf-8")).replace(_MAIN, f"{_MAIN}{_note(name.strip('/'))}")
        return in_a_language(web.Response(text=text, content_type=kind), "private, max-age=300")
    return web.FileResponse(path, headers={"Cache-Control": "public, max-age=300", "Content-Type": kind})


def _note(page: str) -> Markup:
    """Describe a page as English, with a link to it in the reader's language, or to the pages that are in it."""
    here = address(page)
    is_translated = here != f"/docs/{page}/"
    words = language.text("Read it in your language") if is_translated else language.text("Pages in your language")
    return Markup('<p class="admonition" lang="{}">{} <a href="{}">{}</a></p>').format(
        language.current(), language.text("This page is in English."), here if is_translated else address(), words
    )


def _file(name: str) -> Path | None:
    """Return the file at an address below `/docs`; None if there is none, or it is outside the site."""
    path = (SITE / name).resolve()
    if not path.is_relative_to(SITE.resolve()):
        return None
    path = path / "index.html" if path.is_dir() else path
    return path if path.is_file() else None


@routes.get("/{family}/rules")
@allow_parameters()
async def rules(request: web.Request) -> web.Response:
    """Show the rules of a family."""
    family = path_family(request)
    path, title = folder(family.family) / "RULES.md", language.text("%(family)s: full rules")
    drawing = await run(start_drawing, family, family.variants[0].name)
    return await _document(request, family, path, title, drawing=drawing, sprites=board.sprites([family]))


@routes.get("/{family}/protocol")
@allow_parameters()
async def protocol(request: web.Request) -> web.Response:
    """Show how the protocol writes the moves and positions of a family."""
    family = path_family(request)
    built_in = folder_of("protocol") / "dialects" / f"{family.family}.md"
    path = built_in if built_in.is_file() else folder(family.family) / "DIALECT.md"
    return await _document(request, family, path, language.text("%(family)s: protocol"))


async def _document(request: web.Request, family: Rules, path: Path, title: str, **drawn: Any) -> web.Response:
    if not path.is_file():
        raise not_found("document", path.name)
    text, headings = await run(_rendered, path, family.family)
    summary = address(f"players/rules/{family.family}")
    is_translated = summary.startswith(f"/docs/{language.current()}/")
    title %= {"family": language.translated(family.title)}
    return render(
        request,
        "document.html",
        text=text,
        headings=headings,
        title=title,
        rules=family,
        summary=summary if is_translated else "",
        **drawn,
    )


@cache
def _rendered(path: Path, family: str) -> tuple[Markup, list[tuple[str, str]]]:
    """Return a document as HTML without its title, and (anchor, text) of its headings."""
    _, _, below = path.read_text(encoding="utf-8").partition("\n")  # the page has a title in its own language
    text = markdown.html(below, lambda target: _link(target, family))
    return text, [(anchor, Markup(heading).striptags()) for anchor, heading in _HEADING.findall(text)]  # noqa: S704


def _link(target: str, family: str) -> str:
    """Return the address on this site to which a link in a document leads."""
    if target.startswith(("http://", "https://", "#", "/")):
        return target
    name, _, anchor = target.partition("#")
    if page := re.search(r"\bdocs/(.*)\.md$", name):
        return f"/docs/{page[1]}/{anchor and '#'}{anchor}"
    places = {"RULES.md": f"/{family}/rules", "SPEC.md": "/docs/reference/protocol/"}
    place = places.get(Path(name).name, f"/{family}/protocol" if "dialects" in name else "/docs/")
    return f"{place}#{anchor}" if anchor else place


@routes.get("/limits")
@cached_page
@allow_parameters("bot", "adjudication", "uploads", "rates")
async def limits(request: web.Request) -> web.Response:
    """Show the limits of bots, uploads and requests on this server."""
    context = request.app[CONTEXT]
    described = type(context.settings).model_fields
    uploads = [(name, getattr(context.settings, name), described[name].description) for name in _UPLOAD_SETTINGS]
    rates: list[tuple[str, float | None, float, str]] = [
        (name, limiter.rate.per_minute, limiter.rate.burst, _KINDS[name]) for name, limiter in context.limiters.items()
    ]
    for name, most in (("streams", context.streams.each), ("exports", context.exports.each)):
        rates.append((name, None, most, _KINDS[name]))
    return render(
        request,
        "limits.html",
        bot=sorted_table(request, _FIELDS, documented_fields(BotLimits), parameter="bot"),
        adjudication=sorted_table(request, _FIELDS, documented_fields(Adjudication), parameter="adjudication"),
        uploads=sorted_table(request, _UPLOADS, uploads, parameter="uploads"),
        rates=sorted_table(request, _RATES, rates, parameter="rates"),
    )


@routes.get("/design")
@allow_parameters("rules")
async def design(request: web.Request) -> web.Response:
    """Show every part of the design system of these pages."""
    note = language.text("Tables are sorted by the links in their headings, and collapse into blocks on phones.")
    table = sorted_table(request, _WORDS, [(language.text("row"), note)], parameter="rules")
    return render(request, "design.html", table=table)


def _parameter(given: Mapping[str, Any]) -> Member:
    return Member(
        given["name"], given["schema"], given.get("description", ""), given.get("required", False), given["in"]
    )


def _members(schema: Mapping[str, Any]) -> list[Member]:
    required = schema.get("required", ())
    return [
        Member(name, part, part.get("description", ""), name in required)
        for name, part in schema.get("properties", {}).items()
    ]


@routes.get(DOCS)
async def show_interface(request: web.Request) -> web.Response:
    """Show every operation with an example, every schema, every error, every event topic."""
    await add_template_context(request)  # the middleware skips addresses of data, but this is a page
    topics = [topic for kind in messages.KINDS for topic in (*kind.COPIES, kind.TOPIC) if topic.is_public]
    document = await asyncio.to_thread(request.app[OPENAPI])
    context = {
        "document": document,
        "problems": KINDS,
        "topics": HtmlTable(_TOPICS, topics),
        "parameters": {
            operation["operationId"]: HtmlTable(
                _PARAMETERS, [_parameter(parameter) for parameter in operation["parameters"]]
            )
            for methods in document["paths"].values()
            for operation in methods.values()
            if operation.get("parameters")
        },
        "members": {
            name: HtmlTable(_MEMBERS, _members(schema)) for name, schema in document["components"]["schemas"].items()
        },
    }
    text = aiohttp_jinja2.render_string("api.html", request, context)
    kind = "text/html; charset=utf-8"
    return response_cache.respond(
        request, text.encode(), status=200, keep="revalidate", is_private=True, content_type=kind
    )
