# SPDX-License-Identifier: GPL-2.0-only
"""The patches in their order: text and files. Each compiles on top of those before it.

A file is named by its path in the kernel's source. The Makefile and the Kconfig of eventlog are in no
list: each patch has the lines whose sources exist at that patch.
"""

import dataclasses

CODE = "kernel/trace/eventlog/"
TESTS = CODE + "tests/"


@dataclasses.dataclass(frozen=True)
class Patch:
    """One patch: subject, body and files. The body states problem, solution and test."""

    subject: str
    text: str
    files: tuple = ()  # new files
    changes: tuple = ()  # names of in-tree/*.diff: changes of existing files


SERIES = (
    Patch(
        "tracing: Export event_mutex",
        """
trace_add_event_call() and trace_remove_event_call() are exported to
modules, but both require event_mutex, which is not exported. No module
can call them without a lockdep warning and a race.

A module that registers trace events at run time also needs the lock to
test whether an event is in use before its removal, and to reserve the
type number of a removed event while old entries may remain in a ring
buffer.

Export event_mutex to GPL modules and move its declaration from
kernel/trace/trace.h to linux/trace_events.h. No functional change.
""",
        changes=("event_mutex",),
    ),
    Patch(
        "eventlog: Add the shared memory layout of event rings",
        """
Subscriptions to events of applications need buffers that a reader can
map and that report every loss. Those of ftrace and perf require access
to tracing, and their events can only be decoded with files of tracefs.

Add a uapi header for a region: a header, tables of providers and their
schemas, and for each CPU a ring of two or more buffers. The reader
releases buffers that it has read. Each buffer states how many events
preceded it, including lost ones, so losses are exact in discard mode
and in overwrite mode.

User space uses the same layout in files on tmpfs, without the kernel;
one reader handles both. Static assertions fix the sizes and offsets.
""",
        files=("include/uapi/linux/eventlog.h",),
        changes=("maintainers",),
    ),
    Patch(
        "eventlog: Add the user API of /dev/eventlog",
        """
Applications should have trace events like those of the kernel: with
real fields, in a system of their own, usable with perf, filters,
histograms and BPF programs. user_events provides a part of that, with
these limits: attached BPF programs never run; a payload that is too
large for a listener is lost although write() reports success; events
are subject to one global limit and not to limits of each user; and a
consumer needs access to tracefs or perf.

Add the user API of a device that has the ABI of user_events, with the
same structs and ioctl numbers, so that a program for one works with the
other. Additional ioctls publish a provider with its schema and turn an
open file into a subscription, which needs no access to tracing.
""",
        files=("include/uapi/linux/eventlog_device.h",),
    ),
    Patch(
        "eventlog: Parse event descriptions",
        """
A program describes an event by a string of types and names. Tracing
searches the type of a field for "__data_loc" and "char" to decide which
bytes of an entry it follows. A type taken verbatim from user space
could therefore make it read data that the payload does not contain.

Parse the description into a layout and build each type from known
words. Reject any other description with -EINVAL. The next patch adds
the KUnit tests.
""",
        files=(CODE + "layout.c", CODE + "layout.h"),
        changes=("hook",),
    ),
    Patch(
        "eventlog: Add KUnit tests of event descriptions",
        """
The parser takes input from unprivileged programs and needs tests of
each accepted and rejected form.

Add the suite eventlog_layout. The tests are built into the module, so
no symbol is exported for them. Later patches add a suite for each
further part that does not depend on hardware.
""",
        files=(TESTS + "kunit.h", TESTS + "layout_kunit.c"),
    ),
    Patch(
        "eventlog: Account resources of each user",
        """
The device can be opened by unprivileged users, who must not exhaust
kernel memory, trace event type numbers or the resources of other
users.

Count each resource by user and in total. A user namespace counts as
its creator, so that a user gains nothing by creating namespaces. One
eighth of each total is reserved for root. Limits are module parameters.

The KUnit suite eventlog_account tests limits, the reserve and release.
""",
        files=(CODE + "account.c", CODE + "account.h", TESTS + "account_kunit.c"),
    ),
    Patch(
        "eventlog: Validate payloads",
        """
Listeners follow the words in a payload that locate its strings. A word
that points outside of the payload would make them read other memory.
Some consumers, such as bpftrace 0.17, do not support the relative
locations of user_events.

Validate each location in the kernel's copy of the payload, where the
program cannot change it, and require the NUL of each string. Then
replace relative by absolute locations, which all listeners support.

The KUnit suite eventlog_payload tests valid and invalid locations.
""",
        files=(CODE + "eventlog.h", CODE + "payload.c", CODE + "subscription.h",
               TESTS + "payload_kunit.c"),
    ),
    Patch(
        "eventlog: Format events for ftrace and perf",
        """
A registered event needs a function that prints it in ftrace's trace
file and a print format for perf and trace-cmd. print_event_fields() is
not exported, and a ring buffer may hold entries that do not fit the
event.

Print fields with a bounds check against the size of the entry, and
generate the print format from the layout.

The KUnit suites eventlog_print and eventlog_print_format test both.
""",
        files=(CODE + "print.c", CODE + "print_format.c", TESTS + "print_kunit.c",
               TESTS + "print_format_kunit.c"),
    ),
    Patch(
        "eventlog: Update enable words of user processes",
        """
A program needs to know whether an event has a listener without a
system call. user_events writes to a word by its address, which may
fault and needs a work item for the slow path; until then the program
does not see the change.

Pin the page of the word when the event is registered. The bit then
changes under a lock, without a fault and without waiting for the
process. The page must be anonymous memory or belong to tmpfs, where a
long-term pin affects no other user. Pinned pages are accounted.
""",
        files=(CODE + "enable_word.c",),
    ),
    Patch(
        "eventlog: Register trace events at run time",
        """
An event becomes known when a program registers it, and must appear in
tracefs with its fields at that time.

Allocate a trace_event_call with a tracepoint that no code refers to;
its list of probes can be walked without a lock when an event is
written. Remove the event when no open file uses it, it has no listener
and nothing refers to it. Keep its type number and memory until entries
of it can no longer be printed as those of another event.

The KUnit suite eventlog_dead_events tests the reserved numbers.
""",
        files=(CODE + "event.c", CODE + "event_mutex.c",
               CODE + "trace_event.c", TESTS + "event_kunit.c"),
    ),
    Patch(
        "eventlog: Add a lockless ring for each CPU",
        """
Subscriptions record events of tasks, softirqs, interrupts and NMIs. A
lock cannot be taken in NMIs, and atomic instructions with a lock prefix
are not needed for memory that one CPU writes.

Reserve space by a local compare-and-exchange, without a lock prefix.
The writers of one CPU interrupt each other as a stack, so only the
outermost one publishes the new position, when all records before it
are complete.

Thread and upper half of the time are stored only where they differ from
those of the last record that has them. A writer marks them as unknown
before it reserves, and stores its own afterwards unless another writer
has interrupted it, or has switched the buffer.

Tested in user space by a program that compiles ring.c and interrupts
the writer between any two memory accesses, four levels deep, while a
reader reads.
""",
        files=(CODE + "record.h", CODE + "ring.c", CODE + "ring.h", CODE + "ring_write.h"),
    ),
    Patch(
        "eventlog: Allocate the memory of subscriptions",
        """
A subscription has a ring for each CPU, and tables of providers and
their schemas, which its owner reads or maps.

Allocate the rings when their CPUs come online, and pages of the tables
when they are written or mapped. Charge all of it to the subscriber, so
that the limits of users hold. The memory is zeroed and mapped for
reading only.
""",
        files=(CODE + "region.c", CODE + "region.h"),
    ),
    Patch(
        "eventlog: Add the API of relay channels",
        """
Some producers write more records than trace events can carry. relay
provides fast buffers, but a reader knows neither how many records are
missing nor where.

Add the API of channels on top of relay, for programs and for modules.
Each sub-buffer begins with a header that counts the records recorded
and lost before it.
""",
        files=("include/uapi/linux/eventlog_relay.h", "include/linux/eventlog_relay.h",
               CODE + "relay.h"),
    ),
    Patch(
        "eventlog: Read relay channels beside their writers",
        """
relay's own read() examines the position of the writer while the writer
moves, and can return a sub-buffer twice or return the previous content
of it.

Get the position by a function call on the CPU that writes, and read
only up to it.
""",
        files=(CODE + "relay_read.c",),
    ),
    Patch(
        "eventlog: Store records in relay channels",
        """
Add the channels: space for records, headers of sub-buffers, and files.

relay's own flush and reset must not run beside a writer. Run both on
the CPU that writes instead, with interrupts disabled.
""",
        files=tuple(CODE + name for name in ("relay_buffer.c", "relay_channel.c")),
    ),
    Patch(
        "eventlog: Control relay channels",
        """
Readers of mapped buffers release sub-buffers; readers and clients
complete or discard them; a client may write before it can have files.

Add the files "control" and "stats", and functions for clients.
""",
        files=tuple(CODE + name for name in ("relay_control.c", "relay_files.c")),
    ),
    Patch(
        "eventlog: Add /dev/eventlog_relay",
        """
A program that writes many records should not need a system call for
each.

Add a device. A process with CAP_SYS_ADMIN creates a channel, which
exists until the file is closed. Other programs attach by name and write
batches of up to 64 KiB, which are validated as a whole. Records leave
out what the record before them in the sub-buffer has.

The KUnit suites eventlog_relay and eventlog_relay_client test channels,
losses, flush and reset.
""",
        files=(CODE + "relay_device.c", TESTS + "relay_client_kunit.c", TESTS + "relay_kunit.c"),
    ),
    Patch(
        "eventlog: Filter events and check access",
        """
A subscription selects a part of the events and must not receive those
of processes that its owner may not inspect.

Add filters by pattern, level, keyword, session and process. Without
CAP_PERFMON or CAP_SYS_ADMIN, match only processes whose credentials,
dumpable state, user namespace and PID namespace would allow ptrace.
""",
        files=(CODE + "filter.c", CODE + "filter.h"),
    ),
    Patch(
        "eventlog: Read records from rings",
        """
A subscriber needs whole records and the position and size of each gap.

Implement read() and poll(). Records of one ring are returned in order,
as they are stored. A marker in front of each run of them has the ring,
the context of the first records and the gap before them. In overwrite
mode, a copy that a writer overtook is discarded and read again.
""",
        files=tuple(CODE + name for name in ("read_cursor.c", "read_wait.c", "reading.c",
                                             "reading.h", "source.h")),
    ),
    Patch(
        "eventlog: Deliver events to subscriptions",
        """
Sources of events and subscriptions appear and disappear independently,
and a write must not take a lock.

Keep a list of listeners for each event, replaced under RCU when a
subscription is added. Removing one clears its entry, which needs no
memory and cannot fail. An event without listeners costs a load and a
branch. A subscription keeps each distinct schema once.
""",
        files=tuple(CODE + name for name in ("deliver.c", "listeners.c", "listeners.h",
                                             "provider_table.c", "source.c")),
    ),
    Patch(
        "eventlog: Add publications and subscriptions",
        """
A consumer without access to tracefs or perf cannot receive the events
that its own programs register.

Let a program publish a provider: a schema and the indexes of its
registered events. The provider exists until it is unpublished or the
file is closed. Let an open file become a subscription, which receives
events of the providers that its owner has access to.
""",
        files=tuple(CODE + name for name in ("subscribe_ioctl.c", "publication.c", "schema_header.h",
                                             "subscription.c")),
    ),
    Patch(
        "eventlog: Add registration and writing of events",
        """
Add the file operations that user_events has: ioctls to register,
unregister and delete, and write() for events; and a batch of events in
one write(), which avoids a system call for each.

Registration allocates before it takes a lock, because an allocation
may wait for memory. The device's group can be given to users
whose programs may emit; access to tracefs is not required.
""",
        files=tuple(CODE + name for name in ("batch.c", "device.c", "file.c", "registration.c")),
    ),
    Patch(
        "eventlog: Add declarations of providers in the kernel",
        """
A consumer should decode events of modules like those of programs, by
the same schema and on the same timeline. TRACE_EVENT() describes
fields to tracing only.

Add macros that declare an event from a plain struct and a list of its
members; the compiler supplies offsets, sizes and types. Build the
schema from the declarations when a provider is registered. Reject a
declaration that a consumer could not decode, such as one with holes,
and log the reason.
""",
        files=("include/linux/eventlog.h", CODE + "provider.h", CODE + "schema.c"),
    ),
    Patch(
        "eventlog: Register providers of the kernel",
        """
Write events of the kernel's providers to the rings of subscriptions,
from any context in which RCU is watching. An event without a listener
costs a load, a test and a branch.

A callback reports when an event gets its first listener and loses its
last one, so that a provider attaches to tracepoints only while needed.
Another one emits the current state to each new listener alone, in
process context and without locks held. Unregistering waits for it.

The KUnit suite eventlog_schema compares a schema with the bytes that
user space generates from the same declarations, and tests rejected
declarations.
""",
        files=(CODE + "provider.c", TESTS + "schema_kunit.c"),
    ),
    Patch(
        "eventlog: Add subscribers in modules",
        """
A module that reacts to events of programs cannot wait for a reader, and
must not miss events because a buffer is full.

Add subscribers: a function that the emitting context calls directly,
selected by the patterns of subscriptions. A subscriber does not receive
events that it emits in the call; it counts them. Contexts are
distinguished by interrupt_context_level(), as in perf, so that the
event of an interrupt during a call is still delivered.

The KUnit suite eventlog_subscriber tests delivery, recursion and
removal; eventlog_dump tests dumps of state, and that removing a
provider or a listener waits for them.
""",
        files=("include/linux/eventlog_subscriber.h", CODE + "subscriber.c",
               TESTS + "dump_kunit.c", TESTS + "subscriber_kunit.c"),
    ),
    Patch(
        "eventlog: Add a provider of switches, interrupts and idle",
        """
To explain the timing of a program's events, a consumer needs context
switches, interrupts and idle periods on the same timeline.

Add the provider "kernel". Each event attaches to its tracepoints while
it has a listener. Its events concern all users, so they require the
privilege to receive events of all, and a pattern must name the provider
explicitly: a recording of all events would otherwise consist of these.

The KUnit suite eventlog_idle tests how idle periods are assembled.
""",
        files=(CODE + "hooks.c", CODE + "hooks.h", CODE + "idle.c", CODE + "idle.h",
               CODE + "kernel_provider.c", TESTS + "idle_kunit.c"),
    ),
    Patch(
        "eventlog: Initialize the module and its devices",
        """
Add the initialization of all parts and allow eventlog to be built as a
module. The device is registered last, when everything that it refers to
is ready, and removed first.
""",
        files=(CODE + "main.c",),
    ),
    Patch(
        "eventlog: Document /dev/eventlog",
        """
Describe registration, writing, subscriptions, providers of the kernel,
access control, limits and the differences from user_events.
""",
        files=("Documentation/trace/eventlog.rst",),
        changes=("documentation",),
    ),
    Patch(
        "samples/eventlog: Add providers, a subscriber and a channel",
        """
Show the in-kernel API by five modules: a provider with one event each
second, a provider that attaches to tracepoints of the block layer while
it has a listener, a provider that dumps the state of network devices to
new listeners, a subscriber that counts errors, and a relay channel of a
client.
""",
        files=tuple(f"samples/eventlog/{name}" for name in (
            "Makefile", "eventlog_block.c", "eventlog_channel.c", "eventlog_links.c",
            "eventlog_ticker.c", "eventlog_watch.c")),
        changes=("samples",),
    ),
    Patch(
        "selftests/eventlog: Test registering and writing events",
        """
Test from a program that a registered event appears in tracefs, that the
enable bit follows the listener, and that a write is recorded or
rejected with the documented error.
""",
        files=tuple("tools/testing/selftests/eventlog/" + name
                    for name in ("Makefile", "config", "eventlog_test.c")),
        changes=("selftests",),
    ),
    Patch(
        "tracing/user_events: Run attached BPF programs",
        """
A BPF program can be attached to a user event, and that sets the enable
bit of the event's programs. But the BPF program never runs: unlike
other trace events, user events are passed to perf only, and only on a
CPU where perf records.

Call perf_trace_run_bpf_submit(), as other trace events do, also on CPUs
where only a BPF program is attached. A selftest follows.
""",
        changes=("user_events_bpf",),
    ),
    Patch(
        "tracing/user_events: Add a flag for the system eventlog",
        """
A recording of the events of applications has to name two systems if
some programs use /dev/eventlog and others, without access to it, use
user_events.

Add the flag USER_EVENT_REG_EVENTLOG, which registers an event in the
system "eventlog". Kernels without the flag return -EINVAL, so that a
program can register without it. A name that exists in the system is
rejected with -EADDRINUSE, because tools that read tracefs cannot
distinguish two events of one name. A selftest follows.
""",
        changes=("user_events_system",),
    ),
    Patch(
        "selftests/user_events: Test the flag and BPF programs",
        """
Test that an event with USER_EVENT_REG_EVENTLOG is in the system
"eventlog", that an event of the same name in user_events is a different
one, and that an attached BPF program counts events and reads their
fields.
""",
        files=("tools/testing/selftests/user_events/eventlog_test.c",),
        changes=("user_events_selftests",),
    ),
)
