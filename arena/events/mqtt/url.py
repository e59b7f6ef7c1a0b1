"""The address of a broker: `mqtt://[USER:PASSWORD@]HOST[:PORT]`, `mqtts://…` for TLS, or `embedded[:PORT]`.

Its text for people never contains the password.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

PORTS = {"mqtt": 1883, "mqtts": 8883}
EMBEDDED = "embedded"
FORM = "write mqtt://HOST:PORT, mqtts://USER:PASSWORD@HOST:PORT, or embedded"


@dataclass(frozen=True, slots=True)
class BrokerUrl:
    """The address of one broker. `is_embedded`: this process starts the broker itself, on a loopback address."""

    host: str
    port: int
    is_tls: bool = False
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    is_embedded: bool = False

    @classmethod
    def read(cls, text: str) -> BrokerUrl:
        """Parse an address. Raises ValueError; the message quotes nothing, as the address may contain a password."""
        kind, _, rest = text.partition(":")
        if kind == EMBEDDED:
            if rest and not (rest.isascii() and rest.isdecimal() and 0 < int(rest) < 2**16):
                raise ValueError("write embedded, or embedded:PORT")
            return cls("127.0.0.1", int(rest or PORTS["mqtt"]), is_embedded=True)
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            raise ValueError(FORM) from None
        if parts.scheme not in PORTS or not parts.hostname or port == 0:
            raise ValueError(FORM)
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            raise ValueError(
                f"{FORM}; nothing may follow the port, and / ? # @ in a password are written %2F %3F %23 %40"
            )
        user = unquote(parts.username) if parts.username else None
        password = unquote(parts.password) if parts.password else None
        if password and not user:
            raise ValueError("a password needs a user: mqtt://USER:PASSWORD@HOST:PORT")
        return cls(parts.hostname, port or PORTS[parts.scheme], parts.scheme == "mqtts", user, password)

    def __str__(self) -> str:
        """Return the address without the password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        user = f"{self.user}@" if self.user else ""
        return f"{'mqtts' if self.is_tls else 'mqtt'}://{user}{host}:{self.port}"
