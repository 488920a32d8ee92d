# SPDX-License-Identifier: MIT
"""LTTng-UST as a peer: a session for the benchmark's event, and a trace to compare readers."""

import contextlib
import ctypes
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from figures import Problem, run

SOURCES = pathlib.Path(__file__).resolve().parent
SESSION = f"eventlog-bench-{os.getpid()}"
ROOTS_PLACE = pathlib.Path("/run/lttng")
# Of <sched.h> and <sys/mount.h>.
CLONE_NEWNS = 0x00020000
MS_REC, MS_PRIVATE = 1 << 14, 1 << 18
MNT_DETACH = 2
PATIENCE = 10
PACKAGES = "lttng-tools and liblttng-ust-dev"


@dataclasses.dataclass
class Trace:
    folder: pathlib.Path | None = None
    events: int = 0
    why_not: str = ""


def what_is_missing(*more_tools):
    for tool in ("lttng", "lttng-sessiond", "pkg-config", "cc", *more_tools):
        if shutil.which(tool) is None:
            return tool
    if subprocess.run(["pkg-config", "--exists", "lttng-ust"], check=False).returncode != 0:
        return "lttng-ust.pc"
    return None


def compile_with_lttng(program, *words):
    """Compiles C with the events of lttng_load_events.h."""
    flags = run("pkg-config", "--cflags", "--libs", "lttng-ust").split()
    run("cc", "-std=gnu11", "-O2", f"-I{SOURCES / 'reading'}", f"-I{SOURCES / 'peers'}", *words,
        "-o", program, *flags)


@contextlib.contextmanager
def hidden_daemon_of_root():
    """Root's daemon listens in a fixed directory, whatever the environment. During the block, this
    process and its children see another directory in its place. Yields whether that succeeded."""
    c = ctypes.CDLL(None)
    if os.geteuid() != 0 or c.unshare(CLONE_NEWNS) != 0:
        yield False
        return
    c.mount(None, b"/", None, MS_REC | MS_PRIVATE, None)
    is_new = not ROOTS_PLACE.exists()
    ROOTS_PLACE.mkdir(mode=0o755, exist_ok=True)
    if c.mount(b"tmpfs", bytes(ROOTS_PLACE), b"tmpfs", 0, None) != 0:
        yield False
        return
    try:
        yield True
    finally:
        c.umount2(bytes(ROOTS_PLACE), MNT_DETACH)
        if is_new:
            # A daemon that was started meanwhile may have files there.
            with contextlib.suppress(OSError):
                ROOTS_PLACE.rmdir()


def is_running(process):
    """Whether a process runs. A zombie does not."""
    try:
        status = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def end(daemon):
    """Ends the daemon and waits, because its files are removed next."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(daemon, signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE
    while is_running(daemon) and time.monotonic() < deadline:
        time.sleep(0.01)


@contextlib.contextmanager
def session_daemon(folder):
    """A private session daemon for the block. Yields the environment variables of its clients.

    As root in a container, where mounting is not allowed, a running daemon is used instead.
    """
    home = folder / "lttng-home"
    home.mkdir()
    additions = {"LTTNG_HOME": str(home)}
    environment = dict(os.environ, **additions)
    with hidden_daemon_of_root() as is_hidden:
        is_private = is_hidden or os.geteuid() != 0
        if not is_private and subprocess.run(["lttng", "list"], check=False, env=environment,
                                             capture_output=True).returncode == 0:
            yield additions
            return
        number = folder / "sessiond.pid"
        run("lttng-sessiond", "--daemonize", "--no-kernel", "--pidfile", number, env=environment)
        try:
            yield additions
        finally:
            end(int(number.read_text(encoding="utf-8")))


class Session:
    """Records the event in discard mode, with four buffers of 4 MiB for each CPU."""

    def __init__(self, additions, output):
        self.additions = additions
        self.environment = dict(os.environ, **additions)
        self.output = output

    def ask(self, *words):
        return run("lttng", *words, env=self.environment)

    def stop(self):
        """Returns the number of discarded events."""
        self.ask("stop", SESSION)
        found = re.findall(r"Discarded events: *(\d+)", self.ask("list", SESSION))
        if not found:
            raise Problem("lttng list does not say how many events it has discarded.")
        return sum(map(int, found))


@contextlib.contextmanager
def session(folder):
    trace = folder / "lttng"
    with session_daemon(folder) as additions:
        begun = Session(additions, trace)
        begun.ask("create", SESSION, f"--output={trace}")
        try:
            begun.ask("enable-channel", "-u", "-s", SESSION, "--discard", "--subbuf-size=4M",
                      "--num-subbuf=4", "load")
            begun.ask("enable-event", "-u", "-s", SESSION, "-c", "load", "load:*")
            begun.ask("start", SESSION)
            yield begun
        finally:
            begun.ask("destroy", SESSION)


def count_events(trace):
    counted = run("babeltrace2", trace, "-c", "sink.utils.counter")
    # It prints the number so far from time to time, and the total at the end.
    found = re.findall(r"^\s*(\d+) Event messages", counted, re.M)
    if not found:
        raise Problem(f"babeltrace2 counts no events: {counted.strip()}")
    return int(found[-1])


def record(folder, events, rate):
    """Records that many events at that rate, without those that LTTng discards."""
    missing = what_is_missing("babeltrace2")
    if missing:
        return Trace(why_not=f"there is no {missing}; install {PACKAGES} and babeltrace2, and run "
                     "again.")
    program = folder / "lttng_load"
    compile_with_lttng(program, SOURCES / "reading" / "lttng_load.c")
    with session(folder) as begun:
        run(program, str(events), str(rate), env=begun.environment)
        begun.stop()
    return Trace(begun.output, count_events(begun.output))
