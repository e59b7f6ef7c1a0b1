"""Browser sessions: form, cookie, CSRF token; and log-in for an API token."""

from __future__ import annotations

import re
from collections.abc import Callable
from http.cookies import SimpleCookie
from ipaddress import ip_network
from urllib.parse import urlencode

import pytest
from sqlalchemy import delete

from arena.credentials import hash_password
from arena.http.problem import PREFIX
from arena.http.rate_limit import BoundedQueue
from arena.store.base.tables.people import LoginAttempt
from tests.arena.api.filled import Arena
from tests.arena.api.server import Reply

PASSWORD = "correct horse battery staple"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def ada(arena: Arena) -> str:
    arena.store.users.add("ada", "organiser", hash_password(PASSWORD))
    return "ada"


class Browser:
    """Keeps cookies and the hidden fields of the last form."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self.cookies: dict[str, str] = {}
        self.fields: dict[str, str] = {}
        self.devices: list[str] = []

    def _take(self, reply: Reply) -> Reply:
        for value in reply.cookies:
            for name, morsel in SimpleCookie(value).items():
                self.cookies[name] = morsel.value
                self.devices += [morsel.value] if name == "arena-device" else []
        found = re.findall(rb'<input type="hidden" name="(\w+)"\s+value="([^"]*)"', reply.body)
        self.fields = {name.decode(): value.decode() for name, value in found}
        return reply

    @property
    def _cookie(self) -> dict[str, str]:
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items() if value)}

    def get(self, path: str, **headers: str) -> Reply:
        return self._take(self.arena.server.get(path, headers={**self._cookie, **headers}))

    def send(self, path: str, fields: dict[str, str], **headers: str) -> Reply:
        data = urlencode({**self.fields, **fields}).encode()
        sent = {**self._cookie, **FORM, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return self._take(self.arena.server.post(path, data=data, headers=sent))

    def log_in(self, password: str = PASSWORD, **fields: str) -> Reply:
        self.get("/login")
        return self.send("/login", {"user": "ada", "password": password, **fields})


@pytest.fixture(autouse=True)
def nobody_has_guessed(arena: Arena) -> None:
    with arena.store.writing() as session:
        session.execute(delete(LoginAttempt))


@pytest.fixture
def browser(arena: Arena, ada: str) -> Browser:
    return Browser(arena)


def test_log_in_use_and_log_out(arena: Arena, browser: Browser) -> None:
    reply = browser.log_in(next="/loa/leaderboard")
    assert (reply.status, reply.headers["Location"]) == (303, "/loa/leaderboard")
    cookie = reply.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Secure" not in cookie, "this server is reached over plain http"
    account = browser.get(f"{PREFIX}/account")
    assert account.json["name"] == "ada"
    assert account.json["scopes"] == ["organise", "read", "submit"]
    login = arena.store.users.by_login(_digest(browser.cookies["arena"]))
    assert login is not None
    refused = browser.send("/logout", {"csrf": "wrong"})
    assert refused.status == 403
    assert browser.get(f"{PREFIX}/account").status == 200
    out = browser.send("/logout", {"csrf": login.csrf or ""})
    assert out.status == 303
    assert arena.store.users.by_login(_digest(browser.cookies["arena"] or "x")) is None
    browser.cookies["arena"] = _of(cookie)
    assert browser.get(f"{PREFIX}/account").status == 401, "the session has ended on the server too"


def _digest(value: str) -> str:
    from arena.credentials import digest_of

    return digest_of(value)


def _of(cookie: str) -> str:
    return SimpleCookie(cookie)["arena"].value


def test_a_wrong_password(arena: Arena, browser: Browser) -> None:
    wrong = browser.log_in("wrong password")
    assert wrong.status == 401
    assert b"No user with this name and password" in wrong.body
    assert "arena" not in browser.cookies
    browser.get("/login")
    nobody = browser.send("/login", {"user": "nobodyatall", "password": PASSWORD})
    assert nobody.status == 401
    assert b"No user with this name and password" in nobody.body


def test_a_forged_log_in_form(browser: Browser) -> None:
    browser.get("/login")
    browser.fields = {"token": "x" * 43}
    assert browser.send("/login", {"user": "ada", "password": PASSWORD}).status == 403
    browser.get("/login")
    browser.cookies.clear()
    assert browser.send("/login", {"user": "ada", "password": PASSWORD}).status == 403
    browser.get("/login")
    reply = browser.send("/login", {"user": "ada", "password": PASSWORD}, Sec_Fetch_Site="cross-site")
    assert reply.status == 403
    browser.get("/login")
    reply = browser.send("/login", {"user": "ada", "password": PASSWORD}, Origin="https://evil.example")
    assert reply.status == 403


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)", "/a\r\nX: y", ""]
)
def test_log_in_leads_nowhere_else(browser: Browser, target: str) -> None:
    reply = browser.log_in(next=target)
    assert (reply.status, reply.headers["Location"]) == (303, "/")


def test_a_session_writes_only_with_its_token(arena: Arena, browser: Browser) -> None:
    browser.log_in()
    cookie = {"Cookie": f"arena={browser.cookies['arena']}"}
    login = arena.store.users.by_login(_digest(browser.cookies["arena"]))
    assert login is not None
    wish = {"name": "x", "scopes": ["read"]}
    path = f"{PREFIX}/account/tokens"
    assert arena.server.post(path, body=wish, headers=cookie).status == 403
    right = {**cookie, "X-CSRF-Token": login.csrf or ""}
    assert arena.server.post(path, body=wish, headers={**right, "Sec-Fetch-Site": "cross-site"}).status == 403
    assert arena.server.post(path, body=wish, headers={**right, "Origin": "https://evil.example"}).status == 403
    assert arena.server.post(path, body=wish, headers={**right, "Sec-Fetch-Site": "same-origin"}).status == 201


def test_a_new_password_ends_all_sessions(arena: Arena, browser: Browser) -> None:
    browser.log_in()
    assert browser.get(f"{PREFIX}/account").status == 200
    arena.store.users.change("ada", role="organiser")
    assert browser.get(f"{PREFIX}/account").status == 401


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"user=ada", "text/plain", 415),
        (b"user=ada&user=bob", FORM["Content-Type"], 422),
        (b"user=" + b"x" * 100_000, FORM["Content-Type"], 413),
        (b"\xff\xfe=%ff&%00=%00", FORM["Content-Type"], 400),
        (b"", FORM["Content-Type"], 403),
        (b"--x\r\n", "multipart/form-data; boundary=x", 415),
        (b"a=b", FORM["Content-Type"] + "; charset=nonsense", 400),
    ],
)
def test_strange_forms(arena: Arena, content: bytes, kind: str, status: int) -> None:
    reply = arena.server.post("/login", data=content, headers={"Content-Type": kind})
    assert reply.status == status
    assert reply.headers["Content-Type"].startswith("text/html")


def test_a_token_for_a_password(arena: Arena, ada: str) -> None:
    server, path = arena.server, f"{PREFIX}/login"
    wish = {"user": ada, "password": PASSWORD, "name": "laptop", "scopes": ["read", "submit"], "days": 1}
    made = server.post(path, body=wish)
    assert made.status == 201
    assert server.get(f"{PREFIX}/account", token=made.json["token"]).json["name"] == ada
    assert server.post(path, body={**wish, "password": "wrong"}).status == 401
    assert (
        server.post(path, body={**wish, "user": "nobodyatall"}).json
        == server.post(path, body={**wish, "password": "wrong"}).json
    )
    too_much = server.post(path, body={**wish, "scopes": ["admin"]})
    assert (too_much.status, too_much.json["field"]) == (403, "scopes")


@pytest.fixture
def ask_from(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Reply]:
    """Request a token with a password, from this client address."""
    monkeypatch.setattr(arena.server.context, "trusted", (ip_network("127.0.0.0/8"),))

    def ask(address: str, user: str, password: str = "wrong") -> Reply:
        wish = {"user": user, "password": password, "name": "x", "scopes": ["read"]}
        return arena.server.post(f"{PREFIX}/login", body=wish, headers={"X-Forwarded-For": address})

    return ask


@pytest.mark.usefixtures("instant")
def test_passwords_are_not_for_guessing(ask_from: Callable[..., Reply], ada: str) -> None:
    assert [ask_from("192.0.2.1", ada).status for _ in range(7)] == [401] * 5 + [429, 429]
    late = ask_from("192.0.2.1", ada, PASSWORD)
    assert (late.status, late.headers["Retry-After"]) == (429, "1")
    assert ask_from("192.0.2.1", "nobodyatall").status == 401, "another name is another matter"


@pytest.mark.usefixtures("instant")
def test_failed_logins_do_not_lock_out_known_addresses(
    arena: Arena, browser: Browser, ask_from: Callable[..., Reply], ada: str
) -> None:
    assert ask_from("192.0.2.77", ada, PASSWORD).status == 201
    for number in range(60):
        ask_from(f"198.51.100.{number // 5}", ada)
    assert ask_from("203.0.113.9", ada, PASSWORD).status == 429, "a strange place, while the name is being guessed"
    assert ask_from("192.0.2.77", ada, PASSWORD).status == 201, "a known address"


@pytest.mark.usefixtures("instant")
def test_known_browser_is_not_limited_by_its_address(arena: Arena, browser: Browser, ada: str) -> None:
    browser.log_in()
    device = browser.devices[-1]
    wrong = {"user": ada, "password": "wrong", "name": "x", "scopes": ["read"]}
    statuses = [arena.server.post(f"{PREFIX}/login", body=wrong).status for _ in range(8)]
    assert statuses[-1] == 429
    browser.cookies = {"arena-device": "x" * 43}
    assert browser.log_in().status == 429, "a mark that nobody gave out"
    browser.cookies = {"arena-device": device}
    assert browser.log_in().status == 303
    assert browser.devices[-1] == device, "it stays known by the same mark"


def test_passwords_are_checked_a_few_at_a_time(
    arena: Arena, ask_from: Callable[..., Reply], ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask_from("192.0.2.80", ada, PASSWORD).status == 201
    monkeypatch.setattr(arena.server.context, "password_queue", BoundedQueue(1, each=0, total=0))
    busy = ask_from("192.0.2.81", ada, PASSWORD)
    assert (busy.status, busy.headers["Retry-After"]) == (503, "5")
    assert busy.json["detail"] == "too many passwords are being checked"
    assert ask_from("192.0.2.80", ada, PASSWORD).status == 201, "strangers do not fill the place of who is known"


def test_people_change_their_own_password(arena: Arena, browser: Browser) -> None:
    grace = arena.store.users.add("grace", "author", hash_password(PASSWORD))
    browser.log_in(user="grace")
    other = Browser(arena)
    other.log_in(user="grace")
    token = arena.server.person("grace")
    new = "another horse, no battery"
    for fields, words in (
        ({"password": "wrong", "new": new, "again": new}, b"Wrong current password"),
        ({"password": PASSWORD, "new": new, "again": new + "x"}, b"two new passwords differ"),
        ({"password": PASSWORD, "new": "grace-2026", "again": "grace-2026"}, b"more than the user&#39;s name"),
        ({"password": PASSWORD, "new": "a\0bcdefghij", "again": "a\0bcdefghij"}, b"must not contain NUL"),
    ):
        browser.get("/account")
        refused = browser.send("/account/password", fields)
        assert refused.status in (403, 422)
        assert words in refused.body
    browser.get("/account")
    done = browser.send("/account/password", {"password": PASSWORD, "new": new, "again": new})
    assert (done.status, done.headers["Location"]) == (303, "/account#password")
    assert browser.get(f"{PREFIX}/account").status == 200, "this browser stays logged in"
    assert other.get(f"{PREFIX}/account").status == 401
    assert arena.server.get(f"{PREFIX}/account", token=token).status == 200
    wish = {"password": new, "new_password": PASSWORD, "revoke_tokens": True}
    assert arena.server.post(f"{PREFIX}/account/password", token=token, body=wish).status == 204
    assert arena.server.get(f"{PREFIX}/account", token=token).status == 401
    assert all(held.revoked for held in arena.store.users.tokens(grace.id or 0))


def test_admins_list_and_revoke_tokens(arena: Arena) -> None:
    server = arena.server
    token = server.person("heidi")
    path = f"{PREFIX}/users/heidi/tokens"
    assert server.get(path, token=arena.tokens["organiser"]).status == 403
    (item,) = server.get(path, token=arena.tokens["admin"]).json["items"]
    assert "token" not in item
    assert server.ask("DELETE", f"{path}/{item['id']}", token=token).status == 403
    assert server.ask("DELETE", f"{path}/{item['id']}", token=arena.tokens["admin"]).status == 204
    assert server.get(f"{PREFIX}/account", token=token).status == 401
    assert server.ask("DELETE", f"{PREFIX}/users/author/tokens/{item['id']}", token=arena.tokens["admin"]).status == 404


def test_over_https_cookies_are_bound_to_the_host(
    arena: Arena, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = arena.server.context
    secure = context.settings.model_copy(update={"public_url": "https://arena.example"})
    monkeypatch.setattr(context.arena, "settings", secure)
    reply = browser.log_in()
    cookie = reply.headers["Set-Cookie"]
    assert cookie.startswith("__Host-arena=")
    assert "Secure" in cookie
    assert "Path=/" in cookie
    assert "Domain" not in cookie
    assert "Strict-Transport-Security" in reply.headers
