"""Generates the OpenAPI 3.1 document from the table of routes and the types of their functions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any

from aiohttp import web
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from arena.api.idempotency import HEADER as IDEMPOTENCY
from arena.api.registry import Route
from arena.http import response_cache
from arena.http.problem import CONTENT_TYPE, OPENAPI, PREFIX
from referee.errors import KINDS
from referee.machine import source
from referee.validation import Model, adapter_of

_REF = "#/components/schemas/{model}"
_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "docs"],
    "properties": {
        "type": {"type": "string", "description": "URI of the kind of error, which leads to its explanation"},
        "title": {"type": "string", "description": "the kind of error in words"},
        "status": {"type": "integer", "description": "the status code of the response"},
        "detail": {"type": "string", "description": "what happened"},
        "hint": {"type": "string", "description": "what to do"},
        "field": {"type": "string", "description": "the invalid parameter or member of the body"},
        "docs": {"type": "string", "description": "the same as `type`"},
        "near": {"type": "array", "items": {"type": "string"}, "description": "known names similar to yours"},
        "state": {"type": "string", "description": "the present state, for a conflict"},
        "limit": {"type": "integer", "description": "the exceeded limit"},
        "errors": {
            "type": "array",
            "description": "all invalid fields of the request, each with `field` and `message`",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}
_ABOUT = """Tournaments and ratings of bots. Lists are `{items, next}`: pass `next` as \
`after` to get the next part. Responses to GET have an ETag, except for live data; finished games are immutable. \
Errors are problem documents (RFC 9457). Times are UTC."""


def mount(app: web.Application, routes: Iterable[Route]) -> None:
    """Serve the document at `/api/v1/openapi.json`; the application has its maker under the key `OPENAPI`.

    It is made for its first reader: a start should not wait for what most processes never show.
    """
    made: Callable[[], dict[str, Any]] = cache(partial(document, routes))
    app[OPENAPI] = made

    @cache
    def encoded() -> bytes:
        return json.dumps(made(), ensure_ascii=False, separators=(",", ":")).encode()

    async def show(request: web.Request) -> web.Response:
        body = await asyncio.to_thread(encoded)
        kind = "application/json; charset=utf-8"
        return response_cache.respond(request, body, status=200, keep="revalidate", is_private=False, content_type=kind)

    app.router.add_get(f"{PREFIX}/openapi.json", show)


def document(routes: Iterable[Route]) -> dict[str, Any]:
    """Return the whole document as plain data."""
    table = list(routes)
    schemas, definitions = _schemas(table)
    paths: dict[str, dict[str, Any]] = {}
    for route in table:
        paths.setdefault(PREFIX + route.path, {})[route.method.lower()] = _operation(route, schemas, definitions)
    whole: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "Bot arena",
            "version": source.release(),
            "description": _ABOUT,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": tag} for tag in dict.fromkeys(route.tag for route in table)],
        "paths": paths,
        "components": {
            "schemas": {**definitions, "Problem": _PROBLEM},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "`arena_` and 43 characters; scopes: read, submit, organise, admin, worker",
                }
            },
        },
    }
    return {key: _in_sentences(part) for key, part in whole.items()}


def _in_sentences(part: Any) -> Any:
    """Return a part of the document whose descriptions are sentences.

    Settings and documents are described by sentences already, fields and parameters by phrases: `arena --help` shows
    those of parameters as well.
    """
    if isinstance(part, Mapping):
        return {
            key: _sentence(value) if key == "description" and isinstance(value, str) else _in_sentences(value)
            for key, value in part.items()
        }
    return [*map(_in_sentences, part)] if isinstance(part, list) else part


def _sentence(text: str) -> str:
    """Return a phrase as a sentence; a text of several lines as it is."""
    if not text or "\n" in text:
        return text
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith(('.', ':')) else '.'}"


_Schemas = Mapping[tuple[Model, JsonSchemaMode], Mapping[str, Any]]


class _Schema(GenerateJsonSchema):
    """The schemas of the interface: every field of a response is required, since it is always sent."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        """Return whether a field is always present."""
        return self.mode == "serialization" or super().field_is_required(field, total)


def _schemas(table: list[Route]) -> tuple[_Schemas, dict[str, Any]]:
    wanted: dict[tuple[Model, JsonSchemaMode], None] = {}
    for route in table:
        modes: tuple[tuple[Model | None, JsonSchemaMode], ...] = (
            (route.query, "validation"),
            (route.body, "validation"),
            (route.answer, "serialization"),
        )
        for model, mode in modes:
            if model is not None:
                wanted[model, mode] = None
    inputs = [(model, mode, adapter_of(model)) for model, mode in wanted]
    schemas, top = TypeAdapter.json_schemas(inputs, ref_template=_REF, schema_generator=_Schema)
    return {(model, mode): schemas[model, mode] for model, mode in wanted}, dict(top.get("$defs", {}))


def _operation(route: Route, schemas: _Schemas, definitions: Mapping[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "tags": [route.tag],
        "summary": route.summary,
        "description": route.description + f"\n\n    {curl(route)}\n",
        "parameters": [*_path_parameters(route), *_query_parameters(route, schemas, definitions)],
        "responses": _responses(route, schemas),
    }
    if route.body:
        schema = schemas[route.body, "validation"]
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    elif route.takes_upload:
        operation["requestBody"] = {
            "required": True,
            "description": "an executable, a script with a shebang, or a zip or tar bundle with bot.toml",
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    if route.is_idempotent:
        operation["parameters"].append(
            {
                "name": IDEMPOTENCY,
                "in": "header",
                "required": False,
                "description": "a repeated request with the same key is executed once and gets the first response",
                "schema": {"type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[!-~]+$"},
            }
        )
    if route.scope:
        operation["security"] = [{"token": []}]
        operation["x-scope"] = route.scope
    return operation


def curl(route: Route) -> str:
    """Return a curl command for the operation, which reads $ARENA_SERVER and, where needed, $ARENA_TOKEN."""
    words = ["curl"]
    if route.method not in ("GET",):
        words.append(f"-X {route.method}")
    if route.scope:
        words.append('-H "Authorization: Bearer $ARENA_TOKEN"')
    if route.body:
        words.append("-H 'Content-Type: application/json'")
    target = route.example or PREFIX + route.path
    address, _, rest = target.partition(" ")
    words.append(f'"$ARENA_SERVER{address}"' + (f" {rest}" if rest else ""))
    return " ".join(words)


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": adapter.json_schema(ref_template=_REF)}
        for name, adapter in route.path_types.items()
    ]


def _query_parameters(route: Route, schemas: _Schemas, definitions: Mapping[str, Any]) -> list[dict[str, Any]]:
    if route.query is None:
        return []
    schema = _resolved(schemas[route.query, "validation"], definitions)
    required = schema.get("required", [])
    parameters = []
    for name, part in schema.get("properties", {}).items():
        plain = {key: value for key, value in _without_null(part).items() if key not in ("title", "description")}
        parameters.append(
            {
                "name": name,
                "in": "query",
                "required": name in required,
                **({"description": part["description"]} if "description" in part else {}),
                "schema": plain,
            }
        )
    return parameters


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = definitions[schema["$ref"].rsplit("/", 1)[-1]] if "$ref" in schema else schema
    return found


def _without_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema without null: a query parameter is present or absent."""
    options = [one for one in schema.get("anyOf", []) if one.get("type") != "null"]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    if schema.get("default") is not None:
        rest["default"] = schema["default"]
    return {**rest, **options[0]} if len(options) == 1 else {**rest, **({"anyOf": options} if options else {})}


def kinds_of(route: Route) -> list[str]:
    """Return the kinds of problems that a route may respond with, sorted by status."""
    kinds = {
        "too-many",
        "unavailable",
        "storage",
        "unauthorised",
        "not-acceptable",
        "invalid",
        "bad-request",
        "too-long",
    }
    kinds.update(route.problems)
    if route.scope or route.method != "GET":
        kinds.add("forbidden")
    if route.path_types:
        kinds.add("not-found")
    if route.body or route.takes_upload:
        kinds.add("too-large")
    if route.body:
        kinds.add("media-type")
    if route.is_idempotent:
        kinds.add("conflict")
    return sorted(kinds, key=lambda kind: KINDS[kind].status)


def _responses(route: Route, schemas: _Schemas) -> dict[str, Any]:
    good: dict[str, Any] = {"description": route.summary}
    content: dict[str, Any] = {}
    if route.answer:
        content["application/json"] = {"schema": schemas[route.answer, "serialization"]}
    for form, meaning in route.forms.items():
        content.setdefault(form, {"schema": {"type": "string", "description": meaning}})
    if content:
        good["content"] = content
    if route.status in (201, 202):
        good["headers"] = {"Location": {"description": "address of the created object", "schema": {"type": "string"}}}
    responses: dict[str, Any] = {str(route.status): good}
    if route.method == "GET":
        responses["304"] = {"description": "not modified since your ETag"}
    for kind in kinds_of(route):
        response: dict[str, Any] = {
            "description": KINDS[kind].title,
            "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        if kind in ("too-many",):
            response["headers"] = {"Retry-After": {"description": "seconds to wait", "schema": {"type": "integer"}}}
        responses[str(KINDS[kind].status)] = response
    return responses
