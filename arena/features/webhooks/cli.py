"""`arena webhook`: add, list, test and remove webhooks, and show what was sent, for the operator."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.cli.source.database import ArenaCommand, DatabaseArguments, R, options_of
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.fields import Actions, option, positional
from arena.cli.terminal.printer import ListOutput, Output, Printer, output_form
from arena.features.webhooks.documents import DELIVERIES, FORMS, HOOKS, KINDS, DeliveryItem, WebhookItem
from referee.validation import plain

if TYPE_CHECKING:
    from arena.errors import NotFoundError
    from arena.services.arena import Arena


@dataclass(frozen=True, kw_only=True)
class AddArguments(DatabaseArguments, Output):
    """Arguments of `arena webhook add`."""

    url: str = positional("address that gets a POST request for each piece of news", "URL")
    news: tuple[str, ...] = option(
        "kind of news to send: forfeit, end (of a tournament) or leader (of a pool); may be repeated (default: all)",
        metavar="KIND",
        default=(),
        choices=KINDS,
    )
    form: str = option("form of the requests", default="json", choices=FORMS)
    allow_private: bool = option("permit an address of a private network, such as localhost", default=False)


@dataclass(frozen=True, kw_only=True)
class ListArguments(DatabaseArguments, ListOutput):
    """Arguments of `arena webhook list`."""


@dataclass(frozen=True, kw_only=True)
class NumberArguments(DatabaseArguments, Output):
    id: int = positional("number of the webhook, see `arena webhook list`", "ID", type=argument.positive)


@dataclass(frozen=True, kw_only=True)
class LogArguments(NumberArguments):
    """Arguments of `arena webhook log`."""

    output: str = output_form("csv")


class _WebhookCommand(ArenaCommand[R]):
    def listing(self, error: NotFoundError, arguments: argparse.Namespace) -> str:
        return "webhook list"


def add(parser: argparse.ArgumentParser) -> None:
    add, of = Actions(parser).add, _WebhookCommand
    add("add", of(_add, AddArguments), "send news to an address from now on; the secret that signs them is shown once")
    add("list", of(_list, ListArguments), "list the webhooks")
    add("test", of(_test, NumberArguments), "send a test message now; exit 1 if it was not accepted")
    add("log", of(_log, LogArguments), "list the latest deliveries to a webhook, and why they failed")
    add("remove", of(_remove, NumberArguments), "remove a webhook")


def _add(arena: Arena, arguments: AddArguments) -> None:
    from arena.features.webhooks import service

    hook, secret = service.add(
        arena, arguments.url, arguments.news, arguments.form, None, is_private_allowed=arguments.allow_private
    )

    def show() -> None:
        output.text(f"webhook   {hook.id} gets {', '.join(hook.news)}", f"secret    {secret}")
        output.note(
            "The secret is not shown again.",
            f"`arena webhook test {hook.id}{options_of(arena.settings)}` sends a message.",
        )

    Printer(arguments).result({"id": hook.id, "url": hook.url, "news": hook.news, "secret": secret}, show)


def _list(arena: Arena, arguments: ListArguments) -> None:
    from arena.features.webhooks import service

    items = map(plain, service.listed(arena))
    Printer(arguments).rows(items, HOOKS, WebhookItem, empty="There is no webhook yet.")


def _log(arena: Arena, arguments: LogArguments) -> None:
    from arena.features.webhooks import service

    items = map(plain, service.deliveries(arena, arguments.id))
    Printer(arguments).rows(items, DELIVERIES, DeliveryItem, empty="Nothing has been sent yet.")


def _test(arena: Arena, arguments: NumberArguments) -> int:
    import asyncio

    from arena.features.webhooks import service

    status, problem = asyncio.run(service.send_test(arena, arguments.id))

    def show() -> None:
        # The pages do not permit it, so the sender does not say so.
        hint = "; `arena webhook add --allow-private` permits it" if problem.endswith("not a public address") else ""
        output.text(f"not accepted: {problem}{hint}" if problem else f"accepted: HTTP {status}")

    Printer(arguments).result({"status": status, "problem": problem}, show)
    return Exit.FAILED if problem else Exit.DONE


def _remove(arena: Arena, arguments: NumberArguments) -> None:
    from arena.features.webhooks import service

    service.remove(arena, arguments.id, None)
    Printer(arguments).result({"id": arguments.id}, lambda: output.text(f"webhook {arguments.id} is removed"))
