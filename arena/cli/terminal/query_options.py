"""The options of a command that follow from the fields of a query."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from datetime import datetime
from functools import partial
from typing import Any

from arena.cli.terminal import argument
from arena.documents import words
from arena.documents.page import PageQuery
from arena.documents.query import QueryField, query_fields

PAGING = tuple(one.name for one in query_fields(PageQuery))
NOT_FILTERS = (*PAGING, "sort", "order")
"""Fields that choose a part of a list and its order."""


def add_options(parser: argparse._ActionsContainer, query: type, *, without: Collection[str] = PAGING) -> None:
    """Add an option for each field of a query, in the groups that the fields name."""
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for one in _fields(query, without):
        if one.group not in groups:
            groups[one.group] = parser.add_argument_group(one.group)
        _add(groups[one.group], one)


def _add(parser: argparse._ActionsContainer, one: QueryField) -> None:
    option = f"--{one.name.replace('_', '-')}"
    text = one.text.replace("%", "%%")
    if one.default not in (None, False) and not one.is_required:
        text += f" (default: {one.default})"
    if one.kind is bool:
        parser.add_argument(option, action="store_true", help=text)
        return
    default = None if one.is_required else one.default
    more: dict[str, Any] = {"choices": tuple(one.choices)} if one.choices else {"type": _type(one)}
    if not one.choices:
        more["metavar"] = one.metavar
    parser.add_argument(option, help=text, required=one.is_required, default=default, **more)


def _type(one: QueryField) -> Callable[[str], Any]:
    if one.kind is int:
        return partial(argument.between, least=one.bounds.get("ge", 0), most=one.bounds.get("le", argument.MAX_NUMBER))
    if one.bounds == words.FAMILY:
        return argument.family
    return str if one.kind is datetime else one.kind  # the server reads times


def read_options(arguments: argparse.Namespace, query: type, *, without: Collection[str] = PAGING) -> dict[str, Any]:
    """Return the values given for a query's fields, by name; an empty text becomes None, which means any value."""
    given = {one.name: getattr(arguments, one.name) for one in _fields(query, without)}
    return {name: None if value == "" else value for name, value in given.items()}


def _fields(query: type, without: Collection[str]) -> list[QueryField]:
    return [one for one in query_fields(query) if one.name not in without]
