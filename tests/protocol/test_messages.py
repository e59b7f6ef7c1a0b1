"""Every message writes a line that reads as itself; every line reads as something."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from protocol import messages, parser
from protocol.errors import BadLine, ProtocolError
from protocol.messages import (
    NO_MOVES,
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
from protocol.parser import parse_bot_line, parse_referee_line

KEYWORDS = {"name", "type", "default", "min", "max", "var", "value", "moves", "draw", "ponder", "resign", "<empty>"}
INFO_WORDS = {"depth", "nodes", "time", "score", "pv", "string", "seldepth", "multipv", "hashfull", "nps", "tbhits"}

SOURCES = "".join(Path(module.__file__).read_text(encoding="utf-8") for module in (messages, parser))
SPOKEN = sorted(set(re.findall(r'"([^"\s]+)"', SOURCES)))
"""Every word the language itself uses, and then some: what is easiest mistaken for something else."""
WORD = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=8),
    st.sampled_from(SPOKEN),
).filter(lambda word: word not in KEYWORDS | INFO_WORDS | NO_MOVES and word.split() == [word])
TEXT = st.lists(WORD, min_size=1, max_size=4).map(" ".join)
MOVE = st.one_of(st.sampled_from(["a1b2", "()", "(a1b7)", "pass", "0000", "e3e4d2"]), WORD).filter(
    lambda word: word not in ("lowerbound", "upperbound", "currmove", "currmovenumber", "cpuload")
)
NUMBER = st.integers(0, 10**18 - 1)
SCORE = st.integers(-(10**9), 10**9)


@st.composite
def option_decls(draw: st.DrawFn) -> OptionDecl:
    name = draw(TEXT)
    match draw(st.sampled_from(["check", "spin", "combo", "string", "button"])):
        case "check":
            return OptionDecl(name, "check", draw(st.sampled_from([None, "true", "false"])))
        case "spin":
            low, high = sorted((draw(SCORE), draw(SCORE)))
            default = str(draw(st.integers(low, high)))
            return OptionDecl(
                name, "spin", default, draw(st.sampled_from([None, low])), draw(st.sampled_from([None, high]))
            )
        case "combo":
            values = tuple(draw(st.lists(TEXT, min_size=1, max_size=5, unique=True)))
            return OptionDecl(name, "combo", draw(st.sampled_from(values)), values=values)
        case "string":
            return OptionDecl(name, "string", draw(st.one_of(st.none(), st.just(""), TEXT)))
        case _:
            return OptionDecl(name, "button")


FROM_BOT = st.one_of(
    st.builds(Id, st.sampled_from(["name", "author", "family", "colour"]), st.one_of(st.just(""), TEXT)),
    st.builds(Declared, option_decls()),
    st.just(UgiOk()),
    st.just(ReadyOk()),
    st.builds(
        Info,
        depth=st.one_of(st.none(), NUMBER),
        nodes=st.one_of(st.none(), NUMBER),
        time_ms=st.one_of(st.none(), NUMBER),
        score=SCORE,
        score_kind=st.sampled_from(["cp", "win"]),
        pv=st.lists(MOVE, max_size=5).map(tuple),
        text=st.one_of(st.just(""), TEXT),
        bound=st.sampled_from(["", "lowerbound", "upperbound"]),
        multipv=st.integers(1, 9),
    ),
    st.builds(BestMove, MOVE, st.sampled_from([None, "draw"])),
    st.sampled_from([BestMove(None), BestMove(None, "resign"), BestMove(None, "draw"), Info(), Info(text="a word")]),
    st.builds(Response, TEXT),
    st.builds(Unknown, st.one_of(st.just(""), TEXT)),
)
FROM_REFEREE = st.one_of(
    st.sampled_from([Ugi(), IsReady(), UgiNewGame(), Stop(), Quit()]),
    st.builds(SetOption, TEXT, st.one_of(st.none(), st.just(""), TEXT)),
    st.builds(SetPosition, st.one_of(st.none(), TEXT), st.lists(WORD, max_size=5).map(tuple)),
    st.builds(Go, p1time=NUMBER, p2time=NUMBER, p1inc=NUMBER, p2inc=NUMBER),
    st.builds(Go, movetime=st.one_of(st.none(), NUMBER), depth=st.one_of(st.none(), NUMBER)),
    st.builds(Go, nodes=NUMBER, infinite=st.booleans()),
    st.builds(LegalMoves, st.lists(WORD, min_size=1, max_size=5).map(tuple)),
    st.builds(UgiQuery, TEXT),
    st.builds(UgiResult, st.sampled_from(["p1win", "p2win", "draw"]), st.sampled_from(["", "goal", "max-plies"])),
    st.builds(Unknown, TEXT),
)
BOT_VERBS = {"bestmove", "info", "id", "option", "response", "ugiok", "readyok"}
REFEREE_VERBS = {
    "ugi",
    "isready",
    "uginewgame",
    "stop",
    "quit",
    "position",
    "legal",
    "go",
    "setoption",
    "query",
    "result",
}


@given(FROM_BOT)
def test_what_a_bot_writes_reads_as_itself(message):
    assume(not isinstance(message, Unknown) or message.text.split(" ")[0] not in BOT_VERBS)
    line = str(message)
    assert "\n" not in line
    assert parse_bot_line(line) == message
    assert parse_bot_line(line.encode()) == message


@given(FROM_REFEREE)
def test_what_the_referee_writes_reads_as_itself(message):
    assume(not isinstance(message, Unknown) or message.text.split(" ")[0] not in REFEREE_VERBS)
    line = str(message)
    assert "\n" not in line
    assert parse_referee_line(line) == message
    assert parse_referee_line(line.encode()) == message


@given(FROM_BOT, st.integers(1, 3))
def test_extra_blanks_change_nothing(message, blanks):
    assume(not isinstance(message, Unknown | Id | Response) and not getattr(message, "text", ""))
    assert parse_bot_line("  " + str(message).replace(" ", " " * blanks) + " \t ") == message


@given(
    st.one_of(
        st.binary(),
        st.tuples(st.sampled_from(sorted(BOT_VERBS | REFEREE_VERBS)), st.binary()).map(
            lambda p: p[0].encode() + b" " + p[1]
        ),
    )
)
@example(b"bestmove \x00")
@example(b"option name x type spin default " + b"9" * 8000)
@example(b"info score cp " + b"9" * 8000)
@example(b"info depth \xd9\xa3")
@example(b"go depth")
def test_any_bytes_give_a_message_or_a_protocol_error(line):
    for parse in (parse_bot_line, parse_referee_line):
        with suppress(ProtocolError):
            str(parse(line))


@given(st.binary())
def test_a_bestmove_or_info_never_raises(rest):
    assert isinstance(parse_bot_line(b"bestmove " + rest), BestMove)
    assert isinstance(parse_bot_line(b"info " + rest), Info)


@given(
    st.lists(st.sampled_from(["name", "type", "spin", "check", "combo", "default", "min", "max", "var", "7", "-", "x"]))
)
def test_an_option_line_is_read_once_and_for_all(words):
    try:
        option = parse_option("option " + " ".join(words))
    except BadLine:
        return
    words = " ".join([option.name, option.default or "", *option.values]).split()
    assert KEYWORDS & set(words) or parse_option(str(option)) == option


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("bestmove a1b2", BestMove("a1b2")),
        ("bestmove\ta1b2 ", BestMove("a1b2")),
        ("bestmove a1b2 draw", BestMove("a1b2", "draw")),
        ("bestmove a1b2 ponder c3d4", BestMove("a1b2")),
        ("bestmove a1b2 ponder", BestMove("a1b2")),
        ("bestmove a1 b2", BestMove("a1 b2")),
        ("bestmove (b7 a1)", BestMove("(b7 a1)")),
        ("bestmove resign", BestMove(None, "resign")),
        ("bestmove", BestMove(None)),
        ("bestmove   ", BestMove(None)),
        ("bestmove ------", BestMove(None)),
        ("bestmove (none)", BestMove(None)),
        ("bestmove (none) ponder (none)", BestMove(None)),
        ("bestmove wtf", BestMove(None)),
        ("bestmove ------ draw", BestMove(None, "draw")),
        ("bestmove 0000", BestMove("0000")),
        ("bestmove pass", BestMove("pass")),
        ("bestmove ()", BestMove("()")),
        ("bestmovea1b2", Unknown("bestmovea1b2")),
        ("Bestmove a1b2", Unknown("Bestmove a1b2")),
        ("", Unknown("")),
        ("info", Info()),
        ("info null move", Info(text="null move")),
        ('info error "Invalid action"', Info(text='error "Invalid action"')),
        ("info depth 3 seldepth 9 score cp -31 nodes 12 time 5 pv a b c", Info(3, 12, 5, -31, "cp", ("a", "b", "c"))),
        ("info score mate -3", Info(score=-3, score_kind="win")),
        ("info score 34 time 12.75", Info(score=34, time_ms=12)),
        ("info score cp 10 lowerbound nodes 5", Info(score=10, nodes=5, bound="lowerbound")),
        ("info score mate -3 upperbound", Info(score=-3, score_kind="win", bound="upperbound")),
        ("info upperbound depth 3", Info(depth=3)),
        ("info depth 3 multipv 2 score cp -900", Info(depth=3, score=-900, multipv=2)),
        ("info multipv 0 score cp 4", Info(score=4)),
        ("info multipv one score cp 4", Info(score=4)),
        ("info score", Info()),
        ("info score win", Info()),
        ("info score cp 1e5", Info()),
        ("info depth three nodes 7", Info(nodes=7)),
        ("info depth -1 nodes 7", Info(nodes=7)),
        ("info currmove a1b2 currmovenumber 3 depth 2", Info(depth=2)),
        ("info pv a b score cp 3", Info(score=3, pv=("a", "b"))),
        ("info depth 2 string pv  is  unknown", Info(depth=2, text="pv  is  unknown")),
        ("response  p1win ", Response("p1win")),
        ("id name  A  B ", Id("name", "A  B")),
        ("ugiok and more", UgiOk()),
    ],
)
def test_reading_what_bots_write(line, expected):
    assert parse_bot_line(line) == expected


@pytest.mark.parametrize("line", ["id", "id  ", "response", "option", "option name x", "option type spin", "option x"])
def test_malformed_lines_of_known_verbs(line):
    with pytest.raises(BadLine) as caught:
        parse_bot_line(line)
    assert "write: " in caught.value.hint


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("setoption verbose false", SetOption("verbose", "false")),
        ("setoption name Clear Hash", SetOption("Clear Hash")),
        ("setoption name Book file value a  b", SetOption("Book file", "a b")),
        ("setoption name X value", SetOption("X", "")),
        ("setoption name X value <empty>", SetOption("X", "")),
        ("setoption name value value value", SetOption("value", "value")),
        ("position startpos moves", SetPosition()),
        ("position  fen 8/8 w  0 1 moves  a1b2", SetPosition("8/8 w 0 1", ("a1b2",))),
        ("go", Go()),
        ("go movetime 100 searchmoves a1b2", Go(movetime=100)),
        ("go p1time -5 p2time 10", Go(p1time=-5, p2time=10)),
        ("result draw", UgiResult("draw")),
        ("hello", Unknown("hello")),
    ],
)
def test_reading_what_referees_write(line, expected):
    assert parse_referee_line(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "legal",
        "position",
        "position moves a1b2",
        "position fen",
        "position fen moves a",
        "position 8/8 w",
        "go depth",
        "go depth x",
        "setoption",
        "query",
        "result",
        "result white",
        "position startpos a1b2",
    ],
)
def test_lines_a_bot_cannot_use(line):
    with pytest.raises(BadLine):
        parse_referee_line(line)


def test_a_position_never_ends_in_empty_moves():
    assert str(SetPosition()) == "position startpos"
    assert str(SetPosition("8/8 w", ())) == "position fen 8/8 w"


def test_messages_are_small_and_frozen():
    move = BestMove("a1b2")
    with pytest.raises(AttributeError):
        move.move = "c3d4"  # type: ignore[misc]
    assert not hasattr(move, "__dict__")
