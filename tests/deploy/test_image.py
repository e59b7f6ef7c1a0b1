"""The container image: what its recipe says, what comes into it, and that kernels compiled for it are found by bots."""

from __future__ import annotations

import json
import re

import pytest

from referee.sandbox.launch import environment
from tests.deploy.sources import ROOT, instructions


def values(name: str) -> list[str]:
    return [rest for found, rest in instructions() if found == name]


def test_images_are_named_to_the_version_and_without_a_host() -> None:
    for image in values("FROM"):
        name = image.split()[0]
        assert re.fullmatch(r"[a-z]+:\d+\.\d+[\w.-]*", name), name


def test_nothing_runs_as_root() -> None:
    last = max(index for index, (name, _) in enumerate(instructions()) if name == "FROM")
    users = [rest for name, rest in instructions()[last:] if name == "USER"]
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", users[-1])


def test_versions_are_those_that_were_tested() -> None:
    assert any("--constraint constraints.txt" in rest for rest in values("RUN"))
    assert not any(re.search(r"curl|wget|pip install --upgrade", rest) for rest in values("RUN"))


def test_both_stages_compile_for_the_same_processor() -> None:
    given = [re.findall(r"(NUMBA_\w+)=(\S+)", rest) for rest in values("ENV")]
    assert given[0] == given[1]
    assert {name for name, _ in given[0]} == {"NUMBA_CACHE_DIR", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"}
    assert any("arena warmup --bots" in rest for rest in values("RUN"))


def test_bots_look_for_kernels_of_that_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CPU_NAME", "x86-64-v3")
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "")
    assert environment()["NUMBA_CPU_NAME"] == "x86-64-v3"
    assert environment()["NUMBA_CPU_FEATURES"] == ""
    monkeypatch.delenv("NUMBA_CPU_NAME")
    monkeypatch.delenv("NUMBA_CPU_FEATURES")
    assert not [name for name in environment() if name.startswith("NUMBA_CPU")]


def test_health_is_asked_and_the_program_is_told_to_stop() -> None:
    command = json.loads(values("HEALTHCHECK")[0].partition("CMD ")[2])
    assert "/healthz" in command[-1]
    compile(command[-1], "healthcheck", "exec")
    # In the form of a list, so that signals reach the program and not a shell.
    assert json.loads(values("ENTRYPOINT")[0])[-1] == "arena"
    assert json.loads(values("CMD")[0])[0] == "serve"


def test_what_is_copied_is_let_in() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    let_in = {line[1:] for line in lines if line.startswith("!")}
    wanted = {word for rest in values("COPY") if "--from" not in rest for word in rest.split()[:-1]}
    assert wanted == let_in
    assert all((ROOT / word).exists() for word in wanted)
    assert "*" in lines
