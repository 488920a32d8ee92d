#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Children end by exit() that are forked while another thread registers and withdraws providers.

Not with sanitizers: such a child finds their allocator as another thread had locked it.
"""

import harness


class ForksBesideThreads(harness.Case):
    def run_forks(self):
        output, _ = self.finish(self.start(harness.program("host_forks"), "beside"))
        self.assertIn("done", output)

    def test_children_end(self):
        self.run_forks()
        self.run_elog("list")
        self.assert_no_files_left()

    def test_children_of_a_disabled_program_end(self):
        self.environment["EVENTLOG"] = "off"
        self.run_forks()


if __name__ == "__main__":
    harness.main()
