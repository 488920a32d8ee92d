# SPDX-License-Identifier: MIT
"""What a kernel writes when something in it went wrong."""

import re

# Each with what it looks like in a log without time stamps. What a program does to itself, such as
# a segmentation fault, is none.
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
    """The lines that tell of something wrong, in order, each once."""
    return list(dict.fromkeys(line for line in log.splitlines() if PATTERNS.search(line)))
