#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings through tracefs or perf continue or end in order when their disk is full, their instance is
removed, their buffers change size, processors are turned off and on, or their event is unregistered."""

import os
import subprocess

import loads
import vm_case

RESIZED = "changed the size of the buffers in"

COUNT = 20_000
COUNT_ON_EACH = 2_000
WAYS = ("tracefs", "perf")

# Each recording runs a script that does something to it, and programs that emit. A first one keeps
# the event until there is something to be done about that.
SCRIPT = loads.SHELL + rf"""
ways='{" ".join(WAYS)}'
record() {{
    way=$1
    shift
    "$elog" record --via $way -e 'load:*' -j "$@" 8>&-
}}
keep

full() {{
    mkdir -p /tmp/small
    mount -t tmpfs -o size=256k small /tmp/small
    # On one processor: the buffers of others would be written in any order until the disk is full.
    record $1 -o /tmp/small/run.elog -- taskset 1 "$program" {COUNT} < /dev/null
    status=$?
    cp /tmp/small/run.elog /tmp/full_$1.elog
    umount /tmp/small
    return $status
}}

cat > /tmp/remove <<'END'
rmdir /sys/kernel/tracing/instances/eventlog-$PPID-* && echo "WRONG: the instance is removed"
"$1" {COUNT} < /dev/null
END
removed() {{ record tracefs -o /tmp/removed.elog -- sh /tmp/remove "$program"; }}

# The buffer's records do not fit into a smaller one. No event is emitted meanwhile.
cat > /tmp/shrink <<'END'
place=$(echo /sys/kernel/tracing/instances/eventlog-$PPID-*)
kill -STOP $PPID
"$1" {COUNT} < /dev/null
echo 64 > $place/buffer_size_kb
kill -CONT $PPID
END
shrunk() {{ record tracefs -o /tmp/shrunk.elog --buffer-size 2x512K -- sh /tmp/shrink "$program"; }}

cat > /tmp/resize <<'END'
place=$(echo /sys/kernel/tracing/instances/eventlog-$PPID-*)
"$1" {COUNT} < /dev/null &
while kill -0 $! 2> /dev/null; do
    for size in 64 1024 128; do
        echo $size > $place/buffer_size_kb || echo "WRONG: refused $size"
    done
done
END
resized() {{
    record tracefs -o /tmp/resized.elog --buffer-size 2x512K -- sh /tmp/resize "$program"
}}

# Processors are turned off and on while programs emit on them; one was off when the recording began.
cat > /tmp/plug <<'END'
online=/sys/devices/system/cpu/cpu1/online
for each in 1 2 3; do
    echo 1 > $online
    taskset 2 "$1" {COUNT_ON_EACH} < /dev/null
    "$1" {COUNT_ON_EACH} < /dev/null &
    echo 0 > $online
    wait
done
END
plugged() {{
    echo 0 > /sys/devices/system/cpu/cpu1/online
    record tracefs -o /tmp/plugged.elog -- sh /tmp/plug "$program"
    status=$?
    echo 1 > /sys/devices/system/cpu/cpu1/online
    return $status
}}

# The program that registered the event ends, then the last program that emits it. Only the listener
# still refers to the event.
cat > /tmp/unregister <<'END'
"$1" {COUNT} < /dev/null
kill $3
while kill -0 $3 2> /dev/null; do sleep 0.1; done
if [ -e /dev/eventlog ]; then rmmod eventlog; else "$2" kernel unregister load; fi
"$1" {COUNT} < /dev/null
END
unregistered() {{
    record $1 -o /tmp/unregistered_$1.elog -- \
        sh /tmp/unregister "$program" "$elog" $keeper
}}
again() {{
    exec 8>&-
    rm -f /tmp/keep
    mkfifo /tmp/keep
    keep
}}

for way in $ways; do
    part full_$way full $way
done
part removed removed
part shrunk shrunk
part resized resized
part plugged plugged
for way in $ways; do
    part unregistered_$way unregistered $way
    again
done
echo "instances: $(ls $tracing/instances | wc -l)"
"""


class Underneath(loads.Guest):
    """One guest that makes all recordings; the tests check the results."""

    SCRIPT = SCRIPT
    FILES = ("removed.elog", "shrunk.elog", "resized.elog", "plugged.elog",
             *(f"{what}_{way}.elog" for what in ("full", "unregistered") for way in WAYS))
    OPTIONS = {"memory": 2048, "processors": 2}
    maxDiff = 2000

    def test_full_disk_ends_recording_with_error(self):
        for way in WAYS:
            output = "\n".join(self.part(f"full_{way}", 1))
            self.assertIn("/tmp/small/run.elog cannot be written any further (No space left on "
                          "device). Free some space, or write it elsewhere.", output)
            # What had been written is whole, much or little.
            path = self.collected(f"full_{way}.elog")
            subprocess.run([os.environ["ELOG"], "verify", path], capture_output=True, check=True)
            found, _ = loads.loads(path)
            self.assertLess(len(found), COUNT)
            self.assertEqual(found, loads.emitted(len(found)))

    def test_instance_in_use_cannot_be_removed(self):
        self.assertIn("Device or resource busy", self.part("removed")[0])
        self.assertEqual(loads.loads(self.collected("removed.elog")), (loads.emitted(COUNT), 0))

    def test_shrinking_buffers_counts_dropped_events(self):
        lines = self.part("shrunk")
        self.assertEqual(len([line for line in lines if RESIZED in line]), 1, lines)
        found, missing = loads.loads(self.collected("shrunk.elog"))
        self.assertGreater(missing, 0)
        self.assertEqual(len(found) + missing, COUNT)
        self.assertEqual(found, loads.emitted(COUNT)[-len(found):])

    def test_uncounted_losses_on_resize_are_reported(self):
        lines = self.part("resized")
        self.assertTrue([line for line in lines if RESIZED in line], lines)
        found, missing = loads.loads(self.collected("resized.elog"))
        self.assertEqual(found, sorted(set(found) & set(loads.emitted(COUNT))))
        self.assertLessEqual(len(found) + missing, COUNT)

    def test_cpu_hotplug(self):
        self.part("plugged")
        found, missing = loads.loads(self.collected("plugged.elog"))
        self.assertEqual(sorted(found), sorted(6 * loads.emitted(COUNT_ON_EACH)))
        self.assertEqual(missing, 0)

    def test_enabled_event_cannot_be_unregistered(self):
        for way in WAYS:
            output = "\n".join(self.part(f"unregistered_{way}"))
            self.assertRegex(output, "is in use: |can't unload module")
            self.assertEqual(loads.loads(self.collected(f"unregistered_{way}.elog")),
                             (2 * loads.emitted(COUNT), 0))


@vm_case.full_tier
class UnderneathOfTheModule(loads.OfTheModule, Underneath):
    """The tests with events of the kernel module."""


if __name__ == "__main__":
    vm_case.main()
