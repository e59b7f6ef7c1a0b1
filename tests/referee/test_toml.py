"""Texts of strangers cost no more than their length, and are read like any other."""

from __future__ import annotations

import time
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee import toml

PLAIN = '''
name = "a.b.c.d.e.f.g.h.i.j"  # dots in a text are none. "a.b
"quoted.key".x.'y' = 1_000
long = """a "" ["[ \\""""" # and two quotes more
other = \'\'\'it's {{{ \'\'\'\'
list = [[1, 2], [{ a.b = 1e3 }]]
[table.of.things]
path = 'C:\\n'
'''


@pytest.mark.parametrize("read", [toml.read, toml.read_apart])
def test_what_people_write_is_read(read: object) -> None:
    assert callable(read)
    assert read(PLAIN) == tomllib.loads(PLAIN)
    assert read(PLAIN.replace("\n", "\r\n")) == tomllib.loads(PLAIN)
    assert read("") == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a" + ".a" * 20_000 + " = 1", "more than 8 parts"),
        ("a" + " . a" * 20_000 + " = 1", "more than 8 parts"),
        ("'a'" + ".'a'" * 20_000 + " = 1", "more than 8 parts"),
        ("[" + "a." * 20_000 + "a]", "more than 8 parts"),
        ("x = {" + "a." * 20_000 + "a = 1}", "more than 8 parts"),
        ('x = ["""a"""", {' + "a." * 20_000 + 'a = 1}] # "', "more than 8 parts"),
        ("x = [''''a'''', {" + "a." * 20_000 + "a = 1}] # '", "more than 8 parts"),
        ("x = " + "[" * 5000, "more than 12 deep"),
        ("x = " + "{a=" * 13 + "1" + "}" * 13, "more than 12 deep"),
        ("x = " + "1" * 5000, "more than 100 characters"),
        ("x = 0x" + "f" * 5000, "more than 100 characters"),
        ("x = [" + "1," * 11_000 + "]", "more than 5,000"),
        ("x = 'a\ny = 1", "does not end"),
        ('x = """' + '\\"""' * 10_000, "line 1 does not end"),
        ("#" * 2**20 + "#", "longer than 1,048,576 bytes"),
    ],
)
def test_what_would_cost_too_much_is_refused_at_once(text: str, words: str) -> None:
    begin = time.process_time()
    with pytest.raises(toml.TomlError, match=words):
        toml.read(text)
    assert time.process_time() - begin < 1


@pytest.mark.parametrize("read", [toml.read, toml.read_apart])
@pytest.mark.parametrize("text", ["a = ", "a = 1\na = 2", "a = 99-99-99"])
def test_what_is_not_toml_is_said_as_the_parser_says_it(read: object, text: str) -> None:
    assert callable(read)
    with pytest.raises(tomllib.TOMLDecodeError) as expected:
        tomllib.loads(text)
    with pytest.raises(toml.TomlError) as caught:
        read(text)
    assert str(caught.value) == str(expected.value)


def test_reading_apart_has_an_end() -> None:
    with pytest.raises(toml.TomlError, match="not read within"):
        toml.read_apart("a = 1", deadline_s=0.0001)


@given(st.text(alphabet="ab.=\"'#\\\n[]{} 1,", max_size=60))
def test_bounds_refuse_nothing_that_is_short_and_whole(text: str) -> None:
    try:
        expected = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    if text.count(".") < toml.MAX_PARTS and sum(map(text.count, "[{")) <= toml.MAX_DEPTH:
        assert toml.read(text) == expected
