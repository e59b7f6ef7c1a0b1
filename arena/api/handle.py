"""Turns routes into aiohttp handlers: authentication, rate limits and validation, then the function, then its answer as
JSON.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Annotated, Any, get_args, get_origin

from aiohttp import web
from pydantic import ValidationError

from arena.api import idempotency
from arena.api.registry import Route
from arena.documents.query import PageResponse
from arena.documents.words import FORMS
from arena.http import response_cache
from arena.http.identity import cookie_name, identify
from arena.http.problem import PREFIX, Problem, quoted, too_many
from arena.http.request_context import CONTEXT, RequestContext, RouteResult, address_cost, require
from arena.http.upload import BODY_TIMEOUT_S, Upload, time_limit
from arena.plain_text import escape_bidi_controls
from referee.errors import did_you_mean, near
from referee.validation import Model, adapter_of, hints_of, misfits

MAX_BODY_BYTES = 2**20
JSON = "application/json"
_WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)


def bind(route: Route) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def handler(request: web.Request) -> web.StreamResponse:
        call = await _admit(route, request)
        context = call.context
        if route.is_public and call.accepts(JSON, *route.forms) == JSON:
            cookie = cookie_name(context.is_https)
            return await context.responses.answer(request, cookie, lambda: answered(request, call))
        if not route.forms:
            call.accepts(JSON)
        return await answered(request, call)

    async def answered(request: web.Request, call: RequestContext) -> web.StreamResponse:
        context = call.context
        arguments = _path(route, request)
        if route.query:
            arguments["query"] = read_query(route.query, request)
        elif request.query:
            raise _unknown_query(next(iter(request.query)), ())
        if route.takes_upload:
            arguments["upload"] = Upload(request, context.settings)
        elif route.body:
            content = await read_body(request)
            arguments["body"] = read_model(route.body, content)
            if route.is_idempotent:
                return await idempotency.once(
                    call, content, lambda: run(route, call, arguments), confides=route.confides
                )
        return await run(route, call, arguments)

    return handler


async def _admit(route: Route, request: web.Request) -> RequestContext:
    """Identify the caller and check rate limit and scope. Raises Problem."""
    context = request.app[CONTEXT]
    identity = await identify(request)
    call = RequestContext(request, context, identity)
    if wait := await context.limiters[route.cost].admit(call.key, address_cost(request)):
        raise too_many(wait)
    if route.scope:
        require(identity, route.scope)
    return call


async def run(route: Route, call: RequestContext, arguments: Mapping[str, Any]) -> web.StreamResponse:
    """Call the route's function and render its result."""
    result = await route.handler(call, **arguments)
    if isinstance(result, web.StreamResponse):
        return result
    given = result if isinstance(result, RouteResult) else RouteResult(result, status=route.status)
    is_private = given.is_private or route.scope is not None
    if isinstance(given.body, bytes):  # a file that takes long: its hash would hold the loop as well
        return await call.run(render, call.request, given, route.answer, is_private=is_private)
    return render(call.request, given, route.answer, is_private=is_private)


def render(request: web.Request, given: RouteResult[Any], model: Model | None, *, is_private: bool) -> web.Response:
    """Return an answer as JSON of the given model. A part of a list has a `Link` header to the next part."""
    headers = dict(given.headers)
    if isinstance(given.body, PageResponse) and given.body.next:
        target = request.rel_url.update_query(after=given.body.next)
        headers["Link"] = f'<{target}>; rel="next"'
    if given.body is None:
        return web.Response(status=given.status, headers={"Cache-Control": "no-store", **headers})
    body = (
        given.body
        if isinstance(given.body, bytes)
        else escape_bidi_controls(adapter_of(model).dump_json(given.body).decode()).encode()
    )
    keep = given.keep or ("revalidate" if request.method in ("GET", "HEAD") else "never")
    response = response_cache.respond(
        request, body, status=given.status, keep=keep, is_private=is_private, content_type=f"{JSON}; charset=utf-8"
    )
    response.headers.update(headers)
    return response


def _path(route: Route, request: web.Request) -> dict[str, Any]:
    """Return the path parameters. Raises Problem (404) for a value that is not a valid name."""
    values = {}
    for name, adapter in route.path_types.items():
        try:
            values[name] = adapter.validate_python(request.match_info[name])
        except ValidationError as error:
            raise _no_such_name(name, request.match_info[name], error) from None
    return values


def _no_such_name(what: str, name: str, error: ValidationError) -> Problem:
    """Return a 404 problem whose hint describes valid names."""
    pattern = str(error.errors(include_url=False)[0].get("ctx", {}).get("pattern"))
    hint = f"invalid name: {FORMS[pattern]}" if pattern in FORMS else "write a whole number from 1"
    return Problem("not-found", f"no {what} {quoted(name)}", hint=hint)


async def read_body(request: web.Request) -> bytes:
    """Read a JSON body. Raises Problem (413, 415, 400)."""
    kind = request.content_type
    if kind != JSON and not (kind.startswith("application/") and kind.endswith("+json")):
        raise Problem(
            "media-type", f"invalid content type {quoted(kind)}: expected JSON", hint=f"send Content-Type: {JSON}"
        )
    content = bytearray()
    try:
        async with time_limit(BODY_TIMEOUT_S):
            async for chunk in request.content.iter_any():
                content += chunk
                if len(content) > MAX_BODY_BYTES:
                    raise Problem(
                        "too-large", f"the body is too large: at most {MAX_BODY_BYTES:,} bytes", limit=MAX_BODY_BYTES
                    )
    except web.RequestPayloadError as error:
        raise Problem("bad-request", "the body is truncated, or its encoding does not match its headers") from error
    return bytes(content)


def read_model(model: Model, content: bytes) -> Any:
    """Validate a body. Raises Problem naming every invalid field."""
    try:
        # Otherwise pydantic takes "5" for a number and 1 for true.
        return adapter_of(model).validate_json(content, strict=True)
    except ValidationError as error:
        raise invalid(error, model) from None


def read_query(model: Model, request: web.Request) -> Any:
    """Validate the query string. Raises Problem for an unknown or wrongly repeated parameter or an invalid value."""
    given: dict[str, Any] = {}
    hints = hints_of(model)
    for name in request.query:
        if name not in hints:
            raise _unknown_query(name, tuple(hints))
        values = request.query.getall(name)
        kinds = _kinds(hints[name])
        is_list = list in kinds
        if len(values) > 1 and not is_list:
            raise Problem(
                "invalid", f"repeated parameter {name}: given {len(values)} times", field=name, hint="give it once"
            )
        given[name] = values if is_list else _plain(kinds, name, values[0])
    try:
        return adapter_of(model).validate_python(given)
    except ValidationError as error:
        raise invalid(error, model) from None


def _kinds(hint: Any) -> set[type]:
    """Return the plain types in an annotation, such as int and NoneType for `Annotated[int, …] | None`."""
    if get_origin(hint) is Annotated:
        return _kinds(get_args(hint)[0])
    if get_origin(hint) is list:
        return {list}
    if isinstance(hint, type):
        return {hint}
    return {kind for part in get_args(hint) for kind in _kinds(part)}


def _plain(kinds: set[type], name: str, value: str) -> Any:
    """Parse a value of the query string, written as in JSON (`5`, `true`). Raises Problem for any other spelling."""
    if bool in kinds:
        if value not in ("true", "false"):
            raise Problem("invalid", f"invalid {name} {quoted(value)}", field=name, hint="write true or false")
        return value == "true"
    if int in kinds:
        if not _WHOLE.fullmatch(value):
            raise Problem("invalid", f"invalid {name} {quoted(value)}", field=name, hint="write a whole number")
        return int(value)
    return value


def _unknown_query(name: str, known: tuple[str, ...]) -> Problem:
    similar = near(name, known)
    hint = did_you_mean(similar) or ("choose from " + ", ".join(known) if known else "remove it")
    return Problem("invalid", f"unknown parameter {quoted(name)}", field=name[:60], hint=hint, near=similar)


def invalid(error: ValidationError, model: Model) -> Problem:
    """Return the problem for a failed validation; its `errors` lists all invalid fields."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return Problem("bad-request", "the body is not valid JSON", hint="send one JSON object")
    faults = misfits(error, model, forms=FORMS)
    words = f"{faults[0].field or 'the body'}: {faults[0].problem}"
    return Problem(
        "invalid",
        words,
        hint=faults[0].hint,
        field=faults[0].field or None,
        errors=[{"field": fault.field, "message": fault.sentence} for fault in faults],
        near=list(faults[0].near),
    )


def mount(app: web.Application, routes: Iterable[Route], aliases: Mapping[str, str]) -> None:
    """Add the routes to an application, and the aliases of GET routes, such as `/bots/{bot}.json` for `/bots/{bot}`."""
    handlers = {}
    for route in routes:
        handler = bind(route)
        app.router.add_route(route.method, PREFIX + route.path, handler, name=route.name)
        if route.method == "GET":
            # aiohttp allows no slash in path parameters. HEAD gets the response of GET without the body.
            app.router.add_route("HEAD", PREFIX + route.path, handler)
            handlers[route.path] = handler
    for page, path in aliases.items():
        app.router.add_get(page, handlers[path])
