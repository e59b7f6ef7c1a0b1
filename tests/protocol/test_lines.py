"""Laws of the splitter: the lines are the same however the bytes arrive, and memory is bounded."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.errors import LineTooLong
from protocol.lines import LineSplitter, text

STREAM = st.lists(
    st.one_of(st.binary(max_size=12), st.sampled_from([b"\n", b"\r\n", b"\r", b"\n\n", b"bestmove a1b2\n", b"x" * 9])),
    max_size=30,
).map(b"".join)


def fed(splitter: LineSplitter, chunks: list[bytes]) -> list[bytes | int]:
    """Everything that comes out, in order; a line that is too long as its limit."""
    out: list[bytes | int] = []
    for chunk in chunks:
        data = chunk
        while True:
            try:
                out += splitter.feed(data)
                break
            except LineTooLong as error:
                out += [*error.complete, error.limit]
                data = b""
    return out


def cut(data: bytes, places: list[int]) -> list[bytes]:
    marks = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(marks)]


@given(STREAM, st.lists(st.integers(0, 400), max_size=20), st.integers(1, 12))
def test_chunking_does_not_matter(data, places, limit):
    expected: list[bytes | int] = []
    *whole, rest = data.split(b"\n")
    for line in whole:
        expected.append(limit if len(line) > limit else line.removesuffix(b"\r"))
    if len(rest) > limit:
        expected.append(limit)
    splitter = LineSplitter(limit)
    assert fed(splitter, cut(data, places)) == expected
    assert splitter.pending == (0 if len(rest) > limit else len(rest))


@given(STREAM)
def test_one_byte_at_a_time_is_the_same_as_all_at_once(data):
    one = fed(LineSplitter(8), [data[i : i + 1] for i in range(len(data))])
    assert one == fed(LineSplitter(8), [data])


def test_memory_is_bounded_by_the_limit(splitter):
    for fed_bytes in range(100, 8200, 100):
        assert splitter.feed(b"x" * 100) == []
        assert splitter.pending == fed_bytes
    with pytest.raises(LineTooLong) as caught:
        splitter.feed(b"x" * 100)
    assert caught.value.length == 8200
    for _ in range(100):
        assert splitter.feed(b"y" * 100_000) == []
        assert splitter.pending == 0
    assert splitter.feed(b"\nbestmove a1b2\r\n") == [b"bestmove a1b2"]


def test_the_line_before_and_the_line_after_one_too_long_are_kept():
    splitter = LineSplitter(limit=10)
    with pytest.raises(LineTooLong) as caught:
        splitter.feed(b"before\n" + b"x" * 11 + b"\nafter\nand ")
    assert caught.value.complete == [b"before"]
    assert caught.value.head == b"x" * 11
    assert "10 are allowed" in str(caught.value)
    assert splitter.feed(b"so on\n") == [b"after", b"and so on"]


@pytest.mark.parametrize("length", [8191, 8192])
def test_the_limit_itself_is_allowed(splitter, length):
    assert splitter.feed(b"x" * length + b"\n") == [b"x" * length]


def test_one_more_than_the_limit_is_not(splitter):
    with pytest.raises(LineTooLong):
        splitter.feed(b"x" * 8193 + b"\n")


def test_only_one_carriage_return_belongs_to_the_line_end(splitter):
    assert splitter.feed(b"a\r\r\n\r\n\n") == [b"a\r", b"", b""]


def test_text_shows_what_cannot_be_seen():
    assert text("déjà vu".encode()) == "déjà vu"
    assert text(b"a\x00b\x1b[31m\t\xff\xe2\x80\xae") == "a\\x00b\\x1b[31m\\t\ufffd\\u202e"


@given(st.binary(max_size=60))
def test_text_is_always_printable(line):
    assert text(line).isprintable()
