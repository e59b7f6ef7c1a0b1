"""Analyses of games and positions: read, asked for, and the marks that follow put into notations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from arena.analysis.game_analysis import marks_of
from arena.services import study
from arena.services.arena import Arena
from arena.store import BadValueError, ConflictError, Identity, NotFoundError
from arena.store.base.models import QueuedAnalysis
from referee.game.record import GameRecord, Ply, now
from referee.rules.core import Kind, Termination

QUESTION_NODES = 200_000
"""For a position that somebody asks about, unless they say otherwise."""

State = Literal["none", "waiting", "failed", "done"]


@dataclass(frozen=True, slots=True)
class GameAnalysis:
    """How far the analysis of a game is: `data` as `arena.analysis.game_analysis` packs it, `problem` why it failed."""

    game_id: str
    state: State
    data: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""

    @property
    def plies(self) -> dict[int, Mapping[str, Any]]:
        """What the engine said of each ply, by number."""
        return {ply["number"]: ply for ply in self.data.get("plies", ())}


def read(arena: Arena, game_id: str) -> GameAnalysis:
    """The analysis of a game played here or imported, or how far it is. Whether there is such a game is not asked."""
    data = arena.store.analyses.get(game_id)
    if data is not None:
        return GameAnalysis(game_id, "done", data)
    request = arena.store.analyses.request_of(game_id)
    if request is None:
        return GameAnalysis(game_id, "none")
    return GameAnalysis(game_id, "failed" if request.problem else "waiting", problem=request.problem)


def ask(arena: Arena, game_id: str, by: Identity, nodes: int | None = None) -> GameAnalysis:
    """Have a game analysed when nothing else is to be done, in place of a former analysis with other nodes.

    Raises NotFoundError, ConflictError where it is not over, BadValueError, QuotaError.
    """
    nodes = _bounded(arena, nodes or arena.settings.analysis_nodes_per_position)
    if arena.store.archive.serial_of(game_id) is None:
        line = arena.store.games.get(game_id)
        if line.state != "finished":
            raise ConflictError(f"game {game_id} is {line.state}; it can be analysed when it is over", line.state)
    found = read(arena, game_id)
    if found.state == "done" and found.data["nodes"] == nodes:
        return found
    arena.store.analyses.ask(by.user_id, nodes, game_id=game_id)
    arena.wake()
    return read(arena, game_id) if found.state != "done" else found


def _bounded(arena: Arena, nodes: int) -> int:
    most = arena.settings.analysis_max_nodes
    if not 100 <= nodes <= most:
        raise BadValueError(f"{nodes} nodes", field="nodes", hint=f"100 to {most}")
    return nodes


@dataclass(frozen=True, slots=True)
class Question:
    """A position somebody asks about: the rules, where the line began, and its moves in any spelling."""

    family: str
    variant: str = ""
    options: str = ""
    position: str = ""
    moves: str = ""


def read_question(question: Question) -> study.Study:
    """The line somebody asks about. Raises BadValueError."""
    ruleset = study.settle(question.family, question.variant, question.options)
    return study.read(ruleset, question.position, question.moves.split())


def ask_position(arena: Arena, line: study.Study, by: Identity, nodes: int | None = None) -> QueuedAnalysis:
    """Ask the engine about the end of a line, which it answers when nothing else is to be done.

    Raises BadValueError, also where the game is over there, QuotaError.
    """
    nodes = _bounded(arena, nodes or min(QUESTION_NODES, arena.settings.analysis_max_nodes))
    ruleset = line.ruleset
    if line.end.outcome is not None:
        raise BadValueError("the game is over there", field="moves", hint="ask about a position before")
    record = GameRecord(
        id="",
        family=ruleset.rules.family,
        variant=ruleset.variant.name,
        options=ruleset.overrides,
        position=line.start,
        first="",
        second="",
        winner=None,
        termination=Termination.STOPPED,
        kind=Kind.VOID,
        moves=line.moves,
        plies=[Ply()] * len(line.moves),
        started=now(),
        finished=now(),
    )
    number = arena.store.analyses.ask(by.user_id, nodes, question={"record": record.line()})
    arena.wake()
    return arena.store.analyses.request(number)


def read_answer(arena: Arena, number: int, by: Identity) -> QueuedAnalysis:
    """What became of a question of one's own. Raises NotFoundError."""
    found = arena.store.analyses.request(number)
    if found.user_id != by.user_id:
        raise NotFoundError("question", str(number))
    return found


def annotated(arena: Arena, record: GameRecord) -> GameRecord:
    """A game with the marks of its analysis, unless people have marked it."""
    if record.marks:
        return record
    data = arena.store.analyses.get(record.id)
    return replace(record, marks=marks_of(data)) if data else record
