"""A game of a collection as the archive keeps it, and back as text."""

from __future__ import annotations

from collections.abc import Mapping

from arena.collections import notation
from arena.collections.collection import CollectedGame
from arena.store.archived_game import ArchivedGame
from referee.rules.core import Kind, Termination
from referee.rules.rules import GameFormat, Ruleset
from referee.spec import digest

NUMBERS = ("number", "game", "gameid", "id", "no")
"""Tags, in lower case, that give a game's number in its own collection."""


def _named(tags: Mapping[str, str], names: tuple[str, ...]) -> str:
    lower = {name.lower(): value for name, value in tags.items()}
    return next((lower[name] for name in names if lower.get(name)), "")


def _players(tags: Mapping[str, str], ruleset: Ruleset) -> tuple[str, str]:
    """The names of first and second: under those words, or under the names of the sides."""
    sides = [side.lower() for side in ruleset.rules.sides]
    opener = next((option for option in ruleset.rules.options if option.name == "first_player"), None)
    if opener is not None:  # the sides are called by what they do, and either may move first
        begins = str(ruleset.values[opener.name])
        sides = [begins, *(value for value in opener.values if value != begins)]
    first, second = (_named(tags, (word, side)) for word, side in zip(("first", "second"), sides, strict=False))
    return first or "unknown", second or "unknown"


def _ending(found: CollectedGame) -> Termination:
    if found.outcome is not None:
        return found.outcome.reason
    if found.winner is None:
        return Termination.STOPPED
    return Termination.DRAW_AGREED if found.winner == "draw" else Termination.RESIGNED


def to_archived(found: CollectedGame, source: str, form: str) -> ArchivedGame:
    """A game of the archive from one of a collection. Its id is the content's: the same game is the same one.

    Who played what by which rules is the content, in whatever notation; a number is the collection's, not the game's.
    """
    ruleset, game = found.ruleset, found.game
    first, second = _players(game.tags, ruleset)
    position = ruleset.write(ruleset.read(game.position))
    number = _named(game.tags, NUMBERS)
    content = {
        "family": ruleset.rules.family,
        "variant": ruleset.variant.name,
        "options": ruleset.overrides,
        "position": position,
        "moves": game.moves,
        "first": first,
        "second": second,
    }
    termination = _ending(found)
    winner = None if termination.kind is Kind.VOID else found.winner
    return ArchivedGame(
        digest(content),
        ruleset.rules.family,
        ruleset.variant.name,
        ruleset.overrides,
        position,
        game.moves,
        first,
        second,
        winner,
        termination.value,
        number,
        source,
        form,
        found.text,
        dict(game.tags),
    )


def to_text(game: ArchivedGame, form: GameFormat | None = None) -> str:
    """A game of the archive as it was imported, or in a notation of its family. Raises ValueError.

    One that came as a record, which is no text for people, is written in the family's first notation.
    """
    if form is None and any(known.name == game.format for known in game.ruleset().rules.formats):
        return game.text
    form = form or game.ruleset().rules.formats[0]
    result = notation.RESULTS[game.winner]
    return notation.write(form, game.ruleset(), game.position, game.moves, tags=game.tags, result=result)
