"""`arena schedule list|show|preview|change|enable|disable|delete`: manage the recurring tournaments of a server."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from arena.cli.client.route_command import RouteCommand, add_commands
from arena.cli.client.tournament import change_document
from arena.cli.source import remote
from arena.cli.source.remote import ServerArguments
from arena.cli.terminal import argument, output
from arena.cli.terminal.fields import Actions, positional
from arena.cli.terminal.printer import Output, Printer, read_document
from arena.documents.schedule import PreviewedTournament, PreviewQuery, ScheduleItem
from arena.documents.table import Column, text_column

_COLUMNS: tuple[Column[ScheduleItem], ...] = (
    Column("id", "No.", lambda row: row.id),
    text_column("name", "Name", lambda row: row.name),
    text_column("cron", "Cron", lambda row: row.cron),
    text_column("timezone", "Time zone", lambda row: row.timezone, drop=1),
    text_column("is_enabled", "Enabled", lambda row: row.is_enabled),
    text_column("next_fire", "Next", lambda row: row.next_fire),
)
_PREVIEW: tuple[Column[PreviewedTournament], ...] = (
    text_column("starts", "Start", lambda row: f"{row.starts:%a %Y-%m-%d %H:%M %z}"),
    text_column("name", "Name", lambda row: row.name),
)


@dataclass(frozen=True, kw_only=True)
class ScheduleArguments(ServerArguments, Output):
    schedule: int = positional("number of the schedule", "ID", type=argument.positive)


@dataclass(frozen=True, kw_only=True)
class ChangeScheduleArguments(ScheduleArguments):
    file: str = positional("tournament file with a table [schedule]; - for stdin", "FILE.toml")


def add(parser: argparse.ArgumentParser) -> None:
    actions = Actions(parser)
    add_commands(actions, _COMMANDS)
    actions.add(
        "change",
        _change,
        "replace the settings of a schedule; tournaments it has created stay",
        "arena schedule change 2 weekly.toml",
    )
    actions.add("delete", _delete, "delete a schedule; tournaments it has created stay", "arena schedule delete 2")


def _change(arguments: ChangeScheduleArguments) -> None:
    change_document(arguments, "schedule", arguments.schedule, arguments.file)


def _delete(arguments: ScheduleArguments) -> None:
    client, path = remote.client(arguments), f"/schedules/{arguments.schedule}"
    schedule = client.get(path)
    client.ask("DELETE", path)
    line = f"schedule {schedule['id']} ({schedule['name']}) is deleted; its tournaments stay"
    Printer(arguments).result(schedule, lambda: output.note(line))


def _show_preview(coming: dict[str, Any]) -> None:
    output.table(_PREVIEW, [read_document(PreviewedTournament, row) for row in coming["tournaments"]])
    if coming["family"]:
        least, most = coming["least_games"], coming["most_games"]
        games = "unlimited games" if most is None else f"{most} games" if least == most else f"{least} to {most} games"
        output.text("", f"{coming['family']} {coming['variant']}, {coming['format']}, {games} with the bots of today")
        output.text(f"bots ({len(coming['entries'])}): {', '.join(coming['entries']) or 'none'}")
    output.text(*(f"not eligible: {row['name']}: {row['reason']}" for row in coming["refused"]))
    output.note(*coming["problems"])
    if not coming["is_enabled"]:
        output.note(f"schedule {coming['id']} is disabled; `arena schedule enable {coming['id']}` enables it")


def _state(schedule: dict[str, Any]) -> str:
    state = f"enabled, next at {schedule['next_fire']}" if schedule["is_enabled"] else "disabled"
    return f"schedule {schedule['id']} ({schedule['name']}) is {state}"


_COMMANDS = (
    RouteCommand(
        "list",
        "GET /schedules",
        "list all schedules by name",
        ("arena schedule list",),
        item=ScheduleItem,
        columns=_COLUMNS,
        empty="no schedules; `arena tournament create FILE.toml` with a [schedule] in the file makes one",
    ),
    RouteCommand(
        "show",
        "GET /schedules/{schedule}",
        "show a schedule, with its template in JSON",
        ("arena schedule show 2 --json",),
        members=("name", "cron", "timezone", "catch_up", "is_enabled", "next_fire", "created_at"),
    ),
    RouteCommand(
        "preview",
        "GET /schedules/{schedule}/preview",
        "show the next tournaments of a schedule without creating them",
        ("arena schedule preview 2", "arena schedule preview 2 --count 12 -o csv"),
        query=PreviewQuery,
        show=_show_preview,
        items="tournaments",
    ),
    *(
        RouteCommand(verb, f"POST /schedules/{{schedule}}/{verb}", text, (f"arena schedule {verb} 2",), note=_state)
        for verb, text in (
            ("enable", "enable a schedule from its next time on"),
            ("disable", "disable a schedule; tournaments it has created stay"),
        )
    ),
)
