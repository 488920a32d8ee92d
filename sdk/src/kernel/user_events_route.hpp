// SPDX-License-Identifier: MIT
//
// The route through the kernel's user_events: each event of a provider is in tracefs as
// user_events:eventlog_PROVIDER_EVENT, for perf, ftrace and other readers of trace events. Bit 31
// of the gate means a listener there; then an emit is one write.
//
// If the kernel module is loaded, its device replaces user_events, and the following applies to it,
// too: events are eventlog:PROVIDER_EVENT, and the bit is 30. A provider that started with
// user_events keeps them, because its registrations would remain otherwise. When the device's file
// is closed, the module sets its bits, so that a process that has lost the descriptor notices. This
// library clears them: before another descriptor is opened, and for events that cannot be
// registered again.
//
// The route is independent of shared memory: without it, bit 31 of the program's own pages works as
// well.
//
// Descriptor: the only one that this library keeps open. It is moved to a high number, so that a
// program that closes all unknown descriptors does not immediately reuse it. At least every few
// milliseconds of writing its file is compared with the original one. If it is another file, or
// closed, it is abandoned, and a new one is opened. The files of two providers are
// indistinguishable, so a provider that gets a number from the kernel removes that number from all
// other providers. (Another copy of this library in the process is not covered.)
//
// The module also gets the provider's schema, so that subscriptions through its device receive the
// events without tracing (publish_to_module). The file keeps the publication until it is closed by
// all processes that share it. So a forked child opens a file of its own and is a provider as its
// parent is; if that fails, it appears as its parent.
//
// With eventlog's kernel patches, events of user_events are in the system eventlog, too. They keep
// their names, eventlog_PROVIDER_EVENT, which are needed to remove them, and which differ from
// those of the device's events.
//
// Kernels before 6.4 do not write to the gate. There bit 31 is set while an event is registered,
// and the event's bit in the kernel's page shows whether it has listeners (user_events_page.hpp).
// So on these kernels every emit passes the gate.
//
// fork: the kernel copies the registered words with the memory of the child and continues to write
// to them. But the child gets gate pages of its own, initially without bits. It unregisters the
// copied words after it has its own pages, because unregistering clears a bit, and before that the
// page is the parent's. Then it registers again; with user_events through the shared descriptor,
// which returns the same numbers. (Kernels without words have nothing to unregister.)
#pragma once

struct eventlog_provider;

namespace eventlog::core {

// Under the registry lock:

/// Registers all events that are not registered yet. Sets status, status_text, and in not_before
/// the time of a retry. Precondition: the provider's schema and gate are set.
void open_user_events_route(eventlog_provider& provider) noexcept;

/// Unregisters all events and closes the descriptor. Must precede the unmapping of the gate's
/// pages.
void close_user_events_route(eventlog_provider& provider) noexcept;

/// Closes the descriptors of closed routes, which a thread was writing to then. Until the module's
/// file is closed, the provider is published there. False if threads still write.
[[nodiscard]] bool close_retired_descriptors() noexcept;

/// Called in a forked child that has gate pages of its own: unregisters the copied words, and
/// registers the events if the parent had.
void renew_user_events_route(eventlog_provider& provider) noexcept;

// Without the lock, in any thread or signal handler:

/// Retries after a failure if it is time.
void retry_user_events_route(eventlog_provider& provider) noexcept;

/// The retry of eventlog_provider_run_callbacks.
void poll_user_events_route(eventlog_provider& provider) noexcept;

}  // namespace eventlog::core
