"""Wins, draws and losses of a bot, as a bar and game by game."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from markupsafe import Markup

from arena.documents.game import GameItem
from arena.documents.rating import Score
from arena.pages import filters
from arena.pages.drawing import plot
from arena.pages.language import translated


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
