# SPDX-License-Identifier: MIT
"""Patterns of a kernel's reports of faults."""

import re

# Each pattern matches a line of a log without time stamps. Faults of programs, such as segmentation
# faults, are not among them.
PATTERNS = re.compile(
    "|".join(
        (
            r"BUG: ",  # KASAN, KCSAN, lockdep, scheduler, soft lockup, page faults in the kernel
            r"kernel BUG at",
            r"WARNING: ",  # WARN_ON, lockdep, RCU
            r"DEBUG_LOCKS_WARN_ON",
            r"Oops\b",
            r"general protection fault",
            r"Kernel panic",
            r"Internal error: ",
            r"Unable to handle kernel",
            r"UBSAN: ",
            r"INFO: .*(detected stalls|self-detected stall|blocked for more than)",
            r"INFO: (possible|inconsistent|trying to register)",
            r"refcount_t: ",
            r"list_(add|del) corruption",
            r"unreferenced object",
            r"Out of memory",
            r"invoked oom-killer",
            r"Call Trace:",
            r"not ok \d+ ",  # KUnit
        )
    )
)


def find_splats(log):
    """The lines that match a pattern, in order, each once."""
    return list(dict.fromkeys(line for line in log.splitlines() if PATTERNS.search(line)))
