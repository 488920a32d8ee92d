// SPDX-License-Identifier: MIT
//
// The file in which a process publishes its providers: the shared gate, own gates and the
// directory.
#include "shm/process_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "listener.hpp"
#include "process_files.hpp"
#include "run_in_child.hpp"
#include "scratch.hpp"
#include "shm/own_process_file.hpp"
#include "shm/process_file_layout.hpp"
#include "two_event_provider.hpp"

namespace {

using eventlog::dynamic_provider;
using eventlog::test::check_in_child;
using eventlog::test::count_reads;
using eventlog::test::definition_of;
using eventlog::test::event_listener;
using eventlog::test::find_published;
using eventlog::test::has_own_gate;
using eventlog::test::make;
using eventlog::test::no_descriptors;
using eventlog::test::own_gate_of;
using eventlog::test::process_file_path;
using eventlog::test::run_in_child;
using eventlog::test::unattached_of;
using eventlog::test::wait_for_retry;
namespace core = eventlog::core;

/// Moves to the provider of that name, which its schema contains.
bool find_provider(core::published_provider& each, std::string_view name) {
    while (each.next()) {
        std::vector<std::uint8_t> schema(each.entry().schema_size);
        if (each.read_schema(schema) &&
            std::search(schema.begin(), schema.end(), name.begin(), name.end()) != schema.end()) {
            return true;
        }
    }
    return false;
}

void check_shared_gate() {
    const dynamic_provider one = make("shared_one");
    const dynamic_provider other = make("shared_other");
    EXPECT_FALSE(has_own_gate("shared_one"));
    event_listener listener("shared_one:second");
    // Consumers see who listens before the process has looked.
    EXPECT_EQ(own_gate_of(::getpid(), "shared_one"), (std::vector<std::uint32_t>{0, 1}));
    EXPECT_FALSE(has_own_gate("shared_one"));
    EXPECT_FALSE(one.enabled(0));
    EXPECT_TRUE(one.enabled(1));
    EXPECT_TRUE(has_own_gate("shared_one"));
    // Finds the notification for the other one's event.
    EXPECT_FALSE(other.enabled(1));
    EXPECT_EQ(other.emit(1), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(one.emit(1), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(listener.received_names(), "second");
    EXPECT_EQ(other.status().routes[EVENTLOG_ROUTE_MEMORY].counters.lost_unattached, 0U);
}

TEST(process_file, gate_is_shared_until_first_event_with_listener) {
    check_in_child(check_shared_gate);
}

TEST(process_file, first_emit_maps_own_gate) {
    const dynamic_provider one = make("first_emit");
    event_listener listener("first_emit:first");
    EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_TRUE(has_own_gate("first_emit"));
    EXPECT_EQ(listener.received_names(), "first");
}

TEST(process_file, provider_is_not_disturbed_by_earlier_notifications) {
    const dynamic_provider before = make("disturbing");
    const event_listener listener("disturbing:first");
    const dynamic_provider later = make("disturbed");
    unsigned made = 0;
    EXPECT_EQ(later.emit(0,
                         [&] {
                             ++made;
                             return std::tuple();
                         }),
              EVENTLOG_ERROR_NONE);
    EXPECT_EQ(made, 0U);
}

TEST(process_file, listener_finds_provider_published_later) {
    event_listener listener("published_later:*");
    const dynamic_provider one = make("published_later");
    EXPECT_TRUE(has_own_gate("published_later"));
    EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(listener.received_names(), "first");
}

TEST(process_file, child_has_a_file_of_its_own) {
    const dynamic_provider one = make("in_child");
    event_listener listener("in_child:first");
    EXPECT_EQ(run_in_child([&] {
                  const bool is_own = !process_file_path(::getpid()).empty() &&
                                      eventlog::test::is_published(::getpid(), "in_child");
                  return is_own && one.emit(0) == EVENTLOG_ERROR_NONE ? 0 : 1;
              }),
              0);
    EXPECT_EQ(listener.received_names(), "first");
    EXPECT_TRUE(eventlog::test::is_published(::getpid(), "in_child"));
}

TEST(process_file, entries_of_withdrawn_providers_are_reused) {
    const dynamic_provider one = make("remains");
    const auto size = [] { return std::filesystem::file_size(process_file_path(::getpid())); };
    for (int i = 0; i < 200; ++i) {
        static_cast<void>(make("comes_and_goes"));
    }
    const std::uintmax_t before = size();
    for (int i = 0; i < 1000; ++i) {
        const dynamic_provider next = make("comes_and_goes");
        ASSERT_EQ(next.status().code, EVENTLOG_STATUS_OK) << next.status().text.data();
    }
    EXPECT_EQ(size(), before);
    EXPECT_FALSE(eventlog::test::is_published(::getpid(), "comes_and_goes"));
    event_listener listener("comes_and_goes:first");
    const dynamic_provider last = make("comes_and_goes");
    EXPECT_EQ(last.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(listener.received_names(), "first");
}

/// Of a registration that reuses the entry of one of so many withdrawn providers.
std::uint64_t reads_of_registration(int withdrawn) {
    std::vector<std::unique_ptr<dynamic_provider>> many;
    for (int i = 0; i < withdrawn; ++i) {
        many.push_back(std::make_unique<dynamic_provider>(definition_of("comes_again")));
    }
    many.clear();
    const std::uint64_t before = count_reads();
    const dynamic_provider next = make("comes_again");
    return count_reads() - before;
}

void check_reads_of_registration() {
    const dynamic_provider one = make("remains");
    const std::uint64_t few = reads_of_registration(100);
    EXPECT_EQ(reads_of_registration(500), few);
}

TEST(process_file, entry_is_reused_without_a_read_of_all_entries) {
    if (count_reads() == 0) {
        GTEST_SKIP() << "this kernel does not count the system calls of a thread";
    }
    check_in_child(check_reads_of_registration);
}

void check_child_without_fork() {
    dynamic_provider one = make("without_fork");
    const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    if (child == 0) {
        static_cast<void>(one.on_listeners_changed([](void*, unsigned) {}, nullptr));
        ::_exit(0);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_FALSE(has_own_gate("without_fork"));
    event_listener listener("without_fork:first");
    EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(listener.received_names(), "first");
}

TEST(process_file, child_without_fork_leaves_the_gate_of_its_parent) {
    check_in_child(check_child_without_fork);
}

TEST(process_file, limit_of_file_sizes_is_an_error) {
    const dynamic_provider one = make("limited");
    EXPECT_EQ(run_in_child([] {
                  const struct rlimit limit {
                      std::filesystem::file_size(process_file_path(::getpid())), RLIM_INFINITY
                  };
                  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) {
                      return 1;
                  }
                  std::vector<std::unique_ptr<dynamic_provider>> many;
                  for (int i = 0; i < 1000; ++i) {
                      many.push_back(std::unique_ptr<dynamic_provider>(
                          new dynamic_provider(make("one_of_many"))));
                      if (many.back()->status().code == EVENTLOG_STATUS_NO_SPACE) {
                          return 0;
                      }
                  }
                  return 2;
              }),
              0);
}

void check_without_file_sizes() {
    const dynamic_provider first = make("small_files");
    dynamic_provider second = make("small_files_too");
    auto third = std::make_unique<dynamic_provider>(definition_of("small_files_end"));
    event_listener listener("small_files:first");
    struct rlimit limit {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct rlimit none { 0, limit.rlim_max };
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
    EXPECT_EQ(first.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_TRUE(second.on_listeners_changed([](void*, unsigned) {}, nullptr));
    third.reset();
    const eventlog_status_code later = make("small_files_later").status().code;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);  // the listener writes to its file
    EXPECT_EQ(listener.received_names(), "first");
    EXPECT_TRUE(has_own_gate("small_files"));
    EXPECT_TRUE(has_own_gate("small_files_too"));
    EXPECT_FALSE(eventlog::test::is_published(::getpid(), "small_files_end"));
    EXPECT_EQ(later, EVENTLOG_STATUS_NO_SPACE);
}

TEST(process_file, later_limit_of_file_sizes_ends_no_program) {
    check_in_child(check_without_file_sizes);
}

TEST(process_file, provider_is_withdrawn_without_descriptors) {
    check_in_child([] {
        const dynamic_provider remains = make("remains_published");
        std::unique_ptr<dynamic_provider> withdrawn(new dynamic_provider(make("withdrawn_late")));
        ASSERT_TRUE(eventlog::test::is_published(::getpid(), "withdrawn_late"));
        {
            const no_descriptors closed;
            withdrawn.reset();
        }
        EXPECT_FALSE(eventlog::test::is_published(::getpid(), "withdrawn_late"));
        EXPECT_TRUE(eventlog::test::is_published(::getpid(), "remains_published"));
    });
}

TEST(process_file, keeps_serial_of_later_subscription) {
    check_in_child([] {
        const dynamic_provider one = make("slot_serials");
        constexpr unsigned slot = EVENTLOG_SUBSCRIPTIONS_MAX - 1;
        const std::uint64_t known = eventlog::core::slot_serial(slot);
        eventlog::core::replace_slot_serial(slot, known, 11);
        EXPECT_EQ(eventlog::core::slot_serial(slot), 11U);
        // Of a process that has read the serial before the later subscription stored its own.
        eventlog::core::replace_slot_serial(slot, known, 12);
        EXPECT_EQ(eventlog::core::slot_serial(slot), 11U);
    });
}

/// Allows opening so many files more while it lives.
class few_descriptors {
  public:
    explicit few_descriptors(unsigned count) {
        EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
        const int lowest = ::dup(0);
        EXPECT_GE(lowest, 0);
        ::close(lowest);
        const struct rlimit few { static_cast<rlim_t>(lowest) + count, before_.rlim_max };
        EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    }
    ~few_descriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
    few_descriptors(const few_descriptors&) = delete;
    few_descriptors& operator=(const few_descriptors&) = delete;

  private:
    struct rlimit before_ {};
};

void check_missed_subscription() {
    const dynamic_provider first = make("not_missed");  // creates the file
    event_listener listener("missed:first");
    std::unique_ptr<dynamic_provider> one;
    {
        // Enough to publish and to find the subscription, but not to map the gate as well.
        const few_descriptors limit(4);
        one = std::make_unique<dynamic_provider>(definition_of("missed"));
        ASSERT_EQ(one->status().code, EVENTLOG_STATUS_OK) << one->status().text.data();
        ASSERT_FALSE(one->status().routes[EVENTLOG_ROUTE_MEMORY].counters.lost_unattached);
    }
    ASSERT_FALSE(has_own_gate("missed"));
    {
        const no_descriptors closed;
        EXPECT_TRUE(one->enabled(0));
        EXPECT_EQ(one->emit(0), EVENTLOG_ERROR_NONE);
    }
    wait_for_retry();
    EXPECT_EQ(one->emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(listener.received_names(), "first");
    EXPECT_EQ(unattached_of("missed", 0), 1U);
    EXPECT_FALSE(one->enabled(1));
}

/// The own gate has no bits, as if tmpfs had been full when the consumer set them.
void check_missing_bits() {
    const dynamic_provider one = make("without_bits");
    event_listener listener("without_bits:second");
    const int file = ::open(process_file_path(::getpid()).c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(
        ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    static_cast<off_t>(find_published(::getpid(), "without_bits")->gate_offset),
                    EVENTLOG_GATE_SIZE),
        0);
    ::close(file);
    EXPECT_EQ(one.emit(1), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(listener.received_names(), "second");
}

TEST(process_file, subscription_is_found_whose_bits_are_missing) {
    check_in_child(check_missing_bits);
}

/// As a consumer opens the file of this process.
void open_own_file(core::process_file& file) {
    core::directory where;
    core::error_text error;
    const core::directory_path path = core::current_directory();
    ASSERT_TRUE(where.open(path, core::if_missing::fail, error));
    const std::string name =
        std::filesystem::path(process_file_path(::getpid())).filename().string();
    ASSERT_TRUE(file.open(where, name.c_str(), error)) << error.text().c_str();
}

TEST(process_file, consumer_without_memory_for_bits_raises_notifications) {
    check_in_child([] {
        const dynamic_provider one = make("no_memory_for_bits");
        core::process_file file;
        ASSERT_NO_FATAL_FAILURE(open_own_file(file));
        const auto shared_word = [&] {
            std::ifstream bytes(process_file_path(::getpid()), std::ios::binary);
            std::uint32_t word = 0;
            EXPECT_TRUE(
                eventlog::test::read_struct(bytes, file.header().shared_gate_offset + 4, word));
            return word;
        };
        core::published_provider each(file);
        ASSERT_TRUE(find_provider(each, "no_memory_for_bits"));
        each.notify();
        EXPECT_EQ(shared_word(), 0U);
        EXPECT_FALSE(each.set_bit(EVENTLOG_EVENTS_MAX, 0));
        each.notify();
        EXPECT_EQ(shared_word(), EVENTLOG_GATE_NOTIFICATION);
    });
}

/// The provider has the bits of no subscription, and its file no serial of one.
TEST(process_file, consumer_clears_bits_outside_of_its_filter) {
    check_in_child([] {
        const dynamic_provider one = make("stale_bits");
        core::process_file file;
        ASSERT_NO_FATAL_FAILURE(open_own_file(file));
        core::published_provider each(file);
        ASSERT_TRUE(find_provider(each, "stale_bits"));
        ASSERT_TRUE(each.set_bit(0, 0) && each.set_bit(1, 0) && each.set_bit(1, 1));
        event_listener listener("stale_bits:first");
        ASSERT_EQ(listener.source().slot(), 0U);
        EXPECT_EQ(own_gate_of(::getpid(), "stale_bits"), (std::vector<std::uint32_t>{1, 2}));
    });
}

TEST(process_file, subscription_is_found_again_that_had_no_gate) {
    check_in_child(check_missed_subscription);
}

}  // namespace
