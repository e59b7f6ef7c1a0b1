"""Addresses of brokers: valid and invalid ones, and that no password is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.config_file import ConfigError, read_settings
from arena.events.mqtt.url import BrokerUrl


@pytest.mark.parametrize(
    ("text", "found", "shown"),
    [
        ("mqtt://broker", BrokerUrl("broker", 1883), "mqtt://broker:1883"),
        ("mqtt://broker:1/", BrokerUrl("broker", 1), "mqtt://broker:1"),
        ("mqtts://broker", BrokerUrl("broker", 8883, is_tls=True), "mqtts://broker:8883"),
        ("mqtt://[::1]:99", BrokerUrl("::1", 99), "mqtt://[::1]:99"),
        ("mqtt://ann:h%40sh@b", BrokerUrl("b", 1883, user="ann", password="h@sh"), "mqtt://ann@b:1883"),
        ("embedded", BrokerUrl("127.0.0.1", 1883, is_embedded=True), "mqtt://127.0.0.1:1883"),
        ("embedded:7", BrokerUrl("127.0.0.1", 7, is_embedded=True), "mqtt://127.0.0.1:7"),
    ],
)
def test_valid_addresses(text: str, found: BrokerUrl, shown: str) -> None:
    assert BrokerUrl.read(text) == found
    assert str(found) == shown
    assert read_settings(mqtt=text).mqtt == text


@pytest.mark.parametrize(
    "text",
    [
        "broker",
        "broker:1883",
        "http://broker",
        "mqtt://",
        "mqtt://broker:0",
        "mqtt://broker:99999",
        "mqtt://broker:x",
        "mqtt://broker/topic",
        "mqtt://broker?x=1",
        "mqtt://:hush@broker",
        "mqtt://ann:hu/sh@broker",
        "mqtt://ann:hush@",
        "embedded:0",
        "embedded:x",
        "embedded:70000",
    ],
)
def test_errors_of_invalid_addresses_have_a_hint_and_no_password(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^--mqtt: .*(mqtt://|embedded)") as caught:
        read_settings(data=tmp_path, mqtt=text)
    assert "hu" not in str(caught.value)


def test_client_names_are_plain(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^--mqtt-name: "):
        read_settings(data=tmp_path, mqtt_name="a/b")


def test_a_password_does_not_show_in_a_repr() -> None:
    assert "hush" not in repr(BrokerUrl.read("mqtt://ann:hush@b"))
