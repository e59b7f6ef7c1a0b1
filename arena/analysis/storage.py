"""Storage of analyses and win models in the arena's database."""

from __future__ import annotations

from dataclasses import asdict

from arena.analysis.win_model import WinModel, WinModelFit, fit, shipped
from arena.clock import now
from arena.collections.conversion import to_record
from arena.documents.analysis import AnalysisFigures, GameAnalysis
from arena.errors import NotFoundError
from arena.store import Store
from arena.store.base.tables.analyses import StoredWinModel
from referee.game.record import GameRecord


def read_game(store: Store, name: str) -> GameRecord:
    """Return the record of a game by its ID, or by its number in the archive. Raises NotFoundError."""
    if name.isascii() and name.isdecimal() and len(name) < 10:
        return to_record(store.archive.get(int(name)))
    try:
        return store.games.record(name)
    except NotFoundError:
        serial = store.archive.serial_of(name)
        if serial is None:
            raise
        return to_record(store.archive.get(serial))


def win_model_of(store: Store, family: str) -> WinModel:
    """Return the latest win model fitted to the arena's own games, otherwise the shipped one."""
    found = store.analyses.win_model(family)
    return WinModel(found.scale, f"own {found.id}") if found else shipped(family)


def save(store: Store, analysis: GameAnalysis) -> None:
    """Store an analysis. It replaces an earlier one of the game."""
    first, second = analysis.accuracy.first, analysis.accuracy.second
    figures = AnalysisFigures(
        game_id=analysis.game,
        family=analysis.family,
        engine=analysis.engine[:80],
        nodes=analysis.nodes,
        win_model=analysis.win_model,
        blunders=analysis.blunders.first + analysis.blunders.second,
        first_blunders=analysis.blunders.first,
        second_blunders=analysis.blunders.second,
        accuracy=min((accuracy for accuracy in (first, second) if accuracy is not None), default=None),
        first_accuracy=first,
        second_accuracy=second,
        turning_points=analysis.turning_points,
        has_blown_win=analysis.blown_win.first or analysis.blown_win.second,
        analysed_at=now(),
    )
    store.analyses.put(figures, asdict(analysis))


def fit_win_model(store: Store, family: str) -> tuple[WinModelFit, int]:
    """Fit the win model of a family to its analysed games with a result. Return the fit and the new model's number.

    The new model is used from now on. Raises TooFewPositionsError.
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
    model = fit(seen)
    row = StoredWinModel(
        family=family, scale=model.scale, games=games, positions=model.positions, log_loss=model.log_loss
    )
    return model, store.analyses.add_win_model(row)


def _winner(store: Store, game_id: str) -> str | None:
    try:
        return read_game(store, game_id).winner
    except NotFoundError:
        return None
