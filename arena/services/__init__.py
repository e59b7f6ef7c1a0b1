"""Use cases: one function each, with its checks, quota, audit note, wake of the coordinator, and errors.

    submission, bot, game, table      what happens to bots, and what of it may be read by whom
    archive                           games of all times: searched, shown, imported
    analysis                          what an engine thinks of games and positions
    explorer, book                    what was played in a position; books of openings made from that
    people                            people play: games begun, and what is decided in them
    study                             lines that somebody tries out on a board
    sides                             what moving first is worth
    course                            how a tournament of its format goes
    tournament, schedule              creating and steering
    remote                            bots that run on their authors' machines, and challenges
    account, token, user              who somebody is, and what opens doors

The JSON interface, the pages and the command line only translate to and from them. They block: an event loop calls them
in threads. Refuses to know HTTP and command lines.
"""

from arena.services import (
    account,
    analysis,
    archive,
    book,
    bot,
    course,
    explorer,
    game,
    people,
    remote,
    schedule,
    sides,
    study,
    submission,
    table,
    token,
    tournament,
    user,
)
from arena.services.arena import Arena

__all__ = [
    "Arena",
    "account",
    "analysis",
    "archive",
    "book",
    "bot",
    "course",
    "explorer",
    "game",
    "people",
    "remote",
    "schedule",
    "sides",
    "study",
    "submission",
    "table",
    "token",
    "tournament",
    "user",
]
