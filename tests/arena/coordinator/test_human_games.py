"""Human games: durable, resumed, taken back, resigned, abandoned, bounded, and concurrent."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from arena.config_file import read_settings
from arena.coordinator import human_games
from arena.documents.human_game import DecisionRequest, DrawOfferResponse, PlayRequest
from arena.errors import BadValueError, ConflictError, ForbiddenError, QuotaError
from arena.events.messages import GameStarted
from arena.services import people, people_game
from arena.services.people import Visitor
from arena.store import Store
from arena.store.base.tables.games import StoredHumanGame
from arena.store.tournaments.human_games import PendingAction
from referee.rules import load
from referee.rules.position import Position
from referee.verify.verification import verify
from tests.arena.coordinator.humans import Hall, LevelBot, OfferingBot

LOA = load("loa").settle()


@pytest.fixture
def hall(sqlite_store: Store, tmp_path: Path) -> Hall:
    return Hall(sqlite_store, tmp_path)


def _moves(hall: Hall, game: str) -> list[str]:
    return [str(kept[0]) for kept in hall.line(game).plies]


def test_a_game_survives_its_coordinator_and_is_rated_for_users_with_an_account(hall: Hall) -> None:
    hall.establish()
    ann = hall.visitor("ann")
    with hall.open():
        game = hall.begin(ann)
        hall.play(game, ann, "b1-b3")
    before = _moves(hall, game)
    assert before[0] == "b1b3"
    assert len(before) == 2
    # An action without an active coordinator: stored for the next one.
    hall.store.queue.give_back()
    hall.play(game, ann, Position.start(LOA).play_all(before).texts[0], answered=False)
    with hall.open():
        hall.told.until(lambda: len(hall.line(game).plies) == 4)
        assert _moves(hall, game)[:2] == before
        people_game.decide(hall.arena, game, DecisionRequest(do="resign", ply=4), ann)
        hall.over(game)
    assert [event.attempt for event in hall.told.events if isinstance(event, GameStarted)] == [1, 1]
    record = hall.store.games.record(game)
    assert (record.first, record.winner, record.termination.value) == ("@ann", "second", "resigned")
    assert list(record.moves) == _moves(hall, game)
    assert record.time == "none v 1/move"
    board = {line.name: line.games for line in hall.store.ratings.leaderboard("loa/people").items}
    assert board == {"@ann": 1}  # her rating is provisional, so it tells nothing about the bot's
    assert [line.games for line in hall.store.ratings.leaderboard("loa").items] == [100]  # the ladder's is as before
    assert [bot.name for bot in hall.store.bots.page().items] == ["first"]


def test_a_game_with_a_move_taken_back_is_unrated(hall: Hall) -> None:
    ann = hall.visitor("ann")
    with hall.open():
        game = hall.begin(ann)
        with pytest.raises(ConflictError, match="you have not moved yet"):
            people_game.decide(hall.arena, game, DecisionRequest(do="back", ply=0), ann)
        hall.play(game, ann, "b1b3")
        assert hall.line(game).is_rated
        people_game.decide(hall.arena, game, DecisionRequest(do="back", ply=2), ann)
        hall.told.until(lambda: hall.line(game).attempt == 2)
        assert _moves(hall, game) == []
        hall.play(game, ann, "c1c3")
        assert _moves(hall, game)[0] == "c1c3"
        assert not hall.line(game).is_rated
        people_game.decide(hall.arena, game, DecisionRequest(do="resign", ply=2), ann)
        hall.over(game)
    assert hall.store.games.record(game).moves[0] == "c1c3"
    assert hall.store.ratings.leaderboard("loa/people").items == []


def test_the_bot_declines_a_draw_with_a_reason_or_accepts_it(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = hall.visitor("ann")

    def why(game: str) -> str:
        offered = people_game.draw_offer(hall.line(game))
        assert offered is not None
        assert offered.state == "declined"
        return offered.why

    def offer(game: str, answered: bool = True) -> None:
        plies = hall.line(game).plies
        move = Position.start(LOA).play_all([str(ply[0]) for ply in plies]).texts[0]
        people_game.decide(hall.arena, game, DecisionRequest(do="move", ply=len(plies), move=move, draw=True), ann)
        if answered:
            hall.told.until(lambda: len(hall.line(game).plies) == len(plies) + 2)

    with hall.open() as games:
        game = hall.begin(ann)
        offer(game)
        assert why(game) == "the bot reports no scores"
        hall.play(game, ann, Position.start(LOA).play_all(_moves(hall, game)).texts[0])
        assert people_game.draw_offer(hall.line(game)) is None
        games.elsewhere[""] = LevelBot
        game = hall.begin(ann)
        offer(game)
        assert why(game) == "draws are accepted from ply 30 on"
        for module in ("referee.game.adjudication", "arena.services.people_game"):
            monkeypatch.setattr(f"{module}.LEVEL_FROM_PLY", 4)
        monkeypatch.setattr(LevelBot, "score", 130)
        offer(game)
        assert why(game) == "the bot's score is +1.30: it accepts a draw within 0.2 of 0"
        monkeypatch.setattr(LevelBot, "score", -7)
        offer(game, answered=False)
        hall.over(game)
    record = hall.store.games.record(game)
    assert (record.winner, record.termination.value) == ("draw", "draw-agreed")


def test_a_draw_offer_of_the_bot_can_be_accepted_even_after_a_restart(hall: Hall) -> None:
    ann = hall.visitor("ann")

    def offered(game: str) -> bool:
        return people_game.draw_offer(hall.line(game)) == DrawOfferResponse("offered")

    with hall.open():
        game = hall.begin(ann)
        hall.play(game, ann, "b1b3")
        with pytest.raises(ConflictError, match="does not offer a draw"):
            people_game.decide(hall.arena, game, DecisionRequest(do="draw", ply=2), ann)
    hall.store.queue.give_back()
    with hall.open(OfferingBot):
        hall.play(game, ann, Position.start(LOA).play_all(_moves(hall, game)).texts[0])
        assert offered(game)
        hall.play(game, ann, Position.start(LOA).play_all(_moves(hall, game)).texts[0])
        assert offered(game), "it continues, and offers again"
        with pytest.raises(ConflictError, match="position has changed"):
            people_game.decide(hall.arena, game, DecisionRequest(do="draw", ply=4), ann)
    hall.store.queue.give_back()
    with hall.open():
        people_game.decide(hall.arena, game, DecisionRequest(do="draw", ply=6), ann)
        hall.over(game)
    record = hall.store.games.record(game)
    assert (record.winner, record.termination.value, len(record.moves)) == ("draw", "draw-agreed", 6)
    verify(record)


def test_a_draw_offer_before_the_humans_first_move_is_ignored(hall: Hall) -> None:
    ann = hall.visitor("ann")
    with hall.open(OfferingBot):
        game = hall.begin(ann, side="second")
        hall.told.until(lambda: len(hall.line(game).plies) == 1)
        assert people_game.draw_offer(hall.line(game)) is None
        people_game.decide(hall.arena, game, DecisionRequest(do="resign", ply=1), ann)
        hall.over(game)


def test_polling_all_games_reads_no_plies(hall: Hall) -> None:
    ann, guest = hall.visitor("ann"), hall.visitor()
    game, other = hall.begin(ann), hall.begin(guest)
    people_game.decide(hall.arena, game, DecisionRequest(do="resign", ply=0), ann)
    asked = hall.store.people.asked()
    assert list(asked) == [game, other]
    line, theirs = hall.line(game), hall.line(other)
    assert asked[game] == PendingAction(line.asked, is_guest=False, seen_at=line.seen_at, is_streamed=False)
    assert asked[other] == PendingAction(None, is_guest=True, seen_at=theirs.seen_at, is_streamed=False)
    counts = hall.store.people.count_open
    assert (counts(), counts(user_id=ann.user.user_id if ann.user else 0), counts(guest=guest.guest)) == (2, 1, 1)
    hall.store.people.cancel(game)
    assert (list(hall.store.people.asked()), counts()) == ([other], 1)


def test_only_the_player_may_move_and_only_on_their_turn(hall: Hall) -> None:
    guest, ann = hall.visitor(), hall.visitor("ann")
    game = hall.begin(guest)
    assert not hall.line(game).is_rated
    with pytest.raises(ForbiddenError, match="another person's"):
        people_game.decide(hall.arena, game, DecisionRequest(do="move", ply=0, move="b1b3"), ann)
    with pytest.raises(ForbiddenError):
        people_game.decide(
            hall.arena, game, DecisionRequest(do="move", ply=0, move="b1b3"), replace(guest, cookie="d" * 43)
        )
    with pytest.raises(BadValueError, match="illegal"):
        people_game.decide(hall.arena, game, DecisionRequest(do="move", ply=0, move="b1b2"), guest)
    with pytest.raises(ConflictError, match="has changed"):
        people_game.decide(hall.arena, game, DecisionRequest(do="move", ply=1, move="b1b3"), guest)
    other = hall.begin(guest, side="second")
    with pytest.raises(ConflictError, match="not your turn"):
        people_game.decide(hall.arena, other, DecisionRequest(do="move", ply=0, move="b1b3"), guest)
    with pytest.raises(QuotaError, match="you have 2 games open"):
        hall.begin(guest)
    hall.store.people.cancel(game)
    with pytest.raises(ConflictError, match="over"):
        people_game.decide(hall.arena, game, DecisionRequest(do="move", ply=0, move="b1b3"), guest)
    with pytest.raises(BadValueError, match="does not play people"):
        people.begin(hall.arena, PlayRequest(family="loa", bot="nobody"), guest)


def test_an_abandoned_game_is_lost_or_cancelled(sqlite_store: Store, tmp_path: Path) -> None:
    hall = Hall(sqlite_store, tmp_path, human_idle_timeout_minutes=0.005)
    guest = hall.visitor()
    game = hall.begin(guest)
    hall.play(game, guest, "b1b3", answered=False)
    other = hall.begin(guest)
    with hall.open():
        hall.over(game)
        hall.over(other)
    assert hall.store.games.record(game).termination.value == "resigned", "without a clock no time was exceeded"
    assert hall.store.games.record(game).detail.endswith("no move for 0.005 minutes")
    assert hall.line(other).state == "cancelled"


def test_games_of_guests_whose_page_is_gone_end_and_give_their_slots_back(
    sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall = Hall(sqlite_store, tmp_path, human_slots=4)
    gone, unscripted, ann = hall.visitor(), replace(hall.visitor(), cookie="d" * 43), hall.visitor("ann")
    with hall.open():
        left, slow, mine = hall.begin(gone), hall.begin(unscripted), hall.begin(ann)
        hall.told.until(lambda: all(hall.line(game).state == "running" for game in (left, slow, mine)))
        for game, visitor in ((left, gone), (slow, unscripted), (mine, ann)):
            hall.play(game, visitor, "b1b3")
        assert people_game.follows(hall.arena, left, gone)
        assert people_game.follows(hall.arena, mine, ann)
        assert not people_game.follows(hall.arena, slow, gone), (
            "the stream of a spectator says nothing about the player"
        )
        monkeypatch.setattr(human_games, "ABSENCE_TIMEOUT_S", 0.05)
        hall.over(left)
        assert [hall.line(game).state for game in (slow, mine)] == ["running", "running"]
    record = hall.store.games.record(left)
    assert (record.winner, record.termination.value) == ("second", "resigned")
    assert record.detail.endswith("left the game")


def test_waiting_games_of_guests_whose_page_is_gone_are_dropped(
    sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall = Hall(sqlite_store, tmp_path, human_slots=1)
    guest, ann = hall.visitor(), hall.visitor("ann")
    with hall.open():
        running = hall.begin(ann)
        hall.told.until(lambda: hall.line(running).state == "running")
        waiting, mine = hall.begin(guest), hall.begin(ann)
        monkeypatch.setattr(human_games, "ABSENCE_TIMEOUT_S", 0.05)
        hall.over(waiting)
        assert hall.line(waiting).state == "cancelled"
        assert hall.line(mine).state == "planned", "an account keeps its place"


def test_a_waiting_game_stays_while_its_page_reads_it(hall: Hall) -> None:
    guest = hall.visitor()
    game = hall.begin(guest)
    before = hall.line(game).seen_at
    people_game.see(hall.arena, game, guest)
    assert hall.line(game).seen_at == before, "noted at intervals only"
    with hall.store.sessions.writing() as session:
        session.execute(update(StoredHumanGame).values(seen_at=before - 2 * people_game.PRESENCE_INTERVAL))
    people_game.see(hall.arena, game, guest)
    assert hall.line(game).seen_at >= before


def test_games_beyond_the_slots_wait(sqlite_store: Store, tmp_path: Path) -> None:
    hall = Hall(sqlite_store, tmp_path, human_slots=1)
    guest = hall.visitor()
    with hall.open():
        first = hall.begin(guest)
        hall.told.until(lambda: hall.line(first).state == "running")
        second = hall.begin(guest)
        assert people_game.waiting(hall.arena, second) == 1
        people_game.decide(hall.arena, first, DecisionRequest(do="resign", ply=0), guest)
        hall.told.until(lambda: hall.line(second).state == "running")
    assert hall.line(first).state == "cancelled"  # neither side had moved
    (tournament,) = hall.store.tournaments.in_states("open")
    assert (tournament.planned_games, tournament.finished_games) == (1, 0)


def test_twenty_humans_play_at_once(sqlite_store: Store, tmp_path: Path) -> None:
    hall = Hall(sqlite_store, tmp_path, human_slots=27, human_games_per_address=20)
    begin = time.process_time()
    guests = [replace(hall.visitor(), cookie=f"{number:043}") for number in range(20)]
    with hall.open():
        games = [hall.begin(guest) for guest in guests]
        hall.told.until(lambda: all(hall.line(game).state == "running" for game in games))
        for game, guest in zip(games, guests, strict=True):
            hall.play(game, guest, "b1b3")
        for game, guest in zip(games, guests, strict=True):
            people_game.decide(hall.arena, game, DecisionRequest(do="resign", ply=2), guest)
        for game in games:
            hall.over(game)
    assert all(hall.store.games.record(game).winner == "second" for game in games)
    assert time.process_time() - begin < 8


def test_a_game_whose_result_waits_in_the_spool_is_not_started_again(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hall, "_record", lambda _: hall.told.notify())  # the results stay in the spool
    guest = hall.visitor()
    with hall.open() as games:
        game = hall.begin(guest)
        hall.play(game, guest, "b1b3")
        people_game.decide(hall.arena, game, DecisionRequest(do="resign", ply=2), guest)
        hall.told.until(lambda: game in hall.spool.names())
        other = replace(guest, cookie="d" * 43)
        later = hall.begin(other)
        games.wake()
        hall.play(later, other, "b1b3")
    assert [event.game for event in hall.told.events if isinstance(event, GameStarted)] == [game, later]


def test_people_without_an_account_leave_places_and_slots_to_accounts(sqlite_store: Store, tmp_path: Path) -> None:
    hall = Hall(sqlite_store, tmp_path)
    assert (hall.settings.human_slots, hall.settings.guest_slots) == (4, 3)
    guests = [Visitor(None, f"{number:043}", f"198.51.100.{number % 9}") for number in range(40)]
    begun = []
    for guest in guests:
        with suppress(QuotaError):
            begun.append(hall.begin(guest))
    assert len(begun) == 24
    with pytest.raises(QuotaError, match="people without an account wait"):
        hall.begin(guests[-1])
    ada = replace(hall.visitor("ada"), address=guests[0].address)
    with hall.open():
        mine = hall.begin(ada)
        hall.told.until(lambda: all(hall.line(game).state == "running" for game in (mine, *begun[:3])))
        assert [game for game in begun if hall.line(game).state == "running"] == begun[:3], "the fourth of them waits"


def test_people_without_an_account_fill_the_places_of_one_address_only(sqlite_store: Store, tmp_path: Path) -> None:
    hall = Hall(sqlite_store, tmp_path, human_games_per_address=2)
    for number in range(2):
        hall.begin(replace(hall.visitor(), cookie=f"{number:043}"))
    with pytest.raises(QuotaError, match="from your address"):
        hall.begin(hall.visitor())
    hall.begin(hall.visitor("ada"))
    hall.begin(replace(hall.visitor(), address="203.0.113.1"))


@pytest.mark.parametrize(("slots", "for_guests"), [(0, 0), (1, 1), (2, 1), (3, 2), (4, 3), (5, 3), (8, 6), (20, 15)])
def test_guest_slots_are_three_quarters_of_all_and_one_of_one(tmp_path: Path, slots: int, for_guests: int) -> None:
    assert read_settings(None, data=tmp_path, human_slots=slots).guest_slots == for_guests
