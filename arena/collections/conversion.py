"""Conversion of collected games to games of the archive, and back to text."""

from __future__ import annotations

from dataclasses import replace

from arena.collections import notation
from arena.collections.collection import CollectedGame
from arena.collections.recorded import RECORD, ending_of, identity, named, players_of
from arena.store.archive.archived_game import ArchivedGame
from referee.game.record import GameRecord
from referee.rules.core import Kind
from referee.rules.rules import GameFormat, GameText

NUMBER_TAGS = ("number", "game", "gameid", "id", "no")
"""Tags, in lower case, with a game's number in its own collection."""


def to_archived(collected: CollectedGame, source: str, form: str) -> ArchivedGame:
    """Convert a game of a collection to one of the archive. Its id is a hash of its content, so duplicates share it.

    The content is players, moves and rules, whatever the notation, without the game's number in the collection.
    """
    ruleset, game = collected.ruleset, collected.game
    first, second = players_of(game.tags, ruleset)
    position = ruleset.start if game.position is None else ruleset.write(ruleset.read(game.position))
    number = named(game.tags, NUMBER_TAGS)
    termination = ending_of(collected)
    winner = None if termination.kind is Kind.VOID else collected.winner
    return ArchivedGame(
        identity(ruleset, position, game.moves, first, second),
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
        collected.text,
        dict(game.tags),
    )


def to_text(game: ArchivedGame, form: GameFormat | None = None, analysed: GameRecord | None = None) -> str:
    """Return a game of the archive as imported, or in a notation of its family. Raises ValueError.

    The marks and variations are those of `analysed` (the game with its analysis), by default those of its text. A game
    imported as a record is written in the family's first notation, because records are not for people.
    """
    if form is None and game.text and any(known.name == game.format for known in game.ruleset().rules.formats):
        return game.text
    form = form or game.ruleset().rules.formats[0]
    result = notation.RESULTS[game.winner]
    remarks = analysed or remarks_of(game)
    about = {"tags": game.tags, "result": result, "marks": remarks.marks, "comments": remarks.comments}
    about["variations"] = remarks.variations
    return notation.write(form, game.ruleset(), game.position, game.moves, **about)


def to_record(game: ArchivedGame) -> GameRecord:
    """Return a game of the archive as a record, with the marks, comments and variations of its text."""
    found = remarks_of(game)
    return replace(game.record(), marks=found.marks, comments=found.comments, variations=found.variations)


def remarks_of(game: ArchivedGame) -> GameText:
    """Return a game with the marks, comments and variations of its imported text; without a text only its moves."""
    for form in (*game.ruleset().rules.formats, RECORD):
        if form.name == game.format and game.text:
            try:
                texts = form.read(game.text, game.ruleset())
            except ValueError:
                break
            for text in texts:
                if tuple(text.moves) == tuple(game.moves):
                    return text
    return GameText(tuple(game.moves))
