"""Files as people have them: read, or refused once, with what was read and up to where."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena.collections.best_reading import best_reading
from arena.collections.collection import Collection, pieces, read_collection
from arena.collections.recorded import RECORD
from referee.rules import families, load
from tests.rules.test_gametext import CASES, NASTY, form_of, game_of

PLIES = "   1 a4-b5=c4   2 g2-f3=e2\n"
SETUP = "   g16:sprspr f13:prs f4:ww f57:rsp\n   b13:PSR b4:WW b57:SRP a16:RPSRPS\n\n"
RULES_OF_OTN = (
    "rules:dim:9 name:Tablut esc:e atkf:y ka:y ks:c start:/3ttt3/4t4/4T4/t3T3t/ttTTKTTtt/t3T3t/4T4/4t4/3ttt3/"
)


def read(family: str, text: str) -> Collection:
    """Read a text in the notation that fits best."""
    ruleset = load(family).settle()
    return best_reading(text, ruleset, (*ruleset.rules.formats, RECORD))


@pytest.mark.parametrize(
    ("text", "tags", "winner"),
    [
        (f"Player white-a wins against black-b\n----------\n{SETUP}{PLIES}", ("a", "b"), "first"),
        (f"Player black-b wins against white-a ; 49 versus 26 seconds\n\n{PLIES}", ("a", "b"), "second"),
        (f"{PLIES}\n----------\nNobody wins ; the game is a draw between white-a and black-b ; 1 versus 2 seconds\n",
         ("a", "b"), "draw"),
        (f"{PLIES}\nHello from PIJERSI-CERTU-v2.0.0\n-----\n\n    g1.s    g2.p\n\nTurn 1 : selects a4-b5=c4\n",
         None, None),
        (f"{PLIES}----------\nPlayer white-a wins against black-b\n----------\nTurn 1 / player white / credit 20\n",
         ("a", "b"), "first"),
    ],
)  # fmt: skip
def test_file_of_the_author_of_pijersi_is_one_game(text: str, tags: tuple[str, str] | None, winner: str | None) -> None:
    reading = read("pijersi", text)
    assert not reading.problems
    (collected,) = reading.games
    assert collected.game.moves == ("a4b5c4", "g2f3e2")
    assert collected.winner == winner
    if tags:
        assert (collected.game.tags["White"], collected.game.tags["Black"]) == tags


def test_log_without_a_game_is_told_once_by_name() -> None:
    log = "\n    g1..    g2..\nf1..    f2..\n\nTurn 38 / player black / credit 17\n\nTurn 39 : selects a4-a5\n" * 30
    (problem,) = read("pijersi", log).problems
    assert "the log of a program without a game" in problem.message


def test_comment_of_opentafl_on_lines_of_its_own_is_a_comment() -> None:
    text = (
        f"[attackers:alpha]\n[defenders:beta]\n[result:1]\n[{RULES_OF_OTN}]\n[start-comment:Long ago\n\n[1. e2-e3]\n\n"
        "1. e2-g2 e3-h3\n[The usual opening.|A reply.\n\n1. e2-e3 would be worse]\n\n2. b5-b3 e4-f4\n[Note: so.]\n"
    )
    reading = read("tablut", text)
    assert (reading.format, reading.problems) == ("otn", [])
    (collected,) = reading.games
    assert (len(collected.game.moves), collected.ruleset.variant.name, collected.winner) == (4, "linnaeus", "first")
    assert collected.game.comments == {
        2: "The usual opening.|A reply. 1. e2-e3 would be worse",
        4: "Note: so.",
    }


@pytest.mark.parametrize("name", ["nielsn", "Hnefatafl", "any word"])
def test_unknown_variant_without_a_result_is_refused(name: str) -> None:
    text = f'[Variant "{name}"]\n[Attackers "alpha"]\n[Defenders "beta"]\n\n1. d1d2 e3f3\n'
    reading = read("tablut", text)
    assert not reading.games
    (problem,) = reading.problems
    assert f"unknown variant of tablut '{name}'" in problem.message


@pytest.mark.parametrize(("family", "name"), [("tablut", "Tablut"), ("loa", "Lines of Action"), ("baroque", "Ultima")])
def test_name_of_the_family_is_no_variant(family: str, name: str) -> None:
    moves = {"tablut": "1. d1d2 e3f3", "loa": "1. b1-b3 h4-f2", "baroque": "1. Pa2a3 Pa7a6"}[family]
    (collected,) = read(family, f'[Event "club"]\n[Variant "{name}"]\n\n{moves} *\n').games
    assert collected.ruleset.variant == load(family).settle().variant


@pytest.mark.parametrize(
    ("text", "winner"),
    [
        ("1. b1-b3 h4-f2\n2. d1:a4 Resigns", "first"),
        ("1. b1-b3 h4-f2 2. d1xa4 h2-e2 resigns.", "second"),
        ("1) b1-b3, h4-f2\n2) d1xa4 White resigns", "first"),
        ("1.) b1-b3 h4-f2 2.) d1-a4 Black wins!", "first"),
        ("1: b1-b3 h4-f2\n2: d1-a4 1/2", "draw"),
        ("LOA, round 3\nA. Nobody (Black) - B. Nemo (White)\n\n1. b1-b3 h4-f2 2. d1:a4 0-1\n", "second"),
        ("Game 12\n\n1 b1-b3 h4-f2\n2 d1xa4 h2-e2\n½-½\n", "draw"),
    ],
)
def test_loa_of_old_pages(text: str, winner: str) -> None:
    reading = read("loa", text)
    assert not reading.problems, [str(problem) for problem in reading.problems]
    (collected,) = reading.games
    assert collected.game.moves[:3] == ("b1b3", "h4f2", "d1a4")
    assert collected.winner == winner


def test_post_with_sentences_around_the_game() -> None:
    text = (
        "Hello everybody, here is a game of yesterday, which I lost.\nI had Black and my friend White.\n\n"
        "1.e4e5 e3e4 2.e8f8 h6g5\n\nWhat do you think of the last move? I was afraid; so he won.\n\n"
        "(it was late, and both of us had to go)\n"
    )
    (collected,) = read("abalone", text.replace("1.e4e5", "Marguerite irlandaise\n\n1.e4e5")).games
    assert collected.ruleset.variant.name == "irish-daisy"
    assert collected.game.moves == ("e4e5", "e3e4", "e8f8", "h6g5")
    assert collected.game.comments[4].startswith("What do you think")
    assert collected.game.comments[4].endswith("(it was late, and both of us had to go)".strip("()"))


@pytest.mark.parametrize(
    ("text", "ply"),
    [
        ("1. b1-b3 h4-f2 and then I was lost", 3),
        ("1. b1-b3 h4-f2\nand then I was lost\n", 3),
        ("1. b1-b3 h4-f2\n\nand then I was lost after\n\nd1-a4 h2-e2\n", 3),
        ('1. b1-b3 h4-f2\n\n[Event "x"]\n\n7. d1-a4 h2-e2\n', 3),
        ("1. b1-b3 h4-f2 *  d1-a4\n", 3),
        ("1. b1-b3 h4-f2\n\nAnd then I was lost.\n\nc1-c3 h2-e2\n", 3),
        ("1. b1-b3\n\nMy usual beginning.\n\n… h4-f2\nThis h2-e2 would be worse.\n\n2. c1-c3 h2-e2\n", 3),
        ("b1-b3 h4-f2\n\nand so on until the end\n\nc1-c3 h2-e2\n", 3),
    ],
)
def test_what_is_no_game_stops_with_the_place(text: str, ply: int) -> None:
    reading = read("loa", text)
    assert not reading.games
    (problem,) = reading.problems
    assert problem.ply == ply
    assert problem.position


def test_sentence_between_numbered_moves_is_a_comment() -> None:
    (collected,) = read("loa", "1. b1-b3 h4-f2\n\nA quiet move would be better.\n\n2. d1-a4 h2-e2\n").games
    assert len(collected.game.moves) == 4
    assert collected.game.comments == {2: "A quiet move would be better."}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("(;GM[1]FF[4]SZ[19];B[pd];W[dp])", "SGF of another game"),
        ('[Event "x"]\n\n1. e4 e5 2. Nf3 Nc6 *\n\n[Event "y"]\n\n1. d4 d5 *\n', "PGN of chess"),
        ('{"moves": [{"q": -4, "r": 3}]}', "JSON without a record of a game"),
        ("game=/lud/board/Lines of Action.lud\nSTART GAME OPTIONS\n", "a trial of Ludii"),
        ("VariantFile=Loa.zrf\nVariantName=LOA\n\n1. Man b1 - b3\n1. Man h4 - f2\n", "saved by Zillions of Games"),
        ('GameType.long_name = "Lines of Action"\n\n# State 0\n# b1-b3\n', "a playthrough of OpenSpiel"),
        ("nov 23, 2019 11:36:25 AM Server run\nFINE: Accensione server\n", "the log of a program without a game"),
        ("<!DOCTYPE html>\n<html><body>1. b1-b3</body></html>", "a page of the web"),
    ],
)
def test_text_of_another_kind_is_named_once(text: str, name: str) -> None:
    (problem,) = read("loa", text).problems
    assert name in problem.message
    assert not problem.position


def test_text_without_a_game_is_told_once() -> None:
    (problem,) = read("abalone", "[Abalassembly]\n[Score 4-6]\n1.e4e5 e3e4 2.e8f8 e7f7\n").problems
    assert problem.line == 1
    assert "1 more part of the text cannot be read either" in problem.message


def test_unsupported_tag_is_no_move() -> None:
    (problem,) = read("tablut", "[attackers:x]\n[rules:dim:11 name:Fetlar start:/4/]\n\n1. d11-d9 f8-d8\n").problems
    assert "another game than Tablut" in problem.message
    assert (problem.line, problem.ply, problem.position) == (2, 0, "")


def test_sentences_between_numbered_moves_with_dots_are_comments() -> None:
    text = "Game 8\n\n1. b1-b3\n\nMy usual beginning.\n\n… h4-f2\n2. c1-c3\n\nSo it went on.\n\n2… h2-e2\n"
    (collected,) = read("loa", text).games
    assert len(collected.game.moves) == 4
    assert collected.game.comments == {1: "My usual beginning.", 3: "So it went on."}


@pytest.mark.parametrize(("family", "name"), CASES)
def test_written_game_is_found_in_its_notation_whatever_its_comments_say(family: str, name: str) -> None:
    ruleset = load(family).settle()
    game = game_of(ruleset, 6)
    for first in range(0, len(NASTY), 3):
        said = dict(zip((1, 3, 6), NASTY[first : first + 3], strict=False))
        text = form_of(family, name).write(replace(game, comments=said, tags={"event": NASTY[first]}), ruleset)
        reading = read(family, text * 2)
        assert not reading.problems, text
        games = [collected.game for collected in reading.games]
        assert [(collected.moves, collected.comments) for collected in games] == [(game.moves, said)] * 2, text


@pytest.mark.parametrize("family", families())
def test_game_that_is_undone_from_its_end_is_read_in_no_other_notation(family: str) -> None:
    ruleset = load(family).settle()
    text = form_of(family, "reversible").write(game_of(ruleset, 6), ruleset)
    assert read(family, text).format == "reversible"
    with pytest.raises(ValueError, match="FinalPosition"):
        ruleset.rules.formats[0].read(text, ruleset)


def test_variations_that_became_comments_are_counted() -> None:
    reading = read("loa", "1. b1-b3 h4-f2 (1... h3-f3 2. d1-d3) 2. d1xa4 (a fine move) h2-e2 (2... a3-c5) *")
    assert reading.comments == 1
    assert reading.games[0].game.comments == {2: "(1... h3-f3 2. d1-d3)", 3: "a fine move"}


def test_line_of_a_problem_counts_no_other_separators() -> None:
    (problem,) = read("loa", "1. b1-b3 {a\x0cb\u2028c\x85d}\n1... h4-f2\n2. c1-c2 *\n").problems
    assert (problem.line, problem.ply) == (3, 3)


@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_ends_of_lines_do_not_matter(end: str) -> None:
    form, ruleset = load("loa").formats[0], load("loa").settle()
    text = '\n[Event "x"]\n\n1. b1-b3 {so\n\n1. c1-c3}\n1... h4-f2\n\n[Event "y"]\n\n1. c1-c3 *\n'
    expected = list(pieces(text, form, ruleset))
    assert [line for line, _ in expected] == [2, 9]
    assert list(pieces("\ufeff" + text.replace("\n", end), form, ruleset)) == expected
    assert len(read_collection(text.replace("\n", end), form, ruleset).games) == 2


LOG = (
    "Nov 22, 2020 5:40:21 PM tablut.server.Server run\nFINE: Accensione server\n"
    "Nov 22, 2020 5:40:42 PM tablut.server.Server run\nFINE: White player name:\tuno\n"
    "Nov 22, 2020 5:40:50 PM tablut.server.Server run\nFINE: Black player name:\tdue\n"
    "Nov 22, 2020 5:41:18 PM tablut.server.Server run\nFINE: Move received.\tTurn: W Pawn from e3 to d3\n"
    "Nov 22, 2020 5:41:59 PM tablut.server.Server run\nFINE: Move received.\tTurn: B Pawn from a4 to a9\n"
    "WARNING: Mossa sopra una casella occupata\n"
    "Nov 22, 2020 5:41:59 PM tablut.server.Server run\nFINE: Move received.\tTurn: B Pawn from f1 to f4\n"
    "WARNING: Chiusura sistema per troppi errori giocatore nero\n"
)


def test_logs_of_the_tablut_challenge() -> None:
    reading = read("tablut", LOG + LOG)
    assert (reading.format, reading.problems) == ("challenge", [])
    for collected in reading.games:
        assert collected.game.moves == ("e3d3", "f1f4")
        assert collected.game.tags == {"White": "uno", "Black": "due"}
        assert (collected.ruleset.variant.name, collected.winner) == ("ashton", "first")
    assert len(reading.games) == 2


def drawn(*rows: str) -> str:
    """Return a state as the log of a game draws it."""
    return "FINE: Stato:\n" + "\n".join(rows) + "\n"


USUAL = (
    "OOOBBBOOO",
    "OOOOBOOOO",
    "OOOOWOOOO",
    "BOOOWOOOB",
    "BBWWKWWBB",
    "BOOOWOOOB",
    "OOOOWOOOO",
    "OOOOBOOOO",
    "OOOBBBOOO",
)


@pytest.mark.parametrize(("first", "moves", "position"), [("W", ("f5f8", "d1d2"), None), ("B", ("d1d2",), "a")])
def test_log_of_a_game_of_the_tablut_challenge_has_start_and_end(
    first: str, moves: tuple[str, ...], position: str | None
) -> None:
    turns = [
        f"FINE: Turn: {'WB'[(place + (first == 'B')) % 2]} Pawn from {move[:2]} to {move[2:]}\nFINE: Movimento pedina\n"
        for place, move in enumerate(moves)
    ]
    begun = "apr 13, 2019 12:42:29 PM tablut.domain.GameAshtonTablut <init>\n" if first == "W" else ""
    ends = drawn(*USUAL, "-", first), drawn(*USUAL, "-", "WW")
    log = f"{begun}FINE: Players:\tWhite:\tuno\tvs\tdue\n{ends[0]}{''.join(turns)}{ends[1]}"
    reading = read("tablut", log * 2)
    assert (reading.format, reading.problems, len(reading.games)) == ("challenge", [], 2)
    for collected in reading.games:
        assert collected.game.moves == moves
        assert collected.game.tags == {"White": "uno", "Black": "due"}
        assert (collected.game.position or " ").split(" ")[1] == (position or "")
        assert collected.game.result == "1-0"


def test_log_of_a_game_from_another_start_is_no_usual_game() -> None:
    other = (*USUAL[:2], "OOOOOOOOO", *USUAL[3:])
    log = f"{drawn(*other, '-', 'W')}FINE: Turn: W Pawn from e4 to d4\nFINE: Turn: W Pawn from e4 to c4\n"
    (problem,) = read("tablut", log).problems
    assert problem.position.startswith("3ttt3/4t4/9/")


def test_states_of_the_tablut_challenge_alone_are_a_game() -> None:
    form = next(form for form in load("tablut").formats if form.name == "challenge")
    ruleset = load("tablut").settle("ashton")
    moves = read("tablut", LOG).games[0].game
    states = form.write(moves, ruleset).split("\n", maxsplit=1)[1]
    reading = read("tablut", states.replace('"turn": "BLACK"}', '"turn": "BLACK"}\n'))
    assert (reading.format, [collected.game.moves for collected in reading.games]) == ("challenge", [moves.moves])
    with pytest.raises(ValueError, match="no legal move leads to this state"):
        form.read(states.replace('"KING"', '"EMPTY"', 1) + states, ruleset)


def test_sgf_of_lines_of_action() -> None:
    text = "(;GM[9]FF[4]PB[Ada]PW[Bob]RE[?]\n;B[b1-b3];W[H4:F2]C[so \\] x](;B[d1:a4+]TE[1];W[resign])(;B[c1-c3]))\n"
    reading = read("loa", f"{text}\n{text}")
    assert (reading.format, len(reading.games)) == ("sgf", 2)
    game = reading.games[0].game
    assert (game.moves, game.result, game.marks) == (("b1b3", "h4f2", "d1a4"), "1-0", {3: "!"})
    assert (game.comments, [variation.moves for variation in game.variations]) == ({2: "so ] x"}, [("c1c3",)])
    (problem,) = read("loa", text.replace("GM[9]", "GM[4]")).problems
    assert "SGF of another game, GM[4]" in problem.message
