"""State machine of the bot's end of a UGI session: which messages each state allows, and the options that were set."""

from __future__ import annotations

from protocol.errors import BadOption
from protocol.messages import (
    BestMove,
    BotMessage,
    Declared,
    Go,
    Id,
    IsReady,
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
    Unknown,
)
from protocol.options import OptionDecl
from protocol.parser import parse_referee_line
from protocol.turn import SessionState, Stray, encode_line, out_of_turn_error


class BotSession:
    """State machine of the bot's end. `options` are the options it announced, `values` the values the referee set.

    It is lenient where the protocol is: `isready` is valid at any time after `ugi`, a `stop` that crosses the
    `bestmove` is returned as `Stray`, and one `position` is valid for any number of `go`.
    """

    __slots__ = ("_owed", "_positioned", "options", "query", "state", "values")

    def __init__(self) -> None:
        self.state = SessionState.STARTED
        self.options: dict[str, OptionDecl] = {}
        self.values: dict[str, str] = {}
        self.query: str | None = None
        self._positioned = False
        self._owed = 0

    def receive(self, line: bytes | str) -> RefereeMessage | Stray:
        """Parse a line from the referee and advance the state.

        Raises OutOfTurn, BadLine, or BadOption for an option that the bot never announced.
        """
        message = parse_referee_line(line)
        if isinstance(message, Unknown | Quit):
            if isinstance(message, Quit):
                self.state = SessionState.CLOSED
            return message
        if self.state is SessionState.CLOSED:
            raise out_of_turn_error(message, self.state, "nothing follows quit")
        if isinstance(message, Ugi):
            if self.state is not SessionState.STARTED:
                return Stray(message, "ugi was sent before")
            self.state = SessionState.HANDSHAKE
            return message
        if self.state in (SessionState.STARTED, SessionState.HANDSHAKE):
            raise out_of_turn_error(message, self.state, "ugi and ugiok come first")
        if isinstance(message, Stop):
            return message if self.state is SessionState.THINKING else Stray(message, "there is nothing to stop")
        if not isinstance(message, IsReady):
            self._not_thinking(message)
        self._take(message)
        return message

    def _take(self, message: RefereeMessage) -> None:
        match message:
            case IsReady():
                self._owed += 1
                if self.state is SessionState.IDLE:
                    self.state = SessionState.READYING
            case SetOption():
                self._set(message)
            case SetPosition() | UgiNewGame():
                self._positioned = isinstance(message, SetPosition)
            case Go():
                if not self._positioned:
                    raise out_of_turn_error(message, self.state, "send a position before go")
                self.state = SessionState.THINKING
            case UgiQuery():
                self.query = message.what

    def _not_thinking(self, message: RefereeMessage) -> None:
        if self.state is SessionState.THINKING:
            raise out_of_turn_error(message, self.state, "wait for bestmove")

    def _set(self, message: SetOption) -> None:
        option = self.options.get(message.name)
        if option is None:
            raise BadOption("option", message.name, self.options, line=str(message))
        self.values[option.name] = option.check(message.value or "")

    def send(self, message: BotMessage) -> bytes:
        """Encode a message to write and advance the state. Raises OutOfTurn, or BadLine for a text with line breaks."""
        data = encode_line(str(message))
        match message:
            case BestMove():
                self._only(message, SessionState.THINKING)
                self.state = SessionState.IDLE
            case Id():
                self._only(message, SessionState.HANDSHAKE)
            case Declared():
                self._only(message, SessionState.HANDSHAKE)
                self.options[message.option.name] = message.option
            case UgiOk():
                self._only(message, SessionState.HANDSHAKE)
                self.state = SessionState.IDLE
            case ReadyOk():
                if not self._owed:
                    raise out_of_turn_error(message, self.state, "readyok answers isready")
                self._owed -= 1
                if self.state is SessionState.READYING and not self._owed:
                    self.state = SessionState.IDLE
            case Response():
                if self.query is None:
                    raise out_of_turn_error(message, self.state, "response answers query")
                self.query = None
            case _:
                if self.state in (SessionState.STARTED, SessionState.CLOSED):
                    raise out_of_turn_error(message, self.state, "send nothing before ugi and after quit")
        return data

    def _only(self, message: BotMessage, state: SessionState) -> None:
        if self.state is not state:
            raise out_of_turn_error(message, self.state, f"it is only allowed in the state {state.value}")
