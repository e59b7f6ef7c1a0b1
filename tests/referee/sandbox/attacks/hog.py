"""Takes memory of one kind until it is refused or killed; prints `held BYTES` as it grows, and `refused: WHY`.

    hog.py KIND

Run as text of a command line: standard library only, and no file of its own. What it holds is a lower bound. For every
megabyte it reads a byte from standard input: what is tested is what the watchdog sees, not how fast it is.
"""

import array
import contextlib
import ctypes
import fcntl
import mmap
import os
import platform
import select
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

COLUMN = 1 if platform.machine() == "aarch64" else 0
STEP = 2**20
READ, WRITE, PRIVATE, SHARED, ANONYMOUS, UNRESERVED = 1, 2, 2, 1, 0x20, 0x4000
DONT_NEED, MERGEABLE, HUGE_PAGES, NO_HUGE_PAGES = 4, 12, 14, 15
FILES = 120
"""Open files of one process for a purpose: fewer than half of what it may have."""
CHILDREN = 8
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
for _call in (_libc.mprotect, _libc.madvise):
    _call.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
kept: list[Any] = []


def check(result: int) -> int:
    """Raise OSError for a failed call."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def call(numbers: tuple[int, int], *words: Any) -> int:
    """Make a system call by its number here."""
    return check(_libc.syscall(numbers[COLUMN], *words))


def mapped(size: int, rights: int, flags: int, file: int = -1) -> int:
    """Map memory and return its address."""
    start = _libc.mmap(None, size, rights, flags, file, 0)
    if start == 2**64 - 1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(start)


def in_children(take: Callable[[], Iterator[int]]) -> Iterator[int]:
    """Take in several processes, in turn; yields what all have taken. Raises OSError when all were refused."""
    reader, writer = os.pipe()
    turns, next_turn = os.pipe()
    for _ in range(CHILDREN):
        if not os.fork():
            os.close(reader)
            with contextlib.suppress(OSError):
                for taken in take():
                    os.write(writer, struct.pack("=q", taken))
                    os.read(turns, 1)
            os.close(writer)
            while True:
                signal.pause()
    os.close(writer)
    os.write(next_turn, bytes(CHILDREN))
    while number := os.read(reader, 8):
        yield struct.unpack("=q", number)[0]
        os.write(next_turn, b"x")
    raise OSError("in all children")


# -- shared memory -------------------------------------------------------------------------------------------------


def unmapped_pages() -> Iterator[int]:
    """Shared memory whose pages no page table names any more."""
    while True:
        start = mapped(STEP, READ | WRITE, SHARED | ANONYMOUS)
        ctypes.memset(start, 1, STEP)
        check(_libc.madvise(start, STEP, DONT_NEED))
        yield STEP


def trimmed(file: int = -1) -> Iterator[int]:
    """Shared memory of which all but a page is unmapped again."""
    while True:
        start = mapped(STEP, READ | WRITE, SHARED | (ANONYMOUS if file < 0 else 0), file)
        ctypes.memset(start, 1, STEP)
        check(_libc.munmap(start + mmap.PAGESIZE, STEP - mmap.PAGESIZE))
        yield STEP - mmap.PAGESIZE


def zero() -> Iterator[int]:
    """The same by way of a device."""
    yield from trimmed(os.open("/dev/zero", os.O_RDWR))


def memory_files() -> Iterator[int]:
    while True:
        kept.append(os.memfd_create("hog"))
        yield os.write(kept[-1], bytes(STEP))


def segments() -> Iterator[int]:
    """System V's shared memory, which outlives a process."""
    while True:
        segment = check(_libc.shmget(0, STEP, 0o1600))
        _libc.shmat.restype = ctypes.c_void_p
        start = _libc.shmat(segment, None, 0)
        ctypes.memset(start, 1, STEP)
        _libc.shmctl(segment, 0, None)  # it goes with this process
        yield STEP


def disk() -> Iterator[int]:
    """Files without a name on a disk that is memory."""
    while True:
        place = f"/dev/shm/hog-{os.getpid()}-{len(kept)}"
        kept.append(os.open(place, os.O_RDWR | os.O_CREAT))
        os.unlink(place)
        yield os.write(kept[-1], bytes(STEP))


# -- what descriptors hold -----------------------------------------------------------------------------------------


def fill(sock: socket.socket) -> int:
    sock.setblocking(False)
    sent = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            sent += sock.send(bytes(16384))
    return sent


def _pairs() -> Iterator[int]:
    while True:
        pair = socket.socketpair()
        kept.append(pair)
        for end in pair:
            yield fill(end)


def pairs() -> Iterator[int]:
    yield from in_children(_pairs)


def in_flight() -> Iterator[int]:
    """Full sockets that no process has open: each is on its way through another socket."""
    carriers = [socket.socketpair() for _ in range(8)]
    kept.append(carriers)
    while True:
        for ours, _ in carriers:
            pair = socket.socketpair()
            taken = fill(pair[0]) + fill(pair[1])
            numbers = array.array("i", [end.fileno() for end in pair])
            ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
            for end in pair:
                end.close()
            yield taken


def _pipes() -> Iterator[int]:
    while True:
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        kept.append((reader, writer))
        yield os.write(writer, bytes(65536))


def pipes() -> Iterator[int]:
    yield from in_children(_pipes)


def _watches() -> Iterator[int]:
    """Entries of epoll under every number that a file can have: they stay while the file is open under one of them."""
    polls = [select.epoll() for _ in range(70)]
    files = [os.pipe()[0] for _ in range(35)]
    kept.append(polls)
    for file in files:
        for number in range(150, 250):
            os.dup2(file, number)
            for poll in polls:
                poll.register(number, select.EPOLLIN)
            os.close(number)
            yield 160 * len(polls)


def watches() -> Iterator[int]:
    yield from in_children(_watches)


def netlink() -> Iterator[int]:
    yield from in_children(_netlink)


def _netlink() -> Iterator[int]:
    """Unread answers of the kernel, or messages of one socket to another."""
    while True:
        target = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 2)
        target.bind((0, 0))
        source = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 2)
        source.setblocking(False)
        kept.append((target, source))
        message = struct.pack("=IHHII", 16384, 16, 0, 0, 0) + bytes(16384 - 16)
        with contextlib.suppress(BlockingIOError):
            while True:
                yield source.sendto(message, (target.getsockname()[0], 0))


def network() -> Iterator[int]:
    server = socket.create_server(("127.0.0.1", 0))
    while True:
        one = socket.create_connection(server.getsockname())
        other, _ = server.accept()
        kept.append((one, other))
        yield fill(one) + fill(other)


# -- what a process holds ------------------------------------------------------------------------------------------


def page_tables() -> Iterator[int]:
    """A page that is read in every two megabytes."""
    while True:
        start = mapped(2**29, READ, PRIVATE | ANONYMOUS | UNRESERVED)
        check(_libc.madvise(start, 2**29, NO_HUGE_PAGES))
        for place in range(start, start + 2**29, 2**21):
            ctypes.c_char.from_address(place).value  # noqa: B018
        yield 2**8 * mmap.PAGESIZE


def _mappings() -> Iterator[int]:
    """Every second page has other rights than its neighbours."""
    start = mapped(2**30, READ, PRIVATE | ANONYMOUS | UNRESERVED)
    for number, place in enumerate(range(start, start + 2**30, 2 * mmap.PAGESIZE)):
        check(_libc.mprotect(place, mmap.PAGESIZE, 0))
        if number % 64 == 63:
            yield 64 * 2 * 200


def mappings() -> Iterator[int]:
    yield from in_children(_mappings)


def chains() -> Iterator[int]:
    """Forks of forks: the kernel links every mapping of each with the same mapping of all its ancestors."""
    count = 3800
    start = mapped(count * mmap.PAGESIZE, READ | WRITE, PRIVATE | ANONYMOUS)
    ctypes.memset(start, 1, count * mmap.PAGESIZE)
    for place in range(start, start + count * mmap.PAGESIZE, 2 * mmap.PAGESIZE):
        check(_libc.mprotect(place, mmap.PAGESIZE, READ))
    check(_libc.madvise(start, count * mmap.PAGESIZE, DONT_NEED))
    reader, writer = os.pipe()
    for depth in range(1, 60):
        if os.fork():
            if depth == 1:
                break
            while True:
                signal.pause()
        os.write(writer, struct.pack("=q", count * (depth * 64 + 300)))
    while True:
        yield struct.unpack("=q", os.read(reader, 8))[0]


def filters() -> Iterator[int]:
    """System call filters of its own."""
    check(_libc.prctl(38, 1, 0, 0, 0))
    program = struct.pack("=HBBI", 0x20, 0, 0, 0) * 4000 + struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000)
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    while True:
        check(_libc.prctl(22, 2, header, 0, 0))
        yield 3 * len(program)


def rulesets() -> Iterator[int]:
    """Landlock's rules about ports, in sets that are never put in force."""
    while True:
        rules = call((444, 444), struct.pack("=QQ", 0, 3), 16, 0)
        kept.append(rules)
        for port in range(2**16):
            call((445, 445), rules, 2, struct.pack("=QQ", 1, port), 0)
            if port % 1024 == 1023:
                yield 1024 * 64


def locks() -> Iterator[int]:
    """Locks of single bytes of many files."""
    for folder, _, names in os.walk("/usr/share"):
        for name in names:
            with contextlib.suppress(FileNotFoundError, PermissionError):
                kept.append(os.open(os.path.join(folder, name), os.O_RDONLY))
                for start in range(0, 2048, 2):
                    fcntl.lockf(kept[-1], fcntl.LOCK_SH, 1, start)
                yield 1024 * 200


def locks_of_files() -> Iterator[int]:
    """Locks of whole files, one by each time a file is opened."""
    while True:
        kept.append(os.open("/usr/bin/env", os.O_RDONLY))
        fcntl.flock(kept[-1], fcntl.LOCK_SH)
        yield 200


def timers() -> Iterator[int]:
    while True:
        check(_libc.timer_create(1, None, ctypes.byref(ctypes.c_void_p())))
        yield 256


def attributes(name: bytes = b"user.x", value: bytes = bytes(60_000)) -> Iterator[int]:
    """Attributes of files in the bot's memory file system."""
    for number in range(10**6):
        place = b"/dev/shm/hog-%d-%d" % (os.getpid(), number)
        os.close(os.open(place, os.O_RDWR | os.O_CREAT))
        check(_libc.setxattr(place, name, value, len(value), 0))
        yield len(value)


def access_lists() -> Iterator[int]:
    """Access control lists: rights of many users to a file."""
    users = b"".join(struct.pack("=HHI", 2, 7, number) for number in range(8000))
    value = struct.pack("=IHHI", 2, 1, 7, 2**32 - 1) + users + struct.pack("=HHIHHIHHI", 4, 7, 0, 16, 7, 0, 32, 7, 0)
    yield from attributes(b"system.posix_acl_access", value)


def names_of_mappings() -> Iterator[int]:
    """A name of its own for every second page."""
    start = mapped(2**28, READ | WRITE, PRIVATE | ANONYMOUS | UNRESERVED)
    for number, place in enumerate(range(start, start + 2**28, 2 * mmap.PAGESIZE)):
        name = ctypes.create_string_buffer(b"%d" % number + bytes(70))
        check(_libc.prctl(0x53564D41, 0, ctypes.c_ulong(place), ctypes.c_ulong(mmap.PAGESIZE), name))
        yield 80 + 200


def without_leader() -> Iterator[int]:
    """A process whose first thread has ended: the kernel shows no memory of it."""
    reader, writer = os.pipe()
    turns, next_turn = os.pipe()
    if not os.fork():
        os.close(next_turn)
        threading.Thread(target=_go_on, args=(writer, turns)).start()
        call((60, 93), 0)  # ends this thread only
    os.close(writer)
    while taken := os.read(reader, 8):
        yield struct.unpack("=q", taken)[0]
        os.write(next_turn, b"x")


def _go_on(writer: int, turns: int) -> None:
    while True:
        kept.append(bytearray(b"x") * STEP)
        os.write(writer, struct.pack("=q", STEP))
        os.read(turns, 1)


def huge_pages() -> Iterator[int]:
    """Parts of huge pages: the kernel keeps the whole of each."""
    while True:
        start = mapped(2**26, READ | WRITE, PRIVATE | ANONYMOUS)
        check(_libc.madvise(start, 2**26, HUGE_PAGES))
        ctypes.memset(start, 1, 2**26)
        with open("/proc/self/smaps_rollup", encoding="ascii") as file:
            huge = next(int(line.split()[1]) for line in file if line.startswith("AnonHugePages"))
        if not huge:
            raise OSError("no huge pages")
        for place in range(-start % 2**21 + start, start + 2**26 - 2**21, 2**21):
            check(_libc.madvise(place + mmap.PAGESIZE, 2**21 - mmap.PAGESIZE, DONT_NEED))
            yield 2**21


def merged_pages() -> Iterator[int]:
    """Pages that the kernel is to merge: it keeps an entry of each."""
    while True:
        start = mapped(STEP, READ | WRITE, PRIVATE | ANONYMOUS)
        check(_libc.madvise(start, STEP, MERGEABLE))
        yield STEP // mmap.PAGESIZE * 64


def backlog() -> Iterator[int]:
    """Connections with data that nobody accepts."""
    while True:
        server = socket.create_server(("127.0.0.1", 0), backlog=64)
        kept.append(server)
        for _ in range(64):
            with socket.create_connection(server.getsockname()) as client:
                yield fill(client)


def datagrams() -> Iterator[int]:
    """Datagrams that nobody reads, of senders that are closed."""
    while True:
        reader = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        reader.bind("")
        kept.append(reader)
        for _ in range(8):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as writer, contextlib.suppress(BlockingIOError):
                writer.setblocking(False)
                writer.connect(reader.getsockname())
                yield writer.send(bytes(100_000))


def zero_copy() -> Iterator[int]:
    """Pages on their way through a connection, which are unmapped meanwhile."""
    server = socket.create_server(("127.0.0.1", 0))
    while True:
        client = socket.create_connection(server.getsockname())
        kept.append((client, server.accept()))
        client.setsockopt(socket.SOL_SOCKET, 60, 1)
        client.setblocking(False)
        with mmap.mmap(-1, STEP, mmap.MAP_PRIVATE | ANONYMOUS) as pages:
            pages.write(bytes(STEP))
            yield client.send(pages, 0x4000000)


def pidfds() -> Iterator[int]:
    """Descriptors of processes."""
    while True:
        kept.append(os.pidfd_open(os.getpid()))
        yield 300


def _clocks() -> Iterator[int]:
    """Timers that are files."""
    while True:
        kept.append(check(_libc.timerfd_create(1, 0)))
        yield 400


def clocks() -> Iterator[int]:
    yield from in_children(_clocks)


def links() -> Iterator[int]:
    """Many names of one file, and links with long texts."""
    os.close(os.open(f"/dev/shm/hog-{os.getpid()}", os.O_RDWR | os.O_CREAT))
    for number in range(10**6):
        os.link(f"/dev/shm/hog-{os.getpid()}", f"/dev/shm/hog-{os.getpid()}-link-{number}")
        os.symlink("x" * 100, f"/dev/shm/hog-{os.getpid()}-text-{number}")
        yield 700


def _signals() -> Iterator[int]:
    """Signals that are waiting."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
    while True:
        check(_libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), None))
        yield 200


def signals() -> Iterator[int]:
    yield from in_children(_signals)


KINDS = {
    take.__name__: take
    for take in (
        *(unmapped_pages, trimmed, zero, memory_files, segments, disk),
        *(pairs, in_flight, pipes, watches, netlink, network),
        *(page_tables, mappings, chains, filters, rulesets, locks, locks_of_files, timers),
        *(attributes, access_lists, links, names_of_mappings, without_leader, huge_pages, merged_pages),
        *(backlog, datagrams, zero_copy, pidfds, clocks, signals),
    )
}


def main() -> None:
    """Take, and print what is held, every megabyte, until standard input ends."""
    held = told = 0
    try:
        for taken in KINDS[sys.argv[1]]():
            held += taken
            if held - told >= STEP:
                os.write(1, b"held %d\n" % held)
                for _ in range(told // STEP, held // STEP):
                    if not os.read(0, 1):
                        return
                told = held
    except (OSError, AttributeError) as error:
        os.write(1, f"held {held}\nrefused: {error}\n".encode())
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
