#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An event that is, byte for byte, its payload is not put together once more on the stack."""

import harness


class MemcpyPayload(harness.Case):
    def test_is_copied_directly_from_object(self):
        # The program stands in the place of the function that would write to the ring.
        result = self.run_elog("record", "-e", "memcpy_payload", "-o", self.path("run.elog"), "--",
                               harness.program("memcpy_payload"))
        self.assertEqual(
            result.stdout.splitlines(),
            [
                "emit: the object itself, its bytes",
                "emit_lazily: the object itself, its bytes",
                "emit of what registers hold: a copy, its bytes",
                "emit_lazily of more than a line: the object itself, its bytes",
            ],
        )


if __name__ == "__main__":
    harness.main()
