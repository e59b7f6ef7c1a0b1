"""What is known of a bot, as data."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.capabilities import Capabilities, movetime_for, shorten_movetime
from protocol.messages import Ugi
from protocol.options import parse_option
from protocol.session import RefereeSession


def after(*lines: str, known: Capabilities | None = None) -> Capabilities:
    session = RefereeSession(known)
    session.send(Ugi())
    for line in (*lines, "ugiok"):
        session.receive(line.encode())
    return session.merge_capabilities()


def test_a_handshake_fills_in_who_the_bot_is():
    found = after("id name A", "id author B", "id family loa", "option name X type button")
    assert (found.name, found.author, found.families) == ("A", "B", ("loa",))
    assert found.option_map == {"X": parse_option("option name X type button")}
    assert found.clocks
    assert not found.result


@pytest.mark.parametrize(
    ("line", "probed", "clocks"),
    [
        ("option name UGI_Clocks type check default true", False, True),
        ("option name UGI_Clocks type check default false", True, False),
        ("option name Other type button", False, False),
        ("option name Other type button", True, True),
    ],
)
def test_clocks_are_announced_or_probed(line, probed, clocks):
    assert after(line, known=Capabilities(clocks=probed)).clocks is clocks


def test_result_is_sent_to_those_who_announced_it():
    assert after("option name UGI_Result type check default false").result
    assert not after(known=Capabilities(result=True)).result


def test_legal_moves_are_sent_to_those_who_announced_the_option():
    assert after("option name UGI_LegalMoves type check default true").legal_moves
    assert not after(known=Capabilities(legal_moves=True)).legal_moves


def test_what_was_probed_is_kept():
    known = Capabilities(stop=False, repeated_isready=False, query="bare", setoption="bare", newgame=False)
    found = after("id name A", known=known)
    assert (found.stop, found.repeated_isready, found.newgame) == (False, False, False)
    assert (found.query, found.setoption) == ("bare", "bare")


def test_json_and_back():
    found = after(
        "id name A", "id family loa", "option name Book file type string default <empty>", "option name B type button"
    )
    text = json.dumps(found.as_json())
    assert Capabilities.from_json(json.loads(text)) == found
    assert Capabilities.from_json({}) == Capabilities.default()
    assert Capabilities.from_json({"stop": False, "unknown": 1}) == Capabilities(stop=False)


MS = st.integers(0, 2000)


TO_GO = st.none() | st.integers(1, 999)


@given(st.integers(-1000, 10**8), st.integers(0, 10**6), st.integers(0, 10**5), MS, TO_GO)
def test_a_movetime_never_costs_more_than_there_is(time_ms, inc_ms, usual_ms, more_ms, to_go):
    found = movetime_for(time_ms, inc_ms, usual_ms, usual_ms + more_ms, to_go)
    assert 1 <= found <= max(1, time_ms - usual_ms - more_ms)


@given(st.integers(0, 10**7), st.integers(0, 10**4), MS, MS)
def test_a_movetime_grows_with_the_clock(time_ms, inc_ms, usual_ms, more_ms):
    late = usual_ms, usual_ms + more_ms
    assert movetime_for(time_ms, inc_ms, *late) <= movetime_for(time_ms + 1000, inc_ms + 10, *late)


@given(st.integers(1000, 10**7), st.integers(0, 10**4), MS)
def test_never_more_than_half_of_the_share_is_taken_off_while_the_clock_can_pay(time_ms, inc_ms, usual_ms):
    share = time_ms / 25 + inc_ms * 0.75
    if share + usual_ms + 40 * max(0, usual_ms - inc_ms) <= time_ms:
        assert movetime_for(time_ms, inc_ms, usual_ms, usual_ms) >= int(share / 2)


@pytest.mark.parametrize(
    ("time_ms", "inc_ms", "usual_ms", "found"),
    [
        (1000, 50, 0, 64),  # 77.5 is the share
        (1000, 50, 5, 59),
        (1000, 50, 30, 38),  # no less than half
        (1000, 50, 60, 38),
        (400, 50, 60, 1),  # the clock cannot pay for what 40 moves cost beyond the increment
        (10_000, 100, 300, 237),
        (60_000, 600, 300, 2075),
        (0, 50, 0, 1),
    ],
)
def test_the_share_of_one_move(time_ms, inc_ms, usual_ms, found):
    assert movetime_for(time_ms, inc_ms, usual_ms, usual_ms) == found


@pytest.mark.parametrize(("move_ms", "late_ms", "told"), [(500, 0, 500), (500, 33, 467), (500, 400, 250), (1, 9, 1)])
def test_a_move_time_is_shortened_by_half_at_most(move_ms, late_ms, told):
    assert shorten_movetime(move_ms, late_ms) == told


def test_a_bot_that_overshoots_by_its_overhead_survives_eighty_moves():
    left, overhead = 60_000, 300
    for _ in range(80):
        left -= movetime_for(left, 500, overhead, overhead) + overhead
        assert left >= 0
        left += 500


@pytest.mark.parametrize(
    ("to_go", "found"), [(None, 2000), (999, 2000), (25, 2000), (10, 5000), (2, 25_000), (1, 50_000)]
)
def test_a_share_is_larger_where_more_time_comes_soon(to_go, found):
    assert movetime_for(60_000, 0, 0, 0, to_go) == found


def test_a_bot_that_overshoots_survives_every_period():
    left, overhead = 10_000, 300
    for move in range(1, 41):
        left -= movetime_for(left, 0, overhead, overhead, 10 - (move - 1) % 10) + overhead
        assert left >= 0
        if move % 10 == 0:
            left += 10_000
