"""The registry of routes. Each route is a typed function; parameters, validation and documentation follow from its
types.

    @routes.get("/bots/{bot}", tag="bots", summary="Get a bot with its versions")
    async def show(call: RequestContext, bot: BotName) -> BotResponse: ...

Parameters named in the path are path parameters. `query`, `body` and the result are dataclasses of `arena.documents` or
pydantic models, `upload` is the body as a stream of bytes. `arena.api.handle` runs the routes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from arena.documents import words
from arena.documents.query import PageResponse
from referee.validation import Model, is_model

Number = Annotated[int, Field(**words.ID)]
FamilyName = Annotated[str, Field(**words.FAMILY)]
BotName = Annotated[str, Field(**words.NAME)]
UserName = BotName
GameId = Annotated[str, Field(**words.GAME)]
VariantName = Annotated[str, Field(**words.VARIANT)]
OneLine = Annotated[str, Field(**words.ONE_LINE)]
Prose = Annotated[str, Field(**words.PROSE)]
Sha256 = Annotated[str, Field(**words.SHA256)]


class In(BaseModel):
    """Base class of requests: unknown fields and implicit type conversions are rejected.

    The string below a field is its description in the reference.
    """

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


Handler: TypeAlias = Callable[..., Awaitable[Any]]
H = TypeVar("H", bound=Handler)
Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Cost: TypeAlias = Literal["read", "write", "upload"]
Scope: TypeAlias = Literal["read", "submit", "organise", "admin", "worker"]


@dataclass(frozen=True)
class Route:
    """One operation. `path` is relative to `/api/v1`.

    `scope` is the scope a caller needs, None for a public route. `forms` maps media types other than JSON to their
    meaning. `problems` lists kinds of errors beyond those that follow from the types. `example` is the address and the
    arguments of a runnable `curl` command. `confides` says whether the `request` or the `answer` contains a
    secret: the stored digest of such a request must not reveal it, and such an answer is sent only once.
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
        """The types of the handler's parameters and result."""
        return get_type_hints(self.handler, include_extras=True)

    @property
    def name(self) -> str:
        """The operation ID, such as `bots.show`; in the module `api` of a feature, after the feature."""
        return f"{self.handler.__module__.removesuffix('.api').rsplit('.', 1)[-1]}.{self.handler.__name__}"

    @property
    def description(self) -> str:
        """The handler's docstring."""
        return " ".join((self.handler.__doc__ or self.summary).split())

    @cached_property
    def path_types(self) -> dict[str, TypeAdapter[Any]]:
        names = [part[1:-1] for part in self.path.split("/") if part.startswith("{")]
        return {name: TypeAdapter(self.hints[name]) for name in names}

    @property
    def query(self) -> Model | None:
        return self.hints.get("query")

    @property
    def body(self) -> Model | None:
        return self.hints.get("body")

    @property
    def is_public(self) -> bool:
        """True if every reader gets the same document, so that it can be cached for all."""
        return self.method == "GET" and self.scope is None and self.answer is not None

    @property
    def takes_upload(self) -> bool:
        """True if the body is a file."""
        return "upload" in self.hints

    @property
    def answer(self) -> Model | None:
        """The model of the JSON response; None for a route without a JSON response."""
        models: list[Model] = []
        _collect(self.hints["return"], models)
        return models[0] if models else None


def _collect(hint: Any, models: list[Model]) -> None:
    """Collect the models in a type such as `RouteResult[BotResponse] | StreamResponse`."""
    if is_model(hint) or get_origin(hint) is PageResponse:
        models.append(hint)
    elif get_origin(hint) is not None:
        for part in get_args(hint):
            _collect(part, models)


class Routes:
    """Routes in the order of their declaration."""

    def __init__(self) -> None:
        self.table: list[Route] = []

    def add(self, method: Method, path: str, **words: Any) -> Callable[[H], H]:
        """Declare the decorated function as a route; `words` are further fields of `Route`."""

        def declare(handler: H) -> H:
            self.table.append(Route(method, path, handler, **words))
            return handler

        return declare

    def get(self, path: str, **words: Any) -> Callable[[H], H]:
        return self.add("GET", path, **words)

    def post(self, path: str, **words: Any) -> Callable[[H], H]:
        """Declare a route that creates or does something."""
        return self.add("POST", path, **{"cost": "write", **words})

    def put(self, path: str, **words: Any) -> Callable[[H], H]:
        """Declare a route that replaces an object."""
        return self.add("PUT", path, **{"cost": "write", **words})

    def patch(self, path: str, **words: Any) -> Callable[[H], H]:
        """Declare a route that changes an object."""
        return self.add("PATCH", path, **{"cost": "write", **words})

    def delete(self, path: str, **words: Any) -> Callable[[H], H]:
        return self.add("DELETE", path, **{"cost": "write", "status": 204, **words})
