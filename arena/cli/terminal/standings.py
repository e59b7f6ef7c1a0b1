"""Prints tournaments: their lines and news, and standings with what the format adds (byes, a verdict, a bracket)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from arena.cli.terminal import output
from arena.cli.terminal.printer import read_document
from arena.documents.columns import standings
from arena.documents.standings import RulesItem
from arena.documents.table import Column, text_column
from arena.documents.tournament import OVER
from referee.ratings.race import certainty_of
from referee.tournament.formats import format_named
from referee.tournament.formats.knockout import THIRD_PLACE, round_name
from referee.tournament.overview import BracketMatch, BracketRound
from referee.tournament.standing import StandingItem


def show_standings(form: str, lines: Sequence[Mapping[str, Any]]) -> None:
    """Print the table, best first."""
    output.table(standings(format_named(form).columns), [read_document(StandingItem, line) for line in lines])


def show_verdict(verdict: Mapping[str, Any], test: Mapping[str, Any]) -> None:
    """Print the state of a sequential test, and its bounds."""
    words = {"H1": "stronger", "H0": "not stronger", "continue": "not decided yet"}[verdict["state"]]
    output.text(
        f"SPRT: {words} ({verdict['state']}), LLR {verdict['llr']:z.2f} in ({verdict['lower']:.2f}, "
        f"{verdict['upper']:.2f}), {verdict['pairs']} pairs"
        + ("" if verdict.get("left") is None else f", about {verdict['left']} games left"),
        f"elo0 {test['elo0']:g}, elo1 {test['elo1']:g}, alpha {test['alpha']:g}, beta {test['beta']:g}, "
        f"{test.get('model', 'logistic')} Elo; pairs by "
        f"points 0 to 2: {' '.join(map(str, verdict['pentanomial']))}",
    )


def show_race(race: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Print which entries surely finish in the first places, which are undecided, and which surely do not."""
    words = "settled" if race["state"] == "settled" else "not settled yet"
    output.text(f"first {settings['top']} at {100 * settings['confidence']:g} %: {words}")
    for key, heading in (("leaders", "among the first"), ("undecided", "undecided"), ("others", "not among them")):
        if race[key]:
            output.text(f"{heading}: " + ", ".join(f"{name} {100 * race['shares'][name]:.1f} %" for name in race[key]))
    for doubt in race["doubts"][:3]:
        sure, needed = 100 * certainty_of(doubt["wealth"]), 100 * certainty_of(race["bound"])
        output.text(
            f"in doubt: is {doubt['one']} ahead of {doubt['two']}? {sure:.1f} % sure, decided at {needed:.1f} %"
        )


def show_rules(lines: list[dict[str, Any]]) -> None:
    """Print the results by variant and options; nothing if all games were played by the same rules."""
    if not lines:
        return
    rows = [read_document(RulesItem, line) for line in lines]
    output.text("")
    output.table(
        (
            text_column("rules", "Rules", lambda row: row.text, wraps=True),
            Column("games", "Games", lambda row: row.games),
            *(_won(side) for side in rows[0].won),
            Column("drawn", "Drawn", lambda row: row.draws),
        ),
        rows,
    )


def _won(side: str) -> Column[RulesItem]:
    return Column(side, f"{side} won", lambda row: row.won[side])


_POINTS = {"first": (1.0, 0.0), "second": (0.0, 1.0), "draw": (0.5, 0.5)}


def show_bracket(rounds: Iterable[BracketRound], seeds: Mapping[str, int]) -> None:
    """Print the matches that have begun or are decided, with their points, and who advances. `seeds` are by name."""
    for bracket_round in rounds:
        lines = [_line(match, seeds) for match in bracket_round.matches if match.games or match.reason]
        if lines:
            output.text(bracket_round.name.lower(), *lines)


def _line(match: BracketMatch, seeds: Mapping[str, int]) -> str:
    one, two = (f"({seeds[name]}) {name}" if name in seeds else name for name in (match.one, match.two))
    if match.is_bye:
        return f"  {one or two} has a bye" if match.winner else "  no bot is left"
    if not match.games:
        return f"  {one} - {two}   {_verdict(match)}"
    return f"  {one} {match.points[0]:g} - {match.points[1]:g} {two}   {_verdict(match)}".rstrip()


def _verdict(match: BracketMatch) -> str:
    """Return who won and why, if points do not show it."""
    why = "" if match.reason in ("points", "") else match.reason
    return f"{match.winner} wins{f' ({why})' if why else ''}" if match.winner else why


def bracket_of(
    games: Iterable[Mapping[str, Any]], lines: Sequence[Mapping[str, Any]], *, is_final: bool = False
) -> list[BracketRound]:
    """Return the bracket as far as games and standings of a server tell.

    `lines` are the standings: who won a match reached the next round; who did not reach the round of their match plays
    for third place. Once they are final, its winner stands before its loser.
    """
    reached = {line["name"]: line["round"] for line in lines}
    places = {line["name"]: place for place, line in enumerate(lines)}
    count = max(1, (len(lines) - 1).bit_length())
    points: dict[tuple[int, frozenset[str]], dict[str, float]] = {}
    played: dict[tuple[int, frozenset[str]], list[Mapping[str, Any]]] = {}
    for game in games:
        names = game["first"], game["second"]
        key = game["round"], frozenset(names)
        match = points.setdefault(key, dict.fromkeys(names, 0.0))
        played.setdefault(key, []).append(game)
        for name, scored in zip(names, _POINTS.get(game["winner"], (0.0, 0.0)), strict=True):
            match[name] += scored
    rounds: dict[str, list[BracketMatch]] = {round_name(count - number): [] for number in range(count)}
    for (number, pair), match in points.items():
        (first, ones), (second, twos) = match.items()
        games_of = played[number, pair]
        winners = [name for name in match if reached[name] > number]
        is_third = reached[first] < number
        if is_third and ones != twos and all(game["winner"] for game in games_of):
            winners = [first if ones > twos else second]
        elif is_third and is_final:
            winners = [min(match, key=places.__getitem__)]
        name = THIRD_PLACE if is_third else round_name(count - number + 1)
        numbers = tuple(game["sequence"] for game in games_of)
        shown = BracketMatch(first, second, (ones, twos), winners[0] if winners else "", games=numbers)
        rounds.setdefault(name, []).append(shown)
    for number in range(1, count + 1):
        met = {name for other, pair in points if other == number for name in pair}
        for name in sorted(name for name, last in reached.items() if last > number and name not in met):
            rounds[round_name(count - number + 1)].append(BracketMatch(name, "", winner=name, reason="bye"))
    return [BracketRound(name, tuple(matches)) for name, matches in rounds.items()]


def show_findings(strengths: Mapping[str, Any], findings: Mapping[str, Any] | None) -> None:
    """Print the significant statistics; nothing if chance explains the results."""
    advantage, error = strengths.get("advantage", 0.0), strengths.get("advantage_interval", 0.0)
    if abs(advantage) > error > 0:
        output.text(f"moving first is worth {advantage:+z.0f} ± {error:.0f} Elo (95 %)")
    if not findings:
        return
    if findings["is_cyclic"]:
        output.text(
            f"results go round in circles (by chance alone in {100 * findings['chance']:.0f} % of tournaments)",
            *("  " + " beats ".join([*cycle, cycle[0]]) for cycle in findings["cycles"]),
            "  a mix that no bot is expected to beat: "
            + ", ".join(f"{100 * share['share']:.0f} % {share['name']}" for share in findings["shares"]),
        )
    if findings["surprises"]:
        output.text(
            "surprises:",
            *(
                f"  {surprise['bot']} against {surprise['rival']}: {surprise['points']:g} of {surprise['games']}, "
                f"expected {surprise['expected']:.1f}"
                for surprise in findings["surprises"]
            ),
        )


def show_created(tournament: dict[str, Any]) -> None:
    count = len(tournament["entries"])
    output.text(f"tournament {tournament['id']}: {tournament['name']}, {tournament['state']}, {count} entries")


def show_problems(faults: list[dict[str, str]]) -> None:
    """Print the faults of a tournament file, each with its key."""
    output.text(*(f"  {fault['field'] or 'the file'}: {fault['message']}" for fault in faults))


def show_table(tournament: dict[str, Any], standings: dict[str, Any]) -> None:
    """Print the standings with what the format adds."""
    show_standings(tournament["format"], standings["items"])
    show_rules(standings.get("rules", []))
    if standings.get("race"):
        show_race(standings["race"], tournament["settings"]["race"])
    if standings.get("verdict"):
        show_verdict(standings["verdict"], tournament["settings"]["sprt"])
    show_findings(standings["strengths"] if standings["is_final"] else {}, standings.get("findings"))


def show_tournament(tournament: dict[str, Any]) -> None:
    """Print the line of a tournament and what was asked for in it."""
    is_whole = tournament["state"] in OVER or format_named(tournament["format"]).is_known_in_advance
    whole = f" of {tournament['planned_games']}" if is_whole else ""  # else only the next games are planned
    output.text(
        f"{tournament['name']}: {tournament['family']} {tournament['variant']}, {tournament['format']}, "
        f"{tournament['state']}, {tournament['finished_games']}{whole} games"
        + (f", priority {tournament['priority']}" if tournament.get("priority") else "")
    )
    # A stream of news has no settings.
    system, settings = format_named(tournament["format"]), tournament.get("settings", {})
    if words := system.seeding_words(settings):
        output.text(f"seeding: {words}")
    requests = settings.get(system.table) or {}
    if byes := requests.get("half_point_byes"):
        words = ", ".join(f"{name} (round {', '.join(map(str, rounds))})" for name, rounds in byes.items())
        output.text(f"half-point byes: {words}")
    if late := requests.get("late_entries"):
        words = ", ".join(f"{name} (from round {first})" for name, first in late.items())
        output.text(f"late entries: {words}")
    if tournament["problem"]:
        output.text(tournament["problem"])


def show_event(event: dict[str, Any]) -> None:
    """Print one event of a tournament's stream."""
    if event["event"] == "game":
        game = event["game"]
        result = {"first": "1-0", "second": "0-1", "draw": "½-½"}.get(game["winner"], "void")
        why = f"{game['termination']}" + (f": {game['detail']}" if game["termination_class"] == "forfeit" else "")
        output.text(f"{game['sequence']:>5}  {game['first']} - {game['second']}  {result}  {why}")
        return
    show_tournament(event["tournament"])
    if event["event"] == "final":
        show_standings(event["tournament"]["format"], event["standings"])


def plan_words(form: str, plan: dict[str, Any]) -> str:
    """Describe the plan of an extended tournament, beginning with the number that was extended."""
    words = [f"{plan['rounds']} rounds"] if plan["rounds"] else []
    if plan["games_per_pairing"]:
        place = len(words) if "rounds" in format_named(form).keys else 0
        words.insert(place, f"{plan['games_per_pairing']} games of each pairing")
    words.append(f"{'at most ' if plan['is_most'] else ''}{plan['games']} games in all")
    return ", ".join(words)


def entries_words(tournament: dict[str, Any]) -> str:
    """Describe the bots that play in a tournament."""
    playing = [entry["name"] for entry in tournament["entries"] if not entry["withdrawn"]]
    return f"tournament {tournament['id']}: {len(playing)} entries: {', '.join(playing)}"
