"""Analyses and the arena's database: games read from it, analyses kept in it, the curve its own games have given.

Refuses to know who asks and when.
"""

from __future__ import annotations

from arena.analysis.curve import Curve, shipped
from arena.analysis.fit import Fit, fit
from arena.analysis.work import GameAnalysis
from arena.collections.conversion import to_record
from arena.store import NotFoundError, Store
from arena.store.analyses import AnalysisFigures
from arena.store.models import StoredWinModel as CurveRow
from arena.store.models import now
from referee.record import GameRecord


def read_game(store: Store, name: str) -> GameRecord:
    """A game by its id, or by its number in the archive. Raises NotFoundError."""
    if name.isascii() and name.isdecimal() and len(name) < 10:
        return to_record(store.archive.get(int(name)))
    try:
        return store.games.record(name)
    except NotFoundError:
        serial = store.archive.serial_of(name)
        if serial is None:
            raise
        return to_record(store.archive.get(serial))


def curve_of(store: Store, family: str) -> Curve:
    """The latest curve made from the arena's own games, else the one it came with."""
    found = store.analyses.curve(family)
    return Curve(found.scale, f"own {found.id}") if found else shipped(family)


def keep(store: Store, found: GameAnalysis) -> None:
    """Put an analysis into the database, in place of a former one of the game."""
    summary = found.summary
    known = [one for one in summary.accuracy if one is not None]
    figures = AnalysisFigures(
        game_id=found.game,
        family=found.family,
        judge=found.judge[:80],
        nodes=found.nodes,
        fit=found.fit,
        gaffes=sum(summary.gaffes),
        first_gaffes=summary.gaffes[0],
        second_gaffes=summary.gaffes[1],
        accuracy=min(known, default=None),
        first_accuracy=summary.accuracy[0],
        second_accuracy=summary.accuracy[1],
        turns=summary.turns,
        is_thrown=any(summary.thrown),
        at=now(),
    )
    store.analyses.put(figures, found.as_json())


def fit_curve(store: Store, family: str) -> tuple[Fit, int]:
    """Fit a family's curve anew from all its analysed games with a result, and use it from now on; its number.

    Raises TooFewError.
    """
    seen: list[tuple[int, float]] = []
    games = 0
    for data in store.analyses.scores(family):
        winner = _winner(store, data["game"])
        if winner is None:
            continue
        games += 1
        for ply in data["plies"]:
            if ply["score"] is not None:
                points = 0.5 if winner == "draw" else float(winner == ply["side"])
                seen.append((ply["score"], points))
    found = fit(seen)
    row = CurveRow(family=family, scale=found.scale, games=games, positions=found.positions, log_loss=found.log_loss)
    return found, store.analyses.add_curve(row)


def _winner(store: Store, game_id: str) -> str | None:
    try:
        return read_game(store, game_id).winner
    except NotFoundError:
        return None
