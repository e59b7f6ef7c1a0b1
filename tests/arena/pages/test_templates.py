"""Templates have short lines, and are all compiled when a server starts."""

from __future__ import annotations

import re
from types import SimpleNamespace

import aiohttp_jinja2
import pytest
from aiohttp import web

from arena.pages import site
from referee.rules import families
from tests.arena.pages.conftest import Site
from tests.catalogue import FEATURES, PAGES

TEMPLATES = sorted(
    (*(PAGES / "templates").glob("*.html"), *(path for folder in FEATURES for path in folder.glob("templates/*.html")))
)


def test_lines_are_short() -> None:
    lines = [(path, line) for path in TEMPLATES for line in path.read_text(encoding="utf-8").splitlines()]
    assert not [(path.name, line) for path, line in lines if len(line) >= 160]


def test_no_template_is_compiled_for_the_first_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    app = web.Application()
    site.setup(app)
    environment = aiohttp_jinja2.get_env(app)
    site.warm_up(app)
    monkeypatch.setattr(environment, "compile", None)
    names = [path.name if PAGES in path.parents else f"{path.parents[1].name}/{path.name}" for path in TEMPLATES]
    assert [environment.get_template(name).name for name in names]


def test_kernels_are_loaded_at_the_start_but_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(site, "is_cold", lambda family: family == "loa")
    monkeypatch.setattr(site, "get_ready", loaded.append)
    app = web.Application()
    site.setup(app)
    site.warm_up(app)
    assert sorted([*loaded, "loa"]) == sorted(families())


def test_provisional_bots_come_last_with_grey_places() -> None:
    app = web.Application()
    site.setup(app)
    parts = aiohttp_jinja2.get_env(app).get_template("parts.html").make_module({})
    lines = [
        SimpleNamespace(name="new v1", conservative=25.7, is_provisional=True, rank=None),
        SimpleNamespace(name="old v1", conservative=20.2, is_provisional=False, rank=1),
    ]
    shown = " ".join(re.sub("<[^>]+>", " ", parts.ranks(lines)).split())  # type: ignore[attr-defined]
    assert shown == "1 old v1 20.2 2 new v1 25.7"


@pytest.mark.parametrize("path", ["/bots", "/games", "/tournaments", "/archive"])
def test_pages_show_names_of_strangers_plain(site: Site, path: str) -> None:
    body = site.server.get(path).body.decode()
    assert not {"\x1b", "\x07", "\u202e", "\u200b"} & set(body)
