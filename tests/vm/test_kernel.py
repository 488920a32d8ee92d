#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each kernel boots with its release, and eventlog's programs work on it.

The environment variable KERNEL names it.
"""

import os
import re

import vm_case
from paths import HERE

DIRECTORY = "/var/tmp/round-trip"
NAME = os.environ["KERNEL"]
SUMMARY = re.compile(r"(\d+) events, (\d+) bytes, (\d+) lost")
LOST = re.compile(r"^-- lost (\d+) events (?:on|in|of) (.*): .* --$", re.MULTILINE)


class Kernel(vm_case.Case):
    """One guest; the tests check its output."""

    @classmethod
    def setUpClass(cls):
        cls.kernel = vm_case.kernel_or_skip(NAME)
        elog = os.environ["ELOG"]
        examples, programs = vm_case.built("EXAMPLES"), vm_case.built("PROGRAMS")
        script = str(HERE / "guest" / "round_trip.sh")
        cls.result = cls.run_successfully(
            cls.kernel,
            [
                *("sh", "-c", 'uname -r; nproc; mount; exec "$@"', "sh"),
                *("/round_trip.sh", elog, examples, programs, DIRECTORY),
            ],
            files={
                "/round_trip.sh": script,
                elog: elog,
                os.path.join(examples, "hello"): os.path.join(examples, "hello"),
                os.path.join(programs, "counter"): os.path.join(programs, "counter"),
            },
            collect=(DIRECTORY,),
            processors=2,
        )

    def text(self, name):
        return vm_case.text(self.result, f"{DIRECTORY}/{name}")

    def summary(self, name):
        """Events and losses of a recording's last words."""
        found = SUMMARY.search(self.text(name))
        self.assertIsNotNone(found, self.text(name))
        return int(found[1]), int(found[3])

    def test_release_and_processors(self):
        release, processors = self.result.output.splitlines()[:2]
        self.assertEqual(release, self.kernel.release)
        self.assertEqual(self.result.release, self.kernel.release)
        self.assertTrue(release.startswith(NAME.rsplit("-", maxsplit=1)[-1] + "."), release)
        self.assertEqual(processors, "2")

    def test_tracefs_is_mounted(self):
        self.assertIn(" on /sys/kernel/tracing type tracefs ", self.result.output)

    def test_program_from_its_first_event_to_its_last(self):
        self.assertEqual(self.summary("hello.summary"), (5, 0))
        numbers = re.findall(r' hello:greeting number=(\d+) text="hello, listener"$',
                             self.text("hello.text"), re.MULTILINE)
        self.assertEqual(numbers, ["0", "1", "2", "3", "4"])

    def test_threads_on_all_cpus(self):
        events, lost = self.summary("counter.summary")
        self.assertEqual(events + lost, 8000)
        lines = re.findall(r"^\S+ \[(\d+)\] \S+ counter:count number=(\d+) .*worker=(\d)",
                           self.text("counter.text"), re.MULTILINE)
        self.assertEqual(len(lines), events)
        self.assertEqual({processor for processor, _, _ in lines}, {"000", "001"})
        self.assertEqual({worker for _, _, worker in lines}, set("0123"))
        # Each processor has its own program, with workers of the same names.
        self.assertEqual(len(lines), len(set(lines)))

    def test_each_cpu_has_its_own_ring(self):
        events, lost = self.summary("full.summary")
        self.assertEqual(events + lost, 20000)
        self.assertGreater(lost, 0)
        self.assertEqual(LOST.findall(self.text("full.text")), [(str(lost), "CPU 1")])


if __name__ == "__main__":
    vm_case.main()
