"""Registration, invitations, and new passwords by a secret link. Links are stored as digests and expire."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from arena.clock import now
from arena.credentials import check_password, digest_of, hash_password, new_secret, read_name, scopes_of
from arena.documents.account import AccountLinkResponse, Identity, UserItem
from arena.errors import BadValueError, ForbiddenError, NotFoundError, TakenError
from arena.log import logger
from arena.mail import MailError, MailServer
from arena.services.account import BrowserSession, LoginOrigin, check_email, open_session
from arena.services.arena import Arena

INVITATION_DAYS = 14
"""Default lifetime of an invitation."""
MAX_INVITATION_DAYS, MAX_USES = 365, 1000
INVITED_ROLES = ("author", "organiser")
RESET_LIFETIME = timedelta(hours=24)
MAX_RESETS = 3
"""Maximum number of valid links that users have requested to reset one password."""
RESET_SUBJECT = "Bot arena: set a new password"
RESET_TEXT = """\
A new password was requested for your account %(user)s.

Set it here within %(hours)s hours:
%(link)s

If you did not request it, ignore this mail: your password stays as it is.
"""


def is_open(arena: Arena, invitation: str = "") -> bool:
    """Return whether a person may register, with or without the secret of an invitation."""
    return arena.settings.registration == "open" or (
        arena.settings.registration == "invite" and arena.store.account_links.find(digest_of(invitation)) is not None
    )


def invite(arena: Arena, role: str, uses: int, days: int, by: Identity | None) -> AccountLinkResponse:
    """Create an invitation for `uses` accounts, on behalf of an admin or the operator. Raises BadValueError."""
    if role not in INVITED_ROLES:
        raise BadValueError(f"invalid role {role[:20]!r}", hint="choose from " + ", ".join(INVITED_ROLES), field="role")
    if not 1 <= uses <= MAX_USES:
        raise BadValueError(f"invalid number of uses {uses}: expected 1 to {MAX_USES}", field="uses")
    if not 1 <= days <= MAX_INVITATION_DAYS:
        raise BadValueError(f"invalid lifetime {days}: expected 1 to {MAX_INVITATION_DAYS} days", field="days")
    if arena.settings.registration == "closed":
        raise ForbiddenError("registration is closed", hint="set registration to invite or open")
    secret, expires = new_secret(), now() + timedelta(days=days)
    arena.store.account_links.add(digest_of(secret), expires, role=role, uses=uses)
    arena.note("user.invite", "users", by, role=role, uses=uses, days=days)
    return AccountLinkResponse(_address(arena, f"/register?invitation={secret}"), expires)


def register(
    arena: Arena, name: str, password: str, origin: LoginOrigin, *, email: str = "", invitation: str = ""
) -> BrowserSession:
    """Create the account of a person, who is then logged in; takes most of a second.

    Raises ForbiddenError, CredentialError, BadValueError, and TakenError.
    """
    store, digest = arena.store, digest_of(invitation)
    link = store.account_links.find(digest) if invitation else None
    if link is not None and link.user_id is not None:
        link = None
    if arena.settings.registration == "closed" or (arena.settings.registration == "invite" and link is None):
        raise ForbiddenError("registration needs a valid invitation", hint="ask the operator for a link")
    read_name(name, "user")
    check_email(email)
    hashed = hash_password(password, name)
    # Taken last: a name or a password that is refused must not use up the invitation.
    if link is not None and not store.account_links.take(digest):
        raise ForbiddenError("the invitation has been used up", hint="ask the operator for another link")
    try:
        user = store.users.add(name, link.role if link else "author", hashed, email=email)
    except TakenError:
        if link is not None:
            store.account_links.give_back(digest)
        raise
    identity = Identity(user.id, user.name, user.role, scopes_of(user.role))
    arena.note("user.register", f"user:{user.name}", identity, role=user.role, is_invited=link is not None)
    return open_session(arena, identity, origin)


def make_reset_link(arena: Arena, name: str, by: Identity | None) -> AccountLinkResponse:
    """Create a link with which a user sets a new password, on behalf of an admin or the operator.

    Raises NotFoundError.
    """
    user = arena.store.users.find(name)
    arena.note("user.reset-link", f"user:{user.name}", by)
    return _reset_link(arena, user)


def request_reset(arena: Arena, name_or_email: str, translate: Callable[[str], str] = str) -> None:
    """Send the users of that name or address, if there are any, a mail with a link that sets a new password.

    `translate` returns `RESET_SUBJECT` and `RESET_TEXT` in the language of the person who asked. Run this in the
    background: neither its result nor its duration may reveal whether an account exists.
    """
    log = logger("mail")
    for user, email in _with_email(arena, name_or_email):
        if arena.store.account_links.count_resets(user.id, now() - RESET_LIFETIME) >= MAX_RESETS:
            continue
        link = _reset_link(arena, user)
        arena.note("user.reset-mail", f"user:{user.name}", None)
        hours = f"{RESET_LIFETIME.total_seconds() / 3600:g}"
        text = translate(RESET_TEXT) % {"user": user.name, "hours": hours, "link": link.link}
        try:
            server = MailServer.read(arena.settings.smtp)
            server.send(arena.settings.mail_from, email, translate(RESET_SUBJECT), text)
        except MailError as error:
            log.error("mail failed", user=user.name, error=str(error))


def _with_email(arena: Arena, name_or_email: str) -> list[tuple[UserItem, str]]:
    users = arena.store.users
    if "@" in name_or_email:
        return [(user, name_or_email) for user in users.with_email(name_or_email) if user.is_active]
    try:
        user = users.find(name_or_email)
    except NotFoundError:
        return []
    email = users.email(user.id)
    return [(user, email)] if email and user.is_active else []


def _reset_link(arena: Arena, user: UserItem) -> AccountLinkResponse:
    secret, expires = new_secret(), now() + RESET_LIFETIME
    arena.store.account_links.add(digest_of(secret), expires, user_id=user.id)
    return AccountLinkResponse(_address(arena, f"/reset?secret={secret}"), expires)


def resets(arena: Arena, secret: str) -> str:
    """Return the name of the user whose password a link resets. Raises BadValueError for an invalid link."""
    link = arena.store.account_links.find(digest_of(secret))
    if link is None or link.user_id is None:
        raise BadValueError("this link is invalid or has expired", hint="request another one")
    return arena.store.users.get(link.user_id).name


def reset(arena: Arena, secret: str, password: str, *, revoke_tokens: bool = False) -> None:
    """Set the password of the link's user, end all their sessions, and on request revoke their tokens.

    Raises BadValueError for an invalid link, CredentialError for a weak password.
    """
    name = resets(arena, secret)
    check_password(password, name)
    hashed = hash_password(password, name)
    if not arena.store.account_links.take(digest_of(secret)):
        raise BadValueError("this link is invalid or has expired", hint="request another one")
    user = arena.store.users.change(name, password_hash=hashed)
    arena.store.account_links.forget(user.id)
    arena.store.trusted_devices.forget(user.id)
    if revoke_tokens:
        arena.store.users.revoke_all(user.id)
    arena.note("user.password-reset", f"user:{name}", None, revoke_tokens=revoke_tokens)


def _address(arena: Arena, path: str) -> str:
    return f"{arena.settings.public_url.rstrip('/')}{path}"
