"""The work of the coordinator on notices: send digests and pushes, and forget who does not want them any more."""

from __future__ import annotations

from collections.abc import Iterator

from arena.coordinator.background import Background, Conditions
from arena.coordinator.context import CoordinatorContext
from arena.coordinator.maintenance import Task
from arena.features.notices.addresses import DigestAddresses
from arena.features.notices.devices import PushDevices
from arena.features.notices.mailer import DigestMailer
from arena.features.notices.pusher import DevicePusher, is_possible
from arena.store import Store

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
