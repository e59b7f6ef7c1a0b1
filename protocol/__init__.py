"""The wire protocol between the referee and a bot, without I/O: bytes in, messages out.

`lines` splits the byte stream into lines, `parser` turns a line into a message of `messages`, and a message formats
itself as a line. `session` is the state machine of the referee's end, with the states of `turn`. `negotiation` chooses
the options to set before a game. `SPEC.md` is the reference for bot authors.
"""
