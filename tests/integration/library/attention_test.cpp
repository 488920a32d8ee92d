// SPDX-License-Identifier: MIT
//
// What an application hears of those who listen to it.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"

namespace {

using eventlog::test::listener;

struct changed {
    std::uint32_t value;
};
struct present {
    std::uint32_t value;
};
using watched = eventlog::provider<"attention_test", changed, present>;

}  // namespace

template <>
inline constexpr eventlog::provider_traits eventlog::provider_traits_of<watched>{.dumps = true};

namespace {

std::vector<unsigned> told;

void note(unsigned listeners) {
    told.push_back(listeners);
}

class attention : public testing::Test {
  protected:
    void SetUp() override {
        // A thread of the test before may have found that a listener had just left: for a moment
        // it does not look again who has come.
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
        told.clear();
        watched::on_enable(note);
        watched::poll();
        told.clear();
    }
    void TearDown() override {
        watched::on_enable(nullptr);
        watched::on_dump(nullptr);
        watched::poll();
    }
};

TEST_F(attention, is_called_at_the_next_emit_and_at_the_next_poll) {
    std::optional<listener> ears("attention_test:changed");
    EXPECT_TRUE(told.empty());
    watched::emit(changed{1});
    EXPECT_EQ(told, std::vector<unsigned>{1});
    watched::emit(changed{2});
    EXPECT_EQ(told, std::vector<unsigned>{1});
    ears.reset();
    watched::poll();
    EXPECT_EQ(told, (std::vector<unsigned>{1, 0}));
    watched::poll();
    EXPECT_EQ(told, (std::vector<unsigned>{1, 0}));
}

TEST_F(attention, is_called_by_the_emit_of_an_event_that_nobody_wants) {
    const listener ears("attention_test:changed");
    watched::emit(present{1});
    EXPECT_EQ(told, std::vector<unsigned>{1});
}

TEST_F(attention, counts_listeners_and_tells_one_from_its_successor) {
    std::optional<listener> first("attention_test:*");
    const listener second("attention_test:changed");
    watched::poll();
    EXPECT_EQ(told, std::vector<unsigned>{2});
    first.reset();
    first.emplace("attention_test:*");
    watched::poll();
    EXPECT_EQ(told, (std::vector<unsigned>{2, 2}));
}

TEST_F(attention, loses_no_event_on_the_way) {
    listener ears("attention_test:changed");
    watched::emit(changed{1});
    EXPECT_EQ(ears.heard_names(), "changed");
}

TEST_F(attention, is_told_of_listeners_that_were_there_before_it_asked) {
    watched::on_enable(nullptr);
    const listener ears("attention_test:*");
    watched::emit(changed{1});
    told.clear();
    watched::on_enable(note);
    watched::emit(changed{2});
    EXPECT_EQ(told, std::vector<unsigned>{1});
}

void tell_state() {
    watched::emit(present{17});
    watched::emit(present{18});
}

TEST_F(attention, tells_the_state_to_the_newcomer_alone_and_says_when_it_is_complete) {
    listener early("attention_test:*");
    watched::emit(changed{1});
    watched::on_dump(tell_state);
    watched::poll();
    EXPECT_EQ(early.heard_names(), "changed present present dump_complete");
    early.forget_records();
    listener late("attention_test:*");
    watched::emit(changed{2});
    EXPECT_EQ(early.heard_names(), "changed");
    EXPECT_EQ(late.heard_names(), "present present dump_complete changed");
}

TEST_F(attention, tells_the_state_once_to_each_listener) {
    watched::on_dump(tell_state);
    std::optional<listener> ears("attention_test:*");
    watched::poll();
    const listener other("attention_test:changed");
    watched::poll();
    watched::poll();
    EXPECT_EQ(ears->heard_names(), "present present dump_complete");
    ears.reset();
    ears.emplace("attention_test:*");
    watched::poll();
    EXPECT_EQ(ears->heard_names(), "present present dump_complete");
}

TEST_F(attention, completes_a_dump_for_one_who_wants_other_events) {
    watched::on_dump(tell_state);
    listener ears("attention_test:changed");
    watched::poll();
    EXPECT_EQ(ears.heard_names(), "dump_complete");
}

TEST_F(attention, goes_to_one_thread_while_others_emit) {
    watched::on_dump(tell_state);
    std::atomic<bool> stop{false};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            // Slowly: what finds no room is lost, of a dump as well.
            while (!stop.load()) {
                watched::emit(changed{1});
                std::this_thread::sleep_for(std::chrono::microseconds{200});
            }
        });
    }
    for (int i = 0; i < 20; ++i) {
        listener ears("attention_test:*");
        std::map<std::string, unsigned> heard;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        // The thread that tells the state may be kept from it while the others emit.
        while ((heard["changed"] < 10 || heard["dump_complete"] == 0) &&
               std::chrono::steady_clock::now() < deadline) {
            ears.poll();
            for (const auto& record : ears.records()) {
                ++heard[ears.event_name(record)];
            }
            ears.forget_records();
        }
        EXPECT_GE(heard["changed"], 10U);
        EXPECT_EQ(heard["present"], 2U);
        EXPECT_EQ(heard["dump_complete"], 1U);
    }
    stop = true;
}

TEST_F(attention, is_told_once_soon_after_it_asked_whoever_listens) {
    const listener ears("attention_test:*");
    watched::poll();
    told.clear();
    watched::on_enable(note);
    watched::poll();
    watched::poll();
    EXPECT_EQ(told, std::vector<unsigned>{1});
}

void replace_itself(unsigned listeners) {
    watched::emit(changed{listeners});
    EXPECT_TRUE(watched::on_enable(note)) << "a thread does not wait for itself";
}

TEST_F(attention, may_emit_and_replace_itself) {
    listener ears("attention_test:changed");
    watched::on_enable(replace_itself);
    watched::poll();
    watched::poll();
    EXPECT_EQ(told, std::vector<unsigned>{1});
    EXPECT_EQ(ears.heard_names(), "changed");
}

TEST_F(attention, is_of_use_in_a_forked_child) {
    watched::on_dump(tell_state);
    listener ears("attention_test:*");
    watched::poll();
    ears.poll();
    ears.forget_records();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        watched::emit(changed{99});
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(ears.heard_names(), "present present dump_complete changed");
}

}  // namespace
