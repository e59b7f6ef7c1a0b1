"""A client of the JSON interface for the command line: requests, paginated lists, and streams that reconnect.

It uses the standard library only, so that commands start quickly.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote, urlencode, urlsplit

from referee.errors import ArenaError, Exit, kind_of_status

PREFIX = "/api/v1"
DEFAULT = "http://127.0.0.1:8000"
NDJSON = "application/x-ndjson"
_MAX_RETRIES = 5
"""Reconnects of a stream without a new event in between."""


class ClientError(ArenaError):
    """An error response of a server, in the server's own words, or no response at all."""

    def __init__(self, kind: str, message: str, *, hint: str = "", errors: list[dict[str, str]] | None = None) -> None:
        super().__init__(message, hint=hint, errors=errors or [])
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    data: dict[str, Any]


class ApiClient:
    """A client of one server, with the token that it sends."""

    def __init__(self, server: str, token: str | None = None, *, timeout: float = 30.0) -> None:
        try:
            parts = urlsplit(server if "://" in server else f"http://{server}")
            host, port = parts.hostname, parts.port
            is_address = parts.scheme in ("http", "https") and bool(host)
        except ValueError:
            is_address = False
        if not is_address or not host:
            raise ClientError(
                "invalid", f"invalid server address: {server}", hint="write http://HOST:PORT or https://HOST"
            )
        self.server = f"{parts.scheme}://{parts.netloc}"
        self._host, self._port, self._is_https = host, port, parts.scheme == "https"
        self.token = token
        self._timeout = timeout

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        file: BinaryIO | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a request; return the decoded response. Raises ClientError with the message and the kind of the problem
        document.
        """
        sent = dict(headers or {})
        content: Any = file
        if body is not None:
            content = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        elif file is not None:
            sent["Content-Type"] = "application/octet-stream"
            sent["Content-Length"] = str(os.fstat(file.fileno()).st_size)
        with self._opened(method, path, query, content, sent) as response:
            text = self._read(response)
            return Reply(response.status, dict(response.headers), json.loads(text) if text else {})

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        return self.ask("GET", path, query=query).data

    def pages(self, path: str, limit: int | None = None, **query: Any) -> Iterator[Any]:
        """Yield the items of a list, at most `limit`, fetching page by page."""
        left = limit
        after: str | None = None
        while left is None or left > 0:
            size = 200 if left is None else min(left, 200)
            page = self.get(path, **query, limit=size, after=after)
            yield from page["items"]
            after = page["next"]
            if after is None:
                return
            if left is not None:
                left -= len(page["items"])

    def whole(self, path: str, limit: int, **query: Any) -> dict[str, Any]:
        """Return the document of a list with at most `limit` items, fetching page by page."""
        page = self.get(path, **query, limit=min(limit, 200))
        items = list(page["items"])
        while page["next"] and len(items) < limit:
            page = self.get(path, **query, limit=min(limit - len(items), 200), after=page["next"])
            items += page["items"]
        return {**page, "items": items}

    def chunks(self, path: str, accept: str, **query: Any) -> Iterator[bytes]:
        with self._opened("GET", path, query, None, {"Accept": accept}) as response:
            while chunk := self._read(response, 64 * 1024):
                yield chunk

    def events(self, path: str, after: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield the events of a stream to its last one; an interrupted stream resumes after the last `seq`."""
        failures = 0
        while True:
            try:
                with self._opened("GET", path, {"after": after}, None, {"Accept": NDJSON}) as response:
                    for line in response:
                        if line.strip():
                            event = json.loads(line)
                            after, failures = event["seq"], 0
                            yield event
                            if event["event"] == "final":
                                return
            except (OSError, http.client.HTTPException, ValueError) as error:
                failures += 1
                if failures > _MAX_RETRIES:
                    raise self._unreachable(error) from None
            except ClientError as error:
                failures += 1
                if error.exit is not Exit.UNREACHABLE or failures > _MAX_RETRIES:
                    raise
            time.sleep(min(8.0, 0.25 * 2**failures))

    # -- the wire ----------------------------------------------------------------------------------------------------

    def _opened(
        self, method: str, path: str, query: Mapping[str, Any] | None, content: Any, headers: dict[str, str]
    ) -> _Response:
        given = [(name, value) for name, value in (query or {}).items() if value is not None]
        words = urlencode([(name, _word(value)) for name, value in given], doseq=True)
        target = PREFIX + quote(path, safe="/") + (f"?{words}" if words else "")
        headers = {"User-Agent": "arena", "Accept": "application/json", **headers}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if self._is_https:
            context = ssl.create_default_context()
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                self._host, self._port, timeout=self._timeout, context=context
            )
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        try:
            with contextlib.suppress(BrokenPipeError):  # rejected before the whole body was sent: the response says why
                connection.request(method, target, content, headers)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise self._unreachable(error) from None
        if response.status >= 400:
            with _Response(connection, response):
                raise self._problem(response)
        return _Response(connection, response)

    def _read(self, response: _Response, size: int | None = None) -> bytes:
        try:
            return response.read(size)
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from None

    def _unreachable(self, error: Exception) -> ClientError:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        hint = "is the server running? Another one: --server URL, or ARENA_SERVER=URL"
        return ClientError("unavailable", f"no answer from {self.server}: {reason}", hint=hint)

    def _problem(self, response: http.client.HTTPResponse) -> ClientError:
        try:
            problem = json.loads(response.read(256 * 1024))
            detail, hint = str(problem["detail"]), str(problem.get("hint", ""))
            errors = [
                {"field": str(fault["field"]), "message": str(fault["message"])} for fault in problem.get("errors", [])
            ]
        except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
            detail, hint, errors = f"{response.status} {response.reason}", "is this an arena server?", []
        if response.status == 401 and self.token is None:
            hint = f"log in: `arena login --server {self.server}`"
        wait = response.headers.get("Retry-After")
        if response.status == 429 and wait and wait not in detail:
            hint = f"try again in {wait} s"
        return ClientError(kind_of_status(response.status), detail, hint=hint, errors=errors)


class _Response:
    """An open response with its connection; both are closed together."""

    def __init__(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        self._connection, self._response = connection, response
        self.status, self.headers = response.status, response.headers

    def read(self, size: int | None = None) -> bytes:
        # `read` would wait until a whole chunk has arrived.
        return self._response.read() if size is None else self._response.read1(size)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._response)

    def __enter__(self) -> _Response:
        return self

    def __exit__(self, *_: object) -> None:
        self._response.close()
        self._connection.close()


def _word(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return list(value) if isinstance(value, tuple) else value


# -- stored tokens -----------------------------------------------------------------------------------------------------


_LOG_IN_AGAIN = "remove it and log in again"


def keyring() -> Path:
    """Return the file with the servers and tokens of this user."""
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "arena" / "login.json"


def read_keys() -> dict[str, Any]:
    """Return `{"server": that of the latest login, "tokens": {server: token}}`; without a file both are empty.

    Raises ClientError.
    """
    try:
        keys = json.loads(keyring().read_text(encoding="utf-8"))
    except FileNotFoundError:
        keys = {}
    except (OSError, ValueError) as error:
        raise ClientError("invalid", f"{keyring()}: cannot be read: {error}", hint=_LOG_IN_AGAIN) from None
    if not isinstance(keys, dict) or not isinstance(keys.get("tokens", {}), dict):
        raise ClientError("invalid", f"{keyring()}: not a file of `arena login`", hint=_LOG_IN_AGAIN)
    return {"server": keys.get("server"), "tokens": keys.get("tokens", {})}


def change_keys(change: Callable[[dict[str, Any]], None]) -> None:
    """Change the file of servers and tokens, which only its owner can read."""
    keys = read_keys()
    change(keys)
    path = keyring()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_suffix(".new")
    # An existing file would keep its rights, whatever mode is given to open.
    fresh.unlink(missing_ok=True)
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(keys, file, indent=1)
    os.replace(fresh, path)
