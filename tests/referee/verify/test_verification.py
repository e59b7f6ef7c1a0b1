"""Records verified: by the rules, by the adjudication of their plan, against the plan."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from referee.game.history import GameHistory
from referee.game.record import GameRecord, NetworkFigures, Ply, RecordError, read_record
from referee.game.record_text import read_texts, write_text
from referee.game.spec import Adjudication, GameSpec
from referee.rules import load
from referee.rules.core import Termination
from referee.rules.position import Position
from referee.verify.verification import RecordVerifier, problem_of, verify
from tests.referee.conftest import BLACK, WHITE, a_record, scripted

MOVES = [move for pair in zip(BLACK, WHITE, strict=True) for move in pair]


def planned(adjudication: Adjudication = Adjudication(), **changes: Any) -> GameSpec:  # noqa: B008 - frozen
    """A game of Lines of Action."""
    spec = GameSpec("loa", "standard", scripted("one"), scripted("two"), adjudication=adjudication, sequence=1, pair=1)
    return replace(spec, **changes)


def record_of(
    spec: GameSpec, termination: Termination, winner: str, plies: int, scores: Sequence[int | None] = (), **changes: Any
) -> GameRecord:
    """A record that claims to be of that game: so many plies, with these scores."""
    course = GameHistory(replace(spec, opening=()))
    for number, move in enumerate(MOVES[:plies]):
        score = scores[number] if number < len(scores) else None
        course.push_text(move, Ply(5.0, score=score, book=number < len(spec.opening)))
    claim = a_record(
        position=course.start,
        final_position=course.position,
        winner=winner,
        termination=termination,
        kind=termination.kind,
        moves=tuple(course.moves),
        plies=tuple(course.plies),
        adjudication=spec.adjudication.changes,
        **changes,
    )
    verify(replace(claim, adjudication=None))  # nothing else is wrong with it
    return claim


def refused(record: GameRecord, spec: GameSpec, words: str) -> None:
    """It is wrong, by the plan and by what it says of its own adjudication."""
    for given in (spec, None):
        with pytest.raises(RecordError, match=words):
            verify(record, given)
        assert words in problem_of(record.line(), given)
        assert RecordVerifier().problem_of(record.line(), given) == problem_of(record.line(), given)


def test_a_game_ends_by_its_length_where_its_plan_says() -> None:
    spec = planned(Adjudication(max_plies=4))
    right = record_of(spec, Termination.MAX_PLIES, "draw", 4)
    for given in (spec, None):
        verify(right, given)
    refused(record_of(spec, Termination.MAX_PLIES, "draw", 3), spec, "gives no end of the game after 3 plies")
    refused(record_of(spec, Termination.MAX_PLIES, "draw", 5), spec, "by max-plies after ply 4, the record continues")
    refused(record_of(spec, Termination.MAX_PLIES, "first", 4), spec, "adjudication gives draw by max-plies")
    refused(record_of(spec, Termination.STALLED, "first", 4), spec, "ends it by max-plies")
    refused(record_of(planned(), Termination.MAX_PLIES, "draw", 4), planned(), "no end of the game after 4")


def test_plies_of_the_opening_are_not_adjudicated() -> None:
    spec = planned(Adjudication(max_plies=2), opening=tuple(MOVES[:3]))
    verify(record_of(spec, Termination.MAX_PLIES, "draw", 4), spec)
    refused(record_of(spec, Termination.MAX_PLIES, "draw", 3), spec, "no end of the game after 3 plies")


def test_scores_are_counted_again() -> None:
    spec = planned(Adjudication(resign_moves=2, resign_score=600))
    scores = [-900, 900, -900, 900, -900, 900]
    verify(record_of(spec, Termination.WIN_BY_SCORE, "second", 5, scores), spec)
    refused(record_of(spec, Termination.WIN_BY_SCORE, "first", 5, scores), spec, "gives second by win-by-score")
    refused(record_of(spec, Termination.WIN_BY_SCORE, "second", 4, scores), spec, "no end of the game after 4")
    refused(record_of(spec, Termination.WIN_BY_SCORE, "second", 5, [-900, 900, -500]), spec, "no end of the game")
    even = planned(Adjudication(draw_moves=2, draw_score=10, draw_after_ply=1))
    verify(record_of(even, Termination.DRAW_BY_SCORE, "draw", 4, [0] * 6), even)
    refused(
        record_of(even, Termination.DRAW_BY_SCORE, "draw", 4, [0, 0, 11, 0]), even, "no end of the game after 4 plies"
    )


def test_a_draw_is_agreed_only_where_it_may_be() -> None:
    spec = planned()
    verify(record_of(spec, Termination.DRAW_AGREED, "draw", 4), spec)
    refused(record_of(spec, Termination.DRAW_AGREED, "first", 4), spec, "forbids")
    forbidden = planned(Adjudication(draw_agreement=False))
    refused(record_of(forbidden, Termination.DRAW_AGREED, "draw", 4), forbidden, "forbids")


@pytest.mark.parametrize(("book", "plies", "is_right"), [(0, 2, True), (2, 4, True), (2, 3, False), (2, 2, False)])
def test_a_draw_is_agreed_by_moves_of_both(book: int, plies: int, is_right: bool) -> None:
    spec = planned(opening=tuple(MOVES[:book]))
    record = record_of(spec, Termination.DRAW_AGREED, "draw", plies)
    if is_right:
        verify(record, spec)
    else:
        refused(record, spec, "not with moves of both bots")


def test_who_agrees_to_a_draw_has_chosen_the_last_move() -> None:
    record = record_of(planned(), Termination.DRAW_AGREED, "draw", 4)
    passed = replace(record, plies=(*record.plies[:-1], Ply(book=True)))
    refused(passed, planned(), "not with moves of both bots")


def test_a_record_that_names_no_adjudication_is_judged_by_the_rules_alone() -> None:
    spec = planned()
    record = record_of(spec, Termination.MAX_PLIES, "draw", 4)
    verify(replace(record, adjudication=None))
    with pytest.raises(RecordError, match="unknown adjudication settings"):
        verify(replace(record, adjudication={"coin": 1}))
    assert "adjudication" not in replace(record, adjudication=None).as_json()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"variant": "scrambled-eggs"}, "variant is standard"),
        ({"opening": ("b1d3",)}, "opening is b1b3, but the plan has b1d3"),
        ({"position": "8/8/8/3b4/4w3/8/8/8 b - 1"}, "start is"),
        ({"options": {"repetition": 5}}, "the options"),
        ({"first": scripted("two"), "second": scripted("one")}, "one - two, but the plan has two - one"),
        ({"sequence": 2}, "sequence is 1, but the plan has 2"),
    ],
)
def test_a_record_is_of_the_game_that_was_planned(changes: dict[str, Any], words: str) -> None:
    record = record_of(planned(), Termination.STALLED, "first", 4)
    verify(record, planned())
    assert words in problem_of(record.line(), replace(planned(), **changes))


@pytest.mark.parametrize(
    ("is_asked", "scale", "is_right"), [(True, 4.0, True), (True, 4.1, False), (False, 1.5, False)]
)
def test_clocks_are_scaled_as_far_as_the_plan_allows(is_asked: bool, scale: float, is_right: bool) -> None:
    record = replace(record_of(planned(), Termination.STALLED, "first", 4), clock_scale=scale)
    found = problem_of(record.line(), replace(planned(), scale_clocks=is_asked))
    assert found == "" if is_right else "the scale of the clocks" in found


@pytest.mark.parametrize("termination", [Termination.RESIGNED, Termination.ILLEGAL_MOVE, Termination.TIME])
def test_a_bot_errs_when_it_is_to_move(termination: Termination) -> None:
    verify(record_of(planned(), termination, "second", 4), planned())
    record = record_of(planned(), termination, "first", 4)
    with pytest.raises(RecordError, match=r"second lost by .* when it was not to move"):
        verify(record, planned())
    verify(record)  # people resign when they like


def test_what_a_record_says_of_its_adjudication_survives() -> None:
    record = replace(
        record_of(planned(Adjudication(max_plies=4, resign_both=False)), Termination.MAX_PLIES, "draw", 4),
        at_start=True,
        network={"second": NetworkFigures(latency_ms=12.5)},
        clock_scale=1.5,
    )
    assert record.adjudication == {"max_plies": 4, "resign_both": False}
    assert read_record(record.line()) == record
    assert list(read_texts(write_text(record))) == [record]


def test_a_record_under_another_name_and_one_that_cannot_be_read() -> None:
    record = record_of(planned(), Termination.STALLED, "first", 4)
    assert problem_of(record.line(), planned(), record.id) == ""
    assert problem_of(record.line(), planned(), "another") == f"calls itself {record.id}"
    assert "not a game record" in problem_of("{}", planned())


FAULTS: dict[str, Any] = {
    "one move less": lambda r: {"moves": r.moves[:-1], "plies": r.plies[:-1]},
    "a move twice": lambda r: {"moves": (*r.moves, r.moves[-1]), "plies": (*r.plies, r.plies[-1])},
    "another order": lambda r: {"moves": (r.moves[1], r.moves[0], *r.moves[2:])},
    "no move at all": lambda r: {"moves": ("nonsense", *r.moves[1:])},
    "another winner": lambda r: {"winner": "second" if r.winner == "first" else "first"},
    "another end": lambda r: {
        "termination": Termination.TIME,
        "kind": Termination.TIME.kind,
        "winner": "first",
    },
    "another final position": lambda r: {"final_position": r.position},
    "other adjudication": lambda r: {"adjudication": {"max_plies": len(r.moves) - 1}},
    "other bots": lambda r: {"first": r.second},
    "another variant": lambda r: {"variant": "none such"},
    "an opening": lambda r: {"plies": (replace(r.plies[0], book=True), *r.plies[1:])},
    "nothing": lambda r: {},
}


@pytest.mark.parametrize("family", ["loa", "pijersi"])
def test_many_records_are_judged_as_one_is(family: str) -> None:
    verifier = RecordVerifier()
    verdicts = set()
    for seed in range(3):
        right = _random_game(family, seed)
        seats = scripted(right.first), scripted(right.second)
        spec = GameSpec(family, right.variant, *seats, position=right.position, sequence=1, pair=1)
        assert problem_of(right.line(), spec, right.id) == ""
        for fault, change in FAULTS.items():
            record = replace(right, **change(right))
            for given in (spec, None):
                expected = problem_of(record.line(), given, right.id)
                assert verifier.problem_of(record.line(), given, right.id) == expected, (fault, expected)
                verdicts.add(fault if expected else "")
    assert {"", "one move less", "another order", "no move at all", "another final position"} <= verdicts


def _random_game(family: str, seed: int) -> GameRecord:
    """Played by chance to its end, or to sixty plies and then given up."""
    ruleset = load(family).settle()
    rng, position, moves = random.Random(seed), Position.start(ruleset), []
    start = str(position)
    while len(moves) < 60 and position.outcome is None:
        code = rng.choice(position.moves)
        moves.append(ruleset.rules.notation.write_move(code))
        position = position.play(code)
    outcome = position.outcome
    reason = outcome.reason if outcome else Termination.RESIGNED
    loser_wins = "second" if position.side == "first" else "first"
    return a_record(
        family=family,
        variant=ruleset.variant.name,
        position=start,
        final_position=str(position),
        winner=outcome.winner if outcome else loser_wins,
        termination=reason,
        kind=reason.kind,
        moves=tuple(moves),
        plies=tuple(Ply(5.0) for _ in moves),
        sequence=1,
    )


@pytest.mark.parametrize("family", ["loa", "pijersi"])
def test_a_game_that_is_plainly_right_is_not_judged_the_long_way(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    verifier, line = RecordVerifier(), _random_game(family, 1).line()
    monkeypatch.setattr("referee.verify.verification.verify", lambda *_: pytest.fail("the long way"))
    assert verifier.problem_of(line) == ""
