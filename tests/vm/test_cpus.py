#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""While threads emit and elog records, processors are turned off and on, and removed from a cpuset: each
event is recorded or counted as lost."""

import os
import re

import parts
import vm_case

THREADS, EVENTS = 4, vm_case.by_tier(2000, 4000)

# Each course records a program whose threads emit for some seconds, and repeats a change while it runs.
SCRIPT = parts.SHELL + """
elog=$0 counter=$1 threads=$2 events=$3
online=/sys/devices/system/cpu/cpu1/online

begin() {
    export EVENTLOG_DIR=/dev/shm/$1
    "$elog" record -e 'counter:*' -o "/tmp/$1.elog" --buffer-size 1M -- \\
        "$counter" "$threads" "$events" 1000 > "/tmp/$1.output" 2>&1 &
    recording=$!
    wait_until pidof counter > /dev/null
    turns=0
}
turn() {
    # Some time for both, and so that the shell notices when the recording has ended.
    sleep 0.1
    turns=$((turns + 1))
    kill -0 $recording 2> /dev/null
}
finish() {
    wait $recording
    echo "ended $?" >> "/tmp/$1.output"
    echo "turns $turns" >> "/tmp/$1.output"
    part "$1" cat "/tmp/$1.output"
    part "$1-verify" "$elog" verify "/tmp/$1.elog"
    "$elog" print "/tmp/$1.elog" --format '{cpu} {worker} {.number} {check}' > /tmp/printed
    part "$1-printed" cat /tmp/printed
}

begin unplugged
while turn; do
    echo 0 > $online
    turn || break
    echo 1 > $online
done
echo 1 > $online
finish unplugged

# A processor that is turned on after the subscription has begun.
echo 0 > $online
begin plugged
while turn; do
    echo 1 > $online
    turn || break
    echo 0 > $online
done
echo 1 > $online
finish plugged

mkdir /tmp/groups
mount -t cgroup2 none /tmp/groups
echo +cpuset > /tmp/groups/cgroup.subtree_control
mkdir /tmp/groups/moved
begin confined
pidof counter > /tmp/groups/moved/cgroup.procs
while turn; do
    echo 0 > /tmp/groups/moved/cpuset.cpus
    turn || break
    echo 1 > /tmp/groups/moved/cpuset.cpus
    turn || break
    echo 0-1 > /tmp/groups/moved/cpuset.cpus
done
finish confined
"""


class Cpus(parts.Case):
    """One guest, with two processors."""

    @classmethod
    def setUpClass(cls):
        elog = os.environ["ELOG"]
        counter = vm_case.built("PROGRAMS", "counter")
        # Debian's have cpusets.
        cls.result = cls.run_successfully(
            vm_case.kernel_or_skip("debian-6.12"),
            ["sh", "-c", SCRIPT, elog, counter, str(THREADS), str(EVENTS)],
            files={elog: elog, counter: counter},
            processors=2,
            memory=2048,
            time_limit=1200,
        )

    def check(self, course):
        output = "\n".join(self.part(course))
        self.assertIn("ended 0", output)
        self.assertNotIn("were damaged", output)
        self.assertGreaterEqual(int(re.search(r"^turns (\d+)$", output, re.MULTILINE)[1]), 4)
        attempted = int(re.search(r"^attempted (\d+)$", output, re.MULTILINE)[1])
        self.assertEqual(attempted, THREADS * EVENTS)
        recorded, lost = (int(each) for each in re.search(
            r"^(\d+) events, \d+ bytes, (\d+) lost", output, re.MULTILINE).groups())
        self.assertEqual(recorded + lost, attempted)
        self.assertIn("whole", "\n".join(self.part(f"{course}-verify")))
        events = [tuple(map(int, line.split())) for line in self.part(f"{course}-printed")
                  if not line.startswith("--")]
        self.assertEqual(len(events), recorded)
        self.assertEqual(len({(worker, number) for _, worker, number, _ in events}), recorded)
        for _, worker, number, check in events:
            self.assertEqual(check, (number + worker) * 0x9E3779B97F4A7C15 % 2**64)
        # Both processors have had a part in it.
        self.assertEqual({cpu for cpu, _, _, _ in events}, {0, 1})
        print(f"{course}: {recorded} recorded, {lost} lost")

    def test_unplugged_and_replugged(self):
        self.check("unplugged")

    def test_added_after_subscription_start(self):
        self.check("plugged")

    def test_removed_by_cpuset(self):
        self.check("confined")


if __name__ == "__main__":
    vm_case.main()
