// SPDX-License-Identifier: MIT
//
// Gates in memory: faults, pages, unloaded libraries, stale bits.
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <eventlog/dynamic_provider.hpp>

#include "steps.hpp"
#include "user_events_abi.h"
#include "user_events_lifecycle/lives.hpp"
#include "user_events_lifecycle/scenarios.hpp"

namespace lifecycle {

void run_fault() {
    const eventlog_field_definition fields[] = {
        {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_64}};
    const eventlog_event_definition events[] = {
        {.name = "event", .fields = fields, .field_count = 1}};
    const eventlog::dynamic_provider provider(
        {EVENTLOG_DEFINITION_SIZES, .name = "faulty", .events = events, .event_count = 1});
    void* nowhere = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    step("there is memory without access", nowhere != MAP_FAILED);
    set_file(EVENTS "eventlog_faulty_event/enable", "1");
    step("the gate opens", wait_until([&] { return provider.enabled(0); }));
    const eventlog_part missing{nowhere, 8};
    eventlog_emit_raw_parts(provider.handle(), 0, &missing, 1, 0);
    const auto counters = [&] {
        return provider.status().routes[EVENTLOG_ROUTE_USER_EVENTS].counters;
    };
    step("it is refused, and counted", counters().lost_refused == 1);
    provider.emit(0, 9U);
    step("the next one is written", counters().written == 1);
    set_file(EVENTS "eventlog_faulty_event/enable", "0");
    step("the trace has that one", trace_contains("eventlog_faulty_event: number=0x9 (9)"));
}

void run_absent_page() {
    const std::vector<void*> pages = find_gate_pages();
    step("the gate is in shared memory", pages.size() == 1);
    void* page = pages.front();
    for (const bool on : {true, false, true, false}) {
        step("its page is dropped", ::madvise(page, 4096, MADV_DONTNEED) == 0);
        set_event_enabled(on);
        lives::emit(mark{on ? 1U : 2U});
    }
    step("each enabled event is written", route().counters.written == 2);
}

namespace {

/// The page of status bits, on kernels that have one.
std::vector<void*> find_status_pages() {
    return find_mapped("user_events_status");
}

/// Enables and disables an event repeatedly, and checks that the kernel changes no word of the
/// page: it sets no bit and clears none.
void expect_untouched(void* page, std::uint32_t pattern, const char* enable, void* own_gate) {
    auto* const words = static_cast<volatile std::uint32_t*>(page);
    std::fill_n(words, 1024, pattern);
    const auto untouched = [&] {
        return std::all_of(words, words + 1024,
                           [&](std::uint32_t word) { return word == pattern; });
    };
    for (const char* state : {"1", "0", "1", "0"}) {
        set_file(enable, state);
        lives::run_callbacks();
        // Checked after each write: the next one would undo a change.
        step("nothing is written there", untouched());
        // The kernel's work queue is in order: after this work it has done the earlier work.
        for (const bool on : {true, false}) {
            step("the kernel's queue is used", ::madvise(own_gate, 4096, MADV_DONTNEED) == 0);
            set_event_enabled(on);
        }
        step("nothing is written there later", untouched());
    }
}

}  // namespace

void run_unloading(const char* plugin) {
    step("we have a gate", lives::status().code == EVENTLOG_STATUS_OK);
    const std::vector<void*> own = find_gate_pages();
    step("there is one gate", own.size() == 1);
    const std::vector<void*> own_status = find_status_pages();
    step("the page of status bits is mapped if there is one",
         own_status.size() == (kernel_has_status_page() ? 1U : 0U));
    void* loaded = ::dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    step("a plugin is loaded", loaded != nullptr);
    const std::vector<void*> pages = find_gate_pages();
    step("it has a separate gate", pages.size() == 2);
    void* const gate = pages[0] == own[0] ? pages[1] : pages[0];
    const std::string name = name_of("plugin_call");
    const std::string enable = EVENTS + name + "/enable";
    set_file(enable.c_str(), "1");
    step("the kernel opens it",
         wait_until([&] { return *static_cast<const volatile std::uint32_t*>(gate) >> 31U == 1; }));
    set_file(enable.c_str(), "0");
    if (kernel_has_status_page()) {
        step("a second library maps a page of status bits, too", find_status_pages().size() == 2);
    }
    step("the plugin is unloaded", ::dlclose(loaded) == 0);
    step("its gate is unmapped", find_gate_pages() == own);
    step("so is its page of status bits", find_status_pages() == own_status);
    step("its address is free, and is mapped anew",
         ::mmap(gate, 4096, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == gate);
    expect_untouched(gate, 0, enable.c_str(), own[0]);
    expect_untouched(gate, ~0U, enable.c_str(), own[0]);
    if (kernel_has_status_page()) {
        const std::string removal = "-:user_events/" + name;
        set_file(TRACING "dynamic_events", removal.c_str());
        step("nothing refers to its event", name_of("plugin_call").empty());
    }
}

namespace {

/// The bit of a gate that the kernel sets.
constexpr std::uint32_t kernel_bit = 1U << 31U;

}  // namespace

void run_stale_gate() {
    const std::vector<void*> pages = find_gate_pages();
    step("the gate is in shared memory", pages.size() == 1);
    const std::atomic_ref<std::uint32_t> word(*static_cast<std::uint32_t*>(pages.front()));
    step("there is no listener", !lives::enabled<mark>());
    word.fetch_or(kernel_bit);
    step("the gate claims a listener", lives::enabled<mark>());
    lives::emit(mark{60});
    step("nothing is written", route().counters.written == 0);
    step("that counts as no loss", is_nothing_lost());
    word.fetch_and(~kernel_bit);
    set_event_enabled(true);
    lives::emit(mark{61});
    step("the next one is written", route().counters.written == 1);
    set_event_enabled(false);
}

}  // namespace lifecycle
