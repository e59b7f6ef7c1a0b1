"""Pages of notices outside the arena: what a user has chosen, and the links of mails."""

from __future__ import annotations

from functools import partial
from typing import Any

from aiohttp import web
from yarl import URL

from arena.features.notices import service
from arena.http.identity import session_of
from arena.http.request_context import CONTEXT, IDENTITY
from arena.pages import language
from arena.pages.page import (
    allow_parameters,
    arena_of,
    error_sentence,
    path_number,
    redirect,
    render,
    run_use_case,
)
from arena.pages.session import checked_form, own_form
from referee.errors import ArenaError

routes = web.RouteTableDef()


@routes.get("/notices")
@allow_parameters()
async def show(request: web.Request) -> web.Response:
    """Show what the user has chosen, or the log-in form."""
    if await session_of(request) is None:
        return redirect("/login?next=/notices")
    return await _show(request)


async def _show(request: web.Request, *, status: int = 200, **more: Any) -> web.Response:
    identity, arena = await session_of(request), arena_of(request)
    assert identity is not None
    row = await run_use_case(service.address, arena, identity)
    settings, devices = request.app[CONTEXT].settings, await run_use_case(service.devices, arena, identity)
    shown = {
        "can_mail": bool(settings.smtp),
        "row": row,
        "email": row.address if row else await run_use_case(arena.store.users.email, identity.user_id),
        "chosen": row.language if row else language.current(),
        "hour": settings.digest_hour_utc,
        "problem": "",
        "devices": [(device, URL(device.endpoint).host) for device in devices],
        "push_key": await run_use_case(service.push_key, arena),
        "device_problem": "",
    }
    return render(request, "notices/notices.html", status=status, keep="no-store", **(shown | more))


@routes.post("/notices/mail")
async def ask(request: web.Request) -> web.Response:
    """Send a link to the address that is to get digests."""
    fields = await checked_form(request)
    email, wish = fields.get("email", ""), fields.get("language", "")
    use_case = partial(service.ask, translate=language.text)
    try:
        with language.using(wish if wish in language.LANGUAGES else language.current()):
            await run_use_case(use_case, arena_of(request), request[IDENTITY], email, wish)
    except ArenaError as error:
        problem = error_sentence(error)
        return await _show(request, status=error.status, problem=problem, email=email[:254], chosen=wish)
    return redirect("/notices")


@routes.post("/notices/mail/end")
async def end(request: web.Request) -> web.Response:
    """End the user's digests, and forget the address."""
    await checked_form(request)
    await run_use_case(service.stop, arena_of(request), request[IDENTITY].user_id, request[IDENTITY])
    return redirect("/notices")


@routes.post("/notices/devices")
async def add_device(request: web.Request) -> web.Response:
    """Add the browser that sends this, by a script of the page."""
    fields = await checked_form(request)
    given = service.PushSubscription(*(fields.get(name, "") for name in ("endpoint", "key", "secret")))
    try:
        await run_use_case(service.add_device, arena_of(request), request[IDENTITY], given, language.current())
    except ArenaError as error:
        return await _show(request, status=error.status, device_problem=error_sentence(error))
    return redirect("/notices#devices")


@routes.post("/notices/devices/{number}/remove")
async def remove_device(request: web.Request) -> web.Response:
    """Remove a device of the user."""
    await checked_form(request)
    number = path_number(request, "number", "device")
    await run_use_case(service.remove_device, arena_of(request), request[IDENTITY], number)
    return redirect("/notices#devices")


@routes.get("/notices/mail/confirm")
@allow_parameters("user", "until", "signature")
async def offer_to_confirm(request: web.Request) -> web.Response:
    """Show a button that confirms an address: programs that look for malware open every link of a mail."""
    return _by_link(request, "confirm")


@routes.post("/notices/mail/confirm")
async def confirm(request: web.Request) -> web.Response:
    """Confirm the address of a signed link."""
    await own_form(request)
    user, until, given = _number(request, "user"), _number(request, "until"), request.query.get("signature", "")
    try:
        address = await run_use_case(service.confirm, arena_of(request), user, until, given[:100])
    except ArenaError as error:
        return _by_link(request, "failed", status=error.status, problem=error_sentence(error))
    return _by_link(request, "confirmed", address=address)


@routes.get("/notices/mail/stop")
@allow_parameters("user", "signature")
async def offer_to_stop(request: web.Request) -> web.Response:
    """Show a button that ends the digests to an address."""
    return _by_link(request, "stop")


@routes.post("/notices/mail/stop")
async def stop(request: web.Request) -> web.Response:
    """End the digests to the address of a signed link.

    Mail programs send this by themselves when their button is pressed (RFC 8058), so the signature alone decides.
    """
    user, arena = _number(request, "user"), arena_of(request)
    row = await run_use_case(service.by_link, arena, user, request.query.get("signature", "")[:100])
    if row is not None:
        await run_use_case(service.stop, arena, user, None)
    return _by_link(request, "stopped")


def _by_link(request: web.Request, state: str, *, status: int = 200, **more: Any) -> web.Response:
    shown = {"state": state, "address": "", "problem": ""}
    return render(request, "notices/link.html", status=status, keep="no-store", **(shown | more))


def _number(request: web.Request, name: str) -> int:
    text = request.query.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 11 else 0
