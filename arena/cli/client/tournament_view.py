"""Prints tournaments of a server: their lines, standings, entries and news."""

from __future__ import annotations

from typing import Any

from arena.cli.terminal import output
from arena.cli.terminal.standings import show_findings, show_race, show_rules, show_standings, show_verdict
from arena.documents.tournament import OVER
from referee.tournament.formats import format_named


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
