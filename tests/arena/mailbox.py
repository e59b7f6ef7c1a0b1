"""A mail server for tests, which keeps what it gets."""

from __future__ import annotations

import email
import email.policy
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from typing import Literal


class Mailbox(socketserver.ThreadingTCPServer):
    """An SMTP server without encryption. It refuses recipients with `refused` in their name.

    With `fault` it refuses every mail, hangs up when a mail is complete, or answers the end of a session wrongly.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.received: list[str] = []
        self.mails: list[EmailMessage] = []
        self.fault: Literal["", "refuses", "hangs up", "says no goodbye"] = ""

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.server_address[1]}"


class _Session(socketserver.StreamRequestHandler):
    server: Mailbox

    def handle(self) -> None:
        self.wfile.write(b"220 hello\r\n")
        while line := self.rfile.readline():
            word, answer = line[:4].upper(), b"250 fine\r\n"
            self.server.received.append(line.decode())
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                self._read_mail()
                if self.server.fault == "hangs up":
                    return
                if self.server.fault == "refuses":
                    answer = b"451 not now\r\n"
            elif word == b"RCPT" and b"refused" in line:
                answer = b"550 no such user\r\n"
            elif word == b"QUIT":
                answer = b"421 oh\r\n" if self.server.fault == "says no goodbye" else b"221 bye\r\n"
            self.wfile.write(answer)
            if word == b"QUIT":
                return

    def _read_mail(self) -> None:
        lines = []
        while (text := self.rfile.readline()) != b".\r\n":
            lines.append(text.removeprefix(b"."))
        self.server.received += [text.decode() for text in lines]
        if self.server.fault != "refuses":
            mail = email.message_from_bytes(b"".join(lines).replace(b"\r\n", b"\n"), policy=email.policy.default)
            assert isinstance(mail, EmailMessage)
            self.server.mails.append(mail)


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    """A mail server in a thread."""
    with Mailbox() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
