"""An example of a settings document for each format: commented TOML with the sample bots."""

from __future__ import annotations

from collections.abc import Mapping

from arena.tournaments.settings import FORMATS, Format
from referee.rules import families

_HEAD = """\
# {title}
# Check it:  arena tournament create FILE --check       Create it:  arena tournament create FILE
# Commented-out keys show defaults or examples; /docs/reference/tournament-files/ describes every key.

name = {name:<28}# title
family = {family:<26}# "arena rules list" shows families, variants and options
# variant = "standard"             # default: the family's first
format = {quoted:<26}# or {others}
"""

_TAIL = """
time_control = "5+0.05"            # seconds and increment; or "40/60", "1/move", "depth:4", "nodes:10000"
# openings = "random:4:1"          # "none", "random:PLIES:SEED", "setups:VARIANT:SEED", "fair:0.05", "auto"
# seed = 1                         # the same seed gives the same pairings and openings
# rated = false                    # true: update ratings
# priority = 10                    # games of a higher priority are played first; default: 0
# start_time = 2027-01-31T20:00:00Z  # default: immediately

# [adjudication]                   # games that end before the rules end them
# draw = "after=40,moves=8,score=10"
# resign = "moves=4,score=600,both=1"
# max_plies = 400

# [schedule]                       # a recurring tournament: leave start_time out
# cron = "0 20 * * 5"              # minute, hour, day, month, weekday: Fridays at 20:00
# timezone = "Europe/Paris"
"""

_NAMED = """
[entries]
bots = ["greedy", "random", "alphabeta"]   # a name is its newest active version; "greedy v1" is that one
# top = 8                          # or: the best bots of the leaderboard
# newest = true                    # or: the newest version of every bot
# exclude = ["random"]             # bots that top, newest and all must not enter
"""

_PARTS: Mapping[Format, tuple[str, str, str]] = {
    "round-robin": (
        "A round robin: every bot plays every other bot.",
        "games = 2                          # of each pairing, in pairs with one opening and sides swapped\n",
        _NAMED,
    ),
    "gauntlet": (
        "A gauntlet: one challenger plays all other bots.",
        "games = 2                          # of each pairing, in pairs with one opening and sides swapped\n",
        _NAMED.replace("# a name is", "# the first is the challenger; a name is"),
    ),
    "swiss": (
        "A Swiss: in each round, bots with equal scores meet that have not met before.",
        "games = 2                          # of each pairing, in pairs with one opening and sides swapped\n"
        "rounds = 2                         # default: as many as it takes to find a winner\n",
        _NAMED,
    ),
    "knockout": (
        "A knockout: the loser of a match is eliminated.",
        "games = 2                          # of each match, an even number\n",
        _NAMED + "\n[knockout]\n"
        "tiebreak_pairs = 5                 # extra pairs for a drawn match; then the better seed advances\n"
        "third_place = false                # play for third place\n",
    ),
    "ladder": (
        "A ladder: pairs of games between bots with close or uncertain ratings; bots may join and leave.",
        "",
        _NAMED + "\n[ladder]\n"
        "games = 12                         # in total, an even number; 0: no limit\n"
        "max_games_per_bot = 0              # 0: no limit\n",
    ),
    "race": (
        "A race: find the best bots; games of bots in doubt, until the best are known.",
        "",
        _NAMED + "\n[race]\n"
        "top = 1                            # number of bots to find, in any order\n"
        "confidence = 0.95                  # confidence required to stop\n"
        "games = 400                        # in total, at most; an even number\n",
    ),
    "sprt": (
        "A sequential test: is the first bot stronger than the second? It stops as soon as that is decided.",
        "",
        '\n[entries]\nbots = ["greedy", "random"]        # the candidate, then the bot to beat\n'
        "\n[sprt]\n"
        "elo0 = 0.0                         # null hypothesis: stronger by at most this, in Elo\n"
        "elo1 = 50.0                        # alternative hypothesis: stronger by at least this, in Elo\n"
        "alpha = 0.05                       # type I error\n"
        "beta = 0.05                        # type II error\n"
        "games = 400                        # in total, at most; an even number\n",
    ),
}


def example(format: Format) -> str:
    """Return the example of a format. It is valid without changes on a server that has the sample bots."""
    title, format_lines, entries = _PARTS[format]
    others = ", ".join(other for other in FORMATS if other != format)
    return (
        _HEAD.format(
            title=title, name=f'"My {format}"', family=f'"{families()[0]}"', quoted=f'"{format}"', others=others
        )
        + format_lines
        + _TAIL
        + entries
    )
