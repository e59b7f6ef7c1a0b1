"""Set, prove and solve problems, positions with a forced win; people and problems are rated against each other."""

from __future__ import annotations

from arena.feature import Command, Feature, Place

FEATURE = Feature(
    name="problems",
    title="Problems to solve, and the solver that proves them",
    commands=(
        Command(
            "solve",
            "prove or refute that a side wins in a number of moves",
            (
                'arena solve loa --position "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1" --in 3',
                'arena solve abalone --position "..." --side white --in 4 --condition "marbles<=7" --json',
            ),
            module="arena.features.problems.cli.solve",
            compiles=True,
        ),
        Command(
            "problems",
            "find, set and solve problems: positions with a short forced win",
            (
                "arena problems find abalone --collection migs.txt --in 2..4 --unique",
                "arena problems add loa --file found.ndjson",
                "arena problems solve 12",
            ),
            "local",
            module="arena.features.problems.cli.problems",
            compiles=True,
        ),
    ),
    places=(
        Place("explore", "/problems", "Problems", text="Positions with a forced win, to solve against best defence"),
        Place("family", "/{family}/problems", "Problems"),
        Place(
            "board",
            "/{family}/problems/new?variant={variant}&options={options}&position={position}",
            "Set this position as a problem",
        ),
    ),
    tables="arena.features.problems.tables",
    api=("arena.features.problems.api",),
    json_pages={"/problems.json": "/problems", "/problems/{number}.json": "/problems/{number}"},
    pages=(
        "arena.features.problems.pages.problems",
        "arena.features.problems.pages.board",
        "arena.features.problems.pages.form",
    ),
    card="arena.features.problems.pages.problems:card",
    profile="arena.features.problems.pages.problems:profile",
    background="arena.features.problems.prover:background",
    tasks="arena.features.problems.prover:tasks",
    ratings="arena.features.problems.attempts",
    furnish="arena.features.problems.shipped:furnish",
)
