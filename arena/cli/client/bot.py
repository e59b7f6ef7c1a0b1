"""`arena bot submit|list|show|retire|quota`: manage your bots on a server."""

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
from pathlib import Path
from typing import Any, BinaryIO

from arena.cli.source import remote
from arena.cli.terminal import argument, output
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output
from arena.cli.terminal.query_options import add_options, read_options
from arena.client import ApiClient
from arena.documents.bot import BotQuery
from referee.bot.input_file import refuse_special

_MOVING = ("uploaded", "checking")
_POLL_S = 1.0
_PROGRAMS = (b"#!", b"\x7fELF")
"""How the file of a program begins that can be run as it is."""
_LAST_LINES = 12
"""How much of what an unfit bot wrote to standard error is shown."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    actions = Actions(parser)

    submit = actions.add(
        "submit",
        _submit,
        "upload a bot: an executable, a script, a zip or tar, or a folder with bot.toml",
        "arena bot submit folder/ --watch",
        "arena bot submit ./mybot --name mybot --family loa --watch",
    )
    submit.add_argument("path", metavar="PATH", type=Path, help="executable, script, zip, tar, or folder with bot.toml")
    submit.add_argument(
        "--name",
        metavar="NAME",
        help="name of the bot; a new name creates a bot (default: the name in the folder's bot.toml)",
    )
    submit.add_argument(
        "--family",
        action="append",
        default=[],
        metavar="FAMILY",
        type=argument.family,
        help="family that the bot plays; may be repeated",
    )
    submit.add_argument(
        "--tc",
        metavar="TIME",
        help="check only this time control, such as 5/move (default: the fastest that the bot keeps to)",
    )
    submit.add_argument("--watch", action="store_true", help="wait for the verdict; exit 1 if the bot is unfit")

    listing = actions.add("list", _list, "list all bots", "arena bot list --family loa")
    add_options(listing, BotQuery)
    listing.add_argument(
        "--limit", metavar="COUNT", type=argument.positive, help="list at most COUNT bots (default: all)"
    )

    show = actions.add("show", _show, "show a bot, or one version with its check", "arena bot show mybot --version 2")
    show.add_argument("name", metavar="NAME", help="name of the bot")
    show.add_argument(
        "--version",
        dest="number",
        metavar="NUMBER",
        type=argument.positive,
        help="show this version, with the report of its check",
    )

    retire = actions.add(
        "retire", _retire, "retire a bot from new tournaments; games and ratings stay", "arena bot retire mybot"
    )
    retire.add_argument("name", metavar="NAME", help="name of the bot")
    retire.add_argument(
        "--version", dest="number", metavar="NUMBER", type=argument.positive, help="retire only this version"
    )

    quota = actions.add("quota", _quota, "show your storage use and its limits", "arena bot quota")

    for command in (submit, show, retire, quota):
        remote.add_server(command)
        add_output(command)
    remote.add_server(listing)
    add_output(listing, "csv")


def _submit(arguments: argparse.Namespace) -> int:
    client = remote.client(arguments)
    with bundle_of(arguments.path) as file:
        name = arguments.name or _name_in(arguments.path)
        digest = _digest(file)
        found = client.ask(
            "POST",
            f"/bots/{name}/versions",
            query={"family": tuple(arguments.family) or None, "sha256": digest, "tc": arguments.tc},
            file=file,
            headers={"Idempotency-Key": f"{digest}-{os.urandom(8).hex()}"},
        ).data
    output.note(f"{found['name']} received: {found['size_bytes']:,} bytes, SHA-256 {found['sha256']}")
    if arguments.watch:
        found = _watch(client, found["id"])
    problem = f"  {found['problem']}" if found["problem"] else ""
    Printer(arguments).result(found, lambda: output.text(f"{found['name']}  {found['state']}{problem}"))
    if found["state"] in _MOVING:
        output.note(f'it is being checked; "arena bot show {name} --version {found["number"]}" shows the progress')
    return Exit.FAILED if found["state"] == "failed" else Exit.DONE


def _digest(file: BinaryIO) -> str:
    total = hashlib.sha256()
    while chunk := file.read(1 << 20):
        total.update(chunk)
    file.seek(0)
    return total.hexdigest()


def bundle_of(path: Path) -> BinaryIO:
    """Open the file to upload. A folder or a single program is packed into a tar, always with the same bytes.

    A program keeps the name of its file. Raises OSError, CommandError.
    """
    refuse_special(path)
    if not path.is_dir():
        file = open(path, "rb")  # noqa: SIM115 - the caller closes it
        if not file.read(4).startswith(_PROGRAMS):
            file.seek(0)
            return file
        file.close()
    elif not (path / "bot.toml").is_file():
        raise CommandError(f"{path}: the folder has no bot.toml; write one with name and command")
    packed = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    with (
        gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=0) as squeezed,
        tarfile.open(fileobj=squeezed, mode="w") as archive,
    ):
        if path.is_dir():
            archive.add(path, arcname=".", filter=_plain)
        else:
            _pack_program(archive, path)
    packed.seek(0)
    return packed


def _pack_program(archive: tarfile.TarFile, path: Path) -> None:
    """Add one program to an archive, with a bot.toml whose command is that program."""
    command = json.dumps([f"./{path.name}"], ensure_ascii=False)
    text = f"command = {command}\n".encode()
    info = tarfile.TarInfo("bot.toml")
    info.size = len(text)
    archive.addfile(info, io.BytesIO(text))
    archive.add(path.resolve(), arcname=path.name, filter=_plain)


def _name_in(path: Path) -> str:
    """Return the name that the bot.toml of a folder gives. Raises CommandError."""
    if not path.is_dir():
        raise CommandError(f"{path}: missing name of the bot; add --name NAME")
    from referee.bot.file import read_bot_file

    name = read_bot_file(path).name
    if not name:
        raise CommandError(f"{path / 'bot.toml'}: no name in it; write one there, or add --name NAME")
    return name


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Remove owner and time, so that the same folder makes the same bundle; return None to leave the file out."""
    if not (info.isfile() or info.isdir()) or "/__pycache__" in info.name or "/.git" in info.name:
        return None
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    return info


def _watch(client: ApiClient, submission: int) -> dict[str, Any]:
    while True:
        found: dict[str, Any] = client.get(f"/submissions/{submission}")
        if found["state"] not in _MOVING:
            output.progress("", is_last=True)
            output.note(*_steps(found), *_last_words(found))
            return found
        output.progress(f"{found['name']} {found['state']}")
        time.sleep(_POLL_S)


def _steps(found: dict[str, Any]) -> list[str]:
    """Return the report of a check, a line for each step."""
    lines = []
    for family, report in found["report"].get("families", {}).items():
        for step in report.get("steps", []):
            mark = "ok  " if step["passed"] else "FAIL" if step["needed"] else "note"
            words = (family, step["name"], step.get("detail", ""), "" if step["passed"] else step.get("advice", ""))
            lines.append(f"{mark} " + "  ".join(word for word in words if word))
    return lines


def _last_words(found: dict[str, Any]) -> list[str]:
    """Return the end of what an unfit bot wrote to standard error."""
    if found["state"] != "failed" or not found.get("log"):
        return []
    return ["standard error:", *(f"      {line}" for line in found["log"].splitlines()[-_LAST_LINES:])]


def _list(arguments: argparse.Namespace) -> int:
    client = remote.client(arguments)
    items = client.pages("/bots", arguments.limit, **read_options(arguments, BotQuery))
    columns = (
        ("bot", "name"),
        ("owner", "owner"),
        ("families", "families"),
        ("versions", "versions"),
        ("newest", "newest"),
        ("state", "newest_state"),
    )
    empty = 'no bots yet; "arena bot submit --help" shows how'
    Printer(arguments).rows(items, columns, empty=empty, drop=("versions", "newest", "owner"))
    return Exit.DONE


def _show(arguments: argparse.Namespace) -> int:
    client, printer = remote.client(arguments), Printer(arguments)
    if arguments.number is not None:
        found = client.get(f"/bots/{arguments.name}/versions/{arguments.number}")
        printer.members(found, ("name", "owner", "state", "problem", "families", "size_bytes", "sha256", "created_at"))
        if printer.is_for_people:
            output.text(*_steps(found))
            if found.get("log"):
                output.text("", found["log"].rstrip("\n"))
        return Exit.DONE
    found = client.get(f"/bots/{arguments.name}")
    printer.members(found, ("name", "owner", "description", "is_retired", "created_at"))
    if printer.is_for_people:
        output.text("")
        output.table(
            ("version", "state", "families", "problem"),
            [[one["name"], one["state"], " ".join(one["families"]), one["problem"]] for one in found["versions"]],
            wrap=("families", "problem"),
        )
        if found["ratings"]:
            output.text("")
            output.table(
                ("version", "pool", "rating", "mu", "±2σ", "games"),
                [
                    [
                        one["name"],
                        one["pool"],
                        f"{one['conservative']:z.2f}",
                        f"{one['mu']:z.2f}",
                        f"{2 * one['sigma']:.2f}",
                        str(one["games"]),
                    ]
                    for one in found["ratings"]
                ],
                numbers=("rating", "mu", "±2σ", "games"),
            )
    return Exit.DONE


def _retire(arguments: argparse.Namespace) -> int:
    client = remote.client(arguments)
    path = f"/bots/{arguments.name}" + (f"/versions/{arguments.number}" if arguments.number else "")
    found = client.ask("POST", f"{path}/retire").data
    Printer(arguments).result(found, lambda: output.note(f"{found['name']} is retired"))
    return Exit.DONE


def _quota(arguments: argparse.Namespace) -> int:
    client = remote.client(arguments)
    mine, limits = client.get("/account"), client.get("/limits")
    most = {"bots": limits["max_bots"], "versions": limits["max_versions"], "size_bytes": limits["max_user_bytes"]}
    rows = [(name.replace("size_", ""), f"{mine[name]:,}", f"{limit:,}") for name, limit in most.items()]
    Printer(arguments).result(
        {name: {"used": mine[name], "limit": limit} for name, limit in most.items()},
        lambda: output.table(("", "used", "limit"), rows, numbers=("used", "limit")),
    )
    output.note("retired bots and versions do not count")
    return Exit.DONE
