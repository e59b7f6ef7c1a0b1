"""Accounts on the pages: registration, forgotten passwords, a bot written on the page; forms are checked."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from arena.cli.terminal.run import run
from arena.clock import now
from arena.http.rate_limit import Rate, RateLimiter
from arena.pages.page import as_sentence
from arena.services import registration
from arena.store import Store
from arena.submission.template import LANGUAGES
from arena.tournaments import creation
from referee.bot.file import BotFile
from tests.arena.api.server import Reply, Server, settings_in
from tests.arena.pages.test_organise import logged_in

PASSWORD = "correct horse battery"


class Browser:
    """A browser without scripts: cookies, and forms with their hidden fields."""

    def __init__(self, server: Server) -> None:
        self.server, self.cookies = server, {}
        self.page = Reply(0, {}, b"")

    def get(self, path: str) -> Reply:
        self.page = self._keep(self.server.get(path, headers=self._headers()))
        return self.page

    def send(self, action: str, **fields: str) -> Reply:
        """Send the form of the present page with this action, and its hidden fields; follow a redirect."""
        text = self.page.body.decode()
        form = text[text.index(f'action="{action}"') :].partition("</form>")[0]
        hidden = dict(re.findall(r'<input type="hidden"\s+name="([^"]+)"\s+value="([^"]*)"', form))
        body = urlencode(hidden | fields).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded", **self._headers()}
        reply = self._keep(self.server.post(action, data=body, headers=headers))
        if reply.status == 303:
            return self.get(reply.headers["Location"])
        self.page = reply
        return reply

    def _headers(self) -> dict[str, str]:
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())} if self.cookies else {}

    def _keep(self, reply: Reply) -> Reply:
        for cookie in reply.cookies:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value.strip('"')
        return reply


def server_of(store: Store, folder: Path, **settings: object) -> Iterator[Server]:
    server = Server(store, settings_in(folder, allow_weak_sandbox=True, **settings))
    server.unlimited()
    yield server
    server.close()


@pytest.fixture
def server(sqlite_store: Store, tmp_path: Path) -> Iterator[Server]:
    yield from server_of(sqlite_store, tmp_path, registration="open")


def test_a_stranger_registers_and_submits_a_bot_written_on_the_page(server: Server) -> None:
    browser = Browser(server)
    page = browser.get("/submit").body.decode()
    assert 'href="/register?next=/submit"' in page
    browser.get("/register?next=/submit")
    reply = browser.send("/register", user="ada", password=PASSWORD, email="")
    assert reply.status == 200
    assert "Write a bot here" in reply.body.decode()
    source = "print('ugi')"
    reply = browser.send("/submit/source", **{"name": "zeta", "family-loa": "1", "source": source})
    assert "Check of zeta v1" in reply.body.decode()
    version = server.store.versions.find("zeta", 1)
    assert (version.state, server.store.versions.families(version.id or 0)) == ("uploaded", {"loa": ()})
    assert version.bot_file.command == ("python", "my_bot.py")


def test_a_wrong_registration_keeps_what_was_typed_but_the_password(server: Server) -> None:
    browser = Browser(server)
    browser.get("/register?next=//evil.example")
    reply = browser.send("/register", user="ada", password="short", email="ada@example.org")
    text = reply.body.decode()
    assert reply.status == 422
    assert "at least" in text or "must have" in text
    assert 'value="ada@example.org"' in text
    assert "short" not in text
    assert 'name="next" value="/"' in text


def test_registration_from_another_site_or_without_its_cookie_is_refused(server: Server) -> None:
    browser = Browser(server)
    browser.get("/register")
    browser.cookies.clear()
    assert browser.send("/register", user="ada", password=PASSWORD).status == 403
    assert server.store.users.page().items == []


def test_registrations_of_one_address_are_limited(server: Server) -> None:
    server.context.limiters["registration"] = RateLimiter(Rate(1, 1))
    browser = Browser(server)
    browser.get("/register")
    assert browser.send("/register", user="ada", password=PASSWORD).status == 200
    other = Browser(server)
    other.get("/register")
    reply = other.send("/register", user="bob", password=PASSWORD)
    assert (reply.status, b"Too many attempts" in reply.body) == (429, True)


def test_closed_and_invited_registration_show_no_form_without_a_link(sqlite_store: Store, tmp_path: Path) -> None:
    for server in server_of(sqlite_store, tmp_path):
        closed = server.get("/register").body
        assert b'name="password"' not in closed
        assert b"Create an account" not in closed + server.get("/login").body + server.get("/submit").body
        for path in ("/register", "/reset"):
            assert b"The operator has given no address on this site." in server.get(path).body, path
        assert b"has given no address" in server.get("/about").body
        link = registration.invite(server.context.arena, "author", 1, 1, None).link
        browser = Browser(server)
        assert b'name="password"' in browser.get(link).body
        assert browser.send("/register", user="ada", password=PASSWORD).status == 200
        assert b"has been used" in server.get(link).body


@pytest.mark.parametrize(
    ("contact", "address"),
    [("zoe@arena.example", "mailto:zoe@arena.example"), ("https://arena.example/help", "https://arena.example/help")],
)
def test_pages_that_send_people_to_the_operator_link_to_the_contact(
    sqlite_store: Store, tmp_path: Path, contact: str, address: str
) -> None:
    link = f'Operator of this arena: <a href="{address}">{contact}</a>'
    for server in server_of(sqlite_store, tmp_path, contact=contact):
        for path in ("/register", "/reset", "/reset?secret=wrong"):
            assert link in server.get(path).body.decode(), path
        assert f'<a href="{address}">{contact}</a>' in server.get("/about").body.decode()
        sqlite_store.users.add("ada")
        refused = server.get("/tournaments/new", headers={"Cookie": logged_in(server, "ada")})
        assert (refused.status, link in refused.body.decode()) == (403, True)
        assert f'<a href="{address}">Contact</a>' in server.get("/").body.decode()
        assert link not in server.get("/nothing").body.decode()
    for server in server_of(sqlite_store, tmp_path):
        assert "Operator of" not in server.get("/reset").body.decode()
        assert ">Contact<" not in server.get("/").body.decode()


def test_a_forgotten_password_is_set_by_a_link(server: Server) -> None:
    arena = server.context.arena
    registration.register(arena, "ada", PASSWORD, registration.LoginOrigin("192.0.2.1"))
    assert b"Ask the operator" in server.get("/reset").body
    assert server.get("/reset?secret=wrong").status == 422
    link = registration.make_reset_link(arena, "ada", None).link
    browser = Browser(server)
    browser.get(link)
    assert browser.send("/reset", new="another horse, no battery", again="other").status == 403
    reply = browser.send("/reset", new="another horse, no battery", again="another horse, no battery")
    assert b"<h1>Log in</h1>" in reply.body
    reply = browser.send("/login", user="ada", password="another horse, no battery")
    assert reply.status == 200
    assert b'href="/account"' in reply.body


def test_the_answer_to_a_forgotten_password_is_the_same_for_all_names(
    sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(registration, "request_reset", lambda arena, name, *_: asked.append(name))
    settings = {"smtp": "smtp://localhost", "mail_from": "a@x.example", "public_url": "http://x.example"}
    for server in server_of(sqlite_store, tmp_path, **settings):
        texts = []
        for name in ("ada", "nobody"):
            browser = Browser(server)
            browser.get("/reset")
            texts.append(re.sub(rb'name="token" value="[^"]*"', b"", browser.send("/reset/request", user=name).body))
        assert texts[0] == texts[1]
        assert b"a link is on its way" in texts[0]
    assert sorted(asked) == ["ada", "nobody"]


def test_templates_are_bundles_with_a_manifest(server: Server) -> None:
    for language in LANGUAGES:
        reply = server.get(f"/submit/templates/{language}.zip")
        with zipfile.ZipFile(io.BytesIO(reply.body)) as archive:
            assert {"bot.toml"} < set(archive.namelist()), language
            assert "command" in archive.read("bot.toml").decode(), language
    assert server.get("/submit/templates/cobol.zip").status == 404


def test_the_page_of_a_check_shows_log_and_next_steps_within_its_live_part(server: Server) -> None:
    store = server.store
    browser = Browser(server)
    browser.get("/register")
    browser.send("/register", user="ada", password=PASSWORD)
    ada = store.users.find("ada").id
    states = {"bad": "failed", "good": "active"}
    for name, state in states.items():
        version = store.versions.add(
            store.bots.add(name, ada).id, BotFile(("./bot",), families=("loa",)), state="uploaded"
        )
        assert store.checks.claim()
        problem = "loa: starts: no" if state == "failed" else ""
        store.checks.conclude(
            version.id or 0,
            report={"sandbox": "bwrap", "families": {"loa": {"steps": [], "problem": problem}}},
            variants={"loa": [] if problem else ["standard"]},
            capabilities={},
            log="Traceback: it hurts",
            problem=problem,
        )
    creation.ensure_ladders(store, ["loa"], "5+0.1", now())
    pages = {}
    for line in (store.versions.find("bad", 1), store.versions.find("good", 1)):
        text = browser.get(f"/submissions/{line.id}").body.decode()
        pages[line.state] = text[text.index('<div id="check"') :].partition("</main>")[0].rpartition("</div>")[0]
    assert "Traceback: it hurts" in pages["failed"]
    assert "Traceback: it hurts" in pages["active"]
    assert "Play 10 test games now" not in pages["failed"]
    assert 'action="/bots/good/challenge"' in pages["active"]
    assert "permanent ladder" in pages["active"]
    stranger = server.get(f"/submissions/{store.versions.find('good', 1).id}").body.decode()
    assert "Play 10 test games now" not in stranger
    assert "Traceback" not in stranger


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("bot.toml: command: write a list", "bot.toml: command: write a list."),
        ("no user with this name", "No user with this name."),
        ("x", "X."),
    ],
)
def test_as_sentence_keeps_names(text: str, sentence: str) -> None:
    assert as_sentence(text) == sentence


def test_admins_make_links_by_interface_and_operators_by_command(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    admin, author = server.person("root", "admin"), server.person("ada")
    for path, body in (("/api/v1/invitations", {"uses": 2}), ("/api/v1/users/ada/reset-links", None)):
        assert server.post(path, token=author, body=body).status == 403
        reply = server.post(path, token=admin, body=body)
        assert reply.status == 201, reply.body
        assert server.get(reply.json["link"]).status == 200
    assert server.post("/api/v1/invitations", token=admin, body={"role": "admin"}).status == 422
    for words in (("invite", "--uses", "3"), ("reset", "ada")):
        capsys.readouterr()
        assert run(["user", *words, "--data", str(tmp_path), "--database", server.store.url, "--json"]) == 0
        assert server.get(json.loads(capsys.readouterr().out)["link"]).status == 200
