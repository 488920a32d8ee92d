// SPDX-License-Identifier: MIT
//
// Notifications of a program about its listeners.
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
#include "schema/schema.hpp"
#include "shm/directory.hpp"
#include "shm/process_file.hpp"

namespace {

namespace core = eventlog::core;

using eventlog::test::event_listener;

struct changed {
    std::uint32_t value;
};
struct present {
    std::uint32_t value;
};
using watched = eventlog::provider<"attention_test", changed, present>;

}  // namespace

template <>
inline constexpr eventlog::provider_info eventlog::provider_info_of<watched>{.replays_state = true};

namespace {

std::vector<unsigned> reported;

void note(unsigned listeners) {
    reported.push_back(listeners);
}

class notification_callback : public testing::Test {
  protected:
    void SetUp() override {
        // A thread of the previous test may have found an ended listener; then it does not look for
        // new ones for a moment.
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
        reported.clear();
        watched::on_listeners_changed(note);
        watched::run_callbacks();
        reported.clear();
    }
    void TearDown() override {
        watched::on_listeners_changed(nullptr);
        watched::on_new_listener(nullptr);
        watched::run_callbacks();
    }
};

TEST_F(notification_callback, runs_at_next_emit_and_next_poll) {
    std::optional<event_listener> listener("attention_test:changed");
    EXPECT_TRUE(reported.empty());
    watched::emit(changed{1});
    EXPECT_EQ(reported, std::vector<unsigned>{1});
    watched::emit(changed{2});
    EXPECT_EQ(reported, std::vector<unsigned>{1});
    listener.reset();
    watched::run_callbacks();
    EXPECT_EQ(reported, (std::vector<unsigned>{1, 0}));
    watched::run_callbacks();
    EXPECT_EQ(reported, (std::vector<unsigned>{1, 0}));
}

TEST_F(notification_callback, runs_in_emit_of_disabled_event) {
    const event_listener listener("attention_test:changed");
    watched::emit(present{1});
    EXPECT_EQ(reported, std::vector<unsigned>{1});
}

TEST_F(notification_callback, counts_listeners_and_distinguishes_slot_successor) {
    std::optional<event_listener> first("attention_test:*");
    const event_listener second("attention_test:changed");
    watched::run_callbacks();
    EXPECT_EQ(reported, std::vector<unsigned>{2});
    first.reset();
    first.emplace("attention_test:*");
    watched::run_callbacks();
    EXPECT_EQ(reported, (std::vector<unsigned>{2, 2}));
}

TEST_F(notification_callback, loses_no_event_during_callback) {
    event_listener listener("attention_test:changed");
    watched::emit(changed{1});
    EXPECT_EQ(listener.received_names(), "changed");
}

TEST_F(notification_callback, reports_listeners_present_before_registration) {
    watched::on_listeners_changed(nullptr);
    const event_listener listener("attention_test:*");
    watched::emit(changed{1});
    reported.clear();
    watched::on_listeners_changed(note);
    watched::emit(changed{2});
    EXPECT_EQ(reported, std::vector<unsigned>{1});
}

TEST_F(notification_callback, receives_the_context_of_its_replacement) {
    unsigned first = 0;
    unsigned second = 0;
    unsigned replayed = 0;
    const auto store = [](void* context, unsigned listeners) {
        *static_cast<unsigned*>(context) = 10 + listeners;
    };
    const event_listener listener("attention_test:*");
    EXPECT_TRUE(watched::on_listeners_changed(store, &first));
    watched::emit(changed{1});
    EXPECT_EQ(first, 11U);
    EXPECT_TRUE(watched::on_listeners_changed(store, &second));
    EXPECT_TRUE(watched::on_new_listener([](void* context) { ++*static_cast<unsigned*>(context); },
                                         &replayed));
    watched::run_callbacks();
    EXPECT_EQ(first, 11U);
    EXPECT_EQ(second, 11U);
    EXPECT_EQ(replayed, 1U);
    EXPECT_TRUE(watched::on_new_listener(nullptr, nullptr));
}

void dump_state() {
    watched::emit(present{17});
    watched::emit(present{18});
}

TEST_F(notification_callback, dumps_state_to_new_listener_only_and_marks_completion) {
    event_listener early("attention_test:*");
    watched::emit(changed{1});
    watched::on_new_listener(dump_state);
    watched::run_callbacks();
    EXPECT_EQ(early.received_names(), "changed present present state_complete");
    early.clear_records();
    event_listener late("attention_test:*");
    watched::emit(changed{2});
    EXPECT_EQ(early.received_names(), "changed");
    EXPECT_EQ(late.received_names(), "present present state_complete changed");
}

TEST_F(notification_callback, dumps_state_once_per_listener) {
    watched::on_new_listener(dump_state);
    std::optional<event_listener> listener("attention_test:*");
    watched::run_callbacks();
    const event_listener other("attention_test:changed");
    watched::run_callbacks();
    watched::run_callbacks();
    EXPECT_EQ(listener->received_names(), "present present state_complete");
    listener.reset();
    listener.emplace("attention_test:*");
    watched::run_callbacks();
    EXPECT_EQ(listener->received_names(), "present present state_complete");
}

std::uint64_t hash_of_watched() {
    core::schema_reader schema;
    core::error_text why;
    EXPECT_TRUE(schema.open(watched::schema(), why)) << why.text().c_str();
    return schema.hash();
}

/// As elog record --state does, for the provider of these tests: other tests in this process have
/// some of their own. Returns how many were asked.
unsigned request_state() {
    const core::directory_path path = core::current_directory();
    core::directory where;
    core::error_text why;
    EXPECT_TRUE(where.open(path, core::if_missing::fail, why)) << why.text().c_str();
    unsigned asked = 0;
    core::folder_listing files(where.processes);
    while (const char* name = files.next()) {
        core::process_file file;
        if (!file.open(where, name, why) ||
            file.header().pid != static_cast<std::uint32_t>(::getpid())) {
            continue;
        }
        core::published_provider provider(file);
        while (provider.next()) {
            if (provider.entry().schema_hash == hash_of_watched()) {
                asked += provider.request_state() ? 1 : 0;
            }
        }
    }
    return asked;
}

TEST_F(notification_callback, dumps_state_for_the_kernel_on_request) {
    unsigned dumps = 0;
    watched::on_new_listener(
        [](void* count) {
            ++*static_cast<unsigned*>(count);
            watched::emit(present{17});
        },
        &dumps);
    event_listener listener("attention_test:*");
    watched::run_callbacks();
    EXPECT_EQ(dumps, 1U);
    EXPECT_EQ(listener.received_names(), "present state_complete");
    listener.clear_records();
    EXPECT_EQ(request_state(), 1U);
    watched::emit(changed{1});
    watched::emit(changed{2});
    EXPECT_EQ(dumps, 2U);
    EXPECT_EQ(listener.received_names(), "changed changed") << "it is no listener in the kernel";
    EXPECT_EQ(request_state(), 1U);
    EXPECT_EQ(request_state(), 1U);
    watched::run_callbacks();
    EXPECT_EQ(dumps, 3U) << "requests without an answer have one together";
    watched::on_new_listener(nullptr, nullptr);
    request_state();
    watched::run_callbacks();
    EXPECT_EQ(dumps, 3U);
}

TEST_F(notification_callback, completes_dump_for_listener_of_other_events) {
    watched::on_new_listener(dump_state);
    event_listener listener("attention_test:changed");
    watched::run_callbacks();
    EXPECT_EQ(listener.received_names(), "state_complete");
}

TEST_F(notification_callback, runs_in_one_thread_while_other_threads_emit) {
    watched::on_new_listener(dump_state);
    std::atomic<bool> stop{false};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            // Slowly: without room, events are lost, including those of a dump.
            while (!stop.load()) {
                watched::emit(changed{1});
                std::this_thread::sleep_for(std::chrono::microseconds{200});
            }
        });
    }
    for (int i = 0; i < 20; ++i) {
        event_listener listener("attention_test:*");
        std::map<std::string, unsigned> received;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        // The thread that dumps may not get the processor while other threads emit.
        while ((received["changed"] < 10 || received["state_complete"] == 0) &&
               std::chrono::steady_clock::now() < deadline) {
            listener.poll();
            for (const auto& record : listener.records()) {
                ++received[listener.event_name(record)];
            }
            listener.clear_records();
        }
        EXPECT_GE(received["changed"], 10U);
        EXPECT_EQ(received["present"], 2U);
        EXPECT_EQ(received["state_complete"], 1U);
    }
    stop = true;
}

TEST_F(notification_callback, runs_once_after_registration_regardless_of_listeners) {
    const event_listener listener("attention_test:*");
    watched::run_callbacks();
    reported.clear();
    watched::on_listeners_changed(note);
    watched::run_callbacks();
    watched::run_callbacks();
    EXPECT_EQ(reported, std::vector<unsigned>{1});
}

void replace_callback(unsigned listeners) {
    watched::emit(changed{listeners});
    EXPECT_TRUE(watched::on_listeners_changed(note)) << "a thread does not wait for itself";
}

TEST_F(notification_callback, callback_may_emit_and_replace_itself) {
    event_listener listener("attention_test:changed");
    watched::on_listeners_changed(replace_callback);
    watched::run_callbacks();
    watched::run_callbacks();
    EXPECT_EQ(reported, std::vector<unsigned>{1});
    EXPECT_EQ(listener.received_names(), "changed");
}

TEST_F(notification_callback, works_in_forked_child) {
    watched::on_new_listener(dump_state);
    event_listener listener("attention_test:*");
    watched::run_callbacks();
    listener.poll();
    listener.clear_records();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        watched::emit(changed{99});
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(listener.received_names(), "present present state_complete changed");
}

}  // namespace
