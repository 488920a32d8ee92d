// SPDX-License-Identifier: MIT
//
// What other threads and processes do during an attach.
#include <fcntl.h>
#include <linux/eventlog.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "listener.hpp"
#include "process_files.hpp"
#include "scratch.hpp"
#include "shm/directory.hpp"
#include "shm/exact_io.hpp"
#include "syscall_override.hpp"
#include "two_event_provider.hpp"

namespace {

using eventlog::dynamic_provider;
using eventlog::test::check_in_child;
using eventlog::test::event_listener;
using eventlog::test::eventlog_directory;
using eventlog::test::make;
using eventlog::test::own_gate_of;
using eventlog::test::unattached_of;
using eventlog::test::wait_for_retry;
using eventlog::test::watch_syscall;

std::uint64_t refused_by(event_listener& listener) {
    eventlog_region header{};
    EXPECT_TRUE(eventlog::core::read_exactly(listener.source().file(), &header, sizeof header, 0));
    return header.providers_refused;
}

/// As of a process that always takes the room first.
void take_room_of_schemas(int file) {
    constexpr auto offset = static_cast<off_t>(offsetof(eventlog_region, schemas_used));
    decltype(eventlog_region::schemas_used) used{};
    EXPECT_EQ(::pread(file, &used, sizeof used, offset), static_cast<ssize_t>(sizeof used));
    used += 8;
    EXPECT_EQ(::pwrite(file, &used, sizeof used, offset), static_cast<ssize_t>(sizeof used));
}

void check_contended_room() {
    const dynamic_provider provider = make("contended");
    event_listener first("contended:first");
    EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
    // The provider has a gate of its own now, so the second listener takes an attach only.
    event_listener second("contended:first");
    const std::uint64_t refused = refused_by(second);
    // Both outlive the other variables.
    static std::atomic<bool> competes{true};
    const int file = ::fcntl(second.source().file().get(), F_DUPFD_CLOEXEC, 0);
    ASSERT_TRUE(watch_syscall(SYS_fallocate, [file] {
        if (competes) {
            take_room_of_schemas(file);
        }
    }));
    EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(refused_by(second), refused);
    EXPECT_EQ(unattached_of("contended", 1), 1U);
    EXPECT_EQ(own_gate_of(::getpid(), "contended"), (std::vector<std::uint32_t>{3, 0}));
    competes = false;
    wait_for_retry();
    EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(second.received_names(), "first");
    EXPECT_EQ(first.received_names(), "first first first");
}

TEST(interrupted_attach, is_repeated_if_other_processes_take_the_room) {
    check_in_child(check_contended_room);
}

/// As a program that closes all its descriptors and opens files of its own. Returns whether all of
/// these are open after an attach.
bool keeps_files(const dynamic_provider& provider) {
    if (::syscall(SYS_close_range, 3U, ~0U, 0U) != 0) {
        return false;
    }
    std::array<int, 64> files{};
    for (int& file : files) {
        file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    static_cast<void>(provider.emit(0));
    for (const int file : files) {
        if (::fcntl(file, F_GETFD) < 0) {
            return false;
        }
    }
    return true;
}

void check_copied_process() {
    const dynamic_provider attaching = make("copied_while_attaching");
    const dynamic_provider other = make("copied");
    const event_listener first("copied*:first");
    EXPECT_EQ(attaching.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(other.emit(0), EVENTLOG_ERROR_NONE);
    event_listener second("copied*:first");
    static std::atomic<bool> is_copied{false};  // outlives the other variables
    int status = -1;
    ASSERT_TRUE(watch_syscall(SYS_fallocate, [&] {
        if (is_copied.exchange(true)) {
            return;
        }
        const long child = ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
        if (child == 0) {
            ::_exit(keeps_files(other) ? 0 : 1);
        }
        EXPECT_EQ(::waitpid(static_cast<pid_t>(child), &status, 0), child);
    }));
    EXPECT_EQ(attaching.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_TRUE(is_copied);
    EXPECT_EQ(status, 0);
    // The child has attached, so that its attach opened the subscription.
    EXPECT_EQ(second.received_names(), "first first");
}

TEST(interrupted_attach, leaves_the_files_of_a_copy_of_the_process) {
    check_in_child(check_copied_process);
}

/// The file is removed by hand before the first such system call of the attach, and another
/// subscription gets its slot.
void check_removed_file(unsigned number) {
    const dynamic_provider provider = make("removed_file");
    event_listener first("removed_file:first");
    EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
    event_listener old("removed_file:*");
    std::optional<event_listener> next;
    static std::atomic<bool> is_removed{false};  // outlives the other variables
    ASSERT_TRUE(watch_syscall(number, [&] {
        if (is_removed.exchange(true)) {
            return;
        }
        EXPECT_TRUE(
            std::filesystem::remove(eventlog_directory() + "/subscriptions/" +
                                    eventlog::core::slot_file_name(old.source().slot()).data()));
        next.emplace("removed_file:first");
        EXPECT_EQ(next->source().slot(), old.source().slot());
    }));
    EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
    ASSERT_TRUE(is_removed && next);
    EXPECT_EQ(provider.emit(1), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(own_gate_of(::getpid(), "removed_file").at(1) & EVENTLOG_GATE_SUBSCRIPTIONS, 0U);
    EXPECT_EQ(next->received_names(), "first");
    EXPECT_EQ(first.received_names(), "first first");
}

/// The first read is that of the header, behind the opening of the file.
TEST(interrupted_attach, finds_successor_of_file_that_is_removed_when_it_is_open) {
    check_in_child([] { check_removed_file(SYS_pread64); });
}

TEST(interrupted_attach, finds_successor_of_file_that_is_removed_when_it_is_mapped) {
    check_in_child([] { check_removed_file(SYS_fallocate); });
}

/// The provider ignores a subscription whose file is too small, and its event reaches the other
/// one.
void check_ignored(const dynamic_provider& provider, event_listener& first) {
    first.clear_records();
    EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(own_gate_of(::getpid(), "truncated").at(0) & EVENTLOG_GATE_SUBSCRIPTIONS, 1U);
    EXPECT_EQ(first.received_names(), "first");
    wait_for_retry();
}

void truncate_subscription(event_listener& listener, std::uint64_t size) {
    EXPECT_EQ(::ftruncate(listener.source().file().get(), static_cast<off_t>(size)), 0);
}

void check_truncated_file() {
    const dynamic_provider provider = make("truncated");
    event_listener first("truncated:first");
    EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(first.received_names(), "first");
    const eventlog::core::region_geometry& geometry = first.source().geometry();
    for (const std::uint64_t size :
         {std::uint64_t{0}, std::uint64_t{64}, geometry.rings_offset, geometry.providers_offset,
          geometry.buffers_offset, geometry.total_size - 1}) {
        event_listener truncated("truncated:first");
        truncate_subscription(truncated, size);
        check_ignored(provider, first);
    }
}

TEST(interrupted_attach, ignores_truncated_file) {
    check_in_child(check_truncated_file);
}

void check_file_truncated_during_attach() {
    const dynamic_provider provider = make("truncated");
    event_listener first("truncated:first");
    EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(first.received_names(), "first");
    event_listener second("truncated:first");
    static std::atomic<bool> is_truncated{false};  // outlives the other variables
    // Of the header, behind the opening of the file, whose size has been checked.
    ASSERT_TRUE(watch_syscall(SYS_pread64, [&] {
        if (!is_truncated.exchange(true)) {
            truncate_subscription(second, 0);
        }
    }));
    check_ignored(provider, first);
    EXPECT_TRUE(is_truncated);
}

TEST(interrupted_attach, ignores_file_that_is_truncated_when_it_is_open) {
    check_in_child(check_file_truncated_during_attach);
}

}  // namespace
