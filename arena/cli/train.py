"""`arena train`: an evaluation fitted to positions that `arena datagen` made."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from arena.cli import choice, output
from arena.cli.exit import CommandError, Exit


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from arena.laboratory.features import USUAL

    parser.add_argument("--family", required=True, metavar="F", type=choice.family, help="a family of games")
    parser.add_argument("data", nargs="+", type=Path, metavar="DATA", help="folders of positions")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the weights go, as JSON")
    parser.add_argument("--features", default=USUAL, metavar="M:F", help=f"MODULE:FUNCTION (default {USUAL})")
    parser.add_argument("--trust", type=float, default=0.5, metavar="T", help="in results, against scores (0.5)")
    parser.add_argument("--held-out", type=float, default=0.1, metavar="S", help="the share of games held out (0.1)")
    parser.add_argument("--ridge", type=float, default=1.0, metavar="R", help="the penalty on large weights (1)")
    parser.add_argument(
        "--seed", type=choice.whole, default=0, metavar="S", help="which games are held out (default 0)"
    )
    parser.add_argument("--json", action="store_true", help="what was written, on stdout")


def run(arguments: argparse.Namespace) -> int:
    """Fit, write the weights, say how good they are."""
    import numpy as np

    from arena.laboratory.features import read_features
    from arena.laboratory.fit import BASIS, fit
    from arena.laboratory.positions import SCHEMA, Positions, read_positions, read_schema, sha256_of
    from referee.machine import source
    from referee.rules import load

    if not (0 <= arguments.trust <= 1 and 0 < arguments.held_out < 1 and arguments.ridge > 0):
        raise CommandError("--trust is from 0 to 1, --held-out between 0 and 1, --ridge above 0")
    schemas = [read_schema(folder) for folder in arguments.data]
    rules_of = {json.dumps([one["family"], one["variant"], one["options"]], sort_keys=True) for one in schemas}
    if len(rules_of) != 1 or schemas[0]["family"] != arguments.family:
        raise CommandError(
            f"the positions are not all of one variant of {arguments.family}; give folders that go together"
        )
    ruleset = load(arguments.family).settle(schemas[0]["variant"], schemas[0]["options"])
    parts = [read_positions(folder) for folder in arguments.data]
    games = np.concatenate([part.game.astype(np.int64) + (number << 32) for number, part in enumerate(parts)])
    positions = Positions.join(parts)
    names, features = read_features(arguments.features)(ruleset, positions.state)
    settings = {"trust": arguments.trust, "share": arguments.held_out, "ridge": arguments.ridge, "seed": arguments.seed}
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
    arguments.out.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if arguments.json:
        output.document(written)
        return Exit.DONE
    output.text(
        f"{len(positions):,} positions of {written['games']:,} games, {len(names)} features, scale {found.scale:.0f}"
    )
    rows = [[name.replace("_", " "), f"{one['loss']:.4f}", f"{one['r2']:.3f}"] for name, one in measures.items()]
    output.table(("", "log loss", "R²"), rows, numbers=("log loss", "R²"))
    return Exit.DONE
