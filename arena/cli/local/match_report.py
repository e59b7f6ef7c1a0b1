"""Formats the result of a match of two bots in a few lines of at most 80 columns, and the interim state of a run."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from arena.cli.terminal.progress import in_words
from referee.game.spec import PlannedGame
from referee.ratings.scored import ScoredGame
from referee.ratings.sprt import SprtVerdict
from referee.ratings.standings import Standing, standings
from referee.ratings.strength import elo_words, estimates
from referee.rules.core import value_text

COLUMNS = 79
_VERDICTS = {"H1": "H1 (stronger)", "H0": "H0 (not stronger)", "continue": "not decided"}


def sprt_words(verdict: SprtVerdict) -> str:
    """Format the state of a sequential test: `LLR 1.20 in (-2.94, 2.94)`."""
    return f"LLR {verdict.llr:z.2f} in ({verdict.lower:.2f}, {verdict.upper:.2f})"


def terms_of(games: Sequence[PlannedGame], openings: str, earlier: int) -> dict[str, Any]:
    """Return the conditions of a match as JSON data.

    `time_control` is that of each bot, `planned` the number of games, `earlier` how many were played before this start.
    """
    spec = games[0].spec
    times: dict[str, str] = {}
    for game in games:
        for bot, control in zip((game.spec.first, game.spec.second), game.spec.controls, strict=True):
            times.setdefault(bot.name, str(control))
    return {
        "family": spec.family,
        "variant": spec.variant,
        "options": dict(spec.options),
        "time_control": times,
        "openings": openings,
        "planned": len(games),
        "earlier": earlier,
    }


def draw_ratio(standing: Mapping[str, Any]) -> float:
    """Return the share of drawn games of a line of the standings; 0 without games."""
    return standing["draws"] / standing["games"] if standing["games"] else 0.0


def result_lines(found: Mapping[str, Any]) -> list[str]:
    """Format the result of two bots from `results.summarise`, with the conditions `match` if they are known."""
    elo = found["elo"]
    lines = {line["name"]: line for line in found["standings"]}
    own = lines.pop(elo["name"])
    (other,) = lines
    match = found.get("match")
    count = str(own["games"])
    if match:
        count += f" of {match['planned']}" * (own["games"] < match["planned"])
    parts = [
        f"Results of {own['name']} v {other}" + (f": {_terms_words(match, own['name'], other)}" if match else ""),
        f"Games: {count}{_time_words(found['elapsed_s'], own['games'], match)}; {own['name']} won {own['wins']}, "
        f"drew {own['draws']}, lost {own['losses']}: {own['points']:g} points, {100 * own['score']:.1f} %",
        f"Elo: {elo_words(elo['diff'], elo['low'], elo['high'])} (95 %), "
        f"LOS {100 * elo['los']:.1f} %, draw ratio {100 * draw_ratio(own):.1f} %",
        f"Pairs with 0, ½, 1, 1½, 2 points: {elo['pentanomial']}",
    ]
    if test := found.get("sprt"):
        hypotheses = ",".join(f"{key}={test[key]:g}" for key in ("elo0", "elo1", "alpha", "beta") if key in test)
        parts.append(f"SPRT {hypotheses}: {_VERDICTS[test['state']]}")
        parts.append(f"LLR: {test['llr']:z.2f} in ({test['lower']:.2f}, {test['upper']:.2f})")
    reasons = ", ".join(f"{name} {count}" for name, count in found["terminations"].items())
    parts.append(f"Terminations: {reasons or 'none'}")
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


def running_lines(
    records: Sequence[ScoredGame], names: Sequence[str], verdict: SprtVerdict | None = None
) -> Iterator[str]:
    """Format the present state of a run: a line for the first of two bots, or for each of more bots, best first."""
    table = standings(records, names)
    found = estimates(records, names)
    shown: Iterable[Standing] = table if len(names) > 2 else (line for line in table if line.name == names[0])
    for line in shown:
        place = f"{line.rank}. " if len(names) > 2 else ""
        draws = 100 * draw_ratio(line.as_json())
        own = found[line.name]
        yield (
            f"    {place}{line.name}: +{line.wins} ={line.draws} -{line.losses}, {100 * line.score:.1f} %, "
            f"Elo {elo_words(own.elo, own.elo_low, own.elo_high)}, LOS {100 * own.los:.1f} %, draws {draws:.1f} %"
        )
    if verdict:
        yield f"    {sprt_words(verdict)}, pairs {list(verdict.pentanomial)}"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, COLUMNS, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
