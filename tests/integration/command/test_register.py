#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog kernel register and unregister reject invalid arguments before they access the kernel. tests/vm
tests their effect on real kernels.
"""

import os
import unittest

import harness


class Register(harness.Case):
    def test_without_a_source_is_a_usage_error(self):
        self.assertIn("SOURCE is required", self.run_elog("kernel", "register", status=2).stderr)

    def test_of_missing_file_fails(self):
        result = self.run_elog("kernel", "register", "--persist", "./absent", status=1)
        self.assert_one_message(result.stderr, "Cannot open ./absent")

    def test_of_program_without_providers_fails(self):
        result = self.run_elog("kernel", "register", "--persist", "/bin/true", status=1)
        self.assert_one_message(result.stderr, "No provider has been compiled into /bin/true")

    def test_schema_error_names_file_line_and_column(self):
        path = self.path("wrong.schema")
        with open(path, "w", encoding="utf-8") as file:
            file.write("provider p {\n    event e info { a: u9 }\n}\n")
        result = self.run_elog("kernel", "register", path, status=1)
        self.assert_one_message(result.stderr, f"{path}:2:23: ")

    @unittest.skipIf(os.path.exists("/proc/sys/kernel/user_events_max"), "this kernel has them")
    def test_without_user_events_fails(self):
        for command in (("register", harness.example("hello")), ("unregister", "hello")):
            result = self.run_elog("kernel", *command, status=1)
            self.assert_one_message(result.stderr, "CONFIG_USER_EVENTS")


class Unregister(harness.Case):
    def test_without_a_pattern_is_a_usage_error(self):
        self.assertIn("GLOB is required", self.run_elog("kernel", "unregister", status=2).stderr)

    def test_invalid_pattern_is_a_usage_error(self):
        for glob in ("shop:", ":order", "shop order", "shop:a:b", "shop@info", "../shop", ""):
            result = self.run_elog("kernel", "unregister", glob, status=2)
            self.assert_one_message(result.stderr, f"'{glob}' is not a pattern for events")


if __name__ == "__main__":
    harness.main()
