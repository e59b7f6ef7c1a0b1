"""What an error tells its reader."""

from protocol import errors
from protocol.errors import BadLine, BadOption, LineTooLong, OutOfTurn, ProtocolError


def test_the_tree_is_the_one_drawn():
    for kind in (LineTooLong, BadLine, OutOfTurn, BadOption):
        assert issubclass(kind, ProtocolError)
        assert kind.__name__ in (errors.__doc__ or "")
    assert issubclass(ProtocolError, ValueError)


def test_an_error_shows_problem_line_and_hint_in_one_printable_line():
    error = BadLine("wrong", line="id\x00 \x1b[2J" + "x" * 500, hint="write: id name N")
    assert error.line.startswith("id\x00")
    assert error.hint == "write: id name N"
    assert str(error).isprintable()
    assert str(error).endswith("…'; write: id name N")
    assert len(str(error)) < 250


def test_a_long_name_in_an_option_error_is_cut():
    assert len(str(BadOption("option", "x" * 8000, [f"option{n}" for n in range(1000)]))) < 600


def test_options_that_look_alike_are_suggested():
    assert BadOption("option", "Hsah", ["Threads", "Hash"]).near == ("Hash",)
    assert "none exists" in str(BadOption("option", "Hash", []))


def test_a_line_too_long_shows_how_it_begins():
    error = LineTooLong(length=9000, limit=8192, head=b"info pv \xff", complete=[b"readyok"])
    assert error.complete == [b"readyok"]
    assert "9000 bytes" in str(error)
    assert "info pv" in str(error)
