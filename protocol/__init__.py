"""The wire language between the referee and a bot: bytes in, messages out, and nothing that reads or writes.

`lines` cuts the stream, `messages` reads and writes one line, `session` knows whose turn it is to say what,
`negotiation` settles what a bot is told before a game. `SPEC.md` is the reference for authors of bots.
"""
