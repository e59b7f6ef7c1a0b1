"""Template filters: numbers, times, names and results as the pages write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from urllib.parse import quote

from markupsafe import Markup, escape

from arena import plain_text
from arena.documents.rating import LeaderboardLine
from arena.documents.table import scaled
from arena.documents.tournament import GAMES_OF_PEOPLE, PERMANENT_LADDER, TournamentItem
from arena.pages.language import marked, number, text, texts, translated
from referee.game.record import Ply
from referee.game.score import WIN_SCORE
from referee.ratings.strength import elo_words
from referee.rules import families, load
from referee.rules.core import Termination
from referee.tournament.crosstable import CrosstableCell
from referee.tournament.formats import format_named, formats
from referee.tournament.ranking import written_places

MINUS = "\N{MINUS SIGN}"
_FORCED_WIN = 29_000
"""Scores from here on are forced wins."""
RESULTS = {"first": "1-0", "second": "0-1", "draw": "½-½"}
_VERSION = re.compile(r"([a-z0-9][a-z0-9_-]{0,39}) v(\d{1,9})", re.ASCII)
_PERSON = re.compile(r"@([a-z0-9][a-z0-9_-]{0,39})", re.ASCII)


def plain(text: str, limit: int = 2000) -> str:
    """Make text from outside safe to show: control and invisible characters become `�`; `…` replaces what
    follows the first `limit` characters.
    """
    clean = plain_text.plain(text[: limit + 1])
    return clean[:limit] + "…" if len(text) > limit else clean


def tournament_name(name: str) -> str:
    """Format the name of a tournament. Those that the arena itself has named are translated."""
    is_ours = name.endswith(PERMANENT_LADDER) or name.startswith(GAMES_OF_PEOPLE)
    return plain(translated(name) if is_ours else name, 130)


def finalize(value: object) -> object:
    """Replace unsafe characters in whatever a template shows, filtered or not. Line ends of form fields are kept."""
    if type(value) is not str:  # markup consists of text that has been through here, and of our own
        return value
    return "\r".join(map(plain_text.plain, value.split("\r")))


def log_text(text: str) -> str:
    """Make a bot's log safe to show, line by line."""
    return "\n".join(plain(line, 2000) for line in text[:100_000].splitlines())


def with_code(text: str) -> Markup:
    """Escape a text, and mark what it has in backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped before


def result(winner: str | None) -> str:
    """Return `1-0`, `0-1` or `½-½`; `–` without a result."""
    return RESULTS.get(winner or "", "–")


def win_question(side: str, moves: int | None, condition: str) -> str:
    """Return the question of a problem: which side wins, in how many moves if that is known, under which condition.

    A condition such as `marbles<=7` limits how many pieces are moved in all.
    """
    values = {"side": translated(side), "count": moves}
    if moves:
        question = texts("%(side)s to move wins in %(count)s", "%(side)s to move wins in %(count)s", moves) % values
    else:
        question = text("%(side)s to move wins") % values
    counter, _, most = condition.partition("<=")
    if not counter:
        return question
    pieces = translated(counter.replace("_", " "))
    return question + text(", with at most %(most)s %(what)s moved in all") % {"most": most, "what": pieces}


def is_whole(tournament: TournamentItem) -> bool:
    """Return whether the planned games of a tournament are all its games, not only the next ones."""
    return tournament.is_over or (
        tournament.format in formats() and format_named(tournament.format).is_known_in_advance
    )


def format_name(format: str) -> str:
    """Return the name of a tournament format in the language of the page."""
    return translated(format_named(format).title if format in formats() else format)


def counted(total: int, is_exact: bool) -> str:
    """Write a number of games that were counted up to a limit: `1,427`, `more than 10,000`."""
    return number(total) if is_exact else text("more than %(count)s") % {"count": number(total)}


def placed(lines: Sequence[LeaderboardLine], *, is_whole: bool = False) -> list[tuple[str, LeaderboardLine]]:
    """Return the lines of a leaderboard with their places as people write them, provisional ones last.

    Numbered are these lines; with `is_whole`, those of the whole leaderboard.
    """
    order = sorted(lines, key=lambda line: line.is_provisional)
    numbers = [(line.rank or line.place) if is_whole else number for number, line in enumerate(order, 1)]
    keys = [(line.is_provisional, line.conservative) for line in order]
    return list(zip(written_places(zip(numbers, keys, strict=True)), order, strict=True))


def special_variant(variant: str, family: str) -> str:
    """Return the name of a variant in the language of the page; empty for the default of its family."""
    is_default = family in families() and variant == load(family).variants[0].name
    return "" if is_default else translated(variant)


def url_of_version(name: str) -> str:
    """Return the address of the page of a version or a person by display name; empty for any other text."""
    if found := _PERSON.fullmatch(name):
        return f"/users/{found[1]}"
    found = _VERSION.fullmatch(name)
    return f"/bots/{found[1]}/v/{found[2]}" if found else ""


@lru_cache(4096)
def version(name: str) -> Markup:
    """Return a version's name, escaped, with a link to its page."""
    text = Markup('<bdi class="name" title="{n}">{n}</bdi>').format(n=plain(name, 80))
    url = url_of_version(name)
    return Markup('<a href="{}">{}</a>').format(url, text) if url else text


def bot_of(name: str) -> str:
    """Return the bot in a version's display name: `zeta` of `zeta v3`. Any other text is cut at 60 characters."""
    found = _VERSION.fullmatch(name)
    return found[1] if found else name[:60]


def score(value: int | None) -> str:
    """Format a bot's evaluation in pieces, such as `+1.25`; from 1000 pieces on in centipawns.

    A win in 7 plies is `+#7`, a loss `−#7`.
    """
    if value is None:
        return "–"
    if _FORCED_WIN <= abs(value) <= WIN_SCORE:
        return f"{'+' if value > 0 else MINUS}#{WIN_SCORE - abs(value)}"
    return number(value / 100, 2, is_signed=True) if abs(value) < 100_000 else minus(f"{value:+d}")


def large_number(value: float) -> str:
    """Format a large number with three digits: `812`, `40.1 k`, `8.80 M`."""
    for unit, size in ((" G", 1e9), (" M", 1e6), (" k", 1e3)):
        if value >= size:
            part = value / size
            return number(part, max(0, 3 - len(str(int(part))))) + unit
    return f"{value:.0f}"


def thought(ply: Ply | None) -> str:
    """Format a bot's search statistics, where it reports them: `depth 9 · 8.80 M positions · 4.20 M/s`."""
    if ply is None:
        return ""
    words = [text("depth %(depth)s") % {"depth": ply.depth}] if ply.depth is not None else []
    if ply.nodes is not None:
        words.append(texts("%(count)s position", "%(count)s positions", ply.nodes) % {"count": large_number(ply.nodes)})
        if ply.ms >= 1 and ply.nodes:
            words.append(f"{large_number(ply.nodes / ply.ms * 1000)}/s")
    return " · ".join(words)


_SIZES = (marked("bytes"), marked("KiB"), marked("MiB"), marked("GiB"))


def size(count: int) -> str:
    """Format a number of bytes."""
    value, decimals, power = scaled(count)
    return f"{number(value, decimals)} {translated(_SIZES[power])}"


def signed(value: float) -> str:
    """Format a rounded number with its sign; zero has none."""
    whole = round(value)
    return minus(f"{whole:+d}") if whole else "0"


_QUOTED = re.compile(r"""(?<!\w)(["'])([^"']+)\1(?!\w)""")


def typeset(sentence: str) -> str:
    """Write the quotation marks of a sentence as in print: `no bot “zita”`."""
    return _QUOTED.sub("“\\2”", sentence)


def minus(text: str) -> str:
    """Replace hyphens by minus signs, which are as wide as a plus."""
    return text.replace("-", MINUS)


def elo_interval(elo: float, interval: float) -> str:
    """Describe an Elo difference with the half-width of its 95 % interval, see `elo_words`."""
    return minus(translated(elo_words(elo, elo - interval, elo + interval)))


def percent(part: float) -> str:
    """Format a fraction as a percentage with one decimal."""
    return f"{number(100 * part, 1)} %"


def probability(part: float) -> str:
    """Format a probability with one decimal; it is never shown as certain: `> 99.9 %`."""
    return f"> {percent(0.999)}" if part > 0.999 else f"< {percent(0.001)}" if part < 0.001 else percent(part)


def sure(part: float) -> str:
    """Format a probability as a whole percentage, with `<1` and `>99` at the ends."""
    return "<1" if part < 0.01 else ">99" if part > 0.99 else f"{100 * part:.0f}"


def points(value: float) -> str:
    """Format points: halves as `½`."""
    whole = int(value)
    return f"{whole}" if value == whole else f"{whole or ''}½" if value - whole == 0.5 else number(value, 2)


def twice(items: Iterable[str]) -> list[tuple[str, str]]:
    """Return (value, label) pairs for a select list. Values with unprintable characters are left out: no form can send
    them.
    """
    return [(item, plain(item, 80)) for item in items if item.isprintable()]


def tally(letters: str) -> str:
    """Count the result letters of a crosstable's cell with many games: `5W 2D 3L`, in French `5V 2N 3D`."""
    return results(*(letters.count(letter) for letter in "WDL"))


def results(wins: int, draws: int, losses: int) -> str:
    """Write results in short: `5W 2D 3L`, in French `5V 2N 3D`."""
    return text("%(wins)sW %(draws)sD %(losses)sL") % {"wins": wins, "draws": draws, "losses": losses}


def letter(result: str) -> str:
    """Return the letter of a result, `W`, `D` or `L`, in the language of the page."""
    return {"W": text("W"), "D": text("D"), "L": text("L")}.get(result, result)


def letters(pairs: Iterable[Iterable[tuple[str, int]]], tournament: int) -> Markup:
    """Return the result letters of a crosstable's cell, opening by opening; each links to its game."""
    shown = {result: letter(result) for result in "WDL"}
    # Without Markup.format, for speed: a large crosstable has thousands of letters, and nothing needs escaping.
    openings = []
    for pair in pairs:
        links = [
            f'<a class="{result}" href="/tournaments/{tournament}/games/{game}">{shown.get(result, result)}</a>'
            for result, game in pair
        ]
        openings.append(f"<span>{''.join(links)}</span>")
    return Markup("\n".join(openings))  # noqa: S704 - letters and numbers


def shade(cell: CrosstableCell) -> int:
    """Return the shade of a crosstable's cell: its share of the points in eighths."""
    return round(8 * cell.points / cell.games) if cell.games else 4


def dense_cells(cells: Iterable[CrosstableCell | None]) -> Markup:
    """Return the cells of a row of a large heat map, which has no links; None is the bot itself."""
    # Outside the template, for speed: a block has thousands of cells, and nothing needs escaping.
    parts = []
    for cell in cells:
        if cell and cell.games:
            shown, against = points(cell.points), points(cell.against)
            parts.append(f'<td class="h{shade(cell)}" data-against="{against}">{shown}</td>')
        else:
            parts.append("<td></td>" if cell else '<td class="self"></td>')
    return Markup("".join(parts))  # noqa: S704 - numbers


def path_part(text: str) -> str:
    """Escape a text as one segment of an address."""
    return quote(text, safe="")


def ending(termination: str | None, loser: str = "a bot") -> str:
    """Describe how a game ended: `zeta v3 resigned`. `loser` replaces "a bot" in the termination's sentence."""
    shown = meaning(termination) or translated((termination or "").replace("-", " "))
    subject = text("a bot")
    return shown.replace(subject, loser, 1) if shown.startswith(subject) else shown


def game_state(state: str, count: int = 1) -> str:
    """Return the word for the state of one game, or of several: some languages have different words for them."""
    message = f"{'games' if count > 1 else 'game'}: {'next' if state == 'queued' else state}"
    shown = translated(message)
    return message.partition(": ")[2] if shown == message else shown


def meaning(termination: str | None) -> str:
    """Return the sentence that explains a termination; empty for an unknown one."""
    try:
        return translated(Termination(termination or "").sentence)
    except ValueError:
        return ""
