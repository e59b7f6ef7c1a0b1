"""Documents of tests of two versions, and the columns of lists of them."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field
from datetime import datetime
from typing import Literal

from arena.documents import words
from arena.documents.query import Query, described
from arena.documents.table import Column, text_column
from arena.documents.tournament import TournamentState
from referee.meaning import meaning

Verdict = Literal["stronger", "not stronger", "undecided"]
MAX_BOOK_LENGTH = 100_000
"""Characters of an opening book."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionTestRequest(Query):
    """A test whether `candidate` is stronger than `baseline`: versions of your uploaded bots."""

    candidate: str = described("the version to test, such as zeta v3", words.ENTRY, default=MISSING, option="NEW")
    baseline: str = described("the version to beat, such as zeta v2", words.ENTRY, default=MISSING, option="OLD")
    family: str = described("family of games", words.FAMILY, default=MISSING)
    variant: str | None = described("variant of the family (default: its first)", words.VARIANT)
    time: str = described(
        "time control; a game is short", {"max_length": 40}, default="2+0.05", metavar="TIME", option="--tc"
    )
    elo0: float = described(
        "null hypothesis: stronger by at most this, in Elo", {"ge": -2000, "le": 2000}, default=0.0, metavar="ELO"
    )
    elo1: float = described(
        "alternative hypothesis: stronger by at least this, in Elo",
        {"ge": -2000, "le": 2000},
        default=10.0,
        metavar="ELO",
    )
    games: int | None = described(
        "play at most COUNT games, an even number (default: the most that the server allows)",
        {"ge": 2, "le": 1_000_000},
        metavar="COUNT",
    )
    openings: str | None = described(
        "openings: none, auto, random:PLIES:SEED, setups:VARIANT:SEED or fair:0.05 (default: that of tournaments)",
        {"max_length": 200},
        metavar="SOURCE",
    )
    book: str = described(
        "opening book: one opening on each line", {"max_length": MAX_BOOK_LENGTH}, default="", metavar="FILE"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionTestItem:
    """A test of two versions: a tournament of the format `sprt`. The pairs are counted for the candidate."""

    id: int = field(metadata=meaning("number of its tournament"))
    candidate: str
    baseline: str
    family: str
    variant: str
    state: TournamentState
    verdict: Verdict = field(
        metadata=meaning(
            "of the candidate: `stronger` at the `upper` bound (H1), `not stronger` at the `lower` one (H0)"
        )
    )
    llr: float = field(metadata=meaning("log-likelihood ratio"))
    lower: float
    upper: float
    elo0: float
    elo1: float
    pentanomial: list[int] = field(metadata=meaning("pairs in which the candidate scored 0, ½, 1, 1½ and 2 points"))
    finished_games: int
    max_games: int = field(metadata=meaning("number of games after which the test ends undecided"))
    time_control: str
    created_by: str = field(metadata=meaning("name of the author"))
    created_at: datetime

    @property
    def pairs(self) -> str:
        """The pentanomial counts as text."""
        return " ".join(map(str, self.pentanomial))

    @property
    def is_over(self) -> bool:
        """True if no more games are played."""
        return self.state in ("finished", "cancelled")


@dataclass(frozen=True, slots=True)
class VersionTests:
    """Tests of an author, the latest first, and how many of them may be open at once."""

    items: list[VersionTestItem]
    max_open: int


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
