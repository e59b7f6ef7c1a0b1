"""JSON output escapes bidirectional control characters."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from arena.http.broadcast import NDJSON, StreamLine, encode_line
from arena.http.problem import PREFIX, Problem, as_json
from arena.plain_text import escape_bidi_controls
from tests.arena.api.filled import Arena

TURNED = "abc\u202exyz\u2066\u200f\u061c"


@given(st.dictionaries(st.text('aé\u202a\u2069\\"\n'), st.text('aé\u202e\u200e\\"\n')))
def test_what_turns_text_is_written_out_and_means_the_same(data: dict[str, str]) -> None:
    text = as_json(data)
    assert json.loads(text) == data
    assert not set(text) & set("\u202a\u202e\u2069\u200e")
    assert as_json({"é": "ü"}) == '{"é":"ü"}'


def test_it_holds_for_problems_and_streams() -> None:
    body = Problem("invalid", TURNED).response().body
    assert isinstance(body, bytes)
    assert json.loads(body)["detail"] == TURNED
    line = encode_line(StreamLine("ply", 1, {"name": TURNED}), NDJSON)
    assert json.loads(line)["name"] == TURNED
    for data in (body, line):
        assert rb"abc\u202exyz\u2066\u200f\u061c" in data
    assert escape_bidi_controls("plain") == "plain"


def test_it_is_refused_at_the_door_and_harmless_where_it_came_in_before(arena: Arena) -> None:
    server, token = arena.server, arena.tokens["author"]
    wish = {"name": TURNED, "scopes": ["read"]}
    assert server.post(f"{PREFIX}/account/tokens", token=token, body=wish).json["field"] == "name"
    path = f"{PREFIX}/bots/zeta"
    for text in (TURNED, "a\0b"):
        assert server.ask("PATCH", path, token=token, body={"description": text}).json["field"] == "description"
    bot = server.store.bots.find("zeta")
    before = bot.description
    server.store.bots.describe(bot.id or 0, TURNED)
    reply = server.get(path)
    assert reply.json["description"] == TURNED
    assert rb"abc\u202exyz" in reply.body
    server.store.bots.describe(bot.id or 0, before)
