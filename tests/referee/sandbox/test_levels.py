"""Choosing, testing and describing sandboxes; what happens where one does not hold."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from referee.game.spec import BotLimits, BotSpec, GameSpec, PlannedGame
from referee.play import sandbox_choice
from referee.play.play import play
from referee.play.roster import Roster
from referee.play.sandbox_choice import choose, why_not
from referee.sandbox import LEVELS, Sandbox, assess, cgroup, landlock, level, open_sandbox, refusal
from referee.sandbox.cgroup import Cgroup, CgroupParent, find_cgroup_parent
from referee.sandbox.cgroup import _unified_parent as unified_place
from referee.sandbox.launch import environment
from referee.sandbox.level import attack as examine
from referee.sandbox.view import make_view
from tests.badbots import match
from tests.badbots.catalogue import HERE, LIMITS
from tests.referee.conftest import scripted
from tests.referee.sandbox.conftest import is_root
from tests.referee.sandbox.levels import sandbox_or_skip, working


def test_auto_is_the_strongest_that_works() -> None:
    names = working()
    assert names[-1] == "none"
    assert open_sandbox("auto").name == names[0]
    with pytest.raises(ValueError, match="bwrap, landlock, rlimits, none"):
        open_sandbox("jail")


def test_a_level_that_is_not_there_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level.bwrap, "program", lambda: None)
    assess.cache_clear()
    try:
        with pytest.raises(ValueError, match="bubblewrap is not installed; apt-get install bubblewrap"):
            open_sandbox("bwrap")
        assert open_sandbox("auto").name != "bwrap"
    finally:
        assess.cache_clear()


def test_a_sandbox_that_does_not_hold_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The self-test is not impressed by a name."""
    monkeypatch.setitem(level._WRAPS, "bwrap", level._plain)
    reason = examine(Sandbox("bwrap"))
    assert reason in ("the bot still ran as root", "the bot had 20 children, 10 were allowed")
    monkeypatch.setitem(level._WRAPS, "bwrap", level.rlimits.wrap)
    assert "the bot" in examine(Sandbox("bwrap"))


def test_strangers_need_a_strong_sandbox_or_plain_words() -> None:
    assert refusal(Sandbox("bwrap")) == refusal(Sandbox("landlock")) == ""
    assert "could read this machine's files" in refusal(Sandbox("rlimits"))
    assert refusal(Sandbox("rlimits"), allow_weak=True) == ""
    assert bool(refusal(Sandbox("none"), allow_weak=True)) == is_root()


def script(folder: Path, name: str, *lines: str) -> BotSpec:
    path = folder / name
    path.write_text("\n".join(("#!/bin/sh", *lines, 'read line && echo "ugiok"', "read line")))
    path.chmod(0o755)
    return BotSpec(name, (str(path),))


def test_trusted_bots_fall_back_to_where_they_start_with_a_note(open_folder: Path) -> None:
    everywhere = script(open_folder, "everywhere")
    nosy = script(open_folder, "nosy", "{ read line < /etc/passwd; } 2>/dev/null || { echo no users >&2; exit 3; }")
    broken = script(open_folder, "broken", "exit 4")
    chosen, notes = choose("auto", [everywhere, broken], LIMITS)
    assert (chosen.name, notes) == (working()[0], ())
    chosen, notes = choose("auto", [everywhere, nosy], LIMITS)
    assert chosen.name == working("rlimits", "none")[0]
    if working()[0] in level.STRONG:
        assert len(notes) == 1
        assert notes[0].startswith(f"bot 'nosy' runs in rlimits: it does not start in {working()[0]} (no users)")
        assert "; show it what it needs: " in notes[0]
    chosen, notes = choose("none", [nosy], LIMITS)
    assert (chosen.name, notes) == ("none", ())


@pytest.fixture
def strong_or_nothing(monkeypatch: pytest.MonkeyPatch) -> str:
    """A machine with one level beside `none`, and its name."""
    strong = working()[0]
    monkeypatch.setattr(sandbox_choice, "assess", lambda name: level.Assessment(name, name in (strong, "none")))
    return strong


def test_auto_runs_a_bot_without_a_sandbox_where_no_other_way_is_left(
    strong_or_nothing: str, open_folder: Path, tmp_path: Path
) -> None:
    book = tmp_path / "book.bin"
    book.write_text("moves\n")
    reader = script(open_folder, "reader", f"read line < {book} || exit 3")
    sandbox, notes = choose("auto", [reader], LIMITS)
    assert sandbox.name == "none"
    assert len(notes) == 1
    assert notes[0].startswith(f"bot 'reader' runs without a sandbox: it does not start in {strong_or_nothing} (")
    assert f"{book} is not shown to it: name the file in its command" in notes[0]
    named = replace(reader, command=(*reader.command, str(book)))
    assert choose("auto", [named], LIMITS)[0].name == strong_or_nothing


@pytest.mark.parametrize("mode", [0o755, 0o700])
def test_own_files_are_readable_in_every_level_whatever_their_mode(mode: int, tmp_path: Path) -> None:
    """Like everything below a home: what only its owner may read, bots of the owner may read too."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    secret = closed / "weights.bin"
    secret.write_text("weights\n")
    secret.chmod(mode & 0o600)
    bot = script(closed, "bot", f"read line < {secret} || exit 3")
    Path(bot.command[0]).chmod(mode)
    sandbox, notes = choose("auto", [bot], LIMITS)
    assert (sandbox.name, notes) == (working()[0], ())
    for name in working():
        assert why_not(bot, open_sandbox(name, is_own=True), LIMITS) is None, name


def test_a_bundle_starts_in_every_level_from_a_relative_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = replace(script(tmp_path, "bot"), command=("./bot",), folder="bundle")
    (tmp_path / "bundle").mkdir(mode=0o755)
    (tmp_path / "bot").rename(tmp_path / "bundle" / "bot")
    monkeypatch.chdir(tmp_path)
    for name in working():
        assert why_not(bot, open_sandbox(name, is_own=True), LIMITS) is None, name


def test_files_for_their_owner_alone_are_closed_to_bots_of_strangers(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_root():
        pytest.skip("optional: bots run as another user only where root starts them")
    monkeypatch.setattr(landlock, "is_passable", lambda path: True)  # else a Python under /root is opened to its bots
    book = open_folder / "book.bin"
    book.write_text("moves\n")
    book.chmod(0o600)
    reader = script(open_folder, "reader", f"read line < {book} || exit 3")
    for name in working("landlock", "rlimits"):
        assert why_not(reader, open_sandbox(name), LIMITS) is not None, name


def test_a_machine_without_any_sandbox_is_spoken_of(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_choice, "assess", lambda name: level.Assessment(name, name == "none"))
    sandbox, notes = choose("auto", [script(open_folder, "everywhere")], LIMITS)
    assert sandbox.name == "none"
    assert notes == ("no sandbox works here, bots run without one; arena doctor says how to get one",)


def test_a_sandbox_that_cannot_be_set_up_is_no_bots_fault(tmp_path: Path) -> None:
    bot = replace(scripted("gone"), command=("python3", "bot.py"), folder=str(tmp_path / "not-there"))
    with Roster(sandbox_or_skip("bwrap")) as roster:
        record = play(PlannedGame.of(GameSpec("loa", "standard", bot, scripted("two"), limits=LIMITS)), roster)
        assert (record.winner, record.termination, record.kind) == (None, "sandbox-failed", "void")
        assert "not-there" in record.detail
        assert match.play_honestly(roster).termination == "resigned"


def test_every_level_plays_and_is_on_record(open_folder: Path) -> None:
    for name in working():
        with match.roster(open_sandbox(name)) as roster:
            bot = BotSpec("shell", ("/bin/sh", str(HERE / "shell_gone.sh")))
            record = play(PlannedGame.of(GameSpec("loa", "standard", bot, bot, limits=LIMITS)), roster)
        if name != "rlimits" and name != "landlock":  # where the tests are under /root, another user cannot see them
            assert (record.termination, record.sandbox) == ("crashed", name), record.detail
        assert record.sandbox == name


def test_bot_finds_the_python_of_the_arena_first_at_every_level(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = open_folder / "others"
    others.mkdir()
    (others / "python3").symlink_to("/bin/false")
    monkeypatch.setenv("PATH", os.pathsep.join((str(others), os.defpath)))
    for name in LEVELS:
        environment = Sandbox(name).confine(("python3", "bot.py"), None, LIMITS).environment
        assert environment
        assert environment["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent), name


def test_a_bot_sees_the_folders_its_command_names_and_no_home(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = script(open_folder, "bot.sh")
    home = open_folder / "home"
    home.mkdir()
    (home / "net.bin").write_text("")
    monkeypatch.setenv("HOME", str(home))
    view = make_view((*spec.command, str(home / "net.bin"), "--quick", "/etc/passwd"), None)
    assert str(open_folder) in view.shown
    assert "/etc/passwd" in view.shown, "named by whoever runs the bot: the file alone"
    assert not {"/etc", "/", "/home", "/root", str(home)} & set(view.shown)
    bundled = make_view(("python3", "bot.py", "/etc/passwd"), str(open_folder))
    assert str(open_folder) not in bundled.shown, "a bundle is shown at a place of its own"
    assert "/etc/passwd" not in bundled.shown, "what a bundle names is not for it to choose"
    named = make_view(("python3", "/opt/x/bot.py:choose", "--net=/opt/x/a/b", "/srv/opt/x/c", "/opt/x"), "/opt/x")
    assert named.command == ("python3", "./bot.py:choose", "--net=./a/b", "/srv/opt/x/c", "/opt/x")
    assert {"PATH", "HOME"} <= set(environment()) <= {*environment()}
    assert not [name for name in environment() if "ARENA" in name]


def test_confined_kernels_come_from_the_cache_and_do_not_go_there(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = open_folder / "cache"
    cache.mkdir()
    (open_folder / "kernel.py").write_text(
        "from referee.rules.jit import jit\n"
        "@jit\ndef twice(n):\n    return 2 * n\n@jit\ndef thrice(n):\n    return 3 * n\n"
    )
    program = open_folder / "bot.py"
    program.write_text(
        "import sys, kernel\n"
        "for name in sys.argv[1:]: getattr(kernel, name)(1)\n"
        "print([sum(getattr(kernel, name).stats.cache_hits.values()) for name in sys.argv[1:]], flush=True)\n"
    )
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(cache))
    command = [sys.executable, str(program), "twice"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[0]\n"
    before = {path: path.stat().st_mtime_ns for path in cache.rglob("*")}
    launch = sandbox_or_skip("bwrap", uses_groups=False).confine((*command, "thrice"), None, BotLimits())
    line = [word for word in launch.line if word not in ("--seccomp", "{filter}")]
    ended = subprocess.run(line, capture_output=True, text=True, check=False, env=launch.environment)
    assert ended.stdout == "[1, 0]\n", ended.stderr
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*")} == before


# -- control groups ------------------------------------------------------------------------------------------------


def fake_group(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".", 1)).write_text(text)
    return folder


def test_a_group_of_version_2_is_asked_to_hand_its_controllers_down(tmp_path: Path) -> None:
    own = fake_group(
        tmp_path / "service",
        cgroup_controllers="cpu memory pids",
        cgroup_subtree_control="",
        cgroup_procs=f"{os.getpid()}\n",
        cgroup_type="domain",
    )
    fake_group(own / "arena-referee")
    place = unified_place(str(own))
    assert place == CgroupParent({"memory": str(own), "pids": str(own)}, is_unified=True)
    assert (own / "arena-referee" / "cgroup.procs").read_text() == str(os.getpid())
    assert unified_place(str(own / "arena-referee")).folders == place.folders, "a slot finds it done"
    group = place.make(BotLimits(memory_bytes=2**28, processes=12), overhead=2)
    folder = Path(group.folders["memory"])
    bounds = {name: (folder / name).read_text() for name in ("memory.max", "memory.swap.max", "pids.max")}
    assert bounds == {"memory.max": str(2**28), "memory.swap.max": "0", "pids.max": "14"}


WITH_A_STRANGER = {
    "cgroup_controllers": "memory pids",
    "cgroup_subtree_control": "",
    "cgroup_procs": f"{os.getpid()}\n1\n",
}


def test_all_processes_of_a_container_move_to_the_leaf(tmp_path: Path) -> None:
    own = fake_group(tmp_path, **WITH_A_STRANGER, cgroup_type="domain")
    moved = fake_group(own / "arena-referee") / "cgroup.procs"
    assert unified_place(str(own), is_namespace=True) == CgroupParent({"memory": str(own), "pids": str(own)}, True)
    assert moved.read_text() in {str(os.getpid()), "1"}, "a file keeps what was written last; the kernel moves both"
    assert (own / "cgroup.subtree_control").read_text()


def test_no_process_leaves_the_outermost_group_of_the_machine(tmp_path: Path) -> None:
    """It may have processes and hand down controllers, unlike all others."""
    own = fake_group(tmp_path, **WITH_A_STRANGER)
    assert unified_place(str(own)) == CgroupParent({"memory": str(own), "pids": str(own)}, is_unified=True)
    assert not (own / "arena-referee").exists()


def test_limits_without_accounting_of_swap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the kernel lacks the file of swap, all processes of the group still end together."""
    write = cgroup._write

    def refuse(folder: str, name: str, text: str) -> None:
        if name == "memory.swap.max":
            raise FileNotFoundError(name)
        write(folder, name, text)

    monkeypatch.setattr(cgroup, "_write", refuse)
    group = CgroupParent({"memory": str(tmp_path), "pids": str(tmp_path)}, is_unified=True).make(BotLimits(), 0)
    assert (Path(group.folders["memory"]) / "memory.oom.group").read_text() == "1"


def test_groups_are_found_from_the_memberships_and_mounts_of_a_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = fake_group(tmp_path, **WITH_A_STRANGER, cgroup_type="domain")
    monkeypatch.setattr(cgroup, "_memberships", lambda: {"": "/"})
    monkeypatch.setattr(cgroup, "_mounts", lambda: {"unified": ("/", str(own))})
    place = find_cgroup_parent()
    assert isinstance(place, CgroupParent)
    assert place.is_unified
    assert place.folders["memory"] == str(own)


@pytest.mark.parametrize(
    ("policy", "controllers"),
    [
        (os.SCHED_OTHER, {"memory", "pids", "cpu"}),
        (os.SCHED_IDLE, {"memory", "pids", "cpu"}),
        (os.SCHED_RR, {"memory", "pids"}),
        (os.SCHED_FIFO, {"memory", "pids"}),
    ],
)
def test_groups_of_version_1_that_refuse_real_time_bots_are_left_out(
    policy: int, controllers: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("memory", "pids", "cpu")
    monkeypatch.setattr(cgroup, "_memberships", lambda: dict.fromkeys(names, "/"))
    monkeypatch.setattr(cgroup, "_mounts", lambda: {name: ("/", str(fake_group(tmp_path / name))) for name in names})
    monkeypatch.setattr(os, "sched_getscheduler", lambda pid: policy)
    place = find_cgroup_parent()
    assert isinstance(place, CgroupParent)
    assert set(place.folders) == controllers


@pytest.mark.parametrize(
    ("is_unified", "file", "weight"), [(True, "cpu.weight.nice", "5"), (False, "cpu.shares", "336")]
)
def test_bots_of_a_thread_of_lower_priority_have_a_smaller_share_of_processors(
    is_unified: bool, file: str, weight: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    niceness = 0
    monkeypatch.setattr(os, "getpriority", lambda which, who: niceness)
    place = CgroupParent(dict.fromkeys(("memory", "pids", "cpu"), str(tmp_path)), is_unified)
    assert not (Path(place.make(BotLimits(), 0).folders["cpu"]) / file).exists(), "equal shares for equals"
    niceness = 5
    assert (Path(place.make(BotLimits(), 0).folders["cpu"]) / file).read_text() == weight


@pytest.mark.parametrize(
    ("existing", "user", "advice"),
    [
        ("/run/systemd/system", 0, "systemd-run --scope -p Delegate=yes"),
        ("/run/systemd/system", 1000, "systemd-run --user --scope -p Delegate=yes"),
        ("/run/.containerenv", 0, "unmask=/sys/fs/cgroup"),
        ("", 0, "run as root"),
    ],
)
def test_remedy_fits_the_machine(existing: str, user: int, advice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "isdir", lambda path: path == existing)
    monkeypatch.setattr(os.path, "exists", lambda path: path == existing)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert advice in cgroup.remedy()


def test_a_group_with_strangers_in_it_is_left_alone(tmp_path: Path) -> None:
    own = fake_group(tmp_path, **WITH_A_STRANGER, cgroup_type="domain")
    assert "shared with other programs" in unified_place(str(own))
    assert "lacks the memory or pids" in unified_place(str(fake_group(tmp_path / "bare", cgroup_controllers="cpu")))


@pytest.mark.parametrize(
    ("file", "text", "excess"),
    [
        ("memory.events", "low 0\nmax 12\noom 1\noom_kill 1\n", "memory"),
        ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", "memory"),
        ("pids.events", "max 3\n", "processes"),
        ("pids.events", "max 0\n", ""),
    ],
)
def test_what_the_kernel_refused_is_read_from_its_books(file: str, text: str, excess: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(text)
    assert Cgroup({"memory": str(tmp_path), "pids": str(tmp_path)}).excess() == excess


def test_a_group_in_which_somebody_dies_slowly_is_removed_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroup, "_CLOSE_TIMEOUT_S", 0.0)
    monkeypatch.setattr(Cgroup, "_kill", lambda self: None)
    unbounded = replace(BotLimits(), memory_bytes=0, processes=0)
    place = CgroupParent({"memory": str(tmp_path), "pids": str(tmp_path)}, is_unified=True)
    slow = place.make(unbounded, 0)
    dying = Path(slow.folders["pids"]) / "dying"
    dying.touch()
    slow.close()
    place.make(unbounded, 0).close()
    assert dying.exists()
    dying.unlink()
    other = place.make(unbounded, 0)
    assert os.listdir(tmp_path) == [os.path.basename(other.folders["pids"])]
    other.close()
    assert not os.listdir(tmp_path)


def test_groups_are_gone_after_the_game() -> None:
    place = find_cgroup_parent()
    folders = place.folders.values() if isinstance(place, CgroupParent) else ()

    def groups() -> set[str]:
        names = [name for folder in folders for name in os.listdir(folder)]
        return {name for name in names if name.startswith(f"arena-bot-{os.getpid()}-")}

    before = groups()  # of bots that other tests in this process have not given back yet
    with match.roster(sandbox_or_skip("bwrap")) as roster:
        match.play_honestly(roster)
    assert groups() <= before
    assert set(LEVELS) == {"bwrap", "landlock", "rlimits", "none"}
