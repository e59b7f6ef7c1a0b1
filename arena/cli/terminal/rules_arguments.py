"""Arguments of several commands: the rules of games, a position, the memory and the sandbox of bots."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from typing import TYPE_CHECKING, Any

from arena.cli.terminal import argument
from arena.cli.terminal.fields import option, positional

if TYPE_CHECKING:
    from referee.rules.position import Position
    from referee.rules.rules import Ruleset

FAMILY = 'family of games; "arena rules list" shows them'


def family_option(text: str = "family of games") -> Any:
    return option(text, metavar="FAMILY", type=argument.family, default=MISSING)


@dataclass(frozen=True, kw_only=True)
class RulesArguments:
    family: str = positional(FAMILY, "FAMILY", type=argument.family)
    variant: str | None = option("variant of the family (default: its first)", metavar="VARIANT")
    options: tuple[str, ...] = option(
        "rule option, in addition to the variant's own; may be repeated", "--option", metavar="NAME=VALUE", default=()
    )

    def settle(self) -> Ruleset:
        """Return the rules that were chosen. Raises UnknownNameError, ParseError or CommandError."""
        return argument.settle(self.family, self.variant, self.options)


@dataclass(frozen=True, kw_only=True)
class PositionArguments(RulesArguments):
    """Rules, and a position of a game by them."""

    position: str | None = option("position string (default: the variant's start)", metavar="POSITION")

    def start(self) -> Position:
        """Return the position that was chosen. Raises what `settle` raises."""
        from referee.rules.position import Position

        return Position.start(self.settle(), self.position)


def memory_option() -> Any:
    """Declare `--memory`, the memory of each bot."""
    from referee.game.spec import BotLimits

    usual = BotLimits().memory_bytes // 2**20
    return option(f"memory of each bot in MiB (default {usual})", metavar="MB", type=argument.memory, default=usual)


def sandbox_option(group: str = "") -> Any:
    """Declare `--sandbox`, for the bots of the user of the command."""
    return option(
        "sandbox of the bots; auto (default): the strongest in which all bots start",
        choices=argument.SANDBOXES,
        default="auto",
        group=group,
    )
