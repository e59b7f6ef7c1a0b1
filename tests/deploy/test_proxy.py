"""The configuration of the proxy: understood by nginx where it is installed, and right for what the arena serves."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from arena.api import connection
from arena.api.routes import table
from arena.config import Settings
from tests.deploy.sources import DEPLOY

TEXT = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")


def test_nginx_understands_it(tmp_path: Path) -> None:
    program = shutil.which("nginx") or next((str(path) for path in [Path("/usr/sbin/nginx")] if path.exists()), None)
    if program is None or shutil.which("openssl") is None:
        pytest.skip("optional: no nginx here, or no openssl")
    line = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-keyout", str(tmp_path / "tls.key"), "-out", str(tmp_path / "tls.crt")]
    subprocess.run([*line, *files], capture_output=True, check=True)
    changed = TEXT.replace("/tmp/", f"{tmp_path}/").replace("/run/secrets/", f"{tmp_path}/")
    changed = changed.replace("arena:8000", "127.0.0.1:8000")
    (tmp_path / "nginx.conf").write_text(changed, encoding="utf-8")
    words = ["-t", "-q", "-p", str(tmp_path), "-e", "stderr", "-c", str(tmp_path / "nginx.conf")]
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_uploads_that_the_arena_takes_pass() -> None:
    ingress = (DEPLOY / "k8s" / "ingress.yaml").read_text(encoding="utf-8")
    for size in (re.search(r"client_max_body_size (\d+)m;", TEXT), re.search(r"proxy-body-size: (\d+)m\n", ingress)):
        assert size
        assert int(size[1]) * 2**20 > Settings.model_fields["max_upload_bytes"].default


def test_streams_are_not_held_back() -> None:
    pattern = re.search(r"location ~ (\S+) \{\s+proxy_pass \S+;\s+proxy_buffering off;", TEXT)
    assert pattern
    streams = [route.path for route in table() if "stream" in route.path]
    assert streams
    assert all(re.search(pattern[1], path) for path in streams)


def test_nobody_from_outside_says_where_he_comes_from_or_reads_metrics() -> None:
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in TEXT
    assert re.search(r"location = /metrics \{\s+return 404;", TEXT)


def test_remote_bots_get_through() -> None:
    found = re.search(rf"location = {re.escape(connection.PATH)} \{{(.*?)\}}", TEXT, re.DOTALL)
    assert found
    assert "Upgrade $http_upgrade" in found[1]
    assert 'Connection "upgrade"' in found[1]
    assert "X-Forwarded-For $remote_addr" in found[1], "what is set above does not hold in it"
