#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shared objects that define providers at run time and emit from threads are recorded, really
unload, and do not affect their host, whether they unregister their providers or not.
"""

import re
import subprocess

import harness

ROUNDS = 40
WORKERS = 3
BEAT = re.compile(r"defined_by_plugin:beat round=(\d+) worker=(\d+) number=(\d+)$", re.MULTILINE)
STEP = re.compile(r"defining_host:step number=(\d+)$", re.MULTILINE)


class DefiningPlugins(harness.Case):
    def command(self, manner, plugin, rounds):
        return [harness.program("defining_plugin_host"), manner, str(rounds),
                harness.program(f"{plugin}.so")]

    def check_recorded(self, output, errors):
        """(recorded beats, emitted beats)"""
        said = dict(re.findall(r"^(steps|beats) (\d+)$", output, re.MULTILINE))
        self.assertEqual(len(said), 2, output + errors)
        _, _, lost = self.summary(errors)
        self.assertEqual(lost, 0)
        self.assertNotIn("were damaged", errors)
        text = self.run_elog("print", self.path("run.elog")).stdout
        steps = [int(number) for number in STEP.findall(text)]
        self.assertEqual(steps, list(range(int(said["steps"]))))
        beats = {}
        for key in BEAT.findall(text):
            beats.setdefault(key[:2], []).append(int(key[2]))
        for numbers in beats.values():
            self.assertEqual(numbers, list(range(len(numbers))))
        self.assertEqual(set(beats), {(str(round), str(worker)) for round in range(ROUNDS)
                                      for worker in range(WORKERS)})
        return sum(map(len, beats.values())), int(said["beats"])

    def record(self, manner, plugin):
        result = self.run_elog(
            "record", "-e", "defining_host:*", "-e", "defined_by_plugin:*", "--buffer-size", "4M",
            "--force", "-o", self.path("run.elog"), "--", *self.command(manner, plugin, ROUNDS),
        )
        received = self.check_recorded(result.stdout, result.stderr)
        self.assert_no_files_left()
        return received

    def check_withdrawn(self, plugin):
        received, emitted = self.record("withdraw", plugin)
        self.assertEqual(received, emitted)

    def test_loaded_and_unloaded_are_recorded(self):
        self.check_withdrawn("defining_plugin_shared")

    def test_loaded_and_unloaded_with_static_library_are_recorded(self):
        self.check_withdrawn("defining_plugin_static")

    def test_unregistering_under_load_are_recorded_until_then(self):
        for plugin in ("defining_plugin_shared", "defining_plugin_static"):
            received, emitted = self.record("late", plugin)
            # Events emitted while the gate closes have no listener.
            self.assertLessEqual(received, emitted)

    def forgotten(self, plugin):
        """Runs a host whose plugins do not unregister their providers; returns it and the number of
        providers left."""
        process = self.start(*self.command("forget", plugin, 5), stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "forgotten\n")
        left = [provider for provider in self.providers_of(process.pid)
                if provider.name == "defined_by_plugin"]
        # They can be recorded, and the host continues; it ends with its last step.
        recorder = self.start_recording("-e", "*:*", "-o", self.path("run.elog"))
        output, _ = self.finish(process)
        self.assertRegex(output, r"^steps \d+\nbeats \d+\n$")
        _, errors = self.stop(recorder)
        self.assertEqual(self.summary(errors), (1, self.summary(errors)[1], 0))
        self.assert_no_files_left()
        return len(left)

    def test_unloaded_without_unregister_keep_providers_until_exit(self):
        self.assertEqual(self.forgotten("defining_plugin_shared"), 5)

    def test_unloaded_with_static_library_remove_providers(self):
        self.assertEqual(self.forgotten("defining_plugin_static"), 0)

    def test_unloaded_without_unregister_are_recorded(self):
        process = self.start(
            harness.ELOG, "record", "-e", "defining_host:*", "-e", "defined_by_plugin:*",
            "--buffer-size", "4M", "-o", self.path("run.elog"), "--",
            *self.command("forget", "defining_plugin_shared", ROUNDS),
            stdin=subprocess.DEVNULL,
        )
        output, errors = self.finish(process)
        received, emitted = self.check_recorded(output, errors)
        self.assertEqual(received, emitted)
        self.assert_no_files_left()


if __name__ == "__main__":
    harness.main()
