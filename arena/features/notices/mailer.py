"""The work of the coordinator on notices: send digests and pushes, and forget who does not want them any more.

Digests are sent in a thread of their own, so that a slow mail server delays nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime, timedelta

from arena.clock import now
from arena.config import Settings
from arena.coordinator.background import Background, Conditions
from arena.coordinator.context import CoordinatorContext
from arena.coordinator.maintenance import Task
from arena.features.notices.addresses import DigestAddresses, next_digest, signature
from arena.features.notices.devices import PushDevices
from arena.features.notices.pusher import DevicePusher, is_possible
from arena.features.notices.tables import DigestAddress
from arena.log import logger
from arena.mail import MailError, MailLostError, MailRefusedError, MailServer
from arena.store import Store

AT_ONCE = 50
"""Maximum of digests in a round."""
SETTLED = timedelta(minutes=5)
"""Time after which what happened is in the database: a digest tells what is older."""


class DigestMailer:
    """Writes the digests that are due, and sends them."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store, self._settings = store, settings
        self._addresses = DigestAddresses(store)
        self._log = logger("notices")

    def work(self, stop: threading.Event) -> bool:
        """Send the digests that are due; return whether there may be more."""
        due = self._addresses.due(AT_ONCE)
        for row, name in due:
            if stop.is_set() or not self._tell(row, name):
                return False
        return len(due) == AT_ONCE

    def _tell(self, row: DigestAddress, name: str) -> bool:
        """Send one digest, if there is anything to say; return whether the mail server takes others."""
        from arena.features.notices.digest import DigestWriter
        from arena.pages import language

        until, since = now() - SETTLED, row.told_until or now()
        # First, so that neither a crash nor a digest that cannot be written keeps the others waiting.
        if not self._addresses.claim(row, until, next_digest(now(), self._settings.digest_hour_utc)):
            return True
        with language.using(row.language):
            digest = DigestWriter(self._store, self._settings.public_url).write(row.user_id, since, until)
            if digest is None:
                return True
            text = _whole(row, name, digest.text, since, self._settings.public_url)
        try:
            server = MailServer.read(self._settings.smtp)
            headers = unsubscribe_headers(row, self._settings.public_url)
            server.send(self._settings.mail_from, row.address, digest.subject, text, headers)
        except MailLostError as error:
            self._log.error("digest may be lost", user=name, error=str(error))
            return False
        except MailError as error:
            self._addresses.give_back(row, until, str(error))
            self._log.error("digest failed", user=name, error=str(error))
            return isinstance(error, MailRefusedError)
        self._log.info("digest sent", user=name)
        return True


def _whole(row: DigestAddress, name: str, news: str, since: datetime, public_url: str) -> str:
    """Return the text of a mail in the current language."""
    from arena.pages import language
    from arena.pages.language import text

    values = {
        "user": name,
        "when": f"{language.date(since)} UTC",
        "arena": public_url,
        "choose": f"{public_url}/notices",
        "stop": unsubscribe_link(row, public_url),
    }
    head = text("Hello %(user)s, this is new since %(when)s:") % values
    foot = text("You asked for a mail a day at %(arena)s, and get none when there is nothing to say.") % values
    links = [text("Change this: %(choose)s") % values, text("No more mails: %(stop)s") % values]
    return "\n".join([head, "", news, "-- ", foot, *links, ""])


def unsubscribe_link(row: DigestAddress, public_url: str) -> str:
    """Return the link that removes an address; it works as long as the address is not replaced."""
    return f"{public_url}/notices/mail/stop?user={row.user_id}&signature={signature(row, 'stop')}"


def unsubscribe_headers(row: DigestAddress, public_url: str) -> dict[str, str]:
    """Return the headers by which mail programs offer to unsubscribe with one click (RFC 8058)."""
    return {
        "List-Unsubscribe": f"<{unsubscribe_link(row, public_url)}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "List-Id": f"Bot arena <digest.{public_url.partition('://')[2].partition('/')[0].partition(':')[0]}>",
    }


DIGEST_INTERVAL_S = 60.0
PUSH_INTERVAL_S = 30.0


def background(context: CoordinatorContext, conditions: Conditions) -> Iterator[Background]:
    """Yield the work that sends digests, if the settings name a mail server, and to devices, if that is possible."""
    store, settings = context.store, context.settings
    if settings.smtp:
        yield Background("digests", DIGEST_INTERVAL_S, DigestMailer(store, settings).work, conditions)
    if is_possible(settings):
        yield Background("pushes", PUSH_INTERVAL_S, DevicePusher(store, settings).work, conditions)


def tasks(store: Store) -> Iterator[Task]:
    """Yield the daily task that forgets addresses that were not confirmed, and what disabled accounts have."""
    yield Task("notices", 0, lambda _: DigestAddresses(store).forget() + PushDevices(store).forget())
