"""`arena webhook`: add, list, test and remove webhooks, and show what was sent, for the operator."""

from __future__ import annotations

import argparse
import base64
import secrets
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from arena.cli.source.database import DatabaseArguments, open_store
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import Actions, add_fields, option, positional, read_fields
from arena.cli.terminal.printer import ListOutput, Output, Printer
from arena.features.webhooks.documents import DELIVERIES, HOOKS, DeliveryItem, WebhookItem
from referee.validation import plain

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.store import Store

R = TypeVar("R", bound=DatabaseArguments)
_KINDS = ("forfeit", "end", "leader")
_FORMS = ("json", "discord")


@dataclass(frozen=True, kw_only=True)
class AddArguments(DatabaseArguments, Output):
    """Arguments of `arena webhook add`."""

    url: str = positional("address that gets a POST request for each piece of news", "URL")
    news: tuple[str, ...] = option(
        "kind of news to send: forfeit, end (of a tournament) or leader (of a pool); may be repeated (default: all)",
        metavar="KIND",
        default=(),
        choices=_KINDS,
    )
    form: str = option("form of the requests", default="json", choices=_FORMS)
    allow_private: bool = option("permit an address of a private network, such as localhost", default=False)


@dataclass(frozen=True, kw_only=True)
class ListArguments(DatabaseArguments, ListOutput):
    """Arguments of `arena webhook list`."""


@dataclass(frozen=True, kw_only=True)
class NumberArguments(DatabaseArguments, Output):
    """Arguments of commands about one webhook."""

    id: int = positional("number of the webhook, see `arena webhook list`", "ID", type=argument.positive)


@dataclass(frozen=True, kw_only=True)
class LogArguments(DatabaseArguments, ListOutput):
    """Arguments of `arena webhook log`."""

    id: int = positional("number of the webhook, see `arena webhook list`", "ID", type=argument.positive)


@dataclass(frozen=True, slots=True)
class _Command(Generic[R]):
    """A command that works on the webhooks of a database."""

    act: Callable[[Store, Settings, R], int]
    record: type[R]

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments."""
        add_fields(parser, self.record)

    def run(self, arguments: argparse.Namespace) -> int:
        """Open the database and run the command."""
        from arena.errors import NotFoundError

        given = self.record(**read_fields(arguments, self.record))
        settings = given.read()
        try:
            with closing(open_store(settings)) as store:
                return self.act(store, settings, given)
        except NotFoundError as error:
            raise CommandError(f"{error}; `arena webhook list{settings.as_options}` shows all", error.exit) from None


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    add, of = Actions(parser).add, _Command
    add("add", of(_add, AddArguments), "send news to an address from now on; the secret that signs them is shown once")
    add("list", of(_list, ListArguments), "list the webhooks")
    add("test", of(_test, NumberArguments), "send a test message now; exit 1 if it was not accepted")
    add("log", of(_log, LogArguments), "list the latest deliveries to a webhook, and why they failed")
    add("remove", of(_remove, NumberArguments), "remove a webhook")


def _add(store: Store, settings: Settings, arguments: AddArguments) -> int:
    from yarl import URL

    from arena.features.webhooks.sender import SECRET_PREFIX
    from arena.features.webhooks.store import Webhooks
    from arena.features.webhooks.tables import Webhook

    try:
        url = URL(arguments.url)
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host or url.user or len(arguments.url) > 500:
        raise CommandError(f"invalid address {arguments.url[:80]!r}: expected https://HOST/PATH")
    secret = SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()
    kinds = [kind for kind in _KINDS if kind in arguments.news or not arguments.news]
    form: Any = arguments.form
    hook = Webhooks(store).add(
        Webhook(url=str(url), form=form, secret=secret, news=kinds, is_private_allowed=arguments.allow_private)
    )

    def show() -> None:
        output.text(f"webhook   {hook.id} gets {', '.join(kinds)}", f"secret    {secret}")
        output.note(
            "The secret is not shown again.", f"`arena webhook test {hook.id}{settings.as_options}` sends a message."
        )

    Printer(arguments).result({"id": hook.id, "url": hook.url, "news": kinds, "secret": secret}, show)
    return Exit.DONE


def _list(store: Store, _settings: Settings, arguments: ListArguments) -> int:
    from arena.features.webhooks.store import Webhooks

    hooks = [
        plain(WebhookItem(hook.id, hook.url, hook.form, hook.news, hook.created_at)) for hook in Webhooks(store).all()
    ]
    Printer(arguments).rows(hooks, HOOKS, WebhookItem, empty="There is no webhook yet.")
    return Exit.DONE


def _log(store: Store, _settings: Settings, arguments: LogArguments) -> int:
    from arena.features.webhooks.store import Webhooks

    deliveries = [
        DeliveryItem(
            id=delivery.id,
            created_at=delivery.created_at,
            state=delivery.state,
            tries=delivery.tries,
            status=delivery.status,
            text=delivery.news["text"],
            problem=delivery.problem,
            next_at=delivery.next_at if delivery.state == "waiting" else None,
        )
        for delivery in Webhooks(store).deliveries(arguments.id)
    ]
    Printer(arguments).rows(map(plain, deliveries), DELIVERIES, DeliveryItem, empty="Nothing has been sent yet.")
    return Exit.DONE


def _test(store: Store, settings: Settings, arguments: NumberArguments) -> int:
    import asyncio

    from arena.features.webhooks.sender import post
    from arena.features.webhooks.store import Webhooks
    from arena.features.webhooks.tables import WebhookDelivery

    hook = Webhooks(store).get(arguments.id)
    news = {"kind": "test", "text": "This is a test of a webhook.", "path": "/", "data": {}}
    delivery = WebhookDelivery(id=0, hook_id=hook.id, key="test", news=news)
    status, problem = asyncio.run(post(hook, delivery, settings.public_url))

    def show() -> None:
        output.text(f"not accepted: {problem}" if problem else f"accepted: HTTP {status}")

    Printer(arguments).result({"status": status, "problem": problem}, show)
    return Exit.FAILED if problem else Exit.DONE


def _remove(store: Store, _settings: Settings, arguments: NumberArguments) -> int:
    from arena.features.webhooks.store import Webhooks

    Webhooks(store).remove(arguments.id)
    Printer(arguments).result({"id": arguments.id}, lambda: output.text(f"webhook {arguments.id} is removed"))
    return Exit.DONE
