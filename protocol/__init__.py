"""The wire language between the referee and a bot: bytes in, messages out, and nothing that reads or writes.

`lines` cuts the stream, `messages` writes one line, `parser` reads it, `session` and `bot_session` are the two ends of
a conversation and `turn` whose turn it is, `negotiation` settles what a bot is told before a game. `SPEC.md` is the
reference for authors of bots.
"""
