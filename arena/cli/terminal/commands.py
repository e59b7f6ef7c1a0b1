"""The names of all commands with their help, examples and modules. Refuses to know what the commands do.

A command is a line of `COMMANDS` and a module with

    add(parser)              declares its arguments on a parser that already has name, help and examples
    run(arguments) -> int    does the work and returns an exit code (see `arena.cli.terminal.exit`)

A command with sub-commands (see `arena.cli.terminal.actions`) needs no `run`: each of them has its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its name, one line of help, examples, and the module that does it."""

    name: str
    help: str
    examples: tuple[str, ...] = ()
    group: str = "rules"
    room: str = "local"

    @property
    def module(self) -> str:
        """The full name of its module."""
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
    "archive": {"--format": "--notation", "--out": "--output-file"},
    "check": {"--again": "--update", "--save": "--write-config", "--lines": "--transcript"},
    "login": {"--forget": "arena logout"},
    "play": {"--first": "--sides"},
    "book": {"--out": "--output-file"},
    "game": {"--out": "--output-file"},
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
    "server": "server side",
    "client": "client side",
}

COMMANDS: tuple[Command, ...] = (
    Command(
        "rules",
        "list families, show legal moves, check vectors, convert game texts",
        (
            "arena rules list",
            'arena rules moves loa --moves "b1b3 h5f5"',
            "arena rules vectors tests/data/vectors/*.json",
            "arena rules convert loa --from loa --to record < game.txt",
        ),
    ),
    Command(
        "perft",
        "count the leaves of the tree of moves",
        ("arena perft loa --depth 5", "arena perft tablut --variant ashton --depth 3 --divide"),
    ),
    Command(
        "playouts",
        "play uniformly random games in the kernel",
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
        "find problems in games: positions with a short forced win",
        (
            "arena problems find abalone --collection migs.txt --in 2..4 --unique",
            "arena problems find loa --collection games.ndjson --limit 10 -o ndjson",
        ),
    ),
    Command(
        "warmup",
        "compile the kernels of all families once, into the cache",
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
        "judge every move of a game, and mark those that lost much",
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
        "what was played in a position, and how it went",
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
        "measure how fair the starts of a family are",
        (
            "arena atlas run arena/atlas/plans/tablut.toml --out runs/tablut",
            "arena atlas report runs/tablut --csv tablut.csv",
            "arena atlas show tablut",
        ),
        "local",
    ),
    Command(
        "tune",
        "tune spin options of a bot by games against itself",
        (
            "arena tune ./mybot --family loa --parameter Mobility:0:100:30:5 --parameter Tempo --games 20000",
            "arena tune sample:alphabeta --family tablut --parameter Contempt:0:1000:150:50 --games 2000 "
            "--tc nodes:2000 --out runs/contempt --concurrency 2",
        ),
        "local",
    ),
    Command(
        "datagen",
        "make labelled positions from games of a bot against itself",
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
        "what this machine offers, part by part, and how to get the rest",
        ("arena doctor", "arena doctor --json"),
        "local",
        room="server",
    ),
    Command(
        "completion",
        "a script by which bash, zsh or fish complete commands and options",
        ("arena completion bash > ~/.local/share/bash-completion/completions/arena", "arena completion fish | source"),
        "local",
        room="terminal",
    ),
    Command(
        "demo",
        "a tournament of the sample bots in every family, with ratings and pages",
        ("arena demo --once", "arena demo --games 4"),
        "local",
        room="server",
    ),
    Command(
        "init",
        "make a new arena: settings, database, sample bots, the first administrator",
        ("arena init", "arena init --data /var/lib/arena --admin zoe"),
        "server",
        room="server",
    ),
    Command(
        "db",
        "upgrade, check, dump and load the database",
        ("arena db upgrade", "arena db dump backup.ndjson.zst"),
        "server",
        room="server",
    ),
    Command(
        "user",
        "add, list and change users; make tokens",
        ("arena user add zoe --role organiser", 'arena user token zoe --scopes "read submit"'),
        "server",
        room="server",
    ),
    Command(
        "serve",
        "pages and JSON interface, and the referee that plays and records",
        ("arena serve", "arena serve --port 9000 --executor local:4 --data /var/lib/arena"),
        "server",
        room="server",
    ),
    Command(
        "referee",
        "schedule, play and record tournaments, without pages",
        ("arena referee", "arena referee --database postgresql://arena@db/arena --executor local:8"),
        "server",
        room="server",
    ),
    Command(
        "scheduler",
        "the meeting point of an arena and its workers",
        ("arena scheduler", "arena scheduler --bind 10.0.0.1 --port 8786 --tls"),
        "server",
        room="server",
    ),
    Command(
        "worker",
        "play games for an arena elsewhere",
        (
            "arena worker --scheduler dask://127.0.0.1:8786",
            "arena worker --scheduler tls://10.0.0.1:8786 --slots 8 --data /var/lib/arena-worker",
        ),
        "server",
        room="server",
    ),
    Command(
        "ratings",
        "fold all ratings anew from the games, or check that they follow from them",
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
        "keep a token of a server for the other commands",
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
        "submit, list, show and retire bots; what room there is for more",
        ("arena bot submit ./mybot --name mybot --family loa --watch", "arena bot list --family loa --json"),
        "client",
        room="client",
    ),
    Command(
        "connect",
        "play on a server with a program of this machine, which stays here",
        (
            "arena connect ./mybot --url https://arena.example --name mybot --family loa",
            'arena connect "python mybot.py" --name mybot --family loa --games 4 --open',
        ),
        "client",
        room="client",
    ),
    Command(
        "challenge",
        "start a match of your remote bot against a sample, or whoever is open to it",
        ("arena challenge greedy --bot mybot --family loa --games 4",),
        "client",
        room="client",
    ),
    Command(
        "tournament",
        "create, list, show, steer, watch and export tournaments",
        ("arena tournament create open.toml", "arena tournament watch 7"),
        "client",
        room="client",
    ),
    Command(
        "schedule",
        "list, show and switch recurring tournaments",
        ("arena schedule list", "arena schedule disable 2"),
        "client",
        room="client",
    ),
    Command(
        "leaderboard",
        "the ratings of a family",
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
        "what your bot said on standard error in a game",
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
"""Those that run kernels, here or in processes they start."""
