"""`python -m bots.bridges.python_agent WHAT --family FAMILY`: a Python function or class as a UGI bot.

`WHAT` is `module:name` or `path/to/file.py:name`. `--api` says how the function or class is called:

    position   function(position, clock) -> move, or a class with choose(position, clock); one object plays one game
    text       function(position: str, moves: list[str], milliseconds: float) -> move; the same for a class
    course     a module of the Baroque course: makeMove(state, remark, timelimit) -> [[move, state], remark]

A move is text or, with `position`, a code. With `--filter` an illegal choice is replaced by a legal move and reported;
otherwise it ends the process with the reason on standard error. `print` of the agent writes to standard error.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from bots.bridges.agent import Agent
from bots.bridges.baroque_course import CourseAgent, provide_state_module
from bots.bridges.failure import BridgeError, BridgeExit, BridgeParser, guarded
from bots.sdk import families, run

APIS = ("position", "text", "course")


def find(reference: str) -> tuple[ModuleType, Any]:
    """Import the module of `module:name` or `file.py:name`; return it and the object of that name.

    If no name is given, the object is the module itself. Raises BridgeError.
    """
    place, _, name = reference.rpartition(":") if not reference.endswith(".py") else (reference, "", "")
    if not place:
        place, name = reference, ""
    try:
        module = _from_file(Path(place)) if place.endswith(".py") else _by_name(place)
    except BridgeError:
        raise
    except ModuleNotFoundError as error:
        raise BridgeError(
            BridgeExit.MISSING, f"no module {error.name!r} for {reference!r}; write module:name or file.py:name"
        ) from None
    except Exception as error:
        traceback.print_exc()
        raise BridgeError(BridgeExit.BROKEN, f"{place} cannot be imported: {type(error).__name__}: {error}") from None
    if not name:
        return module, module
    if not hasattr(module, name):
        near = ", ".join(attribute for attribute in vars(module) if not attribute.startswith("_"))[:200]
        raise BridgeError(BridgeExit.MISSING, f"no {name!r} in {place}; it has {near or 'nothing'}")
    return module, getattr(module, name)


def _by_name(name: str) -> ModuleType:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    return importlib.import_module(name)


def _from_file(path: Path) -> ModuleType:
    try:
        path.open("rb").close()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise BridgeError(BridgeExit.MISSING, f"no such file: {path}") from None
    except OSError as error:
        raise BridgeError(
            BridgeExit.MISSING,
            f"{path} cannot be read ({error.strerror}): user {os.geteuid()}, as which the bot runs, must be allowed to "
            "read it and to enter the folders above it",
        ) from None
    sys.path.insert(0, str(path.parent.resolve()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def build(reference: str, api: str, filters: bool, name: str) -> Agent:
    """Return the bot that a command line describes. Raises BridgeError."""
    if api == "course":
        provide_state_module(Path(reference.split(":", maxsplit=1)[0]))
        module, target = find(reference)
        agent: Agent = CourseAgent(target, filters)
    else:
        module, target = find(reference)
        agent = Agent(target, api, filters)
        agent.player() if not inspect.isclass(target) else None
    type(agent).name = name or str(getattr(target, "name", "") or getattr(target, "__name__", "") or module.__name__)
    return agent


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = BridgeParser(
        prog="python -m bots.bridges.python_agent", description="Run a Python function or class as a bot."
    )
    parser.add_argument("what", metavar="WHAT", help="module:name or path/to/file.py:name")
    parser.add_argument("--family", choices=families(), help="family of games (--api course: always baroque)")
    parser.add_argument("--api", choices=APIS, default="position", help="how the agent is called (default: position)")
    parser.add_argument("--filter", action="store_true", help="replace illegal moves by legal ones")
    parser.add_argument("--name", default="", help="name to show")
    arguments = parser.parse_args(argv)
    family = arguments.family or ("baroque" if arguments.api == "course" else None)
    if family is None or (arguments.api == "course" and family != "baroque"):
        parser.error("missing --family" if family is None else "the course API is for baroque only")
    sys.stdout = sys.stderr

    def work() -> None:
        agent = build(arguments.what, arguments.api, arguments.filter, arguments.name)
        run(agent, ["--family", family])

    guarded(work, "python agent")


if __name__ == "__main__":
    main()
