"""`arena tournament`: create, show, watch, control and export tournaments on a server, and enter bots."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

from arena.cli.client.standings import show as show_standings
from arena.cli.client.standings import show_bracket, show_race, show_rules, show_verdict
from arena.cli.source import remote
from arena.cli.terminal import argument, output, text_input
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output
from arena.cli.terminal.query_options import add_options, read_options
from arena.cli.terminal.result_statistics import show as show_findings
from arena.client import ApiClient, ClientError
from arena.documents.tournament import TournamentQuery
from referee.machine import toml

_VERBS = {
    "start": "start a tournament now",
    "pause": "stop the running games; they are played again after resume",
    "drain": "finish the running games, then pause",
    "resume": "resume a paused tournament",
    "cancel": "end a tournament for good; its results stay",
}
FORMATS = ("round-robin", "gauntlet", "swiss", "knockout", "ladder", "race", "sprt")
FORMS = {"ndjson": "application/x-ndjson", "text": "text/plain", "csv": "application/x-ndjson"}


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    actions = Actions(parser)

    create = actions.add(
        "create",
        _create,
        "create a tournament from a TOML file; with [schedule] a recurring one",
        "arena tournament create open.toml",
        "arena tournament create weekly.toml --json",
        "arena tournament create --example swiss > open.toml",
        "arena tournament create open.toml --check",
    )
    create.add_argument("file", metavar="FILE.toml", nargs="?", help="tournament file; - for stdin")
    what = create.add_mutually_exclusive_group()
    what.add_argument(
        "--check", action="store_true", help="only check the file: list all faults; exit code 1 if there are any"
    )
    what.add_argument(
        "--example", choices=FORMATS, metavar="FORMAT", help=f"print an example file: {', '.join(FORMATS)}"
    )
    what.add_argument(
        "--watch", action="store_true", help="then print the results of the tournament as they arrive, until it ends"
    )

    change = actions.add(
        "change",
        _change,
        "replace the settings of a tournament that has not started",
        "arena tournament change 7 open.toml",
        "arena tournament change 3 weekly.toml --schedule",
    )
    change.add_argument("id", metavar="ID", type=argument.positive, help="number of the tournament")
    change.add_argument("file", metavar="FILE.toml", help="tournament file; - for stdin")
    change.add_argument(
        "--schedule", action="store_true", help="ID is the number of a schedule: change its future tournaments"
    )

    listing = actions.add("list", _list, "list all tournaments, latest first", "arena tournament list --state running")
    add_options(listing, TournamentQuery)
    listing.add_argument(
        "--limit",
        metavar="COUNT",
        type=argument.positive,
        default=50,
        help="list at most COUNT tournaments (default 50)",
    )

    show = actions.add(
        "show",
        _show,
        "show a tournament with its standings",
        "arena tournament show 7",
        "arena tournament show 7 -o csv",
    )
    watch = actions.add("watch", _watch, "print the results of a tournament as they arrive", "arena tournament watch 7")
    export = actions.add(
        "export",
        _export,
        "export the records of all games of a tournament",
        "arena tournament export 7 > games.ndjson",
        "arena tournament export 7 --output text --output-file games.txt",
        "arena tournament export 7 -o csv > games.csv",
    )
    remote.add_file(export, FORMS)
    verbs = [actions.add(verb, _move, meaning, f"arena tournament {verb} 7") for verb, meaning in _VERBS.items()]
    for command in (show, watch, export, *verbs):
        command.add_argument("id", metavar="ID", type=argument.positive, help="number of the tournament")
    enter = actions.add(
        "enter", _enter, "enter a bot before the start, or into a running ladder", "arena tournament enter 7 mybot"
    )
    withdraw = actions.add(
        "withdraw",
        _enter,
        "withdraw a bot; its planned games are cancelled",
        "arena tournament withdraw 7 mybot",
        'arena tournament withdraw 7 "mybot v2"',
    )
    extend = actions.add(
        "extend",
        _extend,
        "extend a tournament; a finished one continues",
        "arena tournament extend 7 6",
        "arena tournament extend 7 +2",
    )
    priority = actions.add(
        "priority",
        _prioritise,
        "set the priority; games of higher priority are played first",
        "arena tournament priority 7 10",
    )
    for command in (enter, withdraw, extend, priority):
        command.add_argument("id", metavar="ID", type=argument.positive, help="number of the tournament")
    for command in (enter, withdraw):
        command.add_argument("bot", metavar="BOT", help='name of the bot, or of a version as in standings: "mybot v2"')
        command.add_argument(
            "--version",
            dest="number",
            metavar="NUMBER",
            type=argument.positive,
            help="version of the bot (default: its newest)",
        )
    extend.add_argument(
        "amount",
        metavar="COUNT",
        type=_extension,
        help="the number to reach: games of each pairing, rounds of a Swiss, or all games of a ladder, a race or a "
        "test; +COUNT to add that number",
    )
    priority.add_argument(
        "priority", metavar="NUMBER", type=int, help="priority from -100 to 100 (default of tournaments: 0)"
    )
    for command in (create, change, enter, withdraw, extend, priority, *verbs):
        add_output(command)
    add_output(show, "csv")
    add_output(listing, "csv")
    add_output(watch)
    for command in (create, change, enter, withdraw, extend, priority, *verbs, show, export, listing, watch):
        remote.add_server(command)


def _create(arguments: argparse.Namespace) -> int:
    if arguments.example:
        from arena.tournaments.example import example

        output.text(example(arguments.example).rstrip("\n"))
        return Exit.DONE
    if arguments.file is None:
        raise CommandError('no FILE.toml given; "arena tournament create --example FORMAT > FILE.toml" makes one')
    document = _read(arguments.file)
    if arguments.check:
        return _check(arguments, document)
    client = remote.client(arguments)
    noun = "schedules" if "schedule" in document else "tournaments"
    if arguments.watch and noun == "schedules":
        raise CommandError(
            f"{arguments.file}: a schedule has nothing to --watch; remove --watch, or the table [schedule]"
        )
    try:
        found = client.ask("POST", f"/{noun}", body=document, headers={"Idempotency-Key": os.urandom(16).hex()}).data
    except ClientError as error:
        _show_problems(error.extra.get("errors", []))
        raise CommandError(f"{arguments.file}: {error}; {error.hint or 'correct it there'}", error.exit) from None
    printer = Printer(arguments)
    if noun == "schedules":
        printer.result(
            found, lambda: output.text(f"schedule {found['id']}: {found['name']}, next at {found['next_fire']}")
        )
        output.note('"arena schedule list" shows all schedules, "arena tournament list" the tournaments they create')
    elif arguments.watch:
        if printer.is_for_people:
            _show_created(found)
        final = _follow(client, found["id"], _event if printer.is_for_people else lambda event: None)
        printer.result(final)
    else:
        printer.result(found, lambda: _show_created(found))
        output.note(f'"arena tournament watch {found["id"]}" follows it')
    return Exit.DONE


def _show_created(found: dict[str, Any]) -> None:
    output.text(f"tournament {found['id']}: {found['name']}, {found['state']}, {len(found['entries'])} entries")


def _change(arguments: argparse.Namespace) -> int:
    noun = "schedule" if arguments.schedule else "tournament"
    document, client = _read(arguments.file), remote.client(arguments)
    try:
        found = client.ask("PUT", f"/{noun}s/{arguments.id}", body=document).data
    except ClientError as error:
        _show_problems(error.extra.get("errors", []))
        problem = f"{noun} {arguments.id} is unchanged: {error}; {error.hint or 'see above'}"
        raise CommandError(problem, error.exit) from None
    Printer(arguments).result(found, lambda: output.text(f"{noun} {found['id']} is changed: {found['name']}"))
    return Exit.DONE


def _read(file: str) -> dict[str, Any]:
    """Return the content of a TOML file. Raises CommandError."""
    text = text_input.read_text(file)
    try:
        return toml.read_plain(text)
    except toml.TomlError as error:
        raise CommandError(f"{file}: not TOML: {error}; see `arena tournament create --example FORMAT`") from None


def _check(arguments: argparse.Namespace, document: dict[str, Any]) -> int:
    """Report all faults of a tournament file except unknown bots: only the server knows which bots exist."""
    from arena.tournaments import problems

    found = [{"field": one.field, "message": one.sentence} for one in problems(document)]

    def show() -> None:
        if not found:
            output.text(f"{arguments.file}: no problems; the server checks whether its bots may play")
            return
        _show_problems(found)
        word = "problem" if len(found) == 1 else "problems"
        raise CommandError(f"{arguments.file}: {len(found)} {word}; correct them and check again", Exit.FAILED)

    Printer(arguments).result({"ok": not found, "problems": found}, show, "problems")
    return Exit.FAILED if found else Exit.DONE


def _show_problems(found: list[dict[str, str]]) -> None:
    output.text(*(f"  {one['field'] or 'the file'}: {one['message']}" for one in found))


def _list(arguments: argparse.Namespace) -> int:
    client = remote.client(arguments)
    items = client.pages("/tournaments", arguments.limit, **read_options(arguments, TournamentQuery))
    columns = (
        ("id", "id"),
        ("name", "name"),
        ("family", "family"),
        ("format", "format"),
        ("state", "state"),
        ("games", "finished_games"),
        ("of", "planned_games"),
        ("start_time", "starts"),
    )
    Printer(arguments).rows(
        items,
        columns,
        empty='no tournaments; "arena tournament create --help" shows how',
        drop=("starts", "of", "format", "family"),
    )
    return Exit.DONE


def _show(arguments: argparse.Namespace) -> int:
    client = remote.client(arguments)
    found = client.get(f"/tournaments/{arguments.id}")
    standings = client.get(f"/tournaments/{arguments.id}/standings")

    def show() -> None:
        _tell(found)
        _show_table(found, standings)
        if found["format"] == "knockout":
            output.text("")
            show_bracket(client.pages(f"/tournaments/{arguments.id}/games"))

    more = {key: standings.get(key) for key in ("strengths", "findings")}
    Printer(arguments).result({**found, "standings": standings["items"], **more}, show, "standings")
    return Exit.DONE


def _show_table(tournament: dict[str, Any], standings: dict[str, Any]) -> None:
    show_standings(tournament["format"], standings["items"])
    show_rules(standings.get("rules", []))
    if standings.get("race"):
        show_race(standings["race"], tournament["settings"]["race"])
    if standings.get("verdict"):
        show_verdict(standings["verdict"], tournament["settings"]["sprt"])
    show_findings(standings["strengths"] if standings["is_final"] else {}, standings.get("findings"))


def _tell(found: dict[str, Any]) -> None:
    output.text(
        f"{found['name']}: {found['family']} {found['variant']}, {found['format']}, {found['state']}, "
        f"{found['finished_games']} of {found['planned_games']} games"
        + (f", priority {found['priority']}" if found.get("priority") else "")
    )
    if found["problem"]:
        output.text(found["problem"])


def _watch(arguments: argparse.Namespace) -> int:
    remote.follow(arguments, f"/tournaments/{arguments.id}/stream", _event)
    return Exit.DONE


def _follow(client: ApiClient, number: int, tell: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Call `tell` with every event of a tournament until it ends; return its final state."""
    for event in client.events(f"/tournaments/{number}/stream"):
        tell(event)
    found: dict[str, Any] = client.get(f"/tournaments/{number}")
    return found


def _event(event: dict[str, Any]) -> None:
    if event["event"] == "game":
        game = event["game"]
        result = {"first": "1-0", "second": "0-1", "draw": "½-½"}.get(game["winner"], "void")
        why = f"{game['termination']}" + (f": {game['detail']}" if game["termination_class"] == "forfeit" else "")
        output.text(f"{game['sequence']:>5}  {game['first']} - {game['second']}  {result}  {why}")
        return
    _tell(event["tournament"])
    if event["event"] == "final":
        show_standings(event["tournament"]["format"], event["standings"])


def _export(arguments: argparse.Namespace) -> int:
    remote.save(arguments, f"/tournaments/{arguments.id}/games", FORMS)
    return Exit.DONE


def _enter(arguments: argparse.Namespace) -> int:
    """Enter a version of a bot into a tournament, or withdraw it."""
    path = "entries" if arguments.action == "enter" else "withdraw"
    wish = {"bot": arguments.bot, **({"number": arguments.number} if arguments.number else {})}
    found = remote.client(arguments).ask("POST", f"/tournaments/{arguments.id}/{path}", body=wish).data
    playing = [entry["name"] for entry in found["entries"] if not entry["withdrawn"]]
    line = f"tournament {found['id']}: {len(playing)} entries: {', '.join(playing)}"
    Printer(arguments).result(found, lambda: output.note(line))
    return Exit.DONE


def _extension(text: str) -> dict[str, int]:
    """Parse the number to reach, or with a plus sign the number to add. Raises ArgumentTypeError."""
    return {"amount" if text.startswith("+") else "to": argument.positive(text.removeprefix("+"))}


def _extend(arguments: argparse.Namespace) -> int:
    path = f"/tournaments/{arguments.id}/extend"
    found = remote.client(arguments).ask("POST", path, body=arguments.amount).data
    line = f"tournament {found['id']} is {found['state']}: {_plan(found['format'], found['plan'])}"
    Printer(arguments).result(found, lambda: output.text(line))
    return Exit.DONE


def _plan(form: str, plan: dict[str, Any]) -> str:
    """Describe the plan of an extended tournament, beginning with the number that was extended."""
    words = [f"{plan['rounds']} rounds"] if plan["rounds"] else []
    if plan["games_per_pairing"]:
        words.insert(len(words) if form == "swiss" else 0, f"{plan['games_per_pairing']} games of each pairing")
    words.append(f"{'at most ' if plan['is_most'] else ''}{plan['games']} games in all")
    return ", ".join(words)


def _prioritise(arguments: argparse.Namespace) -> int:
    body = {"priority": arguments.priority}
    found = remote.client(arguments).ask("POST", f"/tournaments/{arguments.id}/priority", body=body).data
    line = f"tournament {found['id']} has priority {found['priority']}"
    Printer(arguments).result(found, lambda: output.note(line))
    return Exit.DONE


def _move(arguments: argparse.Namespace) -> int:
    client = remote.client(arguments)
    found = client.ask("POST", f"/tournaments/{arguments.id}/{arguments.action}").data
    Printer(arguments).result(found, lambda: output.note(f"tournament {found['id']} is {found['state']}"))
    return Exit.DONE
