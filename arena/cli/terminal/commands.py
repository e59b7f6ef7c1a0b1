"""All commands with their help, examples and modules.

A command is a line of `COMMANDS` and a module with

    add(parser)              declares its arguments on a parser that already has name, help and examples
    run(arguments) -> int    does the work and returns an exit code (see `arena.cli.terminal.exit`)

A command with subcommands (see `arena.cli.terminal.actions`) needs no `run`: each of them has its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its name, one line of help, examples, and the module that runs it."""

    name: str
    help: str
    examples: tuple[str, ...] = ()
    group: str = "rules"
    room: str = "local"

    @property
    def module(self) -> str:
        """The full name of the command's module."""
        return f"arena.cli.{self.room}.{self.name}"


RENAMED_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "": {"--ndjson": "--output ndjson", "--text": "--output text", "--form": "--output"},
    "train": {
        "--trust": "--lambda",
        "--held-out": "--validation-split",
        "--ridge": "--l2",
        "--out": "--output-file",
    },
    "tune": {"--rate": "--learning-rate"},
    "datagen": {"--shard": "--games-per-shard"},
    "archive": {
        "--format": "--notation",
        "--out": "--output-file",
        "--shortest": "--min-plies",
        "--longest": "--max-plies",
        "--most-gaffes": "--max-blunders",
        "--most-accuracy": "--max-accuracy",
        "--turns": "--min-turning-points",
        "--thrown": "--blown-win",
    },
    "check": {"--again": "--update", "--save": "--write-config", "--lines": "--transcript"},
    "login": {"--forget": "arena logout"},
    "play": {"--first": "--sides"},
    "book": {"--out": "--output-file"},
    "game": {"--out": "--output-file", "--kind": "--termination-class"},
    "tournament": {"--out": "--output-file"},
}
"""Options by command (empty: any) and former name: the present name, which the error message suggests."""

RENAMED = {
    "arena rules certify": "conformance",
    "arena rules check": "vectors",
    "arena games archive": "arena dump update",
    "arena games verify": "arena verify",
    "arena games curve": "arena analysis fit",
}
"""Commands by their former full name: the present name, which the error message suggests."""

GROUPS = {
    "rules": "rules (no server, no database)",
    "local": "playing on this machine (no server)",
    "server": "operating a server",
    "client": "using a server",
}

COMMANDS: tuple[Command, ...] = (
    Command(
        "rules",
        "list families, show legal moves, check vectors, convert games",
        (
            "arena rules list",
            'arena rules moves loa --moves "b1b3 h5f5"',
            "arena rules vectors tests/data/vectors/*.json",
            "arena rules convert loa --from loa --to record < game.txt",
        ),
    ),
    Command(
        "perft",
        "count the leaves of the game tree",
        ("arena perft loa --depth 5", "arena perft tablut --variant ashton --depth 3 --divide"),
    ),
    Command(
        "playouts",
        "play uniformly random games",
        ("arena playouts loa --games 1000 --seed 7", "arena playouts abalone --games 100 --max-plies 500 --json"),
    ),
    Command(
        "solve",
        "prove or refute that a side wins in a number of moves",
        (
            'arena solve loa --position "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1" --in 3',
            'arena solve abalone --position "..." --side white --in 4 --condition "marbles<=7" --json',
        ),
    ),
    Command(
        "problems",
        "find, set and solve problems: positions with a short forced win",
        (
            "arena problems find abalone --collection migs.txt --in 2..4 --unique",
            "arena problems add loa --file found.ndjson",
            "arena problems solve 12",
        ),
        "local",
    ),
    Command(
        "warmup",
        "compile the rules and the solver of all families into the cache",
        ("arena warmup", "arena warmup loa tablut --json"),
    ),
    Command(
        "play",
        "play games between bots",
        (
            "arena play sample:greedy sample:random --family loa --games 10",
            'arena play ./mybot "python other.py" --family tablut --tc 1+0.05 --out runs/first',
            'arena play "fast=./mybot;tc=1+0.01;option.Threads=1" ./mybot --family loa --tc 10+0.1',
            'arena play ./mybot ./other --family loa --games 100 --each "tc=40/60;option.Hash=64" --rating-interval 10',
            "arena play --config match.toml --games 20",
        ),
        "local",
    ),
    Command(
        "check",
        "check a bot step by step, with the lines exchanged",
        ("arena check ./mybot --family loa", "arena check sample:alphabeta --family pijersi --json"),
        "local",
    ),
    Command(
        "replay",
        "draw, print or verify a game record",
        (
            "arena replay game.json --ply 12",
            "arena replay runs/first/games.ndjson --verify",
        ),
        "local",
    ),
    Command(
        "analyse",
        "analyse a game with an engine, and mark blunders",
        ("arena analyse game.json", "arena analyse 427 --nodes 100000", "arena analyse runs/first/games.ndjson --json"),
        "local",
    ),
    Command(
        "archive",
        "import, search, show and export collections of games",
        (
            "arena archive import migs.txt --family abalone",
            "arena archive search --family abalone --player picasso",
            "arena archive export --number 427 -o ndjson",
        ),
        "local",
        room="client",
    ),
    Command(
        "explore",
        "show the moves played in a position, with their results",
        (
            'arena explore loa --moves "b1b3 h3f3"',
            'arena explore tablut --position "3aaa3/4a4/4d4/a3d3a/aaddkddaa/a3d3a/4d4/4a4/3aaa3 a" --since 2026 --json',
            "arena explore pijersi --bot ada --server http://127.0.0.1:8000",
        ),
        "local",
        room="client",
    ),
    Command(
        "atlas",
        "measure the fairness of the starts of a family",
        (
            "arena atlas run arena/atlas/plans/tablut.toml --out runs/tablut",
            "arena atlas report runs/tablut --csv tablut.csv",
            "arena atlas show tablut",
        ),
        "local",
    ),
    Command(
        "tune",
        "tune spin options of a bot by self-play",
        (
            "arena tune ./mybot --family loa --parameter Mobility:0:100:30:5 --parameter Tempo --games 20000",
            "arena tune sample:alphabeta --family tablut --parameter Contempt:0:1000:150:50 --games 2000 "
            "--tc nodes:2000 --out runs/contempt --concurrency 2",
        ),
        "local",
    ),
    Command(
        "datagen",
        "make labelled positions by self-play of a bot",
        (
            "arena datagen --family loa --positions 100000 --nodes 2000 --seed 1 --out data/loa --concurrency 4",
            "arena datagen --family tablut --bot ./mybot --positions 5000 --out data/tablut",
        ),
        "local",
    ),
    Command(
        "train",
        "fit an evaluation to labelled positions",
        (
            "arena train --family loa data/loa --output-file loa.json",
            "arena train --family loa data/a data/b --output-file loa.json --lambda 1",
        ),
        "local",
    ),
    Command(
        "book",
        "make and check books of openings",
        (
            "arena book make loa --plies 6 --count 50 --seed 1 --margin 50 --depth 6 --output-file loa.book",
            "arena book check loa.book --family loa",
        ),
        "local",
    ),
    Command(
        "doctor",
        "check this machine: sandbox, programs, cores, database, broker",
        ("arena doctor", "arena doctor --json"),
        "local",
        room="server",
    ),
    Command(
        "completion",
        "print a completion script for bash, zsh or fish",
        ("arena completion bash > ~/.local/share/bash-completion/completions/arena", "arena completion fish | source"),
        "local",
        room="terminal",
    ),
    Command(
        "demo",
        "play a tournament of the sample bots, with ratings and pages",
        ("arena demo --once", "arena demo --games 4"),
        "local",
        room="server",
    ),
    Command(
        "init",
        "create an arena: settings, database, sample bots, administrator",
        ("arena init", "arena init --data /var/lib/arena --admin zoe"),
        "server",
        room="server",
    ),
    Command(
        "db",
        "upgrade, check, dump, load, back up and restore the database",
        ("arena db upgrade", "arena db dump backup.ndjson.zst"),
        "server",
        room="server",
    ),
    Command(
        "user",
        "add, invite, list and change users and their tokens",
        ("arena user add zoe --role organiser", "arena user invite --uses 20", "arena user reset zoe"),
        "server",
        room="server",
    ),
    Command(
        "serve",
        "serve pages and JSON interface, and play the games",
        ("arena serve", "arena serve --port 9000 --executor local:4 --data /var/lib/arena"),
        "server",
        room="server",
    ),
    Command(
        "referee",
        "play and record tournaments, without pages",
        ("arena referee", "arena referee --database postgresql://arena@db/arena --executor local:8"),
        "server",
        room="server",
    ),
    Command(
        "scheduler",
        "run the scheduler of a cluster of workers",
        ("arena scheduler", "arena scheduler --bind 10.0.0.1 --port 8786 --tls"),
        "server",
        room="server",
    ),
    Command(
        "worker",
        "play games for an arena on another machine",
        (
            "arena worker --scheduler dask://127.0.0.1:8786",
            "arena worker --scheduler tls://10.0.0.1:8786 --slots 8 --data /var/lib/arena-worker",
        ),
        "server",
        room="server",
    ),
    Command(
        "ratings",
        "rebuild all ratings from the games, or check them",
        ("arena ratings rebuild --check", "arena ratings rebuild"),
        "server",
        room="server",
    ),
    Command(
        "verify",
        "replay recorded games by the rules",
        ("arena verify", "arena verify --all"),
        "server",
        room="server",
    ),
    Command(
        "dump",
        "update and list the published monthly files of games",
        ("arena dump update", "arena dump list --check"),
        "server",
        room="server",
    ),
    Command(
        "analysis",
        "fit a win model to the analysed games",
        ("arena analysis fit loa",),
        "server",
        room="server",
    ),
    Command(
        "login",
        "log in at a server, and store the token",
        ("arena login --server https://arena.example --user ada", "echo $TOKEN | arena login"),
        "client",
        room="client",
    ),
    Command(
        "logout",
        "revoke and delete the token of a server",
        ("arena logout", "arena logout --server https://arena.example"),
        "client",
        room="client",
    ),
    Command(
        "bot",
        "submit, list, show and retire bots; show your quota",
        ("arena bot submit ./mybot --name mybot --family loa --watch", "arena bot list --family loa --json"),
        "client",
        room="client",
    ),
    Command(
        "connect",
        "play on a server with a bot that runs on this machine",
        (
            "arena connect ./mybot --url https://arena.example --name mybot --family loa",
            'arena connect "python mybot.py" --name mybot --family loa --games 4 --open',
        ),
        "client",
        room="client",
    ),
    Command(
        "challenge",
        "start a match of your remote bot",
        ("arena challenge greedy --bot mybot --family loa --games 4",),
        "client",
        room="client",
    ),
    Command(
        "tournament",
        "create, list, show, control, watch and export tournaments",
        ("arena tournament create open.toml", "arena tournament watch 7"),
        "client",
        room="client",
    ),
    Command(
        "schedule",
        "list, show, enable and disable recurring tournaments",
        ("arena schedule list", "arena schedule disable 2"),
        "client",
        room="client",
    ),
    Command(
        "leaderboard",
        "show the ratings of a family",
        ("arena leaderboard loa", "arena leaderboard loa --limit 10 --json"),
        "client",
        room="client",
    ),
    Command(
        "game",
        "show, watch and download games, or export many",
        (
            "arena game show 0123456789abcdef",
            "arena game export --bot mybot --output-file games.ndjson",
        ),
        "client",
        room="client",
    ),
    Command(
        "logs",
        "show what your bot wrote to standard error in a game",
        ("arena logs 0123456789abcdef --side first", "arena logs 0123456789abcdef --side second --json"),
        "client",
        room="client",
    ),
)

COMPILING = frozenset(
    {
        *("rules", "perft", "solve", "problems", "playouts", "play", "check", "replay", "analyse", "atlas", "tune"),
        *("datagen", "train", "archive", "book", "demo", "serve", "referee", "worker", "verify", "analysis", "connect"),
    }
)
"""Commands that run kernels, here or in processes they start."""
