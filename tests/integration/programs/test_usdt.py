#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Events of a provider with .usdt are USDT probes: readelf and gdb find them with the values of
their fields, and a lazy event is constructed for a tracer of its probe alone.
"""

import os
import re
import shutil
import subprocess
import unittest

import harness


class Usdt(harness.Case):
    def setUp(self):
        super().setUp()
        self.program = harness.program("usdt_probes")

    def probes(self):
        """{name: (arguments, has a semaphore)} of the probes in the file."""
        text = subprocess.run(["readelf", "--notes", "--wide", self.program], check=True,
                              capture_output=True, text=True).stdout
        found = re.findall(r"Provider: (\w+)\s+Name: (\w+)\s+Location: .*, Semaphore: 0x(\w+)\s+"
                           r"Arguments:(.*)", text)
        self.assertEqual({provider for provider, *_ in found}, {"probed"})
        return {name: (places.split(" %")[0].strip(), int(semaphore, 16) != 0)
                for _, name, semaphore, places in found}

    def debug(self, *commands):
        """The output of gdb for the program's probes."""
        if shutil.which("gdb") is None:
            raise unittest.SkipTest("there is no gdb. `./dev setup` installs it.")
        # Without debuginfod, and without the user's settings.
        words = ["gdb", "-quiet", "-nx", "-batch", "-ex", "set debuginfod enabled off"]
        for command in commands:
            words += ["-ex", command]
        # The leak checker needs ptrace, which the debugger uses: it would end the program.
        environment = {**self.environment,
                       "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        return subprocess.run([*words, self.program], capture_output=True, text=True,
                              timeout=harness.TIMEOUT, env=environment,
                              stdin=subprocess.DEVNULL, check=False).stdout

    def test_each_event_is_a_probe_with_a_semaphore(self):
        probes = self.probes()
        self.assertLessEqual({"order_placed", "connected", "idle", "crowded", "request"},
                             set(probes))
        for name, (_, has_semaphore) in probes.items():
            self.assertTrue(has_semaphore, name)

    def test_signed_numbers_are_marked(self):
        arguments = {name: re.findall(r"(-?)8@", places)
                     for name, (places, _) in self.probes().items()}
        self.assertEqual(arguments["order_placed"], ["-", "", "", ""])
        self.assertEqual(arguments["idle"], [])

    def test_a_probe_has_twelve_arguments_at_most(self):
        self.assertEqual(self.probes()["crowded"][0].count("8@"), 12)

    def test_a_debugger_sees_the_fields(self):
        printed = self.debug(
            "break -probe-stap probed:order_placed", "break -probe-stap probed:connected", "run",
            'printf "number %d what %s of %d price %lx\\n", $_probe_arg0, (char*)$_probe_arg1, '
            "$_probe_arg2, $_probe_arg3",
            "continue",
            'printf "port %d host %d.%d name %s user %s sum %d nothing %d data %d of %d '
            'late %d\\n",'
            " $_probe_arg0, *(unsigned char*)$_probe_arg1, *(unsigned char*)($_probe_arg1 + 3),"
            " (char*)$_probe_arg2, (char*)$_probe_arg3, $_probe_arg4, $_probe_arg5,"
            " *(unsigned char*)$_probe_arg6, $_probe_arg7, $_probe_arg8",
            "kill")
        self.assertIn("number -7 what loaf of 2 price 3ff8000000000000", printed)
        self.assertIn("port 80 host 10.1 name peter user paul sum -5 nothing 0 data 7 of 2 late 1",
                      printed)

    def test_a_session_comes_first(self):
        printed = self.debug("break -probe-stap probed:request", "run",
                             'printf "session %d size %d\\n", $_probe_arg0, $_probe_arg1', "kill")
        self.assertIn("session 81 size 4096", printed)

    def test_an_array_that_an_adapter_returns_lives_until_the_probe(self):
        printed = self.debug("break -probe-stap probed:unlocked", "run",
                             'printf "key %d to %d, doors %d\\n", *(unsigned char*)$_probe_arg0,'
                             " *(unsigned char*)($_probe_arg0 + 3), $_probe_arg1", "kill")
        self.assertIn("key 1 to 4, doors 5", printed)

    def test_a_timed_scope_begins_for_a_tracer_of_its_probe_alone(self):
        printed = self.debug("break -probe-stap probed:cooking", "run",
                             'printf "pots %d, took %d\\n", $_probe_arg1, $_probe_arg0 > 0',
                             "kill")
        self.assertIn("pots 6, took 1", printed)

    def test_a_gauge_has_one_probe(self):
        printed = self.debug("break -probe-stap probed:stock", "run",
                             'printf "loaves %d\\n", $_probe_arg0', "kill")
        self.assertIn("loaves -7", printed)

    def test_lazy_event_is_built_for_enabled_probe(self):
        self.assertEqual(subprocess.run([self.program, "3"], check=True, capture_output=True,
                                        text=True, env=self.environment).stdout, "0 made\n")
        printed = self.debug("break -probe-stap probed:connected", "run 3",
                             "continue", "continue", "continue")
        self.assertIn("3 made", printed)


if __name__ == "__main__":
    harness.main()
