"""`python -m tests.deploy.image`: build the container image and try it, as root, where buildah and debootstrap are.

The recipe is built as it is. What it begins with is made by debootstrap, so no registry of images is needed. Then, as
the image's user: `arena init`, the image's own command, its health check, an upload, a rated game; nothing is compiled
meanwhile. Prints sizes and times. Exit code 1 when something is not as it should be, 3 when a program is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.deploy.sources import DEPLOY, ROOT, instructions

IMAGE = "bot-arena:trial"
SUITES = {"12": "bookworm", "13": "trixie"}
"""Debian's releases, as debootstrap knows them."""
LEFT_OUT = ("usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale", "usr/share/lintian")
"""What the images called slim leave out, now and of all packages to come."""
EMPTIED = ("var/cache/apt", "var/lib/apt/lists", "var/log")
TIMEOUT_S = 300
BOT = """
families = ["loa"]
command = ["python", "-m", "bots.samples.greedy", "--family", "loa"]
"""
CUP = """
name = "trial"
family = "loa"
format = "round-robin"
games = 2
time_control = "nodes:100"
[entries]
bots = ["trial", "random"]
[adjudication]
max_plies = 80
"""


class TrialError(Exception):
    """What is not as it should be."""


def main(words: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.deploy.image", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep base and layers there (default: nowhere)")
    parser.add_argument("--mirror", metavar="URL", help="of Debian (default: debootstrap's)")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)  # the trial, in a network of its own
    arguments = parser.parse_args(words)
    if missing := [name for name in ("buildah", "debootstrap", "unshare") if not shutil.which(name)]:
        print(f"error: no {', '.join(missing)} here; apt-get install buildah debootstrap util-linux", file=sys.stderr)
        return 3
    if os.getuid() != 0:
        print("error: debootstrap and chroot need root; run this as root", file=sys.stderr)
        return 3
    with _folder(arguments.work) as work:
        buildah = Buildah(work)
        try:
            if arguments.inside:
                trial(buildah, work)
                return 0
            image = first_image()
            with _timed("the base"):
                make_base(buildah, work, image, arguments.mirror)
            with _timed("the image"):
                build(buildah, work, keep_layers=arguments.work is not None)
            # The health check asks a port that somebody else may have: not in a network without anybody else.
            again = [sys.executable, "-m", "tests.deploy.image", "--inside", "--work", str(work)]
            with _timed("the trial"):
                return subprocess.run(["unshare", "--net", *again], cwd=ROOT, check=False).returncode
        except TrialError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1


class Buildah:
    """The program, with its storage in a folder of ours."""

    def __init__(self, work: Path) -> None:
        self._line = ["buildah", "--root", str(work / "storage"), "--runroot", str(work / "run")]
        self._line += ["--storage-driver", "vfs"]

    def line(self, *words: str | Path) -> list[str]:
        """The command line that runs it."""
        return [*self._line, *map(str, words)]

    def __call__(self, *words: str | Path) -> str:
        """Run it; its output. Raises TrialError."""
        return _run(self.line(*words))


# -- the base and the image --------------------------------------------------------------------------------------------


def first_image() -> str:
    """The name of the image that the recipe begins with."""
    return next(rest.split()[0] for name, rest in instructions() if name == "FROM")


def release_of(image: str) -> str:
    """The number of the Debian release in an image's name."""
    return re.split("[:.-]", image)[1]


def make_base(buildah: Buildah, work: Path, image: str, mirror: str | None) -> None:
    """Make the image that the recipe begins with unless it is there: Debian's smallest, without documentation."""
    if image in buildah("images", "--format", "{{.Name}}:{{.Tag}}").replace("localhost/", "").split():
        return
    folder = work / "base"
    _run(["debootstrap", "--variant=minbase", SUITES[release_of(image)], str(folder), *([mirror] if mirror else [])])
    excluded = "".join(f"path-exclude=/{name}/*\n" for name in LEFT_OUT)
    (folder / "etc/dpkg/dpkg.cfg.d/slim").write_text(excluded, encoding="utf-8")
    for name in (*LEFT_OUT, *EMPTIED):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir()
    container = buildah("from", "scratch").strip()
    buildah("add", container, folder, "/")
    buildah("commit", "--rm", container, f"localhost/{image}")
    shutil.rmtree(folder)


def build(buildah: Buildah, work: Path, *, keep_layers: bool) -> None:
    """Build the recipe as it is, with this machine's way to the packages of Python. Raises TrialError."""
    lent = work / "lent"
    lent.mkdir(exist_ok=True)
    (lent / "pip.conf").write_text(pip_configuration(lent), encoding="utf-8")
    volumes = ["--volume", f"{lent}:/run/lent:ro", "--volume", f"{lent / 'pip.conf'}:/etc/pip.conf:ro"]
    # Docker's format: the other one has no health check.
    line = buildah.line("build", "--format", "docker", "--isolation", "chroot", "--pull-never", *volumes)
    recipe = ["--file", str(DEPLOY / "Dockerfile"), "--tag", IMAGE, str(ROOT)]
    if subprocess.run([*line, *(["--layers"] if keep_layers else []), *recipe], check=False).returncode:
        raise TrialError("the image is not built; its output is above")


def pip_configuration(lent: Path) -> str:
    """Where pip of this machine gets packages, for the pip of the image; files are copied into a folder lent to it."""
    told = _run([sys.executable, "-m", "pip", "config", "list"])
    settings = dict(re.findall(r"^(?:global|:env:)\.([a-z-]+)='(.*)'$", told, re.MULTILINE))
    lines = ["[global]"]
    if authority := settings.get("cert") or os.environ.get("SSL_CERT_FILE"):
        shutil.copy(authority, lent / "authority.crt")
        lines.append("cert = /run/lent/authority.crt")
    lines += [f"{name} = {settings[name]}" for name in ("index-url", "proxy", "trusted-host") if name in settings]
    return "\n".join(lines) + "\n"


# -- the trial ---------------------------------------------------------------------------------------------------------


def trial(buildah: Buildah, work: Path) -> None:
    """Try the image as its user would. Raises TrialError."""
    _bring_up_loopback()
    settings = json.loads(buildah("inspect", "--type", "image", IMAGE))["Docker"]["config"]
    container = buildah("from", "--pull-never", IMAGE).strip()
    try:
        _report_sizes(Path(buildah("mount", container).strip()))
        _try(Inside(buildah, work, container, settings), work)
    finally:
        buildah("rm", container)


class Inside:
    """A container of the image: `arena` runs a command of the arena in it, as the image says."""

    def __init__(self, buildah: Buildah, work: Path, container: str, settings: dict[str, Any]) -> None:
        self.settings, self._work = settings, work
        user, _, group = settings["User"].partition(":")
        for name in ("data", "bot"):
            shutil.rmtree(work / name, ignore_errors=True)
            (work / name).mkdir(mode=0o750)
            os.chown(work / name, int(user), int(group))
        volumes = ["--volume", f"{work / 'data'}:/data", "--volume", f"{work / 'bot'}:/bot:ro"]
        self._line = buildah.line("run", "--isolation", "chroot", *volumes)
        self._container = container

    def line(self, *words: str, **variables: str) -> list[str]:
        """The command line that runs a program in it."""
        given = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
        return [*self._line, *given, self._container, "--", *words]

    def run(self, *words: str) -> str:
        """Run a program in it; its output. Raises TrialError."""
        return _run(self.line(*words))

    def arena(self, *words: str, **variables: str) -> str:
        """Run a command of the arena. Raises TrialError."""
        return _run(self.line(*self.settings["Entrypoint"], *words, **variables))


def _try(inside: Inside, work: Path) -> None:
    user = inside.run("id", "-u").strip()
    _require(user == inside.settings["User"].partition(":")[0], f"the user in the image is {user}")
    sandbox = re.search(r"^\w+ +sandbox +(.*?)[;:]", inside.arena("doctor"), re.MULTILINE)
    _require(sandbox is not None, "the doctor says nothing of a sandbox")
    _say(f"bots are confined by {sandbox[1] if sandbox else ''} here, where chroot allows no namespaces")
    compiled = json.loads(inside.arena("warmup", "--json"))["compiled"]
    _require(compiled == 0, f"{compiled} functions are not in the image")
    told = _run(inside.line("python", "-m", "bots.samples.warmup"), with_errors=True)
    # "compiling BOT" begins a bot, "compiling BOT FUNCTION" a function.
    late = re.findall(r"^compiling \S+ \S+$", told, re.MULTILINE)
    _require(not late, f"what bots call is not in the image: {late}")
    _say("every kernel of families and sample bots is in the image")

    admin = json.loads(inside.arena("init", "--json"))["admin"]
    health = inside.settings["Healthcheck"]["Test"][1:]
    _require(
        subprocess.run(inside.line(*health), capture_output=True, check=False).returncode != 0, "health of nothing"
    )
    with (work / "serve.log").open("wb") as log:
        line = inside.line(*inside.settings["Entrypoint"], *inside.settings["Cmd"])
        server = subprocess.Popen(line, stdout=log, stderr=log, start_new_session=True)
        try:
            _await(
                server, lambda: subprocess.run(inside.line(*health), capture_output=True, check=False).returncode == 0
            )
            _say("init, serve, and the health check says yes")
            inside.run("python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/docs/')")
            _play(inside, work, admin["token"])
            inside.run(*health)
        except TrialError as error:
            raise TrialError(f"{error}\n{(work / 'serve.log').read_text(encoding='utf-8')[-2000:]}") from error
        finally:
            ended = _end(server, inside.settings["Entrypoint"][0])
    _require(ended == 0, f"told to stop, the server ended with {ended}")
    _say("told to stop, the server has ended by itself")
    _say(inside.arena("verify", "--all").splitlines()[-1])
    _say(inside.arena("ratings", "rebuild", "--check").splitlines()[-1])


def _play(inside: Inside, work: Path, token: str) -> None:
    """An upload, and a rated match of it with a sample."""
    (work / "bot" / "bot.toml").write_text(BOT, encoding="utf-8")
    (work / "bot" / "cup.toml").write_text(CUP, encoding="utf-8")
    (work / "bot" / "mine").mkdir(mode=0o755)
    (work / "bot" / "bot.toml").rename(work / "bot" / "mine" / "bot.toml")
    access = {"ARENA_TOKEN": token, "ARENA_SERVER": "http://127.0.0.1:8000"}
    inside.arena("bot", "submit", "/bot/mine", "--name", "trial", "--watch", **access)
    _say("an upload, checked and active")
    inside.arena("tournament", "create", "/bot/cup.toml", "--watch", **access)
    leaders = inside.arena("leaderboard", "loa", **access)
    _require("trial v1" in leaders, f"the upload is not rated:\n{leaders}")
    _say("a match, rated")


def _report_sizes(top: Path) -> None:
    total = _bytes_in(top)
    sizes = {name: _bytes_in(top / "opt/arena" / name) for name in ("lib", "kernels")}
    for name, size in {"all": total, **sizes, "system": total - sum(sizes.values())}.items():
        _say(f"{name:<8} {size / 1e6:6.0f} MB")


def _bytes_in(top: Path) -> int:
    return sum(os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(top) for name in names)


# -- programs ----------------------------------------------------------------------------------------------------------


def _run(line: Sequence[str], *, with_errors: bool = False) -> str:
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TrialError(f"{' '.join(line)}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout + done.stderr if with_errors else done.stdout


def _await(server: subprocess.Popen[bytes], is_there: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT_S
    while not is_there():
        _require(server.poll() is None, f"the server has ended with {server.returncode}")
        _require(time.monotonic() < end, f"no health within {TIMEOUT_S} s")
        time.sleep(0.5)


def _end(server: subprocess.Popen[bytes], program: str) -> int:
    """Tell the container's first program to stop, as whoever runs containers does: buildah would kill it."""
    for process in _below(server.pid):
        if Path(f"/proc/{process}/comm").read_text(encoding="utf-8").strip() == program:
            os.kill(process, signal.SIGTERM)
    try:
        return server.wait(TIMEOUT_S)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        return server.wait()


def _below(process: int) -> Iterator[int]:
    """The processes that a process has started, and theirs."""
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in task.read_text(encoding="utf-8").split():
            yield int(child)
            yield from _below(int(child))


def _bring_up_loopback() -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise TrialError(otherwise)


def _say(text: str) -> None:
    print(text, flush=True)


@contextmanager
def _timed(what: str) -> Iterator[None]:
    began, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    yield
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    _say(f"{what}: {time.monotonic() - began:.0f} s, {cpu:.0f} s of processor")


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given.resolve()
        return
    made = Path(tempfile.mkdtemp(prefix="arena-image-"))
    made.chmod(0o755)
    try:
        yield made
    finally:
        shutil.rmtree(made)


if __name__ == "__main__":
    sys.exit(main())
