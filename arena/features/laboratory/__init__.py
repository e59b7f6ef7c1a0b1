"""Tune options of a bot by self-play, make labelled positions, and fit evaluations to them."""

from __future__ import annotations

from arena.feature import Command, Feature

FEATURE = Feature(
    name="laboratory",
    title="Tuning and training of bots",
    commands=(
        Command(
            "tune",
            "tune spin options of a bot by self-play",
            (
                "arena tune ./mybot --family loa --parameter Mobility:0:100:30:5 --parameter Tempo --games 20000",
                "arena tune sample:alphabeta --family tablut --parameter Contempt:0:1000:150:50 --games 2000 "
                "--tc nodes:2000 --out runs/contempt --concurrency 2",
            ),
            "local",
            module="arena.features.laboratory.cli.tune",
            compiles=True,
        ),
        Command(
            "datagen",
            "make labelled positions by self-play of a bot",
            (
                "arena datagen --family loa --positions 100000 --nodes 2000 --seed 1 --out data/loa --concurrency 4",
                "arena datagen --family tablut --bot ./mybot --positions 5000 --out data/tablut",
            ),
            "local",
            module="arena.features.laboratory.cli.datagen",
            compiles=True,
        ),
        Command(
            "train",
            "fit an evaluation to labelled positions",
            (
                "arena train --family loa data/loa --output-file loa.json",
                "arena train --family loa data/a data/b --output-file loa.json --lambda 1",
            ),
            "local",
            module="arena.features.laboratory.cli.train",
            compiles=True,
        ),
    ),
)
