"""Texts as pages print them: titles, unfinished endings, marks, capitals, typographic dashes, in every family."""

from __future__ import annotations

import pytest

from referee.rules import load
from referee.rules.core import ParseError
from referee.rules.gametitle import looks_like_title, variant_in
from referee.rules.rules import GameText

ENDINGS = ("3…", "3...", "3.", "…", "")
FIRST = {
    "aba-pro": ("abalone", "1.e4e5! e3e4?? 2.e8f8!? h6g5"),
    "aba-pro-table": ("abalone", "1 | e4e5! | e3e4??\n2 | E8-F8!? | h6g5"),
    "display": ("baroque", "1. Pa2a3! Pa7a6?? 2. PA3A4!? Pa6a5"),
    "coordinates": ("baroque", "1. a2a3! a7a6?? 2. a3a4 $5 a6a5"),
    "vchess": ("baroque", "1. Pa2a3! Pa7a6?? 2. Pa3a4!? Pa6a5"),
    "loa": ("loa", "1. b1–b3! h4-f2?? 2. D1:A4!? h2-e2"),
    "pijersi": ("pijersi", "1 a4-b5=c4!   2 f4=d5-d4??\n3 A2-B3 !?   4 f5-e5"),
    "tablut": ("tablut", "1. d1-d3! e4-c4?? 2. F1-F3!? e3-c3"),
    "otn": ("tablut", "1. d1-d3! e4-c4??\n2. F1-F3!? e3-c3"),
}


def read(name: str, text: str) -> list[GameText]:
    rules = load(FIRST[name][0])
    form = next(form for form in rules.formats if form.name == name)
    return list(form.read(text, rules.settle()))


@pytest.mark.parametrize("name", FIRST)
@pytest.mark.parametrize("ending", ENDINGS)
def test_text_with_titles_is_read(name, ending):
    body = FIRST[name][1]
    plain = read(name, body)
    number = {"pijersi": "5"}.get(name, "3")
    games = read(name, f"Partie n° 12 : une belle fin\n\n{body} {ending.replace('3', number)}\n")
    assert len(games) == 1
    assert games[0].moves == plain[0].moves
    assert len(games[0].moves) == 4
    assert games[0].marks == {1: "!", 2: "??", 3: "!?"}
    assert (games[0].tags["Title"], games[0].tags["Number"]) == ("Partie n° 12 : une belle fin", "12")


@pytest.mark.parametrize(
    ("name", "title", "variant"),
    [
        ("aba-pro", "Marguerite irlandaise", "irish-daisy"),
        ("aba-pro-table", "MARGUERITE IRLANDAISE", "irish-daisy"),
        ("loa", "Œufs brouillés", "scrambled-eggs"),
        ("display", "Échecs baroques - Règles de MacKay", "mackay"),
        ("tablut", "Première adaptation atténuée", "bell_a1_attenuated"),
        ("otn", "Roi à quatre cases", "bell_k4"),
        ("pijersi", "pijersi-36#0", "pijersi-36#0"),
    ],
)
def test_a_title_that_names_a_variant(name, title, variant):
    first = "1. b1-h1" if name == "loa" else FIRST[name][1]
    found = read(name, f"{title}\n{first}")
    assert found[0].variant == variant
    assert found[0].tags["Title"] == title


@pytest.mark.parametrize(
    "title",
    [
        "Marguerite irlandaise\n427",
        "n° 427 – marguerite irlandaise",
        "427. Marguerite irlandaise",
        "Irish daisy\n# 427",
    ],
)
@pytest.mark.parametrize("name", ["aba-pro", "aba-pro-table"])
def test_a_title_that_begins_with_a_number_or_has_it_below(name, title):
    found = read(name, f"{title}\n{FIRST[name][1]}")
    assert (found[0].variant, found[0].tags["Number"]) == ("irish-daisy", "427")
    assert found[0].moves == read(name, FIRST[name][1])[0].moves


def test_number_of_the_first_move_is_not_a_title():
    assert read("aba-pro", "Marguerite irlandaise\n1.\ne4e5 e3e4")[0].moves == ("e4e5", "e3e4")


def test_games_one_below_the_other():
    found = read(
        "aba-pro", "Marguerite belge\nAda - Bob\n\n1.a1b2 i5h5\n\nMarguerite suisse\n1.e4f5\n\nBlanc abandonne"
    )
    assert [game.variant for game in found] == ["belgian-daisy", "swiss-daisy"]
    assert [game.tags["Title"] for game in found] == ["Marguerite belge / Ada - Bob", "Marguerite suisse"]
    assert found[1].comments == {1: "Blanc abandonne"}


def test_a_tag_comes_before_a_title():
    assert read("aba-pro", 'Marguerite belge\n[Variant "star"]\n1.e4e5')[0].variant == "star"


@pytest.mark.parametrize("text", ["Hello", "1.e4e5\nHello there", "hello\n1.e4e5", "Title\n1.e4e55"])
def test_line_that_is_not_a_title_is_an_error_at_its_index(text):
    with pytest.raises(ParseError) as caught:
        read("aba-pro", text)
    at = caught.value
    assert at.text == text
    assert text[at.index :][:1] in "Hh5" or text[at.index - 2 : at.index + 1] == "e55"


def test_words_in_comments_are_not_titles():
    found = read("loa", "1. b1-b3 {a long one\n\nMarguerite\n\nStandard\n} h4-f2")
    assert found[0].comments == {1: "a long one Marguerite Standard"}
    assert "Title" not in found[0].tags


def test_looks_like_title():
    assert looks_like_title("Étoile de Noël")
    assert looks_like_title("« La belle »")
    for line in (
        "a16:RPS",
        "A16:RPS",
        "Pa2a3",
        "1. b1b3",
        "{X}",
        "[Event",
        "marguerite",
        "Marguerite; belge",
        "X" * 300,
    ):
        assert not looks_like_title(line), line


def test_a_single_word_names_a_variant_only_by_itself():
    rules = load("abalone")
    assert variant_in("Duel au sommet", rules) == ""
    assert variant_in("Finale - Duel", rules) == "duel"
    assert variant_in("Une partie en Marguerite belge jouée hier", rules) == "belgian-daisy"
