// SPDX-License-Identifier: MIT
#include "emit/notification.hpp"

#include <bit>
#include <cerrno>
#include <mutex>
#include <new>

#include <eventlog/abi.h>

#include "emit/attach.hpp"
#include "emit/collectors.hpp"
#include "emit/detach.hpp"
#include "emit/emit.hpp"
#include "kernel/batch.hpp"
#include "kernel/user_events_route.hpp"
#include "kernel/user_events_write.hpp"
#include "platform/permanent_memory.hpp"
#include "platform/process.hpp"
#include "platform/registry_lock.hpp"
#include "platform/signal_guard.hpp"
#include "provider/own_gate.hpp"
#include "provider/registered_provider.hpp"
#include "ring/clock.hpp"
#include "ring/subscription_slots.hpp"
#include "shm/own_process_file.hpp"

namespace eventlog::core {

constinit thread_local dump_in_progress dumping{};

namespace {

/// One listener: a slot, or a number in the kernel module; or all listeners in the kernel.
struct dump_target {
    std::uint32_t bits;
    std::uint64_t module_listener = 0;
};

/// While it lives, the calling thread's events go to that target. Signals are blocked, because
/// events of signal handlers would, too: those of synchronous signals do.
class dump_scope {
  public:
    dump_scope(const eventlog_provider& provider, dump_target to) noexcept {
        dumping = {&provider, to.bits};
        if (to.module_listener != 0) {
            set_module_target(&provider, to.module_listener);
        }
    }
    ~dump_scope() {
        dumping = {};
        set_module_target(nullptr, 0);
    }
    dump_scope(const dump_scope&) = delete;
    dump_scope& operator=(const dump_scope&) = delete;

  private:
    signal_block signals_;
    fast_path_blocker blocker_;
};

/// Attaches to all listeners and returns their serials by slot, 0 without a listener. Returns false
/// if a retry is needed.
bool find_listeners(eventlog_provider& provider, serials_by_slot& serials) noexcept {
    bool complete = true;
    const std::uint32_t slots = listening_slots(provider);
    for (unsigned slot = 0; slot < slots_end; ++slot) {
        serials[slot] = 0;
        if ((slots & 1U << slot) == 0) {
            continue;
        }
        if (is_attached(provider, slot) || attach_now(provider, slot)) {
            serials[slot] = provider.attachment_to(slot).serial.load(std::memory_order_relaxed);
        } else {
            // Bits without a subscription were cleared; remaining bits need a retry.
            complete = complete && (listening_slots(provider) & 1U << slot) == 0;
        }
    }
    return complete;
}

/// Stores `number` in `dumped` unless there is no callback.
[[gnu::noinline]] void dump_state(eventlog_provider& provider, dump_target to,
                                  std::uint64_t& dumped, std::uint64_t number) noexcept {
    notification_state::dump_callback::pair dump;
    if (!provider.notifications.on_new_listener.read(dump) || dump.function == nullptr) {
        return;
    }
    dumped = number;
    const dump_scope requester(provider, to);
    dump.function(dump.context);
    if (provider.dump_complete_event != schema_format::no_index) {
        eventlog_emit_raw(&provider, provider.dump_complete_event, nullptr, 0);
    }
}

/// Dumps to the listeners in the kernel module that are new.
void dump_to_module(eventlog_provider& provider, std::uint64_t& dumped) noexcept {
    std::uint64_t listener = 0;
    while ((listener = next_module_listener(provider, dumped)) != 0) {
        write_batch_of(provider);  // the events before the dump
        dump_state(provider, {1U << EVENTLOG_GATE_DEVICE_BIT, listener}, dumped, listener);
        if (dumped != listener) {
            return;
        }
    }
}

/// Dumps to new listeners in the kernel module, and to all listeners in the kernel if a consumer
/// has requested it. Returns false if a retry is needed.
bool dump_to_kernel(eventlog_provider& provider, std::uint64_t& dumped_in_module) noexcept {
    notification_state::dump_callback::pair dump;
    bool is_requested = false;
    bool is_in_module = false;
    {
        // The module sets the request's bits before the lock's holder stores the publication.
        const signal_guard guard;
        const registry_lock lock(std::try_to_lock);
        if (!lock.held() || !provider.notifications.on_new_listener.read(dump)) {
            return false;
        }
        is_requested = provider.published && take_state_request(provider.place);
        is_in_module = provider.user_events.published.load(std::memory_order_relaxed) != 0;
    }
    if (is_in_module) {
        dump_to_module(provider, dumped_in_module);
    }
    if (is_requested) {
        std::uint64_t ignored = 0;
        dump_state(provider, {kernel_bits}, ignored, 0);
    }
    return true;
}

/// A callback that is being replaced is skipped: its replacement requests a notification next.
/// Returns false if a retry is needed.
[[gnu::noinline]] bool run_callbacks(eventlog_provider& provider,
                                     listener_serials& known) noexcept {
    notification_state& watching = provider.notifications;
    const serials_by_slot& serials = known.present;
    notification_state::change_callback::pair change;
    if (watching.on_change.read(change) && change.function != nullptr &&
        (serials != known.notified || change.generation != watching.notified_generation)) {
        known.notified = serials;
        watching.notified_generation = change.generation;
        unsigned listeners = 0;
        for (const std::uint64_t serial : serials) {
            listeners += serial != 0 ? 1 : 0;
        }
        change.function(change.context, listeners);
    }
    for (unsigned slot = 0; slot < slots_end; ++slot) {
        if (serials[slot] != 0 && serials[slot] != known.dumped[slot]) {
            dump_state(provider, {1U << slot}, known.dumped[slot], serials[slot]);
        }
    }
    return dump_to_kernel(provider, known.dumped_in_module);
}

/// Determines the listeners and runs the callbacks. Returns false if a retry is needed. Not
/// inlined: programs without callbacks need less stack.
[[gnu::noinline]] bool update_listeners(eventlog_provider& provider) noexcept {
    // A callback that is cancelled would unwind through this library, which has no exceptions.
    const cancellation_block no_cancellation;
    listener_serials* const known = provider.notifications.serials.load(std::memory_order_acquire);
    if (known == nullptr) {
        return true;  // no memory: the callbacks are never called
    }
    const bool complete = find_listeners(provider, known->present);
    return run_callbacks(provider, *known) && complete;
}

/// Scans again after a scan that could not map the own gate. False if that fails.
[[gnu::noinline]] bool find_missed_subscriptions(eventlog_provider& provider) noexcept {
    if (coarse_monotonic_now() < provider.own_gate_not_before.load(std::memory_order_relaxed)) {
        return false;
    }
    const signal_guard guard;
    if (!is_own_process()) {
        return false;
    }
    const registry_lock lock(std::try_to_lock);
    if (!lock.held() || !provider.published) {
        return false;
    }
    attach_to_collectors(provider);
    directory where;
    error_text ignored;
    errno = 0;
    if (!where.open(own_directory(), if_missing::fail, ignored)) {
        note_attach(provider, false);
        back_off_own_gate(provider);
        return false;
    }
    // Dead ones are left to the next registration or consumer.
    if (attach_to_present(provider, where, entry_time::now).has_unreadable) {
        back_off_own_gate(provider);
        return false;
    }
    note_attach(provider, true);
    forget_missed_subscriptions(provider);
    return true;
}

/// Under the registry lock.
bool prepare_listener_serials(eventlog_provider& provider) noexcept {
    notification_state& watching = provider.notifications;
    if (watching.serials.load(std::memory_order_relaxed) == nullptr) {
        void* memory = allocate_permanently(sizeof(listener_serials));
        if (memory == nullptr) {
            return false;
        }
        watching.serials.store(new (memory) listener_serials, std::memory_order_release);
    }
    return true;
}

/// Requests notifications, starting with one about the present listeners. Under the registry lock.
void enable_notifications(eventlog_provider& provider) noexcept {
    if (!prepare_listener_serials(provider)) {
        return;  // no memory: the callbacks are never called
    }
    provider.wants_notifications = true;
    if (provider.published) {
        request_notifications(provider.place);
        // Without an own gate the next subscription sets the bit in the shared one.
        static_cast<void>(take_own_gate(provider));
    }
    set_notification_request(provider, true);
}

/// Returns whether no other thread runs the previous callback or is about to.
template <class Function>
bool replace(eventlog_provider& provider, callback<Function>& place, Function function,
             void* context) noexcept {
    const signal_guard guard;
    const registry_lock lock;
    if (!lock.held()) {
        return false;
    }
    place.replace(function, context);
    if (function != nullptr) {
        enable_notifications(provider);
    }
    const std::uint32_t holder =
        provider.notifications.running_thread.load(std::memory_order_seq_cst);
    return holder == 0 || holder == thread_id();
}

}  // namespace

std::uint32_t listening_slots(const eventlog_provider& provider) noexcept {
    std::uint32_t slots = 0;
    const std::uint32_t count = provider.event_count.load(std::memory_order_acquire);
    for (std::uint32_t event = 0; event < count; ++event) {
        slots |= provider.gate_word(event).load(std::memory_order_relaxed);
    }
    return slots & all_slot_bits;
}

void set_notification_request(eventlog_provider& provider, bool wanted) noexcept {
    const std::uint32_t count = provider.event_count.load(std::memory_order_acquire);
    std::uint32_t* const words = provider.gate.load(std::memory_order_relaxed);
    if (words == null_gate.data()) {
        return;  // a late thread: this gate belongs to no provider
    }
    if (!wanted && provider.reads_shared_gate.load(std::memory_order_acquire)) {
        return;  // the bits there are those of all providers
    }
    for (std::uint32_t event = 0; event < count; ++event) {
        const std::atomic_ref<std::uint32_t> word(words[event]);
        if (wanted) {
            word.fetch_or(EVENTLOG_GATE_NOTIFICATION, std::memory_order_release);
        } else {
            // Acquire: what consumers have stored before they set the bit. Release: a thread that
            // does not find it any more sees that replaced regions are unmapped.
            word.fetch_and(~EVENTLOG_GATE_NOTIFICATION, std::memory_order_acq_rel);
        }
    }
}

bool has_callbacks(const eventlog_provider& provider) noexcept {
    // A replacement in progress requests a notification next.
    const auto is_there = [](const auto& place) {
        typename std::remove_cvref_t<decltype(place)>::pair found;
        return place.read(found) && found.function != nullptr;
    };
    return is_there(provider.notifications.on_change) ||
           is_there(provider.notifications.on_new_listener);
}

std::uint32_t dump_target_mask(const eventlog_provider& provider) noexcept {
    // A dump is for its collector, whichever thread runs it.
    return dumping.provider == &provider
               ? dumping.slots
               : EVENTLOG_GATE_SUBSCRIPTIONS | kernel_bits | unexcluded_collectors();
}

void run_notifications(eventlog_provider& provider, callback_timing callbacks) noexcept {
    notification_state& watching = provider.notifications;
    if (provider.reads_shared_gate.load(std::memory_order_acquire)) {
        if (!take_own_gate_in_emit(provider)) {
            return;
        }
        // The shared gate's notification may be this process's own, about a region that could not
        // be unmapped: it is not settled before this function gets to the end.
        set_notification_request(provider, true);
    }
    if (provider.misses_subscriptions.load(std::memory_order_acquire) &&
        !find_missed_subscriptions(provider)) {
        return;
    }
    // In a child created without fork() the gate is the parent's, and the parent must see the bit.
    if (dumping.provider != nullptr ||
        watching.running_thread.load(std::memory_order_relaxed) != 0 ||
        (is_detach_backed_off() && !has_callbacks(provider)) || !is_own_process()) {
        return;
    }
    std::uint32_t holder = 0;
    const std::uint32_t own = thread_id();
    if (!watching.running_thread.compare_exchange_strong(holder, own, std::memory_order_seq_cst)) {
        return;
    }
    const errno_guard keeps_errno;
    // Before the scan: a listener that appears after the scan sets the bit again.
    answer_notification(provider);
    if (has_callbacks(provider) &&
        !(callbacks == callback_timing::now && update_listeners(provider))) {
        set_notification_request(provider, true);
    }
    // In a child that a callback has forked, the thread has another id now.
    for (std::uint32_t id : {own, thread_id()}) {
        static_cast<void>(
            watching.running_thread.compare_exchange_strong(id, 0, std::memory_order_seq_cst));
    }
}

}  // namespace eventlog::core

bool eventlog_provider_on_listeners_changed(eventlog_provider* provider,
                                            void (*callback)(void* context, unsigned listeners),
                                            void* context) {
    return provider == nullptr ||
           eventlog::core::replace(*provider, provider->notifications.on_change, callback, context);
}

bool eventlog_provider_on_new_listener(eventlog_provider* provider, void (*callback)(void* context),
                                       void* context) {
    return provider == nullptr ||
           eventlog::core::replace(*provider, provider->notifications.on_new_listener, callback,
                                   context);
}

void eventlog_provider_run_callbacks(eventlog_provider* provider) {
    if (provider != nullptr && provider->event_count.load(std::memory_order_acquire) != 0 &&
        (provider->gate_word(0).load(std::memory_order_acquire) & EVENTLOG_GATE_NOTIFICATION) !=
            0) {
        eventlog::core::run_notifications(*provider, eventlog::core::callback_timing::now);
    }
    if (provider != nullptr) {
        eventlog::core::write_batch_of(*provider);
        eventlog::core::poll_user_events_route(*provider);
    }
}
