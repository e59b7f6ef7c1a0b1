"""The release script, in a small project of its own, and the trial of a wheel."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.machinery import SourceFileLoader
from importlib.metadata import distribution
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

from tests.program import finished

ROOT = Path(__file__).parents[1]
SCRIPTS = ("release", "try-wheel")
PROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "tiny"
version = "0.3.0"
dependencies = ["a-library>=1"]

[project.optional-dependencies]
postgres = []
cluster = []
push = []

[project.scripts]
arena = "tiny:main"

[tool.setuptools]
packages = ["tiny"]

[tool.setuptools.package-data]
tiny = ["*.html"]
"""
PROGRAM = """\
import http.server
import sys
from importlib.metadata import version


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"x" * 2000)

    def log_message(self, *words):
        pass


def main():
    if "--version" in sys.argv:
        print("arena", version("tiny"))
    elif "play" in sys.argv:
        print('{"standings": []}')
    elif "serve" in sys.argv:
        server = http.server.HTTPServer(("127.0.0.1", 0), Pages)
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass
"""
LOG = "# Changelog\n\n## [0.3.0] - 2026-11-27\n\n### Pages\n- A thing.\n\n## [0.2.0] - 2026-11-22\n\n- All.\n"
LIBRARY = "a_library-1.2-py3-none-any.whl"
MAKEFILE = "docs:\n\techo built > tiny/page.html\n"


def git(folder: Path, *words: str) -> str:
    line = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org", *words]
    return subprocess.run(line, check=True, capture_output=True, text=True, timeout=500).stdout


@pytest.fixture
def project(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    index = tmp_path_factory.mktemp("index")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    with zipfile.ZipFile(index / LIBRARY, "w") as wheel:
        head = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr("a_library-1.2.dist-info/WHEEL", head)
        wheel.writestr("a_library-1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: A_Library\nVersion: 1.2\n")
        wheel.writestr("a_library-1.2.dist-info/RECORD", "")
    # Whoever installs the sources builds them with setuptools of the index.
    builder = distribution("setuptools")
    with zipfile.ZipFile(index / f"setuptools-{builder.version}-py3-none-any.whl", "w") as wheel:
        for file in builder.files or ():
            if file.suffix != ".pyc" and ".." not in file.parts:
                wheel.write(str(file.locate()), str(file))
    for name in (".ci", "tiny", "deploy"):
        (tmp_path / name).mkdir()
    for name in SCRIPTS:
        shutil.copy(ROOT / ".ci" / name, tmp_path / ".ci" / name)
    (tmp_path / "tiny" / "__init__.py").write_text(PROGRAM)
    (tmp_path / "deploy" / "compose.yaml").write_text("image: bot-arena:0.3.0\n")
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "constraints.txt").write_text("a-library==1.2\n")
    (tmp_path / "MANIFEST.in").write_text("graft tiny\n")
    (tmp_path / "Makefile").write_text(MAKEFILE)
    (tmp_path / "CHANGELOG.md").write_text(LOG)
    (tmp_path / ".gitignore").write_text("dist/\n*.html\n")
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "A change")


def release(folder: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, str(folder / ".ci" / "release")]
    return finished(line, 300)


@pytest.mark.long
def test_release_builds_tries_and_tags(project: Path) -> None:
    done = release(project)
    assert done.returncode == 0, done.stderr
    assert git(project, "cat-file", "tag", "v0.3.0").partition("\n\n")[2] == "Version 0.3.0\n\n### Pages\n- A thing.\n"
    assert git(project, "status", "--porcelain") == ""
    sums = (project / "dist" / "SHA256SUMS").read_text().splitlines()
    files = {name: digest for digest, name in (line.split("  ") for line in sums)}
    assert set(files) == {"tiny-0.3.0.tar.gz", "tiny-0.3.0-py3-none-any.whl", "sbom.json", "requirements.txt"}
    for name, digest in files.items():
        assert hashlib.sha256((project / "dist" / name).read_bytes()).hexdigest() == digest
    bill = json.loads((project / "dist" / "sbom.json").read_text())
    assert bill["metadata"]["component"]["purl"] == "pkg:pypi/tiny@0.3.0"
    (part,) = bill["components"]
    assert part["purl"] == "pkg:pypi/a-library@1.2"
    digest = hashlib.sha256(Path(os.environ["PIP_FIND_LINKS"], LIBRARY).read_bytes()).hexdigest()
    assert part["hashes"] == [{"alg": "SHA-256", "content": digest}]
    required = project / "dist" / "requirements.txt"
    assert required.read_text() == f"a-library==1.2 --hash=sha256:{digest}\n"
    line = ["install", "--dry-run", "--ignore-installed", "--quiet", "--require-hashes", "-r", str(required)]
    subprocess.run([sys.executable, "-m", "pip", *line], check=True, timeout=300)
    names = zipfile.ZipFile(project / "dist" / "tiny-0.3.0-py3-none-any.whl").namelist()
    assert {"tiny/__init__.py", "tiny/page.html"} <= set(names), "the documentation is built and part of the wheel"
    again = release(project)
    assert again.returncode == 1
    assert "the tag v0.3.0 exists" in again.stderr


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("CHANGELOG.md", LOG.replace("0.3.0", "0.4.0"), "CHANGELOG.md names version 0.4.0; expected 0.3.0"),
        ("CHANGELOG.md", LOG.replace(" - 2026-11-27", ""), "CHANGELOG.md names version without a date"),
        ("CHANGELOG.md", LOG.replace("## ", "## [Unreleased]\n\n## ", 1), "CHANGELOG.md names version Unreleased"),
        ("CHANGELOG.md", LOG.replace("### Pages\n- A thing.\n", ""), "no entry below 0.3.0"),
        ("deploy/compose.yaml", "\nimage: bot-arena:0.2.0\n", "deploy/compose.yaml:2 names version 0.2.0"),
        ("docs/how-to/upgrade.md", "| 1002 | next | more |\n", "docs/how-to/upgrade.md names version next"),
    ],
)
def test_release_with_another_version_somewhere_fails_without_tag(
    project: Path, name: str, text: str, message: str
) -> None:
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text(text)
    assert "uncommitted changes" in release(project).stderr
    commit(project)
    done = release(project)
    assert done.returncode == 1
    assert message in done.stderr
    assert git(project, "tag") == ""


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ('print("arena", version("tiny"))', "not 0.3.0"),
        ("print('{\"standings\": []}')", "arena play printed ''"),
        ('self.wfile.write(b"x" * 2000)', "/docs/ is empty"),
    ],
)
def test_release_of_a_wheel_that_does_not_work_fails_without_tag(project: Path, broken: str, message: str) -> None:
    assert broken in PROGRAM
    (project / "tiny" / "__init__.py").write_text(PROGRAM.replace(broken, "pass"))
    commit(project)
    done = release(project)
    assert done.returncode == 1
    assert message in done.stderr
    assert git(project, "tag") == ""


def test_every_place_names_the_version_of_the_project() -> None:
    loader = SourceFileLoader("release", str(ROOT / ".ci" / "release"))
    spec = spec_from_loader("release", loader)
    assert spec is not None
    script = module_from_spec(spec)
    loader.exec_module(script)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    versions = dict(script.named_versions())
    # Between releases the changelog begins with what is not released yet, and a schema may have no version.
    versions.pop("docs/how-to/upgrade.md", None)
    assert versions.pop("CHANGELOG.md") in (version, "Unreleased")
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    dated = [words for words in re.findall(r"^## \[(.*)$", log, re.MULTILINE) if words != "Unreleased]"]
    assert re.fullmatch(rf"{re.escape(version)}\] - \d{{4}}-\d\d-\d\d", dated[0])
    assert set(versions.values()) == {version}
    assert {place.partition(":")[0] for place in versions} >= {"deploy/compose.yaml", "deploy/Dockerfile"}
