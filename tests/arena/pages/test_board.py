"""Boards, scenes, charts, tables and filters without a server: all families, and one only the tests know."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp.test_utils import make_mocked_request

from arena.documents.table import Column
from arena.http.problem import Problem
from arena.pages import filters, markdown, times
from arena.pages.drawing import board, plot
from arena.pages.drawing.chart import chart, described
from arena.pages.drawing.geometry import plan
from arena.pages.drawing.piece_shapes import EMBLEMS, looks
from arena.pages.drawing.replay import Replays
from arena.pages.drawing.scene import Scenes, piece_names
from arena.pages.html_table import choice, number, sorting
from arena.pages.schema import documented_fields
from referee.game.record import Ply
from referee.game.spec import Adjudication, BotLimits, GameSpec
from referee.rules import families, load, terminations
from referee.rules.core import Kind, Termination
from referee.rules.rules import Rules
from tests.arena.pages.stage import HOSTILE, random_moves
from tests.referee.conftest import a_record, scripted
from tests.rules import sixth

FAMILIES = [(name, variant) for name in families() for variant in (None, load(name).variants[-1].name)]


def toy() -> Rules:
    """A test family, drawn from its folder alone."""
    import referee.rules

    before = list(referee.rules.__path__)
    sixth.install()
    try:
        return load("hexapawn")
    finally:
        referee.rules.__path__[:] = before
        sixth.forget()


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<root>{text}</root>")


def layer(svg: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [one for group in svg.iter() if group.get("data-layer") == name for one in group]


@pytest.mark.parametrize(("family", "variant"), FAMILIES)
def test_every_ply_of_every_family_is_drawn(family: str, variant: str | None) -> None:
    rules = load(family)
    ruleset = rules.settle(variant)
    scenes = Scenes(ruleset)
    scenes.extend(random_moves(ruleset, 40, seed=1))
    known = {element.get("id") for element in parsed(board.sprites([rules])).iter() if element.get("id")}
    for scene in scenes.items:
        drawn = parsed(board.svg(rules, scene, label=filters.plain(HOSTILE), flip=scene.ply % 2 == 1))
        assert not [element for element in drawn.iter() if "style" in element.attrib]
        assert len(layer(drawn, "pieces")) == sum(map(len, scene.board.pieces.values()))
        for use in drawn.iter("use"):
            assert (use.get("href") or "").removeprefix("#") in known
        for cell in scene.board.cells:
            assert cell.name in described(rules, scene, cell)
    counts = [sum(map(len, scene.board.pieces.values())) for scene in scenes.items]
    for before, scene, count in zip(counts, scenes.items[1:], counts[1:], strict=False):
        assert sum(scene.lost.values()) == before - count
        assert sum(scene.gone.values()) == counts[0] - count
        assert scene.said.startswith(f"{scene.mover} {scene.move}")


def test_a_family_nobody_knows_is_drawn() -> None:
    rules = toy()
    scenes = Scenes(rules.settle())
    drawn = parsed(board.svg(rules, scenes.items[0], label="toy"))
    assert len(layer(drawn, "pieces")) == len(scenes.items[0].board.pieces)
    assert {look.path for look in looks(rules.pieces)} == {EMBLEMS["CHESS PAWN"]}


@pytest.mark.parametrize("family", families())
def test_pieces_of_both_sides_differ_by_form(family: str) -> None:
    rules = load(family)
    sides = {piece.symbol: piece.side for piece in rules.pieces}
    bodies: dict[str, set[Any]] = {}
    for look in looks(rules.pieces):
        svg = parsed(look.symbol_svg("x"))
        form = Counter(
            (element.tag, element.get("r"), element.get("d"), element.get("transform"))
            for element in svg.iter()
            if element.tag != "symbol"
        )
        bodies.setdefault(str(sides[look.symbol]), set()).add(frozenset(form.items()))
    assert not bodies["first"] & bodies["second"]


def test_what_moves_say_and_strike() -> None:
    loa = Scenes(load("loa").settle())
    loa.extend(["c1a3"])
    scene = loa.items[-1]
    assert scene.struck == ("a3",)
    assert scene.trail == (("c1", "a3"),)
    assert scene.lost == {"w": 1}
    assert "takes white stone" in scene.said


def said_of(family: str, position: str, move: str) -> Any:
    """Return the scene of one move from a position."""
    scenes = Scenes(load(family).settle(), position)
    scenes.extend([move])
    return scenes.items[-1]


def test_a_push_shows_its_row_and_what_went_over_the_edge() -> None:
    rules = load("abalone")
    start = Scenes(rules.settle())
    moves = random_moves(rules.settle(), 400, seed=3)
    start.extend(moves)
    thrown = next(scene for scene in start.items if scene.effect.ejected)
    row = thrown.effect.line
    assert len(row) >= 3
    assert thrown.trail == (row,)  # the arrow goes over all of it
    assert "is ejected" in thrown.said
    assert row[-1] in thrown.said
    assert "score" in thrown.said
    drawn = parsed(board.svg(rules, thrown, label=""))
    (ghost,) = layer(drawn, "ghost")
    where = plan(thrown.board)
    (a, _), (x, _) = (where.places[name] for name in row[-2:])
    middle = float(ghost.get("x") or 0) + float(ghost.get("width") or 0) / 2
    assert middle == pytest.approx(x + 0.62 * (x - a), abs=0.2)
    assert len(layer(drawn, "lit")) >= len(row)
    assert (ghost.get("href") or "").endswith("53" if thrown.lost.get("S") else "73")


def test_captures_are_told_by_their_method() -> None:
    pinch = said_of("baroque", "8/8/8/7k/8/2p5/2P5/R2PK3 w 0 1", "d1d3")
    assert pinch.effect.between == ()
    assert "pinches" not in pinch.said
    pinch = said_of("baroque", "4k3/8/8/8/8/1Pp5/8/3PK3 w 0 1", "d1d3")
    assert pinch.effect.between == (("d3", "b3"),)
    assert "pinches the pincer on c3" in pinch.said
    leap = said_of("baroque", "4k3/8/8/8/8/2p5/8/N3K3 w 0 1", "a1d4")
    assert "leaps over the pincer on c3" in leap.said
    tablut = said_of("tablut", "9/9/9/9/4K4/9/9/9/1tT5t a 0 0", "i9d9")
    assert "c9 is captured between d9 and b9" in tablut.said
    assert tablut.effect.between == (("d9", "b9"),)


@pytest.mark.parametrize(
    ("variant", "attackers", "defenders"), [("bell", "first", "second"), ("ashton", "second", "first")]
)
def test_a_chart_says_whose_each_piece_is_in_this_game(variant: str, attackers: str, defenders: str) -> None:
    ruleset = load("tablut").settle(variant)
    owners = chart(ruleset.rules, Scenes(ruleset).items[0])["owners"]
    assert owners == {"t": attackers, "T": defenders, "K": defenders}


def test_stacks_are_told() -> None:
    rules = load("pijersi")
    scenes = Scenes(rules.settle())
    scenes.extend(random_moves(rules.settle(), 60, seed=2))
    said = " ".join(scene.said for scene in scenes.items)
    for words in ("stacks on", "unstacks to", "the stack goes to", "takes "):
        assert words in said


@pytest.mark.parametrize("family", families())
def test_no_two_sides_have_a_piece_of_one_name(family: str) -> None:
    names = piece_names(load(family))
    assert len(set(names.values())) == len(names)


def test_abalone_sideways_moves_have_a_line_for_each_marble() -> None:
    rules = load("abalone")
    scenes = Scenes(rules.settle("standard"))
    position = scenes._position
    sideways = next(
        text for text in position.texts if len(re.findall("[a-i][1-9]", text)) == 3 and text.startswith("c3c5")
    )
    scenes.extend([sideways])
    assert len(scenes.items[-1].trail) == 3


def test_a_record_with_an_illegal_move_is_shown_as_far_as_it_goes() -> None:
    from arena.pages.drawing.replay import Replays
    from referee.game.record import GameRecord, Ply

    record = GameRecord(
        "00ff",
        "loa",
        "standard",
        {},
        "",
        "a",
        "b",
        "draw",
        Termination.MAX_PLIES,
        Kind.RULES,
        ("b1b3", "zz"),
        (Ply(), Ply()),
        "",
        "",
    )
    replay = Replays().of_record(record)
    assert replay.last == 1
    assert "ply 2" in replay.problem


@pytest.mark.parametrize("family", families())
def test_a_sign_of_the_notation_is_no_judgement_and_a_mark_is(family: str) -> None:
    from arena.pages.viewer import mark_of

    rules = load(family)
    for variant in rules.variants:
        moves = tuple(random_moves(rules.settle(variant.name), 60, seed=3))
        marks = {1: "?!", len(moves): "!"}
        played = a_record(moves=moves, winner=None)
        record = replace(played, family=family, variant=variant.name, position=variant.position, marks=marks)
        replay = Replays().of_record(record)
        assert not replay.problem
        assert {ply: mark for ply in range(replay.last + 1) if (mark := mark_of(replay, None, ply))} == marks


def test_what_bots_said_is_seen_from_one_side_and_played_out() -> None:
    moves = tuple(random_moves(load("loa").settle(), 6, seed=1))
    first, second = f"{moves[0]} {moves[1]} nonsense", " ".join(moves[2:5])
    said = [(40, first), (60, ""), (300, second), (30, "x"), (29_990, ""), (-29_991, "")]
    plies = tuple(Ply(ms=2, score=score, pv=pv, nodes=4000) for score, pv in said)
    record = a_record(moves=moves, plies=plies, time="5+0.1", winner=None)
    replay = Replays().of_record(record)
    assert not replay.problem
    assert [replay.score(number) for number in range(1, 7)] == [40, -60, 300, -30, 29_990, 29_991]
    # Ply 3: +3.00 against -0.60; 4: against -0.30; 5: decided against -0.30; 6: both say that first wins.
    assert replay.disagreements() == [3, 4, 5]
    assert [scene.canonical for scene in replay.line(1)] == ["", *moves[:2]]
    assert [scene.canonical for scene in replay.line(3)] == ["", *moves[2:5]]
    assert len(replay.line(4)) == 1
    assert replay.line(2) == replay.line(0) == []
    assert (replay.last_of("second", 5), replay.last_of("first", 0)) == (4, 0)
    assert [filters.score(replay.score(number)) for number in (1, 2, 5)] == ["+0.40", "−0.60", "+#10"]
    assert filters.thought(plies[0]) == "4.00 k positions · 2.00 M/s"


def test_charts_hold_their_lines() -> None:
    points = [plot.Point(x, x % 7, 2.0) for x in range(5000)]
    drawn = parsed(plot.lines("ratings", [plot.Series(filters.plain(HOSTILE), points)], plot.Axis(breaks=[(10, "v2")])))
    line = next(element for element in drawn.iter("polyline"))
    assert len((line.get("points") or "").split()) <= 600
    assert plot.lines("empty", []) == ""
    assert plot.ticks(0, 10) == [0, 2, 4, 6, 8, 10]
    assert parsed(plot.lines("one", [plot.Series("a", [plot.Point(1, 1)])])) is not None
    assert parsed(plot.bars("bars", [plot.Series("a", [plot.Point(1, 0), plot.Point(2, 5)])])) is not None


def test_the_last_label_of_a_plot_ends_at_its_edge() -> None:
    drawn = parsed(plot.lines("x", [plot.Series("a", [plot.Point(0, 1), plot.Point(10, 2)])]))
    last = [one for one in drawn.iter("text") if one.text == "10"][-1]
    assert (float(last.get("x") or 0), last.get("text-anchor")) == (plot.WIDTH - 10, "end")


def test_counts_below_a_plot_have_no_fractions() -> None:
    drawn = parsed(plot.lines("x", [plot.Series("a", [plot.Point(3, 0.1), plot.Point(5, 0.2)])]))
    below = [one.text for one in drawn.iter("text") if one.get("y") == str(plot.HEIGHT - 8)]
    assert below == ["3", "4", "5"]


@pytest.mark.parametrize(("width", "letters_px"), [(plot.WIDTH, 18), (plot.WIDE_WIDTH, 22)])
def test_the_labels_beside_a_plot_fit_on_a_phone(width: int, letters_px: int) -> None:
    points = [plot.Point(1, 0), plot.Point(2, 100)]
    drawn = parsed(plot.lines("x", [plot.Series("a", points)], plot.Axis(unit=" %"), width=width))
    widest = [one for one in drawn.iter("text") if one.text == "100 %"][-1]
    assert float(widest.get("x") or 0) >= 0.55 * letters_px * len("100 %")


def test_bands_of_a_plot_have_the_colours_of_their_lines() -> None:
    points = [plot.Point(0, 1, 0.5), plot.Point(1, 2, 0.5)]
    drawn = parsed(plot.lines("x", [plot.Series("a", points, 1), plot.Series("b", points, 2)]))
    assert [one.get("class") for one in drawn.iter("polygon")] == ["band s1", "band s2"]
    assert [one.get("class") for one in drawn.iter("polyline")] == ["line s1", "line s2"]


def test_a_single_point_of_a_plot_is_a_dot() -> None:
    drawn = parsed(plot.lines("x", [plot.Series("a", [plot.Point(1, 1)])]))
    assert len(list(drawn.iter("circle"))) == 1
    several = parsed(plot.lines("x", [plot.Series("a", [plot.Point(1, 1), plot.Point(2, 1)])]))
    assert list(several.iter("circle")) == []


def test_a_band_begins_after_its_last_wide_point() -> None:
    spreads = (0.0, 30.0, 10.0, 25.1, 25.0, 9.0)
    line = [plot.Point(place, 50.0, spread) for place, spread in enumerate(spreads)]
    found = plot.without_wide_band(line, 25.0)
    assert [point.spread for point in found] == [0, 0, 0, 0, 25, 9]
    assert [(point.x, point.y) for point in found] == [(place, 50.0) for place in range(6)]
    assert plot.without_wide_band(line, 31.0) == line


def test_a_small_curve_runs_from_left_to_right_between_its_bounds() -> None:
    assert plot.spark([3.0]) == ""
    line = next(one for one in parsed(plot.spark([1.0, 3.0, 2.0])).iter("polyline"))
    assert line.get("points") == "1.0,27.0 50.0,3.0 99.0,15.0"


def test_every_termination_has_a_meaning_and_every_limit_a_text() -> None:
    assert all(filters.meaning(word) for word in terminations())
    assert filters.meaning("worn-out") == filters.meaning(None) == ""
    for kind in (BotLimits, Adjudication):
        found = documented_fields(kind)
        assert {one.name for one in found} == set(kind.__dataclass_fields__)
        assert all(one.value for one in found)


def test_foreign_text_is_made_visible() -> None:
    shown = filters.plain(HOSTILE + "y" * 10_000, 300)
    assert len(shown) == 301
    assert not re.search("[\x00-\x1f\u202a-\u202e]", shown)
    assert filters.version("<b> v1") == '<bdi class="name" title="&lt;b&gt; v1">&lt;b&gt; v1</bdi>'
    assert filters.url_of_version("zeta v3") == "/bots/zeta/v/3"
    assert filters.points(2.5) == "2½"
    assert filters.points(0.5) == "½"
    assert times.clock(3_723_000) == "1:02:03"
    assert [times.milliseconds(ms) for ms in (None, 0.0, 0.04, 12.3)] == ["–", "–", "0.0 ms", "12 ms"]
    assert times.duration(200) == "3 min 20 s"


def test_sorting_by_links() -> None:
    columns: tuple[Column[Any], ...] = (
        Column("rank", "#", str, is_descending_first=False),
        Column("points", "Points", lambda row: row.points),
        Column("cells", "Cells", str, is_sortable=False),
    )
    request = make_mocked_request("GET", "/t?sort=-points&page=3&x=1")
    order = sorting(request, columns, "rank")
    rows = [SimpleNamespace(points=value) for value in (1, None, 3)]
    assert [row.points for row in order.sort(rows)] == [3, 1, None]
    assert order.aria(columns[1]) == "descending"
    assert "sort=points" in order.link(columns[1])
    assert "page" not in order.link(columns[1])
    with pytest.raises(Problem) as caught:
        sorting(make_mocked_request("GET", "/t?sort=cells"), columns, "rank")
    assert caught.value.status == 400
    with pytest.raises(Problem):
        number(make_mocked_request("GET", "/t?page=1e9").query, "page", 1)
    with pytest.raises(Problem):
        choice(make_mocked_request("GET", "/t?state=x").query, "state", ("a",))


def test_documents_become_html_without_styles_or_raw_html() -> None:
    text = markdown.html(
        "# Head *one*\n\n| a | b |\n|--:|---|\n| 1 | <script> |\n\n[x](dialects/loa.md)", lambda _: "/y"
    )
    assert 'id="head-one"' in text
    assert '<td data-label="a">1</td>' in text
    assert "style" not in text
    assert "<script>" not in text
    assert 'href="/y"' in text
    assert 'role="region"' in text


def test_each_clock_runs_by_its_own_time_control() -> None:
    record = a_record(moves=("b1b3", "h4f2"), plies=(Ply(charged_ms=1000), Ply(charged_ms=300)), time="5+0.1 v 1/move")
    replay = Replays().of_record(record)
    assert replay.clocks == [(5000.0, None), (4100.0, None), (4100.0, None)]
    replay = Replays().of_record(replace(record, time="2+0 v 1+0.5"))
    assert replay.clocks == [(2000.0, 1000.0), (1000.0, 1000.0), (1000.0, 1200.0)]
    assert Replays().of_record(replace(record, time="")).clocks == [(None, None)] * 3
    replay = Replays().of_record(replace(record, time="1/2+0 v 2/1+0"))
    assert replay.clocks == [(2000.0, 1000.0), (3000.0, 1000.0), (3000.0, 700.0)], "time for another move"


def test_a_clock_is_not_charged_for_what_the_machine_added() -> None:
    news = (Ply(ms=2500, lag_ms=2400), Ply(ms=3000, lag_ms=3000), Ply(ms=700))
    record = a_record(moves=("b1b3", "h4f2", "d1a4"), plies=news, time="2+1")
    assert Replays().of_record(record).clocks[1:] == [(2900.0, 2000.0), (2900.0, 3000.0), (3200.0, 3000.0)]


def test_a_move_within_the_margin_leaves_the_clock_running() -> None:
    record = a_record(moves=("b1b3", "h4f2", "d1a4"), plies=(Ply(ms=2100), Ply(ms=10), Ply(ms=300)), time="2+1")
    assert Replays().of_record(record).clocks[1:] == [(1000.0, 2000.0), (1000.0, 2990.0), (1700.0, 2990.0)]


def test_moves_of_an_opening_take_no_time_from_a_clock() -> None:
    plies = (Ply(book=True), Ply(book=True), Ply(ms=500, charged_ms=400))
    record = a_record(moves=("b1b3", "h4f2", "d1a4"), plies=plies, time="1/5+1")
    assert Replays().of_record(record).clocks[-2:] == [(5000.0, 5000.0), (10_600.0, 5000.0)]


@pytest.mark.parametrize(("scales", "shown"), [(False, (10_000.0, 10_000.0)), (True, (None, None))])
def test_clocks_that_only_the_record_will_tell_are_not_shown(scales: bool, shown: tuple[float | None, ...]) -> None:
    spec = GameSpec("loa", "standard", scripted("one"), scripted("two"), scale_clocks=scales)
    game: Any = SimpleNamespace(id="g", attempt=1)
    assert Replays().of_moves(game, spec, ()).clocks == [shown]
