// SPDX-License-Identifier: MIT
#include "attention.hpp"

#include <signal.h>

#include <bit>
#include <cerrno>

#include <eventlog/abi.h>

#include "attach.hpp"
#include "emit.hpp"
#include "process.hpp"
#include "provider_file.hpp"
#include "registered_provider.hpp"
#include "subscription_slots.hpp"

namespace eventlog::core {
namespace {

struct dump_in_progress {
    const eventlog_provider* provider = nullptr;
    std::uint32_t slots = 0;
};

[[gnu::tls_model("initial-exec")]] constinit thread_local dump_in_progress dumping{};

/// What the calling thread emits while it lives goes to one subscription. What its signal handlers
/// emit would, too, so they wait.
class dump_to {
  public:
    dump_to(const eventlog_provider& provider, unsigned slot) noexcept {
        sigset_t all;
        sigfillset(&all);
        static_cast<void>(::pthread_sigmask(SIG_SETMASK, &all, &signals_));
        dumping = {&provider, 1U << slot};
    }
    ~dump_to() {
        dumping = {};
        static_cast<void>(::pthread_sigmask(SIG_SETMASK, &signals_, nullptr));
    }
    dump_to(const dump_to&) = delete;
    dump_to& operator=(const dump_to&) = delete;

  private:
    sigset_t signals_{};
    longer_way no_shortcut_;
};

std::uint32_t listening_slots(const eventlog_provider& provider) noexcept {
    std::uint32_t slots = 0;
    const std::uint32_t count = provider.event_count.load(std::memory_order_acquire);
    for (std::uint32_t event = 0; event < count; ++event) {
        slots |= provider.gate_word(event).load(std::memory_order_relaxed);
    }
    return slots & EVENTLOG_GATE_SUBSCRIPTIONS;
}

/// Attaches to all who listen and notes their serials, 0 where nobody does. Returns false if it has
/// to be tried again.
bool find_listeners(eventlog_provider& provider,
                    std::array<std::uint64_t, EVENTLOG_SUBSCRIPTIONS_MAX>& serials) noexcept {
    bool complete = true;
    const std::uint32_t slots = listening_slots(provider);
    for (unsigned slot = 0; slot < EVENTLOG_SUBSCRIPTIONS_MAX; ++slot) {
        serials[slot] = 0;
        if ((slots & 1U << slot) == 0) {
            continue;
        }
        if (is_attached(provider, slot) || attach_now(provider, slot)) {
            serials[slot] = provider.attachments[slot].serial.load(std::memory_order_relaxed);
        } else {
            // Bits that nobody stands behind have been cleared; where they are left it is too
            // early.
            complete = complete && (listening_slots(provider) & 1U << slot) == 0;
        }
    }
    return complete;
}

void dump_state(eventlog_provider& provider, unsigned slot, std::uint64_t serial) noexcept {
    const watcher::dump_callback dump = provider.watched_by.on_dump.load(std::memory_order_acquire);
    if (dump == nullptr) {
        return;
    }
    provider.watched_by.dumped[slot] = serial;
    const dump_to requester(provider, slot);
    dump(provider.watched_by.dump_context.load(std::memory_order_relaxed));
    if (provider.end_of_dump != no_index) {
        eventlog_emit(&provider, provider.end_of_dump, nullptr, 0);
    }
}

void call_back(eventlog_provider& provider,
               const std::array<std::uint64_t, EVENTLOG_SUBSCRIPTIONS_MAX>& serials) noexcept {
    watcher& watching = provider.watched_by;
    const auto change = watching.on_change.load(std::memory_order_acquire);
    if (change != nullptr && serials != watching.told) {
        watching.told = serials;
        unsigned listeners = 0;
        for (const std::uint64_t serial : serials) {
            listeners += serial != 0 ? 1 : 0;
        }
        change(watching.change_context.load(std::memory_order_relaxed), listeners);
    }
    for (unsigned slot = 0; slot < EVENTLOG_SUBSCRIPTIONS_MAX; ++slot) {
        if (serials[slot] != 0 && serials[slot] != watching.dumped[slot]) {
            dump_state(provider, slot, serials[slot]);
        }
    }
}

/// From now on we are told, beginning with those who are there already.
void begin_watching(eventlog_provider& provider) noexcept {
    const registry_lock lock;
    provider.attention = true;
    directory where;
    error_text ignored;
    provider_file own;
    if (provider.published && where.open(own_directory(), if_missing::fail, ignored) &&
        own.open(where, provider.file_name.data(), ignored)) {
        own.ask_for_attention();
    }
    set_attention(provider, true);
}

}  // namespace

void set_attention(eventlog_provider& provider, bool wanted) noexcept {
    const std::uint32_t count = provider.event_count.load(std::memory_order_acquire);
    for (std::uint32_t event = 0; event < count; ++event) {
        if (wanted) {
            provider.gate_word(event).fetch_or(EVENTLOG_GATE_ATTENTION, std::memory_order_relaxed);
        } else {
            provider.gate_word(event).fetch_and(~EVENTLOG_GATE_ATTENTION,
                                                std::memory_order_acquire);
        }
    }
}

std::uint32_t addressed_bits(const eventlog_provider& provider) noexcept {
    return dumping.provider == &provider
               ? dumping.slots
               : EVENTLOG_GATE_SUBSCRIPTIONS | 1U << EVENTLOG_GATE_USER_EVENTS_BIT;
}

void attend(eventlog_provider& provider) noexcept {
    watcher& watching = provider.watched_by;
    if (dumping.provider != nullptr ||
        watching.attending.exchange(true, std::memory_order_acquire)) {
        return;
    }
    const int saved = errno;
    // Cleared first, looked at second: who comes after we looked sets it again.
    set_attention(provider, false);
    std::array<std::uint64_t, EVENTLOG_SUBSCRIPTIONS_MAX> serials{};
    const bool complete = find_listeners(provider, serials);
    call_back(provider, serials);
    if (!complete) {
        set_attention(provider, true);
    }
    watching.attending.store(false, std::memory_order_release);
    errno = saved;
}

}  // namespace eventlog::core

void eventlog_provider_on_change(eventlog_provider* provider,
                                 void (*callback)(void* context, unsigned listeners),
                                 void* context) {
    if (provider != nullptr) {
        provider->watched_by.change_context.store(context, std::memory_order_relaxed);
        provider->watched_by.on_change.store(callback, std::memory_order_release);
        eventlog::core::begin_watching(*provider);
    }
}

void eventlog_provider_on_dump(eventlog_provider* provider, void (*callback)(void* context),
                               void* context) {
    if (provider != nullptr) {
        provider->watched_by.dump_context.store(context, std::memory_order_relaxed);
        provider->watched_by.on_dump.store(callback, std::memory_order_release);
        eventlog::core::begin_watching(*provider);
    }
}

void eventlog_provider_poll(eventlog_provider* provider) {
    if (provider != nullptr && provider->event_count.load(std::memory_order_acquire) != 0 &&
        (provider->gate_word(0).load(std::memory_order_relaxed) & EVENTLOG_GATE_ATTENTION) != 0) {
        eventlog::core::attend(*provider);
    }
    if (provider != nullptr) {
        eventlog::core::retry_user_events_route(*provider);
    }
}
