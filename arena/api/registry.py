"""The table of routes: each is a typed function, and everything else about it follows from its types and this table.

    @routes.get("/bots/{bot}", tag="bots", summary="One bot with its versions")
    async def show(call: Call, bot: BotName) -> BotResponse: ...

Parameters named in the path are path parameters; `query` and `body` are pydantic models; `upload` is the body as bytes
on their way. Refuses to know any route, and how a request is answered (see `arena.api.handle`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, TypeAdapter

Handler: TypeAlias = Callable[..., Awaitable[Any]]
H = TypeVar("H", bound=Handler)
Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Cost: TypeAlias = Literal["read", "write", "upload"]
Scope: TypeAlias = Literal["read", "submit", "organise", "admin", "worker"]


@dataclass(frozen=True)
class Route:
    """One operation. `path` is below `/api/v1`.

    `scope` is what the caller needs, None for everybody; `forms` are the media types it can answer in beside JSON, with
    what they hold; `problems` are the kinds of errors it has beyond those that follow from its types; `example` is the
    rest of a `curl` line that runs. `confides` says where a secret is in it: what is kept for a repeated request must
    not give it away, and an answer with a secret is not given twice.
    """

    method: Method
    path: str
    handler: Handler
    tag: str
    summary: str
    status: int = 200
    scope: Scope | None = None
    cost: Cost = "read"
    forms: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    is_idempotent: bool = False
    confides: Literal["", "request", "answer"] = ""
    example: str = ""

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The types of the handler's parameters and answer."""
        return get_type_hints(self.handler, include_extras=True)

    @property
    def name(self) -> str:
        """The operation's name: `bots.show`."""
        return f"{self.handler.__module__.rsplit('.', 1)[-1]}.{self.handler.__name__}"

    @property
    def description(self) -> str:
        """What the handler's docstring says."""
        return " ".join((self.handler.__doc__ or self.summary).split())

    @cached_property
    def path_types(self) -> dict[str, TypeAdapter[Any]]:
        """The path parameters with what they may be."""
        names = [part[1:-1] for part in self.path.split("/") if part.startswith("{")]
        return {name: TypeAdapter(self.hints[name]) for name in names}

    @property
    def query(self) -> type[BaseModel] | None:
        """The model of the query string."""
        return self.hints.get("query")

    @property
    def body(self) -> type[BaseModel] | None:
        """The model of a JSON body."""
        return self.hints.get("body")

    @property
    def is_public(self) -> bool:
        """Whether everybody who reads it gets the same document, so that it may be made once for all."""
        return self.method == "GET" and self.scope is None and self.answer is not None

    @property
    def takes_upload(self) -> bool:
        """Whether the body is a file."""
        return "upload" in self.hints

    @property
    def answer(self) -> type[BaseModel] | None:
        """The model of the JSON answer; None where there is none."""
        models: list[type[BaseModel]] = []
        _collect(self.hints["return"], models)
        return models[0] if models else None


def _collect(hint: Any, models: list[type[BaseModel]]) -> None:
    """The models in a type such as `Answer[Bot] | StreamResponse`."""
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        models.append(hint)
    elif get_origin(hint) is not None:
        for part in get_args(hint):
            _collect(part, models)


class Routes:
    """Routes in the order of their declaration."""

    def __init__(self) -> None:
        self.table: list[Route] = []

    def add(self, method: Method, path: str, **words: Any) -> Callable[[H], H]:
        """Declare the decorated function as a route; the words are those of `Route`."""

        def declare(handler: H) -> H:
            self.table.append(Route(method, path, handler, **words))
            return handler

        return declare

    def get(self, path: str, **words: Any) -> Callable[[H], H]:
        """A route that reads."""
        return self.add("GET", path, **words)

    def post(self, path: str, **words: Any) -> Callable[[H], H]:
        """A route that makes or does something."""
        return self.add("POST", path, **{"cost": "write", **words})

    def put(self, path: str, **words: Any) -> Callable[[H], H]:
        """A route that puts something whole in the place of another."""
        return self.add("PUT", path, **{"cost": "write", **words})

    def patch(self, path: str, **words: Any) -> Callable[[H], H]:
        """A route that changes something."""
        return self.add("PATCH", path, **{"cost": "write", **words})

    def delete(self, path: str, **words: Any) -> Callable[[H], H]:
        """A route that takes something away."""
        return self.add("DELETE", path, **{"cost": "write", "status": 204, **words})
