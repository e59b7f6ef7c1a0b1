"""Statistics of results beyond standings: the first-move advantage, cycles and upsets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.cli.terminal import output


def show(strengths: Mapping[str, Any], findings: Mapping[str, Any] | None) -> None:
    """Print the significant statistics; nothing if chance explains the results."""
    advantage, error = strengths.get("advantage", 0.0), strengths.get("advantage_interval", 0.0)
    if abs(advantage) > error > 0:
        output.text(f"moving first is worth {advantage:+z.0f} ± {error:.0f} Elo (95 %)")
    if not findings:
        return
    if findings["is_cyclic"]:
        output.text(
            f"results go round in circles (by chance alone in {100 * findings['chance']:.0f} % of tournaments)",
            *("  " + " beats ".join([*cycle, cycle[0]]) for cycle in findings["cycles"]),
            "  a mix that no bot is expected to beat: "
            + ", ".join(f"{100 * one['share']:.0f} % {one['name']}" for one in findings["shares"]),
        )
    if findings["surprises"]:
        output.text(
            "surprises:",
            *(
                f"  {one['bot']} against {one['rival']}: {one['points']:g} of {one['games']}, "
                f"expected {one['expected']:.1f}"
                for one in findings["surprises"]
            ),
        )
