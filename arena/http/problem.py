"""Errors as RFC 9457 documents: what happened, where, what to do, and where it is explained.

    Problem("not-found", 'no bot "zeta"', hint="did you mean zita?")

Refuses to know any route.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

CONTENT_TYPE = "application/problem+json"
DOCS = "/api/v1/docs"


@dataclass(frozen=True, slots=True)
class ProblemType:
    """One kind of error: its status, its title, and what it means."""

    status: int
    title: str
    meaning: str


TYPES: Mapping[str, ProblemType] = {
    "bad-request": ProblemType(400, "The request cannot be read", "Not HTTP, not JSON or not text as promised."),
    "unauthorised": ProblemType(401, "Who are you?", "No token, or one that is unknown, expired or revoked."),
    "forbidden": ProblemType(403, "Not allowed", "The token's scopes or the user's role do not reach that far."),
    "not-found": ProblemType(404, "Not found", "No such thing; `near` lists the names most like it."),
    "method": ProblemType(405, "Not done this way", "The `Allow` header lists the methods of this address."),
    "not-acceptable": ProblemType(406, "No such form", "The `Accept` header names no form this address has."),
    "conflict": ProblemType(409, "The present state does not allow it", "`state` says what it is."),
    "too-large": ProblemType(413, "Too large", "`limit` says how many bytes are taken."),
    "too-long": ProblemType(414, "The address is too long", "No address needs more than 8,000 bytes."),
    "media-type": ProblemType(415, "Not in this form", "The body is of a type this address does not take."),
    "invalid": ProblemType(422, "The values cannot be used", "`field` names the first, `errors` lists all of them."),
    "too-many": ProblemType(429, "Too many requests", "`Retry-After` says in how many seconds there is room."),
    "internal": ProblemType(500, "A fault of this server", "It is in the server's log under `request`."),
    "unavailable": ProblemType(503, "Not just now", "The database or the disk does not answer; try again soon."),
}

_BY_STATUS = {kind.status: name for name, kind in TYPES.items()}


class Problem(Exception):  # noqa: N818 - the word of RFC 9457
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
        self.kind, self.detail, self.hint, self.field = kind, detail, hint, field
        self.headers = dict(headers or {})
        self.extra = extra
        super().__init__(detail)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return TYPES[self.kind].status

    def document(self) -> dict[str, Any]:
        """The members of the document; those without a value are left out."""
        docs = f"{DOCS}#problem-{self.kind}"
        members = {
            "type": docs,
            "title": TYPES[self.kind].title,
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
            body=json.dumps(self.document(), ensure_ascii=False).encode("utf-8", "replace"),
            headers={"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store", **self.headers},
        )


def near(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The known names most like `name`, best first."""
    names = {one.lower(): one for one in known}
    return [names[one] for one in difflib.get_close_matches(name.lower()[:100], list(names), n=limit, cutoff=0.5)]


def shown(text: str, limit: int = 60) -> str:
    """A text of the client, in quotes, fit to be said in an error."""
    clean = "".join(letter if letter.isprintable() else "�" for letter in text[: limit + 1])
    return f'"{clean[:limit]}…"' if len(clean) > limit else f'"{clean}"'


def not_found(what: str, name: str, known: Iterable[str] = ()) -> Problem:
    """The problem of a name that nothing has, with the nearest ones."""
    found = near(name, known)
    hint = "did you mean " + " or ".join(found) + "?" if found else ""
    return Problem("not-found", f"no {what} {shown(name)}", hint=hint, near=found)


def from_http(error: web.HTTPException) -> Problem:
    """aiohttp's own errors (no such route, method, body too large) as problems."""
    kind = _BY_STATUS.get(error.status, "bad-request" if error.status < 500 else "unavailable")
    headers = {name: error.headers[name] for name in ("Allow", "Retry-After") if name in error.headers}
    detail = TYPES[kind].meaning
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        detail = error.text or detail
    return Problem(kind, detail, headers=headers)
