"""A settings document of each format as organisers may begin with it: TOML with comments, played by the sample bots."""

from __future__ import annotations

from collections.abc import Mapping

from arena.tournaments.settings import FORMATS, Format
from referee.rules import families

_HEAD = """\
# {title}
# Look at it:  arena tournament create FILE --check       Create it:  arena tournament create FILE
# Lines that begin with "# " and a key are defaults or wishes; the help page "Reference" has every key.

name = {name:<28}# what people read
family = {family:<26}# "arena rules list" shows families, variants and options
# variant = "standard"             # the family's first unless named
format = {quoted:<26}# or {others}
"""

_TAIL = """
time = "5+0.05"                    # seconds and increment; or "40/60", "1/move", "depth:4", "nodes:10000"
# openings = "random:4:1"          # "none", "random:PLIES:SEED", "setups:VARIANT:SEED", "fair:0.05", "auto"
# seed = 1                         # the same seed, the same pairings and openings
# rated = false                    # true: the games move the ratings
# priority = 10                    # games of a higher priority are played first; usual is 0
# starts = 2027-01-31T20:00:00Z    # at once unless named

# [rulings]                        # when games end before their rules end them
# draw = "after=40,moves=8,score=10"
# resign = "moves=4,score=600,both=1"
# max_plies = 400

# [schedule]                       # one like this again and again: leave "starts" out
# cron = "0 20 * * 5"              # minute, hour, day, month, weekday: Fridays at eight in the evening
# zone = "Europe/Paris"
"""

_NAMED = """
[entries]
bots = ["greedy", "random", "alphabeta"]   # a name is its newest active version; "greedy v1" is that one
# top = 8                          # or: the best so many of the leaderboard
# newest = true                    # or: the newest version of every bot
# without = ["random"]             # left out of what top, newest or all have found
"""

_PARTS: Mapping[Format, tuple[str, str, str]] = {
    "round-robin": (
        "A round robin: everybody against everybody.",
        "games = 2                          # of each pairing, in pairs of one opening with sides swapped\n",
        _NAMED,
    ),
    "gauntlet": (
        "A gauntlet: one challenger against all others.",
        "games = 2                          # of each pairing, in pairs of one opening with sides swapped\n",
        _NAMED.replace("# a name is", "# the first is the challenger; a name is"),
    ),
    "swiss": (
        "A Swiss: each round, equals meet who have not met.",
        "games = 2                          # of each pairing, in pairs of one opening with sides swapped\n"
        "rounds = 2                         # unless named, as many as find a winner\n",
        _NAMED,
    ),
    "knockout": (
        "A knockout: who loses a match is out.",
        "games = 2                          # of each match, an even number\n",
        _NAMED + "\n[knockout]\n"
        "tiebreak_pairs = 5                 # further pairs of a drawn match, then the seeding decides\n"
        "third_place = false                # whether the losers of the semi-finals play for it\n",
    ),
    "ladder": (
        "A ladder: pairs of games of those whose ratings are close or unsure, without rounds; bots may come and go.",
        "",
        _NAMED + "\n[ladder]\n"
        "games = 12                         # in all, an even number; 0: without end\n"
        "cap = 0                            # of one bot; 0: without bound\n",
    ),
    "race": (
        "A race: who are the first so many? Games of those about whom it is in doubt, until it is settled.",
        "",
        _NAMED + "\n[race]\n"
        "first = 1                          # how many, in whatever order\n"
        "confidence = 0.95                  # how sure it has to be, however often somebody looks\n"
        "games = 400                        # give up after so many, an even number\n",
    ),
    "sprt": (
        "A sequential test: is the first bot stronger than the second? It stops as soon as that is decided.",
        "",
        '\n[entries]\nbots = ["greedy", "random"]        # the candidate, then what it is compared with\n'
        "\n[sprt]\n"
        "elo0 = 0.0                         # not stronger than this: stop and refuse\n"
        "elo1 = 50.0                        # stronger than this: stop and accept\n"
        "alpha = 0.05                       # how often to accept wrongly\n"
        "beta = 0.05                        # how often to refuse wrongly\n"
        "games = 400                        # give up after so many, an even number\n",
    ),
}


def example(format: Format) -> str:
    """The document of a format, to be changed and created as it stands on an arena that has the samples."""
    title, own, entries = _PARTS[format]
    others = ", ".join(one for one in FORMATS if one != format)
    return (
        _HEAD.format(
            title=title, name=f'"My {format}"', family=f'"{families()[0]}"', quoted=f'"{format}"', others=others
        )
        + own
        + _TAIL
        + entries
    )
