// SPDX-License-Identifier: MIT
//
// An application leaves a subscription that has ended: from its next emit on nothing of it is
// mapped any more, whoever was in it, and in a forked child neither.
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>
#include <eventlog/eventlog.hpp>

#include "syscall_override.hpp"
#include "run_in_child.hpp"
#include "listener.hpp"
#include "ring/subscription_slots.hpp"
#include "scratch.hpp"
#include "trial_size.hpp"

namespace {

using eventlog::core::slot_user;
using eventlog::core::subscription_slot;
using eventlog::core::subscription_slots;
using eventlog::test::eventlog_directory;
using eventlog::test::run_in_child;
using eventlog::test::event_listener;

struct wanted {
    std::uint64_t number;
};
struct unwanted {
    std::uint64_t number;
};
using detach_provider = eventlog::provider<"leaving_test", wanted, unwanted>;

/// How many regions this process has mapped as an application. It found them by name; what its
/// listeners have mapped for reading had none yet.
int mapped_regions() {
    std::ifstream maps("/proc/self/maps");
    const std::string file = eventlog_directory() + "/subscriptions/";
    int count = 0;
    for (std::string line; std::getline(maps, line);) {
        const std::size_t at = line.find(file);
        count += at != std::string::npos && line[at + file.size()] != '#' ? 1 : 0;
    }
    return count;
}

/// The gate words, as others see them.
std::array<std::uint32_t, 2> gate_of(pid_t process) {
    std::ifstream file(eventlog_directory() + "/providers/leaving_test." + std::to_string(process) +
                       ".0");
    std::array<std::uint32_t, 2> words{};
    file.seekg(EVENTLOG_PROVIDER_GATE_OFFSET);
    file.read(reinterpret_cast<char*>(words.data()), sizeof words);
    EXPECT_TRUE(file.good());
    return words;
}

bool is_gate_closed() {
    return gate_of(::getpid()) == std::array<std::uint32_t, 2>{};
}

/// Emits until it is true; not for ever.
bool at_some_emit(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        detach_provider::emit(unwanted{0});
    }
    return true;
}

bool are_all_detached() {
    return mapped_regions() == 0 && is_gate_closed();
}

subscription_slot& slot_of(event_listener& listener) {
    for (subscription_slot& slot : subscription_slots) {
        if (slot.serial.load() == listener.source().header().serial) {
            return slot;
        }
    }
    throw std::out_of_range("not attached");
}

/// Two pipes, by which parent and child wait for each other.
class barrier_pair {
  public:
    barrier_pair() {
        EXPECT_EQ(::pipe(ends_.data()), 0);
        EXPECT_EQ(::pipe(ends_.data() + 2), 0);
    }
    ~barrier_pair() {
        for (const int end : ends_) {
            ::close(end);
        }
    }
    barrier_pair(const barrier_pair&) = delete;
    barrier_pair& operator=(const barrier_pair&) = delete;

    void signal_child() { EXPECT_EQ(::write(ends_[1], "g", 1), 1); }
    void wait_for_child() {
        char byte = 0;
        EXPECT_EQ(::read(ends_[2], &byte, 1), 1);
    }
    bool signal_parent_and_wait() {
        char byte = 0;
        return ::write(ends_[3], "r", 1) == 1 && ::read(ends_[0], &byte, 1) == 1;
    }

  private:
    std::array<int, 4> ends_{};
};

class detach : public testing::Test {
  protected:
    void SetUp() override {
        // Of tests before this one, whose providers do not emit any more: who attaches leaves them.
        {
            const event_listener any("leaving_test:*");
            detach_provider::emit(unwanted{0});
        }
        ASSERT_TRUE(at_some_emit(are_all_detached));
    }
};

TEST_F(detach, runs_at_next_emit) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    EXPECT_EQ(mapped_regions(), 1);
    listener.reset();
    EXPECT_EQ(mapped_regions(), 1);
    detach_provider::emit(wanted{2});
    EXPECT_EQ(mapped_regions(), 0);
    EXPECT_TRUE(is_gate_closed());
}

TEST_F(detach, runs_at_next_emit_of_disabled_event) {
    std::optional<event_listener> listener("leaving_test:wanted");
    detach_provider::emit(wanted{1});
    listener.reset();
    detach_provider::emit(unwanted{2});
    EXPECT_EQ(mapped_regions(), 0);
    EXPECT_TRUE(is_gate_closed());
}

TEST_F(detach, runs_at_next_poll) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    listener.reset();
    detach_provider::poll();
    EXPECT_EQ(mapped_regions(), 0);
}

TEST_F(detach, runs_when_listener_query_finds_no_listener) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    listener.reset();
    EXPECT_FALSE(detach_provider::enabled<wanted>());
    EXPECT_EQ(mapped_regions(), 0);
    EXPECT_TRUE(is_gate_closed());
}

unsigned told = 0;

struct noticed {
    std::uint64_t number;
};
// One of its own: who has once asked to be told is called to attention by others, too.
using watched = eventlog::provider<"leaving_watched", noticed>;

TEST_F(detach, runs_callbacks_only_from_emit) {
    std::optional<event_listener> listener("leaving_watched:*");
    watched::on_enable([](unsigned listeners) { told = 10 + listeners; });
    watched::emit(noticed{1});
    EXPECT_EQ(told, 11U);
    listener.reset();
    EXPECT_TRUE(watched::enabled<noticed>()) << "or programs that ask would never come to an emit";
    EXPECT_EQ(told, 11U);
    watched::emit(noticed{2});
    EXPECT_EQ(told, 10U);
    EXPECT_EQ(mapped_regions(), 0);
    EXPECT_FALSE(watched::enabled<noticed>());
    watched::on_enable(nullptr);
}

// Of a provider that comes and goes.
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
                  // Without it nobody can tell whether a sequence is still writing there.
                  const bool is_forbidden = eventlog::test::deny_syscall(SYS_membarrier);
                  return is_forbidden && visit() && visit() ? 0 : 1;
              }),
              0);
    listener.poll();
    EXPECT_EQ(listener.received_names(), "visited visited");
}

TEST_F(detach, unmaps_all_ended_subscriptions_and_no_live_one) {
    event_listener staying("leaving_test:*");
    std::vector<std::unique_ptr<event_listener>> ending;
    for (int i = 0; i < 5; ++i) {
        ending.push_back(std::make_unique<event_listener>("leaving_test:*"));
    }
    detach_provider::emit(wanted{1});
    EXPECT_EQ(mapped_regions(), 6);
    ending.clear();
    detach_provider::emit(wanted{2});
    EXPECT_EQ(mapped_regions(), 1);
    detach_provider::emit(wanted{3});
    EXPECT_EQ(staying.received_names(), "wanted wanted wanted");
}

TEST_F(detach, waits_until_no_thread_uses_region) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    subscription_slot& slot = slot_of(*listener);
    std::atomic<int> stage{0};
    std::thread other([&] {
        const slot_user user(slot, slot.serial.load());
        stage = user.holds() ? 1 : -1;
        stage.notify_all();
        stage.wait(1);
    });
    stage.wait(0);
    listener.reset();
    for (int i = 0; i < 20; ++i) {
        detach_provider::emit(wanted{2});
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(mapped_regions(), 1);
    EXPECT_FALSE(detach_provider::enabled<wanted>());
    EXPECT_EQ(stage.exchange(2), 1);
    stage.notify_all();
    other.join();
    EXPECT_TRUE(at_some_emit(are_all_detached));
}

TEST_F(detach, waits_for_emit_interrupted_by_signal_handler) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    subscription_slot& slot = slot_of(*listener);
    {
        // As if the rest of this block were the handler.
        const slot_user user(slot, slot.serial.load());
        listener.reset();
        detach_provider::emit(wanted{2});
        EXPECT_EQ(mapped_regions(), 1);
    }
    EXPECT_TRUE(at_some_emit(are_all_detached));
}

TEST_F(detach, does_not_affect_next_subscription_in_slot) {
    for (std::uint64_t i = 0; i < 20; ++i) {
        event_listener listener("leaving_test:wanted");
        detach_provider::emit(wanted{i});
        EXPECT_EQ(mapped_regions(), 1);
        EXPECT_EQ(listener.received_names(), "wanted");
    }
}

TEST_F(detach, runs_in_forked_child_at_its_next_emit) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    barrier_pair both;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const bool was_there = mapped_regions() == 1;
        const bool in_step = both.signal_parent_and_wait();
        detach_provider::emit(unwanted{2});
        ::_exit(was_there && in_step && are_all_detached() ? 0 : 1);
    }
    both.wait_for_child();
    listener.reset();
    both.signal_child();
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    // Which has not done the parent's part.
    EXPECT_EQ(mapped_regions(), 1);
    detach_provider::emit(unwanted{3});
    EXPECT_EQ(mapped_regions(), 0);
}

TEST_F(detach, runs_in_fork_if_parent_has_not_detached) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    listener.reset();
    EXPECT_EQ(run_in_child([] { return mapped_regions(); }), 0);
    EXPECT_EQ(mapped_regions(), 1);
}

TEST_F(detach, runs_in_fork_if_child_is_not_selected) {
    elog::subscription_options options;
    options.patterns.add("leaving_test:*");
    options.patterns.add_process(static_cast<std::uint32_t>(::getpid()));
    options.buffer_size = 128U << 10U;
    const elog::subscription parents_only(options);
    detach_provider::emit(wanted{1});
    EXPECT_EQ(mapped_regions(), 1);
    EXPECT_EQ(run_in_child([] { return mapped_regions(); }), 0);
    EXPECT_EQ(mapped_regions(), 1);
}

TEST_F(detach, waits_in_child_forked_by_signal_handler) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    std::optional<slot_user> user(std::in_place, slot_of(*listener), slot_of(*listener).serial.load());
    listener.reset();
    EXPECT_EQ(run_in_child([&] {
                  detach_provider::emit(wanted{2});
                  if (mapped_regions() != 1) {
                      return 1;
                  }
                  user.reset();
                  return at_some_emit(are_all_detached) ? 0 : 2;
              }),
              0);
}

TEST_F(detach, is_skipped_in_raw_clone_child) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    listener.reset();
    // What fork() calls: the child has its parent's gate.
    const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    ASSERT_GE(child, 0);
    if (child == 0) {
        detach_provider::emit(wanted{2});
        ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(mapped_regions(), 1);
    detach_provider::emit(wanted{3});
    EXPECT_EQ(mapped_regions(), 0);
}

/// A provider that comes and goes, as that of a shared object does.
class guest {
  public:
    guest() : handle_(eventlog_provider_register(&definition())) {}
    ~guest() { eventlog_provider_unregister(handle_); }
    guest(const guest&) = delete;
    guest& operator=(const guest&) = delete;

    void emit() const {
        const std::uint64_t payload = 1;
        eventlog_emit(handle_, 0, &payload, sizeof payload);
    }

  private:
    struct called {
        std::uint64_t number;
    };
    static const eventlog_provider_definition& definition() {
        static constinit eventlog::detail::gate_page gate{};
        static constexpr const auto& schema = eventlog::provider<"leaving_guest", called>::schema();
        static const eventlog_provider_definition made{
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
    // And its successor finds the way back.
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
        const slot_user user(slot_of(listener), slot_of(listener).serial.load());
        visitor.reset();
        EXPECT_EQ(mapped_regions(), 1);
    }
    EXPECT_TRUE(at_some_emit(are_all_detached));
}

// Shared with children: ThreadSanitizer holds signals back, and a child that is forked meanwhile
// handles them, too.
std::atomic<std::uint64_t>& handled = *[] {
    void* const memory = ::mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : new (memory) std::atomic<std::uint64_t>(0);
}();

/// A timer whose handler emits, in whatever thread it interrupts.
class ticking {
  public:
    ticking() {
        struct sigaction action {};
        action.sa_handler = [](int) { detach_provider::emit(wanted{handled.fetch_add(1)}); };
        action.sa_flags = SA_RESTART;
        EXPECT_EQ(::sigaction(SIGALRM, &action, &before_), 0);
        sigevent event{};
        event.sigev_notify = SIGEV_SIGNAL;
        event.sigev_signo = SIGALRM;
        EXPECT_EQ(::timer_create(CLOCK_MONOTONIC, &event, &timer_), 0);
        const itimerspec period{{0, 200'000}, {0, 200'000}};
        EXPECT_EQ(::timer_settime(timer_, 0, &period, nullptr), 0);
    }
    ~ticking() {
        ::timer_delete(timer_);
        // One that is still on its way finds no default action.
        ::signal(SIGALRM, SIG_IGN);
        ::sigaction(SIGALRM, &before_, nullptr);
    }
    ticking(const ticking&) = delete;
    ticking& operator=(const ticking&) = delete;

  private:
    struct sigaction before_ {};
    timer_t timer_{};
};

TEST_F(detach, loses_nothing_under_concurrent_emits_signals_and_forks) {
    std::optional<event_listener> staying(std::in_place, "leaving_test:*",
                                    event_listener::options{1U << 20U, 4, false});
    detach_provider::emit(wanted{0});
    std::atomic<std::uint64_t> attempted{1};
    const std::uint64_t rounds = eventlog::test::trial_size("EVENTLOG_LEAVING_ROUNDS", 60);
    {
        std::atomic<bool> stop{false};
        std::vector<std::jthread> workers;
        for (int i = 0; i < 3; ++i) {
            workers.emplace_back([&] {
                while (!stop) {
                    detach_provider::emit(wanted{1});
                    detach_provider::emit(unwanted{2});
                    attempted += 2;
                    std::this_thread::yield();
                }
            });
        }
        const ticking timer;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            std::vector<std::unique_ptr<event_listener>> guests;
            for (std::uint64_t i = 0; i <= round % 3; ++i) {
                guests.push_back(std::make_unique<event_listener>("leaving_test:wanted"));
            }
            detach_provider::emit(unwanted{3});
            ++attempted;
            if (round % 8 == 0) {
                EXPECT_EQ(run_in_child([&] {
                              detach_provider::emit(unwanted{4});
                              return mapped_regions() > static_cast<int>(1 + guests.size()) ? 1 : 0;
                          }),
                          0)
                    << "round " << round;
                ++attempted;
            }
            guests.clear();
            staying->poll();
            staying->clear_records();
        }
        stop = true;
    }
    staying->finish();
    EXPECT_EQ(staying->totals().read + staying->totals().lost + staying->lost_by_providers(),
              attempted + handled);
    EXPECT_EQ(staying->totals().damaged, 0U);
    staying.reset();
    EXPECT_TRUE(at_some_emit(are_all_detached));
}

}  // namespace
