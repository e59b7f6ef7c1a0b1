"""Game specifications of matches: players, sides, openings and handicaps."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from docs.extensions.file_reference import tournament_files
from referee import toml
from referee.game.spec import BotSpec, GameSpec, PlannedGame, read_time_control
from referee.tournament import openings
from referee.tournament.document import Document, read
from referee.tournament.handicap import Handicap, fastest, seat_of
from referee.tournament.ledger import Ledger, planned_games
from referee.tournament.match import PlannedMatch
from referee.tournament.part import SettingsError

NAMES = ("ada", "bob", "cleo")


def document(**changes: Any) -> Document:
    """Return settings for three bots with one pair of games per pairing."""
    return read({"name": "cup", "family": "pijersi", "entries": {"bots": list(NAMES)}, **changes})


def games_of(found: Document, *meetings: PlannedMatch) -> list[GameSpec]:
    """Return the specifications of the games."""
    bots = {seat: BotSpec(f"{name} v1", ("./bot",), options=(("Hash", "16"),)) for seat, name in enumerate(NAMES)}
    book = openings.draw(found, openings.size(found, len(NAMES)))
    games = planned_games(found, "cup (#7)", book, bots, meetings, sequence=0, pair=0)
    return [game.spec for game in games]


def test_games_ponder_as_the_tournament_says() -> None:
    for pondering in ("frozen", "allowed"):
        found = document(variant="standard", games=2).model_copy(update={"pondering": pondering})
        assert {spec.pondering for spec in games_of(found, PlannedMatch(1, 0, 1))} == {pondering}


def test_every_line_of_a_long_book_is_an_opening() -> None:
    """Numbered set-ups are the cheapest openings that differ."""
    lines = [f"pijersi-8100#{number}" for number in range(600)]
    found = document(variant="standard", format="race", opening_lines=["# a book", *lines], entries={"bots": NAMES[:2]})
    book = openings.draw(found, openings.size(found, 2))
    assert [opening.variant for opening in book[:600]] == lines


def test_clocks_are_scaled_if_the_document_says_so() -> None:
    for scales in (False, True):
        found = document(variant="standard", games=2).model_copy(update={"scale_time_control": scales})
        assert {spec.scale_clocks for spec in games_of(found, PlannedMatch(1, 0, 1))} == {scales}


ALL = (PlannedMatch(1, 0, 1), PlannedMatch(2, 2, 0), PlannedMatch(3, 1, 2))


def test_every_pair_of_games_gets_a_deal_of_its_own() -> None:
    one, two, three = (document(variant="full-random", games=2).model_copy(update={"seed": seed}) for seed in (1, 1, 2))
    specs = games_of(one, *ALL)
    assert [spec.position for spec in specs[::2]] == [spec.position for spec in specs[1::2]]
    assert len({spec.position for spec in specs}) == 3
    assert games_of(two, *ALL) == specs
    assert {spec.position for spec in games_of(three, *ALL)}.isdisjoint(spec.position for spec in specs)
    assert not openings.needs_kernel(one, 3)


def test_a_book_is_the_same_for_every_pairing() -> None:
    specs = games_of(document(games=2, openings="none"), *ALL)
    assert {(spec.variant, spec.position, spec.opening) for spec in specs} == {("standard", None, ())}
    assert [spec.pair for spec in specs] == [1, 1, 2, 2, 3, 3]


# -- handicaps ---------------------------------------------------------------------------------------------------------


def seen(specs: list[GameSpec]) -> list[tuple[str, str, dict[str, str], dict[str, str]]]:
    """Return players, time controls and options of a game as text."""
    return [
        (f"{spec.first.name} - {spec.second.name}", spec.time_text, dict(spec.first.options), dict(spec.second.options))
        for spec in specs
    ]


def test_handicaps_hold_in_all_games_or_in_one_pairing() -> None:
    usual = {"Hash": "16"}
    settings = document(
        time_control="10+0.1",
        openings="none",
        handicaps=[
            {"bot": "ada", "against": "bob", "time_control": "1+0", "engine_options": {"Threads": 1, "Own": True}},
            {"bot": "ada", "time_control": "5+0", "engine_options": {"Hash": 8}},
            {"bot": "cleo", "against": "bob", "engine_options": {"Style": "bold"}},
        ],
    )
    assert not settings.rated
    assert read(settings.as_json()) == settings
    bold, own = usual | {"Style": "bold"}, {"Hash": "8", "Own": "true", "Threads": "1"}
    assert seen(games_of(settings, *ALL)) == [
        ("ada v1 - bob v1", "1+0 v 10+0.1", own, usual),
        ("bob v1 - ada v1", "10+0.1 v 1+0", usual, own),
        ("cleo v1 - ada v1", "10+0.1 v 5+0", usual, {"Hash": "8"}),
        ("ada v1 - cleo v1", "5+0 v 10+0.1", {"Hash": "8"}, usual),
        ("bob v1 - cleo v1", "10+0.1", usual, bold),
        ("cleo v1 - bob v1", "10+0.1", bold, usual),
    ]


def test_without_handicaps_games_are_those_of_before() -> None:
    assert document().rated
    assert document(handicaps=[]).rated
    (first, *_) = games_of(document(openings="none"), *ALL)
    assert first.first.time is None
    assert "time" not in first.as_json()["first"]


@pytest.mark.parametrize(
    ("handicap", "more", "message"),
    [
        ({"bot": "ada"}, {}, "set time_control, engine_options"),
        ({"bot": "ada", "time_control": "soon"}, {}, "10+0.1"),
        ({"bot": "dan", "time_control": "1+0"}, {}, "dan is not in entries.bots"),
        ({"bot": "ada", "against": "dan", "time_control": "1+0"}, {}, "dan is not in entries.bots"),
        ({"bot": "ada", "against": "ada", "time_control": "1+0"}, {}, "does not play against itself"),
        ({"bot": "ada", "engine_options": {"Hash": "1\nquit"}}, {}, "one printable line"),
        ({"bot": "ada", "odds": 1, "time_control": "1+0"}, {}, "handicaps.0.odds"),
        ({"bot": "ada", "time_control": "1+0"}, {"rated": True}, "write rated = false"),
    ],
)
def test_a_handicap_that_cannot_be_is_refused(handicap: dict[str, Any], more: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(message)):
        document(handicaps=[handicap], **more)


def test_a_bot_must_keep_the_fastest_of_its_times() -> None:
    usual = read_time_control("10+0.1")

    def time(version: str, *handicaps: dict[str, Any]) -> str:
        return str(fastest(version, usual, [Handicap(**handicap) for handicap in handicaps]))

    slow, fast = {"bot": "ada", "time_control": "60+1"}, {"bot": "ada", "against": "bob", "time_control": "1/move"}
    assert time("ada v1") == time("bob v1", slow, fast) == "10+0.1"
    assert (time("ada v1", slow), time("ada v1", fast, slow)) == ("60+1", "1/move")
    assert time("ada v1", {"bot": "ada v1", "against": "bob", "time_control": "60+1"}) == "10+0.1"
    assert time("ada v1", {"bot": "ada", "time_control": "depth:3"}) == "depth:3"
    assert time("ada v1", {"bot": "ada", "against": "bob", "time_control": "depth:3"}) == "10+0.1"


def test_handicap_names_match_entries() -> None:
    names = {0: "ada v2", 1: "ada v10", 2: "bob v1", 3: "ada v11"}
    assert [seat_of(name, names) for name in ("ada v2", "ada", "bob", "bob v2", "cleo")] == [0, 3, 2, None, None]
    assert seat_of("ada", names, named=["ada", "ada v11"]) == 1, "v11 is named itself: ada is another one"


def test_the_example_of_the_reference_is_one() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", tournament_files(), re.DOTALL)
    found = read(toml.read(example))
    assert [(one.bot, one.against) for one in found.handicaps] == [("zeta", None), ("zeta", "theta v3")]
    assert not found.rated


def tablut(**changes: Any) -> Document:
    return document(family="tablut", **changes)


def test_random_sides_draw_which_side_moves_first() -> None:
    """In both games of a pair the same side moves first, with bots swapped; over many pairs both sides are drawn."""
    settings = tablut(sides="random", games=40, seed=3)
    specs = games_of(settings, PlannedMatch(1, 0, 1, games=40))
    drawn = [spec.options["first_player"] for spec in specs]
    assert drawn[::2] == drawn[1::2]
    assert {"attackers", "defenders"} == set(drawn)
    assert [spec.first.name for spec in specs[:4]] == ["ada v1", "bob v1", "ada v1", "bob v1"]
    assert {spec.opening for spec in specs} == {()}
    assert [spec.options for spec in games_of(settings, PlannedMatch(1, 0, 1, games=40))] == [
        spec.options for spec in specs
    ]
    assert "first_player" not in games_of(tablut(), PlannedMatch(1, 0, 1))[0].options


def test_random_sides_draw_the_first_side_of_a_single_game() -> None:
    meetings = [PlannedMatch(number, 0, 1, games=1) for number in range(1, 21)]
    drawn = {spec.first.name for spec in games_of(document(sides="random", games=1), *meetings)}
    assert drawn == {"ada v1", "bob v1"}
    assert {spec.first.name for spec in games_of(document(games=1), *meetings)} == {"ada v1"}


def test_an_opening_with_moves_says_itself_who_begins() -> None:
    specs = games_of(tablut(sides="random", opening_lines=["d1d3 c5c4"]), PlannedMatch(1, 0, 1))
    assert [spec.opening for spec in specs] == [("d1d3", "c5c4")] * 2
    assert all("first_player" not in spec.options for spec in specs)


def test_a_handicap_of_rules_holds_for_a_side_or_a_pairing() -> None:
    settings = tablut(
        handicaps=[
            {"bot": "ada", "side": "défenseurs", "rule_options": {"goal": "edge_no_bases"}},
            {"bot": "bob", "against": "cleo", "rule_options": {"king_max_step": 4}},
        ]
    )
    assert not settings.rated
    assert settings.openings == "none"
    specs = games_of(settings, *ALL)
    told = {(spec.first.name[:1] + spec.second.name[:1]): dict(spec.options) for spec in specs}
    assert told == {
        **{"ab": {}, "ba": {"goal": "edge_no_bases"}, "ca": {"goal": "edge_no_bases"}, "ac": {}},
        **{"bc": {"king_max_step": 4}, "cb": {"king_max_step": 4}},
    }


@pytest.mark.parametrize(
    ("handicap", "more", "said"),
    [
        ({"rule_options": {"gaol": "edge"}}, {}, "did you mean goal"),
        ({"rule_options": {"goal": "moon"}}, {}, "known: edge, edge_no_bases"),
        ({"rule_options": {"goal": "edge"}, "side": "white"}, {}, "write attackers or defenders"),
        ({"side": "defenders"}, {}, "side applies to rule_options"),
        ({"rule_options": {"goal": "edge_no_bases"}}, {"opening_lines": ["d1d3"]}, 'write openings = "none"'),
        ({"rule_options": {"goal": "edge_no_bases"}}, {"openings": "random:4:1"}, 'write openings = "none"'),
    ],
)
def test_handicaps_of_rules_that_make_no_sense(handicap: dict[str, Any], more: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        tablut(handicaps=[{"bot": "ada", **handicap}], **more)
    assert said in str(caught.value)


@pytest.mark.parametrize(("players", "games"), [(2, 1), (2, 2), (3, 5), (5, 4)])
def test_every_pairing_of_a_round_robin_plays_its_games_in_swapped_pairs(players: int, games: int) -> None:
    planned = whole_plan("round-robin", players, games)
    specs = [game.spec for game in planned]
    assert [spec.sequence for spec in specs] == list(range(1, len(specs) + 1))
    met = Counter(frozenset((spec.first.name, spec.second.name)) for spec in specs)
    assert set(met.values()) == {games}
    assert len(met) == players * (players - 1) // 2
    pairs: dict[int, list[GameSpec]] = {}
    for spec in specs:
        pairs.setdefault(spec.pair, []).append(spec)
    for pair in pairs.values():
        assert len(pair) == 2 or games % 2 == 1
        if len(pair) == 2:
            spec, return_spec = pair
            assert (spec.first, spec.second, spec.opening) == (
                return_spec.second,
                return_spec.first,
                return_spec.opening,
            )
    assert len({game.id for game in planned}) == len(planned)
    assert [game.id for game in whole_plan("round-robin", players, games)] == [game.id for game in planned]


def test_a_gauntlet_is_one_against_all() -> None:
    specs = [game.spec for game in whole_plan("gauntlet", 4, 2)]
    assert [(spec.first.name, spec.second.name) for spec in specs[::2]] == [
        ("bot0", "bot1"),
        ("bot0", "bot2"),
        ("bot0", "bot3"),
    ]


def whole_plan(format: str, players: int, games: int, **more: Any) -> list[PlannedGame]:
    """All games of a format that is known in advance."""
    names = [f"bot{number}" for number in range(players)]
    plain = {"name": "cup", "family": "loa", "format": format, "games": games, "entries": {"bots": names}}
    found = read({**plain, **more})
    ledger = Ledger(found, [BotSpec(name, ("./bot",)) for name in names], openings.draw(found, games))
    return ledger.plan(ledger.next_step().matches)


def test_the_lot_draws_the_side_of_single_games_and_who_opens() -> None:
    drawn, opened = set(), set()
    for seed in range(12):
        (game,) = whole_plan("round-robin", 2, 1, family="tablut", seed=seed, sides="random")
        drawn.add(game.spec.first.name)
        opened.add(game.spec.options["first_player"])
    assert (drawn, opened) == ({"bot0", "bot1"}, {"attackers", "defenders"})
    pair = whole_plan("round-robin", 2, 2, family="tablut", sides="random")
    assert [game.spec.first.name for game in pair] == ["bot0", "bot1"]
    assert len({game.spec.options["first_player"] for game in pair}) == 1
    (begun,) = whole_plan("round-robin", 2, 1, family="tablut", sides="random", opening_lines=["d1d3"])
    assert "first_player" not in begun.spec.options
    (usual,) = whole_plan("round-robin", 2, 1, family="tablut", openings="none")
    assert (usual.spec.first.name, usual.spec.options) == ("bot0", {})
