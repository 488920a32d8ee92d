// SPDX-License-Identifier: MIT
//
// The writes to user_events, and the handling of failed ones.
#include "kernel/user_events_write.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "fake_kernel_file.hpp"
#include "kernel/user_events_abi.hpp"
#include "kernel/user_events_device.hpp"
#include "kernel/user_events_route.hpp"
#include "platform/registry_lock.hpp"
#include "platform/unique_fd.hpp"
#include "provider/registered_provider.hpp"
#include "provider/user_events_page.hpp"
#include "run_in_child.hpp"

namespace {

using namespace eventlog::core;

using fake_kernel::bare;
using fake_kernel::bytes_of;
using fake_kernel::number;
using fake_kernel::plain;
using fake_kernel::wordy;
class user_events_write : public fake_kernel::fake_kernel_file {};

TEST_F(user_events_write, is_one_write_of_index_and_payload) {
    provider.emit(plain, 77U);
    EXPECT_EQ(next_write(), bytes_of(number, 77U));
    EXPECT_EQ(next_write(), "");
    EXPECT_EQ(counters().written, 1U);
}

TEST_F(user_events_write, is_one_write_of_any_size) {
    // Small events are assembled in a buffer first.
    for (const std::size_t size : {1U, 8U, 255U, 256U, 257U, 258U, 4000U}) {
        const std::string payload(size, static_cast<char>('a' + size % 26));
        eventlog_emit_raw(&handle(), plain, payload.data(), payload.size());
        EXPECT_EQ(next_write(), std::string("\5\0\0\0", 4) + payload);
        EXPECT_EQ(next_write(), "");
    }
}

TEST_F(user_events_write, joins_pieces) {
    provider.emit(wordy, "ab", std::string_view("c"));
    using namespace std::string_literals;
    // Both words are relative to their own end.
    EXPECT_EQ(next_write(), bytes_of(number, 3U << 16U | 4U, 2U << 16U | 3U) + "ab\0c\0"s);
    EXPECT_EQ(counters().written, 1U);
}

TEST_F(user_events_write, joins_many_pieces) {
    std::string letters(200, 'x');
    std::array<eventlog_part, 200> pieces{};
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        letters[i] = static_cast<char>('a' + i % 26);
        pieces[i] = {&letters[i], 1};
    }
    eventlog_emit_raw_parts(provider.handle(), plain, pieces.data(), pieces.size(), 0);
    EXPECT_EQ(next_write(), bytes_of(number) + letters);
}

TEST_F(user_events_write, rejects_too_many_pieces) {
    std::array<eventlog_part, 256> pieces{};
    pieces.fill({"x", 1});
    eventlog_emit_raw_parts(provider.handle(), plain, pieces.data(), pieces.size(), 0);
    EXPECT_EQ(next_write(), "");
    EXPECT_EQ(counters().lost_refused, 1U);
}

TEST_F(user_events_write, counts_oversized_events) {
    const std::string text(user_events_payload_max - 10, 'x');  // two words, two NULs
    provider.emit(wordy, text, "");
    EXPECT_EQ(next_write().size(), sizeof number + user_events_payload_max);
    provider.emit(wordy, text, "y");
    EXPECT_EQ(next_write(), "");
    EXPECT_EQ(counters().written, 1U);
    EXPECT_EQ(counters().lost_too_large, 1U);
}

TEST_F(user_events_write, is_skipped_for_other_bits) {
    route().expected = false;
    provider.emit(plain, 1U);
    EXPECT_EQ(next_write(), "");
    EXPECT_EQ(counters().written + counters().lost_unattached, 0U);
}

TEST_F(user_events_write, is_skipped_for_unregistered_event) {
    route().numbers[plain] = user_events_route::not_registrable;
    provider.emit(plain, 1U);
    EXPECT_EQ(next_write(), "");
    EXPECT_EQ(counters().written + counters().lost_unattached, 0U);
}

TEST_F(user_events_write, ebadf_after_disable_is_no_loss) {
    // As in the kernel, a file open for reading only fails with EBADF.
    attach_file(unique_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
    errno = 4711;
    provider.emit(plain, 1U);
    EXPECT_EQ(errno, 4711);
    EXPECT_EQ(counters().written + counters().lost_refused + counters().lost_unattached, 0U);
}

TEST_F(user_events_write, counts_rejected_writes) {
    attach_file(unique_fd(::open("/dev/full", O_WRONLY | O_CLOEXEC)));
    errno = 4711;
    provider.emit(plain, 1U);
    EXPECT_EQ(errno, 4711);
    EXPECT_EQ(counters().lost_refused, 1U);
    EXPECT_EQ(counters().written, 0U);
}

TEST_F(user_events_write, does_not_write_to_foreign_file) {
    const unique_fd other(::memfd_create("other", MFD_CLOEXEC));
    ASSERT_EQ(::dup2(other.get(), file.get()), file.get());
    route().verified_at = 0;  // the next check of the descriptor is due
    provider.emit(plain, 1U);
    struct stat status {};
    ASSERT_EQ(::fstat(other.get(), &status), 0);
    EXPECT_EQ(status.st_size, 0);
    EXPECT_EQ(counters().written, 0U);
    EXPECT_EQ(counters().lost_unattached, 1U);
    EXPECT_EQ(route().file.load(), -1);
}

TEST_F(user_events_write, detects_closed_descriptor) {
    file = unique_fd();
    errno = 4711;
    provider.emit(plain, 1U);
    EXPECT_EQ(errno, 4711);
    EXPECT_EQ(counters().lost_unattached, 1U);
    EXPECT_EQ(route().file.load(), -1);
}

TEST_F(user_events_write, closes_only_its_own_descriptor) {
    route().expected = false;
    const eventlog::core::registry_lock lock;
    // The program closed the descriptor, and opened another file with the same number.
    const unique_fd others(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    route().retired[0] = others.get();
    close_user_events_route(handle());
    EXPECT_EQ(route().retired[0], -1);
    EXPECT_GE(::fcntl(others.get(), F_GETFD), 0);

    const int own = file.release();
    route().retired[0] = own;
    close_user_events_route(handle());
    EXPECT_EQ(::fcntl(own, F_GETFD), -1);
}

TEST_F(user_events_write, does_not_register_events_of_unregistered_provider) {
    eventlog_provider* late = nullptr;
    {
        const eventlog::dynamic_provider gone(
            {EVENTLOG_DEFINITION_SIZES, .name = "gone", .events = events, .event_count = 2});
        late = gone.handle();
    }
    ASSERT_EQ(late->user_events.status, EVENTLOG_STATUS_UNREGISTERED);
    late->user_events.not_before = 0;  // as after a thread that found its descriptor closed
    retry_user_events_route(*late);
    EXPECT_EQ(late->user_events.status, EVENTLOG_STATUS_UNREGISTERED);
    EXPECT_FALSE(late->user_events.expected.load());
    late->user_events.not_before = user_events_route::never;
}

// In a child, because a process maps the page once; before the suite that maps it in this one.
TEST(user_events_page, has_a_byte_for_each_event_if_mapped_so) {
    if (is_set_in_page(location_in_page(0))) {
        GTEST_SKIP() << "this process has already mapped a page of bits";
    }
    const unique_fd memory(::memfd_create("page", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(memory.get(), ::sysconf(_SC_PAGESIZE)), 0);
    EXPECT_EQ(eventlog::test::run_in_child([&] {
                  constexpr std::uint32_t byte = 815;
                  constexpr std::uint32_t end = sizeof user_events_page.bytes;
                  const registry_lock lock;
                  EXPECT_EQ(map_user_events_page(memory.get(), page_unit::byte), 0);
                  for (const std::uint32_t index : {1U, byte, end - 1}) {
                      EXPECT_EQ(locate_in_page(index), location_of_byte(index));
                  }
                  for (const std::uint32_t beyond : {end, end * 8 - 1, 0xffffffffU}) {
                      EXPECT_EQ(locate_in_page(beyond), 0U);
                  }
                  for (const unsigned value : {0x01U, 0x80U, 0x00U, 0xffU}) {
                      const auto set = static_cast<std::uint8_t>(value);
                      EXPECT_EQ(::pwrite(memory.get(), &set, 1, byte), 1);
                      EXPECT_EQ(is_set_in_page(locate_in_page(byte)), value != 0) << value;
                      EXPECT_FALSE(is_set_in_page(locate_in_page(byte - 1)));
                      EXPECT_FALSE(is_set_in_page(locate_in_page(byte + 1)));
                  }
                  return HasFailure() ? 1 : 0;
              }),
              0);
}

/// A kernel with a status page instead of gate writes; the test sets the page's bits.
class user_events_page_bits : public user_events_write {
  protected:
    static constexpr std::uint32_t bit = 4711;

    void SetUp() override {
        user_events_write::SetUp();
        if (IsSkipped()) {
            return;
        }
        // Mapped once per process, as the kernel's page is.
        static const unique_fd memory(::memfd_create("page", MFD_CLOEXEC));
        const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        ASSERT_EQ(::ftruncate(memory.get(), static_cast<off_t>(size)), 0);
        {
            const registry_lock lock;
            ASSERT_EQ(map_user_events_page(memory.get()), 0);
        }
        void* const mapped =
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
        ASSERT_NE(mapped, MAP_FAILED);
        page = static_cast<std::uint8_t*>(mapped);
        std::memset(page, 0xff, size);
        listen(false);
        for (const std::uint32_t event : {plain, wordy, bare}) {
            route().status_locations[event] = location_in_page(bit);
        }
    }
    void TearDown() override {
        if (page != nullptr) {
            static_cast<void>(::munmap(page, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))));
        }
        user_events_write::TearDown();
    }

    void listen(bool on) const {
        const auto mask = static_cast<std::uint8_t>(1U << bit % 8);
        page[bit / 8] =
            static_cast<std::uint8_t>(on ? page[bit / 8] | mask : page[bit / 8] & ~mask);
    }

    std::uint8_t* page = nullptr;
};

TEST_F(user_events_page_bits, suppress_disabled_events) {
    provider.emit(plain, 77U);
    const std::string too_large(user_events_payload_max, 'x');
    provider.emit(wordy, too_large, "");
    EXPECT_EQ(next_write(), "");
    const eventlog_counters counted = counters();
    EXPECT_EQ(counted.written + counted.lost_too_large + counted.lost_unattached, 0U);
}

TEST_F(user_events_page_bits, pass_enabled_events) {
    listen(true);
    provider.emit(plain, 77U);
    EXPECT_EQ(next_write(), bytes_of(number, 77U));
    listen(false);
    provider.emit(plain, 78U);
    EXPECT_EQ(next_write(), "");
    EXPECT_EQ(counters().written, 1U);
}

TEST_F(user_events_page_bits, match_enabled_query) {
    EXPECT_FALSE(provider.enabled(plain));
    listen(true);
    EXPECT_TRUE(provider.enabled(plain));
    listen(false);
    // A listener of another route.
    handle().gate_word(plain).fetch_or(1U);
    EXPECT_TRUE(provider.enabled(plain));
    handle().gate_word(plain).fetch_and(~1U);
}

TEST_F(user_events_page_bits, share_a_byte_for_events_without_bit) {
    listen(true);
    provider.emit(bare);
    EXPECT_EQ(next_write(), bytes_of(number) + std::string(1, '\0'));
    EXPECT_EQ(counters().written, 1U);
    route().status_locations[bare] = 0;
    provider.emit(bare);
    EXPECT_EQ(next_write(), bytes_of(number));
}

TEST_F(user_events_page_bits, are_found_at_page_boundaries) {
    const auto last = static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE)) * 8 - 1;
    EXPECT_TRUE(is_set_in_page(location_in_page(last)));
    EXPECT_TRUE(is_set_in_page(location_in_page(bit - 1)));
    EXPECT_FALSE(is_set_in_page(location_in_page(bit)));
    EXPECT_TRUE(is_set_in_page(location_in_page(bit + 1)));
}

TEST_F(user_events_page_bits, are_found_by_kernel_index) {
    const registry_lock lock;
    EXPECT_EQ(locate_in_page(bit), location_in_page(bit));
    constexpr std::uint32_t end = sizeof user_events_page.bytes * 8;
    EXPECT_EQ(locate_in_page(end - 1), location_in_page(end - 1));
    EXPECT_EQ(locate_in_page(end), 0U);
    EXPECT_EQ(locate_in_page(0xffffffffU), 0U);
}

TEST_F(user_events_page_bits, may_be_bytes_with_any_bit_set) {
    constexpr std::uint32_t byte = 815;
    for (const unsigned value : {0x01U, 0x02U, 0x80U, 0xffU}) {
        page[byte] = static_cast<std::uint8_t>(value);
        EXPECT_TRUE(is_set_in_page(location_of_byte(byte))) << value;
    }
    page[byte] = 0;
    EXPECT_FALSE(is_set_in_page(location_of_byte(byte)));
    EXPECT_TRUE(is_set_in_page(location_of_byte(byte - 1)));
    EXPECT_TRUE(is_set_in_page(location_of_byte(byte + 1)));

    route().status_locations[plain] = location_of_byte(byte);
    provider.emit(plain, 77U);
    EXPECT_EQ(next_write(), "");
    page[byte] = 0x80;
    provider.emit(plain, 78U);
    EXPECT_EQ(next_write(), bytes_of(number, 78U));
}

TEST(user_events_page, is_absent_if_mmap_fails) {
    const unique_fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const registry_lock lock;
    // A kernel with a readable page has set its first bit.
    const bool has_page = is_set_in_page(location_in_page(0));
    EXPECT_EQ(map_user_events_page(null.get()), has_page ? 0 : ENODEV);
    // The page is still readable.
    EXPECT_EQ(is_set_in_page(location_in_page(0)), has_page);
}

TEST(user_events_device, parses_kernel_version) {
    const auto read = [](const char* release) {
        int major = -1;
        int minor = -1;
        read_release(release, major, minor);
        return std::pair(major, minor);
    };
    EXPECT_EQ(read("6.1.0-41-amd64"), std::pair(6, 1));
    EXPECT_EQ(read("6.12"), std::pair(6, 12));
    EXPECT_EQ(read("7-rc1"), std::pair(7, 0));
    EXPECT_EQ(read(""), std::pair(0, 0));
    EXPECT_EQ(read("next"), std::pair(0, 0));
}

std::string find_tracefs(std::string_view mounts, std::size_t room = 64) {
    std::string found;
    std::vector<char> path(room, '?');
    std::size_t at = 0;
    while (
        next_tracefs_mount(mounts.data(), mounts.size(), at, "/data", path.data(), path.size())) {
        found += path.data();
        found += '\n';
    }
    EXPECT_EQ(at, mounts.size());
    return found;
}

TEST(user_events_device, is_found_at_tracefs_mount) {
    EXPECT_EQ(find_tracefs("proc /proc proc rw 0 0\n"
                           "tracefs /mnt/a tracefs rw 0 0\n"
                           "none /tracefs tmpfs rw 0 0\n"
                           "x /mnt/with\\040space\\134 tracefs ro,nosuid 0 0\n"),
              "/mnt/a/data\n/mnt/with space\\/data\n");
}

TEST(user_events_device, is_not_found_in_damaged_mount_list) {
    EXPECT_EQ(find_tracefs(""), "");
    EXPECT_EQ(find_tracefs("\n\n \n  \n"), "");
    EXPECT_EQ(find_tracefs("tracefs\ntracefs \ntracefs /a\ntracefs /a \n"), "");
    EXPECT_EQ(find_tracefs("a /b tracefs"), "");
    EXPECT_EQ(find_tracefs("a /b\\04 tracefs r\n"), "/b\\04/data\n");
}

TEST(user_events_device, is_not_found_at_too_long_path) {
    EXPECT_EQ(find_tracefs("a /123 tracefs r\na / tracefs r\n", 10), "/123/data\n//data\n");
    EXPECT_EQ(find_tracefs("a /1234 tracefs r\na / tracefs r\n", 10), "//data\n");
    EXPECT_EQ(find_tracefs("a /123456789abcdef tracefs r\n", 10), "");
}

}  // namespace
