"""Requests to other servers: to public addresses only, unless the caller permits others, and never along a redirect."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
from collections.abc import Mapping
from socket import AddressFamily

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

TIMEOUT_S = 10.0
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def is_public(host: str) -> bool:
    """Return whether an IP address belongs to the public Internet."""
    address = ipaddress.ip_address(host)
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            address = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        else:
            address = address.ipv4_mapped or address.sixtofour or address
    return address.is_global and not address.is_multicast


class _PublicResolver(AbstractResolver):
    """Resolves names to public addresses only; the connection is made to the very address that was checked."""

    def __init__(self) -> None:
        self._resolver = aiohttp.ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: AddressFamily = AddressFamily.AF_INET
    ) -> list[ResolveResult]:
        """Resolve a name. Raises OSError if an address of it is not public."""
        results = await self._resolver.resolve(host, port, family)
        for result in results:
            _require_public(result["host"])
        return results

    async def close(self) -> None:
        """Release what the resolver holds."""
        await self._resolver.close()


def _require_public(host: str) -> None:
    if not is_public(host):
        raise OSError(errno.EACCES, f"{host} is not a public address")  # aiohttp shows the second argument


def _require_public_if_literal(host: str) -> None:
    """Raise OSError if a host is an IP address that is not public: aiohttp gives a resolver only names."""
    with contextlib.suppress(ValueError):
        _require_public(host)


async def post(
    url: str, body: bytes, headers: Mapping[str, str], *, is_private_allowed: bool = False
) -> tuple[int | None, str]:
    """Send a POST request; return the HTTP status of the answer, if any, and what went wrong, if anything did.

    A redirect is a failure, as it could lead to a private address.
    """
    resolver = None if is_private_allowed else _PublicResolver()
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    try:
        if resolver:
            _require_public_if_literal(URL(url).host or "")
        async with (
            aiohttp.TCPConnector(resolver=resolver) as connector,
            aiohttp.ClientSession(connector=connector, timeout=timeout) as session,
            session.post(
                url, data=body, headers={"User-Agent": "bot-arena", **headers}, allow_redirects=False
            ) as response,
        ):
            status = response.status
    except TimeoutError:
        return None, f"no answer within {TIMEOUT_S:g} s"
    except (aiohttp.ClientError, OSError, ValueError) as error:
        # `str` of an OSError with a number begins with that.
        return None, str(error.args[-1] if type(error) is PermissionError else error) or type(error).__name__
    return status, "" if status < 300 else f"HTTP {status}"
