"""`arena completion bash|zsh|fish`: a script by which a shell completes commands, options and permitted values.

Made from the parsers, so that it knows what they know. Refuses to ask a server: names of bots are not completed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

from arena.cli.terminal import output
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.parser import Parser, build

SHELLS = ("bash", "zsh", "fish")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    words, values = dict(_words(build(), "arena")), dict(_values(build(), "arena"))
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell](words, values)
    output.text(script.rstrip("\n"))
    return Exit.DONE


def _parts(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The commands below a parser; what its module declares is declared then."""
    if isinstance(parser, Parser):
        parser.fill()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _words(parser: argparse.ArgumentParser, place: str) -> Iterator[tuple[str, list[str]]]:
    """What may come at a place (`arena`, `arena bot`, `arena bot list`): commands, values, options."""
    parts = list(_parts(parser))
    found = [name for name, _ in parts]
    for action in parser._actions:
        if not action.option_strings and not parts and action.choices:
            found += map(str, action.choices)
        if action.help is not argparse.SUPPRESS:
            found += [word for word in action.option_strings if word.startswith("--")]
    yield place, found
    for name, part in parts:
        yield from _words(part, f"{place} {name}")


def _values(parser: argparse.ArgumentParser, place: str) -> Iterator[tuple[str, list[str]]]:
    """What may follow an option that has a choice of values, under the place and the option."""
    parts = list(_parts(parser))
    for action in parser._actions:
        if action.choices and action.option_strings:
            for word in action.option_strings:
                yield f"{place} {word}", [str(one) for one in action.choices]
    for name, part in parts:
        yield from _values(part, f"{place} {name}")


def _cases(table: Mapping[str, list[str]], line: str) -> str:
    return "\n".join(f'    "{place}") {line.format(" ".join(words))} ;;' for place, words in table.items())


def _places(words: Mapping[str, list[str]]) -> str:
    return "|".join(f'"{place}"' for place in words if place != "arena")


def _bash(words: Mapping[str, list[str]], values: Mapping[str, list[str]]) -> str:
    return f"""\
# arena completion bash > ~/.local/share/bash-completion/completions/arena
_arena() {{
  local place=arena word words=
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$place $word" in
      {_places(words)}) place="$place $word" ;;
    esac
  done
  case "$place" in
{_cases(words, "words='{}'")}
  esac
  case "$place ${{COMP_WORDS[COMP_CWORD-1]}}" in
{_cases(values, "words='{}'")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _arena arena
"""


def _zsh(words: Mapping[str, list[str]], values: Mapping[str, list[str]]) -> str:
    return f"""\
#compdef arena
# arena completion zsh > a folder of $fpath, as _arena
_arena() {{
  local place=arena word
  local -a found
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$place $word" in
      {_places(words)}) place="$place $word" ;;
    esac
  done
  case "$place" in
{_cases(words, "found=({})")}
  esac
  case "$place ${{words[CURRENT-1]}}" in
{_cases(values, "found=({})")}
  esac
  compadd -- $found
  _files
}}
if [ "$funcstack[1]" = "_arena" ]; then _arena "$@"; else compdef _arena arena; fi
"""


def _fish(words: Mapping[str, list[str]], values: Mapping[str, list[str]]) -> str:
    known = " ".join(f"'{place}'" for place in words if place != "arena")
    offers = [
        f"complete -c arena -n '__arena_at \"{place}\"' -a '{' '.join(found)}'"
        for place, found in words.items()
        if found
    ]
    offers += [
        f"complete -c arena -n '__arena_after \"{place}\"' -a '{' '.join(found)}'" for place, found in values.items()
    ]
    return "\n".join(
        [
            "# arena completion fish > ~/.config/fish/completions/arena.fish",
            "function __arena_place",
            "  set -l place arena",
            "  set -l typed (commandline -opc)",
            "  set -e typed[1]",
            "  for word in $typed",
            f'    contains -- "$place $word" {known}; and set place "$place $word"',
            "  end",
            "  echo $place",
            "end",
            "function __arena_at",
            '  test (__arena_place) = "$argv[1]"',
            "end",
            "function __arena_after",
            '  test (__arena_place)" "(commandline -opc)[-1] = "$argv[1]"',
            "end",
            *offers,
            "",
        ]
    )
