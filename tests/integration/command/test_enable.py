#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog kernel enable, disable and list reject invalid arguments before they access the kernel. tests/vm
tests their effect on real kernels.
"""

import harness


class Enable(harness.Case):
    def test_without_an_event_is_a_usage_error(self):
        for command in ("enable", "disable"):
            self.assertIn("EVENT is required", self.run_elog("kernel", command, status=2).stderr)

    def test_with_another_trigger_is_a_usage_error(self):
        for command in ("enable", "disable"):
            result = self.run_elog("kernel", command, "shop", "--trigger", "hist", status=2)
            self.assert_one_message(result.stderr, "stacktrace, snapshot or traceoff")

    def test_of_sessions_is_a_usage_error(self):
        for command in ("enable", "disable", "list"):
            result = self.run_elog("kernel", command, "shop:*#", status=2)
            self.assert_one_message(result.stderr, "has no sessions")

    def test_with_invalid_pattern_is_a_usage_error(self):
        for command in ("enable", "disable", "list"):
            result = self.run_elog("kernel", command, "shop:*@loud", status=2)
            self.assert_one_message(result.stderr, "loud")

    def test_with_invalid_predicate_is_a_usage_error(self):
        result = self.run_elog("kernel", "enable", "shop", "--where", "items >", status=2)
        self.assert_one_message(result.stderr, "--where, column")

    def test_of_unknown_event_fails(self):
        for command in ("enable", "disable", "list"):
            result = self.run_elog("kernel", command, "absent:nothing", status=1)
            # With tracefs or without it, readable or not.
            self.assertRegex(result.stderr, r"tracefs is not mounted|no event that matches|elog doctor")


if __name__ == "__main__":
    harness.main()
