"""`python -m bots.training DATA… --out FILE`: fit the champion's evaluation of a family to positions of games.

By default a net that corrects the static score (`bots.training.net_fit`). With `--linear` the weights of the kernel's
linear features (`bots.training.linear_fit`), with `--piece-values` its piece values (`bots.training.piece_value_fit`).
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
from bots.training.eval_error import measured
from bots.training.linear_fit import fit_worth
from bots.training.net_fit import fit
from bots.training.piece_value_fit import fit_prices, prices_of, tactics_of
from bots.training.positions import Sample
from referee.rules import load


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bots.training", description="Fit the champion's net of a family.")
    parser.add_argument("data", nargs="*", type=Path, metavar="DATA", help="folders of positions (arena datagen)")
    parser.add_argument("--family", metavar="F", help="without DATA: whose techniques are to go without a net")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="where the weights go (.npz)")
    parser.add_argument("--lambda", type=float, default=0.5, metavar="T", help="in results, against scores (0.5)")
    parser.add_argument("--by-score", action="store_true", help="a static score means as much as one of a search")
    parser.add_argument("--epochs", type=int, default=20, metavar="N", help="how often each position is seen (20)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--linear", action="store_true", help="what the kernel's traits are worth, in place of a net")
    what.add_argument("--piece-values", action="store_true", help="what the kernel's tactics go by, in place of a net")
    what.add_argument(
        "--tuned", type=Path, metavar="FILE", help="prices as games have found them (bots.training.champion_tunable)"
    )
    parser.add_argument(
        "--validation-split", type=float, default=0.05, metavar="S", help="the share of games held out (0.05)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument(
        "--search-features", type=int, default=0, metavar="BITS", help="of the search (bots.search.net)"
    )
    parser.add_argument("--tempo", type=int, metavar="T", help="what being on move is worth (measured, or 0)")
    parser.add_argument("--eval-margin", type=int, metavar="E", help="how far static scores are off (measured, or 60)")
    parser.add_argument("--lmr-first-move", type=int, default=UNTRAINED[3], metavar="N", help="the first late move")
    given = parser.parse_args(argv)
    try:
        weights, (tempo, error), origin = _found(given)
    except (OSError, ValueError, KeyError) as error_found:
        parser.error(str(error_found))
    np.savez_compressed(
        given.out,
        weights=weights,
        techniques=given.techniques | (kind_of(given) if given.data or given.tuned else 0),
        tempo=tempo if given.tempo is None else given.tempo,
        error=error if given.error is None else given.error,
        late_from=given.late_from,
        provenance=json.dumps(origin),
    )


def kind_of(given: argparse.Namespace) -> int:
    """The technique that uses what is fitted."""
    return LINEAR_EVAL if given.traits else TUNED_PIECE_VALUES if given.prices or given.tuned else NET


def _found(given: argparse.Namespace) -> tuple[npt.NDArray[np.int32], tuple[int, int], dict[str, Any]]:
    if given.tuned and (given.data or given.family):
        raise ValueError("--tuned is all there is to know of prices: take DATA and --family out")
    return _tuned(given.tuned) if given.tuned else _fitted(given) if given.data else _plain(given.family)


def _tuned(path: Path) -> tuple[npt.NDArray[np.int32], tuple[int, int], dict[str, Any]]:
    """The prices that `arena tune python -m bots.training.champion_tunable` found for its options."""
    found = json.loads(path.read_text(encoding="utf-8"))
    groups = {one["name"]: one["mean"] for one in found["parameters"]}
    rules = load(found["run"]["family"])
    kernel = tactics_of(rules.settle())
    wanted = [f"{NAME}{group}" for group in range(kernel.VALUE_GROUPS.max() + 1)]
    if missing := sorted(set(wanted) - groups.keys()):
        raise ValueError(f"{path} says nothing of {missing[0]}; tune all of {', '.join(wanted)}")
    prices = prices_of(kernel, np.array([groups[name] for name in wanted]))
    origin = {
        "family": rules.family,
        "games": found["games"],
        "pentanomial": found["pentanomial"],
        "data": found["run"],
    }
    return prices[np.newaxis], UNTRAINED[1:3], origin


def _fitted(given: argparse.Namespace) -> tuple[npt.NDArray[np.int32], tuple[int, int], dict[str, Any]]:
    """A net's weights, what its tempo and error are, and where it comes from."""
    ruleset, sample, origins = Sample.read(given.data)
    settings = {"trust": given.trust, "share": given.held_out, "seed": given.seed}
    if not given.prices:
        settings["epochs"] = given.epochs
    if given.by_score:
        if given.traits or given.prices:
            raise ValueError("a net's fit alone knows --by-score: choose between it and --linear or --piece-values")
        settings["by_score"] = True
    found = (fit_worth if given.traits else fit_prices if given.prices else fit)(ruleset, sample, **settings)
    positions, games = len(sample.state), len(np.unique(sample.game))
    assert ruleset.rules.features is not None
    learned, numbers = (kind_of(given), *UNTRAINED[1:]), UNTRAINED[1:3]
    if not given.prices:  # what is measured is a static score's: at leaves that are settled there is none
        net = (linear_net if given.traits else build_net)(ruleset.rules.features, found.weights, learned)
        numbers = measured(ruleset, net, found.held)
    sys.stdout.write(
        f"{positions} positions of {games} games, scale {found.scale:.0f}, "
        f"log loss on games held out {found.before:.4f} -> {found.after:.4f}, tempo {numbers[0]}, error {numbers[1]}\n"
    )
    return (
        found.weights,
        numbers,
        {
            "family": ruleset.rules.family,
            "variants": sorted({origin["variant"] for origin in origins}),
            "positions": positions,
            "games": games,
            "settings": settings,
            "scale": round(found.scale, 3),
            "loss_held_out": {"static": round(found.before, 5), "learned": round(found.after, 5)},
            "data": origins,
        },
    )


def _plain(family: str | None) -> tuple[npt.NDArray[np.int32], tuple[int, int], dict[str, Any]]:
    """No weights: the static score alone, for a search of other techniques."""
    if family is None:
        raise ValueError("nothing to learn from; give DATA, or --family F for techniques without a net")
    _, tempo, error, _ = UNTRAINED
    return np.zeros((0, HIDDEN), dtype=np.int32), (tempo, error), {"family": load(family).family}


if __name__ == "__main__":
    main()
