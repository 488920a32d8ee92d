# SPDX-License-Identifier: MIT
"""Records eventlog's events through the kernel's user_events, with perf, trace-cmd and elog.

Most kernels lack user_events, so events are emitted and recorded in a virtual machine of tests/vm. Its
clocks advance with each instruction, so recordings cost the same number of instructions on any
machine. The recordings are read outside of it.
"""

import dataclasses
import pathlib
import re
import shutil

from figures import Problem, run
from guest import kernels, machine, paths, run_in_guest

KERNEL = "user-events-6.12"
RATE = 10**9  # per second: all at once, because the buffers hold them all
MEBIBYTES = 64  # of each buffer

# The command of each recorder, in front of the program that it runs; FILES has its output. The
# recorder sees the event that a first program registered, which waits behind it.
SCRIPT = f"""
program=$0 elog=$1 events=$2
shift 2
folder=/sys/kernel/tracing/events/user_events
"$program" 1 1 1 > /dev/null &
keeper=$!
tries=0
until [ -e $folder/eventlog_load_* ]; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || {{ echo "there is no event of the program's" >&2; exit 1; }}
    sleep 0.1
done
kill -STOP $keeper
event=user_events:$(basename $folder/eventlog_load_*)
perf() {{
    command perf record --quiet --all-cpus --mmap-pages {256 * MEBIBYTES} --event $event \
        --output /tmp/perf.data -- "$@"
}}
trace_cmd() {{
    trace-cmd record -q -b {1024 * MEBIBYTES} -e $event -o /tmp/trace.dat "$@"
}}
elog_perf() {{ by_elog perf "$@"; }}
elog_tracefs() {{ by_elog tracefs "$@"; }}
by_elog() {{
    way=$1
    shift
    "$elog" record --via $way -e 'load:*' --buffer-size 2x{MEBIBYTES // 2}M \
        -o /tmp/$way.elog -- "$@"
}}
TIMEFORMAT='%U %S'
for recorder; do
    {{ time $recorder "$program" $events {RATE} 1 > /tmp/said 2>&1 < /dev/null; }} 2> /tmp/took ||
        {{ cat /tmp/said >&2; exit 1; }}
    echo $recorder $(cat /tmp/took)
done
kill -KILL $keeper
"""
FILES = {"perf": "perf.data", "trace_cmd": "trace.dat", "elog_perf": "perf.elog",
         "elog_tracefs": "tracefs.elog"}


@dataclasses.dataclass
class Recordings:
    files: dict = dataclasses.field(default_factory=dict)  # by recorder
    seconds: dict = dataclasses.field(default_factory=dict)  # its own and the program's
    why_not: str = ""


def cached_kernel():
    """The kernel, if it is built already: building it for a figure would take minutes."""
    kernel, _ = kernels.find(KERNEL)
    if kernel is None:
        raise paths.PackageUnavailable(
            f"the kernel {KERNEL} is not built; `./dev vm --prepare {KERNEL}` builds it.")
    machine.emulator_of(kernel)
    return kernel


def tools():
    """{path in the guest: path of the host}"""
    found = {}
    for name, place in (("perf", "/usr/bin/perf"), ("trace-cmd", "/usr/bin/trace-cmd"),
                        ("bash", "/bin/bash")):
        path = shutil.which(name)
        if path is None:
            raise paths.PackageUnavailable(f"there is no {name}; `./dev setup` installs it.")
        found[place] = path
    return found


def record(folder, program, elog, events, recorders=tuple(FILES)):
    """Records that many events and one more with each recorder, one after the other. Returns the
    recordings, or the reason why there are none."""
    program, elog = str(program), str(elog)
    try:
        result = run_in_guest(
            cached_kernel(),
            machine.Run(
                ["bash", "-c", SCRIPT, program, elog, str(events), *recorders],
                files={program: program, elog: elog} | tools(),
                collect=tuple(f"/tmp/{FILES[each]}" for each in recorders), memory=3072,
                time_limit=1800, count_instructions=True,
            ),
            folder,
        )
    except paths.HarnessError as problem:
        return Recordings(why_not=str(problem))
    recordings = Recordings()
    for line in result.output.splitlines():
        recorder, user, system = line.split()
        recordings.seconds[recorder] = float(user) + float(system)
        recordings.files[recorder] = pathlib.Path(result.files, "tmp", FILES[recorder])
    check(recordings, elog, events + 1)
    return recordings


def check(recordings, elog, expected):
    """Fails if a recorder lost events, because then it did less work."""
    for recorder, path in recordings.files.items():
        found = re.search(r"^(\d+) events in .*, (\d+) lost", run(elog, "stat", path), re.M)
        if not found or tuple(map(int, found.groups())) != (expected, 0):
            raise Problem(f"of {expected} events {recorder} has others: elog stat says "
                          f"{found[0] if found else 'nothing'}.")
