"""`arena tournament`: create, show, watch, control and export tournaments on a server, and enter bots."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from arena.cli.client.route_command import RouteCommand, add_commands
from arena.cli.source import remote
from arena.cli.source.remote import ServerArguments
from arena.cli.terminal import argument, output, text_input
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import Actions, option, positional
from arena.cli.terminal.printer import Output, Printer, output_form
from arena.cli.terminal.standings import (
    bracket_of,
    entries_words,
    plan_words,
    show_bracket,
    show_created,
    show_event,
    show_problems,
    show_table,
    show_tournament,
)
from arena.client import ApiClient, ClientError
from arena.documents.columns import TOURNAMENTS
from arena.documents.tournament import EntryRequest, PriorityRequest, TournamentItem, TournamentQuery
from referee import toml
from referee.tournament.formats import format_named, names

if TYPE_CHECKING:
    from arena.cli.client.schedule import ScheduleArguments


@dataclass(frozen=True, kw_only=True)
class CreateArguments(ServerArguments, Output):
    file: str | None = positional("tournament file; - for stdin", "FILE.toml", default=None)
    check: bool = option(
        "only check the file: list all faults; exit code 1 if there are any", default=False, only_one="choice"
    )
    example: str | None = option(
        f"print an example file: {', '.join(names())}", metavar="FORMAT", choices=names(), only_one="choice"
    )
    watch: bool = option(
        "then print the results of the tournament as they arrive, until it ends", default=False, only_one="choice"
    )


@dataclass(frozen=True, kw_only=True)
class TournamentArguments(ServerArguments, Output):
    tournament: int = positional("number of the tournament", "ID", type=argument.positive)


@dataclass(frozen=True, kw_only=True)
class StandingsArguments(TournamentArguments):
    output: str = output_form("csv")


@dataclass(frozen=True, kw_only=True)
class ChangeTournamentArguments(TournamentArguments):
    file: str = positional("tournament file; - for stdin", "FILE.toml")
    schedule: bool = option("the same as arena schedule change", default=False)


def _extension(text: str) -> dict[str, int]:
    """Parse the number to reach, or with a plus sign the number to add. Raises ArgumentTypeError."""
    return {"amount" if text.startswith("+") else "to": argument.positive(text.removeprefix("+"))}


@dataclass(frozen=True, kw_only=True)
class ExtendArguments(TournamentArguments):
    amount: dict[str, int] = positional(
        "the number to reach: games of each pairing, rounds of a Swiss, or all games of a ladder, a race or a test; "
        "+COUNT to add that number",
        "COUNT",
        type=_extension,
    )


def add(parser: argparse.ArgumentParser) -> None:
    actions = Actions(parser)
    actions.add(
        "create",
        _create,
        "create a tournament from a TOML file; with [schedule] a recurring one",
        "arena tournament create open.toml",
        "arena tournament create weekly.toml --json",
        "arena tournament create --example swiss > open.toml",
        "arena tournament create open.toml --check",
    )
    actions.add(
        "change",
        _change,
        "replace the settings of a tournament that has not started",
        "arena tournament change 7 open.toml",
        "arena tournament change 3 weekly.toml --schedule",
    )
    actions.add(
        "show",
        _show,
        "show a tournament with its standings",
        "arena tournament show 7",
        "arena tournament show 7 -o csv",
    )
    actions.add(
        "extend",
        _extend,
        "extend a tournament; a finished one continues",
        "arena tournament extend 7 6",
        "arena tournament extend 7 +2",
    )
    add_commands(actions, _COMMANDS)


def _create(arguments: CreateArguments) -> int:
    if arguments.example:
        from referee.tournament.toml_text import example

        output.text(example(arguments.example).rstrip("\n"))
        return Exit.DONE
    if arguments.file is None:
        raise CommandError("no FILE.toml given; `arena tournament create --example FORMAT > FILE.toml` makes one")
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
        created = client.ask("POST", f"/{noun}", body=document, headers={"Idempotency-Key": os.urandom(16).hex()}).data
    except ClientError as error:
        show_problems(error.extra.get("errors", []))
        raise CommandError(f"{arguments.file}: {_with_advice(error)}", error.exit) from None
    printer = Printer(arguments)
    if noun == "schedules":
        printer.result(
            created, lambda: output.text(f"schedule {created['id']}: {created['name']}, next at {created['next_fire']}")
        )
        output.note("`arena schedule list` shows all schedules, `arena tournament list` the tournaments they create")
    elif arguments.watch:
        if printer.is_for_people:
            show_created(created)
        final = _follow(client, created["id"], show_event if printer.is_for_people else lambda event: None)
        printer.result(final)
    else:
        printer.result(created, lambda: show_created(created))
        output.note(f"`arena tournament watch {created['id']}` follows it")
    return Exit.DONE


def _with_advice(error: ClientError) -> str:
    """Return the message of a refused document with its advice; one about a bot brings its own after a semicolon."""
    advice = error.hint or ("" if "; " in str(error) else "correct it there")
    return f"{error}; {advice}" if advice else str(error)


def _change(arguments: ChangeTournamentArguments) -> None:
    noun: Literal["schedule", "tournament"] = "schedule" if arguments.schedule else "tournament"
    change_document(arguments, noun, arguments.tournament, arguments.file)


def change_document(
    arguments: TournamentArguments | ScheduleArguments, noun: Literal["schedule", "tournament"], number: int, file: str
) -> None:
    """Replace the document of a tournament or a schedule by that of a file."""
    document, client = _read(file), remote.client(arguments)
    try:
        changed = client.ask("PUT", f"/{noun}s/{number}", body=document).data
    except ClientError as error:
        show_problems(error.extra.get("errors", []))
        problem = f"{noun} {number} is unchanged: {error}; {error.hint or 'see above'}"
        raise CommandError(problem, error.exit) from None
    Printer(arguments).result(changed, lambda: output.text(f"{noun} {changed['id']} is changed: {changed['name']}"))


def _read(file: str) -> dict[str, Any]:
    """Return the content of a TOML file. Raises CommandError."""
    text = text_input.read_text(file)
    try:
        return toml.read_plain(text)
    except toml.TomlError as error:
        raise CommandError(f"{file}: not TOML: {error}; see `arena tournament create --example FORMAT`") from None


def _check(arguments: CreateArguments, document: dict[str, Any]) -> int:
    """Report all faults of a tournament file except unknown bots: only the server knows which bots exist."""
    from referee.tournament.document import problems

    faults = [{"field": problem.field, "message": problem.sentence} for problem in problems(document)]

    def show() -> None:
        if not faults:
            output.text(f"{arguments.file}: no problems; the server checks whether its bots may play")
            return
        show_problems(faults)
        word = "problem" if len(faults) == 1 else "problems"
        raise CommandError(f"{arguments.file}: {len(faults)} {word}; correct them and check again", Exit.FAILED)

    Printer(arguments).result({"ok": not faults, "problems": faults}, show, "problems")
    return Exit.FAILED if faults else Exit.DONE


def _show(arguments: StandingsArguments) -> None:
    client = remote.client(arguments)
    tournament = client.get(f"/tournaments/{arguments.tournament}")
    standings = client.get(f"/tournaments/{arguments.tournament}/standings")

    def show() -> None:
        show_tournament(tournament)
        show_table(tournament, standings)
        if format_named(tournament["format"]).has_bracket:
            output.text("")
            games = client.pages(f"/tournaments/{arguments.tournament}/games")
            seeds = {line["name"]: line["seed"] for line in standings["items"]}
            show_bracket(bracket_of(games, standings["items"], is_final=standings["is_final"]), seeds)

    more = {key: standings.get(key) for key in ("strengths", "findings")}
    Printer(arguments).result({**tournament, "standings": standings["items"], **more}, show, "standings")


def _follow(client: ApiClient, number: int, tell: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Call `tell` with every event of a tournament until it ends; return its final state."""
    for event in client.events(f"/tournaments/{number}/stream"):
        tell(event)
    return client.get(f"/tournaments/{number}")


def _extend(arguments: ExtendArguments) -> None:
    path = f"/tournaments/{arguments.tournament}/extend"
    found = remote.client(arguments).ask("POST", path, body=arguments.amount).data
    line = f"tournament {found['id']} is {found['state']}: {plan_words(found['format'], found['plan'])}"
    Printer(arguments).result(found, lambda: output.text(line))


_COMMANDS = (
    RouteCommand(
        "list",
        "GET /tournaments",
        "list all tournaments, latest first",
        ("arena tournament list --state running",),
        query=TournamentQuery,
        item=TournamentItem,
        columns=TOURNAMENTS,
        empty="no tournaments; `arena tournament create --help` shows how",
        limit=50,
    ),
    RouteCommand(
        "watch",
        "GET /tournaments/{tournament}/stream",
        "print the results of a tournament as they arrive",
        ("arena tournament watch 7",),
        show=show_event,
    ),
    RouteCommand(
        "export",
        "GET /tournaments/{tournament}/games",
        "export the records of all games of a tournament",
        (
            "arena tournament export 7 > games.ndjson",
            "arena tournament export 7 --output text --output-file games.txt",
            "arena tournament export 7 -o csv > games.csv",
        ),
        forms=remote.RECORDS,
    ),
    *(
        RouteCommand(
            verb,
            f"POST /tournaments/{{tournament}}/{verb}",
            text,
            (f"arena tournament {verb} 7",),
            note=lambda tournament: f"tournament {tournament['id']} is {tournament['state']}",
        )
        for verb, text in (
            ("start", "start a tournament now"),
            ("pause", "stop the running games; they are played again after resume"),
            ("drain", "finish the running games, then pause"),
            ("resume", "resume a paused tournament"),
            ("cancel", "end a tournament for good; its results stay"),
        )
    ),
    RouteCommand(
        "enter",
        "POST /tournaments/{tournament}/entries",
        "enter a bot before the start, into a running ladder, or for the next round of a Swiss",
        ("arena tournament enter 7 mybot",),
        body=EntryRequest,
        note=entries_words,
    ),
    RouteCommand(
        "withdraw",
        "POST /tournaments/{tournament}/withdraw",
        "withdraw a bot; its planned games are cancelled",
        ("arena tournament withdraw 7 mybot", 'arena tournament withdraw 7 "mybot v2"'),
        body=EntryRequest,
        note=entries_words,
    ),
    RouteCommand(
        "priority",
        "POST /tournaments/{tournament}/priority",
        "set the priority; 5 more is twice as many games as another running tournament",
        ("arena tournament priority 7 10",),
        body=PriorityRequest,
        note=lambda tournament: f"tournament {tournament['id']} has priority {tournament['priority']}",
    ),
)
