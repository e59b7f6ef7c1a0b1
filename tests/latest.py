"""Tries the newest release of every dependency: `python -m tests.latest PYTEST-ARGUMENTS`, or `make test-latest`.

An environment of its own gets them whatever bounds `pyproject.toml` has; then the core of the suite runs in it. What
broke is said with the versions that are beyond the tested ones.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
CORE = (
    "protocol",
    "rules",
    "referee",
    "bots",
    "arena/store",
    "arena/events",
    "arena/cluster",
    "arena/http",
    "arena/api",
)


def requirements() -> list[Requirement]:
    """Return what the project and its tests demand, with their bounds."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [Requirement(line) for line in (*project["dependencies"], *project["optional-dependencies"]["test"])]


def beyond(found: dict[str, str]) -> list[str]:
    """Return the packages whose version the bounds do not admit, with both; `found`: versions by name."""
    strangers = []
    for one in requirements():
        version = found.get(canonicalize_name(one.name), "")
        if version and not one.specifier.contains(version, prereleases=True):
            strangers.append(f"{one.name} {version} ({one.specifier} is tested)")
    return sorted(set(strangers))


def main() -> int:
    """Install, run, report; the exit code of the tests."""
    python = ROOT / ".venv-latest" / "bin" / "python"
    if sys.prefix != str(python.parents[1]):
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
        names = sorted({f"{one.name}[{','.join(one.extras)}]" if one.extras else one.name for one in requirements()})
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--upgrade", *names], check=True)
        subprocess.run([*pip, "--no-deps", "--editable", str(ROOT)], check=True)
        return subprocess.run([str(python), "-m", "tests.latest", *sys.argv[1:]], check=False, cwd=ROOT).returncode
    words = [*(f"tests/{name}" for name in CORE), *sys.argv[1:]]
    code = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words], check=False).returncode
    newer = beyond({canonicalize_name(one.name): one.version for one in distributions()})
    sys.stdout.write("beyond what is tested: " + ("; ".join(newer) or "nothing") + "\n")
    sys.stdout.write("the core of the suite " + ("fails" if code else "passes") + " with the newest releases\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
