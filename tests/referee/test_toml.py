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


@pytest.mark.parametrize("read", [toml.read, toml.read_plain])
def test_what_people_write_is_read(read: object) -> None:
    assert callable(read)
    assert read(PLAIN) == tomllib.loads(PLAIN)
    assert read(PLAIN.replace("\n", "\r\n")) == tomllib.loads(PLAIN)
    assert read("\ufeff" + PLAIN.replace("\n", "\r")) == tomllib.loads(PLAIN)
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


@pytest.mark.parametrize("read", [toml.read, toml.read_plain])
@pytest.mark.parametrize("text", ["a = ", "a = 1\na = 2", "a = 99-99-99"])
def test_what_is_not_toml_is_said_as_the_parser_says_it(read: object, text: str) -> None:
    assert callable(read)
    with pytest.raises(tomllib.TOMLDecodeError) as expected:
        tomllib.loads(text)
    with pytest.raises(toml.TomlError) as caught:
        read(text)
    assert str(caught.value) == str(expected.value)


def test_times_are_texts_in_utc_where_they_name_no_zone() -> None:
    text = "a = [2026-05-01T12:00:00]\nb = {c = 2026-05-01T12:00:00+02:00}\nd = 2026-05-01"
    found = toml.read_plain(text)
    assert found == {
        "a": ["2026-05-01T12:00:00+00:00"],
        "b": {"c": "2026-05-01T12:00:00+02:00"},
        "d": "2026-05-01",
    }


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(".".join(f"a{number}b{part}" for part in range(8)) + "=1" for number in range(4900)),
        "\n".join(f"a.b.c.d.e.f.g.k{number}=1" for number in range(4900)),
        "\n".join(f"[a.b.c.d.e.f.g.k{number}]" for number in range(2400)),
        "a={" + ",".join(f"a.b.c.d.e.f.g.k{number}=1" for number in range(4900)) + "}",
        'a="' + "\\u0041" * 170_000 + '"',
        "a=[" + ",".join("[" * 11 + "]" * 11 for _ in range(400)) + "]",
    ],
    ids=["keys", "one table", "tables", "inline", "escapes", "lists"],
)
def test_the_most_that_is_within_bounds_is_read_at_once(text: str) -> None:
    begin = time.process_time()
    assert toml.read(text)
    assert time.process_time() - begin < 2


@given(st.text(alphabet="ab.=\"'#\\\n[]{} 1,", max_size=60))
def test_bounds_refuse_nothing_that_is_short_and_whole(text: str) -> None:
    try:
        expected = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    if text.count(".") < toml.MAX_PARTS and sum(map(text.count, "[{")) <= toml.MAX_DEPTH:
        assert toml.read(text) == expected
