"""Errors as problem documents (RFC 9457): title, detail, hint, field, and a link to the documentation.

    Problem("not-found", 'no bot "zeta"', hint="did you mean zita?")

The kinds are those of `arena.errors`. All JSON of responses is written here, with bidirectional control characters
escaped so that users' texts cannot rearrange a page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aiohttp import web

from arena.plain_text import escape_bidi_controls
from referee.errors import KINDS, ArenaError, did_you_mean, kind_of_status, near

VERSION = "1"
PREFIX = f"/api/v{VERSION}"
DOCS = f"{PREFIX}/docs"
"""The page that documents the interface."""

OPENAPI: web.AppKey[Callable[[], dict[str, Any]]] = web.AppKey("openapi")
"""Returns the OpenAPI document of an application, as plain data. The first call takes half a second."""


def as_json(data: Any) -> str:
    """Return plain data as one line of JSON."""
    return escape_bidi_controls(json.dumps(data, separators=(",", ":"), ensure_ascii=False))


CONTENT_TYPE = "application/problem+json"


class Problem(ArenaError):  # noqa: N818 - the word of RFC 9457
    """An error that ends a request with a problem document. `extra` are further members, such as `near`."""

    def __init__(
        self,
        kind: str,
        detail: str,
        *,
        hint: str = "",
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(detail, hint=hint, field=field, **extra)
        self.kind, self.detail = kind, detail
        self.headers = dict(headers or {})

    @classmethod
    def of(cls, error: ArenaError) -> Problem:
        return cls(error.kind, str(error), hint=error.hint, field=error.field, **error.extra)

    def document(self) -> dict[str, Any]:
        """Return the members of the document, without empty ones."""
        docs = f"{DOCS}#problem-{self.kind}"
        members = {
            "type": docs,
            "title": KINDS[self.kind].title,
            "status": self.status,
            "detail": self.detail,
            "hint": self.hint,
            "field": self.field,
            "docs": docs,
            **self.extra,
        }
        return {name: value for name, value in members.items() if value not in ("", None, [])}

    def response(self, translate: Callable[[str], str] = str) -> web.Response:
        """Return the response; caches must not store it. `translate` is applied to its sentences."""
        document = self.document()
        document |= {name: translate(document[name]) for name in ("title", "detail", "hint") if name in document}
        return web.Response(
            status=self.status,
            body=as_json(document).encode("utf-8", "replace"),
            headers={"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store", **self.headers},
        )


def quoted(text: str, limit: int = 60) -> str:
    """Quote a client's text for an error message: printable, cut at `limit` characters."""
    clean = "".join(letter if letter.isprintable() else "�" for letter in text[: limit + 1])
    return f'"{clean[:limit]}…"' if len(clean) > limit else f'"{clean}"'


def not_found(what: str, name: str, known: Iterable[str] = ()) -> Problem:
    """Return the problem of an unknown name, with the nearest known ones."""
    found = near(name, known)
    return Problem("not-found", f"no {what} {quoted(name)}", hint=did_you_mean(found), near=found)


def too_many(wait: float) -> Problem:
    """Return the problem (429) of an exceeded rate limit."""
    seconds = max(1, int(wait + 0.999))
    return Problem(
        "too-many",
        f"too many requests; try again in {seconds} s",
        hint="wait for the time in Retry-After",
        headers={"Retry-After": str(seconds)},
    )


def from_http(error: web.HTTPException) -> Problem:
    """Convert aiohttp's own errors (unknown route, wrong method, body too large) to problems."""
    kind = kind_of_status(error.status)
    headers = {name: error.headers[name] for name in ("Allow", "Retry-After") if name in error.headers}
    detail = KINDS[kind].meaning
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        detail = error.text or detail
    return Problem(kind, detail, headers=headers)
