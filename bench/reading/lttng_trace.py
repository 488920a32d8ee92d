# SPDX-License-Identifier: MIT
"""A trace that LTTng-UST makes of the same events, to compare readers by."""

import contextlib
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess

SOURCES = pathlib.Path(__file__).resolve().parent
SESSION = f"eventlog-bench-{os.getpid()}"
ADVICE = "install lttng-tools, liblttng-ust-dev and babeltrace2, and run again."


class Problem(Exception):
    """A sentence for whoever runs this."""


@dataclasses.dataclass
class Trace:
    folder: pathlib.Path | None = None
    events: int = 0
    why_not: str = ""


def run(*words, **options):
    result = subprocess.run(words, check=False, capture_output=True, text=True, **options)
    if result.returncode != 0:
        raise Problem(f"{' '.join(map(str, words))} has failed: "
                      f"{(result.stderr or result.stdout).strip()}")
    return result.stdout


def what_is_missing():
    for tool in ("lttng", "lttng-sessiond", "babeltrace2", "pkg-config", "cc"):
        if shutil.which(tool) is None:
            return tool
    if subprocess.run(["pkg-config", "--exists", "lttng-ust"], check=False).returncode != 0:
        return "lttng-ust.pc"
    return None


def build(folder):
    program = folder / "lttng_load"
    flags = run("pkg-config", "--cflags", "--libs", "lttng-ust").split()
    run("cc", "-std=gnu11", "-O2", f"-I{SOURCES}", SOURCES / "lttng_load.c", "-o", program, *flags)
    return program


@contextlib.contextmanager
def session_daemon(folder):
    """Somebody's own, if one is running; else one that ends with this."""
    if subprocess.run(["lttng", "list"], check=False, capture_output=True).returncode == 0:
        yield
        return
    number = folder / "sessiond.pid"
    run("lttng-sessiond", "--daemonize", "--no-kernel", "--pidfile", number)
    try:
        yield
    finally:
        subprocess.run(["kill", number.read_text(encoding="utf-8").strip()], check=False)


def count_events(trace):
    counted = run("babeltrace2", trace, "-c", "sink.utils.counter")
    found = re.search(r"^\s*(\d+) Event messages", counted, re.M)
    if not found:
        raise Problem(f"babeltrace2 counts no events: {counted.strip()}")
    return int(found.group(1))


def record(folder, events, rate):
    """As many as that at that rate. What LTTng discards is not in it."""
    missing = what_is_missing()
    if missing:
        return Trace(why_not=f"there is no {missing}; {ADVICE}")
    program = build(folder)
    trace = folder / "lttng"
    with session_daemon(folder):
        run("lttng", "create", SESSION, f"--output={trace}")
        try:
            run("lttng", "enable-channel", "-u", "-s", SESSION, "--subbuf-size=4M",
                "--num-subbuf=4", "load")
            run("lttng", "enable-event", "-u", "-s", SESSION, "-c", "load", "load:*")
            run("lttng", "start", SESSION)
            run(program, str(events), str(rate))
            run("lttng", "stop", SESSION)
        finally:
            run("lttng", "destroy", SESSION)
    return Trace(trace, count_events(trace))
