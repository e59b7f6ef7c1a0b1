"""`arena train`: fit an evaluation to positions of `arena datagen`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass
from pathlib import Path
from typing import Any

from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError
from arena.cli.terminal.fields import option, positional
from arena.cli.terminal.printer import Output, Printer, output_form
from arena.cli.terminal.rules_arguments import family_option
from arena.documents.table import Column, text_column
from arena.features.laboratory.fit import DEFAULT


@dataclass(frozen=True, kw_only=True)
class TrainArguments(Output):
    output: str = output_form(meanings={"json": "the file that was written"})
    family: str = family_option()
    data: tuple[Path, ...] = positional("folders of positions", "DIR", nargs="+")
    output_file: Path = option("write the weights to this JSON file", metavar="FILE", default=MISSING)
    features: str = option("features to fit", metavar="MODULE:FUNCTION", default=DEFAULT)
    result_weight: float = option(
        "weight of results in the target; the rest is the weight of scores", "--lambda", metavar="NUMBER", default=0.5
    )
    validation_split: float = option("share of games held out for validation", metavar="SHARE", default=0.1)
    l2: float = option("L2 penalty on weights (default 1)", metavar="NUMBER", default=1.0)
    seed: int = option(
        "seed that selects the held-out games (default 0)", metavar="SEED", type=argument.whole, default=0
    )


_MEASURES: tuple[Column[tuple[str, Mapping[str, float]]], ...] = (
    text_column("name", "", lambda row: row[0].replace("_", " ")),
    Column("loss", "log loss", lambda row: f"{row[1]['loss']:.4f}"),
    Column("r2", "R²", lambda row: f"{row[1]['r2']:.3f}"),
)


def _read_schemas(arguments: TrainArguments) -> list[dict[str, Any]]:
    """Return the schemas of the folders. Raises CommandError if they hold positions of different rules."""
    from arena.features.laboratory.positions import read_schema

    schemas = [read_schema(folder) for folder in arguments.data]
    rules = {json.dumps([schema["family"], schema["variant"], schema["options"]], sort_keys=True) for schema in schemas}
    if len(rules) != 1 or schemas[0]["family"] != arguments.family:
        raise CommandError(
            f"the folders hold positions of several variants, or not of {arguments.family}; give folders of one variant"
        )
    return schemas


def run(arguments: TrainArguments) -> None:
    """Fit the weights, write them, and print their quality."""
    import numpy as np

    from arena.features.laboratory.fit import BASIS, fit, read_features
    from arena.features.laboratory.positions import SCHEMA, Positions, read_positions, sha256_of
    from referee.machine import source
    from referee.rules import load

    if not (0 <= arguments.result_weight <= 1 and 0 < arguments.validation_split < 1 and arguments.l2 > 0):
        raise CommandError("expected --lambda from 0 to 1, --validation-split between 0 and 1, --l2 above 0")
    schemas = _read_schemas(arguments)
    ruleset = load(arguments.family).settle(schemas[0]["variant"], schemas[0]["options"])
    parts = [read_positions(folder) for folder in arguments.data]
    games = np.concatenate([part.game.astype(np.int64) + (number << 32) for number, part in enumerate(parts)])
    positions = Positions.join(parts)
    names, features = read_features(arguments.features)(ruleset, positions.state)
    settings: dict[str, Any] = {
        "result_weight": arguments.result_weight,
        "validation_split": arguments.validation_split,
        "l2": arguments.l2,
        "seed": arguments.seed,
    }
    try:
        fitted = fit(ruleset, positions, games.tolist(), features, **settings)
    except ValueError as error:
        raise CommandError(str(error)) from None
    measures = {name: asdict(measure) for name, measure in fitted.measures.items()}
    written = {
        "family": arguments.family,
        "variant": ruleset.variant.name,
        "features": arguments.features,
        "scale": round(fitted.scale, 3),
        "weights": dict(
            zip((*BASIS, *names), (round(fitted.scale * weight, 3) for weight in fitted.weights), strict=True)
        ),
        "measures": measures,
        "positions": len(positions),
        "games": len(np.unique(games)),
        "settings": settings,
        "data": [
            {
                "schema": sha256_of(folder / SCHEMA),
                **{key: schema.get(key) for key in ("bot", "nodes", "seed", "positions")},
            }
            for folder, schema in zip(arguments.data, schemas, strict=True)
        ],
        "sources": source.digest(),
    }
    arguments.output_file.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    summary = f"{len(positions):,} positions of {written['games']:,} games, {len(names)} features"

    def show() -> None:
        output.text(f"{summary}, scale {fitted.scale:.0f}")
        output.table(_MEASURES, measures.items())

    Printer(arguments).result(written, show)
