#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An event whose bytes equal its payload is not copied to the stack first."""

import harness


class MemcpyPayload(harness.Case):
    def test_is_copied_directly_from_object(self):
        # The program replaces the function that writes to the ring.
        result = self.run_elog("record", "-e", "memcpy_payload", "-o", self.path("run.elog"), "--",
                               harness.program("memcpy_payload"))
        self.assertEqual(
            result.stdout.splitlines(),
            [
                "emit: the object itself, its bytes",
                "emit with a callable: the object itself, its bytes",
                "emit of what registers hold: a copy, its bytes",
                "emit with a callable of more than a line: the object itself, its bytes",
            ],
        )


if __name__ == "__main__":
    harness.main()
