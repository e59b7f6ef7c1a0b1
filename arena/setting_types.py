"""Types of settings, validated when they are read, so that no mistake shows up hours later."""

from __future__ import annotations

import ipaddress
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

from arena.events.mqtt.url import BrokerUrl
from arena.mail import MailServer, is_mail_address


def _is_web_address(text: str) -> bool:
    return urlsplit(text).scheme in ("http", "https") and bool(urlsplit(text).hostname)


def _origin(url: str) -> str:
    if url and not _is_web_address(url):
        raise ValueError("write an address such as https://arena.example")
    return url.rstrip("/")


def _contact(text: str) -> str:
    if text and not (is_mail_address(text) or _is_web_address(text)):
        raise ValueError(
            "write a mail address such as help@arena.example, or a page such as https://arena.example/help"
        )
    return text


def _license(text: str) -> str:
    if not text.isprintable():
        raise ValueError("write one line, such as CC0-1.0 or CC-BY-4.0")
    return text


def _networks(texts: list[str]) -> list[str]:
    for text in texts:
        try:
            ipaddress.ip_network(text, strict=False)
        except ValueError:
            raise ValueError(f"{text!r} is not a valid address or network; write 192.0.2.1 or 192.0.2.0/24") from None
    return texts


def _listening(text: str) -> str:
    port = text.rpartition(":")[2]
    if text and not (port.isascii() and port.isdecimal() and int(port) <= 65535):
        raise ValueError("write PORT or HOST:PORT")
    return text


def _time_control(text: str) -> str:
    from referee.game.spec import read_time_control
    from referee.rules.core import ParseError

    try:
        if text:
            read_time_control(text)
    except ParseError as error:
        raise ValueError(str(error)) from None
    return text


def _broker(url: str) -> str:
    if url:
        BrokerUrl.read(url)
    return url


def _mail_server(url: str) -> str:
    if url:
        MailServer.read(url)
    return url


def _executor(text: str) -> str:
    kind, _, rest = text.partition(":")
    host, _, port = rest.removeprefix("//").rpartition(":")
    if kind in ("dask", "tls") and rest.startswith("//") and host and port.isascii() and port.isdecimal():
        return text
    if kind == "local" and (not rest or (rest.isascii() and rest.isdecimal() and 0 < int(rest) <= 4096)):
        return text
    raise ValueError("write local, local:N, dask://HOST:PORT or tls://HOST:PORT")


Origin = Annotated[str, AfterValidator(_origin)]
Contact = Annotated[str, AfterValidator(_contact)]
License = Annotated[str, AfterValidator(_license)]
Networks = Annotated[list[str], AfterValidator(_networks)]
ListenAddress = Annotated[str, AfterValidator(_listening)]
TimeControlText = Annotated[str, AfterValidator(_time_control)]
BrokerAddress = Annotated[str, AfterValidator(_broker)]
MailServerAddress = Annotated[str, AfterValidator(_mail_server)]
ExecutorAddress = Annotated[str, AfterValidator(_executor)]


def host_and_port(text: str) -> tuple[str, int] | None:
    """Return the host and port of a `ListenAddress`; None if it is empty. Without a host it is this machine's."""
    host, _, port = text.rpartition(":")
    return (host.strip("[]") or "127.0.0.1", int(port)) if text else None
