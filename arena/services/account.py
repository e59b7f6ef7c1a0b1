"""Accounts: log-in with name and password, browser sessions, profiles, notices."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from arena.clock import now
from arena.credentials import check_password, digest_of, hash_password, new_secret, scopes_of, verify_password
from arena.documents.account import (
    MAX_ABOUT,
    MAX_EMAIL,
    MAX_LINK,
    Account,
    Identity,
    Notice,
    TokenItem,
    UserItem,
)
from arena.documents.bot import BotItem
from arena.errors import BadValueError, ForbiddenError, NotFoundError, UnauthorisedError
from arena.mail import is_mail_address
from arena.services.arena import Arena
from arena.store.people.login_attempts import BackoffPolicy
from referee.errors import ArenaError

_LINK = re.compile(
    r"https?://[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?([/?#][\w/?#%&=+~!$*,;:@.()-]*)?", re.ASCII | re.IGNORECASE
)
_PER_ORIGIN = BackoffPolicy(free=5, forgiven_s=600, longest_s=300)
"""Limit for wrong passwords for one name from one origin."""
_FREE_PER_ADDRESS, _FREE_PER_NAME = 20, 50
"""Wrong passwords without delay: from one address for all names, and for one name from all untrusted origins."""


@dataclass(frozen=True, slots=True)
class LoginOrigin:
    """Origin of a log-in: an IP address, and the device cookie of a browser that has logged in before."""

    address: str
    device: str = ""


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A browser's session: secret of its cookie, lifetime, and the value of the device cookie."""

    secret: str
    seconds: int
    device: str


class TooManyTriesError(ArenaError):
    """Too many wrong passwords; the next attempt is allowed in `wait_s` seconds."""

    kind = "too-many"

    def __init__(self, wait_s: float) -> None:
        self.wait_s = wait_s
        super().__init__("too many wrong passwords", hint="wait for the seconds in Retry-After")


def read(arena: Arena, by: Identity) -> Account:
    user, usage = arena.store.users.get(by.user_id), arena.store.bots.usage(by.user_id)
    email = arena.store.users.email(by.user_id)
    return Account(
        name=user.name,
        role=user.role,
        scopes=sorted(by.scopes),
        token=by.token_id,
        bots=usage.bots,
        versions=usage.versions,
        size_bytes=usage.size_bytes,
        about=user.about,
        link=user.link,
        email=email,
    )


@dataclass(frozen=True, slots=True)
class AccountDetails:
    """The caller's account with bots, tokens and notices, which were last marked as read at `read_until`."""

    account: Account
    bots: Sequence[BotItem]
    tokens: Sequence[TokenItem]
    notices: Sequence[Notice]
    read_until: datetime | None


def details(arena: Arena, by: Identity) -> AccountDetails:
    """Return the caller's account with bots, tokens and notices."""
    store = arena.store
    return AccountDetails(
        read(arena, by),
        store.bots.page(owner_id=by.user_id, with_retired=True, limit=200).items,
        store.users.tokens(by.user_id),
        store.notices.of(by.user_id),
        store.notices.read_until(by.user_id),
    )


def unread(arena: Arena, by: Identity) -> list[Notice]:
    """Return the caller's unread notices, latest first."""
    notices = arena.store.notices
    return notices.of(by.user_id, notices.read_until(by.user_id))


def mark_read(arena: Arena, by: Identity) -> None:
    arena.store.notices.mark_read(by.user_id)


def authenticate(arena: Arena, name: str, password: str, origin: LoginOrigin) -> Identity:
    """Check name and password and return the user's identity with all scopes of the role.

    Takes most of a second on one core, and 64 MiB. Wrong passwords delay further attempts, counted by name and origin,
    by address, and by name. The last two counters do not apply where the user has logged in before, so that an attacker
    cannot lock users out. Raises TooManyTriesError. Raises UnauthorisedError, which does not reveal whether name or
    password was wrong.
    """
    user = _find(arena, name)
    policies = _policies(arena, user, name, origin)
    # Counted before the check and given back after a success: parallel attempts cannot outrun the counter.
    if wait := arena.store.login_attempts.take(policies):
        raise TooManyTriesError(wait)
    # Also for an unknown name: the duration must not tell whether there is such a user.
    is_right = verify_password(arena.store.users.password_hash(name) if user else None, password)
    if not is_right or user is None or not user.is_active:
        arena.note("login.refused", f"user:{_shown(name)}", None)
        raise UnauthorisedError("no user with this name and password")
    arena.store.login_attempts.forget([key for key, policy in policies.items() if policy is _PER_ORIGIN])
    arena.store.login_attempts.give_back(policies)
    arena.store.trusted_devices.remember(user.id, _digests(origin))
    return Identity(user.id, user.name, user.role, scopes_of(user.role))


def log_in(arena: Arena, name: str, password: str, origin: LoginOrigin) -> BrowserSession:
    """Authenticate a user and start a browser session. Raises TooManyTriesError, UnauthorisedError."""
    trusted = _trusted(arena, origin)
    user = authenticate(arena, name, password, trusted)
    arena.note("login", f"user:{user.name}", user)
    return _session(arena, user, trusted)


def open_session(arena: Arena, user: Identity, origin: LoginOrigin) -> BrowserSession:
    """Start a browser session of a user who has just proved who they are, and trust its device."""
    trusted = _trusted(arena, origin)
    arena.store.trusted_devices.remember(user.user_id, _digests(trusted))
    return _session(arena, user, trusted)


def log_out(arena: Arena, secret: str) -> None:
    """End a session. Unknown sessions are ignored."""
    arena.store.users.end_login(digest_of(secret))


def change_password(
    arena: Arena, by: Identity, password: str, new: str, origin: LoginOrigin, *, revoke_tokens: bool = False
) -> BrowserSession:
    """Change the caller's password and end all their sessions, on request all tokens as well. Return a fresh session.

    `password` is the current one. Raises TooManyTriesError, ForbiddenError if the current password is wrong, and
    CredentialError if the new one is too weak.
    """
    check_password(new, by.name)
    _confirm(arena, by, password, origin)
    arena.store.users.change(by.name, password_hash=hash_password(new, by.name))
    arena.store.trusted_devices.forget(by.user_id)
    if revoke_tokens:
        arena.store.users.revoke_all(by.user_id)
    arena.note("user.password", f"user:{by.name}", by, revoke_tokens=revoke_tokens)
    return open_session(arena, by, LoginOrigin(origin.address))


def check_email(email: str) -> None:
    """Raise BadValueError unless the text is empty or an e-mail address."""
    if email and (len(email) > MAX_EMAIL or not is_mail_address(email)):
        raise BadValueError(
            f"invalid e-mail address {email[:60]!r}", hint="write one such as ada@example.org", field="email"
        )


def change_email(arena: Arena, by: Identity, password: str, email: str, origin: LoginOrigin) -> None:
    """Set or remove the caller's e-mail address, to which links to reset the password are sent.

    `password` is the current one. Raises TooManyTriesError, BadValueError, and ForbiddenError if the password is wrong.
    """
    email = email.strip()
    check_email(email)
    _confirm(arena, by, password, origin)
    arena.store.users.set_email(by.user_id, email)
    arena.note("user.email", f"user:{by.name}", by, is_set=bool(email))


def _confirm(arena: Arena, by: Identity, password: str, origin: LoginOrigin) -> None:
    """Check the caller's current password. Raises TooManyTriesError, ForbiddenError."""
    try:
        authenticate(arena, by.name, password, origin)
    except UnauthorisedError:
        raise ForbiddenError("wrong current password", field="password") from None


def update_profile(arena: Arena, by: Identity, about: str | None = None, link: str | None = None) -> Account:
    """Update the caller's profile. `None` leaves a field unchanged. Raises BadValueError."""
    user = arena.store.users.get(by.user_id)
    about, link = user.about if about is None else about.strip(), user.link if link is None else link.strip()
    if len(about) > MAX_ABOUT or any(unicodedata.category(letter) == "Cc" and letter != "\n" for letter in about):
        hint = f"write at most {MAX_ABOUT} printable characters"
        raise BadValueError("invalid profile text", hint=hint, field="about")
    if link and (len(link) > MAX_LINK or not _LINK.fullmatch(link)):
        hint = f"write one such as https://example.org/me, at most {MAX_LINK} characters"
        raise BadValueError(f"invalid link {link[:60]!r}: expected the address of a page", hint=hint, field="link")
    arena.store.users.describe(by.user_id, about, link)
    arena.note("user.describe", f"user:{by.name}", by)
    return read(arena, by)


def is_trusted_origin(arena: Arena, name: str, origin: LoginOrigin) -> bool:
    """Return whether the user of that name has logged in from this origin before."""
    user = _find(arena, name)
    return bool(user and arena.store.trusted_devices.known(user.id, _digests(origin)))


def _find(arena: Arena, name: str) -> UserItem | None:
    try:
        return arena.store.users.find(name) if name.isascii() and name.isprintable() else None
    except NotFoundError:
        return None


def _policies(arena: Arena, user: UserItem | None, name: str, origin: LoginOrigin) -> Mapping[str, BackoffPolicy]:
    """Return the counters of a log-in attempt, each with its backoff policy."""
    digests = _digests(origin)
    known = arena.store.trusted_devices.known(user.id, digests) if user else set()
    place = next((digest for digest in digests if digest in known), None)
    if place is not None:
        return {digest_of(f"place:{name}:{place}"): _PER_ORIGIN}
    forgiven_s = 60 / arena.settings.logins_per_minute
    return {
        digest_of(f"place:{name}:{digest_of(origin.address)}"): _PER_ORIGIN,
        digest_of(f"address:{origin.address}"): BackoffPolicy(_FREE_PER_ADDRESS, forgiven_s, 300),
        digest_of(f"name:{name}"): BackoffPolicy(_FREE_PER_NAME, forgiven_s, 60),
    }


def _digests(origin: LoginOrigin) -> list[str]:
    """Return the digests under which an origin is stored, the more reliable one first: of the device cookie, then of
    the address.
    """
    return [digest_of(mark) for mark in (origin.device, origin.address) if mark]


def _trusted(arena: Arena, origin: LoginOrigin) -> LoginOrigin:
    """Return the origin with a device cookie issued here: the browser's own if valid, else a fresh one."""
    is_ours = bool(origin.device) and arena.store.trusted_devices.is_known_to_any_user(digest_of(origin.device))
    return origin if is_ours else LoginOrigin(origin.address, new_secret())


def _session(arena: Arena, user: Identity, origin: LoginOrigin) -> BrowserSession:
    secret, hours = new_secret(), arena.settings.session_hours
    arena.store.users.add_login(user.user_id, digest_of(secret), new_secret(), now() + timedelta(hours=hours))
    return BrowserSession(secret, hours * 3600, origin.device)


def _shown(name: str) -> str:
    """Return a name from a log-in form as the audit log stores it."""
    return name if name.isprintable() else ascii(name)
