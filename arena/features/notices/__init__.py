"""Take notices to people who do not visit the pages: a mail a day, to an address that its owner has confirmed."""

from __future__ import annotations

from arena.feature import Feature, Place

FEATURE = Feature(
    name="notices",
    title="Notifications by mail",
    places=(Place("account", "/notices", "Notifications by mail"),),
    tables="arena.features.notices.tables",
    revisions="arena.features.notices.revisions",
    pages=("arena.features.notices.pages",),
    background="arena.features.notices.mailer:background",
    tasks="arena.features.notices.mailer:tasks",
)
