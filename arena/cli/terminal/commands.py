"""All commands with their help, examples and modules.

A command is a line of `CORE`, or of a feature, and a function of its module, `run` or its own name, that does the work
and returns an exit code (see `arena.cli.terminal.exit`). The type of its argument, a record, says which arguments the
command takes (see `arena.cli.terminal.fields`). Those of a `Namespace` are declared by `add`, or `add_NAME`, which also
declares subcommands (see `Actions` there).
"""

from __future__ import annotations

from functools import cache

from arena import feature
from arena.feature import Command

GROUPS = {
    "rules": "rules (no server, no database)",
    "local": "playing on this machine (no server)",
    "server": "operating a server",
    "client": "using a server",
}

CORE: tuple[Command, ...] = (
    Command(
        "rules",
        "list families, show legal moves, check vectors, convert games",
        (
            "arena rules list",
            'arena rules moves loa --moves "b1b3 h5f5"',
            "arena rules vectors tests/data/vectors/*.json",
            "arena rules convert loa --from loa --to record < game.txt",
        ),
        module="arena.cli.local.rules",
        compiles=True,
    ),
    Command(
        "perft",
        "count the leaves of the game tree",
        ("arena perft loa --depth 5", "arena perft tablut --variant ashton --depth 3 --divide"),
        module="arena.cli.local.kernels",
        compiles=True,
    ),
    Command(
        "playouts",
        "play uniformly random games",
        ("arena playouts loa --games 1000 --seed 7", "arena playouts abalone --games 100 --max-plies 500 --json"),
        module="arena.cli.local.kernels",
        compiles=True,
    ),
    Command(
        "warmup",
        "compile the rules and the solver of all families into the cache",
        ("arena warmup", "arena warmup loa tablut --json"),
        module="arena.cli.local.kernels",
    ),
    Command(
        "new-bot",
        "write a small bot to begin with, in your programming language",
        ("arena new-bot python loa my-bot", "arena new-bot rust pijersi bots/first"),
        "local",
        module="arena.cli.local.new_bot",
        about="Write a small bot that plays at once, its bot.toml and a Makefile into DIR. In Python the bot knows the "
        "rules by bots.sdk. In the other languages, and as python-plain, the referee sends it the legal moves.",
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
        module="arena.cli.local.play",
        compiles=True,
    ),
    Command(
        "check",
        "check a bot step by step, with the lines exchanged",
        ("arena check ./mybot --family loa", "arena check sample:alphabeta --family pijersi --json"),
        "local",
        module="arena.cli.local.check",
        compiles=True,
    ),
    Command(
        "replay",
        "draw, print or verify a game record",
        (
            "arena replay game.json --ply 12",
            "arena replay runs/first/games.ndjson --verify",
        ),
        "local",
        module="arena.cli.local.replay",
        compiles=True,
    ),
    Command(
        "analyse",
        "analyse a game with an engine, and mark blunders",
        ("arena analyse game.json", "arena analyse 427 --nodes 100000", "arena analyse runs/first/games.ndjson --json"),
        "local",
        module="arena.cli.local.replay",
        compiles=True,
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
        module="arena.cli.client.archive",
        compiles=True,
    ),
    Command(
        "explore",
        "show the moves played in a position, with their results",
        (
            'arena explore loa --moves "b1b3 h3f5"',
            'arena explore tablut --position "3ttt3/4t4/4T4/t3T3t/ttTTKTTtt/t3T3t/4T4/4t4/3ttt3 a 0 0" --since 2026',
            "arena explore pijersi --bot ada --server http://127.0.0.1:8000",
        ),
        "local",
        module="arena.cli.client.explore",
    ),
    Command(
        "book",
        "make and check books of openings",
        (
            "arena book make loa --plies 6 --count 50 --seed 1 --margin 50 --depth 6 --output-file loa.book",
            "arena book check loa.book --family loa",
        ),
        "local",
        module="arena.cli.local.book",
        compiles=True,
    ),
    Command(
        "doctor",
        "check this machine: sandbox, programs, cores, database, broker",
        ("arena doctor", "arena doctor --json"),
        "local",
        module="arena.cli.server.doctor",
    ),
    Command(
        "completion",
        "print a completion script for bash, zsh or fish",
        ("arena completion bash > ~/.local/share/bash-completion/completions/arena", "arena completion fish | source"),
        "local",
        module="arena.cli.terminal.completion",
    ),
    Command(
        "demo",
        "play a tournament of the sample bots, with ratings and pages",
        ("arena demo --once", "arena demo --games 4"),
        "local",
        module="arena.cli.server.demo",
        compiles=True,
    ),
    Command(
        "init",
        "create an arena: settings, database, sample bots, administrator",
        ("arena init", "arena init --data /var/lib/arena --admin zoe"),
        "server",
        module="arena.cli.server.init",
    ),
    Command(
        "db",
        "upgrade, check, dump, load, back up and restore the database",
        ("arena db upgrade", "arena db dump backup.ndjson.zst"),
        "server",
        module="arena.cli.server.database",
    ),
    Command(
        "user",
        "add, invite, list and change users and their tokens",
        ("arena user add zoe --role organiser", "arena user invite --uses 20", "arena user reset zoe"),
        "server",
        module="arena.cli.server.user",
    ),
    Command(
        "serve",
        "serve pages and JSON interface, and play the games",
        ("arena serve", "arena serve --port 9000 --executor local:4 --data /var/lib/arena"),
        "server",
        module="arena.cli.server.serve",
        compiles=True,
    ),
    Command(
        "referee",
        "play and record tournaments, without pages",
        ("arena referee", "arena referee --database postgresql://arena@db/arena --executor local:8"),
        "server",
        module="arena.cli.server.referee",
        compiles=True,
    ),
    Command(
        "scheduler",
        "run the scheduler of a cluster of workers",
        ("arena scheduler", "arena scheduler --bind 10.0.0.1 --port 8786 --tls"),
        "server",
        module="arena.cli.server.scheduler",
        about="The meeting point of an arena and its workers. Anyone who reaches its port, or that of a worker, can "
        "run programs there: keep them in a private network, or use --tls.",
    ),
    Command(
        "worker",
        "play games for an arena on another machine",
        (
            "arena worker --scheduler dask://127.0.0.1:8786",
            "arena worker --scheduler tls://10.0.0.1:8786 --slots 8 --data /var/lib/arena-worker",
        ),
        "server",
        module="arena.cli.server.worker",
        compiles=True,
        about="Play games for an arena elsewhere. Anyone who reaches the scheduler's port, or that of this worker, "
        "can run programs here: keep them in a private network, or use tls://.",
    ),
    Command(
        "ratings",
        "rebuild all ratings from the games, or check them",
        ("arena ratings rebuild --check", "arena ratings rebuild"),
        "server",
        module="arena.cli.server.recorded_games",
    ),
    Command(
        "verify",
        "replay recorded games by the rules",
        ("arena verify", "arena verify --all"),
        "server",
        module="arena.cli.server.recorded_games",
        compiles=True,
    ),
    Command(
        "dump",
        "update and list the published monthly files of games",
        ("arena dump update", "arena dump list --check"),
        "server",
        module="arena.cli.server.recorded_games",
    ),
    Command(
        "analysis",
        "fit a win model to the analysed games",
        ("arena analysis fit loa",),
        "server",
        module="arena.cli.server.recorded_games",
        compiles=True,
    ),
    Command(
        "login",
        "log in at a server, and store the token",
        ("arena login --server https://arena.example --user ada", "echo $TOKEN | arena login"),
        "client",
        module="arena.cli.client.login",
    ),
    Command(
        "logout",
        "revoke and delete the token of a server",
        ("arena logout", "arena logout --server https://arena.example"),
        "client",
        module="arena.cli.client.login",
    ),
    Command(
        "bot",
        "submit, list, show and retire bots; show your quota",
        ("arena bot submit ./mybot --name mybot --family loa --watch", "arena bot list --family loa --json"),
        "client",
        module="arena.cli.client.bot",
    ),
    Command(
        "connect",
        "play on a server with a bot that runs on this machine",
        (
            "arena connect ./mybot --url https://arena.example --name mybot --family loa",
            'arena connect "python mybot.py" --name mybot --family loa --games 4 --open',
        ),
        "client",
        module="arena.cli.client.connect",
        compiles=True,
    ),
    Command(
        "challenge",
        "start a match of your remote bot",
        ("arena challenge greedy --bot mybot --family loa --games 4",),
        "client",
        module="arena.cli.client.bot",
    ),
    Command(
        "tournament",
        "create, list, show, control, watch and export tournaments",
        ("arena tournament create open.toml", "arena tournament watch 7"),
        "client",
        module="arena.cli.client.tournament",
    ),
    Command(
        "schedule",
        "list, show, preview, change and delete recurring tournaments",
        ("arena schedule list", "arena schedule disable 2"),
        "client",
        module="arena.cli.client.schedule",
    ),
    Command(
        "leaderboard",
        "show the ratings of a family",
        ("arena leaderboard loa", "arena leaderboard loa --limit 10 --json"),
        "client",
        module="arena.cli.client.game",
    ),
    Command(
        "game",
        "show, watch and download games, or export many",
        (
            "arena game show 0123456789abcdef",
            "arena game export --bot mybot --output-file games.ndjson",
        ),
        "client",
        module="arena.cli.client.game",
    ),
    Command(
        "logs",
        "show what your bot wrote to standard error in a game",
        ("arena logs 0123456789abcdef --side first", "arena logs 0123456789abcdef --side second --json"),
        "client",
        module="arena.cli.client.game",
    ),
)


@cache
def every() -> tuple[Command, ...]:
    """Return the commands of the core and of the features that are on; a name belongs to the first that brings it."""
    found: dict[str, Command] = {}
    for command in (*CORE, *feature.commands()):
        found.setdefault(command.name, command)
    return tuple(found.values())
