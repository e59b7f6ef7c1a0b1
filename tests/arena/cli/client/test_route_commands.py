"""The commands that are one request agree with the registry of routes."""

from __future__ import annotations

from typing import get_args

import pytest

from arena.api.registry import Route
from arena.api.routes import table
from arena.cli.client import bot, game, schedule, tournament
from arena.cli.client.route_command import PARAMETERS, RouteCommand

COMMANDS = {
    f"{room.__name__.rpartition('.')[2]} {command.name}": command
    for room in (bot, game, schedule, tournament)
    for value in vars(room).values()
    for command in (value if isinstance(value, tuple) else (value,))
    if isinstance(command, RouteCommand)
}


@pytest.fixture(scope="module")
def routes() -> dict[str, Route]:
    return {f"{route.method} {route.path}": route for route in table()}


@pytest.mark.parametrize("name", COMMANDS)
def test_command_takes_and_prints_what_its_route_does(name: str, routes: dict[str, Route]) -> None:
    command = COMMANDS[name]
    route = routes[command.route]
    assert (command.query, command.body) in ((route.query, route.body), (None, route.body))
    assert set(command.parameters) == set(route.path_types) <= set(PARAMETERS)
    if command.columns:
        assert get_args(route.answer) == (command.item,)
    if command.forms:
        assert {*command.forms.values()} <= {"application/json", *route.forms}


def test_every_kind_of_command_is_there() -> None:
    assert {"bot list", "bot challenge", "game leaderboard", "schedule preview", "tournament enter"} <= set(COMMANDS)
