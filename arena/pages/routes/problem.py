"""Error pages: what happened, what to do, and the nearest names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from http import HTTPStatus
from pathlib import Path

import jinja2
from aiohttp import web
from yarl import URL

from arena.http.identity import SAFE
from arena.http.middleware import is_data
from arena.http.problem import Problem
from arena.http.request_context import CONTEXT
from arena.mail import contact_url
from arena.pages import filters, language
from referee.errors import did_you_mean, near
from referee.rules import families

_HEADERS = ("Allow", "Retry-After", "Refresh")


def page(request: web.Request, problem: Problem) -> web.Response:
    """Render an error in the language of the request: a page, or for scripts a problem document.

    Neither database nor session is used: either may be what failed.
    """
    from arena.pages.page import navigation
    from arena.pages.routes import documentation
    from arena.pages.site import asset, icon

    language.choose(request)
    if is_data(request):
        return problem.response(language.translated)
    environment = _environment()
    environment.globals |= {"asset": asset, "icon": icon, "documentation": documentation.address}
    document, settings = problem.document(), request.app[CONTEXT].settings
    names = [str(name) for name in document.get("near", [])]
    text = environment.get_template("problem.html").render(
        path=request.path,
        contact=settings.contact,
        contact_url=contact_url(settings.contact),
        **navigation(request.app),
        request_url=request.rel_url if request.method in SAFE else None,
        family_titles=language.family_titles(),
        identity=None,
        csrf="",
        problem=document,
        hint=document.get("hint", "") if document.get("hint") != did_you_mean(names) else "",
        near=_suggestions(request, problem, names),
        number=document.get("request", ""),
    )
    response = web.Response(text=text, status=problem.status, content_type="text/html", charset="utf-8")
    response.headers["Cache-Control"] = "no-store"
    language.remember(request, response)
    for name in _HEADERS:
        if name in problem.headers:
            response.headers[name] = problem.headers[name]
    return response


def _suggestions(request: web.Request, problem: Problem, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return similar names in words with their addresses; without any, the list that an unknown address is part of."""
    from arena.pages.page import PAGES

    addresses = {name: _address(request, name, problem.field or "") for name in names}
    links = [(_words(request, name, address), address) for name, address in addresses.items() if address]
    first, *others = request.path.strip("/").split("/")
    is_unknown = problem.status == HTTPStatus.NOT_FOUND and others and first in PAGES
    return links or ([(language.text("Show all"), f"/{first}")] if is_unknown else [])


def _words(request: web.Request, name: str, address: str) -> str:
    """Return a similar name as people read it: a title, else what its address has and the present one lacks."""
    from arena.pages.page import PAGES

    if address == f"/{name}" and name in PAGES:
        return language.translated(PAGES[name])
    if not name.startswith("/"):
        return language.family_titles().get(name, name)
    url = URL(name)
    is_here = url.path == request.path
    return url.query_string or (language.text("This page without the parameter") if is_here else url.name)


def _address(request: web.Request, name: str, field: str) -> str:
    """Return the address of a similar name: this one with the name in its query, else in the same part of the site."""
    if name.startswith("/"):
        return name if "{" not in name else ""
    if request.method in SAFE and field in request.query:
        wrong, *_ = near(name, request.query.getall(field), 1) or request.query.getall(field)
        query = [(key, name if (key, value) == (field, wrong) else value) for key, value in request.query.items()]
        return str(request.rel_url.with_query(query))
    parts = request.path.strip("/").split("/")
    if len(parts) > 1 and parts[0] in ("bots", "docs"):
        return f"/{parts[0]}/{filters.path_part(name)}"
    if len(parts) > 2 and parts[0] == "tournaments":  # a form that names a bot
        return f"/bots/{filters.path_part(name)}"
    return "/".join(("", filters.path_part(name), *(parts[1:] if name in families() else ())))


@cache
def _environment() -> jinja2.Environment:
    """Return the template environment, kept because compiling templates takes far longer than rendering them."""
    loader = jinja2.FileSystemLoader(Path(__file__).parents[1] / "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"plain": filters.plain, "typeset": filters.typeset}
    language.install(environment)
    return environment
