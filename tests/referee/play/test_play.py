"""The game loop against scripted executables: moves, clocks, verdicts, what the bots are told."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from referee.bot.bot import LocalBot
from referee.game.record import GameRecord, Ply, RecordError, read_record
from referee.game.record_text import read_texts, write_text
from referee.game.spec import Adjudication, PlannedGame, TimeControl
from referee.play.play import play
from referee.play.roster import Roster
from referee.rules import load
from referee.rules.position import Position
from referee.verify.verification import verify
from tests.badbots.catalogue import FAULTS
from tests.referee.conftest import BLACK, BRIEF, PATIENT, WHITE, scripted

VECTORS = Path(__file__).parents[2] / "data" / "vectors" / "loa.json"
Build = Callable[..., PlannedGame]
SOON = TimeControl("clock", 300, 0)
"""For a bot that never answers."""


def short_games() -> list[dict[str, object]]:
    """Vector games of the standard variant that the rules end within 30 plies."""
    games = json.loads(VECTORS.read_text())["games"]
    return [
        game
        for game in games
        if game["result"] and game["variant"] == "standard" and not game["options"] and 6 < len(game["moves"]) <= 30
    ]


@pytest.mark.parametrize("vector", short_games()[:1], ids=lambda vector: vector["final_position"])
def test_a_whole_game_is_refereed_to_its_end(vector: dict, game: Build, roster: Roster) -> None:
    start = Position.start(load("loa").settle(), vector["position"])
    mine, theirs = vector["moves"][0::2], vector["moves"][1::2]
    if start.side == "second":
        mine, theirs = theirs, mine
    record = play(game(mine, theirs, position=vector["position"]), roster)
    assert (record.winner, record.termination) == (vector["result"]["winner"], vector["result"]["reason"])
    assert list(record.moves) == vector["moves"]
    assert record.final_position == vector["final_position"]
    assert record.kind == "rules"
    verify(record)
    assert read_record(record.line()) == record
    assert list(read_texts(write_text(record))) == [record]


def test_every_ply_says_what_it_took(game: Build, roster: Roster) -> None:
    record = play(game([*BLACK, "resign"], WHITE), roster)
    assert (record.winner, record.termination, record.moves) == ("second", "resigned", tuple(_mixed(BLACK, WHITE)))
    for ply in record.plies:
        assert 0 <= ply.charged_ms <= ply.ms, "0: it has answered before the clock was started"
        assert ply.lag_ms == pytest.approx(ply.ms - ply.charged_ms, abs=0.002)
    assert max(ply.charged_ms for ply in record.plies) > 0


def _mixed(one: list[str], two: list[str]) -> list[str]:
    return [move for pair in zip(one, two, strict=True) for move in pair]


def test_scores_are_recorded_and_forced_wins_are_large(game: Build, roster: Roster) -> None:
    info = ["--say", "info depth 3 score cp 25 nodes 700 pv b1b3 a3a4 {x} b3b4", "--say", "info string thinking aloud"]
    win = ["--say", "info depth 9 score win 5"]
    record = play(game([*info, *BLACK, "resign"], [*win, *WHITE]), roster)
    assert (record.plies[0].score, record.plies[0].depth, record.plies[0].nodes) == (25, 3, 700)
    assert record.plies[1].score == 29_995
    assert (record.plies[0].pv, record.plies[1].pv) == ("b1b3 a3a4", "")
    assert read_record(record.line()) == record
    assert next(read_texts(write_text(record))) == record


@pytest.mark.parametrize(
    "further",
    [
        "info depth 6 score cp -900 upperbound nodes 900",
        "info depth 6 score cp 900 lowerbound nodes 900",
        "info depth 5 multipv 2 score cp -900 nodes 900 pv a3a4",
        "info nodes 900",
    ],
)
def test_scores_that_are_bounds_or_of_other_moves_are_not_recorded(further: str, game: Build, roster: Roster) -> None:
    exact = "info depth 5 multipv 1 score cp 10 nodes 700 pv b1b3"
    rule = Adjudication(resign_moves=1, resign_score=600)
    bounded = ["--say", exact, "--say", further, "--say", "info string done", *BLACK, "resign"]
    record = play(game(bounded, WHITE, adjudication=rule), roster)
    assert record.termination == "resigned"
    ply = record.plies[0]
    assert (ply.score, ply.depth, ply.nodes, ply.pv) == (10, 5, 900, "b1b3")
    alone = play(game(["--say", further, *BLACK, "resign"], WHITE, adjudication=rule), roster)
    assert (alone.plies[0].score, alone.plies[0].nodes, alone.plies[0].pv) == (None, 900, "")


@pytest.mark.parametrize(
    ("word", "said", "score"), [("win", "3", 29_997), ("mate", "-3", -29_997), ("mate", "0", -30_000)]
)
def test_forced_wins_keep_their_sign(word: str, said: str, score: int, game: Build, roster: Roster) -> None:
    record = play(game(["--say", f"info score {word} {said}", *BLACK, "resign"], WHITE), roster)
    assert record.plies[0].score == score


@pytest.mark.parametrize(
    ("answer", "termination"),
    [("b1b4", "illegal-move"), ("------", "illegal-move")],
)
def test_a_bad_move_loses_with_the_evidence(answer: str, termination: str, game: Build, roster: Roster) -> None:
    record = play(game([BLACK[0], answer], WHITE), roster)
    assert (record.winner, record.termination, record.kind) == ("second", termination, "forfeit")
    assert "first (one) lost at ply 3" in record.detail
    assert (answer in record.detail) != (answer == "------")
    assert len(record.moves) == 2
    verify(record)


def test_no_answer_at_all_is_a_stall_and_says_so(game: Build, roster: Roster) -> None:
    record = play(game([], WHITE, time=SOON, limits=BRIEF), roster)
    assert (record.winner, record.termination) == ("second", "stalled")
    assert "no bestmove" in record.detail


def test_without_a_clock_the_longest_wait_ends_it(game: Build, roster: Roster) -> None:
    planned = game([], WHITE, time=TimeControl("depth", 0, 0, 3), limits=replace(PATIENT, move_ms=300))
    assert play(planned, roster).termination == "stalled"


def test_a_program_that_is_not_there_forfeits(game: Build, roster: Roster) -> None:
    missing = replace(scripted("gone"), command=("/no/such/bot",))
    record = play(game(BLACK, WHITE, second=missing), roster)
    assert (record.winner, record.termination) == ("first", "handshake-failed")
    assert "/no/such/bot" in record.detail


def test_a_crash_names_its_exit_code_and_keeps_the_log(game: Build, roster: Roster) -> None:
    crash = replace(scripted("bad"), command=("/bin/sh", "-c", "echo dying >&2; exit 7"))
    record = play(game(BLACK, WHITE, first=crash), roster)
    assert (record.winner, record.termination) == ("second", "handshake-failed")
    assert "exit code 7" in record.detail
    assert record.logs["first"] == "dying\n"


def test_a_draw_is_agreed_by_two_offers_in_a_row(game: Build, roster: Roster) -> None:
    record = play(game([BLACK[0], f"{BLACK[1]}_draw"], [WHITE[0], f"{WHITE[1]}_draw"]), roster)
    assert (record.winner, record.termination, len(record.moves)) == ("draw", "draw-agreed", 4)
    planned = game([BLACK[0], f"{BLACK[1]}_draw", "resign"], WHITE[:2])
    assert play(planned, roster).termination == "resigned"


def test_scores_adjudicate(game: Build, roster: Roster) -> None:
    bad = ["--say", "info score cp -900"]
    good = ["--say", "info score cp 900"]
    rule = Adjudication(resign_moves=2, resign_score=600)
    planned = game([*bad, *BLACK], [*good, *WHITE], adjudication=rule)
    record = play(planned, roster)
    assert (record.winner, record.termination, len(record.moves)) == ("second", "win-by-score", 5)
    verify(record, planned.spec)


def test_plies_limit_draws(game: Build, roster: Roster) -> None:
    record = play(game(BLACK, WHITE, adjudication=Adjudication(max_plies=3)), roster)
    assert (record.winner, record.termination, len(record.moves)) == ("draw", "max-plies", 3)
    verify(record)


def test_openings_are_played_for_the_bots_and_marked(game: Build, roster: Roster) -> None:
    opening = tuple(_mixed(BLACK, WHITE)[:3])
    planned = game(["--echo", *BLACK[2:], "resign"], WHITE[1:], opening=opening)
    record = play(planned, roster)
    assert record.moves == tuple(_mixed(BLACK, WHITE))
    assert [ply.book for ply in record.plies] == [True] * 3 + [False] * 3
    assert f"position startpos moves {' '.join(record.moves[:4])}" in record.logs["first"]


def test_rules_that_change_the_game_must_be_announced(game: Build, roster: Roster) -> None:
    record = play(game(BLACK, WHITE, options={"simultaneous": "mover"}), roster)
    assert (record.termination, record.winner) == ("handshake-failed", "second")
    assert "Rule.simultaneous" in record.detail


def test_variants_that_change_the_start_only_come_as_a_position(game: Build, roster: Roster) -> None:
    record = play(game(["--echo", "resign"], [], variant="scrambled-eggs"), roster)
    assert "position fen 1wbwbwb1/b6w/w6b/b6w/w6b/b6w/w6b/1bwbwbw1 b - 1" in record.logs["first"]
    combo = "option name Variant type combo default standard var standard var scrambled-eggs"
    record = play(game(["--echo", "--option", combo, "resign"], [], variant="scrambled-eggs"), roster)
    assert "setoption name Variant value scrambled-eggs" in record.logs["first"]
    assert "position startpos" in record.logs["first"]


def test_a_bot_that_asks_is_told_the_result(game: Build, roster: Roster, tmp_path: Path) -> None:
    heard = tmp_path / "heard.txt"
    asks = ["--hear", str(heard), "--option", "option name UGI_Result type check default true"]
    play(game([*asks, "resign"], []), roster)
    roster.close()
    assert "result p2win resigned\nquit\n" in heard.read_text()


def test_a_bot_that_asks_is_sent_the_legal_moves_of_each_position(game: Build, roster: Roster) -> None:
    asks = ["--echo", "--option", "option name UGI_LegalMoves type check default true"]
    record = play(game([*asks, *BLACK[:2], "resign"], ["--echo", *WHITE]), roster)
    heard = record.logs["first"].splitlines()
    turns = [line for line in heard if line.startswith(("position", "legal", "go "))]
    assert [line.split()[0] for line in turns] == ["position", "legal", "go"] * 3
    position = Position.start(load("loa").settle())
    for ply, line in enumerate(turns[1::3]):
        assert line == f"legal {' '.join(position.play_all(record.moves[: 2 * ply]).texts)}"
    assert "legal" not in record.logs["second"]


@pytest.mark.parametrize("value", ["", "true"])
def test_a_button_is_pressed_without_a_value(value: str, game: Build, roster: Roster) -> None:
    button = ["--echo", "--option", "option name Clear Hash type button", "resign"]
    planned = game(button, [], first=replace(scripted("one", *button), options=(("Clear Hash", value),)))
    assert "setoption name Clear Hash\n" in play(planned, roster).logs["first"]
    left = replace(planned.spec, first=replace(planned.spec.first, options=(("Clear Hash", "false"),)))
    assert "Clear Hash" not in play(PlannedGame.of(left), roster).logs["first"]


MARKED = ["--echo", *BLACK[:1], "resign"]


def test_the_log_of_a_game_holds_its_own_lines_for_both_bots(game: Build, roster: Roster) -> None:
    """The processes are kept: what they wrote in the game before is not shown again, their start is in the first."""
    planned = game(MARKED, ["--echo", *WHITE])
    records = [play(PlannedGame.of(replace(planned.spec, sequence=number)), roster) for number in (1, 2, 3)]
    for side, moves in (("first", 2), ("second", 1)):
        logs = [record.logs[side].splitlines() for record in records]
        assert [log.count("uginewgame") for log in logs] == [1, 1, 1]
        assert [sum(line.startswith("go ") for line in log) for log in logs] == [moves] * 3
        assert [log[0] for log in logs] == ["ugi", "uginewgame", "uginewgame"]


def test_the_log_of_a_game_that_cannot_begin_is_not_that_of_the_game_before(game: Build, roster: Roster) -> None:
    planned = game(["--echo", "resign"], WHITE)
    play(planned, roster)
    gone = replace(scripted("gone"), command=("/no/such/bot",))
    record = play(PlannedGame.of(replace(planned.spec, second=gone, sequence=2)), roster)
    assert (record.termination, record.loser) == ("handshake-failed", "second")
    assert "go " not in record.logs.get("first", "")


def test_a_game_counts_its_own_anomalies(game: Build, roster: Roster) -> None:
    planned = game(["--say", "ugiok", *MARKED], WHITE)
    records = [play(PlannedGame.of(replace(planned.spec, sequence=number)), roster) for number in (1, 2)]
    assert [record.anomalies for record in records] == [(2, 0), (2, 0)]


def test_a_bot_without_clocks_gets_a_move_time(game: Build, roster: Roster) -> None:
    simple = ["--echo", "--option", "option name UGI_Clocks type check default false"]
    record = play(game([*simple, "resign"], []), roster)
    assert "go movetime" in record.logs["first"]
    assert "p1time" not in record.logs["first"]


def test_periods_of_moves_bring_time_and_openings_are_no_part_of_them(game: Build, roster: Roster) -> None:
    clock = TimeControl("clock", 60_000, 0, moves=2)
    opening = tuple(_mixed(BLACK, WHITE)[:2])
    record = play(game(["--echo", *BLACK[1:], "resign"], ["--echo", *WHITE[1:]], opening=opening, time=clock), roster)
    assert record.time == "2/60+0"
    told = [int(line.split()[2]) for line in record.logs["first"].splitlines() if line.startswith("go ")]
    shown = [int(line.split()[4]) for line in record.logs["second"].splitlines() if line.startswith("go ")]
    assert len(shown) == 2
    spent = [ply.charged_ms for ply in record.plies[2::2]]
    assert told == pytest.approx([60_000, 60_000 - spent[0], 120_000 - sum(spent)], abs=2), "more after two moves"


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_game_that_goes_on_charges_each_side_what_it_used(count: int, game: Build, roster: Roster) -> None:
    moves = _mixed(BLACK, WHITE)
    spent = [Ply(used, used) for used in (10_000.0, 20_000.0, 3_000.0)[:count]]
    replies = [["--echo", *rest, "resign"] for rest in (BLACK[(count + 1) // 2 :], WHITE[count // 2 :])]
    planned = game(*replies, time=TimeControl("clock", 60_000, 0))
    record = play(planned, roster, None, list(zip(moves, spent, strict=False)))
    asked = "first" if count % 2 == 0 else "second"
    (_, _, first_ms, _, second_ms, *_), *_ = [
        line.split() for line in record.logs[asked].splitlines() if line.startswith("go ")
    ]
    used = [sum(ply.ms for ply in spent[side::2]) for side in (0, 1)]
    assert (int(first_ms), int(second_ms)) == (60_000 - used[0], 60_000 - used[1])


def test_each_side_gets_its_own_increment(game: Build, roster: Roster) -> None:
    planned = game(["--echo", *BLACK[:2], "resign"], ["--echo", *WHITE[:2]])
    clocks = (TimeControl("clock", 60_000, 5_000), TimeControl("clock", 60_000, 1_000))
    first, second = (
        replace(bot, time=own) for bot, own in zip((planned.spec.first, planned.spec.second), clocks, strict=True)
    )
    record = play(PlannedGame.of(replace(planned.spec, first=first, second=second)), roster)
    told = [line.split()[1:] for line in record.logs["first"].splitlines() if line.startswith("go ")]
    assert all(words[4:] == ["p1inc", "5000", "p2inc", "1000"] for words in told)
    spent = [sum(ply.charged_ms for ply in record.plies[side::2]) for side in (0, 1)]
    assert int(told[-1][1]) == pytest.approx(60_000 + 2 * 5_000 - spent[0], abs=2)
    assert int(told[-1][3]) == pytest.approx(60_000 + 2 * 1_000 - spent[1], abs=2)


def test_a_bot_without_clocks_gets_a_move_of_the_period(game: Build, roster: Roster) -> None:
    simple = ["--echo", "--option", "option name UGI_Clocks type check default false"]
    record = play(game([*simple, *BLACK[:1], "resign"], WHITE, time=TimeControl("clock", 60_000, 0, moves=2)), roster)
    told = [int(line.split()[2]) for line in record.logs["first"].splitlines() if line.startswith("go movetime")]
    assert told[0] == pytest.approx(60_000 / 2 * 5 / 6, rel=0.05)
    assert told[1] > 1.5 * told[0]


def test_processes_are_used_again_between_games_unless_they_misbehaved(game: Build, roster: Roster) -> None:
    planned = game(["--echo", *BLACK[:1], "a1a9"], WHITE)
    first = play(planned, roster)
    second = play(PlannedGame.of(replace(planned.spec, sequence=2)), roster)
    assert first.termination == second.termination == "illegal-move"
    assert second.logs["first"].count("ugi\n") == 1, "the loser by an illegal move was started afresh"
    quiet = game(["--echo", "resign"], ["--echo"])
    play(quiet, roster)
    again = play(PlannedGame.of(replace(quiet.spec, sequence=2)), roster)
    assert again.logs["first"].count("ugi\n") == 0, "a sound process plays on"


def test_a_process_plays_on_with_other_values_of_its_options(game: Build, roster: Roster) -> None:
    spin = ["--echo", "--option", "option name Skill type spin default 1 min 0 max 9"]
    planned = game([*spin, "resign"], [])

    def played(number: int, *options: tuple[str, str]) -> str:
        bot = replace(planned.spec.first, options=options)
        return play(PlannedGame.of(replace(planned.spec, first=bot, sequence=number)), roster).logs["first"]

    assert played(1, ("Skill", "3")).startswith("ugi\nsetoption name Skill value 3\n")
    assert played(2, ("Skill", "7")).startswith("setoption name Skill value 7\n")
    assert played(3).startswith("ugi\n"), "an option that was set is not left as it is"


def test_nothing_is_left_behind(game: Build) -> None:
    from referee.sandbox import Sandbox
    from referee.sandbox.reaper import children

    with Roster(Sandbox("none")) as roster:
        play(game(["resign"], []), roster)  # the first game of a process opens what it measures lag by, and keeps it
    before, descriptors = children(), len(os.listdir("/proc/self/fd"))
    with Roster(Sandbox("none")) as roster:
        for number in range(1, 4):
            play(game(["resign"], [], sequence=number), roster)
            play(game(["nonsense"], [], sequence=number), roster)
    assert children() <= before
    assert len(os.listdir("/proc/self/fd")) <= descriptors


def test_a_forged_record_is_found_out(game: Build, roster: Roster) -> None:
    record = play(game([*BLACK, "resign"], WHITE), roster)
    verify(record)
    for lie, words in (
        (replace(record, moves=("b1b4", *record.moves[1:])), "^ply 1: illegal move"),
        (replace(record, final_position=record.position), "^final position .* but the record has "),
    ):
        with pytest.raises(RecordError, match=words):
            verify(lie)


def watch_of(seen: list[tuple[int, str]]) -> Callable[[int, str, object], None]:
    return lambda number, move, ply: seen.append((number, move))


def test_watchers_see_every_ply_in_order(game: Build, roster: Roster) -> None:
    seen: list[tuple[int, str]] = []
    record: GameRecord = play(game([*BLACK, "resign"], WHITE), roster, watch_of(seen))
    assert seen == list(enumerate(record.moves, 1))


def test_what_waits_to_be_told_is_told_before_a_bot_is_waited_for(game: Build, roster: Roster) -> None:
    told: list[int] = []
    seen: list[tuple[int, str]] = []
    roster.on_wait = lambda: told.append(len(seen))
    silent = replace(scripted("one"), time=SOON)
    record = play(game([], WHITE, first=silent, opening=tuple(BLACK[:1]), limits=BRIEF), roster, watch_of(seen))
    assert (record.termination, len(seen)) == ("stalled", 2)
    assert told.count(2) == 2, "at once, and once more when what was too recent is due"


def test_both_bots_get_ready_at_the_same_time(
    game: Callable[..., PlannedGame], roster: Roster, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, str]] = []
    for name in ("new_game", "ready"):
        really = getattr(LocalBot, name)

        def noted(bot: LocalBot, name: str = name, really: Callable[[LocalBot], None] = really) -> None:
            told.append((name, bot.spec.name))
            really(bot)

        monkeypatch.setattr(LocalBot, name, noted)
    play(game(["resign"], []), roster)
    assert told == [("new_game", "one"), ("new_game", "two"), ("ready", "one"), ("ready", "two")]


def test_a_bot_that_was_getting_ready_when_the_other_failed_plays_on(
    game: Callable[..., PlannedGame], roster: Roster
) -> None:
    ends = next(fault.bot for fault in FAULTS if fault.name == "exits_on_isready")
    failed = play(game([], ["resign"], first=ends), roster)
    assert (failed.loser, failed.termination) == ("first", "crashed")
    record = play(game(["b1b3", "b1b4"], ["resign"]), roster)
    assert (record.loser, record.termination) == ("second", "resigned")
