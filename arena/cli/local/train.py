"""`arena train`: fit an evaluation to positions of `arena datagen`."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output


def add(parser: argparse.ArgumentParser) -> None:
    from arena.laboratory.features import DEFAULT

    parser.add_argument("--family", required=True, metavar="FAMILY", type=argument.family, help="family of games")
    parser.add_argument("data", nargs="+", type=Path, metavar="DIR", help="folders of positions")
    parser.add_argument(
        "--output-file", type=Path, required=True, metavar="FILE", help="write the weights to this JSON file"
    )
    parser.add_argument(
        "--features", default=DEFAULT, metavar="MODULE:FUNCTION", help=f"features to fit (default {DEFAULT})"
    )
    parser.add_argument(
        "--lambda",
        dest="result_weight",
        type=float,
        default=0.5,
        metavar="NUMBER",
        help="weight of results in the target; the rest is the weight of scores (default 0.5)",
    )
    parser.add_argument(
        "--validation-split",
        type=float,
        default=0.1,
        metavar="SHARE",
        help="share of games held out for validation (default 0.1)",
    )
    parser.add_argument("--l2", type=float, default=1.0, metavar="NUMBER", help="L2 penalty on weights (default 1)")
    parser.add_argument(
        "--seed",
        type=argument.whole,
        default=0,
        metavar="SEED",
        help="seed that selects the held-out games (default 0)",
    )
    add_output(parser, meanings={"json": "the file that was written"})


def run(arguments: argparse.Namespace) -> int:
    """Fit the weights, write them, and print their quality."""
    import numpy as np

    from arena.laboratory.features import read_features
    from arena.laboratory.fit import BASIS, fit
    from arena.laboratory.positions import SCHEMA, Positions, read_positions, read_schema, sha256_of
    from referee.machine import source
    from referee.rules import load

    if not (0 <= arguments.result_weight <= 1 and 0 < arguments.validation_split < 1 and arguments.l2 > 0):
        raise CommandError("expected --lambda from 0 to 1, --validation-split between 0 and 1, --l2 above 0")
    schemas = [read_schema(folder) for folder in arguments.data]
    rules_of = {json.dumps([one["family"], one["variant"], one["options"]], sort_keys=True) for one in schemas}
    if len(rules_of) != 1 or schemas[0]["family"] != arguments.family:
        raise CommandError(
            f"the folders hold positions of several variants, or not of {arguments.family}; give folders of one variant"
        )
    ruleset = load(arguments.family).settle(schemas[0]["variant"], schemas[0]["options"])
    parts = [read_positions(folder) for folder in arguments.data]
    games = np.concatenate([part.game.astype(np.int64) + (number << 32) for number, part in enumerate(parts)])
    positions = Positions.join(parts)
    names, features = read_features(arguments.features)(ruleset, positions.state)
    settings = {name: getattr(arguments, name) for name in ("result_weight", "validation_split", "l2", "seed")}
    try:
        found = fit(ruleset, positions, games.tolist(), features, **settings)
    except ValueError as error:
        raise CommandError(str(error)) from None
    measures = {name: asdict(one) for name, one in found.measures.items()}
    written = {
        "family": arguments.family,
        "variant": ruleset.variant.name,
        "features": arguments.features,
        "scale": round(found.scale, 3),
        "weights": dict(zip((*BASIS, *names), (round(found.scale * one, 3) for one in found.weights), strict=True)),
        "measures": measures,
        "positions": len(positions),
        "games": len(np.unique(games)),
        "settings": settings,
        "data": [
            {
                "schema": sha256_of(folder / SCHEMA),
                **{key: one.get(key) for key in ("bot", "nodes", "seed", "positions")},
            }
            for folder, one in zip(arguments.data, schemas, strict=True)
        ],
        "sources": source.digest(),
    }
    arguments.output_file.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    rows = [[name.replace("_", " "), f"{one['loss']:.4f}", f"{one['r2']:.3f}"] for name, one in measures.items()]
    summary = f"{len(positions):,} positions of {written['games']:,} games, {len(names)} features"

    def show() -> None:
        output.text(f"{summary}, scale {found.scale:.0f}")
        output.table(("", "log loss", "R²"), rows, numbers=("log loss", "R²"))

    Printer(arguments).result(written, show)
    return Exit.DONE
