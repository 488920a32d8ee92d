// SPDX-License-Identifier: MIT
//
// Emits an event after each instruction of an attach, as other threads do that run in between. None
// may be missing: each is recorded or counted as lost.
#include <ucontext.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "emit/emit.hpp"
#include "listener.hpp"
#include "platform/registry_lock.hpp"
#include "two_event_provider.hpp"

namespace {

using eventlog::dynamic_provider;
using eventlog::test::check_in_child;
using eventlog::test::event_listener;
using eventlog::test::make;
using eventlog::test::unattached_of;

#ifdef __x86_64__

constexpr greg_t trap_flag = 0x100;

const dynamic_provider* stepped = nullptr;
std::uint64_t emitted = 0;

// By address. A compare-exchange that is repeated until no event has come in between would not end.
constexpr std::uint8_t events_of_instruction_max = 4;
std::array<std::uint8_t, std::size_t{1} << 20U> events_of_instruction{};

bool may_emit_at(std::uint64_t address) {
    std::uint8_t& events = events_of_instruction[address % events_of_instruction.size()];
    if (events == events_of_instruction_max) {
        return false;
    }
    ++events;
    return true;
}

/// Whether the interrupted code holds the lock, as it does during an attach.
bool is_attaching() {
    const eventlog::core::registry_lock lock(std::try_to_lock);
    return !lock.held();
}

/// Runs without the flag, so that only the interrupted code is stepped.
void emit_in_between(int /*signal*/, siginfo_t* /*cause*/, void* context) {
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    if (!is_attaching() || !may_emit_at(static_cast<std::uint64_t>(registers[REG_RIP]))) {
        return;
    }
    ++emitted;
    static_cast<void>(stepped->emit(0));
    if (eventlog::core::is_attached(*stepped->handle(), 0)) {
        registers[REG_EFL] &= ~trap_flag;
    }
}

void start_steps() {
    struct sigaction action {};
    action.sa_sigaction = emit_in_between;
    action.sa_flags = SA_SIGINFO;
    ASSERT_EQ(::sigaction(SIGTRAP, &action, nullptr), 0);
    asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq %0, (%%rsp)\n\tpopfq\n\t"
                 "lea 128(%%rsp), %%rsp"
                 :
                 : "e"(trap_flag)
                 : "memory", "cc");
}

/// Emits an event, and others in each step until the provider is attached.
void check_steps(const dynamic_provider& provider, event_listener& listener) {
    stepped = &provider;
    start_steps();
    static_cast<void>(provider.emit(0));
    EXPECT_GT(emitted, 1000U);
    listener.poll();
    EXPECT_EQ(listener.records().size() + unattached_of("stepped_attach", 0), emitted + 1);
    EXPECT_EQ(listener.records().size(), 2U);  // that of the last step, and the one that attaches
}

TEST(stepped_attach, counts_all_events_before_the_first_attach) {
    check_in_child([] {
        const dynamic_provider provider = make("stepped_attach");
        event_listener listener("stepped_attach:first");
        check_steps(provider, listener);
    });
}

TEST(stepped_attach, counts_all_events_if_the_slot_had_another_subscription) {
    check_in_child([] {
        const dynamic_provider provider = make("stepped_attach");
        std::optional<event_listener> before("stepped_attach:first");
        EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
        before.reset();
        // Releases the region, so that the next event reaches no ring before the attach.
        EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
        event_listener listener("stepped_attach:first");
        check_steps(provider, listener);
    });
}

#endif

}  // namespace
