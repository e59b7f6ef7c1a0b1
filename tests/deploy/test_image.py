"""The container image: what its recipe says, what comes into it, and that kernels compiled for it are found by bots.

`python -m tests.deploy.image` builds it and tries it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from referee.rules import families
from referee.sandbox.launch import environment
from tests.conftest import INTERPRETED
from tests.deploy import image
from tests.deploy.sources import ROOT, instructions


def values(name: str) -> list[str]:
    return [rest for found, rest in instructions() if found == name]


def stages() -> dict[str, list[tuple[str, str]]]:
    """The instructions of every stage, by its name; the image itself is the last one, `""`."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, rest in instructions():
        if name == "FROM":
            stage = found.setdefault(rest.partition(" AS ")[2], [])
        stage.append((name, rest))
    return found


def copied(stage: str) -> set[str]:
    return {word for name, rest in stages()[stage] if name == "COPY" for word in rest.split()[:-1]}


def test_images_are_named_to_the_version_and_without_a_host() -> None:
    first = [stage[0][1].split()[0] for stage in stages().values()]
    for name in set(first) - set(stages()):
        assert re.fullmatch(r"[a-z]+:\d+\.\d+[\w.-]*", name), name
    assert image.first_image() == first[0]
    assert image.release_of(first[0]) in image.SUITES


def test_libraries_and_kernels_are_left_alone_by_a_change_of_the_program() -> None:
    assert list(stages()) == ["python", "libraries", "kernels", "program", ""]
    assert copied("libraries") == {"pyproject.toml", "constraints.txt"}
    assert copied("kernels") == {"protocol", "referee", "bots"}
    assert [rest.split()[0] for name, rest in stages()[""] if name == "COPY"] == [
        "--from=libraries",
        "--from=kernels",
        "--from=program",
    ]


def test_compilers_and_pip_stay_behind() -> None:
    final = [rest for stage in ("python", "") for name, rest in stages()[stage] if name == "RUN"]
    assert not any(re.search(r"\bpip\b|gcc|binutils|venv", rest) for rest in final)
    assert all("rm -rf /var/lib/apt/lists/*" in rest for rest in values("RUN") if "apt-get install" in rest)


def test_nothing_runs_as_root() -> None:
    last = max(index for index, (name, _) in enumerate(instructions()) if name == "FROM")
    users = [rest for name, rest in instructions()[last:] if name == "USER"]
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", users[-1])


def test_versions_are_those_that_were_tested() -> None:
    assert any("--constraint constraints.txt" in rest for rest in values("RUN"))
    assert not any(re.search(r"curl|wget|pip install --upgrade", rest) for rest in values("RUN"))


def test_kernels_are_compiled_for_the_processor_that_the_image_names() -> None:
    given = [found for rest in values("ENV") if (found := re.findall(r"(NUMBA_\w+)=(\S+)", rest))]
    assert len(given) == 2
    assert given[0] == given[1]
    assert {name for name, _ in given[0]} == {"NUMBA_CACHE_DIR", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"}
    ((words, _),) = [rest.split(" && ")[:2] for name, rest in stages()["kernels"] if name == "RUN"]
    assert words.split() == ["PYTHONPATH=/src", "/opt/arena/bin/python", "-m", "referee.machine.sample_warmup"]


def test_module_that_compiles_the_kernels_runs_as_a_program() -> None:
    line = [sys.executable, "-m", "referee.machine.sample_warmup"]
    done = subprocess.run(line, env=INTERPRETED, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr.count("sample bots ready") == len(families()), done.stderr
    assert done.returncode == 0


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


def test_the_trial_takes_this_machines_way_to_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = tmp_path / "ca.crt"
    authority.write_text("certificates")
    lent = tmp_path / "lent"
    lent.mkdir()
    told = (
        f":env:.cert='{authority}'\nglobal.index-url='https://packages.example/simple'\nglobal.find-links='/wheels'\n"
    )
    monkeypatch.setattr(image, "_run", lambda line: told)
    assert image.pip_configuration(lent).splitlines() == [
        "[global]",
        "cert = /run/lent/authority.crt",
        "index-url = https://packages.example/simple",
    ]
    assert (lent / "authority.crt").read_text() == "certificates"


def test_the_trial_without_its_programs_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert image.main([]) == 3
    assert "apt-get install buildah debootstrap" in capsys.readouterr().err
