# SPDX-License-Identifier: MIT
"""Records events that reading_load emits at a steady rate."""

import subprocess

from figures import Bench, Problem, Recorder

# Events per second on each CPU.
STEADY_RATE = 2_000_000


class SteadyBench(Bench):
    def record(self, name, events, rate, cpus, *options):
        """Records that many events on each CPU. Returns the recorder, which has ended, and the rate
        per second that the load reached on each CPU, which is lower if the CPU is too slow."""
        recorder = Recorder(self, name, "load:*", *options)
        try:
            words = [self.programs / "reading_load", str(events), str(rate), str(cpus)]
            load = subprocess.run(words, check=False, capture_output=True, text=True,
                                  env=self.environment)
        finally:
            recorder.ask_to_end()
        recorder.finish()
        if load.returncode != 0:
            raise Problem(load.stderr.strip())
        emitted, seconds = load.stdout.split()
        recorder.check(int(emitted))
        return recorder, events / float(seconds)
