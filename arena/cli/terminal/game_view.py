"""A game as the terminal shows it: its result in one line, its board after a ply, the meaning of its termination."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from arena.cli.terminal import output
from arena.cli.terminal.exit import CommandError

if TYPE_CHECKING:
    from arena.cli.terminal.printer import Printer
    from referee.game.record import GameRecord
    from referee.rules.core import Outcome
    from referee.rules.position import Position
    from referee.rules.rules import Ruleset
    from referee.rules.text_board import Word


_STYLES: Mapping[Word, tuple[output.Style, ...]] = {
    "first": ("bold", "yellow"),
    "second": ("bold", "cyan"),
    "neutral": ("bold", "magenta"),
    "cell": ("dim",),
    "label": ("dim",),
    "note": (),
}


def drawing(position: Position) -> str:
    """Draw the board as text for stdout."""
    from referee.rules.text_board import draw

    return draw(
        position.board,
        position.ruleset.rules.pieces,
        lambda words, word: output.styled(words, *_STYLES[word]),
    )


def result_json(outcome: Outcome | None) -> dict[str, Any] | None:
    """Return an outcome as JSON data; None while the game is running."""
    return {"winner": outcome.winner, "reason": outcome.reason.value} if outcome else None


def side_name(ruleset: Ruleset, side: str) -> str:
    """Format a side: `second (White)`."""
    return f"{side} ({ruleset.sides[0 if side == 'first' else 1]})"


def played(position: Position) -> str:
    """Describe the move that led to a position, with its effects; empty at the start."""
    before, move = position.previous, position.move
    if before is None or move is None:
        return ""
    said = [before.display(move), before.explain(move), position.announced]
    return ", ".join(part for part in said if part)


def status(position: Position) -> str:
    """Describe the side to move, or the result, in one line."""
    ruleset, outcome = position.ruleset, position.outcome
    if outcome is None:
        return f"{side_name(ruleset, position.side)} to move"
    if outcome.winner == "draw":
        return f"draw by {outcome.reason}"
    return f"{side_name(ruleset, outcome.winner)} wins by {outcome.reason}"


def meanings(words: Iterable[str | None]) -> list[str]:
    """Return a line for each of these words, in order of appearance; foreign words of imported games have none."""
    from referee.rules.core import Termination

    lines = []
    for word in dict.fromkeys(filter(None, words)):
        try:
            lines.append(f"  {word}: {Termination(word).sentence}")
        except ValueError:
            continue
    return lines


def show_result(record: GameRecord, count: str, wants_logs: bool, remark: str = "") -> None:
    """Print one line for a finished game, the `count`-th, with the evidence of a forfeit."""
    score = {"first": "1-0", "second": "0-1", "draw": "½-½"}.get(record.winner or "", "void")
    end = f"{record.termination}, {len(record.moves)} plies"
    output.note("  ".join(filter(None, (f"[{count}] {record.first} - {record.second}", score, end, remark))))
    if record.kind == "forfeit":
        output.note(f"        {record.detail}")
        if wants_logs:
            for side, log in record.logs.items():
                output.note(
                    f"        {side}'s standard error:", *(f"          {line}" for line in log.splitlines()[-20:])
                )


def show_record(record: GameRecord, ply: str | int | None, printer: Printer) -> None:
    """Print a game after a ply (None: the last). Raises RecordError, ParseError, CommandError for an unknown ply."""
    from referee.game.record import positions
    from referee.rules.ply_reference import read_ply, write_ply

    line = positions(record)
    begins = int(line[0].side == "second")
    at = len(record.moves) if ply is None else read_ply(str(ply), line[0].ruleset, begins)
    if at >= len(line):
        raise CommandError(f"no ply {at}: the game has {len(record.moves)}; choose 0 to {len(record.moves)}")
    position = line[at]
    if printer.form == "text":
        from referee.game.record_text import write_text

        output.text(write_text(record).rstrip("\n"))
        return
    if not printer.is_for_people:
        shown = {
            "ply": at,
            "position": str(position),
            "side": position.side,
            "legal_moves": position.texts,
            "result": result_json(position.outcome),
        }
        printer.result({**record.as_json(), "shown": shown})
        return
    ruleset = position.ruleset
    result = {"first": "1-0", "second": "0-1", "draw": "1/2-1/2"}.get(record.winner or "", "void")
    output.text(
        f"{record.first} ({ruleset.sides[0]}) - {record.second} ({ruleset.sides[1]})  {result}  {record.termination}",
        f"{ruleset.rules.title}, {record.variant}, game {record.id}",
        "",
        drawing(position),
        "",
        f"ply {at} of {len(record.moves)}{f' ({write_ply(at, begins)})' if at else ''}: {_last(position, record, at)}",
        f"position {position}",
        status(position) if at < len(record.moves) or position.outcome else _end(record),
    )


def _last(position: Position, record: GameRecord, ply: int) -> str:

    comment = record.comments.get(ply, "")
    said = "the start"
    if position.previous is not None:
        said = f"{side_name(position.ruleset, position.previous.side)} played {played(position)}"
    return " ".join(part for part in (said, record.marks.get(ply, ""), f"{{{comment}}}" if comment else "") if part)


def _end(record: GameRecord) -> str:
    return f"ended by {record.termination}: {record.detail or record.termination.sentence}"
