"""Plain-text mail through the SMTP server that the settings name."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from referee.errors import ArenaError

if TYPE_CHECKING:
    from smtplib import SMTP

_ADDRESS = re.compile(r"[^\s@<>\",;:()\[\]\\]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+", re.ASCII)
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_TIMEOUT_S = 20.0


class MailError(ArenaError):
    """Mail that the server did not accept."""

    kind = "unavailable"


class MailRefusedError(MailError):
    """Mail for which the server gave a reason: another mail may be accepted."""


class MailLostError(MailError):
    """Mail on the way when the connection broke: it may have arrived."""


def is_mail_address(text: str) -> bool:
    """Return whether a text is one plain e-mail address in ASCII."""
    return text.isascii() and bool(_ADDRESS.fullmatch(text))


def contact_url(contact: str) -> str:
    """Return the address that a link to the operator leads to; empty without a contact."""
    return f"mailto:{contact}" if is_mail_address(contact) else contact


@dataclass(frozen=True, slots=True)
class MailServer:
    """An SMTP server. `smtp` uses STARTTLS unless the server is this machine, `smtps` TLS from the start."""

    scheme: str
    host: str
    port: int
    user: str
    password: str

    @classmethod
    def read(cls, url: str) -> MailServer:
        """Read an address such as smtp://USER:PASSWORD@HOST:587. Raises ValueError."""
        parts = urlsplit(url)
        if parts.scheme not in ("smtp", "smtps") or not parts.hostname or parts.path.strip("/"):
            raise ValueError("write smtp://USER:PASSWORD@HOST:587, smtps://USER:PASSWORD@HOST:465 or smtp://localhost")
        is_local = parts.hostname in LOOPBACK
        port = parts.port or (465 if parts.scheme == "smtps" else 25 if is_local else 587)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        return cls(parts.scheme, parts.hostname, port, user, password)

    def send(
        self, sender: str, to: str, subject: str, text: str, headers: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Send a mail with these additional headers. Raises MailError."""
        import smtplib
        from email.message import EmailMessage
        from email.utils import formatdate, make_msgid

        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = sender, to, subject
        # Without a domain the id would contain this machine's name, for which Python may ask the DNS.
        mail["Date"], mail["Message-ID"] = formatdate(), make_msgid(domain=sender.rpartition("@")[2].strip(">"))
        # No absence notice answers such a mail (RFC 3834).
        mail["Auto-Submitted"] = "auto-generated"
        for name, value in headers.items():
            mail[name] = value
        # Not every server takes bytes above 127.
        mail.set_content(text, cte=None if text.isascii() else "quoted-printable")
        try:
            server = self._connect()
        except OSError as error:  # also the errors of smtplib
            raise MailError(f"{self.host} did not accept mail: {error}", hint="check the setting smtp") from None
        try:
            server.send_message(mail)
        except (smtplib.SMTPResponseException, smtplib.SMTPRecipientsRefused) as error:
            raise MailRefusedError(f"{self.host} refused a mail: {error}", hint="check the setting smtp") from None
        except OSError as error:
            raise MailLostError(f"{self.host} broke off a mail: {error}", hint="check the setting smtp") from None
        finally:
            # The mail has been accepted or refused, whatever the server answers now.
            with contextlib.suppress(OSError):
                server.quit()
            server.close()

    def _connect(self) -> SMTP:
        """Return a connection that is ready for a mail. Raises OSError."""
        import smtplib
        import ssl

        tls = ssl.create_default_context()
        if self.scheme == "smtps":
            server: SMTP = smtplib.SMTP_SSL(self.host, self.port, timeout=_TIMEOUT_S, context=tls)
        else:
            server = smtplib.SMTP(self.host, self.port, timeout=_TIMEOUT_S)
        try:
            if self.scheme == "smtp" and self.host not in LOOPBACK:
                server.starttls(context=tls)
            if self.user:
                server.login(self.user, self.password)
        except OSError:
            server.close()
            raise
        return server
