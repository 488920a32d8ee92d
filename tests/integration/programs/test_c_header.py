#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""eventlog.h compiles alone without warnings, in C11 and C++20, with every installed compiler."""

import os
import shutil
import subprocess

import harness

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
MAIN = """#include <eventlog/eventlog.h>
static const struct eventlog_event_definition events[] = {
    {.name = "event"}, EVENTLOG_SESSION_BEGIN_EVENT, EVENTLOG_SESSION_END_EVENT};
static const struct eventlog_definition definition = {
    EVENTLOG_DEFINITION_SIZES, .name = "name", .events = events, .event_count = 3};
int main(void) {
    struct eventlog_provider* provider = 0;
    if (eventlog_provider_create(&definition, &provider, 0, 0) != EVENTLOG_ERROR_NONE) return 1;
    const struct eventlog_value values[] = {eventlog_absent(), eventlog_boolean(true)};
    struct eventlog_session session;
    if (eventlog_session_begin(&session, provider, 1) != EVENTLOG_ERROR_NONE) return 1;
    return eventlog_session_enabled(&session, 0) && values[0].count != 0;
}
"""


class CHeader(harness.Case):
    def compile(self, compiler, standard, source):
        if shutil.which(compiler) is None:
            self.skipTest(f"{compiler} is not installed")
        result = subprocess.run(
            [compiler, f"-std={standard}", *WARNINGS, "-O2", "-S", "-o", self.path("out.s"),
             "-I", os.path.join(ROOT, "sdk", "include"), source],
            capture_output=True, encoding="utf-8", check=False,
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")

    def alone(self, name):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(MAIN)
        return path

    def test_in_c11_with_gcc(self):
        self.compile("gcc", "c11", self.alone("alone.c"))
        for name in ("c_values.c", "c_sessions.c", "unpublished_site.c"):
            self.compile("gcc", "c11", os.path.join(ROOT, "tests", "programs", name))

    def test_in_c11_with_clang(self):
        self.compile("clang", "c11", self.alone("alone.c"))
        for name in ("c_values.c", "c_sessions.c", "unpublished_site.c"):
            self.compile("clang", "c11", os.path.join(ROOT, "tests", "programs", name))

    def test_in_cpp20_with_gcc(self):
        self.compile("g++", "c++20", self.alone("alone.cpp"))

    def test_in_cpp20_with_clang(self):
        self.compile("clang++", "c++20", self.alone("alone.cpp"))


if __name__ == "__main__":
    harness.main()
