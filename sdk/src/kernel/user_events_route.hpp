// SPDX-License-Identifier: MIT
//
// The route through the kernel's user_events: each event of a provider appears in tracefs as
// user_events:eventlog_PROVIDER_EVENT, for perf, ftrace and whatever else reads trace events. The
// gate's bit 31 says that somebody listens there; then emitting is one write.
//
// Where eventlog's kernel module is loaded, its device takes the place of user_events, and
// everything below holds for it: the events are eventlog:PROVIDER_EVENT, and the bit is 30. A
// provider that has begun with user_events stays there: what it has told the kernel would remain
// otherwise. When the device's file is closed, the module sets its bits, so that whoever has lost
// the descriptor notices. Then nobody but us clears them: before another one is opened, and of an
// event that cannot be registered anew.
//
// It needs nothing of the route through shared memory: where that is not to be had, bit 31 of the
// program's own pages works as well.
//
// A route keeps a descriptor open, the only one of this library. It is moved up to a high number,
// so that it is not the next one that somebody opens who has closed all he did not open; and at
// least every few milliseconds of writing it is compared with the file that it was. If it has
// become another file, or none, it is left alone, and a new one is opened. The files of two
// providers look the same, so whoever is given a number by the kernel takes it from all others.
// (Not from those of another copy of this library in the process: it does not know them.)
//
// The module also gets the provider's schema, so that the events reach those who subscribe through
// its device, without tracing (publish_to_module). The file keeps that until it is closed, also for
// those who share it. So a forked child takes a file of its own, through which it is a provider as
// its parent is; if it cannot have one, it is heard as its parent.
//
// With our patches user_events let events be in the system eventlog, too. They keep their names,
// eventlog_PROVIDER_EVENT: by these they are removed, and none is that of an event of the device's.
//
// Kernels before 6.4 do not write to the gate. There bit 31 is set as long as an event is offered,
// and behind the gate the event's bit in the kernel's page says whether somebody listens
// (user_events_page.hpp). So on these kernels every emit takes the way past the gate.
//
// fork: the kernel copies the child's words with its memory, and goes on to write to them. But the
// child gets gate pages of its own, which begin with no bit set. So it gives the copied words back
// when it has its own pages, not before: giving a word back clears its bit, and until then the page
// is the parent's. Then it registers anew; with user_events through the descriptor that both share,
// and gets the same numbers. (Where there are no words, there is nothing to give back.)
#pragma once

struct eventlog_provider;

namespace eventlog::core {

// Under the registry's lock:

/// Offers all events that are not offered yet. Says in status and status_text what has become of
/// it, and in not_before when to try again. The provider's schema and gate must be in place.
void open_user_events_route(eventlog_provider& provider) noexcept;

/// Takes all events back, before the gate's pages go, and closes the descriptor.
void close_user_events_route(eventlog_provider& provider) noexcept;

/// In a forked child, when the gate's pages are its own: takes back what has been copied, and
/// offers the events anew, if the parent did.
void renew_user_events_route(eventlog_provider& provider) noexcept;

// Without the lock, in any thread, any signal handler:

/// Tries again what has failed, if it is time.
void retry_user_events_route(eventlog_provider& provider) noexcept;

/// The same when the application asks for it.
void poll_user_events_route(eventlog_provider& provider) noexcept;

}  // namespace eventlog::core
