"""The settings in a bot argument: `fast=./engine;tc=10+0.1;option.Hash=64`, separated by semicolons.

A semicolon inside quotes does not separate, so commands and values may hold one: `"sh -c 'a; b'";option.Book="x;y"`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from protocol.negotiation import RULE_PREFIX, SETUP_OPTION, VARIANT_OPTION
from protocol.options import OptionDecl
from referee.game.spec import TimeControl, read_time_control

TIME = "tc"
OPTION = "option."
OF_THE_GAME = frozenset({"Family", VARIANT_OPTION, SETUP_OPTION})
"""Options with which the referee sets the rules of the game."""
PRESSED = ("", "true")
"""Values of a button that is to be pressed: a file cannot name an option alone."""
_HINT = "write BOT;tc=10+0.1;option.NAME=VALUE"
_EACH_HINT = "write tc=10+0.1 or option.NAME=VALUE"


@dataclass(frozen=True, slots=True)
class BotSettings:
    """A bot's own time control, and UGI options set before every game as (name, value)."""

    time: TimeControl | None = None
    options: tuple[tuple[str, str], ...] = ()


def split_settings(text: str) -> tuple[str, BotSettings]:
    """Split a bot argument into bot (`fast=./engine`) and settings. Raises ValueError naming the invalid setting."""
    bot, *parts = _split(text)
    return bot, _read(parts, f"bot {text!r}", _HINT, may_repeat=False)


def is_setting(word: str) -> bool:
    """Return whether a word begins with `tc=` or `option.`, so that it is a setting and not a bot."""
    return word.lstrip().startswith((f"{TIME}=", OPTION))


def read_each(words: Iterable[str]) -> BotSettings:
    """Parse the settings for all bots; each word holds one or more. If a setting is repeated, its last value counts.

    Raises ValueError naming the invalid word.
    """
    parts = [part for word in words for part in _split(word) if part.strip()]
    return _read(parts, "--each", _EACH_HINT, may_repeat=True)


def _read(parts: Iterable[str], place: str, hint: str, *, may_repeat: bool) -> BotSettings:
    time: TimeControl | None = None
    options: dict[str, str] = {}
    for part in parts:
        name, _, value = part.strip().partition("=")
        name, value = name.strip(), _unquoted(value.strip())
        is_new = time is None if name == TIME else name.removeprefix(OPTION) not in options
        if name == TIME and (is_new or may_repeat):
            time = read_time_control(value)
        elif name.startswith(OPTION) and name != OPTION and (is_new or may_repeat):  # a button has no value
            options[name.removeprefix(OPTION)] = value
        else:
            reason = "is not a setting" if is_new else "is set twice"
            raise ValueError(f"{place}: {part.strip()!r} {reason}; {hint}")
        if not value.isprintable() or not name.isprintable():
            raise ValueError(f"{place}: {name} must be one printable line; {hint}")
    return BotSettings(time, tuple(options.items()))


def is_of_game(name: str) -> bool:
    """Return whether the referee itself sets this option by the rules of the game."""
    return name in OF_THE_GAME or name.startswith((RULE_PREFIX, "UGI_"))


def wrong_option(announced: Mapping[str, OptionDecl], given: Iterable[tuple[str, str]]) -> str:
    """Describe the first of the options `given` that the bot does not accept (`has no option …`); empty if none."""
    for name, value in given:
        if is_of_game(name):
            return f"gets {name!r} from the referee, by the rules of the game"
        option = announced.get(name)
        if option is None:
            return f"has no option {name!r}; it announced {', '.join(sorted(announced)) or 'none'}"
        if option.type == "button":
            if value not in PRESSED:
                return (
                    f'has the button {name!r}, which has no value: write {OPTION}{name}, or in a file "{name}" = true'
                )
        elif not option.accepts(value):
            return f"does not take {value!r} for its option {name!r}: {option}"
    return ""


def _split(text: str) -> list[str]:
    """Split the text at its semicolons outside quotes; an unclosed quote counts as an ordinary character."""
    parts, start, quote = [], 0, ""
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"" and letter in text[place + 1 :]:
            quote = letter
        elif letter == ";":
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if is_quoted else value
