"""A problem with its proof, for the pages that show problems."""

from __future__ import annotations

from arena.features.problems.store import Problems, Proof
from arena.features.problems.tables import StoredProblem
from arena.store import Store

POSITION = "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1"


def set_problem(store: Store, author: int, digest: str = "1", **words: str) -> None:
    """Add a problem; the first one has the number 1."""
    row = StoredProblem(digest=digest, family="loa", variant="standard", position=POSITION, side="first", max_moves=2)
    row.mu, row.sigma, row.created_by = 25.0, 8.0, author
    row.title, row.text = words["title"], words.get("text", "")
    problems = Problems(store.sessions)
    problems.accept(problems.add(row), Proof(1, False, True, 3, "easy", {"d2c3": {}, "d2d4": {}}, 20.0))
