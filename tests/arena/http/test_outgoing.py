"""Requests to other servers: which addresses are public. What a request does is tested with webhooks."""

from __future__ import annotations

import pytest

from arena.http.outgoing import is_public


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("127.8.8.8", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("::ffff:10.0.0.1", False),
        ("::ffff:93.184.216.34", True),
        ("64:ff9b::a00:1", False),
        ("64:ff9b::5db8:d822", True),
        ("2002:a00:1::", False),
    ],
)
def test_public_addresses(address: str, expected: bool) -> None:
    assert is_public(address) is expected
