"""What options accept."""

import pytest

from protocol.errors import BadLine, BadOption
from protocol.options import OptionDecl, parse_option


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "option name Clear the Hash type button",
            OptionDecl("Clear the Hash", "button"),
        ),
        (
            "option name Style type combo default very wild var solid var very wild",
            OptionDecl("Style", "combo", "very wild", values=("solid", "very wild")),
        ),
        ("option type spin max 9 min -9 default 3 name Skill", OptionDecl("Skill", "spin", "3", -9, 9)),
        ("option name Depth type spin", OptionDecl("Depth", "spin")),
        ("option name Depth type spin default 0 min 1 max 4", OptionDecl("Depth", "spin", "0", 1, 4)),
        (
            "option name Log file type string default /var/log max min.txt",
            OptionDecl("Log file", "string", "/var/log max min.txt"),
        ),
        ("option name Book type string default <empty>", OptionDecl("Book", "string", "")),
        ("option name Book type string default", OptionDecl("Book", "string", "")),
        ("option name Book type string", OptionDecl("Book", "string")),
        ("option name Clear type cache type check default True", OptionDecl("Clear type cache", "check", "true")),
        (
            "option name V type combo default solid var solid var default",
            OptionDecl("V", "combo", "solid", values=("solid", "default")),
        ),
        ("option  name   A   B  type  check", OptionDecl("A B", "check")),
    ],
)
def test_reading(line, expected):
    assert parse_option(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "option name X",
        "option name X type",
        "option name X type float default 1.5",
        "option type check default true",
        "option name X type spin default many",
        "option name X type spin default 1 min 9 max 3",
        "option name X type spin min 0x10",
        "option name X type check default maybe",
    ],
)
def test_malformed(line):
    with pytest.raises(BadLine, match="option name N type"):
        parse_option(line)


SPIN = parse_option("option name Hash type spin default 16 min 1 max 4096")
COMBO = parse_option("option name Style type combo default Solid var Solid var very wild")
CHECK = parse_option("option name Ponder type check default false")
STRING = parse_option("option name Book type string default a.bin")
BUTTON = parse_option("option name Clear type button")


@pytest.mark.parametrize(
    ("option", "value", "canonical"),
    [
        (SPIN, "1", "1"),
        (SPIN, "+16", "16"),
        (COMBO, "very wild", "very wild"),
        (COMBO, "solid", "Solid"),
        (CHECK, "TRUE", "true"),
        (STRING, "", ""),
        (STRING, "c:/my books/ü.bin", "c:/my books/ü.bin"),
        (BUTTON, "", ""),
    ],
)
def test_accepted(option, value, canonical):
    assert option.accepts(value)
    assert option.check(value) == canonical


@pytest.mark.parametrize(
    ("option", "value"),
    [
        (SPIN, "0"),
        (SPIN, "4097"),
        (SPIN, "1.5"),
        (SPIN, ""),
        (SPIN, "9" * 5000),
        (SPIN, "١"),
        (COMBO, "wild"),
        (CHECK, "1"),
        (STRING, "two\nlines"),
        (STRING, "nul\x00"),
        (BUTTON, "on"),
        (BUTTON, "true"),  # else a button would be taken for a check
    ],
)
def test_refused(option, value):
    assert not option.accepts(value)
    with pytest.raises(BadOption):
        option.check(value)


def test_an_error_lists_what_there_is():
    with pytest.raises(BadOption, match="did you mean very wild") as caught:
        COMBO.check("verywild")
    assert caught.value.near == ("very wild",)
    with pytest.raises(BadOption, match=r"known: 1\.\.4096"):
        SPIN.check("none")


def test_defaults_are_compared_by_value():
    assert SPIN.is_default("016")
    assert CHECK.is_default("False")
    assert not COMBO.is_default("very wild")
    assert not parse_option("option name X type check").is_default("false")


def test_a_default_that_is_not_listed_is_a_value():
    assert parse_option("option name X type combo default a var b").accepts("a")
