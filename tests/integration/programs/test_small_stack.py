#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An emit, with its slow path and an attach, needs at most 2 KiB of stack beside the kernel's signal
frame, if its event has at most 24 bytes of numbers and three variable fields.
"""

import re
import subprocess

import harness

BOUND = 2048
# By event. More than a buffer has room for: the emits switch buffers, too.
EVENTS = {"step": 6000, "text": 4000, "three": 2000, "large": 300}


class SmallStack(harness.Case):
    def emit_in_handlers(self, beside, event="step", **environment):
        """Returns how much stack the emits have used."""
        self.environment.update(environment)
        program = self.start_provider(
            harness.program("small_stack"), str(beside), str(EVENTS[event]), event,
            stdin=subprocess.PIPE
        )
        recording = self.start_recording(
            "-e", "small_stack:*", "--buffer-size", "128K", "-o", self.path("run.elog")
        )
        output, errors = program.communicate("go\n", timeout=harness.TIMEOUT)
        self.assertEqual(program.returncode, 0, output + errors)
        self.stop(recording)
        text = self.run_elog("print", self.path("run.elog")).stdout
        numbers = re.findall(rf"small_stack:{event} number=(\d+)\b", text)
        self.assertEqual(numbers, [str(i) for i in range(EVENTS[event])])
        return int(re.search(r"used (\d+) bytes of stack", output)[1])

    def test_emit_in_handler_on_the_smallest_stack(self):
        self.assertLessEqual(self.emit_in_handlers(BOUND), BOUND)

    def test_emit_in_handler_without_restartable_sequences(self):
        self.assertLessEqual(self.emit_in_handlers(BOUND, EVENTLOG_RSEQ="off"), BOUND)

    def test_emit_of_a_text_in_handler(self):
        self.assertLessEqual(self.emit_in_handlers(BOUND, "text"), BOUND)

    def test_emit_of_three_variable_fields_in_handler(self):
        self.assertLessEqual(self.emit_in_handlers(BOUND, "three"), BOUND)

    def test_emit_of_three_variable_fields_without_restartable_sequences(self):
        self.assertLessEqual(self.emit_in_handlers(BOUND, "three", EVENTLOG_RSEQ="off"), BOUND)

    def test_emit_of_more_than_512_bytes_in_handler(self):
        self.assertLessEqual(self.emit_in_handlers(BOUND, "large"), BOUND)

    def test_measures_more_than_the_frame_of_a_handler(self):
        self.assertGreater(self.emit_in_handlers(65536), 512)


if __name__ == "__main__":
    harness.main()
