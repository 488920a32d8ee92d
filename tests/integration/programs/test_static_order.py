#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Events of static objects: those emitted while the provider is published arrive; earlier and later
ones have no effect.
"""

import re

import harness

WHEN_PUBLISHED = {"main", "atexit", "constructor", "destructor"}


class StaticOrder(harness.Case):
    def test_is_recorded_from_registration_to_unregistration(self):
        result = self.run_elog(
            "record", "-e", "static_order:*", "-o", self.path("run.elog"), "--",
            harness.program("static_order"),
        )
        text = self.run_elog("print", self.path("run.elog")).stdout
        received = re.findall(r' static_order:emit_point name="([^"]*)"$', text, re.MULTILINE)
        said = re.findall(r"^(enabled|disabled) (.*)$", result.stdout, re.MULTILINE)
        self.assertEqual([name for state, name in said if state == "enabled"], received)
        # There are two objects, one of them in main.
        self.assertEqual(
            [name for _, name in said],
            ["constructor", "constructor", "main", "destructor", "atexit", "destructor"],
        )
        # The object of main.cpp may be older than the provider; the one in main is not.
        first = received.index("main")
        self.assertEqual(received[first : first + 3], ["main", "destructor", "atexit"])
        self.assertLessEqual(set(received), WHEN_PUBLISHED)
        self.assertEqual(self.summary(result.stderr)[::2], (len(received), 0))
        self.assert_no_files_left()

    def test_exits_normally_without_listener(self):
        output, errors = self.finish(self.start(harness.program("static_order")))
        self.assertEqual(errors, "")
        self.assertNotRegex(output, r"(?m)^enabled ")
        self.assert_no_files_left()


if __name__ == "__main__":
    harness.main()
