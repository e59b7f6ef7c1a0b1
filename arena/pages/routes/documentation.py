"""The documentation site built by `make docs`, rules and protocol of each installed family, limits in numbers."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from aiohttp import web
from markupsafe import Markup

from arena.http.problem import Problem, not_found
from arena.http.request_context import CONTEXT
from arena.pages import language, markdown
from arena.pages.columns import text_column
from arena.pages.documented_fields import documented_fields
from arena.pages.html_table import Column, sorted_table
from arena.pages.page import allow_parameters, path_family, redirect_permanently, render, run
from referee.families import folder, folder_of
from referee.game.spec import Adjudication, BotLimits
from referee.rules.rules import Rules

routes = web.RouteTableDef()

SITE = Path(__file__).parents[2] / "documentation"
"""The built site: part of the wheel, and made by `make` in a checkout."""
_FORMER: Mapping[str, str] = {
    "play": "/docs/players/play/",
    "first-bot": "/docs/tutorials/first-bot/",
    "protocol": "/docs/reference/protocol/",
    "reference": "/docs/reference/settings/",
    "limits": "/limits",
    "terminations": "/docs/reference/terminations/",
    "ratings": "/docs/explanation/ratings/",
    "analysis": "/docs/explanation/analysis/",
    "api": "/api/v1/docs",
    "changelog": "/docs/reports/changelog/",
    "design": "/design",
}
"""Addresses of the pages that were below `/help`."""
_HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)
_WORDS = (text_column("0", "Word"), text_column("1", "Meaning"))
_FIELDS = (text_column("title", "Limit"), Column("", "Value"), text_column("text", "Meaning"))
_UPLOADS = (text_column("2", "Limit"), Column("", "Value"))
_RATES = (text_column("0", "Kind"), text_column("3", "Meaning"), Column("1", "Per minute"), Column("2", "Burst"))
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


def _part(row: tuple[Any, ...], key: str) -> Any:
    """Return the value of a row in a column: the row is a tuple, the key of the column an index."""
    return row[int(key)]


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
    return web.FileResponse(path, headers={"Cache-Control": "public, max-age=300", "Content-Type": kind})


def _file(name: str) -> Path | None:
    """Return the file at an address below `/docs`; None if there is none, or it is outside the site."""
    path = (SITE / name).resolve()
    if not path.is_relative_to(SITE.resolve()):
        return None
    path = path / "index.html" if path.is_dir() else path
    return path if path.is_file() else None


@routes.get("/help")
@routes.get("/help/{topic}")
async def former(request: web.Request) -> web.Response:
    """Redirect to the page that has the text of a former help page."""
    topic = request.match_info.get("topic", "")
    kind, _, family = topic.partition("-")
    if kind in ("rules", "dialect") and family:
        return redirect_permanently(f"/{family}/{'rules' if kind == 'rules' else 'protocol'}")
    return redirect_permanently(_FORMER.get(topic, "/docs/"))


@routes.get("/{family}/rules")
@allow_parameters()
async def rules(request: web.Request) -> web.Response:
    """Show the rules of a family."""
    family = path_family(request)
    return await _document(request, family, folder(family.family) / "RULES.md", language.text("%(family)s: full rules"))


@routes.get("/{family}/protocol")
@allow_parameters()
async def protocol(request: web.Request) -> web.Response:
    """Show how the protocol writes the moves and positions of a family."""
    family = path_family(request)
    built_in = folder_of("protocol") / "dialects" / f"{family.family}.md"
    path = built_in if built_in.is_file() else folder(family.family) / "DIALECT.md"
    return await _document(request, family, path, language.text("%(family)s: protocol"))


async def _document(request: web.Request, family: Rules, path: Path, title: str) -> web.Response:
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
@allow_parameters("bot", "adjudication", "uploads", "rates")
async def limits(request: web.Request) -> web.Response:
    """Show the limits of bots, uploads and requests on this server."""
    context = request.app[CONTEXT]
    described = type(context.settings).model_fields
    names = ("max_upload_bytes", "max_bundle_bytes", "max_bundle_files", "quota_bots", "quota_versions", "quota_bytes")
    uploads = [(name, getattr(context.settings, name), described[name].description) for name in names]
    rates: list[tuple[str, float | None, float, str]] = [
        (name, one.rate.per_minute, one.rate.burst, _KINDS[name]) for name, one in context.limiters.items()
    ]
    for name, each in (("streams", context.streams.each), ("exports", context.exports.each)):
        rates.append((name, None, each, _KINDS[name]))
    return render(
        request,
        "limits.html",
        bot=sorted_table(request, _FIELDS, documented_fields(BotLimits), parameter="bot"),
        adjudication=sorted_table(request, _FIELDS, documented_fields(Adjudication), parameter="adjudication"),
        uploads=sorted_table(request, _UPLOADS, uploads, parameter="uploads", value=_part),
        rates=sorted_table(request, _RATES, rates, parameter="rates", value=_part),
    )


@routes.get("/design")
@allow_parameters("rules")
async def design(request: web.Request) -> web.Response:
    """Show every part of the design system of these pages."""
    return render(request, "design.html", columns=sorted_table(request, _WORDS, (), parameter="rules").sorting)
