"""Run the suite's core with the newest release of each library, whatever the bounds in `pyproject.toml`.

    make test-latest [ARGS="-x"]

Makes `.venv-latest` anew. Prints which releases differ from `constraints.txt`, then what broke.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
VENV = ROOT / ".venv-latest"
PYTHON = str(VENV / "bin" / "python")
CORE = (
    "tests/protocol",
    "tests/rules",
    "tests/referee/ratings",
    "tests/arena/store",
    "tests/arena/http",
    "tests/arena/api",
)


def requirements() -> list[Requirement]:
    """What the project and its tests ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [Requirement(one) for one in (*project["dependencies"], *project["optional-dependencies"]["test"])]


def pinned() -> dict[str, str]:
    """The versions of `constraints.txt`."""
    lines = (ROOT / "constraints.txt").read_text().split()
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}


def install() -> None:
    """Make the environment."""
    venv.create(VENV, clear=True, with_pip=True)
    pip = [PYTHON, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    wanted = sorted({f"{one.name}[{','.join(one.extras)}]" if one.extras else one.name for one in requirements()})
    subprocess.run([*pip, "--upgrade", *wanted], cwd=ROOT, check=True)
    subprocess.run([*pip, "--no-deps", "--editable", "."], cwd=ROOT, check=True)


def differences() -> list[str]:
    """The releases that are not those of `constraints.txt`."""
    pip = [PYTHON, "-m", "pip", "--disable-pip-version-check", "list", "--format", "json"]
    listed = json.loads(subprocess.run(pip, stdout=subprocess.PIPE, check=True).stdout)
    installed = {canonicalize_name(package["name"]): package["version"] for package in listed}
    bounds = {canonicalize_name(requirement.name): requirement.specifier for requirement in requirements()}
    lines = []
    for name, version in pinned().items():
        if (present := installed.get(name, version)) != version:
            is_within = name not in bounds or bounds[name].contains(present)
            lines.append(f"{name} {version} -> {present}{'' if is_within else ', beyond its bound'}")
    return lines


def main(arguments: list[str]) -> int:
    """Install, compare, test; the exit code of the tests."""
    install()
    print("\n".join(differences()) or "constraints.txt has the newest releases", flush=True)
    code = subprocess.run(
        [PYTHON, "-m", "pytest", "-q", "-n", "2", *CORE, *arguments], cwd=ROOT, check=False
    ).returncode
    print("the newest releases pass" if code == 0 else "the tests above fail with the newest releases", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
