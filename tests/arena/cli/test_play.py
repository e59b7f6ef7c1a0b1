"""The arguments of `arena play`."""

from __future__ import annotations

import argparse

from arena.cli import play


def test_every_default_stands_in_the_help() -> None:
    parser = argparse.ArgumentParser()
    play.add(parser)
    unsaid = [
        action.dest
        for action in parser._actions
        if action.default not in (None, False, [], argparse.SUPPRESS)
        and not (str(action.default) in (action.help or "") and "default" in (action.help or ""))
    ]
    assert unsaid == []
