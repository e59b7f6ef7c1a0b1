"""SVG drawings made on the server: boards, replays of games, charts. They know layouts, not games: a new family needs
no drawing code.
"""
