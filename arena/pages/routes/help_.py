"""Help: the project's own documents, and tables generated from the data the code uses."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from aiohttp import web

from arena.http.problem import not_found
from arena.http.request_context import CONTEXT
from arena.pages import markdown
from arena.pages.columns import text_column
from arena.pages.documented_fields import documented_fields
from arena.pages.html_table import Column, sorted_table
from arena.pages.page import allow_parameters, redirect, render, run
from arena.tournaments import time_class
from referee.families import folder, folder_of
from referee.game.adjudication import LEVEL, LEVEL_FROM_PLY
from referee.game.spec import Adjudication, BotLimits
from referee.ratings import cycle, trueskill
from referee.rules import families, load, terminations
from referee.rules.core import Kind

routes = web.RouteTableDef()

TOPICS = {
    "play": "Playing against bots and analysing positions",
    "first-bot": "Your first bot in ten minutes",
    "protocol": "The protocol",
    "reference": "Keys of tournament files and settings",
    "limits": "Limits in numbers",
    "terminations": "How games end",
    "ratings": "Ratings",
    "analysis": "Analysis: winning chances, blunders, accuracy",
    "api": "API",
    "changelog": "Changelog",
    "design": "Design system of these pages",
}
_KINDS = {
    Kind.RULES: "Decided by the rules of the game.",
    Kind.ADJUDICATION: "Ended early by the referee, as the tournament's settings define.",
    Kind.FORFEIT: "A bot is at fault and loses. Rated like any other loss.",
    Kind.VOID: "No bot is at fault. Not rated; the game is played again.",
}


_WORDS = (text_column("0", "Word"), text_column("1", "Meaning"))
_FIELDS = (text_column("title", "Limit"), Column("", "Value"), text_column("text", "Meaning"))
_UPLOADS = (text_column("2", "Limit"), Column("", "Value"))
_RATES = (text_column("0", "Kind"), Column("1", "Per minute"), Column("2", "Burst"))
_DRAWS = (text_column("0", "Family"), Column("1", "Draws"))
_PACES = (text_column("0", "Class"), text_column("1", "Estimated length of a game"))
_FAMILIES = (text_column("title", "Family"), text_column("", "Rules"), text_column("", "Protocol"))


_TABLES = (*(kind.value for kind in Kind), "bot", "adjudication", "uploads", "rates", "draws", "paces")
"""Sort parameters of the tables of all topics."""


def _part(row: tuple[Any, ...], key: str) -> Any:
    """Return a column of a row that is a tuple."""
    return row[int(key)]


def _document(topic: str) -> Path | None:
    """Return the Markdown file of a topic; None for other topics."""
    kind, _, family = topic.partition("-")
    if topic == "first-bot":
        return folder_of("bots") / "README.md"
    if topic == "protocol":
        return folder_of("protocol") / "SPEC.md"
    if topic in ("changelog", "reference", "analysis"):
        return folder_of("arena") / f"{topic.upper()}.md"
    if kind == "dialect" and family in families():
        built_in = folder_of("protocol") / "dialects" / f"{family}.md"
        return built_in if built_in.is_file() else folder(family) / "DIALECT.md"
    if kind == "rules" and family in families():
        return folder(family) / "RULES.md"
    return None


def _link(target: str) -> str:
    """Return the address on this site of a document's link."""
    if target.startswith(("http://", "https://", "#", "/")):
        return target
    name, _, anchor = target.partition("#")
    stem = Path(name).stem
    places = {
        "SPEC": "/help/protocol",
        "README": "/help/first-bot",
        "CHANGELOG": "/help/changelog",
        "ANALYSIS": "/help/analysis",
        "REFERENCE": "/help/reference",
    }
    if "dialects" in name or name.rstrip("/").endswith("dialects"):
        place = f"/help/dialect-{stem}" if stem in families() else "/help#dialects"
    elif stem == "RULES":
        place = f"/help/rules-{Path(name).parent.name}"
    else:
        place = places.get(stem, "/help")
    return f"{place}#{anchor}" if anchor else place


@cache
def _rendered(topic: str) -> Any:
    path = _document(topic)
    if path is None or not path.is_file():
        return None
    return markdown.html(path.read_text(encoding="utf-8"), _link)


def _topics() -> list[str]:
    return [*TOPICS, *(f"{kind}-{name}" for name in families() for kind in ("rules", "dialect"))]


@routes.get("/help")
@allow_parameters("sort")
async def index(request: web.Request) -> web.Response:
    """List the help topics."""
    return render(
        request, "help.html", topics=TOPICS, table=sorted_table(request, _FAMILIES, [load(name) for name in families()])
    )


@routes.get("/help/design")
@allow_parameters(_TABLES[0])
async def design(request: web.Request) -> web.Response:
    """Show every part of the design system of these pages."""
    return render(request, "design.html", columns=sorted_table(request, _WORDS, (), parameter=_TABLES[0]).sorting)


@routes.get("/help/{topic}")
@allow_parameters(*_TABLES)
async def show(request: web.Request) -> web.Response:
    """Show one topic."""
    topic = request.match_info["topic"]
    if topic == "api":
        return redirect("/api/v1/docs")
    if topic == "play":
        settings = request.app[CONTEXT].settings
        return render(request, "how_to_play.html", settings=settings, level=LEVEL, level_from_ply=LEVEL_FROM_PLY)
    if topic == "limits":
        return _limits(request)
    if topic == "terminations":
        return render(request, "terminations.html", kinds=[_terminations(request, *one) for one in _KINDS.items()])
    if topic == "ratings":
        return _ratings(request)
    text = await run(_rendered, topic) if topic in _topics() else None
    if text is None:
        raise not_found("help topic", topic, _topics())
    title = TOPICS.get(topic, topic.replace("-", " "))
    kind, _, family = topic.partition("-")
    if family in families():
        title = f"{load(family).title}: {'rules' if kind == 'rules' else 'protocol'}"
    return render(request, "document.html", text=text, title=title)


def _terminations(request: web.Request, kind: Kind, text: str) -> tuple[str, str, Any]:
    """Return a class of terminations, its meaning, and the table of its words."""
    rows = [(word, one.sentence) for word, one in terminations().items() if one.kind is kind]
    return kind.value, text, sorted_table(request, _WORDS, rows, parameter=kind.value, value=_part)


def _limits(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    described = type(context.settings).model_fields
    names = ("max_upload_bytes", "max_bundle_bytes", "max_bundle_files", "quota_bots", "quota_versions", "quota_bytes")
    uploads = [(name, getattr(context.settings, name), described[name].description) for name in names]
    rates: list[tuple[str, float | None, float]] = [
        (name, one.rate.per_minute, one.rate.burst) for name, one in context.limiters.items()
    ]
    rates += [("streams", None, context.streams.each), ("exports", None, context.exports.each)]
    return render(
        request,
        "limits.html",
        bot=sorted_table(request, _FIELDS, documented_fields(BotLimits), parameter="bot"),
        adjudication=sorted_table(request, _FIELDS, documented_fields(Adjudication), parameter="adjudication"),
        uploads=sorted_table(request, _UPLOADS, uploads, parameter="uploads", value=_part),
        rates=sorted_table(request, _RATES, rates, parameter="rates", value=_part),
    )


def _ratings(request: web.Request) -> web.Response:
    draws = [(load(name).title, load(name).draw_probability) for name in families()]
    paces: list[tuple[str, float | None, str]] = [
        (one.name, one.below_s or float("inf"), one.words) for one in time_class.TIME_CLASSES
    ]
    paces.append((time_class.UNTIMED, None, "no clock: limited by depth or nodes"))
    return render(
        request,
        "ratings.html",
        simulations=cycle.SIMULATIONS,
        level=round(100 * cycle.CYCLE_SIGNIFICANCE),
        r=trueskill,
        moves=time_class.MOVES,
        draws=sorted_table(request, _DRAWS, draws, parameter="draws", value=_part),
        paces=sorted_table(request, _PACES, paces, parameter="paces", value=_part),
    )
