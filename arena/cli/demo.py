"""`arena demo`: the main job on embedded defaults: sample bots play every family, are rated, and shown on pages."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from arena.cli import output
from arena.cli.exit import CommandError, Exit
from arena.cli.play import Interrupts, report, show_crosstable
from arena.contender import SAMPLES
from arena.models import Tournament, Version
from arena.store import Store
from referee.dispatch import Dispatcher
from referee.fallback import choose
from referee.games import families, load
from referee.pool import SlotPool
from referee.ratings import pool_of
from referee.record import GameRecord
from referee.schedule import Plan, openings, schedule
from referee.spec import Adjudication, BotSpec, GameSpec, Limits, read_time_control
from referee.standings import crosstable

MAX_PLIES = 200
"""The demo draws games longer than that, so that no family keeps a visitor waiting."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--once", action="store_true", help="exit after the tournament, serve no pages")
    parser.add_argument("--games", type=int, default=2, metavar="N", help="games per pairing (default 2)")
    parser.add_argument("--tc", default="0.5+0.02", metavar="TC", help="time control (default 0.5+0.02)")
    parser.add_argument("--family", action="append", metavar="F", help="only this family; may be repeated")
    parser.add_argument("--concurrency", type=int, default=os.cpu_count() or 1, metavar="C", help="games at once")
    parser.add_argument("--data", type=Path, default=Path("data"), metavar="DIR", help="data folder (default ./data)")
    parser.add_argument("--bind", default="127.0.0.1", metavar="HOST", help="address of the pages")
    parser.add_argument("--port", type=int, default=8000, metavar="PORT", help="port of the pages (default 8000)")


def run(arguments: argparse.Namespace) -> int:
    """Warm up, play, print, serve."""
    if arguments.games < 1 or arguments.concurrency < 1:
        raise CommandError("--games and --concurrency must be at least 1")
    names = arguments.family or list(families())
    rulesets = {name: load(name).settle() for name in names}
    control = read_time_control(arguments.tc)
    store = Store.in_folder(arguments.data)
    try:
        event = f"demo {datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
        games: list[GameSpec] = []
        warm_up(names, arguments.concurrency)
        versions = _samples(store)
        tournaments: dict[str, int] = {}
        for name, ruleset in rulesets.items():
            plan = Plan(
                ruleset=ruleset,
                bots=tuple(_spec(version, name) for version in versions),
                openings=tuple(openings(ruleset, "auto", (arguments.games + 1) // 2, seed=1)),
                games=arguments.games,
                time=control,
                adjudication=Adjudication(max_plies=MAX_PLIES),
                limits=replace(Limits(), margin_ms=50),
                event=f"{event}, {name}",
            )
            specs = schedule(plan)
            tournaments[name] = _plan(store, plan, specs, versions)
            games += specs
        output.note(f"{len(games)} games, {arguments.concurrency} at once")
        is_complete = _play(games, store, arguments.concurrency)
        for name in names:
            if is_complete:
                store.tournaments.move(tournaments[name], "finished")
            _show(store, name, tournaments[name])
        wrong = store.ratings.check()
        if wrong:
            raise CommandError(f"the stored ratings do not follow from the games: {wrong[0]}", Exit.FAILED)
        if not is_complete:
            return Exit.INTERRUPTED
        if not arguments.once:
            _serve(store, arguments.data, arguments.bind, arguments.port)
        return Exit.DONE
    finally:
        store.close()


def warm_up(names: list[str], jobs: int) -> None:
    """Compile what is not compiled yet, with a line of progress per family."""
    from arena.cli import warmup

    output.note("kernels and searches (compiled once, then cached):")
    warmup.run(argparse.Namespace(families=names, jobs=jobs, bots=True, json=False))


def _samples(store: Store) -> list[Version]:
    """The sample bots of the arena, made if need be."""
    variants = {name: tuple(variant.name for variant in load(name).variants) for name in families()}
    return list(store.bots.ensure_samples(SAMPLES, variants).values())


def _spec(version: Version, family: str) -> BotSpec:
    command = tuple(word.replace("{family}", family) for word in version.command)
    return BotSpec(version.name, command, options=tuple(version.options.items()))


def _plan(store: Store, plan: Plan, specs: list[GameSpec], versions: list[Version]) -> int:
    """Store the tournament with all its games, running; its number."""
    user = store.users.get(store.bots.get(versions[0].bot_id).owner_id)
    tournament = store.tournaments.add(
        Tournament(
            name=plan.event,
            family=plan.ruleset.rules.family,
            variant=plan.ruleset.variant.name,
            format=plan.format,
            pool=pool_of(plan.ruleset),
            starts=datetime.now(UTC),
            created_by=user.id or 0,
        ),
        [(version.id or 0, "a sample bot plays everything") for version in versions],
    )
    assert tournament.id is not None
    store.games.plan(tournament.id, specs, {version.name: version.id or 0 for version in versions})
    store.tournaments.move(tournament.id, "running")
    return tournament.id


def _here(spec: GameSpec) -> GameSpec:
    """The game as this machine plays it: `python` is this interpreter."""

    def run(bot: BotSpec) -> BotSpec:
        return replace(bot, command=(sys.executable, *bot.command[1:])) if bot.command[0] == "python" else bot

    return replace(spec, first=run(spec.first), second=run(spec.second))


def _play(games: list[GameSpec], store: Store, concurrency: int) -> bool:
    done = 0
    local = {_here(game).id: game.id for game in games}

    def keep(record: GameRecord) -> None:
        nonlocal done
        store.games.commit(replace(record, id=local[record.id]))
        done += 1
        report(record, done, len(games), wants_logs=False)

    sandbox, notes = choose("auto", [_here(game).first for game in games[:1]], Limits())
    output.note(*notes, f"bots run in sandbox {sandbox.name}")
    pool = SlotPool(concurrency, sandbox=sandbox.name, spare=len(SAMPLES) - 2)
    dispatcher = Dispatcher(pool, 2 * concurrency, keep)
    with Interrupts(dispatcher, pool):
        try:
            dispatcher.run([_here(game) for game in games])
        finally:
            pool.shutdown()
    return done == len(games)


def _show(store: Store, family: str, tournament_id: int) -> None:
    results = store.games.results(tournament_id=tournament_id)
    lines = store.ratings.leaderboard(family, limit=100).items
    output.text("", f"{load(family).title}: leaderboard (rating = mu - 3 sigma, TrueSkill)")
    output.table(
        ("#", "bot", "rating", "mu", "±2σ", "games", "W", "D", "L"),
        [
            (
                str(line.place),
                line.name,
                f"{line.conservative:.2f}",
                f"{line.mu:.2f}",
                f"{2 * line.sigma:.2f}",
                *(str(number) for number in (line.games, line.wins, line.draws, line.losses)),
            )
            for line in lines
        ],
        numbers=("#", "rating", "mu", "±2σ", "games", "W", "D", "L"),
    )
    names = list(dict.fromkeys(name for result in results for name in (result.first, result.second)))
    show_crosstable(crosstable(results, names))


def _serve(store: Store, data: Path, host: str, port: int) -> None:
    from aiohttp import web

    from arena import log
    from arena.config import read_settings
    from arena.web.app import build, services_of

    settings = read_settings(data=data)
    log.configure(settings.log_format, "warning")
    output.note(f"pages at http://{host}:{port} (Ctrl-C ends)")
    try:
        web.run_app(build(services_of(store, settings)), host=host, port=port, print=None, access_log=None)
    except OSError as error:
        raise CommandError(
            f"cannot serve on {host}:{port}: {error.strerror}; take another --port", Exit.FAILED
        ) from None
