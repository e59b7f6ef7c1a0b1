"""Measure how fair the starts of a family are, by self-play of a sample bot."""

from __future__ import annotations

from arena.feature import Command, Feature, Place

FEATURE = Feature(
    name="atlas",
    title="Fairness of the starts of each family",
    commands=(
        Command(
            "atlas",
            "measure the fairness of the starts of a family",
            (
                "arena atlas run arena/features/atlas/plans/tablut.toml --out runs/tablut",
                "arena atlas report runs/tablut --csv tablut.csv",
                "arena atlas show tablut",
            ),
            "local",
            module="arena.features.atlas.cli.atlas",
            compiles=True,
        ),
    ),
    places=(Place("family", "/{family}/starts", "Fair starts", "scales"),),
    api=("arena.features.atlas.families",),
    json_pages={"/{family}/starts.json": "/families/{family}/starts"},
    pages=("arena.features.atlas.pages",),
)
