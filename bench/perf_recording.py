# SPDX-License-Identifier: MIT
"""perf beside us: a perf.data of our events, to compare readers by.

The events come through user_events, which most kernels lack: they are emitted and recorded in a
virtual machine of tests/vm, which is slow, and does not matter: what is measured is reading.
"""

import dataclasses
import pathlib
import re
import shutil
import sys

from figures import Problem, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "vm"))

# pylint: disable=wrong-import-position
import kernels
import machine
import paths

KERNEL = "user-events-6.12"
# In a second: an emulated processor can do that, and perf can write it.
RATE = 20_000
# perf records until the program has ended. The program waits for perf before it emits.
SCRIPT = """
"$0" "$@" > /tmp/said &
program=$!
tries=0
until [ -e /sys/kernel/tracing/events/user_events/eventlog_load_* ]; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || { echo "there is no event of the program's" >&2; exit 1; }
    sleep 0.1
done
echo 'while kill -0 $1; do sleep 0.1; done 2> /dev/null' > /tmp/until_it_ends
perf record --quiet --all-cpus --mmap-pages 8192 --event 'user_events:eventlog_load_*' \
    --output /tmp/perf.data -- sh /tmp/until_it_ends $program
wait $program
"""


@dataclasses.dataclass
class Recording:
    path: pathlib.Path | None = None
    events: int = 0
    why_not: str = ""


def cached_kernel():
    """What it takes minutes to build is not built for a figure beside ours."""
    kernel, _ = kernels.find(KERNEL)
    if kernel is None:
        raise paths.Unavailable(f"the kernel {KERNEL} is not built; `./dev vm --prepare {KERNEL}` "
                                "builds it.")
    machine.emulator_of(kernel)
    return kernel


def record(folder, program, events):
    """That many of our events in a perf.data, or the reason why there is none."""
    program = str(program)
    perf = shutil.which("perf")
    if perf is None:
        return Recording(why_not="there is no perf; `./dev setup` installs it.")
    try:
        kernel = cached_kernel()
        result = machine.execute(
            kernel,
            machine.Run(
                ["sh", "-c", SCRIPT, program, str(events), str(RATE), "1"],
                files={program: program, "/usr/bin/perf": perf}, collect=("/tmp/perf.data",),
                processors=2, memory=2048,
            ),
            folder,
        )
    except (paths.Unavailable, paths.Problem) as problem:
        return Recording(why_not=str(problem))
    problem = result.problem()
    if problem is None and result.status != 0:
        problem = result.errors.strip() or f"the guest's script has ended with {result.status}."
    if problem is not None:
        raise Problem(f"perf in a virtual machine: {problem}")
    path = pathlib.Path(result.files, "tmp", "perf.data")
    return Recording(path, count_events(path))


def count_events(path):
    found = re.search(r"^ *SAMPLE events: +(\d+)", run("perf", "report", "--stats", "-i", path),
                      re.M)
    if not found:
        raise Problem("perf report does not say how many events it has.")
    return int(found.group(1))
