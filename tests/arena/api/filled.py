"""Fills a database with users, bots, tournaments and made-up game records, without playing."""

from __future__ import annotations

from dataclasses import dataclass, replace

from arena import tournaments
from arena.clock import now
from arena.store import Store
from referee.bot.file import BotFile
from referee.game.record import GameRecord, Ply
from referee.game.record import now as instant
from referee.game.spec import PlannedGame
from referee.rules import families, load
from referee.rules.core import Kind, Termination
from tests.arena.api.server import Server

SAMPLES = {
    "random": "bots.samples.random_mover",
    "greedy": "bots.samples.greedy",
    "alphabeta": "bots.samples.alphabeta",
}


@dataclass
class Arena:
    """Contents of the filled database. `tokens` are by role; `other` is a second author's."""

    server: Server
    tokens: dict[str, str]
    finished: int
    running: int
    games: list[str]
    waiting: list[str]
    bot: str = "zeta"

    @property
    def store(self) -> Store:
        return self.server.store


def fill(server: Server) -> Arena:
    """Fill the database of a server."""
    store = server.store
    tokens = {role: server.person(role, role) for role in ("author", "organiser", "admin")}
    tokens["other"] = server.person("other")
    tokens["reader"] = server.person("author", scopes="read")
    tokens["worker"] = server.person("admin", "admin", scopes="worker")
    samples = store.samples.ensure(
        SAMPLES, {name: [variant.name for variant in load(name).variants] for name in families()}
    )
    del samples
    author = store.users.find("author")
    zeta = store.bots.add("zeta", author.id or 0, "a bot of the author")
    store.versions.add(
        zeta.id or 0, BotFile(("./zeta",), families=("loa",)), bundle="0" * 64, size_bytes=5, state="failed"
    )
    by = store.users.find("organiser").id or 0
    finished = _tournament(store, by, "Finished", ["random", "greedy", "alphabeta"])
    records = [play(store, game) for game in planned(store, finished)]
    tournaments.advance(store, finished, now())
    running = _tournament(store, by, "Running", ["random", "greedy"])
    waiting = planned(store, running)
    records.append(play(store, waiting.pop(0)))
    return Arena(
        server,
        tokens,
        finished,
        running,
        [record.id for record in records],
        [game.id for game in waiting],
    )


def play_abalone(store: Store, moves: tuple[str, ...]) -> GameRecord:
    """Commit a game with real moves from the start position, in a tournament of its own; the second player resigns."""
    by = store.users.find("organiser").id or 0
    game = planned(store, _tournament(store, by, "Real", ["random", "greedy"], "abalone"))[0]
    spec = game.spec
    reason, plies = Termination.RESIGNED, tuple(Ply(ms=1.0) for _ in moves)
    rules = load("abalone").settle(spec.variant, spec.options)
    start = spec.position or rules.write(rules.read())
    record = replace(record_of(game), position=start, moves=moves, plies=plies, detail="")
    return _commit(store, replace(record, winner="first", termination=reason, kind=reason.kind))


def _tournament(store: Store, by: int, name: str, bots: list[str], family: str = "loa") -> int:
    document = {"name": name, "family": family, "games": 4, "time_control": "1+0.01", "entries": {"bots": bots}}
    row = tournaments.create(store, document, by, now())
    assert row.id is not None
    tournaments.plan(store, row.id)
    return row.id


def planned(store: Store, tournament: int) -> list[PlannedGame]:
    """Return the planned games of a tournament."""
    return [waiting.game for waiting in store.queue.waiting(tournament, 100)]


def record_of(game: PlannedGame, *, plies: int = 6) -> GameRecord:
    """Return a made-up record of a planned game: placeholder moves, and a winner by its number."""
    spec = game.spec
    winner = ("first", "second", "draw")[spec.sequence % 3]
    reason = Termination("connection") if winner != "draw" else Termination.REPETITION
    if spec.sequence % 5 == 4 and winner != "draw":
        reason = Termination.CRASHED
    return GameRecord(
        id=game.id,
        family=spec.family,
        variant=spec.variant,
        options=spec.options,
        position=spec.position or "start",
        first=spec.first.name,
        second=spec.second.name,
        winner=winner,  # type: ignore[arg-type]
        termination=reason,
        kind=reason.kind,
        moves=tuple(f"a1a{number}" for number in range(1, plies + 1)),
        plies=tuple(Ply(ms=float(number)) for number in range(1, plies + 1)),
        started=instant(),
        finished=instant(),
        event=spec.event,
        sequence=spec.sequence,
        round=spec.round,
        pair=spec.pair,
        detail="out of memory" if reason.kind is Kind.FORFEIT else "",
        logs={"first": "hello from first", "second": "hello from second"},
    )


def play(store: Store, game: PlannedGame) -> GameRecord:
    """Dispatch a planned game and commit a made-up record of it."""
    return _commit(store, record_of(game))


def _commit(store: Store, record: GameRecord) -> GameRecord:
    store.queue.hand_out([record.id], "test")
    store.queue.start(record.id)
    store.results.commit(record, "test")
    return record


def void_of(game: PlannedGame) -> GameRecord:
    """Return a void record."""
    return replace(record_of(game), winner=None, termination=Termination.WORKER_LOST, kind=Kind.VOID)
