# SPDX-License-Identifier: GPL-2.0-only
"""Which patch has what, in their order. Each compiles with those before it.

A file is named by its place in the kernel's source. The Makefile and the Kconfig of eventlog are in
no list: each patch has as much of them as it takes.
"""

import dataclasses

CODE = "kernel/trace/eventlog/"
TESTS = CODE + "tests/"


@dataclasses.dataclass(frozen=True)
class Patch:
    """One step. Its text is what a reviewer reads first."""

    subject: str
    text: str
    files: tuple = ()  # that are new
    changes: tuple = ()  # names of in-tree/*.diff: changes of what is there


SERIES = (
    Patch(
        "tracing: Let modules hold event_mutex",
        """
trace_add_event_call() and trace_remove_event_call() are exported, but want
event_mutex to be held, which no module can take. So far nobody outside of
kernel/trace uses them. A module that adds events at run time has to, and
does more with it held: it looks whether an event is busy before it removes
it, and takes the number of one that it has removed.
""",
        changes=("event_mutex",),
    ),
    Patch(
        "eventlog: Describe memory that writers and readers share",
        """
A ring for each CPU, in two or more buffers, of which a reader hands back
those that it has read. Programs without this device have the same layout in
a file in tmpfs, so one reader reads both. Losses are exact: a buffer says
how many events there were before it, those that are missing included.
""",
        files=("include/uapi/linux/eventlog.h",),
        changes=("maintainers",),
    ),
    Patch(
        "eventlog: Describe the device of events of applications",
        """
Programs are to have their events in tracing as others have: with their real
fields, in a system of their own, on which perf, filters, histograms and BPF
programs work. user_events serve a part of that. What they do not: BPF
programs that are attached never run, bpftrace does not know relative
locations, a payload that is too large for a listener is lost although
write() reports success, and nothing says how much a user may have.

/dev/eventlog speaks the ABI of user_events, with the same structs and
numbers, so that a program written for one works with the other.
""",
        files=("include/uapi/linux/eventlog_device.h",),
    ),
    Patch(
        "eventlog: Take descriptions of events apart",
        """
What is not understood is refused. The kernel looks for __data_loc and for
"char" anywhere in the type of a field, to know what it may follow, so each
type is put together from words that are known, never taken as it comes.
""",
        files=(CODE + "layout.c", CODE + "layout.h"),
        changes=("hook",),
    ),
    Patch(
        "eventlog: Test which descriptions are understood",
        """
KUnit's, in the module itself: nothing has to be exported for them.
""",
        files=(TESTS + "kunit.h", TESTS + "layout_kunit.c"),
    ),
    Patch(
        "eventlog: Count what each user has",
        """
Over all processes of a user, those in user namespaces of its own included,
and over all users together, of which a part is kept for root.
""",
        files=(CODE + "account.c", CODE + "account.h", TESTS + "account_kunit.c"),
    ),
    Patch(
        "eventlog: Check payloads, and make their words absolute",
        """
Listeners follow the words in which a payload says where its strings lie.
They are checked in the kernel's copy before anybody else sees it, and point
from the beginning of the entry afterwards, which all listeners understand.
""",
        files=(CODE + "eventlog.h", CODE + "payload.c", CODE + "subscription.h",
               TESTS + "payload_kunit.c"),
    ),
    Patch(
        "eventlog: Show events",
        """
In ftrace's files, by the kernel itself, which trusts nothing in a buffer;
and for perf and trace-cmd, by what the file `format` of the event says.
""",
        files=(CODE + "print.c", CODE + "print_format.c", TESTS + "print_kunit.c",
               TESTS + "print_format_kunit.c"),
    ),
    Patch(
        "eventlog: Tell processes who listens, in words of their memory",
        """
The page of a word is pinned, so that its bit is changed at once, under a
lock, and without waiting for the process, which might be made to wait for
ever. So it has to be anonymous memory or of tmpfs.
""",
        files=(CODE + "enable_word.c",),
    ),
    Patch(
        "eventlog: Make trace events at run time",
        """
Each with a tracepoint that has no place in any code: a list of listeners
that can be walked without a lock. An event goes when no open file uses it
and nobody listens to it or refers to it, and its number is kept from others
while entries with it may still be in a buffer.
""",
        files=(CODE + "dead_events.c", CODE + "event.c", CODE + "event_mutex.c",
               CODE + "trace_event.c", TESTS + "dead_events_kunit.c"),
    ),
    Patch(
        "eventlog: Write to a ring for each CPU",
        """
By tasks, interrupts and NMIs, one interrupting the other: room is taken by
compare-and-swap without a lock prefix, and what has been written is shown
by the outermost, when all of it is whole. The memory is that of whoever
listens, and counts for it.
""",
        files=(CODE + "region.c", CODE + "region.h", CODE + "ring.c", CODE + "ring.h",
               CODE + "ring_write.h"),
    ),
    Patch(
        "eventlog: Describe relay channels",
        """
For what is too much for trace events: a buffer for each CPU, in sub-buffers
that begin with a header, so that every loss is exact and in its place.
""",
        files=("include/uapi/linux/eventlog_relay.h", "include/linux/eventlog_relay.h",
               CODE + "relay.h"),
    ),
    Patch(
        "eventlog: Read relay channels beside their writers",
        """
On top of relay, whose own reading looks at where the writer is while that
moves on, and may give a sub-buffer twice. Asks the CPU that writes instead.
""",
        files=(CODE + "relay_read.c",),
    ),
    Patch(
        "eventlog: Keep records in relay channels",
        """
On top of relay. Flushing and resetting ask the CPU that writes, too, and so
may be done beside it, which relay's own may not.
""",
        files=tuple(CODE + name for name in ("relay_buffer.c", "relay_channel.c", "relay_files.c")),
    ),
    Patch(
        "eventlog: Let programs write to relay channels",
        """
Many records at once. Who makes a channel is root, and it goes with the open
file that made it.
""",
        files=(CODE + "relay_device.c", TESTS + "relay_kunit.c"),
    ),
    Patch(
        "eventlog: Choose events, and whose",
        """
What somebody wants is a filter of patterns, levels, keywords, sessions and
processes; whose events they may hear at all depends on who they are.
""",
        files=(CODE + "filter.c", CODE + "filter.h"),
    ),
    Patch(
        "eventlog: Read rings",
        """
Whole records, with what is missing in front of them, in the order of each
ring.
""",
        files=(CODE + "reading.c", CODE + "source.h"),
    ),
    Patch(
        "eventlog: Bring events to those who want them",
        """
Each event has the list of its listeners, which is read under RCU: nobody
who writes takes a lock, and an event that nobody wants costs a load and a
branch.
""",
        files=(CODE + "listeners.h", CODE + "source.c", CODE + "provider_table.c"),
    ),
    Patch(
        "eventlog: Let programs publish and listen",
        """
A provider is published through an open file, with its schema and the numbers
of its events, and goes with it. An open file can be a subscription instead,
which knows of those that its caller may listen to.
""",
        files=(CODE + "subscribe_ioctl.c", CODE + "publication.c", CODE + "subscription.c"),
    ),
    Patch(
        "eventlog: Let programs register and write",
        """
Through a device whose group can be given to whoever may have events.
Registering makes all that it takes before it takes a lock: who has little
memory may be kept waiting for it.
""",
        files=(CODE + "batch.c", CODE + "device.c"),
    ),
    Patch(
        "eventlog: Let the kernel and its modules declare providers",
        """
As programs do, with macros that no generator has to expand: an event is a
plain struct, and a list of its members. From that comes the schema that
consumers of programs' events decode by, so that they need not know whose
event it is. What they could not read is refused, and the log says why.
""",
        files=("include/linux/eventlog.h", CODE + "provider.h", CODE + "schema.c"),
    ),
    Patch(
        "eventlog: Register providers of the kernel",
        """
Whose events go to the rings of those who want them, from any context, with
a load and a branch while nobody does. A provider is told when somebody
begins to listen, and when nobody does any more, so that it can attach to
whatever it has its events from only meanwhile.

The schema of the test is what user space makes of the same declarations.
""",
        files=(CODE + "provider.c", TESTS + "schema_kunit.c"),
    ),
    Patch(
        "eventlog: Let modules listen",
        """
To programs, to each other and to the kernel, by the same patterns as user
space, and at once: whoever emits an event calls the module, in whatever
context that is. Nothing lies in between that could be full, so all of it is
heard; and what programs emit for nobody else is emitted for the module.

What a module emits in such a call it does not hear itself. Contexts are told
apart by interrupt_context_level(), as perf does, so that an interrupt in the
middle of a call is heard all the same.
""",
        files=("include/linux/eventlog_subscriber.h", CODE + "subscriber.c",
               TESTS + "subscriber_kunit.c"),
    ),
    Patch(
        "eventlog: Tell what processors do",
        """
Switches, interrupts and periods of sleep, with what ended them, on one
timeline with the events of programs. Each is attached to its tracepoints
while somebody listens to it. Only those hear it who may hear everybody, and
who ask for it by its name: whoever records all events does not mean these.
""",
        files=(CODE + "hooks.c", CODE + "hooks.h", CODE + "idle.c", CODE + "idle.h",
               CODE + "kernel_provider.c", TESTS + "idle_kunit.c"),
    ),
    Patch(
        "eventlog: Begin with the kernel, or with the module",
        """
The device comes last, when all that it leads to is there.
""",
        files=(CODE + "main.c",),
    ),
    Patch(
        "eventlog: Document /dev/eventlog",
        """
What programs say to it, what it answers, and how it differs from
user_events.
""",
        files=("Documentation/trace/eventlog.rst",),
        changes=("documentation",),
    ),
    Patch(
        "samples/eventlog: Add modules that emit and that listen",
        """
A provider that is as small as can be, one that attaches to tracepoints of
the block layer while somebody listens, and a subscriber that counts errors.
""",
        files=tuple("samples/eventlog/" + name
                    for name in ("Makefile", "eventlog_block.c", "eventlog_ticker.c",
                                 "eventlog_watch.c")),
        changes=("samples",),
    ),
    Patch(
        "selftests/eventlog: Try the device from its first event to its last",
        """
What is registered shows in tracefs, the bit follows whoever listens, and
what is written is recorded or refused.
""",
        files=tuple("tools/testing/selftests/eventlog/" + name
                    for name in ("Makefile", "config", "eventlog_test.c")),
        changes=("selftests",),
    ),
    Patch(
        "tracing/user_events: Run BPF programs that are attached",
        """
They can be attached, and that sets the bits of the event's programs, but
they never ran: unlike other trace events, user events are handed to perf
alone, and only where perf records on that CPU.
""",
        changes=("user_events_bpf",),
    ),
    Patch(
        "tracing/user_events: Let events be in the system eventlog",
        """
Whoever records the events of applications names one system then, whichever
way a program has to the kernel: /dev/eventlog, or user_events where it has
no other. Kernels without the flag answer EINVAL, so that a program notices,
and registers without it.

A name that somebody else has there is refused: two events of one name in a
system are one too many for all who read tracefs.
""",
        changes=("user_events_system",),
    ),
    Patch(
        "selftests/user_events: Try the system eventlog, and BPF programs",
        """
An event is where it says, one of the same name in user_events is another,
and a BPF program that is attached counts events and reads their fields.
""",
        files=("tools/testing/selftests/user_events/eventlog_test.c",),
        changes=("user_events_selftests",),
    ),
)

# What only modules have that are built outside of the kernel's tree, and why.
OUTSIDE = {
    CODE + "Kbuild": "builds the module there",
    "samples/eventlog/Kbuild": "builds the samples there",
    CODE + "event_mutex_borrowed.c": "modules there cannot take event_mutex",
}
