"""What is known of a bot, as data."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.capabilities import Capabilities, adapted, movetime_for
from protocol.messages import Go, Ugi
from protocol.options import parse_option
from protocol.session import RefereeSession


def after(*lines: str, known: Capabilities | None = None) -> Capabilities:
    session = RefereeSession(known)
    session.send(Ugi())
    for line in (*lines, "ugiok"):
        session.receive(line.encode())
    return session.learned()


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


@given(st.integers(-1000, 10**8), st.integers(0, 10**6), st.integers(0, 10**5))
def test_a_movetime_never_costs_more_than_there_is(time_ms, inc_ms, overhead_ms):
    found = movetime_for(time_ms, inc_ms, overhead_ms)
    assert 1 <= found <= max(1, time_ms - overhead_ms)


@given(st.integers(0, 10**7), st.integers(0, 10**4), st.integers(0, 2000))
def test_a_movetime_grows_with_the_clock(time_ms, inc_ms, overhead_ms):
    assert movetime_for(time_ms, inc_ms, overhead_ms) <= movetime_for(time_ms + 1000, inc_ms + 10, overhead_ms)


def test_a_bot_that_overshoots_by_its_overhead_survives_eighty_moves():
    left, overhead = 60_000, 300
    for _ in range(80):
        left -= movetime_for(left, 500, overhead) + overhead
        assert left >= 0
        left += 500


def test_clocks_become_a_movetime_of_the_own_clock():
    go = Go(p1time=60_000, p2time=2_000, p1inc=0, p2inc=100)
    clockless = Capabilities(clocks=False)
    assert adapted(go, Capabilities(), p1_to_move=True, overhead_ms=0) is go
    assert adapted(go, clockless, p1_to_move=True, overhead_ms=100) == Go(movetime=2300)
    assert adapted(go, clockless, p1_to_move=False, overhead_ms=0) == Go(movetime=155)
    for other in (Go(movetime=5), Go(depth=3), Go(nodes=1), Go(infinite=True)):
        assert adapted(other, clockless, p1_to_move=True, overhead_ms=0) is other
