"""The archive over HTTP: search, details, texts, import."""

from __future__ import annotations

import json

import pytest

from arena.__main__ import main
from tests.arena.api.filled import Arena
from tests.arena.field import read_imports

GAME = '[Result "1-0"] [Black "Anna"] [White "Bert"] [Number "427"] [Date "2003-07-31"]\n1.a1b2 i5h5 2.a2b3 i6h6\n'
WHERE = "/api/v1/archive"


def test_imports_searches_and_texts(arena: Arena) -> None:
    server, organiser = arena.server, arena.tokens["organiser"]
    words = f"{WHERE}?family=abalone&source=old"
    text = f"{GAME}\n1.a1b2 a1b2\n".encode()
    assert server.post(words, data=text, token=arena.tokens["author"]).status == 403
    begun = server.post(words, data=text, token=organiser)
    assert (begun.status, begun.json["state"], begun.json["read"]) == (202, "waiting", 0)
    read_imports(server.store)
    where = begun.headers["Location"]
    assert where == f"{WHERE}/imports/{begun.json['id']}"
    assert server.get(where).status == 401
    assert server.get(where, token=arena.tokens["author"]).status == 403
    done = server.get(where, token=organiser).json
    assert (done["state"], done["read"], done["format"]) == ("done", done["lines"], "aba-pro")
    assert (done["games"], done["new"], done["known"], done["rejected"]) == (1, 1, 0, 1)
    (bad,) = done["bad"]
    assert (bad["line"], bad["move"]) == (4, 2)
    again = server.post(words, data=text, token=organiser).headers["Location"]
    read_imports(server.store)
    assert server.get(again, token=organiser).json["known"] == 1
    assert server.post(words, data=b"\xff\xfe", token=organiser).status == 422

    for query in (
        "number=427",
        "player=ann",
        "name=Bert&result=first",
        "since=2003&until=2003",
        "family=abalone&moves=A1b2",
    ):
        page = server.get(f"{WHERE}?{query}").json
        assert page["total"] == 1, query
    (game,) = page["items"]
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
    read_imports(arena.server.store)
    seen, after = [], ""
    while True:
        page = arena.server.get(f"{WHERE}?source=many&limit=2&sort=length&order=rising{after}").json
        assert page["total"] == 5
        seen += page["items"]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert [game["plies"] for game in seen] == [2, 2, 2, 3, 3]
    assert len({game["serial"] for game in seen}) == 5


def test_what_was_played_in_a_position_is_the_same_here_and_on_the_command_line(
    arena: Arena, capsys: pytest.CaptureFixture[str]
) -> None:
    server = arena.server
    games = GAME.replace("Anna", "Ann") + '\n\n[Black "Cleo"] [White "Bert"]\n1.a1b2 i6h6'
    server.post(f"{WHERE}?family=abalone&source=two", data=games.encode(), token=arena.tokens["organiser"])
    read_imports(server.store)
    explored = server.get("/api/v1/explorer/abalone?moves=a1b2&source=two").json
    assert explored["games"] == len(explored["moves"]) == 2
    (played,) = [move for move in explored["moves"] if move["move"] == "i5h5"]
    assert (played["games"], played["first"], played["score"], played["last"]) == (1, 1, 0.0, "2003-07-31")
    assert (played["best"]["first"], played["same"]) == ("Ann", [])
    assert server.get("/abalone/explorer.json?moves=a1b2&source=two").json == explored
    assert server.get("/api/v1/explorer/abalone?moves=a1b9").json["field"] == "moves"
    start = server.get("/api/v1/explorer/abalone").json
    assert server.get("/api/v1/explorer/abalone?moves=").json == start
    assert server.get("/api/v1/explorer/abalone?variant=none").status == 422
    assert server.get("/api/v1/explorer/abalone?rating=25").json["games"] == 0
    assert server.get("/api/v1/explorer/abalone?rating=strong").json["field"] == "rating"
    assert server.get("/api/v1/explorer/chess").status == 404

    asked = ["explore", "abalone", "--moves", "a1b2", "--source", "two"]
    for where in (["--server", f"http://127.0.0.1:{server.port}"], ["--database", server.store.url]):
        assert main([*asked, *where, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"schema": 1, **explored}, where
    assert main([*asked, *where]) == 0
    assert "i5h5" in capsys.readouterr().out
    assert main([*asked, *where, "--bot", "nobody"]) == 0
    assert "no game" in capsys.readouterr().err
