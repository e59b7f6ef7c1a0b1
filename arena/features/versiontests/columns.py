"""The columns of lists of tests, on pages and on terminals."""

from __future__ import annotations

from arena.documents.table import Column, text_column
from arena.features.versiontests.documents import VersionTestItem

TESTS: tuple[Column[VersionTestItem], ...] = (
    Column("id", "Test", lambda test: test.id, "id", is_for_terminal=True),
    text_column(
        "name", "Versions", lambda test: f"{test.candidate} – {test.baseline}", "tournament_link", is_heading=True
    ),
    text_column("state", "State", lambda test: test.state, "state"),
    text_column("verdict", "Verdict", lambda test: test.verdict, "word"),
    Column("llr", "LLR", lambda test: test.llr, "signed", hint="log-likelihood ratio"),
    text_column("bounds", "Bounds", lambda test: f"{test.lower:.2f}, {test.upper:.2f}", is_sortable=False, drop=2),
    text_column("elo", "Elo", lambda test: f"{test.elo0:g}, {test.elo1:g}", is_sortable=False, drop=3),
    text_column(
        "pairs",
        "Pairs",
        lambda test: test.pairs,
        hint="pairs in which the new version scored 0, ½, 1, 1½ and 2 points",
        is_sortable=False,
        drop=1,
    ),
    Column("games", "Games", lambda test: test.finished_games),
    text_column("family", "Family", lambda test: test.family, "family", drop=5),
    text_column("time", "Time", lambda test: test.time_control, drop=4),
)
