// SPDX-License-Identifier: MIT
#include "own_bursts.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <string_view>
#include <thread>

#include "burst.hpp"
#include "events.hpp"
#include "failure.hpp"
#include "wanted_events.hpp"

namespace bench {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds patience{10};

std::atomic<std::uint64_t> emitted_events{0};

template <class Provider, class Event>
[[gnu::noinline]] std::chrono::duration<double, std::nano> time_burst() {
    const std::string_view reason = opaque_reason();
    const steady_clock::time_point begin = steady_clock::now();
    for (std::uint64_t i = 0; i < burst; ++i) {
        const counted_fields fields = fields_of(i);
        Provider::emit(Event{fields.sequence, fields.bytes, fields.window, reason});
    }
    return steady_clock::now() - begin;
}

struct named_event {
    std::string_view name;
    std::chrono::duration<double, std::nano> (*time_burst)();
    bool (*enabled)() noexcept;
};

template <class Provider, class Event>
constexpr named_event make_event(std::string_view name) {
    return {name, time_burst<Provider, Event>,
            []() noexcept { return Provider::template enabled<Event>(); }};
}

constexpr std::string_view own_event = "retransmission";
constexpr std::array<named_event, 6> events{
    make_event<recorded, retransmission>(own_event),
    make_event<wanted, by_one>("by_one"),
    make_event<wanted, by_two>("by_two"),
    make_event<wanted, by_four>("by_four"),
    make_event<wanted, by_eight>("by_eight"),
    make_event<wanted, by_sixteen>("by_sixteen"),
};

const named_event& find(const std::string& name) {
    for (const named_event& event : events) {
        if (event.name == name) {
            return event;
        }
    }
    throw failure("There is no event '{}'.", name);
}

}  // namespace

stay_on_cpu::stay_on_cpu(std::size_t cpu) noexcept {
    static_cast<void>(::sched_getaffinity(0, sizeof before_, &before_));
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    // If that fails, the figures vary slightly more.
    static_cast<void>(::sched_setaffinity(0, sizeof only, &only));
}

stay_on_cpu::~stay_on_cpu() {
    static_cast<void>(::sched_setaffinity(0, sizeof before_, &before_));
}

std::vector<std::size_t> usable_cpus() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    static_cast<void>(::sched_getaffinity(0, sizeof allowed, &allowed));
    std::vector<std::size_t> cpus;
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &allowed)) {
            cpus.push_back(cpu);
        }
    }
    return cpus;
}

answer emit_burst(const std::string& event) {
    const named_event& chosen = find(event);
    const stay_on_cpu here(usable_cpus().back());
    compute_for(pause);
    const double took = chosen.time_burst().count();
    if (chosen.name == own_event) {
        count_emitted(burst);
    }
    return {took / static_cast<double>(burst)};
}

void wait_for_listener(const std::string& event) {
    const named_event& chosen = find(event);
    const auto end = steady_clock::now() + patience;
    while (!chosen.enabled()) {
        if (steady_clock::now() > end) {
            throw failure("{} has no listener.", event);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
}

answer emitted() {
    return {static_cast<double>(emitted_events.load(std::memory_order_relaxed))};
}

void count_emitted(std::uint64_t count) noexcept {
    emitted_events.fetch_add(count, std::memory_order_relaxed);
}

answer counters_of_wanted() {
    const eventlog_counters counted = wanted::status().routes[EVENTLOG_ROUTE_MEMORY].counters;
    const std::uint64_t lost = counted.lost_full + counted.lost_too_large + counted.lost_busy +
                               counted.lost_unattached + counted.lost_refused;
    return {static_cast<double>(counted.written), static_cast<double>(lost)};
}

}  // namespace bench
