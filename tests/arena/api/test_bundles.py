"""Downloads of bundles by workers: by digest, for the scope `worker` only, complete or refused."""

from __future__ import annotations

import hashlib
import io
from dataclasses import replace
from pathlib import Path

import pytest

from arena.cluster.game_runner import BundlePlace, play_bundled
from arena.cluster.spool import Spool, name_of
from arena.config import Settings
from arena.errors import StoreUnavailableError
from arena.http.problem import PREFIX
from arena.submission.bundle_store import BundleError
from arena.submission.remote_bundles import TOKEN, TOKEN_FILE, RemoteBundleStore
from referee.game.record import GameRecord
from referee.game.spec import BotSpec, GameSpec, PlannedGame
from referee.machine.speed import REFERENCE
from referee.rules.core import Kind, Termination
from tests.arena.api.server import Server
from tests.arena.field import record_of
from tests.arena.submission.packing import HONEST, zipped

ZIP = zipped({**HONEST, "data/weights.txt": b"1 2 3" * 400_000})
DIGEST = hashlib.sha256(ZIP).hexdigest()
PATH = f"{PREFIX}/bundles/{DIGEST}"


@pytest.fixture(scope="module")
def token(server: Server) -> str:
    """A token with the scope `worker`."""
    server.context.arena.bundles.put(io.BytesIO(ZIP), DIGEST)
    return server.person("fleet", "admin", scopes="worker")


def test_a_bundle_by_its_digest(server: Server, token: str) -> None:
    reply = server.get(PATH, token=token)
    assert (reply.status, reply.body) == (200, ZIP)
    assert reply.headers["Content-Length"] == str(len(ZIP))
    assert reply.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    again = server.get(PATH, token=token, headers={"If-None-Match": reply.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("name", ["0" * 64, "..", DIGEST.upper(), DIGEST[:-1], "..%2F..%2Fetc%2Fpasswd"])
def test_missing_bundles_get_404(server: Server, token: str, name: str) -> None:
    assert server.get(f"{PREFIX}/bundles/{name}", token=token).status == 404


def test_a_token_for_workers_opens_nothing_else(server: Server, token: str) -> None:
    assert server.get(f"{PREFIX}/account", token=token).status == 403
    assert server.post(f"{PREFIX}/tournaments", token=token, body={}).status == 403


def test_a_damaged_bundle_is_not_sent(server: Server, token: str) -> None:
    digest = hashlib.sha256(b"another").hexdigest()
    server.context.arena.bundles.put(io.BytesIO(b"something else"), digest)
    reply = server.get(f"{PREFIX}/bundles/{digest}", token=token)
    assert reply.status == 503
    assert "damaged" in reply.json["detail"]


def test_a_worker_unpacks_what_the_arena_has(
    server: Server, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN, token)
    bundles = RemoteBundleStore(server.url, tmp_path)
    assert (bundles.folder(DIGEST) / "data" / "weights.txt").stat().st_size == 2_000_000
    monkeypatch.delenv(TOKEN)
    assert RemoteBundleStore(server.url, tmp_path).folder(DIGEST).is_dir(), "it is here already"


def test_a_token_in_a_file_may_be_changed_while_the_worker_runs(
    server: Server, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    monkeypatch.setenv(TOKEN, "not this one")
    monkeypatch.setenv(TOKEN_FILE, str(file))
    bundles = RemoteBundleStore(server.url, tmp_path / "far")
    with pytest.raises(BundleError, match=f"{TOKEN_FILE}: cannot read {file}"):
        bundles.folder(DIGEST)
    file.write_text("arena_0ld")
    with pytest.raises(BundleError, match=f"or {TOKEN_FILE} to a file"):
        bundles.folder(DIGEST)
    file.write_text(f"{token}\n")
    assert bundles.folder(DIGEST).is_dir()


def test_worker_token_without_scope_voids_the_game(
    server: Server, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data=tmp_path, executor="dask://127.0.0.1:1", worker_bundles="arena", public_url=server.url)
    place = replace(BundlePlace.of_workers(settings), cache=str(tmp_path / "far"))
    bots = [BotSpec(name, ("./run.sh",), bundle=DIGEST) for name in ("one", "two")]
    monkeypatch.setenv(TOKEN, server.person("somebody"))
    game, spool = PlannedGame.of(GameSpec("loa", "standard", *bots)), Spool(tmp_path / "spool")
    play_bundled([game], place, spool=spool.folder)
    arrival = spool.read(name_of(game.id, 1))
    assert arrival
    record = arrival.record
    assert (record.kind, record.termination) == (Kind.VOID, Termination.SANDBOX_FAILED)
    assert f"set {TOKEN} to a token with the scope worker" in record.detail
    assert server.url in record.detail


def test_clocks_are_scaled_where_the_game_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.machine.speed.lately", lambda: REFERENCE / 2)
    played: list[PlannedGame] = []

    def play_games(games: list[PlannedGame], wants_plies: bool) -> list[GameRecord]:
        played.extend(games)
        return [record_of(game) for game in games]

    monkeypatch.setattr("arena.cluster.game_runner.play_games", play_games)
    bots = [BotSpec(name, ("./run.sh",)) for name in ("one", "two")]
    games = [PlannedGame.of(GameSpec("loa", "standard", *bots, scale_clocks=scales)) for scales in (True, False)]
    place = BundlePlace(str(tmp_path / "bundles"), str(tmp_path / "unpacked"))
    play_bundled(games, place)
    assert [game.spec.time_text for game in played] == ["20+0.2", "10+0.1"]
    assert [game.id for game in played] == [game.id for game in games]


def test_unreachable_arena_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.submission.remote_bundles.WAIT_S", 0)
    with pytest.raises(StoreUnavailableError, match="no answer from http://127"):
        RemoteBundleStore("http://127.0.0.1:1", tmp_path).folder(DIGEST)


def test_a_bundle_the_arena_does_not_have(
    server: Server, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN, token)
    with pytest.raises(BundleError, match="no bundle"):
        RemoteBundleStore(server.url, tmp_path).folder("0" * 64)


def test_the_route_is_in_the_document(server: Server) -> None:
    paths = server.get(f"{PREFIX}/openapi.json").json["paths"]
    (operation,) = [paths[path]["get"] for path in paths if path.endswith("/bundles/{sha256}")]
    assert "application/octet-stream" in operation["responses"]["200"]["content"]
