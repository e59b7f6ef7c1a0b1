"""What the files of `deploy/` say, read for the tests."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C takes a tenth of the time
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
MANIFESTS = sorted(path for path in (DEPLOY / "k8s").glob("*.yaml") if path.name != "kustomization.yaml")


def documents(path: Path) -> list[dict[str, Any]]:
    """The documents of a YAML file."""
    return [one for one in yaml.load_all(path.read_text(encoding="utf-8"), LOADER) if one]


def compose() -> dict[str, Any]:
    """The compose file, its merges done."""
    return documents(DEPLOY / "compose.yaml")[0]


def resources() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every resource of every manifest, with its file's name."""
    for path in MANIFESTS:
        for document in documents(path):
            yield path.name, document


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    """The specification of every pod, with the name of what makes it."""
    for _, resource in resources():
        if "template" in resource.get("spec", {}):
            yield resource["metadata"]["name"], resource["spec"]["template"]["spec"]


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, lines that go on joined."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [
        (name.upper(), rest.strip()) for name, _, rest in (line.partition(" ") for line in joined.splitlines() if line)
    ]


def unit(path: Path) -> dict[str, list[str]]:
    """The settings of a systemd unit; the sections do not share names that matter here."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith(("#", "[")):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def command_lines() -> Iterator[tuple[str, list[str]]]:
    """Every command line of the arena in these files, without `arena` itself, with where it stands."""
    for path in UNITS:
        words = shlex.split(unit(path)["ExecStart"][0])
        yield path.name, words[1:]
    for name, service in compose()["services"].items():
        if str(service["image"]).startswith("${IMAGE"):
            yield f"compose {name}", [str(word) for word in service["command"]]
    for name, pod in pods():
        for container in pod["containers"]:
            if container["image"].startswith("bot-arena:"):
                yield f"k8s {name}", [str(word) for word in container["args"]]
    for text in ("compose.yaml", "k8s/secrets.example.yaml", "systemd/arena-worker@.service"):
        yield from ((text, words) for words in _shown(DEPLOY / text))
    for path in (*(DEPLOY.parent / "docs").rglob("*.md"), DEPLOY.parent / "README.md"):
        if not path.is_relative_to(DEPLOY.parent / "docs" / "reference"):
            yield from ((path.name, words) for words in _shown(path))


_MARKS = (
    "run --rm migrate ",
    "run --rm worker ",
    "exec deploy/arena -- arena ",
    "runuser -u arena -- arena ",
    "arena ",
)


def _shown(path: Path) -> Iterator[list[str]]:
    """Command lines in a text: behind `arena`, or what a container is told to run; none of a command that it adds."""
    text = path.read_text(encoding="utf-8")
    for line in text.replace("\\\n", " ").splitlines():
        line = line.strip().removeprefix("#").strip().removeprefix("$ ")
        for mark in _MARKS:
            before, separator, rest = line.partition(mark)
            rest = rest.partition("`")[0]
            if separator and (mark != "arena " or not before):
                words = shlex.split(rest, comments=True) if rest.count('"') % 2 == 0 and "'" not in rest else []
                words = words[: next((at for at, word in enumerate(words) if word in (">", "|", "&", "&&", ";")), None)]
                if words and words[0].isalpha() and line[:1] != "|" and f'Command("{words[0]}"' not in text:
                    yield words
                break
