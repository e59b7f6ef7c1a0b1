"""The quick way through one move of a conversation: what others need to know of it without what compiles it.

Whoever goes it imports `referee.exchange.quick`, and numba with it: a quarter of a second that the many processes that
only name a bot need not spend.
"""

from __future__ import annotations

MS = 1_000_000
"""Nanoseconds in a millisecond."""
MOMENT_MS = 1
"""How long an answer is waited for on the quick way."""
QUICK_NS = 2 * MOMENT_MS * MS
"""With less time than that for an answer, none is lost on the quick way."""
MOST_BYTES = 65_536
"""The longest question, and the longest answer that is read at once."""
