"""Use cases: one function each, which checks rights and quotas, writes the audit log and wakes the coordinator.

    submission, bot, game             upload, manage and read bots and their games, places in the queues
    leaderboard, front_page           leaderboards, rating curves; contents of the front page and of families' pages
    standings                         standings and progress of tournaments
    status                            coordinator, workers, games in progress, audit log
    archive                           search, show and import games of all times
    analysis                          analyses of games and positions by an engine
    explorer                          moves played in a position; opening books made from them
    people, people_game               start games of people against bots; play one
    study                             lines tried out on a board; their variations as text and in notations
    tournament, schedule              create and manage tournaments and recurring ones
    remote                            bots that run on their authors' machines; challenges
    account, user                     log-in, profiles, API tokens, user administration
    follow                            bots and tournaments whose news users get
    registration                      new accounts, invitations, forgotten passwords
    idempotency                       responses to repeated requests

The JSON interface, the pages and the command line only translate to and from these functions. The functions block: call
them in a thread from an event loop.
"""

from arena.services import (
    account,
    analysis,
    archive,
    bot,
    explorer,
    follow,
    front_page,
    game,
    idempotency,
    leaderboard,
    people,
    people_game,
    registration,
    remote,
    schedule,
    standings,
    status,
    study,
    submission,
    tournament,
    user,
)
from arena.services.arena import Arena

__all__ = [
    "Arena",
    "account",
    "analysis",
    "archive",
    "bot",
    "explorer",
    "follow",
    "front_page",
    "game",
    "idempotency",
    "leaderboard",
    "people",
    "people_game",
    "registration",
    "remote",
    "schedule",
    "standings",
    "status",
    "study",
    "submission",
    "tournament",
    "user",
]
