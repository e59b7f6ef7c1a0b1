"""Results of games as the terminal shows them: a line per game, standings, crosstable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.cli import output
from referee.ratings.sprt import Verdict
from referee.ratings.standings import crosstable, standings, terminations
from referee.ratings.trueskill import fold, leaderboard
from referee.record import GameRecord
from referee.rules import load


def report(record: GameRecord, done: int, total: int, wants_logs: bool) -> None:
    """One line of progress per finished game, with the evidence of a forfeit."""
    score = {"first": "1-0", "second": "0-1", "draw": "½-½"}.get(record.winner or "", "void")
    output.note(
        f"[{done}/{total}] {record.first} - {record.second}  {score}  {record.termination}, {len(record.moves)} plies"
    )
    if record.kind == "forfeit":
        output.note(f"        {record.detail}")
        if wants_logs:
            for side, log in record.logs.items():
                output.note(
                    f"        {side}'s standard error:", *(f"          {line}" for line in log.splitlines()[-20:])
                )


def summarise(
    records: list[GameRecord], fresh: list[GameRecord], names: list[str], elapsed: float, verdict: Verdict | None
) -> dict[str, Any]:
    """All there is to say of a run, as its JSON document; `fresh` are the games of the last `elapsed` seconds."""
    moves = sum(len(record.moves) for record in fresh)
    draw_probability = load(records[0].family).draw_probability if records else 0.0
    found: dict[str, Any] = {
        "games": [record.as_json() for record in records],
        "standings": [standing.as_json() for standing in standings(records, names)],
        "crosstable": crosstable(records, names),
        "ratings": leaderboard(fold(records, draw_probability)),
        "terminations": terminations(records),
        "elapsed_s": round(elapsed, 3),
        "moves": moves,
        "moves_per_second": round(moves / elapsed, 1) if elapsed else 0.0,
    }
    if verdict:
        found["sprt"] = verdict.as_json()
    return found


def show(found: Mapping[str, Any]) -> None:
    """Print what `summarise` gives."""
    ratings = {line["name"]: line for line in found["ratings"]}
    output.table(
        ("#", "bot", "points", "games", "W", "D", "L", "score", "SB", "forfeits", "rating", "mu", "±2σ"),
        [
            (
                str(line["rank"]),
                line["name"],
                f"{line['points']:g}",
                str(line["games"]),
                str(line["wins"]),
                str(line["draws"]),
                str(line["losses"]),
                f"{100 * line['score']:.1f} %",
                f"{line['sonneborn_berger']:g}",
                str(line["forfeits"]),
                *_rating(ratings.get(line["name"])),
            )
            for line in found["standings"]
        ],
        numbers=("#", "points", "games", "W", "D", "L", "score", "SB", "forfeits", "rating", "mu", "±2σ"),
        drop=("mu", "SB", "±2σ", "forfeits", "rating", "D", "L", "W"),
    )
    output.text("")
    show_crosstable(found["crosstable"])
    output.text("", "rating = mu - 3 sigma (TrueSkill); SB = Sonneborn-Berger; W D L from the row's view")
    if "sprt" in found:
        test = found["sprt"]
        output.text(
            f"SPRT: {test['state']}, LLR {test['llr']:.2f} in ({test['lower']:.2f}, {test['upper']:.2f}), "
            f"{test['pairs']} pairs {test['pentanomial']}"
        )
    reasons = ", ".join(f"{name} {count}" for name, count in found["terminations"].items())
    output.text(f"terminations: {reasons or 'none'}")


def _rating(line: dict[str, Any] | None) -> tuple[str, str, str]:
    if line is None:
        return "-", "-", "-"
    return f"{line['conservative']:.2f}", f"{line['mu']:.2f}", f"{2 * line['sigma']:.2f}"


def show_crosstable(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a crosstable of `referee.ratings.standings.crosstable`; long results are shown as W-D-L counts."""
    columns = [str(number) for number in range(1, len(rows) + 1)]
    lines = []
    for number, row in enumerate(rows, 1):
        cells = ["·" if cell is None else _cell(cell) for cell in row["cells"]]
        lines.append((str(number), row["name"], *cells, f"{row['points']:g}"))
    output.table(("#", "crosstable", *columns, "points"), lines, numbers=("#", "points"), drop=columns[::-1])


def _cell(cell: Mapping[str, Any]) -> str:
    results = cell["results"]
    if len(results) > 12:
        results = f"+{results.count('W')} ={results.count('D')} -{results.count('L')}"
    return f"{cell['points']:g} {results}".strip()
