"""Sequential tests (SPRT) of two versions, begun by their author: unrated, with the lowest priority, within a quota."""

from __future__ import annotations

from arena.feature import Command, Feature, Place

FEATURE = Feature(
    name="versiontests",
    title="Sequential tests of two versions by their author",
    commands=(
        Command(
            "test",
            "test two versions of your bot against each other",
            (
                'arena test begin "mybot v3" "mybot v2" --family loa --tc 2+0.05 --elo0 0 --elo1 10',
                "arena test list mybot",
                "arena test stop 17",
            ),
            "client",
            module="arena.features.versiontests.cli.test",
        ),
    ),
    places=(
        Place("bot", "/bots/{bot}/tests", "Test two versions"),
        Place("account", "/tests", "Tests of my versions"),
    ),
    api=("arena.features.versiontests.api",),
    json_pages={"/bots/{bot}/tests.json": "/bots/{bot}/tests"},
    pages=("arena.features.versiontests.pages",),
)
