"""SVG drawings made on the server: boards, replays of games, charts. They are derived from a family's layout data: a
new family needs no drawing code.
"""
