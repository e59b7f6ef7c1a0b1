"""The archive as data: searched, shown, written, imported."""

from __future__ import annotations

from tests.arena.api.filled import Arena

GAME = '[Result "1-0"] [Black "Anna"] [White "Bert"] [Number "427"] [Date "2003-07-31"]\n1.a1b2 i5h5 2.a2b3 i6h6\n'
WHERE = "/api/v1/archive"


def test_imports_searches_and_texts(arena: Arena) -> None:
    server, organiser = arena.server, arena.tokens["organiser"]
    words = f"{WHERE}?family=abalone&source=old"
    text = f"{GAME}\n1.a1b2 a1b2\n".encode()
    assert server.post(words, data=text, token=arena.tokens["author"]).status == 403
    done = server.post(words, data=text, token=organiser).json
    assert (done["games"], done["new"], done["known"], done["format"]) == (1, 1, 0, "aba-pro")
    (bad,) = done["bad"]
    assert (bad["line"], bad["move"]) == (4, 2)
    assert server.post(words, data=text, token=organiser).json["known"] == 1
    assert server.post(words, data=b"\xff\xfe", token=organiser).status == 422

    for query in (
        "number=427",
        "player=ann",
        "name=Bert&result=first",
        "since=2003&until=2003",
        "family=abalone&moves=A1b2",
    ):
        found = server.get(f"{WHERE}?{query}").json
        assert found["total"] == 1, query
    (game,) = found["items"]
    assert (game["number"], game["first"], game["date"], game["plies"]) == ("427", "Anna", "2003-07-31", 4)
    assert server.get(f"{WHERE}?source=arena").json["total"] == 0, "they follow when a coordinator is at work"
    assert server.get(f"{WHERE}?moves=a1b2").status == 422
    assert server.get(f"{WHERE}?family=abalone&position=x").json["field"] == "position"

    whole = server.get(f"{WHERE}/{game['serial']}").json
    assert whole["moves"] == ["a1b2", "i5h5", "a2b3", "i6h6"]
    assert "aba-pro-table" in whole["notations"]
    assert server.get(f"/archive/{game['serial']}.json").json == whole
    assert server.get(f"{WHERE}/{game['serial']}/text").body.decode() == GAME
    assert "a1b2" in server.get(f"{WHERE}/{game['serial']}/text?notation=aba-pro-table").body.decode()
    assert server.get(f"{WHERE}/{game['serial']}/text?notation=chess").status == 422
    assert server.get(f"{WHERE}/99").status == 404


def test_pages_of_a_search(arena: Arena) -> None:
    games = "\n\n".join(f'[Black "p{n}"]\n1.a1b2 i5h5 {"2.a2b3" if n % 2 else ""}' for n in range(5))
    arena.server.post(f"{WHERE}?family=abalone&source=many", data=games.encode(), token=arena.tokens["organiser"])
    seen, after = [], ""
    while True:
        page = arena.server.get(f"{WHERE}?source=many&limit=2&sort=length&order=rising{after}").json
        assert page["total"] == 5
        seen += page["items"]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert [one["plies"] for one in seen] == [2, 2, 2, 3, 3]
    assert len({one["serial"] for one in seen}) == 5
