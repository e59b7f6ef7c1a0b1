"""Collections of games: reading them game by game, what an archived game is, how it is written out.

    collection    a text of many games as games, and a list of those that cannot be played
    entry         one archived game: where it comes from, who played, how it ended
    notation      one game in the notations of its family

Where they are kept is `arena.store.archive.archive`. Refuses to know any family and any command line.
"""
