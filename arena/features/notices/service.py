"""Ask for digests by mail, confirm the address, and end them; add and remove devices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from yarl import URL

from arena.clock import now
from arena.documents.account import Identity
from arena.errors import BadValueError, ForbiddenError
from arena.features.notices.addresses import CONFIRM_LIFETIME, DigestAddresses, signature
from arena.features.notices.devices import PushDevices, digest_of_endpoint
from arena.features.notices.pusher import encrypted, is_possible, public_key
from arena.features.notices.tables import MAX_ENDPOINT, DigestAddress, PushDevice
from arena.log import logger
from arena.mail import MailError, MailServer
from arena.pages.language import LANGUAGES, marked
from arena.services.account import check_email
from arena.services.arena import Arena

CONFIRM_SUBJECT = marked("Bot arena: confirm your address")
CONFIRM_TEXT = marked(
    """\
%(user)s asked at %(arena)s for a mail a day to this address.

Confirm it within %(hours)s hours:
%(link)s

If that was not you, ignore this mail: no other follows.
"""
)


@dataclass(frozen=True, slots=True)
class PushSubscription:
    """A browser's address at its push service, and its keys in base64url, as its Push API returns them."""

    endpoint: str
    public_key: str
    secret: str


def address(arena: Arena, by: Identity) -> DigestAddress | None:
    """Return the caller's address for digests, confirmed or not; None if there is none."""
    return DigestAddresses(arena.store).of(by.user_id)


def ask(arena: Arena, by: Identity, email: str, language: str, translate: Callable[[str], str] = str) -> None:
    """Send a link to an address; who opens it confirms the address, and then gets digests in this language.

    For an address that is confirmed already, only the language changes. `translate` returns the text of the mail in
    the language of the person who asked. Raises BadValueError, ForbiddenError if the arena sends no mail, QuotaError
    after too many links, and MailError.
    """
    settings, email = arena.settings, email.strip()
    if not settings.smtp:
        raise ForbiddenError("this arena sends no mail", hint="ask its operator to name a mail server")
    if not email:
        raise BadValueError("no e-mail address was given", hint="write one such as ada@example.org", field="email")
    check_email(email)
    if language not in LANGUAGES:
        raise BadValueError(f"invalid language {language[:20]!r}", hint="choose from " + ", ".join(LANGUAGES))
    addresses = DigestAddresses(arena.store)
    if addresses.change_language(by.user_id, email, language):
        return
    row = addresses.ask(by.user_id, email, language)
    arena.note("user.digest", f"user:{by.name}", by, is_set=True)
    until = int((now() + CONFIRM_LIFETIME).timestamp())
    query = f"user={row.user_id}&until={until}&signature={signature(row, f'confirm {until}')}"
    values = {
        "user": by.name,
        "arena": settings.public_url,
        "hours": f"{CONFIRM_LIFETIME.total_seconds() / 3600:g}",
        "link": f"{settings.public_url}/notices/mail/confirm?{query}",
    }
    try:
        server = MailServer.read(settings.smtp)
        server.send(settings.mail_from, email, translate(CONFIRM_SUBJECT), translate(CONFIRM_TEXT) % values)
    except MailError as error:
        # Its own text names the mail server, which users need not know.
        logger("notices").error("no link sent", user=by.name, error=str(error))
        raise MailError("the mail server did not accept the mail", hint="check the address, or try later") from None


def confirm(arena: Arena, user_id: int, until: int, given: str) -> str:
    """Confirm the address of a signed link; return it. Raises BadValueError for an invalid link."""
    return DigestAddresses(arena.store).confirm(user_id, until, given, arena.settings.digest_hour_utc)


def by_link(arena: Arena, user_id: int, given: str) -> DigestAddress | None:
    """Return the address that the signed link of a digest removes; None if it is wrong or was removed already."""
    return DigestAddresses(arena.store).by_link(user_id, given)


def stop(arena: Arena, user_id: int, by: Identity | None) -> None:
    """Forget the address of a user, on behalf of the user or of who opens the signed link of a digest."""
    DigestAddresses(arena.store).remove(user_id)
    arena.note("user.digest", f"user:{arena.store.users.get(user_id).name}", by, is_set=False)


def devices(arena: Arena, by: Identity) -> list[PushDevice]:
    """Return the caller's devices, oldest first."""
    return PushDevices(arena.store).of(by.user_id)


def push_key(arena: Arena) -> str:
    """Return the key that a browser needs to become a device; empty if this arena sends nothing to devices."""
    return public_key(PushDevices(arena.store)) if is_possible(arena.settings) else ""


def add_device(arena: Arena, by: Identity, given: PushSubscription, language: str) -> None:
    """Add a browser of the caller, which is then sent notifications in this language.

    Raises BadValueError, ForbiddenError if this arena sends nothing to devices, and QuotaError.
    """
    if not is_possible(arena.settings):
        raise ForbiddenError("this arena sends nothing to devices", hint="ask its operator to set it up")
    try:
        address = URL(given.endpoint)
    except ValueError:
        address = URL()
    is_plain = address.scheme == "https" and address.host and ":" not in address.host and not address.user
    if not is_plain or len(given.endpoint) > MAX_ENDPOINT:
        raise BadValueError("invalid address of a device: expected https://HOST/PATH", field="endpoint")
    device = PushDevice(
        user_id=by.user_id,
        digest=digest_of_endpoint(given.endpoint),
        endpoint=given.endpoint,
        public_key=given.public_key[:100],
        secret=given.secret[:40],
        language=language,
        sent_until=now(),
        next_at=now(),
    )
    try:
        encrypted(device, b"")
    except ValueError as error:
        raise BadValueError(str(error), field="key") from None
    PushDevices(arena.store).add(device)
    arena.note("user.device-add", f"user:{by.name}", by, host=address.host)


def remove_device(arena: Arena, by: Identity, number: int) -> None:
    """Remove a device of the caller; does nothing if it is not there."""
    PushDevices(arena.store).remove(by.user_id, number)
    arena.note("user.device-remove", f"user:{by.name}", by)
