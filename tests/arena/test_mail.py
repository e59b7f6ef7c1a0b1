"""Mail: addresses of servers, and a mail as the server receives it."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from arena.mail import MailError, MailLostError, MailRefusedError, MailServer, is_mail_address
from tests.arena.mailbox import Mailbox, mailbox


@pytest.fixture
def inbox() -> Iterator[Mailbox]:
    with mailbox() as server:
        yield server


def send(server: Mailbox, to: str = "ada@example.org", text: str = "https://example.org/x\n") -> None:
    MailServer.read(server.url).send("arena@example.org", to, "A link", text, {"List-Id": "<digest.example.org>"})


def test_send_delivers_a_plain_text(inbox: Mailbox) -> None:
    send(inbox)
    text = "".join(inbox.received)
    assert "rcpt TO:<ada@example.org>" in text
    assert "From: arena@example.org" in text
    assert "Auto-Submitted: auto-generated" in text
    assert "List-Id: <digest.example.org>" in text
    assert "https://example.org/x" in text


def test_send_encodes_what_is_not_ascii(inbox: Mailbox) -> None:
    send(inbox, text="à demain\n")
    assert "".join(inbox.received).isascii()
    assert inbox.mails[0].get_content() == "à demain\n"


def test_send_to_a_refused_recipient_raises_mail_refused_error(inbox: Mailbox) -> None:
    with pytest.raises(MailRefusedError, match=r"127\.0\.0\.1 refused a mail"):
        send(inbox, to="refused@example.org")
    inbox.fault = "refuses"
    with pytest.raises(MailRefusedError, match="not now"):
        send(inbox)


def test_send_to_a_server_that_hangs_up_says_that_the_mail_may_have_arrived(inbox: Mailbox) -> None:
    inbox.fault = "hangs up"
    with pytest.raises(MailLostError, match="broke off"):
        send(inbox)


def test_mail_is_accepted_whatever_follows(inbox: Mailbox) -> None:
    inbox.fault = "says no goodbye"
    send(inbox)
    assert len(inbox.mails) == 1


def test_send_without_a_server_is_certainly_not_accepted() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"smtp://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(MailError, match="did not accept mail") as caught:
        MailServer.read(url).send("arena@example.org", "ada@example.org", "A link", "text")
    assert type(caught.value) is MailError


@pytest.mark.parametrize(
    ("url", "port", "user"),
    [
        ("smtp://localhost", 25, ""),
        ("smtp://mail.example.org", 587, ""),
        ("smtps://a%40b:c@mail.example.org", 465, "a@b"),
        ("smtp://mail.example.org:2525", 2525, ""),
    ],
)
def test_read_of_an_address_fills_in_the_port(url: str, port: int, user: str) -> None:
    found = MailServer.read(url)
    assert (found.port, found.user) == (port, user)


@pytest.mark.parametrize("url", ["mail.example.org", "http://mail.example.org", "smtp://", "smtp://host/path"])
def test_read_of_another_address_names_the_form(url: str) -> None:
    with pytest.raises(ValueError, match="smtp://USER:PASSWORD@HOST:587"):
        MailServer.read(url)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("ada@example.org", True),
        ("a.b+c@mail.example.org", True),
        ("ada@localhost", False),
        ("ada@example.org\n", False),
        ("a@example.org, b@example.org", False),
        ("<ada@example.org>", False),
        ("é@example.org", False),
    ],
)
def test_is_mail_address_accepts_single_plain_addresses(text: str, is_one: bool) -> None:
    assert is_mail_address(text) is is_one
