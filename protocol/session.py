"""The referee's end of a UGI session with a bot, from `ugi` to `quit`.

It is strict about the referee's messages and lenient about the bot's: a message that the state does not allow is
returned as `Stray` and counted. Only an unsolicited `bestmove` raises, because later answers could no longer be matched
to their requests.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from protocol.capabilities import CLOCKS_OPTION, LEGAL_MOVES_OPTION, RESULT_OPTION, Capabilities
from protocol.errors import BadLine, visible
from protocol.messages import (
    BestMove,
    BotMessage,
    Declared,
    Go,
    Id,
    IsReady,
    LegalMoves,
    Message,
    Quit,
    ReadyOk,
    RefereeMessage,
    Response,
    SetOption,
    SetPosition,
    Stop,
    Ugi,
    UgiNewGame,
    UgiOk,
    UgiQuery,
    UgiResult,
    Unknown,
)
from protocol.options import OptionDecl
from protocol.parser import parse_bot_line
from protocol.turn import SessionState, Stray, encode_line, out_of_turn_error

MAX_OPTIONS = 1000
MAX_FAMILIES = 64
MAX_NAME = 200
MAX_ANOMALIES = 100
"""Number of anomalies that are kept; all are counted."""
ANOMALY_CHARACTERS = 300

_BARE_NO_MOVES = frozenset({"------", "wtf"})
"""Lines that real engines write instead of `bestmove` when they have no move."""

_QUERY_ANSWERS = {
    "gameover": frozenset({"true", "false"}),
    "p1turn": frozenset({"true", "false"}),
    "result": frozenset({"p1win", "p2win", "draw", "none"}),
}


_REFEREE_TRANSITIONS: dict[type[Message], tuple[SessionState, SessionState]] = {
    Ugi: (SessionState.STARTED, SessionState.HANDSHAKE),
    IsReady: (SessionState.IDLE, SessionState.READYING),
    UgiNewGame: (SessionState.IDLE, SessionState.IDLE),
    SetOption: (SessionState.IDLE, SessionState.IDLE),
    SetPosition: (SessionState.IDLE, SessionState.IDLE),
    LegalMoves: (SessionState.IDLE, SessionState.IDLE),
    UgiQuery: (SessionState.IDLE, SessionState.IDLE),
    UgiResult: (SessionState.IDLE, SessionState.IDLE),
    Go: (SessionState.IDLE, SessionState.THINKING),
    Stop: (SessionState.THINKING, SessionState.THINKING),
}
"""States before and after each message of the referee. `quit` is allowed in every state."""

_BOT_ANSWERS: dict[type[Message], tuple[SessionState, str]] = {
    UgiOk: (SessionState.HANDSHAKE, "ugiok without ugi"),
    ReadyOk: (SessionState.READYING, "readyok without isready"),
}
"""Answers that end a state, and the error text for each of them in any other state."""


class RefereeSession:
    """State machine of the referee's end of a session with one bot.

    `capabilities` are those known before the session; `merge_capabilities` adds what the bot announced. `query` is the
    open query or None.
    """

    __slots__ = (
        "_positioned",
        "anomalies",
        "anomaly_count",
        "author",
        "capabilities",
        "families",
        "name",
        "options",
        "query",
        "state",
    )

    def __init__(self, capabilities: Capabilities | None = None) -> None:
        self.capabilities = capabilities or Capabilities.default()
        self.state = SessionState.STARTED
        self.name = ""
        self.author = ""
        self.families: tuple[str, ...] = ()
        self.options: dict[str, OptionDecl] = {}
        self.query: str | None = None
        self.anomalies: deque[tuple[SessionState, str]] = deque(maxlen=MAX_ANOMALIES)
        self.anomaly_count = 0
        self._positioned = False

    def merge_capabilities(self) -> Capabilities:
        """Return the stored capabilities, overridden by what the bot announced in the handshake."""
        known = self.capabilities
        clocks = self.options.get(CLOCKS_OPTION)
        return replace(
            known,
            clocks=known.clocks if clocks is None else clocks.is_default("true"),
            result=RESULT_OPTION in self.options,
            legal_moves=LEGAL_MOVES_OPTION in self.options,
            families=self.families,
            name=self.name,
            author=self.author,
            options=tuple(self.options.values()),
        )

    # Messages of the referee -------------------------------------------------------------------------------------

    def send(self, message: RefereeMessage) -> bytes:
        """Encode a message to write and advance the state. Raises OutOfTurn, or BadLine for a text with line breaks.

        Every `go` needs a `position` of its own: some engines play their own answer on the board, others forget the
        position.
        """
        if isinstance(message, SetOption) and self.capabilities.setoption == "bare":
            data = encode_line(message.bare())
        else:
            data = encode_line(str(message))
        if isinstance(message, Quit):
            if self.state is SessionState.CLOSED:
                raise out_of_turn_error(message, self.state, "quit is sent only once")
            self.state = SessionState.CLOSED
        else:
            self._advance(message)
        # The next message of the referee ends the wait for the answer to a query.
        self.query = message.what if isinstance(message, UgiQuery) else None
        return data

    def _advance(self, message: RefereeMessage) -> None:
        if type(message) not in _REFEREE_TRANSITIONS:
            raise out_of_turn_error(message, self.state, "the referee sends only messages of the protocol")
        needed, after = _REFEREE_TRANSITIONS[type(message)]
        if self.state is not needed:
            raise out_of_turn_error(message, self.state, f"it is only allowed in the state {needed.value}")
        if isinstance(message, Go) and not self._positioned:
            raise out_of_turn_error(message, self.state, "send a position before every go")
        if isinstance(message, SetPosition | Go | UgiNewGame):
            self._positioned = isinstance(message, SetPosition)
        self.state = after

    def begin_turn(self) -> None:
        """Advance the state for a `position` and a `go` that the caller writes itself; faster than two calls of `send`.

        Raises OutOfTurn.
        """
        if self.state is not SessionState.IDLE:
            raise out_of_turn_error(Go(), self.state, f"it is only allowed in the state {SessionState.IDLE.value}")
        self.state = SessionState.THINKING
        self._positioned = False
        self.query = None

    def complete_turn(self) -> None:
        """Advance the state for a turn whose `bestmove` has already come; faster than `begin_turn` and `end_turn`.

        Raises OutOfTurn.
        """
        if self.state is not SessionState.IDLE:
            self.begin_turn()
        self._positioned = False
        self.query = None

    def end_turn(self) -> None:
        """Advance the state for a `bestmove` that the caller reads itself; faster than `receive`. Raises OutOfTurn."""
        if self.state is not SessionState.THINKING:
            raise out_of_turn_error(Go(), self.state, f"it is only allowed in the state {SessionState.THINKING.value}")
        self.state = SessionState.IDLE

    # Messages of the bot -----------------------------------------------------------------------------------------

    def receive(self, line: bytes) -> BotMessage | Stray:
        """Parse a line of the bot and advance the state. Raises OutOfTurn for a `bestmove` without `go`, and nothing
        else.

        A malformed line of a known verb and a message that the state does not allow are returned as `Stray`.
        """
        try:
            message = parse_bot_line(line)
        except BadLine as error:
            return self._stray(Unknown(line.decode("utf-8", "replace").strip()), str(error))
        match message:
            case BestMove():
                if self.state is not SessionState.THINKING:
                    self._note(str(message))
                    raise out_of_turn_error(message, self.state, "answer every go with exactly one bestmove")
                self.state = SessionState.IDLE
            case Unknown():
                return self._unknown(message)
            case ReadyOk() | UgiOk():
                needed, reason = _BOT_ANSWERS[type(message)]
                if self.state is not needed:
                    return self._stray(message, reason)
                self.state = SessionState.IDLE
            case Response():
                if self.query is None:
                    return self._stray(message, "response without query")
                self.query = None
            case Id() | Declared():
                return self._id(message) if isinstance(message, Id) else self._declared(message)
        return message

    def forget_anomalies(self) -> None:
        """Begin to count anomalies again, for another game."""
        self.anomalies.clear()
        self.anomaly_count = 0

    def _note(self, line: str) -> None:
        self.anomaly_count += 1
        self.anomalies.append((self.state, visible(line[:ANOMALY_CHARACTERS])))

    def _stray(self, message: BotMessage, reason: str) -> Stray:
        self._note(str(message))
        return Stray(message, reason)

    def _unknown(self, message: Unknown) -> BotMessage:
        if self.query is not None and message.text:
            # Some engines answer a query with the bare value. Known queries accept only their known values.
            value = message.text.lower()
            answers = _QUERY_ANSWERS.get(self.query)
            if answers is None or value in answers:
                self.query = None
                return Response(message.text if answers is None else value)
        elif self.state is SessionState.THINKING and message.text in _BARE_NO_MOVES:
            self.state = SessionState.IDLE
            return BestMove(None)
        return message

    def _id(self, message: Id) -> Id | Stray:
        value = message.value[:MAX_NAME]
        if self.state is not SessionState.HANDSHAKE:
            known = {"name": (self.name,), "author": (self.author,), "family": self.families}.get(message.field, ())
            # Some engines repeat their greeting: the same words change nothing.
            return message if value in known else self._stray(message, "an id outside the handshake")
        if message.field == "name":
            self.name = value
        elif message.field == "author":
            self.author = value
        elif message.field == "family" and value and value not in self.families:
            if len(self.families) >= MAX_FAMILIES:
                return self._stray(message, f"more than {MAX_FAMILIES} families")
            self.families += (value,)
        return message

    def _declared(self, message: Declared) -> Declared | Stray:
        option = message.option
        if self.state is not SessionState.HANDSHAKE:
            return self._stray(message, "an option outside the handshake")
        if option.name in self.options:
            return self._stray(message, "an option announced twice: the first is used")
        # A bot must not fill the referee's memory with its greeting.
        if len(self.options) >= MAX_OPTIONS:
            return self._stray(message, f"more than {MAX_OPTIONS} options")
        self.options[option.name] = option
        return message
