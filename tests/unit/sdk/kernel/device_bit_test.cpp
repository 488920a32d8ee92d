// SPDX-License-Identifier: MIT
//
// The kernel module's gate bit after the module's file, its owner, was closed. A socket replaces
// the device, so the test runs on any kernel; tests/vm tests the module itself.
#include <linux/eventlog.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "fake_kernel_file.hpp"
#include "kernel/user_events_register.hpp"
#include "kernel/user_events_route.hpp"
#include "platform/registry_lock.hpp"
#include "platform/unique_fd.hpp"
#include "provider/registered_provider.hpp"

namespace {

using namespace eventlog::core;

constexpr std::uint32_t in_module = 1U << EVENTLOG_GATE_DEVICE_BIT;
constexpr std::uint32_t in_user_events = 1U << EVENTLOG_GATE_USER_EVENTS_BIT;
constexpr std::uint32_t in_slot = 1U << 3U;

constexpr std::uint32_t first = 0;
constexpr std::uint32_t second = 1;

/// A provider with a listener through the module.
class device_bit : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(provider.error(), EVENTLOG_ERROR_NONE) << provider.error_text();
        if (route().file.load() >= 0) {
            GTEST_SKIP() << "this kernel has the real file";
        }
        std::array<int, 2> ends{};
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
        kernel_end = unique_fd(ends[0]);
        file = unique_fd(ends[1]);
        fake_kernel::set_route_file(route(), file.get());
        fake_kernel::prepare_route(handle());
        route().expected = true;
        route().is_module = true;
        for (const std::uint32_t event : {first, second}) {
            route().numbers[event] = event + 1;
            handle().gate_word(event).fetch_or(in_module);
        }
    }
    void TearDown() override {
        if (IsSkipped()) {
            return;
        }
        const registry_lock lock;
        route().expected = false;
        route().file = -1;
        route().not_before = user_events_route::never;
        route().is_module = false;
        for (const std::uint32_t event : {first, second}) {
            route().numbers[event] = user_events_route::not_registered;
            handle().gate_word(event) = 0;
        }
    }

    eventlog_provider& handle() { return *provider.handle(); }
    user_events_route& route() { return handle().user_events; }
    std::uint32_t gate(std::uint32_t event) { return handle().gate_word(event).load(); }

    static constexpr eventlog_field_definition fields[] = {
        {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_32}};
    static constexpr eventlog_event_definition events[] = {
        {.name = "first", .fields = fields, .field_count = 1},
        {.name = "second", .fields = fields, .field_count = 1}};
    eventlog::dynamic_provider provider{
        {EVENTLOG_DEFINITION_SIZES, .name = "listened_to", .events = events, .event_count = 2}};
    unique_fd kernel_end;
    unique_fd file;
};

TEST_F(device_bit, is_cleared_by_first_event_after_file_removal) {
    file = unique_fd();
    for (std::uint32_t number = 0; number < 3; ++number) {
        provider.emit(first, number);
        provider.emit(second, number);
    }
    EXPECT_FALSE(provider.enabled(first));
    EXPECT_FALSE(provider.enabled(second));
    EXPECT_EQ(provider.status().routes[EVENTLOG_ROUTE_USER_EVENTS].counters.lost_unattached, 1U);
}

TEST_F(device_bit, clearing_keeps_other_bits) {
    handle().gate_word(first).fetch_or(in_slot | in_user_events);
    file = unique_fd();
    const registry_lock lock;
    open_user_events_route(handle());
    EXPECT_EQ(gate(first), in_slot | in_user_events);
}

TEST_F(device_bit, is_kept_while_file_is_open) {
    const registry_lock lock;
    open_user_events_route(handle());
    EXPECT_EQ(gate(first), in_module);
}

TEST_F(device_bit, is_kept_for_open_file_without_device_node) {
    const registry_lock lock;
    open_user_events_route(handle());
    EXPECT_EQ(route().status, EVENTLOG_STATUS_OK) << route().status_text.text().c_str();
}

TEST_F(device_bit, is_cleared_if_file_belongs_to_another_process) {
    file = unique_fd();
    provider.emit(first, 1U);
    EXPECT_FALSE(provider.enabled(first));
    // As the module does for its next listener.
    handle().gate_word(first).fetch_or(in_module);
    EXPECT_NE(route().not_before.load(), user_events_route::never);
    route().not_before = 0;  // a second later
    provider.emit(first, 2U);
    EXPECT_FALSE(provider.enabled(first));
}

TEST_F(device_bit, does_not_affect_user_events_bit) {
    route().is_module = false;
    handle().gate_word(first) = in_user_events;
    file = unique_fd();
    const registry_lock lock;
    open_user_events_route(handle());
    EXPECT_EQ(gate(first), in_user_events);
}

TEST_F(device_bit, is_cleared_if_event_registration_fails) {
    route().numbers[first] = user_events_route::not_registered;
    const registry_lock lock;
    user_events_register_result result;
    register_user_events(handle(), file.get(), result);  // a socket rejects the ioctl
    EXPECT_EQ(result.missing.count, 1U);
    EXPECT_EQ(gate(first), 0U);
    EXPECT_EQ(gate(second), in_module);
}

TEST_F(device_bit, is_cleared_on_unregister_after_file_removal) {
    file = unique_fd();
    const registry_lock lock;
    close_user_events_route(handle());
    EXPECT_EQ(gate(first), 0U);
    EXPECT_EQ(gate(second), 0U);
}

}  // namespace
