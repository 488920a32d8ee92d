// SPDX-License-Identifier: MIT
//
// The C library describes an errno without this library's locks: it translates the message, which
// may allocate, take locks and load files.
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <eventlog/abi.h>

#include "platform/error_text.hpp"
#include "provider/registered_provider.hpp"
#include "two_event_provider.hpp"

namespace {

std::atomic<bool> is_watched{false};
std::atomic<int> descriptions{0};
std::atomic<bool> was_lock_free{false};
std::thread other;  // takes the registry lock

void look_at_lock() {
    const auto has_got_it = std::make_shared<std::promise<void>>();
    std::future<void> ready = has_got_it->get_future();
    other = std::thread([has_got_it] {
        static_cast<void>(eventlog_provider_status(nullptr, nullptr, 0));
        has_got_it->set_value();
    });
    was_lock_free = ready.wait_for(std::chrono::seconds(5)) == std::future_status::ready;
}

}  // namespace

/// In place of the C library's.
extern "C" char* strerror(int error) noexcept {
    thread_local std::array<char, 128> text;
    if (is_watched.exchange(false)) {
        ++descriptions;
        look_at_lock();
    }
    return ::strerror_r(error, text.data(), text.size());
}

namespace {

/// Calls read_status(text, size) and returns the text.
template <class ReadStatus>
std::string text_of(const ReadStatus& read_status) {
    std::array<char, 256> text{};
    descriptions = 0;
    was_lock_free = false;
    is_watched = true;
    read_status(text.data(), text.size());
    is_watched = false;
    if (other.joinable()) {
        other.join();
    }
    EXPECT_EQ(descriptions, 1);
    EXPECT_TRUE(was_lock_free);
    return text.data();
}

/// A provider that cannot attach to a listener.
class unattached_provider {
  public:
    unattached_provider() {
        provider().gate_word(0).fetch_or(bit);
        provider().attach_error = EMFILE;
    }
    ~unattached_provider() {
        provider().attach_error = 0;
        provider().gate_word(0).fetch_and(~bit);
    }
    unattached_provider(const unattached_provider&) = delete;
    unattached_provider& operator=(const unattached_provider&) = delete;

    [[nodiscard]] eventlog_provider& provider() { return *provider_.handle(); }

  private:
    static constexpr std::uint32_t bit = 1U << 15U;
    eventlog::dynamic_provider provider_ = eventlog::test::make("status_of_lock");
};

TEST(provider_status, describes_errors_without_the_lock) {
    unattached_provider unattached;
    const std::string text = text_of([&](char* to, std::size_t size) {
        EXPECT_EQ(eventlog_provider_status(&unattached.provider(), to, size),
                  EVENTLOG_STATUS_INCOMPLETE);
    });
    EXPECT_TRUE(text.starts_with("Provider status_of_lock cannot attach to a subscription (" +
                                 std::string(std::strerror(EMFILE)) + "). Its"))
        << text;
}

TEST(provider_status, describes_errors_of_memory_route_without_the_lock) {
    unattached_provider unattached;
    const std::string text = text_of([&](char* to, std::size_t size) {
        EXPECT_EQ(eventlog_provider_route_status(&unattached.provider(), EVENTLOG_ROUTE_MEMORY,
                                                 nullptr, 0, to, size),
                  EVENTLOG_STATUS_INCOMPLETE);
    });
    EXPECT_NE(text.find(std::strerror(EMFILE)), std::string::npos) << text;
}

TEST(provider_status, describes_errors_of_missing_events_without_the_lock) {
    unattached_provider unattached;
    eventlog::core::user_events_route& route = unattached.provider().user_events;
    const auto status = route.status;
    const auto missing = route.missing;
    route.status = EVENTLOG_STATUS_INCOMPLETE;
    route.missing.count = 1;
    route.missing.first = 1;
    route.missing.why.set("%s", eventlog::core::system_error{ENOSPC});
    const std::string text = text_of([&](char* to, std::size_t size) {
        EXPECT_EQ(eventlog_provider_route_status(&unattached.provider(), EVENTLOG_ROUTE_USER_EVENTS,
                                                 nullptr, 0, to, size),
                  EVENTLOG_STATUS_INCOMPLETE);
    });
    route.status = status;
    route.missing = missing;
    EXPECT_EQ(text, "1 of 2 events of provider status_of_lock are not in tracefs. The first is "
                    "second: " +
                        std::string(std::strerror(ENOSPC)) + ".");
}

}  // namespace
