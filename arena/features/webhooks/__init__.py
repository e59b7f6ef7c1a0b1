"""Tell other servers what happens: forfeits, ended tournaments, new leaders, as signed requests or for Discord."""

from __future__ import annotations

from arena.feature import Command, Feature, Place

FEATURE = Feature(
    name="webhooks",
    title="News to other servers",
    commands=(
        Command(
            "webhook",
            "send news to other servers and to Discord",
            (
                "arena webhook add https://club.example/arena --news forfeit --news end",
                "arena webhook add https://discord.com/api/webhooks/1/abc --form discord",
                "arena webhook log 1",
            ),
            "server",
            module="arena.features.webhooks.cli",
        ),
    ),
    places=(Place("account", "/webhooks", "Webhooks", scope="admin"),),
    pages=("arena.features.webhooks.pages",),
    tables="arena.features.webhooks.tables",
    revisions="arena.features.webhooks.revisions",
    background="arena.features.webhooks.service:background",
    tasks="arena.features.webhooks.service:tasks",
)
