"""Your bots on a server, `arena bot submit|list|show|retire|quota`, and their matches, `arena challenge`."""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from arena.cli.client.route_command import RouteCommand, add_commands
from arena.cli.source import remote
from arena.cli.source.remote import ServerArguments
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import Actions, option, positional
from arena.cli.terminal.printer import Output, Printer, read_document
from arena.documents.bot import BotItem, BotQuery, BotResponse, SubmissionResponse
from arena.documents.columns import BOTS, POOL_RATINGS, VERSIONS
from arena.documents.table import Column, size_in_words, text_column
from arena.documents.tournament import Challenge
from arena.names import as_name
from referee.bot.input_file import refuse_special

_POLL_S = 1.0
_UNPACKED = frozenset({"__pycache__", ".git"})
"""Folders that are left out of an upload."""
_PROGRAM_STARTS = (b"#!", b"\x7fELF")
"""First bytes of a script and of an executable, which are packed; any other file is sent as it is."""
_LAST_LINES = 12
"""Lines of the standard error of an unfit bot that are shown."""
_QUOTA: tuple[Column[tuple[str, str, str]], ...] = (
    text_column("name", "", lambda row: row[0]),
    Column("used", "used", lambda row: row[1]),
    Column("limit", "limit", lambda row: row[2]),
)
_COMMANDS = (
    RouteCommand(
        "list",
        "GET /bots",
        "list all bots",
        ("arena bot list --family loa",),
        query=BotQuery,
        item=BotItem,
        columns=BOTS,
        empty="no bots yet; `arena bot submit --help` shows how",
        limit=0,
    ),
)
"""The subcommands that only show what a route returns."""


@dataclass(frozen=True, kw_only=True)
class SubmitArguments(ServerArguments, Output):
    path: Path = positional("executable, script, zip, tar, or folder with bot.toml", "PATH")
    name: str | None = option(
        "name of the bot; a new name creates a bot (default: the name in the folder's bot.toml)",
        metavar="NAME",
        type=argument.name,
    )
    family: tuple[str, ...] = option(
        "family that the bot plays; may be repeated", metavar="FAMILY", type=argument.family, default=()
    )
    tc: str | None = option(
        "check only this time control, such as 5/move (default: the fastest that the bot keeps to)", metavar="TIME"
    )
    watch: bool = option("wait for the verdict; exit 1 if the bot is unfit", default=False)


@dataclass(frozen=True, kw_only=True)
class BotArguments(ServerArguments, Output):
    bot: str = positional("name of the bot", "NAME", type=argument.name)
    number: int | None = option(
        "show this version, with the report of its check", "--version", metavar="NUMBER", type=argument.positive
    )


@dataclass(frozen=True, kw_only=True)
class RetireArguments(BotArguments):
    number: int | None = option("retire only this version", "--version", metavar="NUMBER", type=argument.positive)


@dataclass(frozen=True, kw_only=True)
class QuotaArguments(ServerArguments, Output):
    """Arguments of `arena bot quota`."""


def add_bot(parser: argparse.ArgumentParser) -> None:
    actions = Actions(parser)
    actions.add(
        "submit",
        _submit,
        "upload a bot: an executable, a script, a zip or tar, or a folder with bot.toml",
        "arena bot submit folder/ --watch",
        "arena bot submit ./mybot --name mybot --family loa --watch",
    )
    add_commands(actions, _COMMANDS)
    actions.add("show", _show, "show a bot, or one version with its check", "arena bot show mybot --version 2")
    actions.add(
        "retire", _retire, "retire a bot from new tournaments; games and ratings stay", "arena bot retire mybot"
    )
    actions.add("quota", _quota, "show your storage use and its limits", "arena bot quota")


def _submit(arguments: SubmitArguments) -> int:
    client = remote.client(arguments)
    own_name = _name_in(arguments.path) if arguments.path.is_dir() else ""
    with bundle_of(arguments.path) as file:
        name = arguments.name or own_name
        if not name:
            where = ", or write one into its bot.toml" if arguments.path.is_dir() else ""
            raise CommandError(f"{arguments.path}: missing name of the bot; add --name NAME{where}")
        digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
        file.seek(0)
        document = client.ask(
            "POST",
            f"/bots/{name}/versions",
            query={"family": arguments.family or None, "sha256": digest, "tc": arguments.tc},
            file=file,
            # A retry of this request uploads nothing twice, but another command may submit the same bundle again.
            headers={"Idempotency-Key": f"{digest}-{os.urandom(8).hex()}"},
        ).data
    version = read_document(SubmissionResponse, document)
    output.note(f"{version.name} received: {size_in_words(version.size_bytes)}, SHA-256 {version.sha256}")
    while arguments.watch and version.is_moving:
        output.progress(f"{version.name} {version.state}")
        time.sleep(_POLL_S)
        document = client.get(f"/submissions/{version.id}")
        version = read_document(SubmissionResponse, document)
    if arguments.watch:
        output.progress("", is_last=True)
        output.note(*_steps(version), *_last_words(version))
    problem = f"  {version.problem}" if version.problem else ""
    Printer(arguments).result(document, lambda: output.text(f"{version.name}  {version.state}{problem}"))
    if version.is_moving:
        output.note(f"it is being checked; `arena bot show {name} --version {version.number}` shows the progress")
    return Exit.FAILED if version.state == "failed" else Exit.DONE


def bundle_of(path: Path) -> BinaryIO:
    """Open the file to upload. A folder or a single program is packed into a tar, always with the same bytes.

    A program keeps the name of its file. Raises OSError, CommandError.
    """
    refuse_special(path)
    if not path.is_dir():
        file = open(path, "rb")  # noqa: SIM115 - the caller closes it
        if not file.read(4).startswith(_PROGRAM_STARTS):
            file.seek(0)
            return file
        file.close()
    packed = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    with (
        gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as archive,
    ):
        if path.is_dir():
            _pack_folder(archive, path)
        else:
            _pack_program(archive, path)
    packed.seek(0)
    return packed


def _pack_folder(archive: tarfile.TarFile, folder: Path) -> None:
    """Add the files of a folder to an archive. A link within the folder becomes the file that it leads to."""
    inside = folder.resolve()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if not _UNPACKED.isdisjoint(name.parts):
            continue
        target = Path(os.path.realpath(path))  # not `resolve`, which refuses links that lead to themselves
        is_ours = target.is_relative_to(inside)  # a link may lead to what its owner would not publish
        if is_ours and (target.is_file() or (target.is_dir() and not path.is_symlink())):
            archive.add(target, arcname=str(name), recursive=False, filter=_reproducible)
        else:
            output.note(f"left out: {name}, not a file within this folder")


def _pack_program(archive: tarfile.TarFile, path: Path) -> None:
    """Add one program to an archive, with a bot.toml whose command is that program."""
    command = json.dumps([f"./{path.name}"], ensure_ascii=False)
    text = f"command = {command}\n".encode()
    info = tarfile.TarInfo("bot.toml")
    info.size = len(text)
    archive.addfile(info, io.BytesIO(text))
    archive.add(path.resolve(), arcname=path.name, filter=_reproducible)


def _name_in(folder: Path) -> str:
    """Return the name in the bot.toml of a folder, which is validated like an upload; empty without one.

    Raises BotFileError.
    """
    from referee.bot.file import read_bot_file

    return as_name(read_bot_file(folder, folder).name)


def _reproducible(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove owner and time, so that the same folder makes the same bundle."""
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    return info


def _steps(version: SubmissionResponse) -> list[str]:
    """Return the report of a check, a line for each step."""
    lines = []
    for family, report in version.report.get("families", {}).items():
        for step in report.get("steps", []):
            mark = "ok  " if step["passed"] else "FAIL" if step["needed"] else "note"
            words = (family, step["name"], step.get("detail", ""), "" if step["passed"] else step.get("advice", ""))
            lines.append(f"{mark} " + "  ".join(word for word in words if word))
    return lines


def _last_words(version: SubmissionResponse) -> list[str]:
    """Return the end of what an unfit bot wrote to standard error."""
    if version.state != "failed" or not version.log:
        return []
    return ["standard error:", *(f"      {line}" for line in version.log.splitlines()[-_LAST_LINES:])]


def _show(arguments: BotArguments) -> None:
    client, printer = remote.client(arguments), Printer(arguments)
    if arguments.number is not None:
        document = client.get(f"/bots/{arguments.bot}/versions/{arguments.number}")
        printer.members(
            document, ("name", "owner", "state", "problem", "families", "size_bytes", "sha256", "created_at", "remarks")
        )
        if printer.is_for_people:
            version = read_document(SubmissionResponse, document)
            output.text(*_steps(version))
            if version.log:
                output.text("", version.log.rstrip("\n"))
        return
    document = client.get(f"/bots/{arguments.bot}")
    printer.members(document, ("name", "owner", "description", "is_retired", "created_at"))
    if printer.is_for_people:
        bot = read_document(BotResponse, document)
        output.text("")
        output.table(VERSIONS, bot.versions)
        if bot.ratings:
            output.text("")
            output.table(POOL_RATINGS, bot.ratings)


def _retire(arguments: RetireArguments) -> None:
    client = remote.client(arguments)
    path = f"/bots/{arguments.bot}" + (f"/versions/{arguments.number}" if arguments.number else "")
    retired = client.ask("POST", f"{path}/retire").data
    Printer(arguments).result(retired, lambda: output.note(f"{retired['name']} is retired"))


def _quota(arguments: QuotaArguments) -> None:
    from arena.cli.terminal.table import written  # loads rich

    client = remote.client(arguments)
    used, limits = client.get("/account"), client.get("/limits")
    quotas = {
        "bots": (used["bots"], limits["max_bots"], "count"),
        "versions": (used["versions"], limits["max_versions"], "count"),
        "size_bytes": (used["size_bytes"], limits["max_user_bytes"], "size"),
    }
    rows = [
        (name.removesuffix("_bytes"), written(amount, form), written(limit, form))
        for name, (amount, limit, form) in quotas.items()
    ]
    Printer(arguments).result(
        {name: {"used": amount, "limit": limit} for name, (amount, limit, _) in quotas.items()},
        lambda: output.table(_QUOTA, rows),
    )
    output.note("retired bots and versions do not count")


def _print_match(match: dict[str, Any]) -> None:
    output.text(f"tournament {match['id']}: {match['name']}")


challenge = RouteCommand(
    "challenge",
    "POST /bots/{bot}/challenges",
    body=Challenge,
    options={"bot": "your bot, which must be connected"},
    show=_print_match,
    note=lambda match: f"follow it with `arena tournament watch {match['id']}`",
)
