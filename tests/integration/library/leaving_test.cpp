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

#include "forbid_call.hpp"
#include "in_child.hpp"
#include "listener.hpp"
#include "ring/subscription_slots.hpp"
#include "scratch.hpp"
#include "trial_size.hpp"

namespace {

using eventlog::core::slot_user;
using eventlog::core::subscription_slot;
using eventlog::core::subscription_slots;
using eventlog::test::eventlog_directory;
using eventlog::test::in_child;
using eventlog::test::listener;

struct wanted {
    std::uint64_t number;
};
struct unwanted {
    std::uint64_t number;
};
using leaver = eventlog::provider<"leaving_test", wanted, unwanted>;

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
        leaver::emit(unwanted{0});
    }
    return true;
}

bool is_all_left() {
    return mapped_regions() == 0 && is_gate_closed();
}

subscription_slot& slot_of(listener& ears) {
    for (subscription_slot& slot : subscription_slots) {
        if (slot.serial.load() == ears.source().header().serial) {
            return slot;
        }
    }
    throw std::out_of_range("not attached");
}

/// Two pipes, by which parent and child wait for each other.
class meeting {
  public:
    meeting() {
        EXPECT_EQ(::pipe(ends_.data()), 0);
        EXPECT_EQ(::pipe(ends_.data() + 2), 0);
    }
    ~meeting() {
        for (const int end : ends_) {
            ::close(end);
        }
    }
    meeting(const meeting&) = delete;
    meeting& operator=(const meeting&) = delete;

    void tell_child() { EXPECT_EQ(::write(ends_[1], "g", 1), 1); }
    void wait_for_child() {
        char byte = 0;
        EXPECT_EQ(::read(ends_[2], &byte, 1), 1);
    }
    bool tell_parent_and_wait() {
        char byte = 0;
        return ::write(ends_[3], "r", 1) == 1 && ::read(ends_[0], &byte, 1) == 1;
    }

  private:
    std::array<int, 4> ends_{};
};

class leaving : public testing::Test {
  protected:
    void SetUp() override {
        // Of tests before this one, whose providers do not emit any more: who attaches leaves them.
        {
            const listener any("leaving_test:*");
            leaver::emit(unwanted{0});
        }
        ASSERT_TRUE(at_some_emit(is_all_left));
    }
};

TEST_F(leaving, happens_at_the_next_emit) {
    std::optional<listener> ears("leaving_test:*");
    leaver::emit(wanted{1});
    EXPECT_EQ(mapped_regions(), 1);
    ears.reset();
    EXPECT_EQ(mapped_regions(), 1);
    leaver::emit(wanted{2});
    EXPECT_EQ(mapped_regions(), 0);
    EXPECT_TRUE(is_gate_closed());
}

TEST_F(leaving, happens_at_the_next_emit_of_an_event_that_nobody_wanted) {
    std::optional<listener> ears("leaving_test:wanted");
    leaver::emit(wanted{1});
    ears.reset();
    leaver::emit(unwanted{2});
    EXPECT_EQ(mapped_regions(), 0);
    EXPECT_TRUE(is_gate_closed());
}

TEST_F(leaving, happens_at_the_next_poll) {
    std::optional<listener> ears("leaving_test:*");
    leaver::emit(wanted{1});
    ears.reset();
    leaver::poll();
    EXPECT_EQ(mapped_regions(), 0);
}

TEST_F(leaving, happens_when_somebody_asks_who_listens_and_is_told_that_nobody_does) {
    std::optional<listener> ears("leaving_test:*");
    leaver::emit(wanted{1});
    ears.reset();
    EXPECT_FALSE(leaver::enabled<wanted>());
    EXPECT_EQ(mapped_regions(), 0);
    EXPECT_TRUE(is_gate_closed());
}

unsigned told = 0;

struct noticed {
    std::uint64_t number;
};
// One of its own: who has once asked to be told is called to attention by others, too.
using watched = eventlog::provider<"leaving_watched", noticed>;

TEST_F(leaving, runs_callbacks_in_an_emit_only) {
    std::optional<listener> ears("leaving_watched:*");
    watched::on_enable([](unsigned listeners) { told = 10 + listeners; });
    watched::emit(noticed{1});
    EXPECT_EQ(told, 11U);
    ears.reset();
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

TEST_F(leaving, is_of_no_flight_recorder_that_has_what_a_provider_left_there) {
    listener ears("leaving_visitor:*", {128U << 10U, 2, true});
    ASSERT_TRUE(visit());
    EXPECT_EQ(mapped_regions(), 1);
}

TEST_F(leaving, is_of_what_else_no_provider_is_there_for) {
    listener ears("leaving_visitor:*");
    ASSERT_TRUE(visit());
    EXPECT_EQ(mapped_regions(), 0);
    ASSERT_TRUE(visit());
    ears.poll();
    EXPECT_EQ(ears.heard_names(), "visited visited");
}

TEST_F(leaving, in_vain_leaves_a_subscription_as_it_was) {
    listener ears("leaving_visitor:*");
    EXPECT_EQ(in_child([] {
                  // Without it nobody can tell whether a sequence is still writing there.
                  const bool is_forbidden = eventlog::test::forbid_call(SYS_membarrier);
                  return is_forbidden && visit() && visit() ? 0 : 1;
              }),
              0);
    ears.poll();
    EXPECT_EQ(ears.heard_names(), "visited visited");
}

TEST_F(leaving, is_of_all_that_have_ended_and_of_no_other) {
    listener staying("leaving_test:*");
    std::vector<std::unique_ptr<listener>> ending;
    for (int i = 0; i < 5; ++i) {
        ending.push_back(std::make_unique<listener>("leaving_test:*"));
    }
    leaver::emit(wanted{1});
    EXPECT_EQ(mapped_regions(), 6);
    ending.clear();
    leaver::emit(wanted{2});
    EXPECT_EQ(mapped_regions(), 1);
    leaver::emit(wanted{3});
    EXPECT_EQ(staying.heard_names(), "wanted wanted wanted");
}

TEST_F(leaving, waits_until_no_thread_is_in_the_region) {
    std::optional<listener> ears("leaving_test:*");
    leaver::emit(wanted{1});
    subscription_slot& slot = slot_of(*ears);
    std::atomic<int> stage{0};
    std::thread other([&] {
        const slot_user user(slot, slot.serial.load());
        stage = user.holds() ? 1 : -1;
        stage.notify_all();
        stage.wait(1);
    });
    stage.wait(0);
    ears.reset();
    for (int i = 0; i < 20; ++i) {
        leaver::emit(wanted{2});
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(mapped_regions(), 1);
    EXPECT_FALSE(leaver::enabled<wanted>());
    EXPECT_EQ(stage.exchange(2), 1);
    stage.notify_all();
    other.join();
    EXPECT_TRUE(at_some_emit(is_all_left));
}

TEST_F(leaving, waits_for_an_emit_that_a_signal_handler_has_interrupted) {
    std::optional<listener> ears("leaving_test:*");
    leaver::emit(wanted{1});
    subscription_slot& slot = slot_of(*ears);
    {
        // As if the rest of this block were the handler.
        const slot_user user(slot, slot.serial.load());
        ears.reset();
        leaver::emit(wanted{2});
        EXPECT_EQ(mapped_regions(), 1);
    }
    EXPECT_TRUE(at_some_emit(is_all_left));
}

TEST_F(leaving, is_no_matter_of_a_subscription_that_takes_the_place) {
    for (std::uint64_t i = 0; i < 20; ++i) {
        listener ears("leaving_test:wanted");
        leaver::emit(wanted{i});
        EXPECT_EQ(mapped_regions(), 1);
        EXPECT_EQ(ears.heard_names(), "wanted");
    }
}

TEST_F(leaving, happens_in_a_forked_child_at_its_next_emit) {
    std::optional<listener> ears("leaving_test:*");
    leaver::emit(wanted{1});
    meeting both;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const bool was_there = mapped_regions() == 1;
        const bool in_step = both.tell_parent_and_wait();
        leaver::emit(unwanted{2});
        ::_exit(was_there && in_step && is_all_left() ? 0 : 1);
    }
    both.wait_for_child();
    ears.reset();
    both.tell_child();
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    // Which has not done the parent's part.
    EXPECT_EQ(mapped_regions(), 1);
    leaver::emit(unwanted{3});
    EXPECT_EQ(mapped_regions(), 0);
}

TEST_F(leaving, happens_in_the_fork_where_the_parent_has_not_come_to_it) {
    std::optional<listener> ears("leaving_test:*");
    leaver::emit(wanted{1});
    ears.reset();
    EXPECT_EQ(in_child([] { return mapped_regions(); }), 0);
    EXPECT_EQ(mapped_regions(), 1);
}

TEST_F(leaving, happens_in_the_fork_where_the_child_is_not_wanted) {
    elog::subscription_options options;
    options.patterns.add("leaving_test:*");
    options.patterns.add_process(static_cast<std::uint32_t>(::getpid()));
    options.buffer_size = 128U << 10U;
    const elog::subscription parents_only(options);
    leaver::emit(wanted{1});
    EXPECT_EQ(mapped_regions(), 1);
    EXPECT_EQ(in_child([] { return mapped_regions(); }), 0);
    EXPECT_EQ(mapped_regions(), 1);
}

TEST_F(leaving, waits_in_a_child_that_a_signal_handler_has_forked) {
    std::optional<listener> ears("leaving_test:*");
    leaver::emit(wanted{1});
    std::optional<slot_user> user(std::in_place, slot_of(*ears), slot_of(*ears).serial.load());
    ears.reset();
    EXPECT_EQ(in_child([&] {
                  leaver::emit(wanted{2});
                  if (mapped_regions() != 1) {
                      return 1;
                  }
                  user.reset();
                  return at_some_emit(is_all_left) ? 0 : 2;
              }),
              0);
}

TEST_F(leaving, is_not_done_by_a_child_of_which_the_library_does_not_know) {
    std::optional<listener> ears("leaving_test:*");
    leaver::emit(wanted{1});
    ears.reset();
    // What fork() calls: the child has its parent's gate.
    const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    ASSERT_GE(child, 0);
    if (child == 0) {
        leaver::emit(wanted{2});
        ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(mapped_regions(), 1);
    leaver::emit(wanted{3});
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

TEST_F(leaving, happens_when_the_only_provider_that_was_wanted_is_withdrawn) {
    std::optional<guest> visitor(std::in_place);
    listener ears("leaving_guest:*");
    visitor->emit();
    EXPECT_EQ(mapped_regions(), 1);
    visitor.reset();
    EXPECT_EQ(mapped_regions(), 0);
    // And its successor finds the way back.
    visitor.emplace();
    EXPECT_EQ(mapped_regions(), 1);
    visitor->emit();
    visitor.reset();
    EXPECT_EQ(ears.heard_names(), "called called");
}

TEST_F(leaving, does_not_happen_when_another_provider_is_withdrawn) {
    std::optional<guest> visitor(std::in_place);
    listener ears("leaving_*:*");
    visitor->emit();
    leaver::emit(wanted{1});
    visitor.reset();
    EXPECT_EQ(mapped_regions(), 1);
    leaver::emit(wanted{2});
    EXPECT_EQ(ears.heard_names(), "called wanted wanted");
}

TEST_F(leaving, is_left_to_another_provider_when_a_thread_is_in_the_region) {
    std::optional<guest> visitor(std::in_place);
    listener ears("leaving_guest:*");
    visitor->emit();
    {
        const slot_user user(slot_of(ears), slot_of(ears).serial.load());
        visitor.reset();
        EXPECT_EQ(mapped_regions(), 1);
    }
    EXPECT_TRUE(at_some_emit(is_all_left));
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
        action.sa_handler = [](int) { leaver::emit(wanted{handled.fetch_add(1)}); };
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

TEST_F(leaving, loses_nothing_while_threads_and_handlers_emit_and_processes_fork) {
    std::optional<listener> staying(std::in_place, "leaving_test:*",
                                    listener::options{1U << 20U, 4, false});
    leaver::emit(wanted{0});
    std::atomic<std::uint64_t> attempted{1};
    const std::uint64_t rounds = eventlog::test::trial_size("EVENTLOG_LEAVING_ROUNDS", 60);
    {
        std::atomic<bool> stop{false};
        std::vector<std::jthread> workers;
        for (int i = 0; i < 3; ++i) {
            workers.emplace_back([&] {
                while (!stop) {
                    leaver::emit(wanted{1});
                    leaver::emit(unwanted{2});
                    attempted += 2;
                    std::this_thread::yield();
                }
            });
        }
        const ticking timer;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            std::vector<std::unique_ptr<listener>> guests;
            for (std::uint64_t i = 0; i <= round % 3; ++i) {
                guests.push_back(std::make_unique<listener>("leaving_test:wanted"));
            }
            leaver::emit(unwanted{3});
            ++attempted;
            if (round % 8 == 0) {
                EXPECT_EQ(in_child([&] {
                              leaver::emit(unwanted{4});
                              return mapped_regions() > static_cast<int>(1 + guests.size()) ? 1 : 0;
                          }),
                          0)
                    << "round " << round;
                ++attempted;
            }
            guests.clear();
            staying->poll();
            staying->forget_records();
        }
        stop = true;
    }
    staying->finish();
    EXPECT_EQ(staying->totals().read + staying->totals().lost + staying->lost_by_providers(),
              attempted + handled);
    EXPECT_EQ(staying->totals().damaged, 0U);
    staying.reset();
    EXPECT_TRUE(at_some_emit(is_all_left));
}

}  // namespace
