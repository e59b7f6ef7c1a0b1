"""What each state allows, and what becomes of the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.capabilities import Capabilities
from protocol.errors import BadLine, BadOption, OutOfTurn, ProtocolError
from protocol.messages import (
    BestMove,
    Declared,
    Go,
    Id,
    Info,
    IsReady,
    LegalMoves,
    Quit,
    ReadyOk,
    Response,
    SetOption,
    SetPosition,
    Stop,
    Ugi,
    UgiNewGame,
    UgiOk,
    UgiQuery,
    UgiResult,
    Unknown,
)
from protocol.options import OptionDecl, parse_option
from protocol.parser import parse_referee_line
from protocol.session import (
    MAX_ANOMALIES,
    MAX_FAMILIES,
    MAX_OPTIONS,
    RefereeSession,
)
from protocol.turn import SessionState, Stray
from tests.protocol.bot_session import BotSession

ALL = [
    Ugi(),
    SetOption("a", "b"),
    IsReady(),
    UgiNewGame(),
    SetPosition(),
    LegalMoves(("b1b3",)),
    Go(),
    Stop(),
    Quit(),
    UgiQuery("fen"),
    UgiResult("draw"),
]
IDLE = {SetOption, IsReady, UgiNewGame, SetPosition, LegalMoves, UgiQuery, UgiResult, Quit}


def in_state(state: SessionState) -> RefereeSession:
    session = RefereeSession()
    words = {
        SessionState.STARTED: [],
        SessionState.HANDSHAKE: [Ugi()],
        SessionState.IDLE: [Ugi(), b"ugiok"],
        SessionState.READYING: [Ugi(), b"ugiok", IsReady()],
        SessionState.THINKING: [Ugi(), b"ugiok", SetPosition(), Go()],
        SessionState.CLOSED: [Ugi(), b"ugiok", Quit()],
    }
    for word in words[state]:
        if isinstance(word, bytes):
            session.receive(word)
        else:
            session.send(word)
    assert session.state is state
    return session


@pytest.mark.parametrize(
    ("state", "allowed"),
    [
        (SessionState.STARTED, {Ugi, Quit}),
        (SessionState.HANDSHAKE, {Quit}),
        (SessionState.IDLE, IDLE),
        (SessionState.READYING, {Quit}),
        (SessionState.THINKING, {Stop, Quit}),
        (SessionState.CLOSED, set()),
    ],
)
def test_what_the_referee_may_say(state, allowed):
    for message in ALL:
        session = in_state(state)
        if type(message) in allowed:
            assert session.send(message) == str(message).encode() + b"\n"
        else:
            with pytest.raises(OutOfTurn, match=state.value) as caught:
                session.send(message)
            assert caught.value.state == state.value
            assert session.state is state


def test_every_go_needs_its_own_position(referee):
    referee.send(SetPosition())
    referee.send(Go(depth=1))
    referee.receive(b"bestmove a1b2")
    with pytest.raises(OutOfTurn, match="position before every go"):
        referee.send(Go(depth=1))
    referee.send(SetPosition())
    referee.send(UgiNewGame())
    with pytest.raises(OutOfTurn):
        referee.send(Go(depth=1))


@pytest.mark.parametrize("state", [state for state in SessionState if state is not SessionState.THINKING])
def test_a_bestmove_nobody_asked_for_is_an_error(state):
    session = in_state(state)
    with pytest.raises(OutOfTurn, match="exactly one bestmove"):
        session.receive(b"bestmove a1b2")
    assert session.state is state
    assert list(session.anomalies) == [(state, "bestmove a1b2")]


@pytest.mark.parametrize(
    ("line", "states"),
    [
        (b"id name X", {SessionState.HANDSHAKE}),
        (b"option name X type button", {SessionState.HANDSHAKE}),
        (b"ugiok", {SessionState.HANDSHAKE}),
        (b"readyok", {SessionState.READYING}),
        (b"response true", set()),
        (b"info depth 1", set(SessionState)),
        (b"good evening", set(SessionState)),
    ],
)
def test_what_a_bot_says_elsewhere_is_stray_and_counted(line, states):
    for state in SessionState:
        session = in_state(state)
        message = session.receive(line)
        assert isinstance(message, Stray) is (state not in states)
        assert session.anomaly_count == (state not in states)
        if isinstance(message, Stray):
            assert str(message) == line.decode()
            assert session.state is state


def test_anomalies_are_bounded_and_counted(referee):
    for number in range(MAX_ANOMALIES + 50):
        referee.receive(b"response %d " % number + b"x" * 8000)
    assert referee.anomaly_count == MAX_ANOMALIES + 50
    assert len(referee.anomalies) == MAX_ANOMALIES
    assert all(len(line) <= 300 for _, line in referee.anomalies)
    assert referee.anomalies[-1][1].startswith(f"response {MAX_ANOMALIES + 49} ")


def test_a_malformed_line_is_stray_not_an_error(referee):
    found = referee.receive(b"option name X")
    assert isinstance(found, Stray)
    assert found.message == Unknown("option name X")
    assert "type" in found.reason


def test_options_and_families_are_bounded():
    session = in_state(SessionState.HANDSHAKE)
    for number in range(MAX_OPTIONS + 5):
        session.receive(b"option name Option %d type button" % number)
    for number in range(MAX_FAMILIES + 5):
        session.receive(b"id family f%d" % number)
    session.receive(b"id family f1")
    assert len(session.options) == MAX_OPTIONS
    assert len(session.families) == MAX_FAMILIES
    assert session.anomaly_count == 10


def test_names_are_cut():
    session = in_state(SessionState.HANDSHAKE)
    session.receive(b"id name " + b"x" * 8000)
    assert len(session.name) == 200


def test_ids_repeated_after_the_handshake_are_no_anomaly():
    session = in_state(SessionState.HANDSHAKE)
    for line in (b"id name A", b"id author B", b"id family loa", b"ugiok"):
        session.receive(line)
    for line in (b"id name A", b"id author B", b"id family loa"):
        assert isinstance(session.receive(line), Id)
    for line in (b"id name C", b"id author C", b"id family tablut", b"id nation C"):
        assert isinstance(session.receive(line), Stray)
    assert (session.name, session.author, session.families) == ("A", "B", ("loa",))


@pytest.mark.parametrize(
    ("what", "line", "value"),
    [
        ("gameover", b"response true", "true"),
        ("gameover", b"false", "false"),
        ("p1turn", b" True ", "true"),
        ("result", b"p2win", "p2win"),
        ("fen", b"8/8 w 0 1", "8/8 w 0 1"),
    ],
)
def test_a_query_is_answered_with_and_without_the_word(referee, what, line, value):
    referee.send(SetPosition())
    referee.send(UgiQuery(what))
    assert referee.receive(line) == Response(value)
    assert referee.query is None
    assert isinstance(referee.receive(line), Unknown | Stray)


def test_what_is_no_answer_leaves_the_query_open(referee):
    referee.send(UgiQuery("gameover"))
    for line in (b"", b"p1win", b"info depth 1", b"searching"):
        assert not isinstance(referee.receive(line), Response)
    assert referee.query == "gameover"
    referee.send(SetPosition())
    assert referee.query is None
    assert referee.receive(b"true") == Unknown("true")


def test_no_move_in_a_word_of_its_own(referee):
    assert referee.receive(b"wtf") == Unknown("wtf")
    referee.send(SetPosition())
    referee.send(Go(movetime=1))
    assert referee.receive(b"none") == Unknown("none")  # may be the late answer to `query result`
    assert referee.receive(b"wtf") == BestMove(None)
    assert referee.state is SessionState.IDLE


@pytest.mark.parametrize("text", ["a\nquit", "a\rb"])
def test_no_text_can_smuggle_in_a_second_line(referee, bot, text):
    with pytest.raises(BadLine):
        referee.send(SetOption("Book", text))
    with pytest.raises(BadLine):
        referee.send(SetPosition(text))
    assert referee.state is SessionState.IDLE
    with pytest.raises(BadLine):
        bot.send(Info(text=text))


def test_setoption_in_the_style_the_bot_takes():
    session = RefereeSession(Capabilities(setoption="bare"))
    session.send(Ugi())
    session.receive(b"ugiok")
    assert session.send(SetOption("use-book", "false")) == b"setoption use-book false\n"
    assert session.send(SetOption("clear")) == b"setoption clear\n"


def test_the_referee_says_nothing_but_its_own_words(referee):
    for message in (Unknown("hello"), BestMove("a1b2"), UgiOk()):
        with pytest.raises(OutOfTurn):
            referee.send(message)


@given(
    st.lists(st.one_of(st.binary(max_size=30), st.sampled_from([b"ugiok", b"readyok", b"bestmove a1b2", b"id name X"])))
)
def test_no_bot_can_break_the_session(lines):
    session = RefereeSession()
    session.send(Ugi())
    for line in lines:
        try:
            session.receive(line)
        except OutOfTurn:
            assert line.split()[0] == b"bestmove"
        if session.state is SessionState.IDLE:
            session.send(SetPosition())
            session.send(Go(nodes=1))


# The bot's end ----------------------------------------------------------------------------------------------------


def test_a_bot_speaks_only_when_spoken_to():
    bot = BotSession()
    for message in (Id("name", "X"), UgiOk(), ReadyOk(), BestMove("a1b2"), Response("true"), Info()):
        with pytest.raises(OutOfTurn):
            bot.send(message)
    bot.receive("ugi")
    assert bot.send(UgiOk()) == b"ugiok\n"
    for message in (Id("name", "X"), UgiOk(), ReadyOk(), BestMove("a1b2"), Response("true")):
        with pytest.raises(OutOfTurn):
            bot.send(message)
    with pytest.raises(OutOfTurn):
        bot.send(Declared(OptionDecl("X", "button")))


@pytest.mark.parametrize("line", ["isready", "position startpos", "go depth 1", "uginewgame", "query fen", "stop"])
def test_a_bot_hears_nothing_before_ugi(line):
    with pytest.raises(OutOfTurn, match="ugi and ugiok come first"):
        BotSession().receive(line)


def test_a_bot_hears_no_go_before_a_position(bot):
    with pytest.raises(OutOfTurn, match="position before go"):
        bot.receive("go depth 1")
    bot.receive("position startpos")
    bot.receive("go depth 1")
    for line in ("go depth 1", "position startpos", "uginewgame", "setoption name X", "query fen", "result draw"):
        with pytest.raises(OutOfTurn, match="wait for bestmove"):
            bot.receive(line)
    bot.send(BestMove("a1b2"))
    assert bot.receive("go depth 1") == Go(depth=1)


def test_isready_may_come_again_and_while_thinking(bot):
    bot.receive("isready")
    bot.receive("isready")
    assert bot.state is SessionState.READYING
    bot.send(ReadyOk())
    bot.send(ReadyOk())
    assert bot.state is SessionState.IDLE
    bot.receive("position startpos")
    bot.receive("go infinite")
    bot.receive("isready")
    bot.send(ReadyOk())
    assert bot.state is SessionState.THINKING
    assert bot.receive("stop") == Stop()
    bot.send(BestMove("a1b2"))
    assert bot.receive("stop") == Stray(Stop(), "there is nothing to stop")


def test_options_are_set_by_the_values_announced():
    bot = BotSession()
    bot.receive("ugi")
    for line in ("option name Hash type spin default 16 min 1 max 64", "option name Clear type button"):
        bot.send(Declared(parse_option(line)))
    bot.send(UgiOk())
    bot.receive("setoption name Hash value 032")
    bot.receive("setoption name Clear")
    assert bot.values == {"Hash": "32", "Clear": ""}
    with pytest.raises(BadOption, match=r"known: 1\.\.64"):
        bot.receive("setoption name Hash value 65")
    with pytest.raises(BadOption, match="did you mean Hash"):
        bot.receive("setoption name hash value 2")


def test_the_end_and_after(bot):
    assert bot.receive("quit") == Quit()
    with pytest.raises(OutOfTurn):
        bot.receive("isready")
    with pytest.raises(OutOfTurn):
        bot.send(Info())


def test_a_second_ugi_is_stray(bot):
    assert bot.receive("ugi") == Stray(Ugi(), "ugi was sent before")


@given(st.lists(st.sampled_from([str(message) for message in ALL] + ["hello", "go x", ""])))
def test_no_referee_can_break_a_bot(lines):
    bot = BotSession()
    for line in lines:
        try:
            message = bot.receive(line)
        except ProtocolError:
            continue
        if message == Ugi():
            bot.send(UgiOk())
        elif message == IsReady():
            bot.send(ReadyOk())
        elif isinstance(message, Go):
            bot.send(BestMove("a1b2"))


@given(st.lists(st.sampled_from(ALL)))
def test_what_the_referee_may_say_its_bot_may_hear(messages):
    referee, bot = RefereeSession(), BotSession()
    for message in messages:
        try:
            line = referee.send(message)
        except OutOfTurn:
            continue
        if isinstance(message, SetOption):
            continue
        heard = bot.receive(line.rstrip())
        assert heard == message == parse_referee_line(line.rstrip())
        answer = {Ugi: UgiOk(), IsReady: ReadyOk(), UgiQuery: Response("x")}.get(type(message))
        if answer:
            assert referee.receive(bot.send(answer).rstrip()) == answer
        elif isinstance(message, Stop):
            referee.receive(bot.send(BestMove("a1b2")).rstrip())
        assert referee.state is bot.state
