"""The seam: an arena without features, with each alone, and with all; broken features, and one of another package."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from arena import feature
from arena.api import routes as api
from arena.cli.terminal import commands
from arena.cli.terminal.parser import build
from arena.cli.terminal.run import run
from arena.config import Settings
from arena.config_file import read_settings
from arena.coordinator import assembly
from arena.coordinator.coordinator import CoordinatorParts
from arena.events.bus import Bus
from arena.feature import ALL
from arena.store import Store
from arena.store.base import schema
from tests.arena.api.server import Server
from tests.arena.coordinator.stage import Dice
from tests.arena.pages.addresses import filled, patterns
from tests.arena.pages.conftest import Site
from tests.arena.pages.stage import Stage, restore
from tests.program import finished

NAMES = [one.name for one in feature.installed() if one.module.startswith(feature.BUILT_IN)]
CHOICES = {"none": [ALL], "only problems": [name for name in NAMES if name != "problems"]}
"""What is disabled, by what remains: the seam is one for all features, of which none imports another. All other tests
see an arena with all of them.
"""
OF_FEATURES = {"atlas": r"/\w+/starts", "problems": r"(/\w+)?/problems"}
"""Addresses of the pages of features."""


def off(name: str, disabled: Sequence[str]) -> bool:
    return ALL in disabled or name in disabled


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, filled_template: Path) -> Iterator[tuple[Path, Stage]]:
    """A folder with a database that has something for every page."""
    folder = tmp_path_factory.mktemp("features")
    stage = restore(filled_template, folder)
    with closing(stage.store):
        yield folder, stage


def settings_of(folder: Path, disabled: Sequence[str]) -> Settings:
    return read_settings(None, data=folder, allow_weak_sandbox=True, disabled_features=list(disabled))


@contextmanager
def open_site(stage: tuple[Path, Stage], disabled: Sequence[str]) -> Iterator[Site]:
    folder, filling = stage
    with closing(Store.in_folder(folder)) as store:
        server = Server(store, settings_of(folder, disabled))
        server.unlimited()
        try:
            yield Site(server, filling)
        finally:
            server.close()


@pytest.mark.parametrize("choice", CHOICES)
def test_an_arena_shows_every_page_of_the_features_that_are_on(stage: tuple[Path, Stage], choice: str) -> None:
    disabled = CHOICES[choice]
    with open_site(stage, disabled) as site:
        addresses = [filled(site, pattern)[0] for pattern in patterns(site)]
        pages = {address: site.server.get(address) for address in addresses}
        wrong = {address: reply.status for address, reply in pages.items() if reply.status not in (200, 303, 308)}
        assert not {address: status for address, status in wrong.items() if status != 404 or "nothing" not in address}
        links = {link for reply in pages.values() for link in re.findall(r'href="(/[^"?#]*)', reply.body.decode())}
        for name, pattern in OF_FEATURES.items():
            known = [address for address in (*links, *addresses) if re.fullmatch(rf"{pattern}(/.*)?", address)]
            assert bool(known) is not off(name, disabled), known
        about = pages["/about"].body.decode()
        assert len(re.findall(r">off<", about)) == sum(off(name, disabled) for name in NAMES)
        for route in api.table(disabled):
            if route.method == "GET" and "{" not in route.path and route.scope is None and "stream" not in route.path:
                assert site.server.get(f"/api/v1{route.path}").status in (200, 400, 422), route.path
        assert (site.server.get("/api/v1/problems").status == 404) is off("problems", disabled)


@pytest.mark.parametrize("choice", CHOICES)
def test_the_coordinator_does_the_work_of_the_features_that_are_on(
    stage: tuple[Path, Stage], choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    disabled, given = CHOICES[choice], []
    monkeypatch.setattr(assembly, "CoordinatorParts", lambda *parts: given.append(parts) or CoordinatorParts(*parts))
    with closing(Store.in_folder(stage[0])) as store:
        assembly.assemble(settings_of(stage[0], disabled), store, Bus(), Dice())
    assert ("problems" in {one.name for one in given[0][-1]}) is not off("problems", disabled)


@pytest.fixture
def fresh() -> Iterator[None]:
    """Features and commands are found again within the test, and afterwards."""

    def forget() -> None:
        for known in (feature.installed, feature.commands, commands.every):
            known.cache_clear()

    forget()
    yield
    forget()


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("choice", CHOICES)
def test_every_command_of_the_features_that_are_on_has_help(choice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    disabled = CHOICES[choice]
    monkeypatch.setenv(feature.VARIABLE, json.dumps(disabled))
    names = {command.name for command in commands.every()}
    for name, command in {"atlas": "atlas", "laboratory": "tune", "problems": "solve"}.items():
        assert (command in names) is not off(name, disabled)
    build().fill_all()
    for name in names:
        assert run([name, "--help"]) == 0
    assert {"play", "serve", "archive"} <= names


def test_the_help_of_all_commands_imports_no_part_of_a_feature() -> None:
    program = "import sys; from arena.cli.terminal.parser import build; build(); print(*sys.modules, sep='\\n')"
    modules = finished([sys.executable, "-c", program], 60).stdout.split()
    assert "arena.features.problems" in modules
    assert not {"sqlalchemy", "aiohttp", "pydantic", "numpy"} & {*modules}
    assert not [one for one in modules if re.fullmatch(r"arena\.features\.\w+\..*", one)]


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    """Install a package with the feature `broken`."""
    (folder / "broken.py").write_text(source, encoding="utf-8")
    info = folder / "broken_package-3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-package\nVersion: 3\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[arena.features]\nbroken = broken\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))


FAULTY = """
from aiohttp import web
from arena.feature import Feature
from arena.pages.page import allow_parameters, render
FEATURE = Feature(name="broken", title="Broken", pages=("broken",), card="broken:card")
routes = web.RouteTableDef()


@routes.get("/broken")
@allow_parameters()
async def show(request):
    return render(request, "broken/no_such_template.html")


async def card(request):
    raise RuntimeError("no card today")
"""


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("FEATURE = None", "TypeError"),
        (
            "from arena.feature import Feature\nFEATURE = Feature(name='broken', title='', pages=('nowhere',))",
            "nowhere",
        ),
        (
            "from arena.feature import Feature, Place\n"
            "FEATURE = Feature(name='broken', title='', places=(Place('bot', '/broken?about={robot}', 'Broken'),))",
            "'bot' does not know",
        ),
        (
            "from sqlmodel import Field, SQLModel\n"
            "from arena.feature import Feature\n"
            "FEATURE = Feature(name='broken', title='', tables='broken', revisions='broken')\n"
            "class Note(SQLModel, table=True):\n"
            "    __tablename__ = 'notes_of_a_stranger'\n"
            "    id: int = Field(primary_key=True)",
            "does not begin with 'broken_'",
        ),
    ],
)
def test_a_broken_feature_is_named_and_left_out(
    source: str, problem: str, stage: tuple[Path, Stage], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, source)
    with open_site(stage, []) as site:
        page = site.server.get("/about").body.decode()
        assert re.search(r"broken.*failed.*broken-package.*3", page, re.DOTALL)
        assert site.server.get("/problems").status == 200
    (broken,) = [installed for installed in feature.installed() if installed.name == "broken"]
    assert problem in broken.problem
    sys.modules.pop("broken", None)


@pytest.mark.usefixtures("fresh")
def test_a_fault_of_a_feature_is_one_of_its_own_page(
    stage: tuple[Path, Stage], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, FAULTY)
    with open_site(stage, []) as site, capture_logs() as lines:
        assert site.server.get("/").status == 200
        assert site.server.get("/broken").status == 500
    faults = [line for line in lines if line["log_level"] == "error"]
    assert [(line["event"], line.get("feature")) for line in faults] == [
        ("a part of a page fails", "broken"),
        ("fault", None),
    ]
    assert "no_such_template.html" in str(faults[1]["exc_info"].__cause__)
    sys.modules.pop("broken", None)


STRANGER = Path(__file__).parent / "stranger"
PAGE = Path(__file__).parents[3] / "docs/contributing/write-a-feature.md"


def test_the_page_on_features_shows_the_package_that_is_tested() -> None:
    shown = re.findall(r"```(?:python|toml)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    sources = [path.read_text(encoding="utf-8") for path in STRANGER.rglob("*.*") if path.suffix in (".py", ".toml")]
    assert len(shown) == 6
    assert [text for text in shown if not any(source.endswith(text) for source in sources)] == []


_USE = """
import json, sys
from contextlib import closing
from pathlib import Path
from arena.__main__ import main
from arena.config_file import read_settings
from arena.store import Store
from arena.store.base import schema
from tests.arena.api.server import Server
folder = Path(sys.argv[1])
assert main(["db", "upgrade", "--data", str(folder)]) == 0
assert main(["greet", "hello, arena", "--data", str(folder)]) == 0
with closing(Store.in_folder(folder)) as store:
    server = Server(store, read_settings(None, data=folder))
    said = {path: server.get(path).body.decode() for path in ("/", "/greetings", "/api/v1/greetings", "/about")}
    server.close()
    assert schema.differences(store.engine) == []
print(json.dumps(said))
"""


@pytest.mark.long
def test_a_feature_of_another_package_is_installed_and_used(tmp_path: Path, sqlite_template: Path) -> None:
    source, site, data = tmp_path / "source", tmp_path / "site", tmp_path / "data"
    shutil.copytree(STRANGER, source)
    assert sum(len(path.read_text().splitlines()) for path in (source / "greetings").rglob("*.*")) <= 120
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(site), str(source)], check=True, timeout=300)
    data.mkdir()
    shutil.copy(sqlite_template, data / "arena.sqlite3")
    environment = {**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{Path(__file__).parents[3]}"}
    done = finished([sys.executable, "-c", _USE, str(data)], 300, env=environment)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert '<p id="greeting">hello, arena</p>' in said["/"]
    assert "<li>hello, arena</li>" in said["/greetings"]
    assert re.search(r'<a href="/greetings" aria-current="page">.*Greetings</a>', said["/greetings"], re.DOTALL)
    assert json.loads(said["/api/v1/greetings"]) == {"items": ["hello, arena"]}
    assert re.search(r"greetings.*on.*arena-greetings.*1\.2", said["/about"], re.DOTALL)
    with closing(Store.in_folder(data)) as store:  # without the package
        assert schema.differences(store.engine) == []
