"""An arena with content on every page: bots, games of all families, a running game, forfeits, hostile names."""

from __future__ import annotations

import pickle
import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select, update
from sqlmodel import col

from arena.analysis.engine import Evaluations, PositionRef
from arena.analysis.game_analysis import analyse
from arena.analysis.marking import EvaluatedPosition
from arena.analysis.storage import save
from arena.analysis.win_model import shipped
from arena.collections.following import follow
from arena.config import Settings
from arena.credentials import hash_password
from arena.documents.account import Identity
from arena.documents.analysis import PositionRequest
from arena.services import Arena, analysis
from arena.store import Store
from arena.store.archive.archived_game import ArchivedGame
from arena.store.base.tables.archive import StoredImport
from arena.store.base.tables.bots import BotIdentity, Version
from arena.store.base.tables.games import Game, Void
from arena.store.base.tables.tournaments import Schedule, Tournament
from arena.store.bots.versions import bot_spec
from referee.bot.file import BotFile
from referee.game.record import GameRecord, NetworkFigures, Ply
from referee.game.spec import GameSpec, PlannedGame, TimeControl
from referee.rules import families, load
from referee.rules.core import Kind, Termination
from referee.rules.position import Position
from referee.rules.rules import GameText, Ruleset
from tests.with_features import is_on

HOSTILE = "<script>alert(1)</script>\u202eevil\x07 \"quoted' & <b>bold</b> " + "x" * 200
LOG = "<img src=x onerror=alert(1)>\n\u202eright to left\n" + "y" * 10_000
ODD_NAME = "<i>odd</i>\u202edrow\x07 " + "z" * 10_000
"""A name that the interface would refuse; pages must not rely on that."""
NAMES = ("ada", "bob", "cleo", "dan")
PASSWORD = "correct horse battery staple"
START = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass
class Stage:
    """The games and tournaments of the stage by family, for visits of their pages."""

    store: Store
    finished: dict[str, str] = field(default_factory=dict)
    running: dict[str, PlannedGame] = field(default_factory=dict)
    tournaments: dict[str, int] = field(default_factory=dict)
    forfeit: str = ""
    odd_bot: str = ""
    submission: int = 0
    question: int = 0
    schedule: int = 0


def random_moves(ruleset: Ruleset, plies: int, seed: int) -> list[str]:
    """Return random moves, with a slight preference for captures."""
    dice = random.Random(seed)
    position = Position.start(ruleset)
    moves: list[str] = []
    while len(moves) < plies and position.moves:
        count = sum(map(len, position.board.pieces.values()))
        chosen = position.play(dice.choice(position.moves))
        for _ in range(4):
            if sum(map(len, chosen.board.pieces.values())) < count:
                break
            chosen = position.play(dice.choice(position.moves))
        assert chosen.move is not None
        moves.append(ruleset.rules.notation.write_move(chosen.move))
        position = chosen
    return moves


def record_of(game: PlannedGame, moves: list[str], **given: Any) -> GameRecord:
    """Return a record of these moves with the result by the rules, the given one, or a draw by length."""
    spec = game.spec
    ruleset = load(spec.family).settle(spec.variant, spec.options)
    final = Position.start(ruleset, spec.position).play_all(moves)
    winner, how = (
        ("draw", Termination.MAX_PLIES) if final.outcome is None else (final.outcome.winner, final.outcome.reason)
    )
    how = given.pop("termination", how)
    winner = given.pop("winner", winner)
    dice = random.Random(game.id)
    plies = tuple(
        Ply(
            ms=round(dice.uniform(1, 900), 3),
            charged_ms=round(dice.uniform(1, 900), 3),
            score=dice.randint(-300, 300),
            depth=dice.randint(1, 9),
            nodes=dice.randint(10, 99999),
            pv=" ".join(moves[index : index + 1 + index % 4]) if index % 5 else "",
        )
        for index in range(len(moves))
    )
    started = START + timedelta(hours=spec.sequence)
    return GameRecord(
        id=game.id,
        family=spec.family,
        variant=spec.variant,
        options=spec.options,
        position=str(Position.start(ruleset, spec.position)),
        first=spec.first.name,
        second=spec.second.name,
        winner=winner,
        termination=how,
        kind=how.kind,
        moves=tuple(moves),
        plies=plies,
        started=started.isoformat(),
        finished=(started + timedelta(minutes=3)).isoformat(),
        event=spec.event,
        sequence=spec.sequence,
        round=spec.round,
        pair=spec.pair,
        seed=spec.seed,
        time=str(spec.time),
        final_position=str(final),
        pondering="frozen",
        out_of_turn_ms=(40.0, 12_300.0),
        **given,
    )


def _import(store: Store, user: int) -> None:
    """Add an import that has failed: the one with the number 1."""
    row = StoredImport(source=HOSTILE[:80], family="loa", variant="standard", lines=1, created_by=user)
    store.imports.fail(store.imports.add(row, HOSTILE), HOSTILE)


def make_template(folder: Path) -> None:
    """Keep a filled database in a new folder, with what `restore` needs to know of it."""
    draft = folder.with_name(f"{folder.name}-draft")
    draft.mkdir()
    store = Store.in_folder(draft)
    stage = fill(store)
    with store.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    known = {field.name: getattr(stage, field.name) for field in fields(stage) if field.name != "store"}
    (draft / "stage.pickle").write_bytes(pickle.dumps(known))
    draft.rename(folder)


def restore(template: Path, folder: Path) -> Stage:
    """Open a copy of a filled database in a folder."""
    shutil.copy(template / "arena.sqlite3", folder)
    return Stage(Store.in_folder(folder), **pickle.loads((template / "stage.pickle").read_bytes()))


def fill(store: Store, *, plies: int = 60, has_odd_names: bool = True) -> Stage:
    """Fill an empty store; names that are too long for the schema can be stored in SQLite only."""
    stage = Stage(store)
    zoe = store.users.add("zoe", role="admin", password_hash=hash_password(PASSWORD))
    assert zoe.id is not None
    everything = {name: [variant.name for variant in load(name).variants] for name in families()}
    store.samples.ensure({"random": "bots.samples.random_mover"}, everything)
    versions = []
    for name in NAMES:
        bot = store.bots.add(name, zoe.id, HOSTILE if name == "dan" else f"the bot {name}")
        versions.append(
            store.versions.add(
                bot.id or 0,
                BotFile(("./bot",), families=tuple(families())),
                bundle="ab" * 32,
                size_bytes=12345,
                state="active",
                variants=everything,
            )
        )
    _examine(store, versions[0].id or 0)
    bad = store.bots.add("broken", zoe.id)
    failed = store.versions.add(bad.id or 0, BotFile(("./bot",), families=("loa",)), bundle="cd" * 32, size_bytes=99)
    store.checks.claim()
    store.checks.conclude(
        failed.id or 0,
        report={
            "sandbox": "bwrap",
            "families": {
                "loa": {
                    "problem": HOSTILE,
                    "fit": False,
                    "steps": [
                        {
                            "name": "starts",
                            "needed": True,
                            "passed": True,
                            "detail": "in 5 ms",
                            "advice": "",
                            "lines": [],
                        },
                        {
                            "name": "handshake",
                            "needed": True,
                            "passed": False,
                            "detail": HOSTILE,
                            "advice": "answer ugiok",
                            "lines": ["> ugi", f"< {HOSTILE}"],
                        },
                    ],
                }
            },
        },
        variants={"loa": []},
        capabilities={},
        log=LOG,
        problem=HOSTILE[:200].replace("\x07", ""),
    )
    stage.submission = failed.id or 0
    stage.question = _asked(stage)
    if is_on("problems"):
        from tests.arena.features.problems.stage import set_problem

        set_problem(store, zoe.id, title=HOSTILE[:80], text=HOSTILE)
    if is_on("webhooks"):
        from arena.features.webhooks.store import Webhooks
        from arena.features.webhooks.tables import Webhook

        Webhooks(store).add(Webhook(url="https://club.example/arena", form="json", secret="whsec_", news=["end"]))
    _import(store, zoe.id)
    names = {version.name: version.id or 0 for version in versions}
    for number, family in enumerate(families()):
        _tournament(stage, zoe.id, versions, names, family, number, plies)
    _analysed(stage)
    if has_odd_names:
        _call_names(stage)
    _archive(store)
    row = store.schedules.add(
        Schedule(
            name="Fridays",
            cron="0 20 * * 5",
            timezone="Europe/Paris",
            catch_up="once",
            template={"name": HOSTILE, "family": "loa"},
            next_fire=START,
            created_by=zoe.id,
        )
    )
    stage.schedule = row.id or 0
    return stage


def _archive(store: Store) -> None:
    """Import a game, number 1, with unusual player names, and archive the games played here."""
    rules = load("abalone").settle()
    moves = random_moves(rules, 14, seed=3)
    text = rules.rules.formats[0].write(GameText(tuple(moves)), rules)
    game = ArchivedGame(
        id="0123456789abcdef",
        family="abalone",
        variant=rules.variant.name,
        options={},
        position=rules.write(rules.read()),
        moves=tuple(moves),
        first="Tour / Lutu",
        second=HOSTILE[:200],
        winner="first",
        termination="resigned",
        number="427",
        source=HOSTILE[:80],
        format=rules.rules.formats[0].name,
        text=text + HOSTILE,
        tags={"Date": "2003-07", "Event": HOSTILE},
    )
    store.archive.add([game])
    follow(store)


def _examine(store: Store, version_id: int) -> None:
    """Store a version whose check found a minimum time per move."""
    with store.writing() as session:
        version = session.get(Version, version_id)
        assert version is not None
        version.capabilities = {"loa": {"fit_from_ms": 5000}}


def _call_names(stage: Stage) -> None:
    """Store unvalidated names, as another program may have written them, wherever names are shown."""
    with stage.store.writing() as session:
        bot = session.scalars(select(BotIdentity).where(col(BotIdentity.name) == "broken")).one()
        bot.name = stage.odd_bot = ODD_NAME[:300].strip()
        version = session.scalars(select(Version).where(col(Version.bot_id) == bot.id)).one()
        version.name = f"{ODD_NAME} v1"
        session.execute(update(Game).where(col(Game.state) == "running").values(lease_owner=ODD_NAME))
        session.add_all(
            Void(game_id=game.id, attempt=1, termination="worker-lost", detail=HOSTILE, lease_owner=ODD_NAME)
            for game in stage.running.values()
        )


def _tournament(
    stage: Stage, user: int, versions: list[Any], names: dict[str, int], family: str, number: int, plies: int
) -> None:
    store, rules = stage.store, load(family)
    ruleset = rules.settle()
    row = store.tournaments.add(
        Tournament(
            name=f"{rules.title} cup" if number else HOSTILE[:100],
            family=family,
            variant=ruleset.variant.name,
            format="round-robin",
            pool=family,
            start_time=START,
            created_by=user,
            settings={
                "time_control": "60+0.5",
                "name": "cup",
                "family": family,
                "entries": {"bots": list(NAMES)},
                "opening_lines": [HOSTILE],
                "handicaps": [
                    {"bot": NAMES[0], "against": NAMES[1], "time_control": "5+0", "engine_options": {"Book": HOSTILE}}
                ],
            },
        ),
        [(version.id or 0, "fit") for version in versions],
    )
    assert row.id is not None
    stage.tournaments[family] = row.id
    store.tournaments.move(row.id, "running")
    specs = []
    bots = [bot_spec(version, family) for version in versions]
    pairings = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    for pair, (a, b) in enumerate(pairings, 1):
        for light, dark in ((a, b), (b, a)):
            specs.append(
                GameSpec(
                    family,
                    ruleset.variant.name,
                    bots[light],
                    bots[dark],
                    time=TimeControl("clock", 60_000, 500),
                    event="cup",
                    sequence=len(specs) + 1,
                    round=1,
                    pair=pair,
                    seed=number,
                )
            )
    specs.append(
        GameSpec(
            family,
            ruleset.variant.name,
            bots[0],
            bots[1],
            time=TimeControl("clock", 60_000, 500),
            event="cup",
            sequence=len(specs) + 1,
            round=2,
            pair=99,
            seed=number,
        )
    )
    games = [PlannedGame.of(spec) for spec in specs]
    store.queue.plan(row.id, games, names)
    for index, game in enumerate(games[:-1]):
        moves = random_moves(ruleset, plies if index == 0 else 12, seed=index)
        given: dict[str, Any] = {}
        if index == 1:
            given = {
                "termination": Termination.STALLED,
                "winner": "first",
                "detail": HOSTILE,
                "logs": {"second": LOG},
                "kind": Kind.FORFEIT,
            }
            given.pop("kind")
        elif index > 1 and index % 3:
            given = {"termination": Termination.RESIGNED, "winner": "first" if index % 2 else "second"}
        record = record_of(game, moves, **given)
        if index == 1:
            network = {"second": NetworkFigures(wait_ms=1_500, losses=2, reconnected=1, paused_ms=30_400)}
            record = replace(record, time="75+0.625", clock_scale=1.25, network=network)
        assert store.results.commit(record, "worker-1") is not None
        if index == 0:
            stage.finished[family] = record.id
        if index == 1 and not stage.forfeit:
            stage.forfeit = record.id
    last = games[-1]
    store.queue.hand_out([last.id], "worker-1")
    store.queue.start(last.id)
    stage.running[family] = last


def begin(stage: Stage, family: str, event: str = "live") -> PlannedGame:
    """Start a game in a tournament of its own, so that following it to the end disturbs no other test."""
    store, spec = stage.store, replace(stage.running[family].spec, event=event, sequence=1)
    like = store.tournaments.get(stage.tournaments[family])
    versions = {bot.name: store.versions.find(bot.name.split()[0], 1).id or 0 for bot in (spec.first, spec.second)}
    row = store.tournaments.add(
        Tournament(
            **{
                name: getattr(like, name)
                for name in ("family", "variant", "format", "pool", "start_time", "created_by")
            },
            settings=dict(like.settings),
            name="Live",
        ),
        [(version, "fit") for version in versions.values()],
    )
    game = PlannedGame.of(spec)
    store.tournaments.move(row.id or 0, "running")
    store.queue.plan(row.id or 0, [game], versions)
    store.queue.hand_out([game.id], "worker-1")
    store.queue.start(game.id)
    return game


def _asked(stage: Stage) -> int:
    """Store an analysis request for a position, and its result."""
    arena = Arena(stage.store, Settings())
    user = stage.store.users.find("zoe")
    line = analysis.read_question(PositionRequest(family="loa", moves="b1b3"))
    question = analysis.ask_position(arena, line, Identity(user.id or 0, user.name, "author", ("read",)))
    answer = {"family": "loa", "side": "second", "engine": "alphabeta", "nodes": 200_000, "win_model": "shipped 1"}
    stage.store.analyses.answer(
        question.id, {**answer, "score": -12, "winning_chances": -0.05, "best": "a2c2", "line": ["a2c2", "b3b5"]}
    )
    return question.id


def _analysed(stage: Stage) -> None:
    """Store a finished game whose analysis alternates between the sides at every ply."""
    record = stage.store.games.record(stage.finished["loa"])

    def ask(places: Sequence[PositionRef], nodes: int) -> Evaluations:
        sides = ("first", "second")
        return Evaluations(
            "fake",
            [
                EvaluatedPosition(sides[(ply + bool(move)) % 2], 40 * (ply % 7) - 90, "a1a2", "", 9)
                for ply, move in places
            ],
        )

    save(stage.store, analyse(record, ask, nodes=20_000, win_model=shipped("loa")))
