"""Errors as RFC 9457 documents: what happened, where, what to do, and where it is explained.

    Problem("not-found", 'no bot "zeta"', hint="did you mean zita?")

The kinds are those of `arena.errors`. Refuses to know any route.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aiohttp import web

from arena.errors import KINDS, ArenaError, did_you_mean, kind_of_status, near
from arena.http.api_paths import DOCS
from arena.http.json_text import as_json

CONTENT_TYPE = "application/problem+json"


class Problem(ArenaError):  # noqa: N818 - the word of RFC 9457
    """Ends a request with a problem document. `extra` are further members of it, such as `near` or `limit`."""

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
        """The problem an error of the arena is."""
        return cls(error.kind, str(error), hint=error.hint, field=error.field, **error.extra)

    def document(self) -> dict[str, Any]:
        """The members of the document; those without a value are left out."""
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

    def response(self) -> web.Response:
        """The answer, never to be cached."""
        return web.Response(
            status=self.status,
            body=as_json(self.document()).encode("utf-8", "replace"),
            headers={"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store", **self.headers},
        )


def quoted(text: str, limit: int = 60) -> str:
    """A text of the client, in quotes, fit to be said in an error."""
    clean = "".join(letter if letter.isprintable() else "�" for letter in text[: limit + 1])
    return f'"{clean[:limit]}…"' if len(clean) > limit else f'"{clean}"'


def not_found(what: str, name: str, known: Iterable[str] = ()) -> Problem:
    """The problem of a name that nothing has, with the nearest ones."""
    found = near(name, known)
    return Problem("not-found", f"no {what} {quoted(name)}", hint=did_you_mean(found), near=found)


def too_many(wait: float) -> Problem:
    """The problem of an empty bucket."""
    seconds = max(1, int(wait + 0.999))
    return Problem(
        "too-many",
        f"too many requests; there is room again in {seconds} s",
        hint="wait as long as Retry-After says",
        headers={"Retry-After": str(seconds)},
    )


def from_http(error: web.HTTPException) -> Problem:
    """aiohttp's own errors (no such route, method, body too large) as problems."""
    kind = kind_of_status(error.status)
    headers = {name: error.headers[name] for name in ("Allow", "Retry-After") if name in error.headers}
    detail = KINDS[kind].meaning
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        detail = error.text or detail
    return Problem(kind, detail, headers=headers)
