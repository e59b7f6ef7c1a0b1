"""Passwords, tokens, roles, scopes, names."""

from __future__ import annotations

import pytest

from arena import credentials
from arena.credentials import CredentialError


def test_verify_password_accepts_only_the_right_one() -> None:
    password = credentials.new_password()
    stored = credentials.hash_password(password)
    assert stored.startswith("$argon2id$")
    assert credentials.verify_password(stored, password)
    assert not credentials.verify_password(stored, password + "x")
    assert not credentials.verify_password(None, password)
    assert not credentials.verify_password("not a hash", password)
    assert not credentials.verify_password(stored, "x" * 10**6)
    for poor in ("", "short", "x" * 2000):
        with pytest.raises(CredentialError, match="10 to 1000"):
            credentials.hash_password(poor)


@pytest.mark.parametrize(
    ("password", "words"),
    [
        ("correct\0horse", "not contain NUL"),
        ("correct\nhorse", "NUL, tabs, line breaks"),
        ("correct\u202ehorse", "invisible"),
        ("grace-hopper", "the user's name"),
        ("Grace-Hopper-1992", "the user's name"),
        ("grace-hoppergrace-hopper", "the user's name"),
        ("1234567890", "easy to guess"),
        ("Password2026!", "easy to guess"),
        ("qwertyuiop", "easy to guess"),
        ("aaaaaaaaaaaaaaaa", "easy to guess"),
        ("abababababab", "easy to guess"),
    ],
)
def test_check_password_rejects_weak_ones(password: str, words: str) -> None:
    with pytest.raises(CredentialError, match=words):
        credentials.check_password(password, "grace-hopper")


@pytest.mark.parametrize("password", ["correct horse battery", "grace-hopper knits", "häßlich-übel-7", "x1!yB9?z0Q"])
def test_check_password_accepts_strong_ones(password: str) -> None:
    credentials.check_password(password, "grace-hopper")


def test_whole_password_is_verified() -> None:
    longest = "abcde" * (credentials.MAX_PASSWORD // 5)
    stored = credentials.hash_password(longest)
    assert credentials.verify_password(stored, longest)
    assert not credentials.verify_password(stored, longest + "x")
    assert not credentials.verify_password(stored, longest[:-1])


def test_new_tokens_are_random() -> None:
    tokens = {credentials.new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert {len(token) for token in tokens} == {49}
    assert len(credentials.digest_of(tokens.pop())) == 64
    assert credentials.digest_of("\udcff\0") != credentials.digest_of("x")


def test_scopes_follow_from_roles() -> None:
    assert credentials.scopes_of("author") < credentials.scopes_of("organiser") < credentials.scopes_of("admin")
    assert credentials.scopes_of("admin") == set(credentials.SCOPES)
    with pytest.raises(CredentialError, match="unknown role 'king'"):
        credentials.scopes_of("king")
    assert credentials.read_scopes("submit, read read") == ("read", "submit")
    for text in ("", "  ", "read everything"):
        with pytest.raises(CredentialError, match="scope"):
            credentials.read_scopes(text)


@pytest.mark.parametrize("name", ["a", "zeta", "z-2_b", "0", "x" * 40])
def test_read_name_accepts_valid_names(name: str) -> None:
    assert credentials.read_name(name, "bot") == name


@pytest.mark.parametrize("name", ["", "A", "a b", "-a", "a-", "a.json", "x" * 41, "é", "a\n", "../a", "a\0"])
def test_read_name_rejects_invalid_names(name: str) -> None:
    with pytest.raises(CredentialError, match="bot name"):
        credentials.read_name(name, "bot")
