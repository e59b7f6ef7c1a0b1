"""`python -m bots.training.champion_tunable`: the champion with its piece values as options, for `arena tune`.

For families whose kernel implements `referee.rules.kernel_protocol.Tactics`. Each group of values that
`bots.training.piece_value_fit` fits as one value is an option. `python -m bots.training --tuned` turns the tuned
options into weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bots.samples.champion import Champion
from bots.sdk import OptionDecl, run

if TYPE_CHECKING:
    from referee.rules.position import Position

NAME = "Price"
MAX_GROUPS = 10
"""Number of options; `Price0` is the value of the first group. -1 means the stored value."""
MAX_VALUE = 2_000


class TunableChampion(Champion):
    """The champion with piece values from its options."""

    name = "priced"
    options = (
        *Champion.options,
        *(OptionDecl(f"{NAME}{group}", "spin", "-1", -1, MAX_VALUE) for group in range(MAX_GROUPS)),
    )

    def new_search_state(self, position: Position) -> Any:
        """Allocate the search states, with the piece values that the options set."""
        import numpy as np

        from bots.search.net import FIRST_PIECE_VALUE, QUIESCENCE, SEARCH_FEATURES, TUNED_PIECE_VALUES
        from bots.training.piece_value_fit import expand_groups, tactics_of

        search_state = super().new_search_state(position)
        kernel = tactics_of(position.ruleset)
        groups = np.array([self.number(f"{NAME}{group}") for group in range(kernel.VALUE_GROUPS.max() + 1)])
        values = search_state.maps[0, FIRST_PIECE_VALUE : FIRST_PIECE_VALUE + len(kernel.PIECE_VALUES)]
        values[:] = np.where(groups[kernel.VALUE_GROUPS] < 0, values, expand_groups(kernel, groups))
        search_state.maps[0, SEARCH_FEATURES] |= QUIESCENCE | TUNED_PIECE_VALUES
        return search_state


if __name__ == "__main__":
    run(TunableChampion())
