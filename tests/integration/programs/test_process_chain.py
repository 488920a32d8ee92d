#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program starts itself again, as another process or as the same one: each instance is recorded
with its own number, and the files of the old one do not outlive it.
"""

import os
import re

import harness

COUNT = 5
EVENT = re.compile(r"-(\d+) successor:reign number=(\d+) process=(\d+)$", re.MULTILINE)


class Successors(harness.Case):
    def run_successors(self, manner):
        """The announced processes, and (thread, number, process) of each event."""
        result = self.run_elog(
            "record", "-e", "successor:*", "-o", self.path("run.elog"), "--",
            harness.program("process_chain"), manner, str(COUNT - 1),
        )
        there = re.findall(r"^(\d+) (\d+)$", result.stdout, re.MULTILINE)
        self.assertEqual([int(number) for number, _ in there], list(reversed(range(COUNT))))
        events = EVENT.findall(self.run_elog("print", self.path("run.elog")).stdout)
        self.assertEqual(self.summary(result.stderr)[::2], (len(events), 0))
        return there, events

    def check_children(self, manner):
        there, events = self.run_successors(manner)
        self.assertEqual(len({process for _, process in there}), COUNT)
        self.assertEqual(
            events,
            [(process, number, process) for number, process in there]
            + [(process, "1000", process) for _, process in reversed(there[:-1])],
        )
        self.assert_no_files_left()

    def test_by_posix_spawn_are_recorded_with_their_parents(self):
        self.check_children("spawn")

    def test_by_vfork_are_recorded_with_their_parents(self):
        self.check_children("vfork")

    def test_by_exec_are_recorded_and_leave_no_files(self):
        there, events = self.run_successors("exec")
        self.assertEqual(len({process for _, process in there}), 1)
        self.assertEqual(events, [(process, number, process) for number, process in there])
        self.assert_no_files_left()

    def test_by_exec_replace_published_provider(self):
        process = self.start(
            harness.program("process_chain"), "exec", "1", self.path("go"), self.path("end")
        )
        self.assertEqual(process.stdout.readline(), f"1 {process.pid}\n")
        (name,) = self.names("processes")
        self.assertRegex(name, rf"^{process.pid}\.\d+$")
        with open(f"{self.directory}/processes/{name}", "rb") as old:
            self.make("go")
            self.assertEqual(process.stdout.readline(), f"0 {process.pid}\n")
            self.assertEqual(self.names("processes"), [name])
            self.assertEqual(os.fstat(old.fileno()).st_nlink, 0)
        self.make("end")
        self.finish(process)
        self.assert_no_files_left()

    def make(self, name):
        with open(self.path(name), "w", encoding="utf-8"):
            pass


if __name__ == "__main__":
    harness.main()
