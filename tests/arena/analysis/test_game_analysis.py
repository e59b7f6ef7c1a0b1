"""Analyses of whole games: which positions are evaluated how often, with a scripted engine over the protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from arena.analysis.engine import AnalysisEngine, CandidateLine, EngineError, Evaluations, NotAGameError, PositionRef
from arena.analysis.engine_jobs import evaluate_lines_on_request
from arena.analysis.game_analysis import (
    BATCH_NODES,
    analyse,
    analysis_steps,
    annotated,
    evaluate_position,
    first_pass_nodes,
    second_pass_nodes,
)
from arena.analysis.marking import EvaluatedPosition
from arena.analysis.win_model import WinModel
from arena.documents.analysis import GameAnalysis
from referee.game.record import GameRecord
from referee.game.spec import BotSpec
from referee.play.roster import Roster
from referee.rules import load
from referee.rules.position import Position
from referee.rules.rules import Variation
from referee.sandbox import open_sandbox
from tests.arena.analysis.conftest import game_of

WIN_MODEL = WinModel(100.0, "test")
ENGINE = """
import sys
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["ugi"]:
        print("id name scripted\\nid family toy\\nid family loa")
        print("option name UGI_LegalMoves type check\\nugiok", flush=True)
    elif words[:1] == ["isready"]:
        print("readyok", flush=True)
    elif words[:1] == ["position"]:
        plies, move = len(words) - words.index("moves") - 1 if "moves" in words else 0, words[-1]
    elif words[:1] == ["legal"]:
        legal = words[1:]
    elif words[:1] == ["go"]:
        print(plies, words[2], file=sys.stderr, flush=True)
        score = SCORES
        if score is not None:
            print(f"info depth 3 score cp {score} nodes {words[2]} pv LINE", flush=True)
        print("bestmove", BEST, flush=True)
    elif words[:1] == ["quit"]:
        break
"""


@pytest.fixture
def roster() -> Iterator[Roster]:
    with Roster(open_sandbox("none")) as found:
        yield found


def scripted(folder: Path, scores: str, best: str = "'none'", line: str = "a b") -> BotSpec:
    file = folder / "engine.py"
    file.write_text(ENGINE.replace("SCORES", scores).replace("BEST", best).replace("LINE", line))
    return BotSpec("scripted", (sys.executable, "-I", str(file)))


def analysed(record: GameRecord, spec: BotSpec, roster: Roster) -> GameAnalysis:
    with AnalysisEngine(spec, roster, record, record.moves) as engine:
        return analyse(record, engine.evaluate_all, nodes=10, win_model=WIN_MODEL)


def test_analysis_evaluates_every_position_and_borderline_ones_again(tmp_path: Path, roster: Roster) -> None:
    record = game_of(load("loa").settle(), 4)
    # Ply 3 seems to be a blunder; a deeper look finds it sound.
    spec = scripted(tmp_path, "100 if plies == 3 and words[2] == '80' else 0")
    found = analysed(record, spec, roster)
    assert [one.mark for one in found.plies] == [""] * 4
    assert [one.score for one in found.plies] == [0, 0, 0, 0]
    assert (found.engine, found.nodes, found.win_model) == ("scripted", 10, "test")


def test_an_engine_that_asks_is_sent_the_legal_moves(tmp_path: Path, roster: Roster) -> None:
    record = game_of(load("loa").settle(), 4)
    start = Position.start(load("loa").settle())
    with AnalysisEngine(scripted(tmp_path, "len(legal)", "legal[-1]"), roster, record, record.moves) as engine:
        for ply in range(4):
            position = start.play_all(record.moves[:ply])
            evaluated = engine.evaluate((ply, ""), 10)
            assert (evaluated.score, evaluated.best) == (len(position.moves), position.texts[-1])


def test_analysis_marks_confirmed_blunders(tmp_path: Path, roster: Roster) -> None:
    record = game_of(load("loa").settle(), 4)
    analysis = analysed(record, scripted(tmp_path, "400 if plies == 3 else 0"), roster)
    data = asdict(analysis)
    assert annotated(record, data).marks == {3: "??", 4: "??"}
    assert annotated(record, data).variations == ()  # the engine's line is not legal
    assert data["blunders"] == {"first": 1, "second": 1}
    assert data["plies"][2] == {
        "number": 3,
        "side": Position.start(load("loa").settle()).side,
        "move": record.moves[2],
        "score": 0,
        "winning_chances": 0.0,
        "best": "",
        "loss": pytest.approx(0.964, abs=1e-3),
        "mark": "??",
        "line": "a b",
    }


def test_analysis_compares_a_move_with_the_engines_choice(tmp_path: Path, roster: Roster) -> None:
    """The engine's scores alternate by ply, in the same way after every move."""
    record = game_of(load("loa").settle(), 1)
    best = next(text for text in Position.start(load("loa").settle()).texts if text != record.moves[0])
    spec = scripted(tmp_path, "100 if plies == 0 else 200", repr(best))
    assert [(move.loss, move.mark) for move in analysed(record, spec, roster).plies] == [(0, "")]
    (tmp_path / "other").mkdir()
    spec = scripted(tmp_path / "other", "100 if plies == 0 else 200")
    assert analysed(record, spec, roster).plies[0].mark == "??", "it does not say what it would have played"


def test_analysis_with_a_contradicting_choice_searches_again(tmp_path: Path, roster: Roster) -> None:
    """At first the choice looks as bad as the move, so neither loses, but the engine contradicts itself."""
    record = game_of(load("loa").settle(), 1)
    best = next(text for text in Position.start(load("loa").settle()).texts if text != record.moves[0])
    spec = scripted(tmp_path, f"0 if plies == 0 or (move == {best!r} and words[2] == '1000') else 200", repr(best))
    (found,) = analysed(record, spec, roster).plies
    assert (found.loss, found.mark) == (pytest.approx(0.762, abs=1e-3), "??")


def test_analysis_with_a_contradicting_played_choice_searches_again(tmp_path: Path, roster: Roster) -> None:
    record = game_of(load("loa").settle(), 1)
    other = next(text for text in Position.start(load("loa").settle()).texts if text != record.moves[0])
    best = f"{record.moves[0]!r} if words[2] == '80' else {other!r}"
    spec = scripted(tmp_path, f"0 if plies == 0 or move == {other!r} else 200", best)
    (found,) = analysed(record, spec, roster).plies
    assert (found.best, found.loss, found.mark) == (other, pytest.approx(0.762, abs=1e-3), "??")


def test_evaluation_has_the_score_of_each_depth(tmp_path: Path, roster: Roster) -> None:
    """The last score of each depth counts; lines without depth or score do not."""
    told = ("depth 1 score cp 7", "depth 2 score cp 90", "depth 2 score cp 8", "score cp 3", "depth 3 score win 4")
    words = "".join(f"info {line}\n" for line in (*told, "depth 4 nodes 5"))
    spec = scripted(tmp_path, f"sys.stdout.write({words!r}) and None")
    with AnalysisEngine(spec, roster, game_of(load("loa").settle(), 1), ()) as engine:
        found = engine.evaluate((0, ""), 10)
    assert found.depths == ((1, 7), (2, 8), (3, 29_996))


@pytest.mark.parametrize(("score", "is_blunder"), [(29, False), (31, True), (108, True), (111, False)])
def test_loss_near_a_blunder_is_borderline(tmp_path: Path, roster: Roster, score: int, is_blunder: bool) -> None:
    """Losses from 0.15 to 0.5 are borderline, whatever the second pass finds; here it finds a loss."""
    record = game_of(load("loa").settle(), 1)
    spec = scripted(tmp_path, f"0 if plies == 0 else 500 if words[2] == '1000' else {score}")
    (found,) = analysed(record, spec, roster).plies
    assert (found.loss is not None and found.loss > 0.9) is is_blunder


@pytest.mark.parametrize(
    ("nodes", "first", "doubt"),
    [(100, 800, 10_000), (500_000, 4_000_000, 8_000_000), (2_000_000, 8_000_000, 8_000_000), (9_000_000,) * 3],
)
def test_budget_multiplies_nodes_up_to_the_maximum(nodes: int, first: int, doubt: int) -> None:
    assert (first_pass_nodes(nodes), second_pass_nodes(nodes)) == (first, doubt)


def test_evaluate_position_returns_chances_and_line(tmp_path: Path, roster: Roster) -> None:
    record = game_of(load("loa").settle(), 2)
    with AnalysisEngine(scripted(tmp_path, "plies * 50"), roster, record, record.moves) as engine:
        found = evaluate_position(record, engine.evaluate_all, nodes=7, win_model=WIN_MODEL)
    assert (found["score"], found["best"], found["line"], found["nodes"]) == (100, "", ["a", "b"], 7)
    assert found["winning_chances"] == pytest.approx(0.462, abs=1e-3)


def test_engine_without_scores_marks_nothing(tmp_path: Path, roster: Roster) -> None:
    found = analysed(game_of(load("loa").settle(), 2), scripted(tmp_path, "None"), roster)
    assert [(one.score, one.loss, one.mark) for one in found.plies] == [(None, None, "")] * 2


def test_invalid_game_and_silent_engine_raise_errors(tmp_path: Path, roster: Roster) -> None:
    record = game_of(load("loa").settle(), 2)
    with pytest.raises(NotAGameError, match="ply 2"):
        analysed(replace(record, moves=(record.moves[0], "a1a1")), scripted(tmp_path, "0"), roster)
    with pytest.raises(EngineError, match="'mute' cannot analyse"):
        analysed(record, BotSpec("mute", (sys.executable, "-I", "-c", "pass")), roster)
    with pytest.raises(NotAGameError, match="nowhere"):
        analysed(replace(record, variant="nowhere"), scripted(tmp_path, "0"), roster)


def test_a_blunder_has_the_legal_part_of_the_engines_line_as_a_variation() -> None:
    record = game_of(load("loa").settle(), 4)
    before = Position.start(load("loa").settle()).play_all(record.moves[:2])
    other = next(text for text in before.texts if text != record.moves[2])
    plies = [
        {"number": ply, "mark": mark, "line": line, "best": ""}
        for ply, mark, line in ((1, "?", other), (3, "??", f"{other} z9z9 {other}"), (4, "??", record.moves[3]))
    ]
    marked = annotated(record, {"plies": plies})
    assert marked.marks == {1: "?", 3: "??", 4: "??"}
    assert marked.variations == (Variation(3, (other,)),)
    by_people = replace(record, variations=(Variation(1, (other,)),))
    assert annotated(by_people, {"plies": plies}) == by_people


def test_steps_show_the_whole_curve_first_and_marks_at_the_end() -> None:
    record = game_of(load("loa").settle(), 6)
    asked: list[tuple[int, int]] = []

    def ask(spots: Sequence[PositionRef], nodes: int) -> Evaluations:
        asked.append((len(spots), nodes))
        sides = ("first", "second")
        return Evaluations("fake", [EvaluatedPosition(sides[ply % 2], 50, "", "", 9) for ply, _ in spots])  # type: ignore[arg-type]

    nodes = BATCH_NODES // 8 // 3  # three positions in a batch of the first pass
    first, *more, last = analysis_steps(record, ask, nodes=nodes, win_model=WIN_MODEL, has_preview=True)
    assert asked[0] == (7, nodes // 10), "a quick look at every position comes first"
    assert asked[1] == (3, 8 * nodes)
    assert all(count == 1 for count, budget in asked if budget == 100 * nodes)
    assert [len(step.plies) for step in (first, *more)] == [6] * (1 + len(more))
    assert {ply.mark for step in (first, *more) for ply in step.plies} == {""}
    assert [ply.mark for ply in last.plies] == ["??"] * 6
    assert last.analysis is not None
    assert last.analysis.plies == last.plies
    shares = [step.share for step in (first, *more, last)]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] == 1


def test_steps_without_a_preview_show_the_beginning_first() -> None:
    def ask(spots: Sequence[PositionRef], nodes: int) -> Evaluations:
        return Evaluations("fake", [EvaluatedPosition("first", 0, "", "", 9) for _ in spots])

    steps = analysis_steps(game_of(load("loa").settle(), 6), ask, nodes=BATCH_NODES // 8 // 3, win_model=WIN_MODEL)
    assert [len(step.plies) for step in steps] == [2, 5, 6, 6]


def test_game_without_moves_is_analysed_in_one_step() -> None:
    def ask(spots: Sequence[PositionRef], nodes: int) -> Evaluations:
        return Evaluations("fake", [EvaluatedPosition("first", 0, "", "", 9) for _ in spots])

    *_, last = analysis_steps(game_of(load("loa").settle(), 0), ask, nodes=10, win_model=WIN_MODEL)
    assert (last.share, last.plies) == (1, [])


@pytest.mark.parametrize(
    ("after", "sign", "score"),
    [
        (EvaluatedPosition("second", 40), -1, -40),
        (EvaluatedPosition("first", 40), 1, 40),
        (EvaluatedPosition("second", -29_997), -1, 29_996),
        (EvaluatedPosition("second", 29_998), -1, -29_997),
        (EvaluatedPosition("second", result=-1), -1, 29_999),
        (EvaluatedPosition("second", result=0), -1, 0),
        (EvaluatedPosition("second", None), -1, None),
    ],
)
def test_score_of_a_candidate_is_that_of_the_mover(after: EvaluatedPosition, sign: int, score: int | None) -> None:
    assert CandidateLine("move", after, sign).score == score


def test_candidates_are_the_best_other_moves_with_the_best_first(tmp_path: Path, roster: Roster) -> None:
    """The engine finds every move bad for the side that makes it, but two."""
    start = Position.start(load("loa").settle())
    best, good, better, *_ = start.texts
    scores = f"{{{good!r}: 10, {better!r}: -20}}.get(move, 300)"
    with AnalysisEngine(scripted(tmp_path, scores), roster, game_of(load("loa").settle(), 0), ()) as engine:
        candidates = engine.candidates((0, ""), best, 1000, 2)
        assert engine.candidates((0, ""), best, 1000, 0) == []
    assert [line.move for line in candidates] == [better, good]
    assert [round(line.chances(WIN_MODEL) or 0, 3) for line in candidates] == [0.1, -0.05]
    assert [line.after.line for line in candidates] == ["a b", "a b"]


def test_further_lines_begin_with_other_moves_than_the_line_of_the_last_complete_depth(
    tmp_path: Path, roster: Roster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search may end with a better move, of which it knows no complete line."""
    record = game_of(load("loa").settle(), 0)
    shown, ended, *_ = Position.start(load("loa").settle()).texts
    spec = scripted(tmp_path, "10", repr(ended), f"{shown} b")
    monkeypatch.setattr("arena.analysis.engine_jobs.sample_engine", lambda family: spec)
    monkeypatch.setattr("arena.analysis.engine_jobs.slot.roster", lambda: roster)
    evaluations, lines = evaluate_lines_on_request(record.line().encode(), 1000, 3, 100)
    assert (evaluations.scored[0].best, evaluations.scored[0].line) == (ended, f"{shown} b")
    assert len(lines) == 2
    assert shown not in {line.move for line in lines}
