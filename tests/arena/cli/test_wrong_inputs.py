"""What people type wrong: one line that says what, where and what to do, and the exit code. Never a traceback."""

from __future__ import annotations

import errno
import io
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.cli.terminal.exit import Exit
from arena.cli.terminal.run import run
from arena.store import Store
from tests.arena.api.filled import Arena

USAGE, NOT_FOUND, REFUSED, UNREACHABLE, FAILED = (
    *(Exit.USAGE, Exit.NOT_FOUND, Exit.REFUSED, Exit.UNREACHABLE, Exit.FAILED),
)
FOREIGN = re.compile(
    r"Input should|String should|Extra inputs|Field required|validation error|invalid literal|codec can't|Errno|"
    r"Expecting value|invalid choice|the following arguments|Value error|Traceback|object has no|NoneType"
)
"""The wording of libraries, which nobody is to read."""

ADVICE = re.compile(r"; |: write |: take |: expected |did you mean |choose from |needs at least ")
"""What to do is said in one of these ways."""

LOCAL = [
    ("nope", USAGE, "unknown command"),
    ("bto list", USAGE, "did you mean bot"),
    ("", USAGE, "no command given"),
    ("--nope", USAGE, "--nope"),
    ("demo extra", USAGE, 'extra; see "arena demo --help"'),
    ("archive show 17", USAGE, '17; see "arena archive show --help"'),
    ("bot", USAGE, "submit, list, show"),
    ("bot lst", USAGE, 'unknown subcommand "lst" of "arena bot"; did you mean list'),
    ("bot nonsense", USAGE, "choose from submit, list"),
    ("tournament cretae x.toml", USAGE, "did you mean create"),
    ("user ad zoe", USAGE, "did you mean add"),
    ("rules lst", USAGE, "did you mean list"),
    ("db nope", USAGE, "choose from upgrade, check"),
    (
        "connect sample:random --url http://127.0.0.1:1 --token x --name 'Bad Name!' --family loa",
        USAGE,
        "mean bad-name?",
    ),
    ("challenge 'Bad Name!' --bot x --family loa", USAGE, "invalid name 'Bad Name!'"),
    ("challenge x --bot -x --family loa", USAGE, "--bot"),
    ("login --user Zoe", USAGE, "did you mean zoe?"),
    ("login --user zoe", USAGE, "no password given; type it, or pipe it in"),
    ("login", USAGE, "no token given; type it, or pipe it in; or use --token or --user NAME"),
    ("user add zoe2 --password-stdin --data here", USAGE, "no password given; type it, or pipe it in"),
    ("connect '' --url http://127.0.0.1:1 --token x --name n --family loa", USAGE, "has no bot.toml; write one"),
    ("connect ./none --url http://127.0.0.1:1 --token x --name n --family loa", NOT_FOUND, "no such file: ./none; "),
    # numbers and choices
    ("bot list --limit 0", USAGE, "--limit: '0' is not a whole number from 1"),
    ("bot list --limit x", USAGE, "from 1"),
    ("perft loa --depth -1", USAGE, "--depth: '-1' is not a whole number from 0"),
    ("perft loa --depth 99999999999999999999", USAGE, "--depth"),
    ("perft loa", USAGE, "--depth"),
    ("playouts loa --games 1e9", USAGE, "--games"),
    ("serve --port x", USAGE, "from 0 to 65,535"),
    ("serve --port 70000", USAGE, "from 0 to 65,535"),
    ("scheduler --port 99999", USAGE, "from 0 to 65,535"),
    ("scheduler --worker-ttl x", USAGE, "not a number: 'x'"),
    ("scheduler --worker-ttl 1", USAGE, "from 5"),
    ("login --days -1", USAGE, "from 0 to 3,650"),
    ("demo --games x", USAGE, "'x' is not a whole number from 1 to 1,000"),
    ("play sample:random sample:greedy --family loa --gamess 3", USAGE, "did you mean --games? See"),
    ("rules moves loa --varient zen", USAGE, "did you mean --variant? See"),
    ("play sample:random sample:greedy --family loa --memory 99999999999999", USAGE, "from 16 to 1,048,576"),
    ("demo --games 9999", USAGE, "from 1 to 1,000"),
    ("demo --concurrency 0", USAGE, "from 1"),
    ("demo --port 70000", USAGE, "from 0 to 65,535"),
    ("demo --tc x", USAGE, "write 10+0.1"),
    ("demo --family lao", USAGE, "did you mean loa"),
    ("archive export -o txt", USAGE, "did you mean text"),
    ("archive export --title mine", USAGE, "are for a booklet; remove them, or choose -o pdf"),
    ("archive export --layout presentation -o json", USAGE, "are for a booklet; remove them"),
    ("archive export -o json --output-file x.pdf", USAGE, "x.pdf would be a booklet, not json; name another file"),
    ("archive export -o pdf", USAGE, "a booklet is a file; name it with --output-file FILE.pdf"),
    ("logs x --side third", USAGE, "choose from first, second"),
    ("referee --sandbox glass", USAGE, "choose from auto, bwrap"),
    # names of the rules
    ("rules moves chess", USAGE, "chess"),
    ("rules moves loa --variant nope", USAGE, "standard"),
    ("rules moves loa --option x", USAGE, "NAME=VALUE"),
    ("rules moves loa --option nope=1", USAGE, "no_moves"),
    ("rules moves loa --option repetiton=3", USAGE, "did you mean repetition"),
    ("rules moves loa --option repetition=1", USAGE, "0..1000000 except 1"),
    ("rules moves loa --variant scrambled", USAGE, "did you mean scrambled-eggs"),
    ("rules moves loa --position 8/8", USAGE, "too short"),
    ("rules moves loa --moves zz", USAGE, "b1b3"),
    ("rules moves loa --moves b1b2", USAGE, "illegal move 'b1b2'"),
    ("rules convert loa --from nope --to record", USAGE, "format"),
    ("rules convert loa --from loa --to record", USAGE, "stdin"),
    ("rules vectors --only nope text", USAGE, "perft"),
    ("warmup nope", USAGE, "abalone"),
    ("book make loa --plies 99", USAGE, "60"),
    ("book make loa --setups x --depth 0", USAGE, "random:PLIES:SEED"),
    # files that are not there, or are something else
    ("rules vectors none.json", NOT_FOUND, "no such file: none.json"),
    ("rules vectors folder", USAGE, "folder"),
    ("rules vectors binary", USAGE, "binary"),
    ("rules vectors empty", USAGE, "not JSON"),
    ("rules vectors deep.json", USAGE, "deep.json"),
    ("rules vectors object.json", USAGE, '"game"'),
    ("replay none", NOT_FOUND, "no such file: none"),
    ("replay folder", USAGE, "folder"),
    ("replay binary", USAGE, "not UTF-8"),
    ("replay empty", USAGE, "it contains no game"),
    ("replay text", USAGE, "text"),
    ("replay object.json", USAGE, "id"),
    ("replay broken.json", USAGE, "not JSON at line 1"),
    ("archive import none --family loa", NOT_FOUND, "no such file"),
    ("archive import binary --family loa", USAGE, "not UTF-8"),
    ("archive import empty --family loa --data here", USAGE, "contains no game"),
    ("archive import text", USAGE, "--family"),
    (
        "archive import games --family loa --data text",
        NOT_FOUND,
        "no arena in text; `arena init --data text` makes one",
    ),
    ("archive import games --family loa --data nowhere", NOT_FOUND, "`arena init --data nowhere` makes one"),
    ("archive show --moves b1b3 --data nowhere", USAGE, "--family"),
    ("book check binary --family loa", USAGE, "binary: not UTF-8"),
    ("book check empty --family loa", USAGE, "no opening"),
    ("book check text --family loa", USAGE, "line 1"),
    ("book make loa --count 1 --plies 2 --depth 0 --output-file none/x", NOT_FOUND, "there is no folder none"),
    ("book make loa --count 999 --plies 9 --depth 30 --output-file none/x", NOT_FOUND, "there is no folder none"),
    ("book make loa --count 1 --plies 2 --depth 0 --output-file folder", USAGE, "cannot use folder"),
    # settings and data folders
    ("doctor --config none.toml", NOT_FOUND, "none.toml"),
    ("doctor --config binary", USAGE, "not UTF-8"),
    ("doctor --config broken.toml", USAGE, "line 1"),
    ("doctor --config port.toml", USAGE, "port: 'x' is not a whole number"),
    ("doctor --config two.toml", USAGE, "bind"),
    ("doctor --config two.toml", USAGE, "two.toml: port: 'x' is not a whole number"),
    ("doctor --config unknown.toml", USAGE, "did you mean port"),
    ("doctor --config glass.toml", USAGE, "auto, bwrap, landlock"),
    ("serve --data nowhere", NOT_FOUND, "`arena init --data nowhere` makes one"),
    ("db upgrade --data nowhere", NOT_FOUND, "`arena init --data nowhere` makes one"),
    ("db upgrade --config port-9000.toml", NOT_FOUND, "`arena init --config port-9000.toml --data nowhere` makes one"),
    ("db upgrade --database sqlite:///nowhere", NOT_FOUND, "`arena init --database sqlite:///nowhere` makes one"),
    ("db check --database sqlite:///empty", NOT_FOUND, "or `arena db upgrade --database sqlite:///empty`"),
    ("db dump /proc/nope --data here", NOT_FOUND, "no such file: /proc/nope; "),
    ("serve --data text", NOT_FOUND, "arena init"),
    ("serve --executor cloud", USAGE, "local:N"),
    ("serve --mqtt nonsense", USAGE, "mqtt://"),
    ("serve --database nonsense", USAGE, "sqlite:///"),
    ("referee --metrics x", USAGE, "HOST:PORT"),
    ("worker --scheduler nonsense", USAGE, "dask://HOST:PORT"),
    ("worker --scheduler dask://x:99999", USAGE, "dask://HOST:PORT"),
    ("worker", USAGE, "--scheduler"),
    ("init --data text", USAGE, "cannot use text: it is a file"),
    ("init --data text/sub", USAGE, "text: it is a file"),
    ("init --data new --admin 'Bad Name!'", USAGE, "lower-case letters"),
    ("db upgrade --data text", NOT_FOUND, "no arena in text; `arena init --data text` makes one"),
    ("db check --data nowhere", NOT_FOUND, "arena init"),
    ("db check --database sqlite:///text", FAILED, "not a database"),
    ("db check --data other", NOT_FOUND, "no users and no games in "),
    ("db check --database sqlite:///empty", NOT_FOUND, "the database is empty"),
    ("ratings rebuild --check --database sqlite:///empty", NOT_FOUND, "the database is empty"),
    ("ratings rebuild --check --data here", NOT_FOUND, "no rated games in "),
    ("verify --all --data here", NOT_FOUND, "no recorded games in "),
    ("db dump --data here folder", USAGE, "another"),
    ("db dump --data here none/x.zst", NOT_FOUND, "there is no folder none"),
    ("db load --data other binary", USAGE, "arena db dump"),
    ("db load --data other none.zst", NOT_FOUND, "no such file"),
    ("db load --data nowhere none.zst", NOT_FOUND, "no such file"),
    ("db load --data nowhere binary", USAGE, "arena db dump"),
    ("db restore --data nowhere none.sqlite3", NOT_FOUND, "no backup"),
    ("db restore --data nowhere", NOT_FOUND, "no backup in "),
    ("db restore --data nowhere empty", USAGE, "it contains no arena"),
    ("db restore --data nowhere text", USAGE, "not a database"),
    ("user add 'Bad Name!' --data here", USAGE, "lower-case letters"),
    ("user add zoe --role king --data here", USAGE, "choose from author, organiser, admin"),
    ("user token nobody --data here", NOT_FOUND, "no user 'nobody'"),
    ("user token 'Bad Name!' --data here", USAGE, "lower-case letters"),
    ("user change nobody --role admin --data here", NOT_FOUND, "arena user list"),
    ("user token zoe --days 99999999 --data here", USAGE, "from 0 to 3,650"),
    ("user token zoe --scopes king --data here", USAGE, "organise"),
    ("verify nope --data here", NOT_FOUND, "nope"),
    ("verify --tournament 99 --data here", NOT_FOUND, "no tournament 99"),
    ("ratings rebuild --data nowhere", NOT_FOUND, "arena init"),
    # bots of this machine
    ("play sample:nope sample:random --family loa", USAGE, "random"),
    ("play sample:random --family loa", USAGE, "two bots"),
    ("play folder sample:greedy --family loa", USAGE, "bot.toml"),
    ("play binary.toml sample:greedy --family loa", USAGE, "binary.toml: not UTF-8"),
    ("check broken.toml --family loa", USAGE, "broken.toml: not TOML"),
    ("play sample:random sample:greedy --family loa --openings binary", USAGE, "not UTF-8"),
    ("play tcp:x sample:greedy --family loa", USAGE, "tcp:HOST:PORT"),
    ("play tcp:x:1 sample:greedy --family loa --sandbox bwrap", USAGE, "add --sandbox rlimits, or --sandbox none"),
    ("play 'bridge:tcp x 1' sample:greedy --family loa --sandbox landlock", USAGE, "needs the network"),
    ("play sample:random sample:greedy --family loa --openings nosuch.txt", NOT_FOUND, "no such file: nosuch.txt"),
    ("play sample:random sample:greedy --family loa --openings ''", NOT_FOUND, "name a book"),
    ("play sample:random sample:greedy --family loa --openings folder", USAGE, "cannot use folder"),
    ("play sample:random sample:greedy --family loa --openings random:999999", USAGE, "at most 60 plies"),
    (
        f"play sample:random sample:greedy --family loa --openings random:{'9' * 5000}",
        USAGE,
        "write 120 characters or fewer",
    ),
    ("play sample:random sample:greedy --family loa --games 20 --tc x", USAGE, "write 10+0.1"),
    ("play sample:random sample:greedy --family loa --margin -5", USAGE, "write 0 or more"),
    ("play sample:random sample:greedy --family loa --max-plies -1", USAGE, "write 0 or more"),
    ("play sample:random sample:greedy --family loa --sprt nonsense", USAGE, "elo0="),
    ("play sample:random sample:greedy --family loa --games x", USAGE, "not a whole number"),
    ("play sample:random sample:greedy --family loa --games 100000000000000000000", USAGE, "100,000 or less"),
    (
        "play sample:random sample:greedy sample:mcts --family loa --games 100002",
        USAGE,
        "100002' is too large; write 100,000 or less",
    ),
    ("play sample:random sample:greedy --family loa --concurrency 100000", USAGE, "games at once at most"),
    ("check folder --family loa", USAGE, "bot.toml"),
    *(
        (f"{command} --family loa --memory {text}", USAGE, "from 16 to 1,048,576")
        for command in ("play sample:random sample:greedy", "check sample:random")
        for text in ("0", "-1", "1e12", "1000000000000")
    ),
    ("check sample:nope --family loa", USAGE, "random"),
    *(
        (words.format("pipe"), USAGE, "cannot use pipe: it is a pipe, not a file")
        for words in (
            "bot submit {} --name x",
            "check {} --family loa",
            "play {} sample:random --family loa",
            "play sample:random sample:greedy --family loa --openings {}",
            "db load --data nowhere {}",
            "db restore --data nowhere {}",
            "archive import {} --family loa",
            "replay {}",
            "rules vectors {}",
            "tournament create {}",
        )
    ),
    ("doctor --config pipe", USAGE, "it is a pipe, not a file"),
    ("replay /dev/zero", USAGE, "cannot use /dev/zero: it is a device, not a file"),
    # a server that is not there
    ("bot list --server http://[::1", USAGE, "http://HOST:PORT"),
    ("bot list --server ftp://x", USAGE, "http://HOST:PORT"),
    ("bot list --server http://127.0.0.1:1", UNREACHABLE, "is the server running"),
    ("login --user zoe --scopes king", USAGE, "organise"),
    ("bot submit nofile --name x", NOT_FOUND, "no such file"),
    ("bot submit folder --name x", USAGE, "bot.toml"),
    ("tournament create none.toml", NOT_FOUND, "no such file"),
    ("tournament create folder", USAGE, "folder"),
    ("tournament create binary", USAGE, "not UTF-8"),
    ("tournament create broken.toml", USAGE, "not TOML"),
    ("tournament show x", USAGE, "ID: 'x' is not a whole number from 1"),
    ("game download x --output-file none/x", NOT_FOUND, "there is no folder none"),
]

SERVED = [
    ("bot show greddy", NOT_FOUND, "did you mean greedy"),
    ("bot show 'Bad Name!'", USAGE, "lower-case letters"),
    ("bot list --owner 'Bad Name!'", USAGE, "lower-case letters"),
    ("bot list --family 'No Family'", USAGE, "family"),
    ("bot list --owner 'Bad Name!' --family 'No Family'", USAGE, "--owner: invalid name 'Bad Name!'"),
    ("bot submit text --name 'Bad Name!' --family loa", USAGE, "lower-case letters"),
    ("tournament list --state nope", USAGE, "scheduled, running"),
    ("tournament show 999999", NOT_FOUND, "`arena tournament list` lists all"),
    ("tournament pause 999999", NOT_FOUND, "999999"),
    ("game show nope", NOT_FOUND, "hexadecimal digits"),
    ("game export --since nonsense", USAGE, "2026-11-01"),
    ("leaderboard loa --pool remote", NOT_FOUND, "no pool 'remote'; pools with rated games: loa"),
    ("leaderboard lao", NOT_FOUND, "did you mean loa"),
    ("login --token nonsense", REFUSED, "token"),
    ("schedule show 999", NOT_FOUND, "no schedule 999; `arena schedule list` lists all"),
    ("schedule preview 999", NOT_FOUND, "no schedule 999"),
    ("schedule preview 1 --count 51", USAGE, "from 1 to 50"),
    ("schedule delete 999", NOT_FOUND, "no schedule 999"),
    ("game export --output-file /proc/nope", NOT_FOUND, "no such file: /proc/nope; "),
    (
        "connect sample:random --name x --family loa --token nonsense",
        REFUSED,
        "refuses the bot: the Authorization header",
    ),
    ("connect /bin/true --name x --family 'No Family'", USAGE, "the server refuses the bot: family"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that nobody can use, an arena `here` with a user, an empty one `other`."""
    place = tmp_path_factory.mktemp("wrong")
    (place / "folder").mkdir()
    (place / "binary").write_bytes(bytes(range(128, 256)) + b"\0")
    (place / "binary.toml").write_bytes(bytes(range(128, 256)))
    (place / "empty").touch()
    os.mkfifo(place / "pipe")
    (place / "text").write_text("hello world\n")
    (place / "games").write_text("1. b1b3\n")
    (place / "deep.json").write_text("[" * 100_000)
    (place / "object.json").write_text('{"a": 1}')
    (place / "broken.json").write_text('{"a": ')
    (place / "broken.toml").write_text("name = \n")
    (place / "port.toml").write_text('port = "x"\n')
    (place / "port-9000.toml").write_text('data = "nowhere"\nport = 9000\n')
    (place / "two.toml").write_text('bind = 1\nport = "x"\n')
    (place / "unknown.toml").write_text("prot = 1\n")
    (place / "glass.toml").write_text('sandbox = "glass"\n')
    with_user = Store.in_folder(place / "here")
    with_user.users.add("zoe", "author", None)
    with_user.close()
    Store.in_folder(place / "other").close()
    return place


@pytest.fixture(autouse=True)
def _place(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("ARENA_SERVER", "ARENA_TOKEN", "ARENA_DATA", "ARENA_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))


def _is_told(capsys: Any, words: str, code: Exit, said: str) -> None:
    assert run(shlex.split(words)) == code
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if line.startswith("error: ")]
    assert err.splitlines()[-1:] == lines, err
    assert len(lines) == 1
    assert said in lines[0]
    assert not FOREIGN.search(out + err), err
    assert ADVICE.search(lines[0]), "what is to be done?"
    assert not Path("nowhere").exists()


@pytest.mark.parametrize(("words", "code", "said"), LOCAL, ids=[words for words, *_ in LOCAL])
def test_what_is_typed_wrong_is_told(capsys: Any, words: str, code: Exit, said: str) -> None:
    _is_told(capsys, words, code, said)


@pytest.mark.parametrize(("words", "code", "said"), SERVED, ids=[words for words, *_ in SERVED])
def test_what_a_server_refuses_is_told(
    capsys: Any, arena: Arena, monkeypatch: pytest.MonkeyPatch, words: str, code: Exit, said: str
) -> None:
    monkeypatch.setenv("ARENA_SERVER", arena.server.url)
    monkeypatch.setenv("ARENA_TOKEN", arena.tokens["organiser"])
    _is_told(capsys, words, code, said)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "ulimit -u"),
        (RuntimeError("can't start new thread"), "ulimit -u"),
        (OSError(errno.EMFILE, "Too many open files"), "ulimit -n"),
        (OSError(errno.ENOSPC, "No space left on device", "games.ndjson"), "make room"),
        (MemoryError(), "memory"),
        (RecursionError("maximum recursion depth exceeded"), "nested too deep"),
        (PermissionError(errno.EACCES, "Permission denied", "/closed/x"), "/closed/x"),
        (OSError(errno.EROFS, "Read-only file system", "/ro/x"), "/ro/x"),
    ],
)
def test_what_the_machine_refuses_is_told(
    capsys: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def fail(*_: object) -> int:
        raise error

    monkeypatch.setattr("referee.rules.per_family.perft", fail)
    code = run(["perft", "loa", "--depth", "1"])
    assert code in (Exit.FAILED, Exit.USAGE)
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert not FOREIGN.search(line)
    assert ADVICE.search(line)


def test_an_error_does_not_repeat_a_very_long_input(capsys: Any) -> None:
    assert run(["rules", "moves", "loa", "--position", "x" * 100_000]) == USAGE
    assert len(capsys.readouterr().err) < 1000


def test_there_are_enough_of_them() -> None:
    assert len(LOCAL) + len(SERVED) >= 80
