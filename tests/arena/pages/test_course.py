"""The format-specific part of a tournament's page: bracket, rounds, next pairings, sequential test, crosstable."""

from __future__ import annotations

import html
import re
from copy import copy
from datetime import timedelta
from itertools import combinations
from typing import Any

import pytest

from arena import tournaments
from arena.clock import now
from arena.pages.drawing.verdict import RaceSummary
from referee.ratings.race import Race, evaluate_race
from referee.tournament.document import read
from tests.arena.api.server import Server
from tests.arena.field import Field
from tests.arena.pages.conftest import Chromium, window
from tests.arena.pages.formats import hold


@pytest.fixture(scope="module")
def field(server: Server) -> Field:
    return Field(server.store, ("ada", "bob", "cleo", "dan", "eve"))


def text(server: Server, path: str, part: str = "course") -> str:
    """Return the visible text of a section of a page."""
    body = server.get(path).body.decode()
    section = re.search(rf'<section id="{part}".*?</section>', body, re.DOTALL)
    assert section, body[:2000]
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", section[0])).split())


def test_a_knockout_shows_its_bracket(server: Server, field: Field) -> None:
    number = hold(field, "knockout", knockout={"third_place": True})
    shown = text(server, f"/tournaments/{number}")
    for words in ("Quarter-finals", "Semi-finals", "Final", "Third place", "ada v1 bye"):
        assert words in shown, words
    banner = re.search(r'<div class="banner">.*?</div>', server.get(f"/tournaments/{number}").body.decode(), re.DOTALL)
    assert banner
    assert " ".join(re.sub("<[^>]+>", " ", banner[0]).split()) == "Winner: bob v1 2. ada v1 , 3. eve v1"
    half = text(server, f"/tournaments/{hold(field, 'knockout', most=1)}")
    assert "to be decided" in half
    assert "undecided" in half


def test_a_bracket_shows_how_it_is_seeded_and_the_seed_of_each_bot(server: Server, field: Field) -> None:
    number = hold(field, "knockout", knockout={"seeding": "entry"}, most=0)
    shown = text(server, f"/tournaments/{number}")
    assert "Seeding: in the order of the entries." in shown
    assert "1 ada v1 bye" in shown
    assert "4 dan v1 0 5 eve v1 0" in shown
    body = server.get(f"/tournaments/{number}").body.decode()
    assert "<dt>Seeding</dt><dd>in the order of the entries</dd>" in body
    drawn = hold(field, "knockout", knockout={"seeding": "random"}, seed=3, most=0)
    assert "Seeding: drawn from the tournament's seed." in text(server, f"/tournaments/{drawn}")


def test_a_swiss_shows_half_point_byes_late_entries_and_forbidden_pairs(server: Server, field: Field) -> None:
    table = {"half_point_byes": {"ada v1": [1]}, "late_entries": {"bob v1": 2}, "forbidden_pairs": ["cleo v1 - dan v1"]}
    number = hold(field, "swiss", rounds=2, swiss=table)
    shown = text(server, f"/tournaments/{number}")
    assert re.search(r"ada v1 [\d½]+ \d half-point bye", shown)
    assert re.search(r"bob v1 [\d½]+ \d zero-point bye", shown)
    assert "A bye counts as a win. A half-point bye counts as a draw." in shown
    settings = text(server, f"/tournaments/{number}", "settings")
    assert "Half-point byes ada v1 (round 1)" in settings
    assert "Late entries bob v1 (from round 2); zero-point bye" in settings
    assert "Forbidden pairs cleo v1 - dan v1" in settings
    assert "half-point" not in text(server, f"/tournaments/{hold(field, 'swiss', rounds=2)}")


def test_a_swiss_shows_rounds_with_byes(server: Server, field: Field) -> None:
    shown = text(server, f"/tournaments/{hold(field, 'swiss', rounds=2)}")
    assert "Bot Points # Round 1 Round 2 Byes" in shown  # a phone shows the first columns
    assert len(re.findall(r"\bbye\b", shown)) == 2 + 1  # one per round, and the caption
    assert re.search(r"\b[0-2½]+–[0-2½]+ #\d", shown)


def test_a_swiss_shows_the_results_of_the_games_of_each_round(server: Server, field: Field) -> None:
    number = hold(field, "swiss", rounds=2)
    letters = re.findall(r"[\d½]+–[\d½]+ #\d ([WDL](?: [WDL])*)", text(server, f"/tournaments/{number}"))
    assert len(letters) == 2 * 2 * 2  # in each round two pairings and a bye, each pairing on two lines
    assert "Game 1: " in server.get(f"/tournaments/{number}").body.decode()


def test_a_running_game_is_a_board_on_the_page_of_its_tournament(server: Server, field: Field) -> None:
    number = hold(field, "round-robin", most=1)
    path, store = f"/tournaments/{number}", server.store
    assert 'class="boards strip' not in server.get(path).body.decode()
    game = store.queue.waiting(number, 1)[0].game.id
    store.queue.hand_out([game], "worker")
    store.queue.start(game)
    shown = server.get(path).body.decode()
    assert re.search(
        rf'data-live-every="10">\s*<ul class="boards strip compact".*?href="/games/{game}"', shown, re.DOTALL
    )


def test_a_ladder_shows_what_it_asks_next(server: Server, field: Field) -> None:
    shown = text(server, f"/tournaments/{hold(field, 'ladder', most=4, ladder={'games': 60})}")
    assert "Planned or running: " in shown
    assert re.search(r"(most informative|has waited for)", shown)


def test_a_race_shows_who_is_settled_and_what_it_asks_next(server: Server, field: Field) -> None:
    shown = text(server, f"/tournaments/{hold(field, 'race', most=24, race={'top': 2})}")
    assert "Not decided yet at 95 %. Certain in the top 2: none. Undecided bots: 5." in shown
    assert re.search(r"ada v1 [\d.]+ % \d+ 1 undecided", shown)
    assert re.search(r"Least certain: whether \w+ v1 is ahead of \w+ v1 \([\d.]+ % sure, decided at 99\.2 %\)", shown)
    assert "in doubt: is " in shown


def test_a_race_that_ends_undecided_asks_nothing_more(server: Server, field: Field) -> None:
    number = hold(field, "race", race={"top": 2, "games": 24})
    shown = text(server, f"/tournaments/{number}")
    assert "Ended undecided at 95 %." in shown
    assert "Not decided yet" not in shown
    page = server.get(f"/tournaments/{number}").body.decode()
    assert re.search(r'<a href="#course">.*?Race</a>', page)
    assert "Next pairings" not in page
    running = hold(field, "race", most=24, race={"top": 2})
    assert "in doubt: is " in text(server, f"/tournaments/{running}")
    server.store.tournaments.move(running, "cancelled")
    shown = text(server, f"/tournaments/{running}")
    assert "Ended undecided" in shown
    assert "in doubt: is " not in shown


def test_the_verdict_of_a_race_in_words() -> None:
    settings = read({"name": "c", "family": "loa", "format": "race", "race": {"top": 2}, "entries": {"all": True}})
    scores = {(a, b): [1.0 if (a, b) != (1, 2) else 0.5] * 20 for a, b in combinations(range(4), 2)}

    def picture(first: int, *, is_over: bool = False) -> RaceSummary:
        question = Race(first, 0.05)
        names = dict(enumerate(("ada v1", "bob v1", "cleo v1", "dan v1")))
        wish, state = settings.race.model_copy(update={"top": first}), evaluate_race(question, range(4), scores)
        return RaceSummary(wish, state, names, dict.fromkeys(names.values(), 120), is_over)

    assert picture(1).words == "Decided at 95 %. The best: ada v1."
    assert picture(1).doubt == ""
    assert picture(3).words == "Decided at 95 %. The top 3: ada v1, bob v1, cleo v1."
    half = "Not decided yet at 95 %. Certain in the top 2: ada v1. Undecided bots: 2."
    assert picture(2).words == half
    ended = "Ended undecided at 95 %. Certain in the top 2: ada v1. Undecided bots: 2."
    assert picture(2, is_over=True).words == ended
    assert picture(1, is_over=True).words == picture(1).words
    assert [row.decision for row in picture(2).rows] == [
        "decided: in the top",
        "undecided",
        "undecided",
        "decided: not in the top",
    ]


def test_a_gauntlet_shows_the_result_of_the_challenger_against_each_bot(server: Server, field: Field) -> None:
    number = hold(field, "gauntlet", games=4)
    standings = server.get(f"/api/v1/tournaments/{number}/standings").json
    lines = {line["name"]: line for line in standings["items"]}
    shown = text(server, f"/tournaments/{number}", "standings")
    assert shown.startswith("Results of ada v1 ")
    counts = ("games", "losses", "draws", "wins")  # of the opponent, so those of the challenger the other way round
    for name, line in lines.items():
        if name != "ada v1":
            assert " ".join([name, *(str(line[count]) for count in counts)]) in shown
    mine = lines["ada v1"]
    assert f"all opponents {mine['games']} {mine['wins']} {mine['draws']} {mine['losses']}" in shown
    page = server.get(f"/tournaments/{number}").body.decode()
    assert "Winner:" not in page
    rows = re.findall(
        r'<th scope="row"[^>]*>.*?>(\w+ v1)<', server.get(f"/tournaments/{number}?sort=-score").body.decode()
    )
    points = [1 - lines[name]["score"] for name in rows[:4]]
    assert points == sorted(points, reverse=True)


def test_a_test_shows_its_verdict_bounds_and_elo(server: Server, field: Field) -> None:
    settings = {"elo0": -300, "elo1": 300, "alpha": 0.01}
    number = hold(field, "sprt", entries={"bots": ["bob", "ada"]}, sprt=settings)
    shown = text(server, f"/tournaments/{number}")
    assert re.search(r"bob v1 is (not )?stronger than ada v1: H[01] accepted .* Pairs of games: \d+", shown)
    assert "H0: at most −300 Elo stronger; H1: +300 Elo stronger" in shown
    assert re.search(r"Elo difference \S+ ± \d+ \(95 %\)", shown)
    assert "type I error (H1 accepted wrongly): 1.0 %; type II error (H0 accepted wrongly): 5.0 %" in shown
    svg = server.get(f"/tournaments/{number}").body.decode()
    assert re.search(r'aria-label="Log-likelihood ratio −?\d+\.\d+ between −2\.99 \(not stronger\) and 4\.55', svg)


def test_a_test_that_is_over_counts_played_games_and_has_one_elo(server: Server, field: Field) -> None:
    settings = {"elo0": -300, "elo1": 300, "alpha": 0.01}
    number = hold(field, "sprt", entries={"bots": ["bob", "ada"]}, sprt=settings)
    page = server.get(f"/tournaments/{number}").body.decode()
    played = server.store.games.counts(number)["finished"]
    assert f"<strong>{played} of {played}</strong> games" in page
    assert "<progress" not in page
    assert "cancelled" not in text(server, f"/tournaments/{number}", "standings")
    assert "Elo" not in text(server, f"/tournaments/{number}", "standings")


def test_the_first_of_a_ladder_is_told_with_the_share_that_decides(server: Server, field: Field) -> None:
    number = hold(field, "ladder", ladder={"games": 24})
    page = server.get(f"/tournaments/{number}").body.decode()
    banner = re.search(r'<div class="banner">.*?</div>', page, re.DOTALL)
    assert banner
    words = " ".join(html.unescape(re.sub("<[^>]+>", " ", banner[0])).split())
    assert words.startswith("Highest share of points: ")
    title = re.search("<title>(.*?)</title>", page, re.DOTALL)
    assert title
    assert "Highest share of points: " in " ".join(title[1].split())
    shares = [float(share) for share in re.findall(r"([\d.]+) %", words)]
    assert len(shares) == 3
    assert shares == sorted(shares, reverse=True)
    assert re.search(r"[\d.]+ % of the points in \d+ games *; then", words), words


def progress(server: Server, number: int) -> str:
    """Return the visible text of the progress of a tournament."""
    body = server.get(f"/tournaments/{number}").body.decode()
    shown = re.search(r'<div class="progress">(.*?)</p>', body, re.DOTALL)
    assert shown
    assert ("<progress" in shown[1]) == (" of " in shown[1].split("·")[0])
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", shown[1])).split())


def test_the_progress_of_an_open_end_says_what_decides_it(server: Server, field: Field) -> None:
    race = progress(server, hold(field, "race", most=24))
    assert re.search(r"running 24 games · undecided bots: \d$", race), race
    test = progress(server, hold(field, "sprt", most=16, entries={"bots": ["bob", "ada"]}, sprt={"games": 400}))
    assert re.search(r"16 games · log-likelihood ratio \S+, decided at −2\.94 or 2\.94", test), test
    assert re.search(r"about \d+ games left", test), test
    endless = progress(server, hold(field, "ladder", most=16, ladder={"games": 0}))
    assert re.search(r"16 games$", endless), endless
    assert "%" not in race + test + endless


def test_the_progress_of_a_known_end_counts_all_games(server: Server, field: Field) -> None:
    settings: dict[str, Any]
    for settings, played, total in (
        ({"format": "ladder", "ladder": {"games": 100}}, 2, 100),
        ({"format": "swiss", "rounds": 3, "games": 2}, 2, 12),
        ({"format": "knockout", "games": 2, "knockout": {"third_place": True}}, 0, 10),
        ({"format": "round-robin", "games": 2}, 2, 20),
    ):
        shown = progress(server, hold(field, most=played, **settings))
        assert f"{played} of {total} games {100 * played / total:.1f} %" in shown


def test_a_finished_tournament_names_its_winner(server: Server, field: Field) -> None:
    number = hold(field, "round-robin", games=2)
    page = server.get(f"/tournaments/{number}").body.decode()
    banner = re.search(r'<div class="banner">.*?</div>', page, re.DOTALL)
    assert banner
    first = re.search(r'<tr><td[^>]*>1</td><th[^>]*><a href="([^"]+)"', page)
    assert first
    assert f'<a href="{first[1]}">' in banner[0]
    assert 'class="banner"' not in server.get(f"/tournaments/{hold(field, 'round-robin', most=2)}").body.decode()


def test_results_by_rules_fit_a_phone(server: Server, field: Field, browser: Chromium) -> None:
    number = hold(field, "round-robin", sides="random", games=2)
    with window(browser, 320, 640) as page:
        page.goto(f"{server.url}/tournaments/{number}#endings")
        assert page.locator('[aria-label="Table of results by handicap and sides"]').is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_a_tournament_whose_time_has_come_is_about_to_start(server: Server, field: Field) -> None:
    document = {
        "name": "Due",
        "family": "loa",
        "entries": {"all": True},
        "start_time": (now() - timedelta(minutes=1)).isoformat(),
    }
    number = tournaments.create(server.store, document, field.user_id, now() - timedelta(hours=1)).id
    page = server.get("/tournaments").body.decode()
    line = re.search(rf'<tr>(?:(?!</tr>).)*href="/tournaments/{number}".*?</tr>', page, re.DOTALL)
    assert line
    assert "about to start" in line[0]


def test_letters_of_the_crosstable_lead_to_their_games(server: Server, field: Field) -> None:
    number = hold(field, "round-robin", games=2)
    page = server.get(f"/tournaments/{number}").body.decode()
    table = re.search(r'<table class="cross.*?</table>', page, re.DOTALL)
    assert table
    links = re.findall(rf'<a class="([WDL])" href="/tournaments/{number}/games/(\d+)">\1</a>', table[0])
    assert len(links) == 2 * 20  # every game from both sides
    letter, sequence = links[0]
    reply = server.get(f"/tournaments/{number}/games/{sequence}")
    assert reply.status == 303
    game = server.store.games.get(reply.headers["Location"].removeprefix("/games/"))
    assert game.sequence == int(sequence)
    row = re.search(r'title="(\w+ v1)">\1</bdi>', table[0])
    assert row
    is_first = game.first == row[1]
    assert letter == ("D" if game.winner == "draw" else "W" if (game.winner == "first") == is_first else "L")
    assert re.search(r">(2–0|1½–½|1–1|½–1½|0–2)</a>", table[0])
    assert server.get(f"/tournaments/{number}/games/999").status == 404


def test_a_crosstable_of_many_bots_is_a_heat_map_with_the_results_of_a_bot_on_demand(
    server: Server, field: Field
) -> None:
    field = copy(field)
    field.versions = [field.version(f"bot{number:02}") for number in range(33)]
    number = hold(field, "gauntlet", most=3, games=1)
    page = text(server, f"/tournaments/{number}?row=1", "crosstable")
    body = server.get(f"/tournaments/{number}?row=1").body.decode()
    assert len(re.findall(r'<th scope="col" data-bot="bot\d\d"', body)) == 33
    assert "Results of bot" in page
    assert 'class="cross map dense"' in body
    assert "crosstable.js" in body
    assert server.get(f"/tournaments/{number}?rows=2").status == 400  # there is a single block
    assert "Show the tables of all pairs" not in body  # it is not over yet


def test_a_crosstable_of_very_many_bots_is_shown_in_blocks(server: Server, field: Field) -> None:
    field = copy(field)
    field.versions = [field.version(f"bot{number:02}") for number in range(62)]
    number = hold(field, "gauntlet", most=3, games=1)
    assert "51 to 62" in text(server, f"/tournaments/{number}?rows=2&against=1", "crosstable")
    assert server.get(f"/tournaments/{number}?rows=3").status == 400


def test_on_a_phone_rows_are_blocks_and_letters_can_be_hit(server: Server, field: Field, browser: Any) -> None:
    number = hold(field, "knockout", games=2)
    with window(browser, 320, 640) as page:
        page.goto(f"{server.url}/tournaments/{number}#schedule")
        assert page.evaluate("document.documentElement.scrollWidth") == 320
        edge = "(one) => one.getBoundingClientRect().right"
        assert page.locator("#schedule tbody tr td").last.evaluate(edge) <= 320  # how it ended is in sight
        page.click("text=Crosstable")
        box = page.locator(".cross .pairs a").first.bounding_box()
        assert min(box["width"], box["height"]) >= 44
        assert not page.locator("#menu").is_visible()
        page.click("text=Menu")
        heights = page.locator("#menu a").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().height)")
        assert len(heights) >= 8
        assert min(heights) >= 44
