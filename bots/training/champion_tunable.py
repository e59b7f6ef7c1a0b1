"""`python -m bots.training.champion_tunable`: the champion with its prices as options, so that games can find them
(`arena tune`).

For families whose kernel tells of tactics (`referee.rules.rules.Tactics`): the values fitted in groups
(`bots.training.piece_value_fit`)
are an option each. What comes of them is made weights by `python -m bots.training --tuned`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bots.samples.champion import Champion
from bots.sdk import OptionDecl, run

if TYPE_CHECKING:
    from referee.rules.position import Position

NAME = "Price"
GROUPS = 10
"""At most so many groups of prices: option `Price0` is that of the first; what is -1 stands in the weights."""
MOST = 2_000


class Priced(Champion):
    """The champion that goes by the prices it is told."""

    name = "priced"
    options = (*Champion.options, *(OptionDecl(f"{NAME}{group}", "spin", "-1", -1, MOST) for group in range(GROUPS)))

    def new_search_state(self, position: Position) -> Any:
        """Room for the search, with the prices of the options."""
        import numpy as np

        from bots.search.net import FIRST_PIECE_VALUE, QUIESCENCE, SEARCH_FEATURES, TUNED_PIECE_VALUES
        from bots.training.piece_value_fit import prices_of, tactics_of

        search_state = super().new_search_state(position)
        kernel = tactics_of(position.ruleset)
        told = np.array([self.number(f"{NAME}{group}") for group in range(kernel.VALUE_GROUPS.max() + 1)])
        prices = search_state.maps[0, FIRST_PIECE_VALUE : FIRST_PIECE_VALUE + len(kernel.PIECE_VALUES)]
        prices[:] = np.where(told[kernel.VALUE_GROUPS] < 0, prices, prices_of(kernel, told))
        search_state.maps[0, SEARCH_FEATURES] |= QUIESCENCE | TUNED_PIECE_VALUES
        return search_state


if __name__ == "__main__":
    run(Priced())
