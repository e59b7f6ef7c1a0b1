"""`python -m bots.training DIR… --out FILE`: fit the champion's evaluation of a family to positions of games.

By default it is a net that corrects the static score (`bots.training.net_fit`). With `--linear` it is the weights of
the kernel's linear features (`bots.training.linear_fit`), with `--piece-values` its piece values
(`bots.training.piece_value_fit`). The result follows from the positions and the arguments, which are stored with the
weights.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bots.search.net import HIDDEN, LINEAR_EVAL, NET, TUNED_PIECE_VALUES, UNTRAINED, build_net, linear_net
from bots.training.champion_tunable import NAME
from bots.training.eval_error import measure
from bots.training.linear_fit import fit_linear
from bots.training.net_fit import fit_net
from bots.training.piece_value_fit import expand_groups, fit_piece_values, tactics_of
from bots.training.positions import TrainingPositions
from referee.rules import load


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    arguments, parser = _arguments(argv)
    try:
        weights, (tempo, margin), origin = _make_weights(arguments)
    except (OSError, ValueError, KeyError) as error:
        parser.error(str(error))
    is_fitted = arguments.data or arguments.tuned
    np.savez_compressed(
        arguments.out,
        weights=weights,
        techniques=arguments.search_features | (feature_bit(arguments) if is_fitted else 0),
        tempo=tempo if arguments.tempo is None else arguments.tempo,
        error=margin if arguments.eval_margin is None else arguments.eval_margin,
        late_from=arguments.lmr_first_move,
        provenance=json.dumps(origin),
    )


def _arguments(argv: Sequence[str] | None) -> tuple[argparse.Namespace, argparse.ArgumentParser]:
    parser = argparse.ArgumentParser(
        prog="python -m bots.training", description="Fit the champion's evaluation of a family.", allow_abbrev=False
    )
    parser.add_argument("data", nargs="*", type=Path, metavar="DIR", help="folders of positions made by arena datagen")
    parser.add_argument("--family", metavar="FAMILY", help="without DIR: write an untrained evaluation for this family")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="file for the weights (.npz)")
    parser.add_argument(
        "--lambda",
        dest="result_weight",
        type=float,
        default=0.5,
        metavar="NUMBER",
        help="weight of game results in the target; search scores have the rest (default 0.5)",
    )
    parser.add_argument(
        "--by-score",
        action="store_true",
        help="convert static scores to winning probabilities with a scale fitted to each folder's search scores",
    )
    parser.add_argument("--epochs", type=int, default=20, metavar="COUNT", help="epochs (default 20)")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--linear", action="store_true", help="fit the kernel's linear features instead of a net")
    kind.add_argument("--piece-values", action="store_true", help="fit the kernel's piece values instead of a net")
    kind.add_argument(
        "--tuned", type=Path, metavar="FILE", help="read piece values that arena tune found for champion_tunable"
    )
    parser.add_argument(
        "--validation-split", type=float, default=0.05, metavar="SHARE", help="share of games held out (default 0.05)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="SEED", help="seed of the fit (default 1)")
    parser.add_argument(
        "--search-features",
        type=int,
        default=0,
        metavar="BITS",
        help="search features as a sum of bits, see bots.search.net (default 0)",
    )
    parser.add_argument(
        "--tempo", type=int, metavar="SCORE", help="tempo bonus (default: measured if possible, else 0)"
    )
    parser.add_argument(
        "--eval-margin",
        type=int,
        metavar="SCORE",
        help="typical error of static scores (default: measured if possible, else 60)",
    )
    parser.add_argument(
        "--lmr-first-move",
        type=int,
        default=UNTRAINED[3],
        metavar="NUMBER",
        help="number of the first move that late move reductions apply to (default %(default)s)",
    )
    return parser.parse_args(argv), parser


def feature_bit(arguments: argparse.Namespace) -> int:
    """Return the bit of the search feature that uses the fitted weights."""
    if arguments.linear:
        return LINEAR_EVAL
    return TUNED_PIECE_VALUES if arguments.piece_values or arguments.tuned else NET


def _make_weights(arguments: argparse.Namespace) -> tuple[npt.NDArray[np.int32], tuple[int, int], dict[str, Any]]:
    """Return the weights, tempo bonus and evaluation margin, and the provenance."""
    if arguments.tuned:
        if arguments.data or arguments.family:
            raise ValueError("--tuned cannot be combined with DIR or --family: remove them")
        return _from_tuning(arguments.tuned)
    return _from_positions(arguments) if arguments.data else _untrained(arguments.family)


def _from_tuning(path: Path) -> tuple[npt.NDArray[np.int32], tuple[int, int], dict[str, Any]]:
    """Read the piece values that `arena tune python -m bots.training.champion_tunable` found."""
    result = json.loads(path.read_text(encoding="utf-8"))
    groups = {parameter["name"]: parameter["mean"] for parameter in result["parameters"]}
    rules = load(result["run"]["family"])
    kernel = tactics_of(rules.settle())
    wanted = [f"{NAME}{group}" for group in range(kernel.VALUE_GROUPS.max() + 1)]
    if missing := sorted(set(wanted) - groups.keys()):
        raise ValueError(f"{path} has no parameter {missing[0]}; tune all of {', '.join(wanted)}")
    values = expand_groups(kernel, np.array([groups[name] for name in wanted]))
    origin = {
        "family": rules.family,
        "games": result["games"],
        "pentanomial": result["pentanomial"],
        "data": result["run"],
    }
    return values[np.newaxis], UNTRAINED[1:3], origin


def _from_positions(arguments: argparse.Namespace) -> tuple[npt.NDArray[np.int32], tuple[int, int], dict[str, Any]]:
    """Fit the weights; measure the tempo bonus and the evaluation margin."""
    ruleset, data, origins = TrainingPositions.read(arguments.data)
    settings = {name: getattr(arguments, name) for name in ("result_weight", "validation_split", "seed")}
    if not arguments.piece_values:
        settings["epochs"] = arguments.epochs
    if arguments.by_score:
        if arguments.linear or arguments.piece_values:
            raise ValueError("--by-score cannot be combined with --linear or --piece-values: remove one of them")
        settings["by_score"] = True
    fit = fit_linear if arguments.linear else fit_piece_values if arguments.piece_values else fit_net
    fitted = fit(ruleset, data, **settings)
    positions, games = len(data.state), len(np.unique(data.game))
    assert ruleset.rules.features is not None
    parameters, numbers = (feature_bit(arguments), *UNTRAINED[1:]), UNTRAINED[1:3]
    if not arguments.piece_values:  # quiescence search has no static score at the leaves to measure
        net = (linear_net if arguments.linear else build_net)(ruleset.rules.features, fitted.weights, parameters)
        numbers = measure(ruleset, net, fitted.held)
    sys.stdout.write(
        f"{positions} positions of {games} games, scale {fitted.scale:.0f}, validation log loss "
        f"{fitted.before:.4f} -> {fitted.after:.4f}, tempo {numbers[0]}, margin {numbers[1]}\n"
    )
    return (
        fitted.weights,
        numbers,
        {
            "family": ruleset.rules.family,
            "variants": sorted({origin["variant"] for origin in origins}),
            "positions": positions,
            "games": games,
            "settings": settings,
            "scale": round(fitted.scale, 3),
            "loss_held_out": {"static": round(fitted.before, 5), "learned": round(fitted.after, 5)},
            "data": origins,
        },
    )


def _untrained(family: str | None) -> tuple[npt.NDArray[np.int32], tuple[int, int], dict[str, Any]]:
    """Return an evaluation without weights: the search uses the static score alone."""
    if family is None:
        raise ValueError("no positions given: expected DIR, or --family FAMILY for an untrained evaluation")
    _, tempo, margin, _ = UNTRAINED
    return np.zeros((0, HIDDEN), dtype=np.int32), (tempo, margin), {"family": load(family).family}


if __name__ == "__main__":
    main()
