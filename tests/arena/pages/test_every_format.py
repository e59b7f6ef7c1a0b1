"""Pages of a tournament of every format before its start, while it runs and after its end, and the form for it."""

from __future__ import annotations

import re

import pytest

from arena.pages.tournament_form import in_steps, sections
from referee import toml
from referee.tournament.document import read
from referee.tournament.formats import format_named, names
from referee.tournament.formats.format import NoSettings
from referee.tournament.toml_text import example
from tests.arena.api.server import Server
from tests.arena.field import Field
from tests.arena.pages.formats import hold


@pytest.fixture(scope="module")
def field(server: Server) -> Field:
    return Field(server.store, ("ada", "bob"))


@pytest.mark.parametrize("format", names())
@pytest.mark.parametrize("most", [0, 1, 1000])
def test_page_shows_a_tournament_of_the_format(server: Server, field: Field, format: str, most: int) -> None:
    settings = read(toml.read(example(format))).model_dump(mode="json", exclude_defaults=True)
    own = {name: settings[name] for name in (format_named(format).table, "rounds") if name in settings}
    number = hold(field, format, most=most, **own)
    page = server.get(f"/tournaments/{number}")
    assert page.status == 200
    shown = page.body.decode()
    assert format_named(format).title in shown
    heads = set(re.findall(r"sort=-?(\w+)[^\"]*#standings", shown))
    assert {key for key in ("seed", "byes", "buchholz", "round") if key in heads} == set(format_named(format).columns)
    assert server.get(f"/api/v1/tournaments/{number}/standings").status == 200


@pytest.mark.parametrize("format", names())
def test_form_offers_the_format_with_its_keys(format: str) -> None:
    system = format_named(format)
    first, *_ = in_steps(sections({"format": format}))[0]
    fields = {field.name: field for field in first.fields}
    assert format in fields["format"].choices
    assert {fields[key].format for key in system.keys} <= {format}
    own = [table.name for table in first.tables if table.format == format]
    assert own == ([system.table] if system.Settings is not NoSettings else [])
