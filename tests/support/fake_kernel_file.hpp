// SPDX-License-Identifier: MIT
//
// A provider whose user_events file is a socket: tests of the written bytes run on any kernel.
// tests/vm tests the kernel itself.
#pragma once

#include <linux/eventlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "platform/registry_lock.hpp"
#include "platform/unique_fd.hpp"
#include "provider/own_gate.hpp"
#include "provider/registered_provider.hpp"

namespace fake_kernel {

using namespace eventlog::core;

inline constexpr std::uint32_t in_kernel = 1U << EVENTLOG_GATE_USER_EVENTS_BIT;
inline constexpr std::uint32_t number = 5;  // the kernel's number of the event

inline constexpr std::uint32_t plain = 0;
inline constexpr std::uint32_t wordy = 1;
inline constexpr std::uint32_t bare = 2;

/// Makes this file the route's descriptor.
inline void set_route_file(user_events_route& route, int file) {
    struct stat status {};
    ASSERT_EQ(::fstat(file, &status), 0);
    route.device = status.st_dev;
    route.inode = status.st_ino;
    route.file = file;
}

/// Gives the provider what the route prepares before the first event is registered.
inline void prepare_route(eventlog_provider& provider) {
    const registry_lock lock;
    ASSERT_TRUE(take_own_gate(provider));
    ASSERT_TRUE(provider.user_events.numbers.allocate() &&
                provider.user_events.status_locations.allocate());
}

/// A provider with an enabled event and a file that the test chooses.
class fake_kernel_file : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(provider.error(), EVENTLOG_ERROR_NONE) << provider.error_text();
        if (route().file.load() >= 0) {
            GTEST_SKIP() << "this kernel has the real file";
        }
        std::array<int, 2> ends{};
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends.data()), 0);
        kernel_end = unique_fd(ends[0]);
        attach_file(unique_fd(ends[1]));
        prepare_route(handle());
        route().expected = true;
        for (const std::uint32_t event : {plain, wordy, bare}) {
            route().numbers[event] = number + 1;
            handle().gate_word(event).fetch_or(in_kernel);
        }
    }
    void TearDown() override {
        if (IsSkipped()) {
            return;
        }
        // No enable words are registered, so none may be unregistered.
        route().expected = false;
        route().file = -1;
        route().not_before = user_events_route::never;
        for (const std::uint32_t event : {plain, wordy, bare}) {
            route().status_locations[event] = 0;
            route().numbers[event] = user_events_route::not_registered;
            handle().gate_word(event).fetch_and(~in_kernel);
        }
    }

    eventlog_provider& handle() { return *provider.handle(); }
    user_events_route& route() { return handle().user_events; }

    /// Makes this file the route's descriptor.
    void attach_file(unique_fd opened) {
        file = std::move(opened);
        set_route_file(route(), file.get());
    }

    /// The bytes of the next write; empty: there was none.
    std::string next_write() {
        std::vector<char> bytes(std::size_t{1} << 17U);
        const ssize_t size = ::read(kernel_end.get(), bytes.data(), bytes.size());
        return {bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
    }

    [[nodiscard]] eventlog_counters counters() const {
        return provider.status().routes[EVENTLOG_ROUTE_USER_EVENTS].counters;
    }

    static constexpr eventlog_field_definition plain_fields[] = {
        {.name = "first", .type = EVENTLOG_TYPE_UNSIGNED_32}};
    static constexpr eventlog_field_definition wordy_fields[] = {
        {.name = "first", .type = EVENTLOG_TYPE_TEXT},
        {.name = "second", .type = EVENTLOG_TYPE_TEXT}};
    static constexpr eventlog_event_definition events[] = {
        {.name = "plain", .fields = plain_fields, .field_count = 1},
        {.name = "wordy", .fields = wordy_fields, .field_count = 2},
        {.name = "bare"}};
    eventlog::dynamic_provider provider{
        {EVENTLOG_DEFINITION_SIZES, .name = "written", .events = events, .event_count = 3}};
    unique_fd kernel_end;
    unique_fd file;
};

template <class... Words>
[[nodiscard]] std::string bytes_of(Words... words) {
    std::string bytes;
    for (const std::uint32_t word : {words...}) {
        std::array<char, sizeof word> raw{};
        std::memcpy(raw.data(), &word, sizeof word);
        bytes.append(raw.data(), raw.size());
    }
    return bytes;
}

}  // namespace fake_kernel
