#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recorders and programs that start, end and are killed in any order leave no file, no gate bit and
no mapping behind, and every attempted event is read or counted as lost.

EVENTLOG_TEST_ENDS_SEED repeats the choices of a failed run, EVENTLOG_TEST_ENDS_STEPS sets their number.
"""

import json
import os
import random
import signal
import time

import harness
import process_files

SEED = int(os.environ.get("EVENTLOG_TEST_ENDS_SEED", random.SystemRandom().randrange(2**32)))
STEPS = int(os.environ.get("EVENTLOG_TEST_ENDS_STEPS", harness.trials(40, 200)))
RECORDERS_MAX = 8
PROGRAMS_MAX = 6


class Ends(harness.Case):
    def setUp(self):
        super().setUp()
        print(f"EVENTLOG_TEST_ENDS_SEED={SEED} EVENTLOG_TEST_ENDS_STEPS={STEPS}", flush=True)
        self.random = random.Random(SEED)
        self.recorders = []
        self.programs = []
        self.ended = []  # programs that were not killed
        self.killed = []
        self.count = 0

    def gates(self):
        """The gate words of all published providers."""
        return [word for name in self.names("processes")
                for provider in process_files.providers(f"{self.directory}/processes/{name}")
                for word in provider.gate()]

    def has_region(self, process):
        with open(f"/proc/{process.pid}/maps", encoding="utf-8") as file:
            return f"{self.directory}/subscriptions/" in file.read()

    def begin_recorder(self):
        """Starts a recorder without waiting until it listens: the next step may come before."""
        self.count += 1
        self.recorders.append(self.start(
            harness.ELOG, "record", "-e", "counter:*", "--wait", "--buffer-size", "128K", "-o",
            self.path(f"{self.count}.elog"),
        ))

    def begin_program(self):
        events = self.random.randrange(1, 2000)
        pause = self.random.choice((20, 100, 500))
        self.programs.append(self.start(
            harness.program("counter"), str(harness.THREADS), str(events), str(pause),
        ))

    def take(self, processes):
        return processes.pop(self.random.randrange(len(processes))) if processes else None

    def end_recorder(self, with_signal):
        recorder = self.take(self.recorders)
        if recorder:
            recorder.send_signal(with_signal)

    def kill_program(self):
        program = self.take(self.programs)
        if program:
            program.kill()
            self.killed.append(program)

    def await_program(self):
        program = self.take(self.programs)
        if program:
            self.ended.append((program.pid, self.finish(program)[0]))

    def step(self):
        actions = [
            self.begin_recorder if len(self.recorders) < RECORDERS_MAX else self.await_program,
            self.begin_program if len(self.programs) < PROGRAMS_MAX else self.kill_program,
            lambda: self.end_recorder(signal.SIGINT),
            lambda: self.end_recorder(signal.SIGKILL),
            self.kill_program,
            self.await_program,
        ]
        self.random.choice(actions)()
        time.sleep(self.random.choice((0, 0, 0.002, 0.02, 0.1)))

    def end_all(self):
        while self.recorders:
            self.end_recorder(self.random.choice((signal.SIGINT, signal.SIGKILL)))
        while self.programs:
            self.random.choice((self.kill_program, self.await_program))()

    def await_ends(self):
        """Waits for the processes that were asked to end, with any status."""
        for program in self.killed:
            program.wait(timeout=harness.TIMEOUT)
        for process in self.processes:
            if process.args[0] == harness.ELOG and process.args[1] == "record":
                process.wait(timeout=harness.TIMEOUT)

    def check_conservation(self, path):
        stat = json.loads(self.run_elog("stat", "--json", path).stdout)
        known = {process["pid"]: process for process in stat["by_process"]}
        for pid, output in self.ended:
            attempted = int(output.split()[1])
            self.assertEqual(known[pid]["events"] + known[pid]["lost"], attempted)

    def test_in_any_order_clean_up(self):
        path = self.path("all.elog")
        recording = self.start_recording("-e", "counter:*", "--wait", "--buffer-size", "4M", "-o",
                                         path)
        survivors = [self.start_provider(harness.program("counter"), "2", "0", "300")
                     for _ in range(2)]
        for _ in range(STEPS):
            self.step()
        self.end_all()
        self.stop(recording)
        self.await_ends()
        self.run_elog("list")
        self.assertEqual(self.names("subscriptions"), [])
        self.assertEqual(len(self.names("processes")), len(survivors))
        # From the programs' next emits on.
        self.wait_for(lambda: not any(self.gates()), "closed gates")
        for survivor in survivors:
            self.wait_for(lambda survivor=survivor: not self.has_region(survivor), "no mapping")
            self.assertIsNone(survivor.poll())
        self.check_conservation(path)
        for survivor in survivors:
            survivor.kill()
            survivor.wait()
        self.run_elog("list")
        self.assert_no_files_left()

    def test_killing_all_leaves_only_removable_files(self):
        survivor = self.start_provider(harness.program("counter"), "1", "0", "300")
        for _ in range(4):
            self.begin_recorder()
            self.begin_program()
        time.sleep(self.random.uniform(0, 0.3))
        doomed = self.recorders + self.programs
        self.random.shuffle(doomed)
        for process in doomed:
            process.kill()
        for process in doomed:
            process.wait()
        self.run_elog("list")
        self.assertEqual(self.names("subscriptions"), [])
        self.assertEqual(len(self.names("processes")), 1)
        self.wait_for(lambda: not any(self.gates()), "closed gates")
        self.wait_for(lambda: not self.has_region(survivor), "no mapping")

    def test_killed_recorder_is_cleaned_up_by_next_recorder(self):
        survivor = self.start_provider(harness.program("counter"), "1", "0", "300")
        killed = self.start_recording("-e", "counter:*", "-o", self.path("killed.elog"))
        self.wait_for(lambda: self.has_region(survivor), "a mapping")
        killed.kill()
        killed.wait()
        # It takes the dead recorder's slot, and does not select this program.
        self.start_recording("-e", "shop:*", "--wait", "-o", self.path("next.elog"))
        self.wait_for(lambda: not self.has_region(survivor), "no mapping")
        self.wait_for(lambda: not any(self.gates()), "closed gates")


if __name__ == "__main__":
    harness.main()
