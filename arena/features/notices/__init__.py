"""Take notices to people who do not visit the pages: a mail a day to a confirmed address, and messages to devices."""

from __future__ import annotations

from arena.feature import Feature, Place

FEATURE = Feature(
    name="notices",
    title="Notifications by mail and on devices",
    places=(Place("account", "/notices", "Notifications by mail and on devices"),),
    tables="arena.features.notices.tables",
    revisions="arena.features.notices.revisions",
    pages=("arena.features.notices.pages",),
    background="arena.features.notices.mailer:background",
    tasks="arena.features.notices.mailer:tasks",
)
