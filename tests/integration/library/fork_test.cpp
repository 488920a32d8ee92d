// SPDX-License-Identifier: MIT
//
// A forked child is a producer of its own, with its own file, gate, and place in every
// subscription.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/definition.h>
#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "process_files.hpp"
#include "provider/registered_provider.hpp"
#include "provider/runtime_definition.hpp"
#include "run_in_child.hpp"
#include "scratch.hpp"
#include "syscall_override.hpp"

namespace {

using eventlog::test::event_listener;
using eventlog::test::received_record;
using eventlog::test::run_in_child;

struct birth {
    std::uint32_t generation;
};
struct signature {
    std::uint32_t process;
    std::uint32_t thread;
};
using fork_test = eventlog::provider<"fork_test", birth, signature>;

void sign() {
    fork_test::emit(
        signature{static_cast<std::uint32_t>(::getpid()), static_cast<std::uint32_t>(::gettid())});
}

bool is_published(pid_t process) {
    return eventlog::test::is_published(process, "fork_test");
}

TEST(fork, child_emits_immediately_with_its_own_pid) {
    event_listener listener("fork_test:*");
    fork_test::emit(birth{1});
    const pid_t parent = ::getpid();
    ASSERT_EQ(run_in_child([] {
                  fork_test::emit(birth{2});
                  return 0;
              }),
              0);
    listener.finish();
    ASSERT_EQ(listener.records().size(), 2U);
    for (const received_record& record : listener.records()) {
        const std::uint32_t process = listener.providers().at(record.header.provider).pid;
        const bool from_parent = process == static_cast<std::uint32_t>(parent);
        EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "generation")),
                  from_parent ? 1U : 2U);
        EXPECT_EQ(record.header.thread, process);
    }
}

TEST(fork, child_attaches_at_its_first_event) {
    event_listener listener("fork_test:*");
    fork_test::emit(birth{1});
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(run_in_child([] { return 0; }), 0);
        EXPECT_EQ(run_in_child([] {
                      ::execl("/bin/true", "true", nullptr);
                      return 1;
                  }),
                  0);
        // A child of a child that has not emitted.
        EXPECT_EQ(run_in_child([] { return run_in_child([] { return 0; }); }), 0);
    }
    EXPECT_EQ(run_in_child([] {
                  return run_in_child([] {
                      fork_test::emit(birth{2});
                      fork_test::emit(birth{3});
                      return 0;
                  });
              }),
              0);
    listener.finish();
    EXPECT_EQ(listener.records().size(), 3U);
    EXPECT_EQ(listener.providers().size(), 2U);
    EXPECT_EQ(listener.lost_by_providers(), 0U);
}

TEST(fork, child_takes_first_entry_if_parent_has_not_attached) {
    event_listener listener("fork_test:*");
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(run_in_child([] { return 0; }), 0);
    }
    listener.finish();
    // The schema is in the region since.
    EXPECT_EQ(listener.providers().size(), 1U);
}

// As before Linux 5.14.
TEST(fork, child_takes_its_entry_at_once_where_the_kernel_cannot_populate) {
    event_listener listener("fork_test:*");
    fork_test::emit(birth{1});
    EXPECT_EQ(run_in_child([] {
                  if (!eventlog::test::override_syscall(SYS_madvise, EINVAL)) {
                      return 1;
                  }
                  return run_in_child([] { return 0; });
              }),
              0);
    listener.finish();
    // The parent and its grandchild. The child was forked before it lost the call.
    EXPECT_EQ(listener.records().size(), 1U);
    EXPECT_EQ(listener.providers().size(), 2U);
}

TEST(fork, child_opens_nothing_at_its_first_event) {
    event_listener listener("fork_test:*");
    fork_test::emit(birth{1});
    EXPECT_EQ(run_in_child([] {
                  const rlimit none{0, 0};
                  if (::setrlimit(RLIMIT_NOFILE, &none) != 0) {
                      return 1;
                  }
                  fork_test::emit(birth{2});
                  return 0;
              }),
              0);
    listener.finish();
    EXPECT_EQ(listener.records().size(), 2U);
}

TEST(fork, child_emits_with_another_user_and_root) {
    constexpr uid_t other = 65534;
    if (::geteuid() != 0) {
        GTEST_SKIP() << "takes root";
    }
    event_listener listener("fork_test:*");
    fork_test::emit(birth{1});
    const std::string empty = eventlog::test::eventlog_directory() + "/empty";
    ASSERT_TRUE(std::filesystem::create_directory(empty));
    EXPECT_EQ(run_in_child([&] {
                  if (::chroot(empty.c_str()) != 0 || ::chdir("/") != 0 ||
                      ::setresgid(other, other, other) != 0 ||
                      ::setresuid(other, other, other) != 0) {
                      return 1;
                  }
                  fork_test::emit(birth{2});
                  return 0;
              }),
              0);
    std::filesystem::remove(empty);
    listener.finish();
    EXPECT_EQ(listener.records().size(), 2U);
}

TEST(fork, child_does_not_wait_for_its_parents_retry) {
    event_listener listener("fork_test:*");
    fork_test::emit(birth{1});
    // As after a failed attach, for a child in a time namespace whose clock is behind.
    for (eventlog_provider* provider = eventlog::core::get_first_registered(); provider != nullptr;
         provider = provider->next) {
        if (provider->attachments.load() == &eventlog::core::no_attachments) {
            continue;
        }
        for (eventlog::core::attachment& place : provider->attachments.load()->places) {
            place.not_before = UINT64_MAX;
        }
    }
    EXPECT_EQ(run_in_child([] {
                  fork_test::emit(birth{2});
                  return 0;
              }),
              0);
    for (eventlog_provider* provider = eventlog::core::get_first_registered(); provider != nullptr;
         provider = provider->next) {
        if (provider->attachments.load() != &eventlog::core::no_attachments) {
            for (eventlog::core::attachment& place : provider->attachments.load()->places) {
                place.not_before = 0;
            }
        }
    }
    listener.finish();
    EXPECT_EQ(listener.records().size(), 2U);
}

bool has_definition(const eventlog_provider* provider) {
    return provider->dynamic.load()->memory != nullptr;
}

TEST(fork, child_frees_definition_that_other_threads_read) {
    static const eventlog_event_definition events[] = {{.name = "only"}};
    static const eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = "fork_defined",
                                                .events = events, .event_count = 1};
    eventlog_provider* provider = nullptr;
    ASSERT_EQ(eventlog_provider_create(&definition, &provider, nullptr, 0), EVENTLOG_ERROR_NONE);
    std::atomic<int> stage{0};
    std::thread other([&] {
        const eventlog::core::definition_reader reader(*provider);
        stage = 1;
        stage.notify_all();
        stage.wait(1);
    });
    stage.wait(0);
    EXPECT_EQ(run_in_child([&] {
                  eventlog_provider_destroy(provider);
                  return has_definition(provider) ? 1 : 0;
              }),
              0);
    {
        // A callback that forks is inside of an emit.
        const eventlog::core::definition_reader reader(*provider);
        EXPECT_EQ(run_in_child([&] {
                      eventlog_provider_destroy(provider);
                      return has_definition(provider) ? 0 : 1;
                  }),
                  0);
    }
    stage = 2;
    stage.notify_all();
    other.join();
    eventlog_provider_destroy(provider);
    EXPECT_FALSE(has_definition(provider));
}

pid_t forked_by_clock = -1;

std::uint64_t fork_once(void* is_forking) {
    if (std::exchange(*static_cast<bool*>(is_forking), false)) {
        forked_by_clock = ::fork();
    }
    return 1;
}

TEST(fork, child_continues_an_interrupted_emit_under_its_own_name) {
    event_listener listener("fork_test:*");
    fork_test::emit(birth{1});
    // The clock is read in the middle of an emit, as a signal handler may run there.
    bool is_forking = false;
    const eventlog_clock_source source{sizeof source, 64, 1'000'000'000, fork_once, &is_forking};
    ASSERT_TRUE(eventlog_set_clock(&source));
    is_forking = true;
    fork_test::emit(birth{2});
    if (forked_by_clock == 0) {
        ::_exit(0);
    }
    eventlog_set_clock(nullptr);
    ASSERT_GT(forked_by_clock, 0);
    int status = -1;
    ASSERT_EQ(::waitpid(forked_by_clock, &status, 0), forked_by_clock);
    EXPECT_EQ(status, 0);
    listener.finish();
    std::multiset<std::uint32_t> processes;
    for (const received_record& record : listener.records()) {
        processes.insert(listener.providers().at(record.header.provider).pid);
    }
    const auto parent = static_cast<std::uint32_t>(::getpid());
    EXPECT_EQ(processes,
              (std::multiset{parent, parent, static_cast<std::uint32_t>(forked_by_clock)}));
}

TEST(fork, child_publishes_its_own_provider_file) {
    fork_test::emit(birth{1});
    EXPECT_TRUE(is_published(::getpid()));
    const pid_t parent = ::getpid();
    EXPECT_EQ(
        run_in_child([parent] { return is_published(::getpid()) && is_published(parent) ? 0 : 1; }),
        0);
    EXPECT_TRUE(is_published(parent));
}

TEST(fork, raw_clone_child_exit_does_not_unregister_parent) {
    fork_test::emit(birth{1});
    const auto child = static_cast<pid_t>(::syscall(SYS_fork));
    ASSERT_GE(child, 0);
    if (child == 0) {
        std::exit(0);  // runs destructors, including the provider's
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(is_published(::getpid()));
}

TEST(fork, parent_and_child_have_separate_gates) {
    int ready[2];
    int go[2];
    ASSERT_EQ(::pipe(ready), 0);
    ASSERT_EQ(::pipe(go), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        char byte = 0;
        static_cast<void>(!::write(ready[1], "r", 1));
        static_cast<void>(!::read(go[0], &byte, 1));
        fork_test::emit(birth{2});
        ::_exit(fork_test::enabled<birth>() ? 0 : 1);
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    {
        // A later subscription finds both.
        event_listener listener("fork_test:*");
        fork_test::emit(birth{1});
        ASSERT_EQ(::write(go[1], "g", 1), 1);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(WEXITSTATUS(status), 0);
        listener.finish();
        EXPECT_EQ(listener.records().size(), 2U);
    }
    for (const int end : {ready[0], ready[1], go[0], go[1]}) {
        ::close(end);
    }
}

TEST(fork, with_emitting_threads_yields_correct_pids_and_tids) {
    event_listener listener("fork_test:signature", {1U << 20U, 4});
    sign();  // attaches: events emitted while another thread attaches are not received yet
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> attempted{1};
    std::vector<std::thread> workers;
    for (int i = 0; i < 3; ++i) {
        workers.emplace_back([&] {
            for (; !stop; attempted.fetch_add(1)) {
                sign();
                std::this_thread::sleep_for(std::chrono::microseconds(20));
            }
        });
    }
    constexpr std::uint64_t children = 20;
    for (std::uint64_t i = 0; i < children; ++i) {
        // At once: the first action of the child.
        EXPECT_EQ(run_in_child([] {
                      sign();
                      return 0;
                  }),
                  0);
        sign();
        attempted.fetch_add(2);
        listener.poll();
    }
    stop = true;
    for (std::thread& worker : workers) {
        worker.join();
    }
    listener.finish();
    EXPECT_EQ(listener.records().size() + listener.totals().lost + listener.lost_by_providers(),
              attempted.load());
    std::set<std::uint64_t> processes;
    for (const received_record& record : listener.records()) {
        const auto process = std::get<std::uint64_t>(listener.field(record, "process"));
        ASSERT_EQ(listener.providers().at(record.header.provider).pid, process);
        ASSERT_EQ(std::get<std::uint64_t>(listener.field(record, "thread")), record.header.thread);
        processes.insert(process);
    }
    EXPECT_EQ(processes.size(), children + 1);
}

TEST(fork, loses_nothing_while_other_threads_emit) {
    event_listener listener("fork_test:*", {1U << 20U, 4});
    fork_test::emit(birth{0});
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> emitted{1};
    std::thread worker([&] {
        while (!stop) {
            fork_test::emit(birth{0});
            emitted.fetch_add(1);
        }
    });
    constexpr std::uint64_t children = 20;
    for (std::uint64_t i = 0; i < children; ++i) {
        EXPECT_EQ(run_in_child([] {
                      for (std::uint32_t k = 0; k < 100; ++k) {
                          fork_test::emit(birth{k});
                      }
                      return 0;
                  }),
                  0);
        listener.poll();
    }
    stop = true;
    worker.join();
    listener.finish();
    EXPECT_EQ(listener.totals().read + listener.totals().lost + listener.lost_by_providers(),
              emitted.load() + children * 100);
}

}  // namespace
