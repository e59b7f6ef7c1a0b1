"""Responses of every route for a small arena with known contents."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest

from arena import services
from arena.documents.game import GameQuery
from arena.http.kept_files import KeptFiles
from arena.http.problem import PREFIX
from arena.http.response_cache import ResponseCache
from referee.bot.file import BotFile
from referee.game.record import read_record
from referee.game.record_text import read_texts
from referee.rules import families
from tests.arena.api.filled import Arena, planned, void_of


def items(arena: Arena, path: str, token: str | None = None) -> list[dict[str, object]]:
    reply = arena.server.get(PREFIX + path, token=token)
    assert reply.status == 200, reply.body
    assert set(reply.json) >= {"items", "next"}
    found: list[dict[str, object]] = reply.json["items"]
    return found


def test_the_index_leads_to_every_list(arena: Arena) -> None:
    index = arena.server.get(PREFIX).json
    for path in [*index["lists"].values(), index["openapi"], index["docs"]]:
        assert arena.server.get(path).status == 200, path


def test_families(arena: Arena) -> None:
    assert [item["family"] for item in items(arena, "/families")] == list(families())
    found = arena.server.get(f"{PREFIX}/families/loa").json
    assert found["sides"] == ["Black", "White"]
    assert found["variants"][0]["position"]
    assert {"name", "type", "values", "default", "changes", "meaning"} <= set(found["options"][0])


def test_leaderboard(arena: Arena) -> None:
    leaderboard = arena.server.get(f"{PREFIX}/leaderboards/loa").json
    lines = leaderboard["items"]
    assert {line["bot"] for line in lines} == {"random", "greedy", "alphabeta"}
    values = [line["conservative"] for line in lines]
    assert values == sorted(values, reverse=True)
    assert [line["place"] for line in lines] == [1, 2, 3]
    assert all(line["rank"] is None for line in lines), "nobody has played enough to be ranked"
    assert (leaderboard["needed_games"], leaderboard["pool"]) == (20, "loa")
    assert items(arena, "/leaderboards")[0]["pool"] == "loa"
    assert items(arena, "/leaderboards/tablut") == []


def test_bots(arena: Arena) -> None:
    names = [item["name"] for item in items(arena, "/bots")]
    assert names == sorted(names)
    assert [item["name"] for item in items(arena, "/bots?owner=author")] == ["zeta"]
    assert "zeta" not in [item["name"] for item in items(arena, "/bots?family=loa")], "its only version failed"
    assert arena.server.get(f"{PREFIX}/bots?owner=nobodyatall").status == 404
    bot = arena.server.get(f"{PREFIX}/bots/greedy").json
    assert bot["owner"] == "arena"
    assert bot["versions"][0]["families"]["loa"]
    assert bot["versions"][0]["fit_from_ms"] == {}, "a sample is not checked"
    assert bot["ratings"][0]["pool"] == "loa"


def test_a_version_and_its_rating_line(arena: Arena) -> None:
    version = arena.server.get(f"{PREFIX}/bots/greedy/versions/1").json
    assert (version["name"], version["state"]) == ("greedy v1", "active")
    assert version["url"] == f"{PREFIX}/submissions/{version['id']}"
    assert arena.server.get(version["url"]).json["name"] == "greedy v1"
    line = items(arena, "/bots/greedy/versions/1/changes?pool=loa")
    rating = arena.server.get(f"{PREFIX}/bots/greedy").json["ratings"][0]
    assert len(line) == rating["games"]
    assert line[-1]["mu"] == rating["mu"]
    for earlier, later in itertools.pairwise(line):
        assert earlier["mu"] == later["mu_before"]
    assert arena.server.get(f"{PREFIX}/bots/greedy/versions/7").status == 404


def test_games_of_bots(arena: Arena) -> None:
    mine = items(arena, "/bots/greedy/games")
    assert all("greedy v1" in (game["first"], game["second"]) for game in mine)
    between = items(arena, "/bots/greedy/vs/alphabeta")
    assert {game["tournament_id"] for game in between} == {arena.finished}
    assert len(between) == 4
    assert items(arena, "/bots/zeta/games") == []
    assert arena.server.get(f"{PREFIX}/bots/greedy/vs/nope").status == 404


def test_an_owner_describes_and_retires(arena: Arena) -> None:
    server, token = arena.server, arena.tokens["author"]
    bot = arena.store.bots.add("shortlived", arena.store.users.find("author").id or 0)
    arena.store.versions.add(bot.id or 0, BotFile(("./x",), families=("loa",)), state="active")
    changed = server.ask("PATCH", f"{PREFIX}/bots/shortlived", token=token, body={"description": "plays <b>well</b>"})
    assert changed.json["description"] == "plays <b>well</b>"
    assert server.post(f"{PREFIX}/bots/shortlived/versions/1/retire", token=token).json["state"] == "retired"
    assert server.post(f"{PREFIX}/bots/shortlived/retire", token=token).json["is_retired"] is True
    assert server.post(f"{PREFIX}/bots/shortlived/retire", token=token).status == 200
    assert "shortlived" not in [item["name"] for item in items(arena, "/bots")]
    assert "shortlived" in [item["name"] for item in items(arena, "/bots?retired=true")]


def test_user_profile_is_shown_on_their_page(arena: Arena) -> None:
    server, token = arena.server, arena.tokens["author"]
    said = {"about": "plays <b>well</b>", "link": "https://example.org/me"}
    changed = server.ask("PATCH", f"{PREFIX}/account", token=token, body=said)
    assert {key: changed.json[key] for key in said} == said
    page = server.get("/users/author").body.decode()
    assert "plays &lt;b&gt;well&lt;/b&gt;" in page
    assert '<a href="https://example.org/me" rel="nofollow ugc noopener">' in page
    refused = server.ask("PATCH", f"{PREFIX}/account", token=token, body={"link": "ftp://example.org"})
    assert (refused.status, refused.json["field"]) == (422, "link")
    assert server.ask("PATCH", f"{PREFIX}/account", token=token, body={"about": "", "link": ""}).json["link"] == ""


# -- tournaments -------------------------------------------------------------------------------------------------------


def test_tournaments(arena: Arena) -> None:
    assert arena.finished in [item["id"] for item in items(arena, "/tournaments?state=finished")]
    assert items(arena, "/tournaments?family=tablut") == []
    tournament = arena.server.get(f"{PREFIX}/tournaments/{arena.finished}").json
    assert tournament["state"] == "finished"
    assert tournament["games"] == {"finished": 12}
    assert (tournament["planned_games"], tournament["finished_games"]) == (12, 12)
    assert [entry["bot"] for entry in tournament["entries"]] == ["random", "greedy", "alphabeta"]
    assert tournament["settings"]["time_control"] == "1+0.01"


def test_standings_equal_crosstable_equal_games(arena: Arena) -> None:
    path = f"/tournaments/{arena.finished}"
    table = arena.server.get(f"{PREFIX}{path}/standings").json
    assert table["is_final"] is True
    cross = items(arena, f"{path}/crosstable")
    points = {line["name"]: line["points"] for line in table["items"]}
    assert points == {row["name"]: row["points"] for row in cross}
    counted = dict.fromkeys(points, 0.0)
    for game in items(arena, f"{path}/games"):
        share = {"first": (1.0, 0.0), "second": (0.0, 1.0), "draw": (0.5, 0.5)}[str(game["winner"])]
        counted[str(game["first"])] += share[0]
        counted[str(game["second"])] += share[1]
    assert counted == points
    assert sum(points.values()) == 12


def test_a_crosstable_of_many_games_is_made_once_in_another_process(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/tournaments/{arena.finished}/crosstable"
    paths = (f"{PREFIX}{path}", f"{path}.csv")
    inline = [arena.server.get(address).body for address in paths]
    asked, real = list[tuple[object, str]](), KeptFiles.get

    async def get(files: KeptFiles, key: str, client: str, make: Callable[..., bytes], *args: object) -> bytes:
        asked.append((args[0], key))
        return await real(files, key, client, make, *args)

    monkeypatch.setattr(KeptFiles, "get", get)
    monkeypatch.setattr(services.standings, "MAX_INLINE_GAMES", 11)
    for _ in range(2):
        monkeypatch.setattr(arena.server.context, "responses", ResponseCache(arena.server.store.changes))
        assert [arena.server.get(address).body for address in paths] == inline
    assert [maker for maker, _ in asked] == 2 * [services.standings.json_of, services.standings.csv_of]
    assert asked[:2] == asked[2:], "the second time they are kept"


def test_the_plan_is_there_before_the_games(arena: Arena) -> None:
    path = f"/tournaments/{arena.running}/games"
    plan = items(arena, path)
    assert [game["sequence"] for game in plan] == sorted(int(str(game["sequence"])) for game in plan)
    assert {game["id"] for game in items(arena, f"{path}?state=planned")} == set(arena.waiting)


def test_a_tournament_from_its_document_to_its_end(arena: Arena) -> None:
    server, token = arena.server, arena.tokens["organiser"]
    document = {
        "name": "Born to be steered",
        "family": "loa",
        "entries": {"bots": ["greedy", "random"]},
    }
    made = server.post(f"{PREFIX}/tournaments", token=token, body=document)
    assert made.status == 201, made.body
    where = made.headers["Location"]
    assert made.json["state"] == "scheduled"
    from arena import tournaments

    tournaments.plan(arena.store, made.json["id"])
    for verb, state in (("drain", "draining"), ("resume", "running"), ("pause", "paused"), ("resume", "running")):
        reply = server.post(f"{where}/{verb}", token=token)
        assert (reply.status, reply.json.get("state")) == (200, state), reply.body
    assert server.get(where).headers["Cache-Control"] == "no-store"
    extended = server.post(f"{where}/extend", token=token, body={"amount": 2})
    assert extended.json["settings"]["games"] == 4
    assert extended.json["plan"] == {"games": 4, "is_most": False, "games_per_pairing": 4, "rounds": 2}
    assert server.post(f"{where}/extend", token=token, body={"to": 6}).json["settings"]["games"] == 6
    for wrong in ({"amount": 1}, {"to": 6}, {"to": 8, "amount": 2}, {}):
        assert server.post(f"{where}/extend", token=token, body=wrong).status == 422
    first = server.post(f"{where}/priority", token=token, body={"priority": 10})
    assert (first.json["priority"], first.json["settings"]["priority"]) == (10, 10)
    assert server.post(f"{where}/priority", token=token, body={"priority": 101}).status == 422
    assert server.post(f"{where}/priority", token=arena.tokens["author"], body={"priority": 1}).status == 403
    assert server.get(f"{PREFIX}/tournaments").json["items"][0]["priority"] == 10
    late = server.post(f"{where}/entries", token=token, body={"bot": "alphabeta"})
    assert late.status == 409
    assert late.json["state"] == "running"
    assert server.post(f"{where}/withdraw", token=token, body={"bot": "random v1"}).status == 200
    assert server.post(f"{where}/cancel", token=token).json["state"] == "cancelled"
    again = server.post(f"{where}/resume", token=token)
    assert again.status == 409
    assert again.json["state"] == "cancelled"
    assert server.post(f"{where}/priority", token=token, body={"priority": 1}).status == 409


def test_schedules(arena: Arena) -> None:
    server, token = arena.server, arena.tokens["organiser"]
    document = {
        "name": "Weekly {date}",
        "family": "loa",
        "entries": {"all": True},
        "schedule": {"cron": "0 20 * * 5", "timezone": "Europe/Paris"},
    }
    made = server.post(f"{PREFIX}/schedules", token=token, body=document)
    assert made.status == 201, made.body
    assert made.json["next_fire"]
    where = made.headers["Location"]
    assert server.post(f"{where}/disable", token=token).json["next_fire"] is None
    assert server.post(f"{where}/enable", token=token).json["next_fire"] == made.json["next_fire"]
    assert made.json["name"] in [item["name"] for item in items(arena, "/schedules")]
    assert server.post(f"{PREFIX}/schedules", token=token, body=document).status == 409
    single = {name: value for name, value in document.items() if name != "schedule"}
    assert server.post(f"{PREFIX}/schedules", token=token, body=single).json["field"] == "schedule"
    coming = server.get(f"{where}/preview?count=2").json
    assert [line["starts"][10:19] for line in coming["tournaments"]] == ["T20:00:00"] * 2
    assert coming["tournaments"][0]["name"] == f"Weekly {coming['tournaments'][0]['starts'][:10]}"
    assert coming["tournaments"][0]["starts"][19:] in ("+01:00", "+02:00")
    assert coming["entries"]
    assert server.get(f"{where}/preview?count=51").json["field"] == "count"
    assert server.get(f"{PREFIX}/schedules/999/preview").status == 404
    assert server.ask("DELETE", where, token=arena.tokens["author"]).status == 403
    assert server.ask("DELETE", where, token=token).status == 204
    assert server.ask("DELETE", where, token=token).status == 404


# -- games -------------------------------------------------------------------------------------------------------------


def test_games_by_filter(arena: Arena) -> None:
    everything = items(arena, "/games?limit=200")
    assert [game["commit_number"] for game in everything] == sorted(
        (int(str(game["commit_number"])) for game in everything), reverse=True
    )
    assert len(items(arena, f"/games?tournament={arena.finished}")) == 12
    assert items(arena, "/games?family=tablut") == []
    drawn = items(arena, "/games?winner=draw")
    assert drawn == [game for game in items(arena, "/games?limit=200") if game["winner"] == "draw"]
    forfeits = items(arena, "/games?termination_class=forfeit")
    assert forfeits
    assert all(game["termination_class"] == "forfeit" and game["detail"] for game in forfeits), (
        "no forfeit without a reason"
    )
    assert len(items(arena, "/games?bot=alphabeta")) == 8
    assert arena.server.get(f"{PREFIX}/games?tournament=99999").status == 404
    assert arena.server.get(f"{PREFIX}/games?bot=nope").status == 404


def test_a_game(arena: Arena) -> None:
    found = arena.server.get(f"{PREFIX}/games/{arena.games[0]}").json
    assert found["record"]["moves"]
    assert found["spec"]["time"]["base_ms"] == 1000
    assert {step["name"] for step in found["ratings"]} == {found["first"], found["second"]}
    waiting = arena.server.get(f"{PREFIX}/games/{arena.waiting[0]}")
    assert waiting.json["record"] is None
    assert waiting.headers["Cache-Control"] == "no-store"


def test_a_record_as_a_file(arena: Arena) -> None:
    path = f"{PREFIX}/games/{arena.games[0]}/record"
    plain = arena.server.get(path)
    record = read_record(plain.body)
    assert record.id == arena.games[0]
    assert plain.headers["Content-Disposition"] == f'attachment; filename="{record.id}.json"'
    text = arena.server.get(path, headers={"Accept": "text/plain"})
    assert list(read_texts(text.body.decode())) == [record]
    unfinished = arena.server.get(f"{PREFIX}/games/{arena.waiting[0]}/record")
    assert unfinished.status == 409
    assert unfinished.json["state"] in ("planned", "queued", "running")


def test_a_notation_that_the_family_does_not_have(arena: Arena) -> None:
    unknown = arena.server.get(f"{PREFIX}/games/{arena.games[0]}/record?notation=chess")
    assert unknown.status == 422
    assert unknown.json["field"] == "notation"
    assert "there are" in unknown.json["detail"] or "loa" in unknown.json["detail"]


def test_exports_round_trip_and_are_whole(arena: Arena) -> None:
    for path in ("/games", f"/games?tournament={arena.finished}", f"/tournaments/{arena.finished}/games"):
        lines = arena.server.get(PREFIX + path, headers={"Accept": "application/x-ndjson"})
        assert lines.status == 200
        assert "attachment" in lines.headers["Content-Disposition"]
        records = [read_record(json.dumps(line)) for line in lines.lines]
        text = arena.server.get(PREFIX + path, headers={"Accept": "text/plain"})
        assert list(read_texts(text.body.decode())) == records
        expected = arena.store.results.records(GameQuery(tournament=arena.finished if "tournament" in path else None))
        assert [record.id for record in records] == [json.loads(line)["id"] for _, line in expected]


@pytest.mark.parametrize(
    "query",
    [
        "tournament={finished}",
        "family=loa",
        "family=tablut",
        "variant=standard",
        "variant=nothing",
        "pool=loa",
        "bot=greedy",
        "bot=zeta",
        "termination_class=forfeit",
        "since=2026-01-01",
        "until=2026-01-01",
        "since=2026-01-01T00:00:00Z&until=2999-01-01",
        "bot=greedy&termination_class=rules&tournament={finished}&since=2026-01-01T01:00:00%2B01:00",
    ],
)
def test_an_export_has_the_games_of_the_list(arena: Arena, query: str) -> None:
    query = query.format(finished=arena.finished)
    listed = [game["id"] for game in items(arena, f"/games?{query}&limit=200")]
    for form in ("application/x-ndjson", "text/plain"):
        reply = arena.server.get(f"{PREFIX}/games?{query}", headers={"Accept": form})
        assert reply.status == 200
        if form == "text/plain":
            assert reply.body.count(b"[Result ") == len(listed)
        else:
            assert [line["id"] for line in reply.lines] == listed[::-1]
    everything = len(items(arena, "/games?limit=200"))
    assert (len(listed) == 0) == any(word in query for word in ("tablut", "nothing", "zeta", "until=2026-01"))
    assert len(listed) < everything or query.startswith(("family=loa", "variant=standard", "pool", "since"))


def test_an_export_has_no_pages_and_filters_must_make_sense(arena: Arena) -> None:
    for query in ("limit=5", "after=AAAA"):
        reply = arena.server.get(f"{PREFIX}/games?{query}", headers={"Accept": "application/x-ndjson"})
        assert reply.status == 422
        assert reply.json["field"] == query.partition("=")[0]
    for query in ("since=yesterday", "until=1700000000", "since=2026-13-01", "since=0001-01-01T00:00:00%2B23:00"):
        reply = arena.server.get(f"{PREFIX}/games?{query}")
        assert (reply.status, reply.json["field"]) == (422, query.partition("=")[0])
    assert arena.server.get(f"{PREFIX}/games?bot=nobody").status == 404


def test_voids(arena: Arena) -> None:
    game = planned(arena.store, arena.running)[0]
    arena.store.queue.hand_out([game.id], "test")
    arena.store.voids.add(void_of(game), 1, "test")
    (found,) = items(arena, "/voids")
    assert (found["game_id"], found["termination"]) == (game.id, "worker-lost")


def test_games_of_a_tournament_are_filtered_like_on_its_page(arena: Arena) -> None:
    path = f"/tournaments/{arena.finished}/games"
    games = items(arena, path)
    ending = games[0]["termination"]
    assert items(arena, f"{path}?termination={ending}") == [game for game in games if game["termination"] == ending]
    name = games[0]["first"]
    mine = [game for game in games if name in (game["first"], game["second"])]
    assert 0 < len(mine) < len(games)
    assert items(arena, f"{path}?version={quote(name)}") == mine
    assert arena.server.get(f"{PREFIX}{path}?version=X").status == 422
    assert items(arena, "/tournaments?schedule=999") == []


def test_limits_and_referee(arena: Arena) -> None:
    limits = arena.server.get(f"{PREFIX}/limits").json
    assert limits["max_upload_bytes"] == 64 * 1024
    referee = arena.server.get(f"{PREFIX}/referee").json
    assert referee["is_alive"] is False
    assert referee["left_s"] is None
    assert referee["games"]["planned"] >= 1
    assert arena.store.leases.take("referee", "me", 60)
    assert arena.server.get(f"{PREFIX}/referee", token=arena.tokens["organiser"]).json["lease_owner"] == "me"
    assert arena.server.get("/readyz").json["parts"]["referee"] == "ok"
    arena.store.leases.release("referee", "me")


@pytest.mark.parametrize(
    ("page", "path"),
    [
        ("/loa.json", "/families/loa"),
        ("/loa/leaderboard.json", "/leaderboards/loa"),
        ("/bots.json", "/bots"),
        ("/bots/greedy.json", "/bots/greedy"),
        ("/bots/greedy/v/1.json", "/bots/greedy/versions/1"),
        ("/bots/greedy/vs/random.json", "/bots/greedy/vs/random"),
        ("/tournaments.json", "/tournaments"),
        ("/tournaments/1.json", "/tournaments/1"),
        ("/errors.json", "/voids"),
    ],
)
def test_pages_as_json(arena: Arena, page: str, path: str) -> None:
    assert arena.server.get(page).body == arena.server.get(PREFIX + path).body


def test_a_game_page_as_json(arena: Arena) -> None:
    assert arena.server.get(f"/games/{arena.games[0]}.json").json["id"] == arena.games[0]
    missing = arena.server.get("/bots/nope.json")
    assert (missing.status, missing.headers["Content-Type"]) == (404, "application/problem+json")


# -- uploads -----------------------------------------------------------------------------------------------------------

SCRIPT = b"#!/usr/bin/env python3\nprint('hello')\n"


def test_an_upload(arena: Arena) -> None:
    server, token = arena.server, arena.tokens["author"]
    digest = hashlib.sha256(SCRIPT).hexdigest()
    path = f"{PREFIX}/bots/fresh/versions?family=loa&family=tablut&sha256={digest}"
    reply = server.post(path, token=token, data=SCRIPT)
    assert reply.status == 202, reply.body
    assert (reply.json["sha256"], reply.json["size_bytes"]) == (digest, len(SCRIPT))
    assert set(reply.json["families"]) == {"loa", "tablut"}
    watched = server.get(reply.headers["Location"], token=token)
    assert watched.json["state"] == "uploaded"
    assert watched.headers["Cache-Control"] == "no-store"
    assert server.get(f"{PREFIX}/bots/fresh").json["owner"] == "author"
    again = server.post(path, token=token, data=SCRIPT)
    assert again.status == 409, "the very same content is a mistake"


@pytest.mark.parametrize(
    ("query", "content", "status"),
    [
        ("family=loa", b"", 422),
        ("family=nope", SCRIPT + b"1", 422),
        ("", SCRIPT + b"2", 422),
        ("family=loa&sha256=" + "0" * 64, SCRIPT + b"3", 422),
        ("family=loa&sha256=zz", SCRIPT + b"4", 422),
        ("family=loa", b"just text\n", 422),
        ("family=loa", b"PK\x03\x04" + b"\0" * 100, 422),
        ("family=loa", b"x" * (64 * 1024 + 1), 413),
    ],
)
def test_uploads_that_are_refused_leave_nothing(arena: Arena, query: str, content: bytes, status: int) -> None:
    before = items(arena, "/bots?retired=true")
    path = f"{PREFIX}/bots/never/versions?{query}"
    reply = arena.server.post(path, token=arena.tokens["author"], data=content)
    assert reply.status == status, reply.body
    assert reply.json["detail"]
    assert items(arena, "/bots?retired=true") == before


def test_an_upload_without_a_length_is_bounded_too(arena: Arena) -> None:
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", arena.server.port, timeout=60)
    headers = {"Authorization": f"Bearer {arena.tokens['author']}", "Transfer-Encoding": "chunked"}
    chunks = iter([b"x" * 16384] * 20)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the answer comes before the end of the body
        connection.request("POST", f"{PREFIX}/bots/never/versions?family=loa", chunks, headers, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


# -- idempotency -------------------------------------------------------------------------------------------------------


def test_a_write_sent_again_is_done_once(arena: Arena) -> None:
    server, token = arena.server, arena.tokens["organiser"]
    document = {"name": "Once", "family": "loa", "entries": {"bots": ["greedy", "random"]}}
    headers = {"Idempotency-Key": "k-1"}
    first = server.post(f"{PREFIX}/tournaments", token=token, body=document, headers=headers)
    second = server.post(f"{PREFIX}/tournaments", token=token, body=document, headers=headers)
    assert (first.status, second.status) == (201, 201)
    assert first.json == second.json
    assert second.headers["Location"] == first.headers["Location"]
    assert second.headers["Idempotency-Replayed"] == "true"
    other = server.post(f"{PREFIX}/tournaments", token=token, body={**document, "name": "Twice"}, headers=headers)
    assert other.status == 422
    mine = server.post(f"{PREFIX}/tournaments", token=arena.tokens["admin"], body=document, headers=headers)
    assert mine.json["id"] != first.json["id"], "keys of others are others"
    names = [item["name"] for item in items(arena, "/tournaments?limit=200")]
    assert names.count("Once") == 2


def test_an_error_is_not_remembered(arena: Arena) -> None:
    server, token = arena.server, arena.tokens["organiser"]
    headers = {"Idempotency-Key": "k-2"}
    bad = {"name": "x", "family": "loa", "entries": {"bots": ["nobody", "greedy"]}}
    assert server.post(f"{PREFIX}/tournaments", token=token, body=bad, headers=headers).status == 422
    good = {"name": "x", "family": "loa", "entries": {"bots": ["random", "greedy"]}}
    assert server.post(f"{PREFIX}/tournaments", token=token, body=good, headers=headers).status == 201


def test_a_request_at_work_is_not_done_a_second_time(arena: Arena) -> None:
    user = arena.store.users.find("organiser").id or 0
    path = f"{PREFIX}/tournaments"
    document = {"name": "x", "family": "loa", "entries": {"bots": ["random", "greedy"]}}
    digest = hashlib.sha256(json.dumps(document).encode() + b"\0").hexdigest()
    arena.store.idempotent_responses.begin(user, "k-3", f"POST {path}", digest)
    headers = {"Idempotency-Key": "k-3"}
    reply = arena.server.post(path, token=arena.tokens["organiser"], body=document, headers=headers)
    assert reply.status == 409
    assert reply.headers["Retry-After"] == "1"


def test_an_upload_sent_again(arena: Arena) -> None:
    server, token = arena.server, arena.tokens["author"]
    path = f"{PREFIX}/bots/again/versions?family=loa"
    headers = {"Idempotency-Key": "k-4"}
    first = server.post(path, token=token, data=SCRIPT, headers=headers)
    second = server.post(path, token=token, data=SCRIPT, headers=headers)
    assert first.status == second.status == 202
    assert first.json["id"] == second.json["id"]
    assert len(server.get(f"{PREFIX}/bots/again").json["versions"]) == 1
    for key in ("", "x" * 101, "a b", "é"):
        bad = server.post(path, token=token, data=SCRIPT, headers={"Idempotency-Key": key.encode().decode("latin-1")})
        assert bad.status == 422


def test_a_token_made_twice_with_one_key_is_one(arena: Arena) -> None:
    server, token = arena.server, arena.tokens["author"]
    path = f"{PREFIX}/account/tokens"
    wish = {"name": "twice", "scopes": ["read"]}
    headers = {"Idempotency-Key": "k-5"}
    first = server.post(path, token=token, body=wish, headers=headers)
    second = server.post(path, token=token, body=wish, headers=headers)
    assert (first.status, second.status) == (201, 409)
    assert second.json["made"] == first.json["id"]
    assert first.json["token"].encode() not in second.body
    assert server.post(path, token=token, body={**wish, "name": "other"}, headers=headers).status == 422
    assert [item["name"] for item in server.get(path, token=token).json["items"]].count("twice") == 1
    with arena.store.reading() as session:
        kept = (
            session.connection()
            .exec_driver_sql("SELECT body, digest FROM idempotent_responses WHERE key = 'k-5'")
            .one()
        )
    assert first.json["token"] not in str(kept)


def test_a_user_made_twice_with_one_key_is_one(arena: Arena) -> None:
    server, token = arena.server, arena.tokens["admin"]
    wish = {"name": "onlyone", "password": "correct horse battery"}
    headers = {"Idempotency-Key": "k-6"}
    first = server.post(f"{PREFIX}/users", token=token, body=wish, headers=headers)
    second = server.post(f"{PREFIX}/users", token=token, body=wish, headers=headers)
    assert (first.status, second.status) == (201, 201)
    assert first.json == second.json
    with arena.store.reading() as session:
        digest = (
            session.connection().exec_driver_sql("SELECT digest FROM idempotent_responses WHERE key = 'k-6'").scalar()
        )
    assert digest != hashlib.sha256(json.dumps(wish).encode() + b"\0").hexdigest(), "a password is not for guessing"


# -- the archive -------------------------------------------------------------------------------------------------------


def test_the_archive_is_offered_whole_and_in_parts(arena: Arena) -> None:
    from arena.collections.dumps import Dumps

    server = arena.server
    assert server.get(f"{PREFIX}/dumps?").json["items"] == []
    assert b"No files yet" in server.get("/dumps?").body
    dumps = Dumps.of(server.context.settings)
    count = dumps.update(arena.store)
    (dump,) = server.get("/dumps.json").json["items"]
    assert dump["games"] == count == arena.store.results.last_commit()
    page = server.get("/dumps").body.decode()
    assert f"sha256sum --check {dump['file']}.sha256" in page
    assert f'href="/dumps/{dump["file"]}" download' in page
    whole = server.get(dump["url"])
    assert (whole.status, len(whole.body)) == (200, dump["bytes"])
    assert hashlib.sha256(whole.body).hexdigest() == dump["sha256"]
    assert whole.headers["Content-Type"] == "application/zstd"
    assert "Content-Encoding" not in whole.headers
    part = server.get(dump["url"], headers={"Range": "bytes=10-19"})
    assert (part.status, part.body) == (206, whole.body[10:20])
    assert server.get(dump["url"], headers={"If-None-Match": whole.headers["Etag"]}).status == 304
    line = server.get(f"{dump['url']}.sha256").body.decode()
    assert line == f"{dump['sha256']}  {dump['file']}\n"
    for name in ("index.json", ".lock", "2026-13", "..%2farena.sqlite3", "1999-01.ndjson.zst"):
        reply = server.get(f"/dumps/{name}")
        assert reply.status == 404
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
