"""A database the size of a league: thousands of versions, up to a million finished games, made in SQL within a minute.

Kept under the system's temporary folder from one run to the next. The games are made up, but for one short real game
per family, which is the record of all of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from arena.store import Store
from arena.store.base import schema
from arena.store.games.commit import pack
from referee.game.record import GameRecord, Ply
from referee.game.spec import BotSpec, GameSpec
from referee.rules import families, load
from referee.rules.core import Termination
from referee.rules.position import Position

ENTRIES = 100
"""Versions in a tournament; everybody meets everybody, so a tournament has as many games as the square of that."""
PLIES = 60
VERSIONS_EACH = 2
CROWD = "loa/crowd"
"""A pool with all versions in it."""


@dataclass(frozen=True, slots=True)
class League:
    """A built database: `tournaments` of so many `entries` each, a hundred unless told otherwise."""

    path: Path
    tournaments: int
    entries: int = ENTRIES

    @property
    def url(self) -> str:
        """For `Store`."""
        return f"sqlite:///{self.path}"

    @property
    def games(self) -> int:
        """How many there are."""
        return self.tournaments * self.entries**2

    @property
    def versions(self) -> int:
        """How many there are."""
        return self.tournaments * self.entries


def folder() -> Path:
    """Where built databases are kept, a folder of this user alone."""
    found = Path(tempfile.gettempdir()) / f"bot-arena-bench-{os.getuid()}"
    found.mkdir(mode=0o700, exist_ok=True)
    return found


def open_league(tournaments: int, entries: int = ENTRIES) -> League:
    """The league of that size, built on first use."""
    mark = hashlib.sha256(Path(__file__).read_bytes() + schema.head().encode()).hexdigest()[:12]
    path = folder() / f"league-{tournaments}-{entries}-{mark}.sqlite3"
    if not path.exists():
        for old in folder().glob(f"league-{tournaments}-{entries}-*"):
            old.unlink()
        raw = path.with_suffix(".part")
        raw.unlink(missing_ok=True)
        _build(raw, tournaments, entries)
        raw.rename(path)
    return League(path, tournaments, entries)


def _build(path: Path, tournaments: int, entries: int) -> None:
    store = Store(f"sqlite:///{path}")
    store.upgrade()
    store.users.add("owner", "author")
    store.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-400000", "foreign_keys=OFF"):
            base.execute(f"PRAGMA {pragma}")
        big = "type = 'index' AND sql IS NOT NULL AND tbl_name IN ('games', 'rating_changes', 'ratings', 'entries')"
        indexes = base.execute(f"SELECT name, sql FROM sqlite_master WHERE {big}").fetchall()
        for name, _ in indexes:
            base.execute(f"DROP INDEX {name}")
        base.execute("BEGIN")
        _people(base, tournaments * entries)
        for number in range(1, tournaments + 1):
            _tournament(base, number, families()[number % len(families())], entries)
        _crowd(base)
        base.execute("UPDATE counters SET value = ? WHERE name = 'commit'", (tournaments * entries**2,))
        base.execute("COMMIT")
        for _, sql in indexes:
            base.execute(sql)
        base.execute("PRAGMA journal_mode=WAL")


def _people(base: sqlite3.Connection, versions: int) -> None:
    when = "'2026-01-01 00:00:00'"
    bots = versions // VERSIONS_EACH
    base.execute(
        f"""WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < {bots})
        INSERT INTO bots (id, name, owner_id, description, is_retired, plays_people, created_at)
        SELECT i, 'bot' || i, 1, 'made up', 0, 0, {when} FROM n"""
    )
    base.execute(
        f"""WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < {versions})
        INSERT INTO versions (id, bot_id, number, name, bundle, size_bytes, file, capabilities,
            state, report, log, problem, place, created_at)
        SELECT i, (i - 1) / {VERSIONS_EACH} + 1, (i - 1) % {VERSIONS_EACH} + 1,
            'bot' || ((i - 1) / {VERSIONS_EACH} + 1) || ' v' || ((i - 1) % {VERSIONS_EACH} + 1),
            '', 1000, '{{"command": ["./bot"]}}', '{{}}', 'active', '{{}}', '', '', '', {when} FROM n"""
    )


def _tournament(base: sqlite3.Connection, number: int, family: str, entries: int) -> None:
    when = f"datetime('2026-01-01', '+{number} days')"
    variant = load(family).variants[0].name
    games = entries**2
    low, commits = (number - 1) * entries, (number - 1) * games
    names = [f"bot{(low + seat) // VERSIONS_EACH + 1} v{seat % VERSIONS_EACH + 1}" for seat in range(entries)]
    document = {"name": f"League {number}", "family": family, "games": 2, "entries": {"bots": names}}
    settings = json.dumps(document)
    base.execute(
        f"""INSERT INTO tournaments (id, name, family, variant, options, format, settings, pool, is_rated, state,
            problem, start_time, started_at, finished_at, planned_games, later_games, finished_games, created_by,
            created_at)
        VALUES (?, ?, ?, ?, '{{}}', 'round-robin', ?, ?, 1, 'finished', '', {when}, {when}, {when}, ?, 0, ?, 1,
            {when})""",
        (number, f"League {number}", family, variant, settings, family, games, games),
    )
    numbers = "WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < {})"
    base.execute(
        numbers.format(entries - 1)
        + f""" INSERT INTO version_families (version_id, family, variants)
        SELECT {low} + i + 1, ?, ? FROM n""",
        (family, json.dumps([variant])),
    )
    base.execute(
        numbers.format(entries - 1)
        + f""" INSERT INTO entries (tournament_id, version_id, seat, eligibility, suspended)
        SELECT {number}, {low} + i + 1, i, 'named', '' FROM n"""
    )
    record = short_game(family)
    spec = GameSpec(family, variant, BotSpec("@1", ("./bot",)), BotSpec("@2", ("./bot",)))
    # Ids are hashes in an arena: here an odd multiplier scatters the numbers, so that the index is as wide.
    base.execute(
        numbers.format(games - 1)
        + f""", g AS (SELECT i, {commits} + i + 1 AS c, {low} + 1 + i / {entries} AS a,
            {low} + 1 + (i % {entries} + (i % {entries} = i / {entries})) % {entries} AS b, (i * 7) % 10 AS r FROM n)
        INSERT INTO games (id, tournament_id, sequence, round, pair, family, pool, variant, first_id, second_id, first,
            second, spec, is_rated, state, attempt, lease_owner, worker, started_at, finished_at, commit_number, winner,
            termination, termination_class, detail, plies)
        SELECT printf('%08x%024x', (c * 2654435761) % 4294967296, c), {number}, i + 1, i / {entries} + 1, i / 2 + 1,
            ?, ?, ?, a, b, v.name, w.name, replace(replace(?, '@1', v.name), '@2', w.name), 1, 'finished', 1, 'made up',
            '', {when}, {when}, c, CASE WHEN r < 5 THEN 'first' WHEN r < 9 THEN 'second' ELSE 'draw' END,
            CASE WHEN r = 0 THEN 'crashed' WHEN r = 9 THEN 'repetition' ELSE ? END,
            CASE WHEN r = 0 THEN 'forfeit' ELSE 'rules' END, '', {PLIES}
        FROM g JOIN versions v ON v.id = a JOIN versions w ON w.id = b""",
        (family, family, variant, json.dumps(asdict(spec)), record.termination.value),
    )
    base.execute(
        f"INSERT INTO records (game_id, data) SELECT id, ? FROM games WHERE commit_number > {commits}", (pack(record),)
    )
    strength = "25 + (({version} * 7919) % 1000) / 100.0"
    for side in ("first_id", "second_id"):
        mu = strength.format(version=side)
        base.execute(
            f"""INSERT INTO rating_changes (game_id, version_id, pool, commit_number, wins, draws, losses, forfeits,
                opposition, mu_before, sigma_before, mu, sigma)
            SELECT id, {side}, ?, commit_number, 90, 20, 90, 4, 6000.0, {mu}, 1.5, {mu} + 0.01, 1.49 FROM games
            WHERE commit_number > {commits}""",
            (family,),
        )
    mu = strength.format(version="n.i")
    base.execute(
        f"""WITH RECURSIVE n(i) AS (VALUES ({low + 1}) UNION ALL SELECT i + 1 FROM n WHERE i < {low + entries})
        INSERT INTO ratings (pool, version_id, mu, sigma, conservative, games, wins, draws, losses, forfeits,
            opposition, last)
        SELECT ?, i, {mu}, 1.5, {mu} - 4.5, {2 * entries}, {entries} - 10, 20, {entries} - 10, 4, 6000.0,
            {commits + games} FROM n""",
        (family,),
    )


def _crowd(base: sqlite3.Connection) -> None:
    """A pool in which every version has a rating since the first game, a fifth of them provisional."""
    sigma = "CASE id % 5 WHEN 0 THEN 6.0 ELSE 1.5 END"
    mu = "25 + ((id * 7919) % 10000) / 1000.0"
    base.execute(
        f"""INSERT INTO ratings (pool, version_id, mu, sigma, conservative, games, wins, draws, losses, forfeits,
            opposition, last)
        SELECT ?, id, {mu}, {sigma}, {mu} - 3 * {sigma}, 200, 90, 20, 90, 4, 6000.0, 1 FROM versions""",
        (CROWD,),
    )
    base.execute("UPDATE games SET pool = ? WHERE commit_number = 1", (CROWD,))
    base.execute(
        """INSERT OR IGNORE INTO rating_changes (game_id, version_id, pool, commit_number, wins, draws, losses,
            forfeits, opposition, mu_before, sigma_before, mu, sigma)
        SELECT g.id, r.version_id, r.pool, 1, r.wins, r.draws, r.losses, 4, 6000.0, r.mu, r.sigma, r.mu, r.sigma
        FROM ratings r JOIN games g ON g.commit_number = 1 WHERE r.pool = ?""",
        (CROWD,),
    )


def short_game(family: str) -> GameRecord:
    """A record of a real game of sixty plies, as if both bots had agreed to a draw then."""
    ruleset = load(family).settle()
    for seed in range(1000):
        rng, position = random.Random(seed), Position.start(ruleset)
        moves: list[str] = []
        start = str(position)
        while len(moves) < PLIES and position.outcome is None:
            code = rng.choice(position.moves)
            moves.append(ruleset.rules.notation.write_move(code))
            position = position.play(code)
        if len(moves) == PLIES:
            break
    plies = tuple(Ply(ms=round(rng.random() * 900, 2), score=rng.randrange(-200, 200)) for _ in moves)
    at = "2026-01-01T00:00:00+00:00"
    reason = Termination.MAX_PLIES
    return GameRecord(
        id="0" * 32,
        family=family,
        variant=ruleset.variant.name,
        options={},
        position=start,
        first="bot1 v1",
        second="bot2 v1",
        winner="draw",
        termination=reason,
        kind=reason.kind,
        moves=tuple(moves),
        plies=plies,
        started=at,
        finished=at,
    )
