"""Tournaments and schedules by form: fill in, preview, create, change, export and import TOML."""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest

from arena.clock import now
from arena.credentials import digest_of, new_secret
from arena.http.identity import cookie_name
from arena.pages import tournament_form
from arena.store import Store
from referee.tournament.document import Document, read
from referee.tournament.formats import formats
from tests.arena.api.server import Reply, Server, settings_in
from tests.arena.field import Field
from tests.arena.pages.conftest import Chromium, window


@contextmanager
def opened(folder: Path) -> Iterator[Server]:
    """A server with the bots of a `Field`, an organiser and an author."""
    store = Store.in_folder(folder)
    Field(store)
    store.users.add("olga", role="organiser")
    store.users.add("otto", role="author")
    made = Server(store, settings_in(folder))
    made.unlimited()
    yield made
    made.close()
    store.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with opened(tmp_path_factory.mktemp("organise")) as found:
        yield found


def logged_in(server: Server, name: str) -> str:
    """Return the session cookie of a user."""
    secret = new_secret()
    user = server.store.users.find(name)
    server.store.users.add_login(user.id or 0, digest_of(secret), new_secret(), now() + timedelta(hours=1))
    return f"{cookie_name(False)}={secret}"


@pytest.fixture(scope="module")
def olga(server: Server) -> str:
    return logged_in(server, "olga")


def send(server: Server, cookie: str, path: str, do: str, **fields: str) -> Reply:
    """Submit the form with one of its buttons; that to delete is on the page above its address."""
    shown = server.get(path.removesuffix("/delete"), headers={"Cookie": cookie}).body.decode()
    token = re.search(r'name="csrf" value="([^"]+)"', shown)
    assert token, shown[:500]
    data = urlencode({"csrf": token[1], "do": do, **{name.replace("__", "."): text for name, text in fields.items()}})
    headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
    return server.post(path, data=data.encode(), headers=headers)


def words(reply: Reply) -> str:
    """Return the visible text of a page."""
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", reply.body.decode())).split())


CUP = {
    "name": "Cup",
    "family": "loa",
    "format": "knockout",
    "time_control": "10+0.5",
    "openings": "none",
    "rated": "1",
    "entries__bots": "ada\r\nbob\r\n\r\ncleo",
    "knockout__tiebreak_pairs": "0",
    "rulings__draw_agreement": "1",
}


def test_what_one_format_has_is_marked_for_the_style_sheet(server: Server, olga: str) -> None:
    shown = server.get("/tournaments/new", headers={"Cookie": olga}).body.decode()
    marked = {int(place) for place in re.findall(r'<div[^>]*\sdata-format="(\d+)"', shown)}
    assert set(re.findall(r'<span data-format="(\d+)">', shown)) == {str(place + 1) for place in range(len(formats()))}
    listed = re.search(r'<select id="f-format".*?</select>', shown, re.DOTALL)
    assert listed
    options = re.findall(r'value="([\w-]+)"', listed[0])
    owners = {name for name, system in formats().items() if system.keys or system.table in Document.model_fields}
    assert {options[place - 1] for place in marked} == owners
    style = server.get("/static/arena.css").body.decode()
    rules = [f'option:nth-child({place}):checked)) [data-format="{place}"]' for place in range(1, len(options) + 1)]
    assert all(rule in style for rule in rules)


def test_a_chosen_format_shows_its_own_fields_alone(server: Server, browser: Chromium) -> None:
    name, _, secret = logged_in(server, "olga").partition("=")
    with window(browser, is_apart=True) as page:
        page.context.add_cookies([{"name": name, "value": secret, "url": server.url}])
        page.goto(f"{server.url}/tournaments/new?family=loa")
        for place, option in enumerate(page.locator("#f-format option").all(), 1):
            page.select_option("#f-format", option.get_attribute("value"))
            marked = page.locator("[data-format]")
            shown = {part.get_attribute("data-format") for part in marked.all() if part.is_visible()}
            assert shown == {str(place)}


def test_only_organisers_see_the_form(server: Server) -> None:
    assert server.get("/tournaments/new").headers["Location"] == "/login?next=/tournaments/new"
    assert server.get("/tournaments/new", headers={"Cookie": logged_in(server, "otto")}).status == 403


def test_a_plan_is_looked_at_before_it_is_created(server: Server, olga: str) -> None:
    before = len(server.store.tournaments.page().items)
    shown = words(send(server, olga, "/tournaments/new", "preview", **CUP))
    assert "Disk space about" in shown
    sentence = "A knockout of 3 bots in Lines of Action, 2 games a pairing, 10 s + 0.5 s a move, starting now: 4 games,"
    assert sentence in shown
    assert "at most about 4 min (slots: 1;" in shown
    assert "Bots 3: ada v1 , bob v1 , cleo v1" in shown
    assert len(server.store.tournaments.page().items) == before


def test_only_the_preview_has_a_place_in_its_address(server: Server, olga: str) -> None:
    shown = server.get("/tournaments/new", headers={"Cookie": olga}).body.decode()
    form = re.search(r'<form class="organise"[^>]*action="([^"]+)"', shown)
    assert form
    assert form[1] == "/tournaments/new"
    assert re.findall(r'value="(\w+)"\s+formaction="([^"]+)"', shown) == [("preview", "/tournaments/new#preview")]


def test_entries_are_ticked_in_a_list_that_is_searched(server: Server, browser: Chromium) -> None:
    name, _, secret = logged_in(server, "olga").partition("=")
    with window(browser, is_apart=True) as page:
        page.context.add_cookies([{"name": name, "value": secret, "url": server.url}])
        page.goto(f"{server.url}/tournaments/new?family=loa")
        boxes, field = page.locator("#ticks label"), page.locator("textarea[name='entries.bots']")
        assert boxes.count() > page.locator("#ticks label:visible").count() == 0
        page.get_by_label("some of them").check()
        assert boxes.all_inner_texts() == ["ada", "bob", "cleo", "dan"]
        page.get_by_label("cleo").check()
        page.get_by_label("ada").check()
        assert field.input_value() == "cleo\nada"
        page.fill("#wanted", "BO")
        assert page.locator("#ticks label:visible").all_inner_texts() == ["ada", "bob", "cleo"]  # chosen ones stay
        page.get_by_text("By name, by rank").click()
        field.fill("dan")
        assert page.locator("#ticks input:checked").evaluate_all("(all) => all.map((one) => one.value)") == ["dan"]
        page.fill("#wanted", "")
        page.get_by_label("dan").uncheck()
        assert field.input_value() == ""
        page.select_option("#f-family", "abalone")
        page.wait_for_function("() => !document.querySelector('#ticks label')")
        variants = page.locator("#f-variant optgroup:not([hidden])")
        assert variants.evaluate_all("(all) => all.map((group) => group.label)") == ["Abalone"]


def test_the_plan_follows_the_form(server: Server, browser: Chromium) -> None:
    name, _, secret = logged_in(server, "olga").partition("=")
    starts = (now() + timedelta(days=30)).astimezone(ZoneInfo("Europe/Paris")).replace(second=0, microsecond=0)
    with window(browser, is_apart=True, timezone_id="Europe/Paris") as page:
        faults: list[str] = []
        page.on("console", lambda message: faults.append(message.text))
        page.context.add_cookies([{"name": name, "value": secret, "url": server.url}])
        page.goto(f"{server.url}/tournaments/new?family=loa")
        page.get_by_label("some of them").check()
        page.get_by_label("bob", exact=True).check()
        page.get_by_label("ada", exact=True).check()
        page.get_by_role("button", name="1 min + 0.6 s a move").click()
        assert page.input_value("#f-time_control") == "60+0.6"
        page.fill("#f-start_time", f"{starts:%Y-%m-%dT%H:%M}")
        page.wait_for_selector("text=A round-robin of 2 bots in Lines of Action, 2 games a pairing, 1 min + 0.6 s")
        page.fill("#f-games", "3")
        page.fill("#f-time_control", "soon")
        page.wait_for_selector(".field:has([name=time_control][aria-invalid]) .bad")
        page.fill("#f-games", "4")
        page.fill("#f-time_control", "1/move")
        page.wait_for_selector("text=4 games a pairing, 1 s a move, starting")
        assert page.locator(".organise .bad").count() == 0
        page.get_by_role("button", name="Create").click()
        page.wait_for_url(re.compile(r"/tournaments/\d+$"))
        row = server.store.tournaments.get(int(page.url.rpartition("/")[2]))
        assert (row.name, row.start_time) == ("Lines of Action, round-robin", starts)
        assert [line.bot for line in server.store.tournaments.entries(row.id or 0)] == ["bob", "ada"]
        assert faults == []


def test_the_empty_form_is_a_whole_tournament(server: Server, olga: str) -> None:
    shown = words(server.get("/tournaments/new?family=loa", headers={"Cookie": olga}))
    assert "A round-robin of 4 bots in Lines of Action, 2 games a pairing, 10 s + 0.1 s a move, starting now" in shown
    fields = {"family": "loa", "format": "round-robin", "entries__newest": "1", "rated": "1", "sides": "alternate"}
    reply = send(server, olga, "/tournaments/new", "preview", **fields)
    assert (reply.status, 'aria-invalid="true"' in reply.body.decode()) == (200, False)
    assert "Name Lines of Action, round-robin" in words(reply)
    assert 'id="f-name" name="name" aria-describedby="f-name-how" value=""' in reply.body.decode()
    number = int(send(server, olga, "/tournaments/new", "save", **fields).headers["Location"].rpartition("/")[2])
    assert {line.bot for line in server.store.tournaments.entries(number)} == {"ada", "bob", "cleo", "dan"}


@pytest.mark.parametrize(
    ("days", "fault"), [(367, "must be at most 366 days ahead"), (-1, "has passed; leave it out to start now")]
)
def test_a_start_that_cannot_be_created_is_a_fault_of_the_preview(
    days: int, fault: str, server: Server, olga: str
) -> None:
    starts = f"{now() + timedelta(days=days):%Y-%m-%dT%H:%M}"
    for do in ("preview", "save"):
        assert fault in words(send(server, olga, "/tournaments/new", do, **CUP, start_time=starts))


def test_a_tournament_is_created_and_changed(server: Server, olga: str) -> None:
    starts = f"{now() + timedelta(days=30):%Y-%m-%dT%H:%M}"
    reply = send(server, olga, "/tournaments/new", "save", **CUP, start_time=starts)
    assert reply.status == 303, words(reply)
    number = int(reply.headers["Location"].removeprefix("/tournaments/"))
    row = server.store.tournaments.get(number)
    assert (row.name, row.format, row.is_rated, f"{row.start_time:%Y-%m-%dT%H:%M}") == ("Cup", "knockout", True, starts)
    assert [line.bot for line in server.store.tournaments.entries(number)] == ["ada", "bob", "cleo"]
    shown = server.get(f"/tournaments/{number}/edit", headers={"Cookie": olga}).body.decode()
    assert re.search(r'type="datetime-local" value="(.+?)"', shown)[1] == starts  # type: ignore[index]
    changed = {**CUP, "name": "Swiss cup", "format": "swiss", "entries__bots": "ada\nbob", "rated": ""}
    reply = send(server, olga, f"/tournaments/{number}/edit", "save", **changed, start_time=starts)
    assert reply.status == 303, words(reply)
    row = server.store.tournaments.get(number)
    assert (row.name, row.format, row.is_rated) == ("Swiss cup", "swiss", False)
    assert [line.bot for line in server.store.tournaments.entries(number)] == ["ada", "bob"]
    assert server.store.audit.page().items[0].action == "tournament.change"
    server.store.tournaments.move(number, "running")
    assert server.get(f"/tournaments/{number}/edit", headers={"Cookie": olga}).status == 409


def test_what_is_wrong_stands_at_its_field(server: Server, olga: str) -> None:
    reply = send(
        server,
        olga,
        "/tournaments/new",
        "save",
        **{**CUP, "games": "3", "time_control": "soon", "entries__bots": "adda"},
    )
    assert reply.status == 422
    shown = reply.body.decode()
    assert re.search(r'<a\s+href="#f-games">Games of each pairing</a>: must be even', shown)
    assert re.search(r'name="time_control"[^>]* aria-invalid="true"', shown)
    assert 'value="Cup"' in shown
    reply = send(server, olga, "/tournaments/new", "save", **{**CUP, "entries__bots": "adda\nbob"})
    assert "did you mean ada" in words(reply)
    wrong = {"swiss__half_point_byes": "ada = soon", "swiss__late_entries": "ada = soon"}
    reply = send(server, olga, "/tournaments/new", "save", **{**CUP, "format": "swiss", **wrong})
    for field in ("swiss.half_point_byes", "swiss.late_entries"):
        assert re.search(rf'name="{field}"[^>]* aria-invalid="true"', reply.body.decode()), field


def test_a_schedule_shows_its_next_dates(server: Server, olga: str) -> None:
    weekly = {**CUP, "name": "Friday {date}", "schedule__cron": "0 20 * * 5", "schedule__timezone": "Europe/Paris"}
    shown = words(send(server, olga, "/tournaments/new", "preview", **weekly))
    dates = r"Fri, \w+ \d+ \d{4}-\d\d-\d\d 1[89]:00 UTC"  # a script makes it the reader's zone
    assert len(re.findall(dates, shown)) == 5
    reply = send(server, olga, "/tournaments/new", "save", **weekly)
    assert reply.headers["Location"].startswith("/schedules/"), words(reply)
    page = words(server.get(reply.headers["Location"]))
    assert "Lines of Action , every Friday at 20:00 (Europe/Paris)" in page
    assert "Format knockout Time control 10+0.5" in page
    assert "Bots ada, bob, cleo" in page
    assert re.findall(f"{dates} Friday (\\S+)", page) == re.findall(r"Fri, \w+ \d+ (\S+)", page)
    assert "With the bots of today: 3 bots, at most 4 games ada v1 , bob v1 , cleo v1" in page
    path = f"{reply.headers['Location']}/edit"
    form = server.get(path, headers={"Cookie": olga}).body.decode()
    unfolded = re.findall(r"<details[^>]* open>\s*<summary>(?:<h3>)?(.*?)<", form)
    assert "<h3>Limits<" in form
    assert ("Schedule" in unfolded, "Limits" in unfolded) == (True, False), "defaults are folded"
    assert send(server, olga, path, "save", **{**weekly, "schedule__cron": "0 9 * * 1"}).status == 303
    assert server.store.schedules.all()[0].cron == "0 9 * * 1"
    for do in ("save", "preview"):
        assert "never fires" in words(send(server, olga, path, do, **{**weekly, "schedule__cron": "0 0 30 2 *"}))
    reply = send(server, olga, f"{path.removesuffix('/edit')}/delete", "")
    assert (reply.status, reply.headers["Location"]) == (303, "/tournaments")
    assert server.store.schedules.all() == []


def test_a_document_goes_out_and_comes_back_as_toml(server: Server, olga: str) -> None:
    reply = send(server, olga, "/tournaments/new", "toml", **CUP)
    assert reply.headers["Content-Type"].startswith("application/toml")
    assert b'bots = ["ada", "bob", "cleo"]' in reply.body
    shown = send(server, olga, "/tournaments/new", "fill", document=reply.body.decode())
    assert shown.status == 200, words(shown)
    assert "ada\nbob\ncleo</textarea>" in shown.body.decode()
    assert ": 4 games," in words(shown)
    wrong = send(server, olga, "/tournaments/new", "fill", document="name = ")
    assert wrong.status == 422
    assert "invalid TOML" in words(wrong)


def test_a_file_may_be_sent(server: Server, olga: str) -> None:
    shown = server.get("/tournaments/new", headers={"Cookie": olga}).body.decode()
    token = re.search(r'name="csrf" value="([^"]+)"', shown)
    assert token
    parts = {"csrf": ("", token[1]), "do": ("", "fill"), "document": ('; filename="a.toml"', 'name = "Sent"\n')}
    body = "".join(
        f'--x\r\nContent-Disposition: form-data; name="{n}"{f}\r\n\r\n{t}\r\n' for n, (f, t) in parts.items()
    )
    headers = {"Cookie": olga, "Content-Type": "multipart/form-data; boundary=x"}
    reply = server.post("/tournaments/new", data=f"{body}--x--\r\n".encode(), headers=headers)
    assert 'value="Sent"' in reply.body.decode()
    assert "Family : is missing" in words(reply)


def test_the_form_has_every_key_and_says_what_it_holds() -> None:
    settings: dict[str, Any] = {
        "name": "x",
        "family": "loa",
        "rule_options": {"draw": True, "size": 3},
        "games": 4,
        "rated": False,
        "start_time": "2100-01-31T20:00:00Z",
        "entries": {"bots": ["ada", "bob"], "top": 2},
        "handicaps": [{"bot": "ada", "time_control": "1+0"}, {"bot": "bob", "engine_options": {"Hash": 1}}],
        "schedule": {"cron": "0 20 * * 5"},
    }
    fields = [field for section in tournament_form.sections(settings) for field in section.fields]
    names = {field.name.partition(".")[0] for field in fields}
    assert names == set(Document.model_fields)
    sent = {field.name: ("1" if field.value else "") if field.kind == "check" else field.shown for field in fields}
    assert tournament_form.document_of(sent) == {**settings, "start_time": "2100-01-31T20:00Z"}


def test_an_untouched_form_is_the_default() -> None:
    sent = {
        field.name: ("1" if field.value else "") if field.kind == "check" else field.shown
        for section in tournament_form.sections({"name": "x", "family": "loa", "entries": {"all": True}})
        for field in section.fields
    }
    assert read(tournament_form.document_of(sent)) == read({"name": "x", "family": "loa", "entries": {"all": True}})


EXAMPLES = {
    field.name: example
    for section in tournament_form.sections({})
    for field in section.fields
    if field.kind == "options"
    for example in re.findall(r"`(\w+ = [^`]+)`", field.text)
}


@pytest.mark.parametrize("key", EXAMPLES)
def test_the_form_takes_the_example_of_its_own_help(key: str) -> None:
    sent = {"name": "x", "family": "tablut", "format": "swiss", "entries.bots": "zeta\neta\ntheta\niota"}
    row = key.rpartition(".")[0]
    sent |= {f"{row}.bot": "zeta", f"{row}.against": "eta", key: EXAMPLES[key]}
    value: Any = read(tournament_form.document_of(sent)).model_dump(mode="json")
    for part in key.split("."):
        value = value[0 if part.isdecimal() else part]
    assert value == tomllib.loads(EXAMPLES[key])


def test_the_form_shows_and_reads_byes_late_entries_and_forbidden_pairs() -> None:
    settings: dict[str, Any] = {
        "name": "x",
        "family": "loa",
        "format": "swiss",
        "entries": {"bots": ["ada", "bob", "cleo", "dan"]},
        "swiss": {
            "seeding": "entry",
            "half_point_byes": {"ada": [2, 3], "bob": [1]},
            "late_entries": {"cleo": 2},
            "forbidden_pairs": ["ada - bob"],
        },
    }
    fields = {field.name: field for section in tournament_form.sections(settings) for field in section.fields}
    assert fields["swiss.half_point_byes"].shown == "ada = 2, 3\nbob = 1"
    sent = {
        field.name: ("1" if field.value else "") if field.kind == "check" else field.shown for field in fields.values()
    }
    assert read(tournament_form.document_of(sent)) == read(settings)
