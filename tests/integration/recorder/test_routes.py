#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--via auto uses the first route that has all selected events, and -v names it."""

import harness


class Routes(harness.Case):
    def test_prefers_memory_if_all_programs_support_it(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        result = self.run_elog("record", "--via", "auto", "-v", "-e", "counter:*", "--limit", "3")
        self.assertEqual(result.stderr.splitlines()[0],
                         "elog: Recording via memory: it has an event for each pattern.")
        self.assertEqual(sum(bool(harness.LINE.match(line))
                             for line in result.stdout.splitlines()), 3)

    def test_reports_why_no_route_covers_all(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        for command in (["record"], ["agg", "count()"]):
            result = self.run_elog(*command, "--via", "auto", "-v", "-e", "counter:*", "-e",
                                   "no_such_provider:*", status=1)
            *refused, chosen, complaint = result.stderr.splitlines()
            self.assertEqual([line.split(":")[1].strip() for line in refused],
                             [f"Not via {route}" for route in
                              ("memory", "device", "tracefs", "perf")])
            self.assertIn("Recording via memory: ", chosen)
            self.assertIn("'no_such_provider:*'", complaint)

    def test_uses_memory_to_wait_for_programs(self):
        path = self.path("run.elog")
        # The kernel may have counter:* of other tests.
        result = self.run_elog("record", "--via", "auto", "-v", "-e", "counter:*", "-e",
                               "no_such_provider:*", "--wait", "-o", path, "--",
                               harness.program("counter"), "1", "5")
        self.assertIn("elog: Recording via memory: programs that start later use it in any case.\n",
                      result.stderr)
        self.assertIn(": whole: ", self.run_elog("verify", path).stdout)

    def test_prints_route_only_on_request(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        result = self.run_elog("top", "--via", "auto", "-e", "counter:*", "--iterations", "1")
        self.assertNotIn(" via ", result.stderr)
        told = self.run_elog("top", "-v", "-e", "counter:*", "--iterations", "1").stderr
        self.assertIn("elog: Recording via memory: no other route was requested.\n", told)

    def test_only_the_kernel_module_excludes_the_recorder(self):
        for route in ((), ("--via", "auto"), ("--via", "perf"), ("--via", "memory")):
            result = self.run_elog("record", "-e", "counter:*", "--exclude-self", *route, status=2)
            self.assertIn("add --via device or --via relay", result.stderr)

    def test_rejects_request_for_state_where_listeners_have_it(self):
        for route in ("memory", "device", "relay", "auto"):
            result = self.run_elog("record", "--via", route, "--state", "-e", "counter:*", status=2)
            self.assert_one_message(result.stderr, "--state is for --via tracefs and --via perf")
        result = self.run_elog("record", "--via", "perf", "--state", "--", "true", status=2)
        self.assert_one_message(result.stderr, "add --all-processes, or leave --state out.")


if __name__ == "__main__":
    harness.main()
