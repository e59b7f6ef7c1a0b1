"""Words and sentences from below the pages, which pages show in the language of the reader."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

from arena import documents
from arena.config import Settings
from arena.documents.human_game import LEVELS, NOT_RATED, STRENGTHS
from arena.documents.query import Query, query_fields
from arena.feature import State
from arena.pages.schema import documented_fields
from arena.pages.tournament_form import in_steps, sections
from arena.services import people, people_game
from arena.services.registration import RESET_SUBJECT, RESET_TEXT
from referee.check.check import ABILITIES
from referee.errors import KINDS
from referee.game.spec import Adjudication, BotLimits
from referee.rules.core import Termination
from referee.tournament import preview
from referee.tournament.formats import formats
from referee.tournament.seeding import SAME_OWNER, SEEDINGS
from referee.tournament.swiss_scores import HALF_POINT_BYE, ZERO_POINT_BYE

FEATURES = Path(documents.__file__).parents[1] / "features"
OTHERS = (
    *("first", "second", "next", "bye", "points", "no estimate", "moves", "result", "limits", "display", "playing"),
    *("idle", "busy", "fit", "unfit", "remote", "games", "rounds", "Final", "Semi-finals", "Quarter-finals"),
    *("read", "write", "upload", "page", "registration", "wrong-token", "streams", "exports", "setoption"),
    *("first ({}) lost at ply {}", "second ({}) lost at ply {}"),
    *("first resigned at ply {}", "second resigned at ply {}", "{} positions, {} legal moves"),
    *("start and handshake", "announces {}", "first move", "time for a move", "legal moves in {}", "positions"),
    *("clocks", "search by depth", "search by nodes", "stop", "isready again", "query", "memory", "quits"),
    *("load {} on {} cores", "ready in {} ms", "ready in {} ms ({})", "not playable: {}", "{} ({} of {} tries, {})"),
    *("the arena loaded its rules in {} ms", "fit from {} s a move", "exceeds its time by {} ms"),
    *("its first answer by {} ms", "the step cannot be asked: {}", "exit code {}", "killed by {}", "thinking"),
    *("no answer to {} in {} s", "no bestmove in {} ms", "{} ms were left", "two bestmoves to one `go`"),
    *("answered after {} ms ({} ms of them the machine's)", "before its turn", "after its time was up"),
    *("announce the options named here, or check what it plays: --variant NAME", "no such file", "no such program"),
    *("answer `go movetime MS` with `bestmove M`", "answer `go movetime MS` before its time is up"),
    *("take `setoption name N value V` for your options", "take `position fen P`; else it gets `startpos`"),
    *("fix the error on standard error", "start it by hand and type the lines shown", "response"),
    "answer `ugi` at once with id lines, options and `ugiok`; load tables and books at `isready`",
    "put the program, its interpreter and its libraries where the bot is, or name what the sandbox has",
    "let it speak UGI (protocol/SPEC.md), or connect it by an adapter: {}",
    *("the sandbox refused the system call {}: {}", "the sandbox refused a system call: {}"),
    "{} s per move in a game of {} moves",
    "plays {}, not {}; a version for {} is needed",
    "passed its check for {}, not for {}; submit a version that can",
    "has no check report for {}; upload it again",
    "{}: not checked, trusted",
    "its check report cannot be read ({}); upload it again",
    "{}; submit a version that can",
    "gets the options {}",
    "gets the start as a position",
    "the referee passes for it in the {}",
    "does not support clocks: gets a fixed time for every move",
    "A sample bot of the arena.",
    "page or family",
    *("{}: permanent ladder", "Games of people: {}"),
    "{} except {}",
    "{} has waited for {} pairs",
    "most informative: {} apart, {} ± {}",
    "in doubt: is {} ({} %) ahead of {} ({} %)? {} % sure",
    "every bot meets all others equally often",
    *("there is no win in {}", "there is no win in {} within {} moves of search", "the solver failed: {}"),
    "nothing is proved within {} moves of search",
    "the win in {} has too many solutions or too long ones to list them all within {} moves",
    *("{} at column {} of {}", "legal moves: {}", "the game is over", "known: {}", "did you mean {}? known: {}"),
    'no page or family "{}"',
    *("unknown {} {}; {}", "unknown value of option {} {}; {}"),
    *(f"unknown {one} of {{}} {{}}; {{}}" for one in ("variant", "option", "setup", "condition")),
    *("walkover", "both withdrew", "seeding, after {} extra pairs"),
    *("Third place", "Round of 16", "Round of 32", "Round of 64", "Round of {}"),
    *("choose from {}", "allowed: {}", "did you mean {}?", "unknown {} {}"),
)
"""Words of other places, each shown somewhere."""


def words() -> Iterator[tuple[str, str]]:
    """Return the messages, each with the place where it is written."""
    for termination in Termination:
        yield "referee/rules/core.py", termination.sentence
        yield "referee/rules/core.py", termination.value
    for kind in KINDS.values():
        yield "arena/errors.py", kind.title
        yield "arena/errors.py", kind.meaning
    for name in preview.NAMES:
        yield "referee/tournament/preview.py", name
    for word in (*(title for _, title in STRENGTHS), *LEVELS, NOT_RATED):
        yield "arena/documents/human_game.py", word
    for sentence in people.TIME_CONTROLS.values():
        yield "arena/services/people.py", sentence
    for sentence in people_game.REASONS:
        yield "arena/services/people_game.py", sentence
    for sentence in (RESET_SUBJECT, RESET_TEXT):
        yield "arena/services/registration.py", sentence
    yield from _documents()
    yield from _form()
    for limits in (BotLimits, Adjudication):
        for field in documented_fields(limits):
            yield "referee/game/spec.py", field.title
            yield "referee/game/spec.py", field.text
    for name in (
        "max_upload_bytes",
        "max_bundle_bytes",
        "max_bundle_files",
        "quota_bots",
        "quota_versions",
        "quota_bytes",
    ):
        yield "arena/config.py", Settings.model_fields[name].description or ""
    for _, _, advice in ABILITIES:
        if advice:
            yield "referee/check/check.py", advice
    for state in ("planned", "next", "running", "finished", "void", "cancelled"):
        yield "arena/documents/game.py", f"game: {state}"
        yield "arena/documents/game.py", f"games: {state}"
    for state in get_args(State):
        yield "arena/feature.py", state
    for name, system in formats().items():
        place = f"referee/tournament/formats/{name.replace('-', '_')}.py"
        yield from ((place, word) for word in (system.title, system.winner, system.course, *system.tie_breaks))
    for word in (*SEEDINGS.values(), SAME_OWNER):
        yield "referee/tournament/seeding.py", word
    for word in (HALF_POINT_BYE, ZERO_POINT_BYE):
        yield "referee/tournament/formats/swiss.py", word
    for word in OTHERS:
        yield "tests/vocabulary.py", word


def _documents() -> Iterator[tuple[str, str]]:
    """Return the values of documents that are words, and the labels of the fields of queries."""
    names = [f"arena.documents.{module.name}" for module in pkgutil.iter_modules(documents.__path__)]
    names += [f"arena.features.{path.parent.name}.documents" for path in FEATURES.glob("*/documents.py")]
    for name in names:
        room = importlib.import_module(name)
        place = f"{name.replace('.', '/')}.py"
        for kind in vars(room).values():
            if not isinstance(kind, type) or not dataclasses.is_dataclass(kind) or kind.__module__ != room.__name__:
                continue
            for hint in get_type_hints(kind).values():
                yield from ((place, word) for word in _literals(hint) if any(map(str.isalpha, word)))
            if issubclass(kind, Query):
                for field in query_fields(kind):
                    for label in (field.label, *field.choices.values()):
                        if label:
                            yield place, label


def _literals(hint: Any) -> Iterator[str]:
    for one in get_args(hint):
        if isinstance(one, str):
            yield one
        else:
            yield from _literals(one)


def _form() -> Iterator[tuple[str, str]]:
    """Return the texts of the form of a tournament."""
    steps, _ = in_steps(sections({}))
    for step in steps:
        yield "arena/pages/tournament_form.py", step.title
    for system in formats().values():
        yield f"referee/tournament/formats/{system.table}.py", system.purpose
    for section in sections({"handicaps": [{}]}):
        for text in ("" if section.format else section.name.capitalize(), section.text):
            if text:
                yield "referee/tournament/document.py", text
        for field in section.fields:
            for text in (field.label, field.text, *field.choices):
                if text:
                    yield "referee/tournament/document.py", text
