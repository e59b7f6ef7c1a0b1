"""`arena init`, `arena user`, `arena db` as people use them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.__main__ import main
from arena.credentials import digest_of, verify_password
from arena.store import Store, url_in
from arena.store.base import schema
from arena.store.bots.bots import LEVELS

Run = Callable[..., object]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    def call(*words: str, code: int = 0) -> object:
        assert main([*words]) == code
        printed = capsys.readouterr()
        return json.loads(printed.out) if "--json" in words and code == 0 else printed.out + printed.err

    return call


def test_a_new_arena(run: Run, tmp_path: Path) -> None:
    made = run("init", "--json")
    assert made["revision"] == schema.head()  # type: ignore[index]
    admin = made["admin"]  # type: ignore[index]
    store = Store(url_in(tmp_path / "data"))
    user = store.users.find("admin")
    assert user.role == "admin"
    assert verify_password(store.users.password_hash("admin"), admin["password"])
    identity = store.users.by_token(digest_of(admin["token"]))
    assert identity is not None
    assert "admin" in identity.scopes
    names = {line.name for line in store.bots.page().items}
    assert names == {"random", "greedy", "alphabeta", "mcts", "champion", *LEVELS}
    assert (tmp_path / "data" / "bundles").is_dir()
    assert admin["token"] not in (tmp_path / "data" / "arena.toml").read_text()
    (tmp_path / "data" / "arena.toml").write_text("port = 9000\n")
    again = run("init", "--json")
    assert again["admin"] is None  # type: ignore[index]
    assert (tmp_path / "data" / "arena.toml").read_text() == "port = 9000\n"
    assert len(store.users.page().items) == 2
    store.close()


def test_users(run: Run, tmp_path: Path) -> None:
    run("init")
    assert "password" in str(run("user", "add", "zoe", "--role", "organiser"))
    assert "is taken" in str(run("user", "add", "zoe", code=2))
    assert "lower-case" in str(run("user", "add", "Zoe", code=2))
    token = run("user", "token", "zoe", "--scopes", "read organise", "--days", "3", "--json")
    assert token["scopes"] == ["read", "organise"]  # type: ignore[index]
    assert "cannot grant the scope 'admin'" in str(run("user", "token", "zoe", "--scopes", "admin", code=2))
    assert "no user 'ada'" in str(run("user", "token", "ada", code=3))
    run("user", "change", "zoe", "--disable")
    rows = run("user", "list", "--json")["users"]  # type: ignore[index]
    assert {row["name"]: row["active"] for row in rows} == {"admin": True, "arena": True, "zoe": False}
    assert "nothing to change" in str(run("user", "change", "zoe", code=2))
    changed = run("user", "change", "zoe", "--enable", "--new-password", "--json")
    store = Store(url_in(tmp_path / "data"))
    assert verify_password(store.users.password_hash("zoe"), changed["password"])  # type: ignore[index]
    store.close()


def test_user_add_password_from_a_pipe_is_taken(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("init")
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\nzoe2\n"))
    assert run("user", "add", "zoe", "--json")["password"] is None  # type: ignore[index]
    store = Store(url_in(tmp_path / "data"))
    assert verify_password(store.users.password_hash("zoe"), "correct horse battery")
    store.close()
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert run("user", "add", "ada", "--json")["password"]  # type: ignore[index]
    assert "no password given" in str(run("user", "add", "bob", "--password-stdin", code=2))


def test_user_token_without_days_ends_after_ninety(run: Run) -> None:
    run("init")
    run("user", "add", "zoe")
    end = (datetime.now(UTC) + timedelta(days=90)).date().isoformat()
    made = run("user", "token", "zoe", "--json")
    assert made["expires"][:10] >= end  # type: ignore[index]
    assert f"ends on {made['expires'][:10]}" in str(run("user", "token", "zoe"))  # type: ignore[index]
    for days in ("0", "never"):
        assert run("user", "token", "zoe", "--days", days, "--json")["expires"] is None  # type: ignore[index]
    rows = csv.DictReader(str(run("user", "tokens", "zoe", "-o", "csv")).splitlines())
    assert [row["expires"][:10] for row in rows] == [made["expires"][:10]] * 2 + [""] * 2  # type: ignore[index]
    assert made["expires"][:10] in str(run("user", "tokens", "zoe"))  # type: ignore[index]


def test_init_named_settings_are_the_ones_printed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("port = 9000\n")
    assert "settings: mine.toml (unchanged)" in str(run("init", "--config", "mine.toml"))
    assert not (tmp_path / "data" / "arena.toml").exists()


def test_tokens_of_others(run: Run, tmp_path: Path) -> None:
    run("init", "--json")
    run("user", "add", "zoe")
    for label in ("one", "two", "three"):
        run("user", "token", "zoe", "--label", label, "--json")
    tokens = run("user", "tokens", "zoe", "--json")["tokens"]  # type: ignore[index]
    assert [token["name"] for token in tokens] == ["one", "two", "three"]
    gone = run("user", "revoke", "zoe", str(tokens[0]["id"]), "--json")
    assert gone == {"schema": 1, "name": "zoe", "revoked": tokens[0]["id"]}
    assert "arena user tokens zoe" in str(run("user", "revoke", "zoe", "999", code=3))
    assert str(run("user", "tokens", "zoe")).count("revoked") == 1
    run("user", "change", "zoe", "--revoke-tokens")
    assert str(run("user", "tokens", "zoe")).count("revoked") == 3
    run("user", "token", "zoe", "--label", "four")
    assert "all tokens of zoe" in str(run("user", "revoke", "zoe", "--all"))
    assert str(run("user", "tokens", "zoe")).count("revoked") == 4


def test_init_prints_commands_for_this_arena(run: Run, tmp_path: Path) -> None:
    (tmp_path / "port.toml").write_text('data = "elsewhere"\nport = 9000\nbind = "::"\n')
    said = str(run("init", "--data", "my arena"))
    assert "Next: `arena serve --data 'my arena'`, and in another terminal " in said
    assert "`arena login --user admin --server http://127.0.0.1:8000`" in said
    assert "`arena user add NAME --data 'my arena'`" in said
    assert "`arena user list --data 'my arena'` shows all" in str(
        run("user", "token", "x", "--data", "my arena", code=3)
    )
    said = str(run("init", "--config", "port.toml", "--admin", "zoe"))
    assert "`arena serve --config port.toml --data elsewhere`" in said
    assert "`arena login --user zoe --server http://[::1]:9000`" in said
    assert "admin" in str(run("user", "list", "--data", "my arena"))


def test_databases(run: Run, tmp_path: Path) -> None:
    for command in (("db", "check"), ("db", "upgrade"), ("verify",), ("serve",), ("user", "list"), ("dump", "update")):
        said = str(run(*command, "--data", "my typo", code=3))
        assert said.endswith("no arena in my typo; `arena init --data 'my typo'` makes one\n")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "arena.sqlite3").touch()
    assert "run `arena init`, or `arena db upgrade`; " in str(run("db", "check", code=3))
    features = [chain.name for chain in schema.of_features()]
    assert run("db", "upgrade", "--json") == {"schema": 1, "before": None, "after": schema.head(), "features": features}
    assert "nothing to do" in str(run("db", "upgrade"))
    assert "no users and no games" in str(run("db", "check", code=3))
    run("init")
    assert run("db", "check", "--json") == {"schema": 1, "revision": schema.head(), "differences": [], "damage": ""}
    rows = run("db", "dump", "backup.zst", "--json")["rows"]  # type: ignore[index]
    assert "already exists" in str(run("db", "dump", "backup.zst", code=2))
    assert run("db", "load", "backup.zst", "--data", "other", "--json")["rows"] == rows  # type: ignore[index]
    assert "not empty" in str(run("db", "load", "backup.zst", "--data", "other", code=2))
    assert "invalid database URL" in str(run("db", "check", "--database", "nonsense", code=2))


def test_a_server_that_is_away(run: Run) -> None:
    assert "cannot be used now" in str(run("db", "check", "--database", "postgresql+psycopg://x@127.0.0.1:1/x", code=5))
