#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The kernel evaluates parts of predicates as elog does: random predicates over all types, on events of
user_events and of the kernel module.

EVENTLOG_TEST_PREDICATES is their number, EVENTLOG_TEST_SEED the seed.
"""

import os
import re

import parts
import vm_case

COUNT = int(os.environ.get("EVENTLOG_TEST_PREDICATES", vm_case.by_tier("300", "1000")))
SEED = os.environ.get("EVENTLOG_TEST_SEED", "1")

SCRIPT = parts.SHELL + """
[ -e /eventlog.ko ] && { insmod /eventlog.ko || exit; }
part predicates "$0" "$1" "$2"
"""


class PushedPredicates(parts.Case):
    """One guest, in which a program compares."""

    KERNEL = "user-events-6.12"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip(cls.KERNEL)
        program = vm_case.built("PROGRAMS", "pushed_predicates")
        cls.result = cls.run_successfully(kernel, ["sh", "-c", SCRIPT, program, str(COUNT), SEED],
                                  files={program: program} | cls.extra_files(kernel))

    @staticmethod
    def extra_files(_kernel):
        return {}

    def test_keep_only_matches(self):
        output = self.part("predicates")
        counts = dict(re.findall(r"(\w+) (\d+)", output[-1]))
        found = {name: int(number) for name, number in counts.items()}
        print(output[-1])
        self.assertEqual(found["predicates"], COUNT)
        self.assertEqual(found["wrong"], 0)
        # It would be easy to be right by asking nothing, or by wanting nothing.
        self.assertGreater(found["asked"], COUNT // 3)
        self.assertGreater(found["whole"], COUNT // 10)
        self.assertGreater(found["wanted"], found["events"] // 10)
        self.assertLess(found["kept"], found["events"] * 9 // 10)


@vm_case.full_tier
class PushedPredicatesOfTheModule(PushedPredicates):
    """The tests with events of the kernel module, on a kernel without user_events."""

    KERNEL = "debian-6.12"

    @staticmethod
    def extra_files(kernel):
        return {"/eventlog.ko": vm_case.module_or_skip(kernel)}


@vm_case.full_tier
class PushedPredicatesBefore66(PushedPredicatesOfTheModule):
    """On an older one."""

    KERNEL = "debian-6.1"


if __name__ == "__main__":
    vm_case.main()
