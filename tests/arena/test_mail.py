"""Mail: addresses of servers, and a mail as the server receives it."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator

import pytest

from arena.mail import MailError, MailServer, is_mail_address


class _Session(socketserver.StreamRequestHandler):
    """One SMTP session; recipients with `refused` in their name are refused."""

    def handle(self) -> None:
        self.wfile.write(b"220 hello\r\n")
        while line := self.rfile.readline():
            word = line[:4].upper()
            self.server.received.append(line.decode())  # type: ignore[attr-defined]
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                while (text := self.rfile.readline()) != b".\r\n":
                    self.server.received.append(text.decode())  # type: ignore[attr-defined]
            if word == b"RCPT" and b"refused" in line:
                self.wfile.write(b"550 no such user\r\n")
            else:
                self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 fine\r\n")
            if word == b"QUIT":
                break


@pytest.fixture
def smtp() -> Iterator[tuple[MailServer, list[str]]]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Session) as server:
        server.received = received = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield MailServer.read(f"smtp://127.0.0.1:{server.server_address[1]}"), received
        server.shutdown()
        thread.join()


def test_send_delivers_a_plain_text(smtp: tuple[MailServer, list[str]]) -> None:
    server, received = smtp
    server.send("arena@example.org", "ada@example.org", "A link", "https://example.org/x\n")
    text = "".join(received)
    assert "rcpt TO:<ada@example.org>" in text
    assert "From: arena@example.org" in text
    assert "Auto-Submitted: auto-generated" in text
    assert "https://example.org/x" in text


def test_send_to_a_refused_recipient_raises_mail_error(smtp: tuple[MailServer, list[str]]) -> None:
    with pytest.raises(MailError, match=r"127\.0\.0\.1 did not accept mail"):
        smtp[0].send("arena@example.org", "refused@example.org", "A link", "text")


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
