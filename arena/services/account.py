"""Who somebody is: a name and a password, and the session of a browser."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from arena.errors import ArenaError, ForbiddenError, UnauthorisedError
from arena.services.arena import Arena
from arena.store import BadValueError, Identity, NotFoundError
from arena.store.base.credentials import (
    check_password,
    digest_of,
    hash_password,
    new_secret,
    scopes_of,
    verify_password,
)
from arena.store.base.models import MAX_ABOUT, MAX_LINK, User, now
from arena.store.people.login_attempts import Patience

_LINK = re.compile(
    r"https?://[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?([/?#][\w/?#%&=+~!$*,;:@.()-]*)?", re.ASCII | re.IGNORECASE
)
_OF_A_PLACE = Patience(free=5, forgiven_s=600, longest_s=300)
"""Wrong tries for one name from one place."""
_FREE_OF_AN_ADDRESS, _FREE_OF_A_NAME = 20, 50
"""Wrong tries of one address for all names, and for one name from all places that are not known."""


@dataclass(frozen=True, slots=True)
class Place:
    """From where somebody logs in: an address, and what the cookie of a browser says that has logged in before."""

    address: str
    device: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """A browser's session: what its cookie holds, and for how long; and the mark by which the browser is known."""

    secret: str
    seconds: int
    device: str


class TooManyTriesError(ArenaError):
    """Too many wrong passwords: the next one may be tried in `wait_s` seconds."""

    kind = "too-many"

    def __init__(self, wait_s: float) -> None:
        self.wait_s = wait_s
        super().__init__("too many wrong passwords", hint="wait as long as Retry-After says")


def authenticate(arena: Arena, name: str, password: str, place: Place) -> Identity:
    """Who has this name and this password, with all that the role allows; takes most of a second of a core, and 64 MiB.

    Wrong tries make further ones wait, by name and place, by address, and by name: the latter two not where the user
    has logged in before, so that nobody is shut out by what others do. Raises TooManyTriesError, and
    UnauthorisedError without saying which of name and password was wrong.
    """
    user = _find(arena, name)
    patience = _patience(arena, user, name, place)
    if wait := arena.store.guesses.take(patience):
        raise TooManyTriesError(wait)
    is_right = verify_password(user.password_hash if user else None, password)
    if not is_right or user is None or not user.is_active:
        arena.note("login.refused", f"user:{_shown(name)}", None)
        raise UnauthorisedError("no user with this name and password")
    assert user.id is not None
    arena.store.guesses.forget([key for key, one in patience.items() if one is _OF_A_PLACE])
    arena.store.guesses.give_back(patience)
    arena.store.known_places.remember(user.id, _digests(place))
    return Identity(user.id, user.name, user.role, scopes_of(user.role))


def log_in(arena: Arena, name: str, password: str, place: Place) -> Session:
    """A fresh session of a user. Raises TooManyTriesError, UnauthorisedError."""
    trusted = _trusted(arena, place)
    user = authenticate(arena, name, password, trusted)
    arena.note("login", f"user:{user.name}", user)
    return _session(arena, user, trusted)


def log_out(arena: Arena, secret: str) -> None:
    """End a session; one that is none is as good as ended."""
    arena.store.users.end_login(digest_of(secret))


def change_password(
    arena: Arena, by: Identity, password: str, new: str, place: Place, *, revoke_tokens: bool = False
) -> Session:
    """Another password for who asks, who knows the present one. All sessions end, and on request all tokens.

    What comes back is a fresh session. Raises TooManyTriesError, ForbiddenError for a wrong password and
    CredentialError for a new one that is too weak.
    """
    check_password(new, by.name)
    try:
        authenticate(arena, by.name, password, place)
    except UnauthorisedError:
        raise ForbiddenError("that is not your present password", field="password") from None
    arena.store.users.change(by.name, password_hash=hash_password(new, by.name))
    arena.store.known_places.forget(by.user_id)
    if revoke_tokens:
        arena.store.users.revoke_all(by.user_id)
    arena.note("user.password", f"user:{by.name}", by, revoke_tokens=revoke_tokens)
    trusted = _trusted(arena, Place(place.address))
    arena.store.known_places.remember(by.user_id, _digests(trusted))
    return _session(arena, by, trusted)


def describe(arena: Arena, by: Identity, about: str | None = None, link: str | None = None) -> User:
    """What who asks says of himself on his page; None stays. Raises BadValueError."""
    user = arena.store.users.get(by.user_id)
    about, link = user.about if about is None else about.strip(), user.link if link is None else link.strip()
    if len(about) > MAX_ABOUT or any(unicodedata.category(letter) == "Cc" and letter != "\n" for letter in about):
        hint = f"write at most {MAX_ABOUT} printable characters"
        raise BadValueError("that cannot be said of anybody", hint=hint, field="about")
    if link and (len(link) > MAX_LINK or not _LINK.fullmatch(link)):
        hint = f"write one such as https://example.org/me, at most {MAX_LINK} characters"
        raise BadValueError("that is no address of a page", hint=hint, field="link")
    arena.store.users.describe(by.user_id, about, link)
    arena.note("user.describe", f"user:{by.name}", by)
    return arena.store.users.get(by.user_id)


def is_known_place(arena: Arena, name: str, place: Place) -> bool:
    """Whether the user of that name has logged in from there before."""
    user = _find(arena, name)
    return bool(user and user.id and arena.store.known_places.known(user.id, _digests(place)))


def _find(arena: Arena, name: str) -> User | None:
    try:
        return arena.store.users.find(name) if name.isascii() and name.isprintable() else None
    except NotFoundError:
        return None


def _patience(arena: Arena, user: User | None, name: str, place: Place) -> Mapping[str, Patience]:
    """What a try is counted by, and how much of it is borne."""
    digests = _digests(place)
    known = arena.store.known_places.known(user.id, digests) if user and user.id else set()
    found = next((digest for digest in digests if digest in known), None)
    if found is not None:
        return {digest_of(f"place:{name}:{found}"): _OF_A_PLACE}
    forgiven_s = 60 / arena.settings.logins_per_minute
    return {
        digest_of(f"place:{name}:{digest_of(place.address)}"): _OF_A_PLACE,
        digest_of(f"address:{place.address}"): Patience(_FREE_OF_AN_ADDRESS, forgiven_s, 300),
        digest_of(f"name:{name}"): Patience(_FREE_OF_A_NAME, forgiven_s, 60),
    }


def _digests(place: Place) -> list[str]:
    """What is stored of a place, the surer mark first."""
    return [digest_of(mark) for mark in (place.device, place.address) if mark]


def _trusted(arena: Arena, place: Place) -> Place:
    """The place with a mark that we have given out: the one that came if it is ours, else a fresh one."""
    is_ours = bool(place.device) and arena.store.known_places.is_anybodys(digest_of(place.device))
    return place if is_ours else Place(place.address, new_secret())


def _session(arena: Arena, user: Identity, place: Place) -> Session:
    secret, hours = new_secret(), arena.settings.session_hours
    arena.store.users.add_login(user.user_id, digest_of(secret), new_secret(), now() + timedelta(hours=hours))
    return Session(secret, hours * 3600, place.device)


def _shown(name: str) -> str:
    """A name that somebody typed, as the audit log holds it."""
    return name if name.isprintable() else ascii(name)
