"""Tournaments of every format without a server: played to the end, continued, with bots that fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.game.record import GameRecord
from referee.game.spec import BotSpec, PlannedGame
from referee.machine.run_folder import RunFolder
from referee.rules.core import Kind, Termination
from referee.tournament import formats, openings, preview
from referee.tournament.ledger import Ledger
from referee.tournament.match import PlannedMatch
from tests.referee.tournament.rehearsal import (
    NAMES,
    Instant,
    document_of,
    ledger_of,
    rehearse,
    result_of,
    run_of,
    void_of,
)


@pytest.mark.parametrize("format", formats.names())
def test_a_tournament_of_each_format_is_played_to_its_end(format: str) -> None:
    document = document_of(format)
    ledger = rehearse(document)
    extent = preview.extent(document, len(ledger.bots))
    assert extent.least <= len(ledger.records) <= (extent.most or 0)
    assert len({record.id for record in ledger.records}) == len(ledger.records)
    assert [game.spec.sequence for game in ledger.games] == list(range(1, len(ledger.games) + 1))
    lines = ledger.table().lines
    assert lines[0].name == NAMES[0]
    assert sum(line.games for line in lines) == 2 * len(ledger.records)


@pytest.mark.parametrize("format", formats.names())
def test_a_run_continued_has_the_same_plan_and_the_same_standings(tmp_path: Path, format: str) -> None:
    document, whole = document_of(format), rehearse(document_of(format))
    for left in (5, -1):
        with RunFolder(tmp_path) as folder:
            if folder.open() is None:
                folder.begin({})
            ledger = ledger_of(document)
            for matches, ids in folder.planned():
                assert [game.id for game in ledger.plan(matches)] == ids
            ledger.resume(folder.resume(ledger.games))
            assert len(ledger.records) == (0 if left > 0 else min(5, len(whole.records) // 2) * 2)
            run_of(ledger, Instant(left=left), folder).play()
    assert [game.id for game in ledger.games] == [game.id for game in whole.games]
    assert [record.id for record in ledger.records] == [record.id for record in whole.records]
    assert ledger.table().lines == whole.table().lines
    assert ledger.ratings == whole.ratings


def test_a_torn_step_of_a_plan_is_planned_again(tmp_path: Path) -> None:
    document = document_of("swiss")
    with RunFolder(tmp_path) as folder:
        folder.open()
        folder.begin({})
        folder.resume(())
        run_of(ledger_of(document), Instant(left=5), folder).play()
        steps = folder.plan_path.read_bytes()
        folder.plan_path.write_bytes(steps + steps[:40])
    with RunFolder(tmp_path) as folder:
        folder.open()
        ledger = ledger_of(document)
        for matches, _ in folder.planned():
            ledger.plan(matches)
        ledger.resume(folder.resume(ledger.games))
        run_of(ledger, Instant(), folder).play()
    assert ledger.table().lines == rehearse(document).table().lines
    assert folder.plan_path.read_bytes().startswith(steps)


def test_a_swiss_of_nine_gives_each_round_a_bye() -> None:
    ledger = rehearse(document_of("swiss"))
    byes = {line.name: line.byes for line in ledger.table().lines}
    assert sum(byes.values()) == 4
    assert set(byes.values()) == {0, 1}


def test_a_knockout_has_a_match_for_third_place_and_decides_drawn_matches() -> None:
    ledger = rehearse(document_of("knockout"))
    last = [game.spec for game in ledger.games if game.spec.round == 4]
    assert len({frozenset((spec.first.name, spec.second.name)) for spec in last}) == 2
    assert [line.round for line in ledger.table().lines[:3]] == [5, 4, 3]


def unready(name: str) -> Instant:
    """An executor where a bot never gets ready."""

    def reply(game: PlannedGame) -> GameRecord:
        if name not in (game.spec.first.name, game.spec.second.name):
            return result_of(game)
        how = Termination.HANDSHAKE_FAILED
        winner = "second" if game.spec.first.name == name else "first"
        return result_of(game, winner=winner, termination=how, kind=how.kind, at_start=True)

    return Instant(reply)


@pytest.mark.parametrize("format", formats.names())
def test_a_bot_that_does_not_start_is_withdrawn_and_the_tournament_goes_on(format: str) -> None:
    document = document_of(format, adjudication={"suspend_after": 2})
    ledger = ledger_of(document)
    run = run_of(ledger, unready(NAMES[1]))
    run.play()
    assert run.is_over
    assert ledger.suspension.names == {NAMES[1]: 1}
    (line,) = [line for line in ledger.table().lines if line.name == NAMES[1]]
    assert line.is_withdrawn
    assert line.points - 2 * line.byes == 0
    assert ledger.table().lines[0].name == NAMES[0]


def test_a_suspension_outlives_a_kill() -> None:
    document = document_of("swiss", adjudication={"suspend_after": 2})
    ledger = ledger_of(document)
    executor = unready(NAMES[1])
    executor.left = 4
    run_of(ledger, executor).play()
    again = ledger_of(document)
    again.plan(document.system.next_step(document, again.seeds, [], 8).matches)
    again.resume(ledger.records)
    assert again.suspension.names == ledger.suspension.names == {NAMES[1]: 1}
    assert [seed.is_withdrawn for seed in again.seeds] == [name == NAMES[1] for name in NAMES]


def test_a_game_that_stays_void_does_not_hold_a_tournament_up() -> None:
    def reply(game: PlannedGame) -> GameRecord:
        return void_of(game) if game.spec.sequence == 3 else result_of(game)

    ledger = ledger_of(document_of("swiss"))
    run = run_of(ledger, Instant(reply))
    (void,) = run.play()
    assert (void.sequence, void.kind) == (3, Kind.VOID)
    assert run.is_over
    assert {game.round for game in ledger.played} == {1, 2, 3, 4}


def test_a_decided_test_calls_off_what_is_open_and_stays_decided() -> None:
    document = document_of("sprt")
    ledger = rehearse(document)
    assert ledger.decision().verdict is not None
    assert ledger.decision().verdict.state == "H1"  # type: ignore[union-attr]
    assert len(ledger.records) < len(ledger.games) < 400
    again = ledger_of(document)
    again.plan([PlannedMatch(1, 0, 1, pair) for pair in range(len(ledger.games) // 2)])
    again.resume(ledger.records)
    assert again.open_games
    assert run_of(again, Instant()).play() == []
    assert len(again.records) == len(ledger.records)


def test_a_bot_plays_with_its_handicap_whatever_the_document_calls_it() -> None:
    handicaps = [
        {"bot": "ada v1", "time_control": "1+0"},
        {"bot": "./bob", "against": "ada v1=./ada", "engine_options": {"Hash": 1}},
    ]
    document = document_of(
        "round-robin", entries={"bots": ["ada v1=./ada", "./bob", "./cleo"]}, handicaps=handicaps, games=2
    )
    ledger = Ledger(document, [BotSpec(name, ("./bot",)) for name in NAMES[:3]], openings.draw(document, 1))
    ledger.plan(ledger.next_step().matches)
    settings = {
        (bot.name, other.name, str(bot.time), bot.options)
        for game in ledger.games
        for bot, other in ((game.spec.first, game.spec.second), (game.spec.second, game.spec.first))
    }
    ada, bob, cleo = NAMES[:3]
    assert settings == {
        (ada, bob, "1+0", ()),
        (ada, cleo, "1+0", ()),
        (bob, ada, "None", (("Hash", "1"),)),
        (bob, cleo, "None", ()),
        (cleo, ada, "None", ()),
        (cleo, bob, "None", ()),
    }
