"""Connections of the arena to a scheduler. They unpickle nothing, and read only plain data, such as JSON.

Dask unpickles parts of most messages wherever it reads them, and its client unpickles more, so anyone who reached a
scheduler or worker could run programs in every client. Here, pickled data and bytes are replaced by a text. This is a
Dask transport with the addresses `plain://` and `plains://` (encrypted).
"""

from __future__ import annotations

import struct
from typing import Any

import msgpack
from distributed.comm import CommClosedError
from distributed.comm.registry import Backend, backends
from distributed.comm.tcp import TCP, TLS, TCPBackend, TCPConnector, TLSBackend, TLSConnector

MAX_MESSAGE_BYTES = 2**28
"""Largest message that is read: a number from the network does not decide how much memory is taken."""
UNREADABLE = "<not plain data>"
"""The text that replaces everything that is not plain data."""
_MARKS = ("__Pickled__", "__Serialized__", "__Enum__")
"""Keys by which Dask marks pickled or serialised data and enum members."""
_SCHEMES = {"tcp://": "plain://", "tls://": "plains://"}


def plain_address(address: str) -> str:
    """Return the address at which this process reaches a scheduler without unpickling anything."""
    backends.setdefault("plain", PlainBackend(TCPBackend(), PlainConnector))
    backends.setdefault("plains", PlainBackend(TLSBackend(), PlainTLSConnector))
    for scheme, plain in _SCHEMES.items():
        if address.startswith(scheme):
            return plain + address.removeprefix(scheme)
    return address


def decode(message: bytes | memoryview) -> Any:
    """Decode the first frame of a message. Raises ValueError if it is malformed."""
    # Arrays become tuples, since the metrics of Dask's workers have such keys; keys of maps need not be texts.
    found = msgpack.unpackb(
        message, object_hook=_plain_object, ext_hook=_plain_extension, use_list=False, strict_map_key=False, raw=False
    )
    return _without_bytes(found)


def _plain_object(data: dict[Any, Any]) -> Any:
    if any(mark in data for mark in _MARKS):
        return UNREADABLE
    return list(data.get("as-list", ())) if "__Set__" in data else data


def _plain_extension(code: int, data: bytes) -> str:
    return UNREADABLE


def _without_bytes(value: Any) -> Any:
    match value:
        case bytes() | bytearray():
            return UNREADABLE
        case dict():
            return {_plain_key(key): _without_bytes(item) for key, item in value.items()}
        case tuple() | list():
            return [_without_bytes(item) for item in value]
        case str() | int() | float() | None:
            return value
        case _:
            return UNREADABLE


def _plain_key(key: Any) -> Any:
    """Return a dictionary key with bytes replaced. A tuple, as in Dask's metrics, stays a tuple, which is hashable."""
    return tuple(map(_plain_key, key)) if isinstance(key, tuple) else _without_bytes(key)


async def _read_plain(comm: TCP) -> Any:
    """Read one message of a connection. Raises CommClosedError."""
    stream = comm.stream
    if stream is None:
        raise CommClosedError("the connection is closed")
    try:
        (size,) = struct.unpack("=Q", await stream.read_bytes(8))
        first = await _read_first(stream, size)
        message = decode(first)
    except OSError as error:
        comm.abort()
        raise CommClosedError(str(error)) from error
    except (ValueError, TypeError, RecursionError, struct.error, msgpack.UnpackException) as error:
        comm.abort()
        raise CommClosedError(f"invalid message: {error}") from error
    except BaseException:  # a message may be half read; Dask's own transports abort too
        comm.abort()
        raise
    return message


async def _read_first(stream: Any, size: int) -> memoryview:
    """Read a message of `size` bytes and the large parts after it; return its first part. Raises ValueError."""
    # At least the number of parts and the length of one, of eight bytes each.
    if not 16 <= size <= MAX_MESSAGE_BYTES:
        raise ValueError(f"{size} bytes")
    data = memoryview(await stream.read_bytes(size))
    (count,) = struct.unpack_from("=Q", data)
    if not 0 < count <= size // 8 - 1:
        raise ValueError(f"{count} parts")
    lengths = struct.unpack_from(f"={count}Q", data, 8)
    if sum(lengths) > MAX_MESSAGE_BYTES:
        raise ValueError(f"{sum(lengths)} bytes")
    first: memoryview | None = None
    place = 8 * (1 + count)
    for length in lengths:
        if place == size:  # large parts follow the message, one by one
            part = memoryview(await stream.read_bytes(length) if length else b"")
        elif place + length <= size:
            part = data[place : place + length]
            place += length
        else:
            raise ValueError("a part of the message is missing")
        first = part if first is None else first
    assert first is not None
    return first


class PlainTCP(TCP):  # type: ignore[misc]
    """A connection that reads plain data only."""

    async def read(self, *_: Any, **__: Any) -> Any:
        return await _read_plain(self)


class PlainTLS(TLS):  # type: ignore[misc]
    """An encrypted connection that reads plain data only."""

    async def read(self, *_: Any, **__: Any) -> Any:
        return await _read_plain(self)


class PlainConnector(TCPConnector):  # type: ignore[misc]
    """Opens connections that read plain data only."""

    prefix = "plain://"
    comm_class = PlainTCP


class PlainTLSConnector(TLSConnector):  # type: ignore[misc]
    """Opens encrypted connections that read plain data only."""

    prefix = "plains://"
    comm_class = PlainTLS


class PlainBackend(Backend):  # type: ignore[misc]
    """A Dask transport that can connect, but not listen; `addresses` is the transport that parses addresses for it."""

    def __init__(self, addresses: Backend, connector: type[TCPConnector | TLSConnector]) -> None:
        self._addresses, self._connector = addresses, connector

    def get_connector(self) -> TCPConnector | TLSConnector:
        return self._connector()

    def get_listener(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("the arena does not listen for Dask")

    def get_address_host(self, loc: str) -> str:
        return str(self._addresses.get_address_host(loc))

    def get_address_host_port(self, loc: str) -> Any:
        return self._addresses.get_address_host_port(loc)

    def resolve_address(self, loc: str) -> str:
        return str(self._addresses.resolve_address(loc))

    def get_local_address_for(self, loc: str) -> str:
        return str(self._addresses.get_local_address_for(loc))
