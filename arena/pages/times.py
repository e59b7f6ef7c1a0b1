"""Template filters of times: spans, clocks and moments as the pages write them."""

from __future__ import annotations

from datetime import UTC, datetime

from markupsafe import Markup

from arena.pages.filters import plain
from arena.pages.language import current, day, number, text
from referee.game.spec import TimeControl, read_time_control


def duration(seconds: float | None) -> str:
    """Format a duration with at most two units: `3 min 20 s`."""
    if seconds is None:
        return "–"
    if seconds < 10:
        return f"{number(max(0.0, seconds), 1)} s"
    units = ((text("d"), 86400), ("h", 3600), ("min", 60), ("s", 1))
    left, words = round(seconds), []
    for name, size in units:
        count, left = divmod(left, size)
        if count:
            words.append(f"{count} {name}")
    return " ".join(words[:2])


def tempo(control: TimeControl | str) -> str:
    """Describe a time control or its notation: `10 s + 0.1 s a move`, `60 s for 40 moves`, `search depth 4`."""
    if isinstance(control, str):
        control = read_time_control(control)
    if control.kind in ("depth", "nodes"):
        message = text("search depth %(count)s") if control.kind == "depth" else text("%(count)s positions a move")
        return message % {"count": number(control.limit)}
    base = _span(control.base_ms)
    if control.kind == "movetime":
        return text("%(span)s a move") % {"span": base}
    if control.moves:
        base = text("%(span)s for %(moves)s moves") % {"span": base, "moves": control.moves}
    added = control.increment_ms and text("%(span)s a move") % {"span": _span(control.increment_ms)}
    return f"{base} + {added}" if added else base


def _span(ms: float) -> str:
    return duration(ms / 1000) if ms >= 60_000 else f"{number(ms / 1000)} s"


def clock(ms: float | None) -> str:
    """Format a clock: `1:02:03`, `4:05`, tenths of a second below a minute."""
    if ms is None:
        return "–"
    seconds = max(0.0, ms) / 1000
    if seconds < 60:
        return f"{number(seconds, 1)} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def milliseconds(ms: float | None) -> str:
    """Format the time of one move; `–` where it is unknown, as in imported games."""
    if not ms:
        return "–"
    return f"{number(ms, 1)} ms" if ms < 10 else f"{ms:.0f} ms" if ms < 1000 else f"{number(ms / 1000, 1)} s"


def when(at: datetime | str | None) -> Markup:
    """Format a moment: relative to now if within a day, else as date and time in UTC, which a script makes local."""
    if at is None or at == "":
        return Markup("–")
    if isinstance(at, str):
        try:
            at = datetime.fromisoformat(at)
        except ValueError:
            return Markup("{}").format(plain(str(at), 40))
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    gone = (datetime.now(UTC) - at).total_seconds()
    if abs(gone) >= _DAY_S:
        return moment_in_utc(at)
    span = next((f"{int(abs(gone) / size)} {unit}" for unit, size in _UNITS if abs(gone) >= size), "0 s")
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(
        at.isoformat(timespec="seconds"),
        at.strftime("%Y-%m-%d %H:%M:%S"),
        (text("in %(span)s") if gone < 0 else text("%(span)s ago")) % {"span": span},
    )


_DAY_S = 86_400
_UNITS = (("h", 3600), ("min", 60), ("s", 1))
_MINUTE = {"fr": "%d/%m/%Y %H:%M"}
"""Date and time by language, as `times.js` writes them; in ISO 8601 by default."""


def moment_in_utc(at: datetime) -> Markup:
    """Format a moment as date and time in UTC, which a script makes local."""
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    # Without Markup.format, for speed: a table has a moment in every row, and nothing needs escaping.
    moment, title = at.isoformat(timespec="seconds"), at.strftime("%Y-%m-%d %H:%M:%S")
    shown = at.strftime(_MINUTE.get(current(), "%Y-%m-%d %H:%M"))
    return Markup(f'<time datetime="{moment}" title="{title} UTC" data-absolute>{shown}</time>')  # noqa: S704 - digits


def appointment(at: datetime) -> Markup:
    """Format a moment to come as weekday, date, time and zone: in UTC, which a script makes local."""
    at = at.astimezone(UTC)
    return Markup('<time datetime="{}" title="{:%Y-%m-%d %H:%M:%S} UTC" data-zoned>{} {} UTC</time>').format(
        at.isoformat(timespec="seconds"), at, day(at), at.strftime(_MINUTE.get(current(), "%Y-%m-%d %H:%M"))
    )


def hour_of_day(hour: int) -> Markup:
    """Format an hour of every day: in UTC, which a script makes local."""
    at = datetime.now(UTC).replace(hour=hour, minute=0, second=0, microsecond=0)
    return Markup('<time datetime="{}" data-clock>{:%H:%M} UTC</time>').format(at.isoformat(timespec="seconds"), at)


def written_day(day: str) -> str:
    """Format a day, month or year of ISO 8601: `2026-11-30`, in French `30/11/2026`."""
    return day if current() != "fr" else "/".join(reversed(day.split("-")))


def moment(at: datetime) -> str:
    """Format a moment as ISO 8601."""
    return (at.replace(tzinfo=UTC) if at.tzinfo is None else at).isoformat(timespec="seconds")
