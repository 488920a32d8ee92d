// SPDX-License-Identifier: MIT
//
// A process detaches from a live subscription when its last matching provider unregisters.
#include <sys/syscall.h>

#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>
#include <eventlog/eventlog.hpp>

#include "detach_fixture.hpp"
#include "run_in_child.hpp"
#include "syscall_override.hpp"

namespace {

using namespace detach_test;
using eventlog::test::run_in_child;

// The definition of a temporary provider.
const eventlog_event_definition guest_events[] = {{.name = "visited"}};
constexpr eventlog_definition guest_definition{EVENTLOG_DEFINITION_SIZES, .name = "leaving_visitor",
                                               .events = guest_events, .event_count = 1};

bool visit() {
    const eventlog::dynamic_provider guest(guest_definition);
    return guest.emit(0) == EVENTLOG_ERROR_NONE;
}

TEST_F(detach, keeps_flight_recorder_that_holds_records) {
    event_listener listener("leaving_visitor:*", {128U << 10U, 2, true});
    ASSERT_TRUE(visit());
    EXPECT_EQ(mapped_regions(), 1);
}

TEST_F(detach, removes_subscriptions_without_matching_provider) {
    event_listener listener("leaving_visitor:*");
    ASSERT_TRUE(visit());
    EXPECT_EQ(mapped_regions(), 0);
    ASSERT_TRUE(visit());
    listener.poll();
    EXPECT_EQ(listener.received_names(), "visited visited");
}

TEST_F(detach, failed_attempt_leaves_subscription_unchanged) {
    event_listener listener("leaving_visitor:*");
    EXPECT_EQ(run_in_child([] {
                  // Without membarrier the library cannot detect sequences that still write to the
                  // region.
                  const bool is_forbidden = eventlog::test::deny_syscall(SYS_membarrier);
                  return is_forbidden && visit() && visit() ? 0 : 1;
              }),
              0);
    listener.poll();
    EXPECT_EQ(listener.received_names(), "visited visited");
}

/// A temporary provider, as in a shared object that is unloaded.
class guest {
  public:
    guest() : handle_(eventlog_raw_provider_register(&definition())) {}
    ~guest() { eventlog_raw_provider_unregister(handle_); }
    guest(const guest&) = delete;
    guest& operator=(const guest&) = delete;

    void emit() const {
        const std::uint64_t payload = 1;
        eventlog_emit_raw(handle_, 0, &payload, sizeof payload);
    }

  private:
    struct called {
        std::uint64_t number;
    };
    static const eventlog_raw_provider& definition() {
        static constinit eventlog::detail::gate_page gate{};
        static constexpr const auto& schema = eventlog::provider<"leaving_guest", called>::schema();
        static const eventlog_raw_provider made{
            sizeof made, 1, gate.words, sizeof gate, schema.data(), schema.size()};
        return made;
    }

    eventlog_provider* handle_;
};

TEST_F(detach, runs_when_last_matching_provider_unregisters) {
    std::optional<guest> visitor(std::in_place);
    event_listener listener("leaving_guest:*");
    visitor->emit();
    EXPECT_EQ(mapped_regions(), 1);
    visitor.reset();
    EXPECT_EQ(mapped_regions(), 0);
    // The next provider attaches again.
    visitor.emplace();
    EXPECT_EQ(mapped_regions(), 1);
    visitor->emit();
    visitor.reset();
    EXPECT_EQ(listener.received_names(), "called called");
}

TEST_F(detach, does_not_run_when_other_provider_unregisters) {
    std::optional<guest> visitor(std::in_place);
    event_listener listener("leaving_*:*");
    visitor->emit();
    detach_provider::emit(wanted{1});
    visitor.reset();
    EXPECT_EQ(mapped_regions(), 1);
    detach_provider::emit(wanted{2});
    EXPECT_EQ(listener.received_names(), "called wanted wanted");
}

TEST_F(detach, is_deferred_to_other_provider_while_thread_uses_region) {
    std::optional<guest> visitor(std::in_place);
    event_listener listener("leaving_guest:*");
    visitor->emit();
    {
        const slot_user user(slot_of(listener), slot_of(listener).mapping.load());
        visitor.reset();
        EXPECT_EQ(mapped_regions(), 1);
    }
    EXPECT_TRUE(at_some_emit(are_all_detached));
}

}  // namespace
