"""`arena webhook`: what the operator types and sees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.cli.terminal.run import run as main
from tests.arena.features.webhooks.test_sender import Club, club

__all__ = ["club"]


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    """The options of a new arena."""
    assert main(["init", "--data", str(tmp_path / "data"), "--quiet"]) == 0
    return ["--data", str(tmp_path / "data")]


def test_webhook_is_added_tested_listed_and_removed(
    data: list[str], club: Club, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    added = ["webhook", "add", club.url(200), "--news", "end", "--allow-private", "--output", "json"]
    assert main([*added, *data]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["id"], made["news"]) == (1, ["end"])
    assert made["secret"].startswith("whsec_")
    assert main(["webhook", "test", "1", *data]) == 0
    assert "accepted: HTTP 200" in capsys.readouterr().out
    assert [path for path, *_ in club.requests] == ["/200"]
    assert main(["webhook", "list", "--output", "json", *data]) == 0
    listed = json.loads(capsys.readouterr().out)["items"]
    assert [(hook["id"], hook["url"], hook["form"]) for hook in listed] == [(1, club.url(200), "json")]
    assert "secret" not in listed[0]
    assert main(["webhook", "log", "1", *data]) == 0
    assert "Nothing has been sent yet." in "".join(capsys.readouterr())
    assert main(["webhook", "remove", "1", *data]) == 0
    assert main(["webhook", "log", "1", *data]) == 3
    assert "`arena webhook list" in capsys.readouterr().err


def test_test_of_a_private_address_fails(data: list[str], club: Club, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["webhook", "add", club.url(200), *data]) == 0
    assert main(["webhook", "test", "1", *data]) == 1
    assert "127.0.0.1 is not a public address; `arena webhook add --allow-private`" in capsys.readouterr().out
    assert not club.requests


@pytest.mark.parametrize(
    "url", ["club.example", "ftp://club.example/", "https://", "https://me@club.example/", "http://["]
)
def test_other_addresses_are_refused(data: list[str], url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["webhook", "add", url, *data]) == 2
    assert "expected https://HOST/PATH" in capsys.readouterr().err
