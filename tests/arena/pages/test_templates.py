"""Templates have short lines, and are all compiled when a server starts."""

from __future__ import annotations

from pathlib import Path

import aiohttp_jinja2
import pytest
from aiohttp import web

from arena.pages import site
from tests.arena.pages.conftest import Site

TEMPLATES = sorted((Path(site.__file__).parent / "templates").glob("*.html"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_lines_are_short(path: Path) -> None:
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    long = [f"{path.name}:{number} has {len(line)} characters" for number, line in lines if len(line) >= 160]
    assert not long


def test_no_template_is_compiled_for_the_first_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    app = web.Application()
    site.setup(app)
    environment = aiohttp_jinja2.get_env(app)
    site.warm_up(app)
    monkeypatch.setattr(environment, "compile", None)
    assert [environment.get_template(path.name).name for path in TEMPLATES] == [path.name for path in TEMPLATES]


@pytest.mark.parametrize("path", ["/bots", "/games", "/tournaments", "/archive"])
def test_pages_show_names_of_strangers_plain(site: Site, path: str) -> None:
    body = site.server.get(path).body.decode()
    assert not {"\x1b", "\x07", "\u202e", "\u200b"} & set(body)
