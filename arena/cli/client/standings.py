"""Prints the standings of a tournament, with byes, a bracket, or a verdict if its format has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from arena.cli.terminal import output

_OWN: Mapping[str, tuple[tuple[str, str], ...]] = {
    "swiss": (("byes", "byes"), ("Buchholz", "buchholz")),
    "knockout": (("round", "round"),),
}
"""Columns that only one format has, as (heading, key)."""
_POINTS = {"first": (1.0, 0.0), "second": (0.0, 1.0), "draw": (0.5, 0.5)}


def show(form: str, lines: Sequence[Mapping[str, Any]]) -> None:
    """Print the table, best first."""
    own = _OWN.get(form, ())
    columns = (
        "#",
        "bot",
        "points",
        "games",
        *(heading for heading, _ in own),
        "W",
        "D",
        "L",
        "score",
        "SB",
        "forfeits",
    )
    output.table(
        columns,
        [
            [
                str(line["rank"]),
                line["name"] + (" (withdrawn)" if line["is_withdrawn"] else ""),
                f"{line['points']:g}",
                str(line["games"]),
                *(f"{line[key]:g}" for _, key in own),
                *(str(line[key]) for key in ("wins", "draws", "losses")),
                f"{100 * line['score']:.1f} %",
                f"{line['sonneborn_berger']:g}",
                str(line["forfeits"]),
            ]
            for line in lines
        ],
        numbers=[name for name in columns if name != "bot"],
        drop=("SB", "forfeits", "score", "D", "L", "W"),
    )


def show_verdict(verdict: Mapping[str, Any], test: Mapping[str, Any]) -> None:
    """Print the state of a sequential test, and its bounds."""
    words = {"H1": "stronger", "H0": "not stronger", "continue": "not decided yet"}[verdict["state"]]
    output.text(
        f"SPRT: {words} ({verdict['state']}), LLR {verdict['llr']:z.2f} in ({verdict['lower']:.2f}, "
        f"{verdict['upper']:.2f}), {verdict['pairs']} pairs",
        f"elo0 {test['elo0']:g}, elo1 {test['elo1']:g}, alpha {test['alpha']:g}, beta {test['beta']:g}; pairs by "
        f"points 0 to 2: {' '.join(map(str, verdict['pentanomial']))}",
    )


def show_race(race: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Print which entries surely finish in the first places, which are undecided, and which surely do not."""
    words = "settled" if race["state"] == "settled" else "not settled yet"
    output.text(f"first {settings['first']} at {100 * settings['confidence']:g} %: {words}")
    for key, heading in (("leaders", "among the first"), ("undecided", "undecided"), ("others", "not among them")):
        if race[key]:
            output.text(f"{heading}: " + ", ".join(f"{name} {100 * race['shares'][name]:.1f} %" for name in race[key]))
    for doubt in race["doubts"][:3]:
        output.text(
            f"in doubt: is {doubt['one']} ahead of {doubt['two']}? evidence {doubt['wealth']:.3g} of {race['bound']:g}"
        )


def show_bracket(games: Iterable[Mapping[str, Any]]) -> None:
    """Print the matches of a knockout by round, with the points of their games so far."""
    rounds: dict[int, dict[frozenset[str], dict[str, float]]] = {}
    for game in games:
        pair = frozenset((game["first"], game["second"]))
        match = rounds.setdefault(game["round"], {}).setdefault(pair, {game["first"]: 0.0, game["second"]: 0.0})
        for name, points in zip((game["first"], game["second"]), _POINTS.get(game["winner"], (0.0, 0.0)), strict=True):
            match[name] += points
    for number, matches in sorted(rounds.items()):
        output.text(f"round {number}")
        later = {name for other, found in rounds.items() if other > number for pair in found for name in pair}
        for match in matches.values():
            (one, ones), (two, twos) = match.items()
            on = [name for name in (one, two) if name in later]
            output.text(f"  {one} {ones:g} - {twos:g} {two}" + (f"   {on[0]} advances" if len(on) == 1 else ""))
        playing = {name for pair in matches for name in pair}
        if number == min(rounds):
            for name in sorted(later - playing):
                output.text(f"  {name} has a bye")


def show_rules(lines: list[dict[str, Any]]) -> None:
    """Print the results by variant and options; nothing if all games were played by the same rules."""
    if not lines:
        return
    sides = list(lines[0]["won"])
    output.text("")
    output.table(
        ("rules", "games", *(f"{side} won" for side in sides), "drawn"),
        (
            (
                " ".join(
                    [line["variant"], *(f"{name}={str(value).lower()}" for name, value in line["options"].items())]
                ),
                str(line["games"]),
                *(str(line["won"][side]) for side in sides),
                str(line["draws"]),
            )
            for line in lines
        ),
        numbers=("games", *(f"{side} won" for side in sides), "drawn"),
        wrap=("rules",),
    )
