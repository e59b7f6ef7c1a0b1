"""Starts dealt at random: shown to bots as positions, a new one for every pair of games."""

from __future__ import annotations

import pytest

from referee.game.openings import openings
from referee.game.spec import PlannedGame
from referee.play.play import play
from referee.play.roster import Roster
from referee.rules import load
from referee.rules.position import Position
from referee.rules.rules import Ruleset
from referee.tournament.document import read
from referee.tournament.ledger import Ledger
from referee.tournament.openings import draw, size
from referee.verify.verification import verify
from tests.referee.conftest import PATIENT, scripted

PIJERSI = load("pijersi")
KNOWS_SETUPS = ("--option", "option name Setup type string default standard")
DEALT = PIJERSI.settle("half-random")
STANDARD = PIJERSI.settle()


def planned(ruleset: Ruleset, source: str, bots: int = 2, games: int = 4) -> list[PlannedGame]:
    """Games of so many bots, who all know set-ups by name and give up when asked to move."""
    specs = [scripted(f"bot{number}", "--echo", *KNOWS_SETUPS, "resign") for number in range(bots)]
    document = read(
        {
            "name": "deals",
            "family": ruleset.rules.family,
            "variant": ruleset.variant.name,
            "games": games,
            "openings": source,
            "seed": 1,
            "entries": {"bots": [spec.name for spec in specs]},
            "limits": {"start_ms": PATIENT.start_ms, "ready_ms": PATIENT.ready_ms, "move_ms": PATIENT.move_ms},
        }
    )
    ledger = Ledger(document, specs, draw(document, size(document, bots)))
    return ledger.plan(ledger.next_step().matches)


@pytest.mark.parametrize(
    ("ruleset", "source"),
    [(DEALT, "auto"), (STANDARD, "setups:full-random:3"), (STANDARD, "setups:pijersi-8100#random:3")],
    ids=["variant", "deals", "numbers"],
)
def test_a_bot_that_knows_set_ups_is_shown_a_deal_as_a_position(ruleset: Ruleset, source: str, roster: Roster) -> None:
    for game in planned(ruleset, source, games=2):
        record = play(game, roster)
        assert record.termination == "resigned", record.detail
        heard = record.logs["first"].splitlines()
        assert [line for line in heard if line.startswith(("setoption", "position"))] == [
            f"position fen {record.position}"
        ]
        assert record.position == game.spec.position
        verify(record, game.spec)


def test_a_numbered_set_up_is_still_told_by_its_name(roster: Roster) -> None:
    game = planned(PIJERSI.settle("pijersi-8100#1455"), "none", games=1)[0]
    heard = play(game, roster).logs["first"].splitlines()
    assert "setoption name Setup value pijersi-8100#1455" in heard
    assert "position startpos" in heard


@pytest.mark.parametrize("source", ["none", "auto", "random:2", "random:2:9", "setups:half-random"])
def test_every_pair_of_games_gets_a_deal_of_its_own(source: str) -> None:
    games = [game.spec for game in planned(DEALT, source, bots=3, games=5)]
    starts: dict[int, set[str]] = {}
    for spec in games:
        starts.setdefault(spec.pair, set()).add(str(spec.position))
    assert [len(positions) for positions in starts.values()] == [1] * 9
    assert len(set.union(*starts.values())) == 9
    sample = DEALT.variant.position
    for spec in games:
        assert spec.position != sample
        assert len(spec.opening) == (2 if source.startswith("random") else 0)
        assert Position.start(DEALT, spec.position).play_all(spec.opening).outcome is None
    assert [game.id for game in planned(DEALT, source, bots=3, games=5)] == [
        game.id for game in planned(DEALT, source, bots=3, games=5)
    ]
    assert openings(DEALT, source, 4, seed=1) == openings(DEALT, source, 9, seed=1)[:4]
    if source != "random:2:9":
        assert openings(DEALT, source, 4, seed=1) != openings(DEALT, source, 4, seed=2)


def test_openings_of_a_book_are_the_same_for_every_pairing() -> None:
    moves: dict[int, set[tuple[str, ...]]] = {}
    for game in planned(STANDARD, "auto", bots=3):
        moves.setdefault((game.spec.sequence - 1) // 6, set()).add(game.spec.opening)
    assert [len(each) for each in moves.values()] == [1, 1]


def test_a_deal_begins_with_the_phase_before_play() -> None:
    ruleset = PIJERSI.settle("half-random", {"swap_phase": True})
    found = openings(ruleset, "auto", 3, seed=1)
    assert all(str(opening.position).endswith(" swap") for opening in found)
    assert len({opening.position for opening in found}) == 3
