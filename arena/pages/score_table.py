"""Wins, draws and losses counted by side, opponent and termination, and game by game."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from arena.documents.game import GameItem, Tally
from arena.documents.rating import Score
from arena.pages import filters
from arena.pages.drawing import plot
from arena.pages.language import translated
from referee.rules.core import Kind


@dataclass(slots=True)
class ScoreTables:
    """Results of some versions, by (family, side), opponent and termination."""

    sides: dict[tuple[str, str], Score] = field(default_factory=dict)
    opponents: dict[str, Score] = field(default_factory=dict)
    endings: dict[str, Score] = field(default_factory=dict)


def score_tables(lines: Sequence[Tally], mine: set[int]) -> ScoreTables:
    """Group tallies by side, opponent and termination. A game between two of the versions counts for both."""
    tables = ScoreTables()
    for line in lines:
        for is_first, own, other in ((True, line.first_id, line.second), (False, line.second_id, line.first)):
            if own not in mine:
                continue
            side = "first" if is_first else "second"
            is_forfeit = line.termination_class == Kind.FORFEIT.value
            for score in (
                tables.sides.setdefault((line.family, side), Score(side)),
                tables.opponents.setdefault(other, Score(other)),
                tables.endings.setdefault(line.termination, Score(line.termination)),
            ):
                score.add(is_first=is_first, winner=line.winner, games=line.count, is_forfeit=is_forfeit)
    return tables


def timeline(games: Sequence[GameItem], mine: Collection[int]) -> list[tuple[str, str, str]]:
    """Return the results, oldest first: (letter, game, description)."""
    results = []
    for game in reversed(games):
        is_first = game.first_id in mine
        letter = "D" if game.winner == "draw" else "W" if (game.winner == "first") == is_first else "L"
        text = f"{filters.plain(game.first, 60)} – {filters.plain(game.second, 60)} {filters.result(game.winner)}"
        results.append((letter, game.id, f"{text}, {translated(game.termination or '')}"))
    return results


def bar(score: Score) -> Markup:
    """Draw wins, draws and losses as a bar; the page shows the numbers next to it."""
    return plot.share((("win", score.wins), ("draw", score.draws), ("loss", score.losses)))
