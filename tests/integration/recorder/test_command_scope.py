#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record -- COMMAND records the command and its descendants, and counts events of others."""

import json
import os
import re
import signal
import subprocess

import harness

OUTSIDE = re.compile(r"(\d+) events of processes outside of the command are left out")
UNDECIDED = re.compile(r"(\d+) events are of \d+ processes that may be outside")
# The pipe is open as long as a descendant has it: so the command waits for its orphans.
MANNERS = {
    "child": '"$0" 1 100; true',
    "exec chain": 'exec sh -c \'exec "$0" 1 100\' "$0"',
    "double fork": '{ ( "$0" 1 100 & ); } | cat',
    "new session": '{ ( setsid "$0" 1 100 & ); } | cat',
    "without environment": 'env -i EVENTLOG_DIR="$EVENTLOG_DIR" "$0" 1 100; true',
    "grandchild without environment":
        '{ ( env -i EVENTLOG_DIR="$EVENTLOG_DIR" setsid "$0" 1 100 & ); } | cat',
}


class CommandScope(harness.Case):
    def shell(self, script):
        return "/bin/sh", "-c", script, harness.program("counter")

    def start_daemon(self):
        """A process that ran before elog, and emits until it is killed."""
        return self.start_provider(harness.program("counter"), "1", "0", "500")

    def record(self, *arguments):
        """Records into run.elog; returns (events, events outside, the process's output)."""
        result = self.run_elog("record", "-e", "counter:*", "--force", "-o", self.path("run.elog"),
                               *arguments)
        events, _, lost = self.summary(result.stderr)
        self.assertEqual(lost, 0, result.stderr)
        return events, self.outside(result.stderr), result

    def record_as_json(self, *arguments):
        result = self.run_elog("record", "-e", "counter:*", "--force", "-o", self.path("run.elog"),
                               "--json", *arguments)
        return json.loads(result.stdout.splitlines()[-1])

    def outside(self, errors):
        found = OUTSIDE.search(errors)
        return int(found[1]) if found else 0

    def recorded_processes(self):
        lines = self.run_elog("print", self.path("run.elog")).stdout.splitlines()
        found = [harness.LINE.match(line) for line in lines]
        return {int(line["thread"]) for line in found if line}

    def test_descendants_are_recorded_without_a_process_that_ran_before(self):
        self.start_daemon()
        for manner, script in MANNERS.items():
            with self.subTest(manner):
                events, outside, result = self.record(
                    "--", *self.shell(f"{script}; sleep 0.2" if "exec" not in manner else script))
                self.assertEqual(events, 100, result.stderr)
                self.assertIn("attempted 100", result.stdout)
                if "exec" not in manner:
                    self.assertGreater(outside, 0, result.stderr)

    def test_quiet_suppresses_the_number_of_events_outside(self):
        self.start_daemon()
        result = self.run_elog("record", "-q", "-e", "counter:*", "-o", self.path("run.elog"),
                               "--", *self.shell('"$0" 1 100; sleep 0.2'))
        self.assertEqual(result.stderr, "")

    def test_short_lived_grandchildren_are_all_recorded(self):
        self.start_daemon()
        count = harness.trials(20, 200)
        events, outside, result = self.record(
            "--", *self.shell(f'for i in $(seq {count}); do ( "$0" 1 10; true ); done; sleep 0.2'))
        self.assertEqual(events, 10 * count, result.stderr)
        self.assertGreater(outside, 0)

    def test_attempted_are_recorded_and_counted_outside(self):
        path = self.path("run.elog")
        recording = self.start_recording(
            "-e", "counter:*", "-o", path, "--",
            *self.shell(f'"$0" 1 1000 100; until [ -e {self.path("go")} ]; do sleep 0.02; done'))
        # Both programs run for at least 100 ms, so that they are found alive.
        other = self.start(harness.program("counter"), "1", "200", "1000")
        self.finish(other)
        with open(self.path("go"), "w", encoding="utf-8"):
            pass
        _, errors = self.finish(recording)
        events, _, lost = self.summary(errors)
        self.assertEqual((events, lost, self.outside(errors)), (1000, 0, 200), errors)
        self.assertNotRegex(errors, UNDECIDED)
        self.assertNotIn(other.pid, self.recorded_processes())
        found = json.loads(self.run_elog("stat", path, "--json").stdout)
        self.assertEqual((found["events"], found["lost"]), (1000, 0))

    def test_losses_are_those_of_all_processes(self):
        path = self.path("run.elog")
        self.start_daemon()
        script = 'kill -STOP $PPID; "$0" 1 200000; kill -CONT $PPID'
        result = self.run_elog("record", "-e", "counter:*", "--buffer-size", "128K", "-o", path,
                               "--", *self.shell(script))
        events, _, lost = self.summary(result.stderr)
        self.assertGreater(lost, 0)
        # The daemon's events are among the lost ones.
        self.assertGreaterEqual(events + lost, 200000)
        self.assertLess(events, 200000)
        found = json.loads(self.run_elog("stat", path, "--json").stdout)
        self.assertEqual((found["events"], found["lost"]), (events, lost))

    def test_all_processes_are_recorded_on_request(self):
        daemon = self.start_daemon()
        events, outside, result = self.record("--all-processes", "--",
                                              *self.shell('"$0" 1 100; sleep 0.2'))
        self.assertGreater(events, 100)
        self.assertEqual(outside, 0)
        self.assertNotRegex(result.stderr, UNDECIDED)
        self.assertGreaterEqual(len(self.recorded_processes()), 2)
        self.assertIsNone(daemon.poll())

    def test_selected_process_is_recorded_beside_command(self):
        daemon = self.start_daemon()
        events, _, _ = self.record("-p", str(daemon.pid), "--", "/bin/sleep", "0.2")
        self.assertGreater(events, 0)

    def test_overwriting_recording_is_limited_too(self):
        self.start_daemon()
        events, outside, result = self.record("--overwrite", "--",
                                              *self.shell('( "$0" 1 100; true ); sleep 0.2'))
        self.assertEqual(events, 100, result.stderr)
        self.assertGreater(outside, 0)

    def test_count_and_where_see_only_the_command(self):
        self.start_daemon()
        result = self.run_elog("record", "-e", "counter:*", "--where", "number < 50", "--limit",
                               "40", "-o", self.path("run.elog"), "--",
                               *self.shell('sleep 0.1; "$0" 1 100; sleep 0.5'))
        self.assertIn("40 events were kept for --limit", result.stderr)
        found = json.loads(self.run_elog("stat", self.path("run.elog"), "--json").stdout)
        self.assertEqual(found["events"], 40)
        self.assertEqual(len(self.recorded_processes()), 1)

    def test_summary_as_json_has_the_counts(self):
        self.start_daemon()
        said = self.record_as_json("--", *self.shell('"$0" 1 100 2000; true'))
        counts = said["command"]
        self.assertEqual(said["events"], 100)
        self.assertEqual((counts["events_undecided"], counts["processes_undecided"]), (0, 0))
        self.assertGreater(counts["events_outside"], 0)
        self.assertEqual(sum(each["events"] for each in said["by_cpu"]), said["events"])
        self.assertEqual(sum(each["bytes"] for each in said["by_cpu"]), said["bytes"])
        said = self.record_as_json("--all-processes", "--", *self.shell('"$0" 1 100'))
        self.assertNotIn("command", said)

    def zombies_of(self, process):
        """The ended children of a process that it has not waited for."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                    state, parent = file.read().rpartition(")")[2].split()[:2]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if state == "Z" and int(parent) == process.pid:
                found.append(int(pid))
        return found

    def test_orphans_are_reaped_while_the_command_runs(self):
        go = self.path("go")
        recording = self.start_recording(
            "-e", "counter:*", "-o", self.path("run.elog"), "--",
            *self.shell('for i in 1 2 3 4 5; do ( ( "$0" 1 10; echo ended; true ) & ); done | cat; '
                        f'echo all; until [ -e {go} ]; do sleep 0.02; done'))
        for line in recording.stdout:
            if line.startswith("all"):
                break
        self.wait_for(lambda: not self.zombies_of(recording), "the end of zombies")
        self.assertIsNone(recording.poll())
        with open(go, "w", encoding="utf-8"):
            pass
        _, errors = self.finish(recording)
        self.assertEqual(self.summary(errors)[::2], (50, 0))

    def test_surviving_descendant_does_not_prolong_the_recording(self):
        events, _, result = self.record(
            "--", *self.shell('"$0" 1 0 1000 > /dev/null 2>&1 & echo $!; '
                              'until ls "$EVENTLOG_DIR/processes" | grep -q "^$![.]"; do '
                              'sleep 0.02; done; sleep 0.2'))
        os.kill(int(result.stdout.split()[0]), signal.SIGKILL)  # fails if it has ended
        self.assertGreater(events, 0)

    def namespaces(self, *arguments):
        """A command that runs in a new pid namespace, with the outer /proc unless it mounts one."""
        if os.geteuid() != 0:
            arguments = ("--user", "--map-root-user", *arguments)
        command = ("unshare", *arguments, "--pid", "--fork")
        if subprocess.run([*command, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no pid namespace can be created here")
        return command

    def test_descendants_in_inner_pid_namespace_are_recorded(self):
        self.start_daemon()
        for options in ((), ("--mount-proc",)):
            with self.subTest(options):
                command = self.namespaces(*options)
                events, outside, result = self.record("--", *command, harness.program("counter"),
                                                      "1", "200", "1000")
                self.assertEqual(events, 200, result.stderr)
                self.assertGreater(outside, 0)

    def test_nothing_is_excluded_in_pid_namespace_with_outer_proc(self):
        result = subprocess.run(
            [*self.namespaces(), harness.ELOG, "record", "-e", "counter:*", "-o",
             self.path("run.elog"), "--", *self.shell('"$0" 1 200 1000; true')],
            check=True, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            encoding="utf-8", timeout=harness.TIMEOUT)
        self.assertEqual(self.summary(result.stderr)[::2], (200, 0))
        self.assertEqual(self.outside(result.stderr), 0)

    def test_short_lived_processes_are_decided_in_a_container(self):
        # The kernel reports no forks there, and each process ends before /proc is read.
        result = subprocess.run(
            [*self.namespaces("--mount-proc"), harness.ELOG, "record", "-e", "counter:*", "-o",
             self.path("run.elog"), "--",
             *self.shell('for i in $(seq 20); do "$0" 1 10; done; true')],
            check=True, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            encoding="utf-8", timeout=harness.TIMEOUT)
        self.assertEqual(self.summary(result.stderr)[::2], (200, 0))
        self.assertNotRegex(result.stderr, UNDECIDED)

    def test_option_without_command_is_rejected(self):
        result = self.run_elog("record", "-e", "counter:*", "--all-processes", status=2)
        self.assertIn("--all-processes", result.stderr)

    def test_explanation_names_the_limit(self):
        explained = self.run_elog("record", "-e", "counter:*", "--explain", "--", "true").stdout
        self.assertIn("descendant", explained)
        explained = self.run_elog("record", "-e", "counter:*", "--explain", "--all-processes", "--",
                                  "true").stdout
        self.assertNotIn("descendant", explained)


if __name__ == "__main__":
    harness.main()
