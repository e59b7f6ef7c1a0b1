"""Results of games as the terminal shows them: a report of a match, standings, a crosstable."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from arena.cli.terminal import output
from arena.cli.terminal.game_view import meanings
from arena.cli.terminal.output import in_words
from arena.cli.terminal.standings import show_bracket, show_findings
from arena.documents.table import Column, text_column
from referee.game.record import GameRecord
from referee.game.spec import BotSpec
from referee.ratings.cycle import analyse_cycles
from referee.ratings.sprt import SprtVerdict
from referee.ratings.strength import Estimate, elo_words
from referee.ratings.trueskill import fold, leaderboard
from referee.rules import load
from referee.rules.core import value_text
from referee.tournament import crosstable
from referee.tournament.document import Document
from referee.tournament.overview import BracketRound
from referee.tournament.ranking import StandingTable
from referee.tournament.standing import StandingItem

COLUMNS = 79
_MAX_CELL_LETTERS = 12
"""Results of a pair that a cell of the crosstable shows one by one: more would leave other bots out of the table."""
_Row: TypeAlias = Mapping[str, Any]
_OWN_COLUMNS: tuple[Column[_Row], ...] = (
    Column("seed", "seed", lambda row: row["seed"], drop=3),
    Column("byes", "byes", lambda row: row["byes"] + row["half_point_byes"] / 2, "points"),
    Column("buchholz", "Buchholz", lambda row: row["buchholz"], "points"),
    Column("round", "round", lambda row: row["round"]),
)
"""Columns of the standings that only some formats have."""
_VERDICTS = {"H1": "H1 (stronger)", "H0": "H0 (not stronger)", "continue": "not decided"}


def sprt_words(verdict: SprtVerdict) -> str:
    """Format the state of a sequential test: `LLR 1.20 in (-2.94, 2.94)`."""
    return f"LLR {verdict.llr:z.2f} in ({verdict.lower:.2f}, {verdict.upper:.2f})"


def terms_of(document: Document, bots: Sequence[BotSpec], planned: int, earlier: int) -> dict[str, Any]:
    """Return the conditions of a match as JSON data.

    `time_control` is that of each bot, `planned` the number of games, `earlier` how many were played before this start.
    """
    book = len(document.opening_lines)
    return {
        "family": document.family,
        "variant": document.ruleset.variant.name,
        "options": document.ruleset.overrides,
        "time_control": {bot.name: str(bot.time or document.control) for bot in bots},
        "openings": f"a book of {book}" if book else document.openings,
        "planned": planned,
        "earlier": earlier,
    }


def estimates(table: StandingTable) -> dict[str, Estimate]:
    """Return the strength of each bot against all others, by name."""
    players = table.scores.players
    return {line.name: players[line.version_id].estimate for line in table.lines}


def draw_ratio(standing: Mapping[str, Any]) -> float:
    """Return the share of drawn games of a line of the standings; 0 without games."""
    return standing["draws"] / standing["games"] if standing["games"] else 0.0


def result_lines(result: Mapping[str, Any]) -> list[str]:
    """Format the result of two bots from `results.summarise`, with the conditions `match` if they are known."""
    elo = result["elo"]
    lines = {line["name"]: line for line in result["standings"]}
    own = lines.pop(elo["name"])
    (other,) = lines
    match = result.get("match")
    count = str(own["games"])
    if match:
        count += f" of {match['planned']}" * (own["games"] < match["planned"])
    parts = [
        f"Results of {own['name']} v {other}" + (f": {_terms_words(match, own['name'], other)}" if match else ""),
        f"Games: {count}{_time_words(result['elapsed_s'], own['games'], match)}; {own['name']} won {own['wins']}, "
        f"drew {own['draws']}, lost {own['losses']}: {own['points']:g} points, {100 * own['score']:.1f} %",
        f"Elo: {elo_words(elo['diff'], elo['low'], elo['high'])} (95 %), "
        f"LOS {100 * elo['los']:.1f} %, draw ratio {100 * draw_ratio(own):.1f} %",
        f"Pairs with 0, ½, 1, 1½, 2 points: {elo['pentanomial']}",
    ]
    if test := result.get("sprt"):
        hypotheses = ",".join(f"{key}={test[key]:g}" for key in ("elo0", "elo1", "alpha", "beta") if key in test)
        parts.append(f"SPRT {hypotheses}: {_VERDICTS[test['state']]}")
        parts.append(f"LLR: {test['llr']:z.2f} in ({test['lower']:.2f}, {test['upper']:.2f})")
    reasons = ", ".join(f"{name} {count}" for name, count in result["terminations"].items())
    parts += [f"Terminations: {reasons or 'none'}", *meanings(result["terminations"])]
    return [line for part in parts for line in _wrapped(part)]


def _time_words(elapsed_s: float, games: int, match: Mapping[str, Any] | None) -> str:
    """Format the duration of a run since its last start, and how many games were played since then."""
    played = games - (match["earlier"] if match else 0)
    if played <= 0:
        return ""
    return f"{'' if played == games else f', the last {played}'} in {in_words(elapsed_s)}"


def _terms_words(match: Mapping[str, Any], *names: str) -> str:
    options = [f"{name}={value_text(value)}" for name, value in match["options"].items()]
    times = list(dict.fromkeys(match["time_control"].get(name, "?") for name in names))
    return ", ".join(
        [
            match["family"],
            match["variant"],
            *options,
            f"time control {' v '.join(times)}",
            f"openings {match['openings']}",
        ]
    )


def running_lines(table: StandingTable) -> Iterator[str]:
    """Format the present state of a run: a line for the first of two bots, or for each of more bots, best first."""
    names = list(table.seats.values())
    strengths = estimates(table)
    for line in table.lines:
        if len(names) == 2 and line.name != names[0]:
            continue
        place = f"{line.rank}. " if len(names) > 2 else ""
        draws = 100 * line.draws / line.games if line.games else 0.0
        own = strengths[line.name]
        yield (
            f"    {place}{line.name}: +{line.wins} ={line.draws} -{line.losses}, {100 * line.score:.1f} %, "
            f"Elo {elo_words(own.elo, own.elo_low, own.elo_high)}, LOS {100 * own.los:.1f} %, draws {draws:.1f} %"
        )
    if verdict := table.decision.verdict:
        yield f"    {sprt_words(verdict)}, pairs {list(verdict.pentanomial)}"


def race_lines(race: Mapping[str, Any]) -> Iterator[str]:
    """Format what a race has decided, from the JSON data of its state."""
    yield f"race: {'decided' if race['state'] == 'settled' else 'not decided'}"
    for key, heading in (("leaders", "among the first"), ("undecided", "undecided"), ("others", "not among them")):
        if race[key]:
            yield f"{heading}: " + ", ".join(f"{name} {100 * race['shares'][name]:.1f} %" for name in race[key])


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, COLUMNS, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def summarise(
    records: Sequence[GameRecord], fresh: Sequence[GameRecord], table: StandingTable, elapsed: float
) -> dict[str, Any]:
    """Return the summary of a run as JSON data; `fresh` are the games of the last `elapsed` seconds."""
    moves = sum(len(record.moves) for record in fresh)
    draw_probability = load(records[0].family).draw_probability if records else 0.0
    summary: dict[str, Any] = {
        "standings": [_standing(line) for line in table.lines],
        "crosstable": [_crosstable_row(row) for row in crosstable.rows(records, table.lines)],
        "ratings": leaderboard(fold(records, draw_probability)),
        "terminations": dict(table.scores.endings.most_common()),
        "elapsed_s": round(elapsed, 3),
        "moves": moves,
        "moves_per_second": round(moves / elapsed, 1) if elapsed else 0.0,
        **_strengths(table),
        **_beyond(table),
    }
    if table.decision.verdict:
        summary["sprt"] = table.decision.verdict.as_json()
    if table.decision.race:
        summary["race"] = table.decision.race.as_json(table.seats)
    return summary


def _standing(line: StandingItem) -> dict[str, Any]:
    """Return a line of the standings as JSON data; estimates of strength are in a list of their own."""
    found = asdict(line) | {"score": round(line.score, 4), "sonneborn_berger": round(line.sonneborn_berger, 2)}
    del found["estimate"], found["version_id"]
    return found


def _crosstable_row(row: crosstable.Row) -> dict[str, Any]:
    """Return a row as JSON data; a cell has the results in planned order, such as `WDL`."""
    cells = [cell and {"points": cell.points, "games": cell.games, "results": cell.results} for cell in row.cells]
    return {"name": row.standing.name, "points": row.standing.points, "cells": cells}


def _beyond(table: StandingTable) -> dict[str, Any]:
    """Return `first`, the first-move advantage in Elo, and `findings`, the analysis of cycles (A beats B beats C beats
    A), which is None with too few bots.
    """
    cycles = analyse_cycles(list(table.results), table.sided)
    sided = table.sided.as_json()
    return {
        "first": {key: sided[key] for key in ("advantage", "advantage_interval")},
        "findings": cycles.as_json() if cycles else None,
    }


def _strengths(table: StandingTable) -> dict[str, Any]:
    """Return `elo` of the first of two bots; for more bots `performance` of each against all others, best first.

    `diff` and `elo` are Elo differences, `error` the half-width of their 95 % interval from `low` to `high`; values
    that round to zero are 0, not -0 (`+ 0.0`). `pentanomial` counts pairs that gave 0, ½, 1, 1½, 2 points.
    """
    strengths = estimates(table)
    names = list(table.seats.values())
    if len(names) == 2:
        own = strengths[names[0]]
        pairs = list(own.pentanomial)
        return {"elo": {"name": names[0], "diff": round(own.elo, 1) + 0.0, **_error(own), "pentanomial": pairs}}
    best_first = sorted(names, key=lambda name: -strengths[name].score)
    return {
        "performance": [
            {
                "name": name,
                "elo": round(strengths[name].elo, 1) + 0.0,
                "games": strengths[name].games,
                **_error(strengths[name]),
            }
            for name in best_first
        ]
    }


def _error(found: Estimate) -> dict[str, float]:
    return {
        "error": round((found.elo_high - found.elo_low) / 2, 1),
        "los": round(found.los, 4),
        "low": round(found.elo_low, 1) + 0.0,
        "high": round(found.elo_high, 1) + 0.0,
        "score": round(found.score, 4),
    }


def show(summary: Mapping[str, Any], bracket: Sequence[BracketRound] = (), columns: Collection[str] = ()) -> None:
    """Print the summary of a run, and the bracket of a knockout. `columns` are those that only its format has."""
    ratings = {line["name"]: line for line in summary["ratings"]}
    performances = {line["name"]: line for line in summary.get("performance", ())}
    standings = summary["standings"]
    own = [column for column in _OWN_COLUMNS if column.key in columns]
    output.table(_columns(ratings, performances, own), standings)
    output.text("")
    if bracket:
        show_bracket(bracket, {line["name"]: line["seed"] for line in standings})
        output.text("")
    if "elo" in summary and summary["terminations"]:
        output.text(*result_lines(summary))
        show_findings(summary["first"], summary["findings"])
        return
    if "race" in summary:
        output.text(*race_lines(summary["race"]), "")
    show_crosstable(summary["crosstable"])
    output.text("", "rating = mu - 3 sigma (TrueSkill); SB = Sonneborn-Berger; W D L from the row's view")
    if "performance" in summary:
        output.text("Elo ± = performance against the others together, with its 95 % interval")
    show_findings(summary["first"], summary["findings"])
    reasons = ", ".join(f"{name} {count}" for name, count in summary["terminations"].items())
    output.text(f"terminations: {reasons or 'none'}", *meanings(summary["terminations"]))


def _columns(
    ratings: Mapping[str, _Row], performances: Mapping[str, _Row], own: Sequence[Column[_Row]]
) -> tuple[Column[_Row], ...]:
    """Return the columns of the standings, with the ratings and performances of the bots by name.

    `own` are those of the format.
    """

    def performance(row: _Row) -> str:
        line = performances.get(row["name"])
        return elo_words(line["elo"], line["low"], line["high"]) if line and line["games"] else ""

    def rating(row: _Row) -> _Row | None:
        return ratings.get(row["name"])

    return (
        Column("rank", "#", lambda row: row["rank"]),
        text_column("name", "bot", lambda row: row["name"]),
        Column("points", "points", lambda row: row["points"], "points"),
        Column("games", "games", lambda row: row["games"]),
        *own,
        Column("wins", "W", lambda row: row["wins"], drop=1),
        Column("draws", "D", lambda row: row["draws"], drop=3),
        Column("losses", "L", lambda row: row["losses"], drop=2),
        Column("score", "score", lambda row: row["score"], "share"),
        Column("performance", "Elo ±", performance),
        Column("sonneborn_berger", "SB", lambda row: row["sonneborn_berger"], "points", drop=7),
        Column("forfeits", "forfeits", lambda row: row["forfeits"], drop=5),
        Column("rating", "rating", lambda row: (line := rating(row)) and line["conservative"], drop=4),
        Column("mu", "mu", lambda row: (line := rating(row)) and line["mu"], drop=8),
        Column("margin", "±2σ", lambda row: (line := rating(row)) and 2 * line["sigma"], drop=6),
    )


def show_crosstable(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the rows of a summary's `crosstable`; long results are shown as W-D-L counts."""
    count = len(rows)
    output.table(
        (
            Column("rank", "#", lambda line: line[0]),
            text_column("name", "crosstable", lambda line: line[1]["name"]),
            *(_against(number, count) for number in range(1, count + 1)),
            Column("points", "points", lambda line: line[1]["points"], "points"),
        ),
        list(enumerate(rows, 1)),
    )


def _against(number: int, count: int) -> Column[tuple[int, _Row]]:
    """Return the column of the results against the bot in row `number`; the last ones are left out first."""

    def cell(line: tuple[int, _Row]) -> str:
        results = line[1]["cells"][number - 1]
        return "·" if results is None else _cell(results)

    return text_column(str(number), str(number), cell, drop=number)


def _cell(cell: Mapping[str, Any]) -> str:
    results = cell["results"]
    if len(results) > _MAX_CELL_LETTERS:
        results = f"+{results.count('W')} ={results.count('D')} -{results.count('L')}"
    return f"{cell['points']:g} {results}".strip()
