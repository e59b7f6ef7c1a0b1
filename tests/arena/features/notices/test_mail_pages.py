"""The page on which a user asks for mail, and the links of mails, in a browser and by a mail program."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from arena.features.notices.addresses import DigestAddresses, signature
from arena.store import Store
from tests.arena.api.server import Reply, Server, settings_in
from tests.arena.mailbox import Mailbox, mailbox
from tests.arena.pages.conftest import window
from tests.arena.pages.test_organise import logged_in, words

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def inbox() -> Iterator[Mailbox]:
    with mailbox() as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path, inbox: Mailbox) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    shutil.copy(sqlite_template, folder / "arena.sqlite3")
    store = Store.in_folder(folder)
    mail = {"smtp": inbox.url, "mail_from": "arena@arena.example", "public_url": "http://arena.example"}
    opened = Server(store, settings_in(folder, **mail))
    opened.unlimited()
    yield opened
    opened.close()
    store.close()


@pytest.fixture
def cookie(server: Server, request: pytest.FixtureRequest) -> str:
    """The session of a new user, whose name is that of the test."""
    name = request.node.name[5:40].replace("_", "-").strip("-")
    server.person(name)
    return logged_in(server, name)


def ask(server: Server, cookie: str, email: str) -> Reply:
    """Send the form."""
    shown = server.get("/notices", headers={"Cookie": cookie}).body.decode()
    token = re.search(r'name="csrf" value="([^"]+)"', shown)
    assert token
    headers = {"Cookie": cookie, **FORM}
    return server.post(
        "/notices/mail", data=urlencode({"csrf": token[1], "email": email, "language": "en"}).encode(), headers=headers
    )


def confirmed(server: Server, inbox: Mailbox, cookie: str) -> str:
    """Ask for mail and confirm the address; return the path of the link."""
    reply = ask(server, cookie, f"{len(inbox.mails)}@example.org")
    assert reply.headers["Location"] == "/notices"
    link = re.search(r"http://arena\.example(/notices/mail/confirm\S+)", inbox.mails[-1].get_content())
    assert link
    assert server.get(link[1]).status == 200
    assert "is confirmed" in words(server.post(link[1], data=b"", headers=FORM))
    return link[1]


def test_address_is_asked_for_confirmed_and_removed_on_the_pages(
    server: Server, inbox: Mailbox, cookie: str, browser: Any
) -> None:
    name, _, secret = cookie.partition("=")
    with window(browser, 320, is_apart=True) as page:
        page.context.add_cookies([{"name": name, "value": secret, "url": server.url}])
        page.goto(f"{server.url}/account?lang=fr#bots")
        page.click("text=Notifications par courriel et sur appareils")
        page.fill("[name=email]", "ada@example.org")
        page.click("text=M’envoyer un lien")
        page.get_by_text("Un lien a été envoyé à").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        mail = inbox.mails[-1]
        assert mail["Subject"] == "Bot arena\u202f: confirmez votre adresse"
        link = re.search(r"http://arena\.example(\S+)", mail.get_content().partition("Confirmez-la")[2])
        assert link
        page.goto(server.url + link[1])
        page.click("text=Confirmer mon adresse")
        assert "ada@example.org est confirmée" in page.inner_text("[role=status]")
        page.goto(f"{server.url}/notices")
        assert "Vous recevez un courriel par jour à ada@example.org" in page.inner_text("[role=status]")
        page.click("text=Ne plus recevoir de courriels et effacer l’adresse")
        page.get_by_text("M’envoyer un lien").wait_for()
        assert not page.query_selector("#mail [role=status]")


def test_wrong_address_is_named_above_the_form(server: Server, cookie: str) -> None:
    reply = ask(server, cookie, "nobody")
    assert reply.status == 422
    assert "Invalid e-mail address 'nobody'" in words(reply)
    assert 'value="nobody"' in reply.body.decode()


def test_mail_program_unsubscribes_with_one_click(server: Server, inbox: Mailbox, cookie: str) -> None:
    path = confirmed(server, inbox, cookie)
    user = int(re.findall(r"user=(\d+)", path)[0])
    row = DigestAddresses(server.store).of(user)
    assert row is not None
    stop = f"/notices/mail/stop?user={user}&signature="
    assert server.post(stop + "0" * 64, data=b"List-Unsubscribe=One-Click").status == 200
    assert DigestAddresses(server.store).of(user) is not None
    assert "Get no more mails" in words(server.get(stop + signature(row, "stop")))
    assert DigestAddresses(server.store).of(user) is not None, "programs open every link of a mail"
    for _ in range(2):
        reply = server.post(stop + signature(row, "stop"), data=b"List-Unsubscribe=One-Click", headers=FORM)
        assert (reply.status, "You get no more mails" in words(reply)) == (200, True)
    assert DigestAddresses(server.store).of(user) is None


def test_wrong_link_says_so(server: Server) -> None:
    for query in ("", "?user=1&until=2&signature=3", "?user=x&until=99999999999&signature=%C3%A9"):
        reply = server.post(f"/notices/mail/confirm{query}", data=b"", headers=FORM)
        assert (reply.status, "invalid or has expired" in words(reply)) == (422, True)


def test_page_needs_a_login(server: Server) -> None:
    assert server.get("/notices").headers["Location"] == "/login?next=/notices"
