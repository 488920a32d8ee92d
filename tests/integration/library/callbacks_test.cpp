// SPDX-License-Identifier: MIT
//
// Callbacks that some threads replace while others run them.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "listener.hpp"
#include "provider/callback.hpp"

namespace {

using eventlog::core::callback;
using eventlog::test::event_listener;

using change = void (*)(void* context, unsigned listeners);

constexpr std::size_t pair_count = 4;
std::array<char, pair_count> contexts{};
std::atomic<std::uint64_t> calls{0};
std::atomic<std::uint64_t> foreign_contexts{0};

/// Requires the context with its own number.
template <std::size_t Own>
void expect_own(void* context, unsigned /*listeners*/) {
    ++calls;
    foreign_contexts += context == &contexts[Own] ? 0 : 1;
}
template <std::size_t... Own>
constexpr std::array<change, pair_count> make_changes(std::index_sequence<Own...> /*all*/) {
    return {expect_own<Own>...};
}
constexpr auto changes = make_changes(std::make_index_sequence<pair_count>{});

class callbacks : public testing::Test {
  protected:
    callbacks() {
        calls = 0;
        foreign_contexts = 0;
    }

    /// A provider with one event.
    static eventlog_definition definition() {
        static const eventlog_event_definition events[] = {{.name = "happened"}};
        return {EVENTLOG_DEFINITION_SIZES, .name = "callbacks_test", .events = events,
                .event_count = 1};
    }
};

/// Another thread's or a signal handler's action, run after so many more steps.
std::function<void()> interruption;
std::size_t steps_before_it = 0;

void take_step() {
    if (interruption != nullptr && steps_before_it-- == 0) {
        std::exchange(interruption, nullptr)();
    }
}

/// An atomic whose loads and stores are steps.
template <class Value>
class stepped {
  public:
    explicit(false) stepped(Value value) : value_(value) {}
    [[nodiscard]] Value load(std::memory_order /*order*/) const {
        take_step();
        return value_;
    }
    void store(Value value, std::memory_order /*order*/) {
        take_step();
        value_ = value;
    }

  private:
    Value value_;
};
using stepped_callback = callback<change, stepped>;

/// Requires a consistent pair, or none.
bool read_pair(const stepped_callback& place) {
    stepped_callback::pair found;
    const bool read = place.read(found);
    if (read) {
        found.function(found.context, 0);
    }
    return read;
}

TEST_F(callbacks, are_not_read_during_replacement) {
    std::size_t refused = 0;
    bool interrupted = true;
    for (std::size_t steps = 0; interrupted; ++steps) {
        stepped_callback place;
        place.replace(changes[0], contexts.data());
        steps_before_it = steps;
        interruption = [&] { refused += read_pair(place) ? 0 : 1; };
        place.replace(changes[1], &contexts[1]);
        interrupted = interruption == nullptr;
        interruption = nullptr;
        EXPECT_TRUE(read_pair(place));
    }
    EXPECT_EQ(foreign_contexts, 0U);
    EXPECT_EQ(refused, 3U);
}

TEST_F(callbacks, are_reread_when_replaced_during_read) {
    std::size_t refused = 0;
    bool interrupted = true;
    for (std::size_t steps = 0; interrupted; ++steps) {
        stepped_callback place;
        place.replace(changes[0], contexts.data());
        steps_before_it = steps;
        interruption = [&] { place.replace(changes[1], &contexts[1]); };
        refused += read_pair(place) ? 0 : 1;
        interrupted = interruption == nullptr;
        interruption = nullptr;
    }
    EXPECT_EQ(foreign_contexts, 0U);
    EXPECT_EQ(refused, 3U);
}

TEST_F(callbacks, get_matching_context_under_concurrent_replacement) {
    const eventlog::dynamic_provider provider(definition());
    ASSERT_EQ(provider.error(), EVENTLOG_ERROR_NONE) << provider.error_text();
    constexpr std::size_t replacers = 3;
    std::atomic<std::size_t> replacing{replacers};
    std::vector<std::jthread> threads;
    for (std::size_t first = 0; first < replacers; ++first) {
        threads.emplace_back([&, first] {
            for (std::size_t i = 0; i < 1500; ++i) {
                const std::size_t pair = (first + i) % pair_count;
                eventlog_provider_on_listeners_changed(provider.handle(), changes[pair],
                                                       &contexts[pair]);
            }
            --replacing;
        });
    }
    while (replacing != 0) {
        eventlog_provider_run_callbacks(provider.handle());
    }
    eventlog_provider_run_callbacks(provider.handle());
    EXPECT_EQ(foreign_contexts, 0U) << calls << " calls";
    EXPECT_GT(calls, 0U);
}

/// Blocks until it is released.
struct stay {
    std::atomic<bool> entered{false};
    std::atomic<bool> leave{false};

    static void wait(void* context, unsigned /*listeners*/) {
        auto& own = *static_cast<stay*>(context);
        own.entered = true;
        while (!own.leave) {
            std::this_thread::yield();
        }
    }
};

TEST_F(callbacks, unregistration_reports_callback_running_in_another_thread) {
    const eventlog::dynamic_provider provider(definition());
    stay place;
    EXPECT_TRUE(eventlog_provider_on_listeners_changed(provider.handle(), stay::wait, &place));
    std::jthread runner([&] { eventlog_provider_run_callbacks(provider.handle()); });
    while (!place.entered) {
        std::this_thread::yield();
    }
    EXPECT_FALSE(eventlog_provider_on_listeners_changed(provider.handle(), nullptr, nullptr));
    EXPECT_FALSE(eventlog_provider_on_new_listener(provider.handle(), nullptr, nullptr));
    place.leave = true;
    runner.join();
    EXPECT_TRUE(eventlog_provider_on_listeners_changed(provider.handle(), nullptr, nullptr));
}

/// Creates and destroys a dozen providers: the library reuses the memory of one after three others.
/// Returns whether one of them was at that address.
bool is_reused(const eventlog_provider* address, const eventlog_definition& definition) {
    bool found = false;
    for (int i = 0; i < 12; ++i) {
        const eventlog::dynamic_provider next(definition);
        found = found || next.handle() == address;
    }
    return found;
}

TEST_F(callbacks, keep_their_provider_from_reuse_while_they_run) {
    stay place;
    std::optional<eventlog::dynamic_provider> provider(definition());
    const eventlog_provider* const address = provider->handle();
    EXPECT_TRUE(eventlog_provider_on_listeners_changed(provider->handle(), stay::wait, &place));
    std::jthread runner([handle = provider->handle()] { eventlog_provider_run_callbacks(handle); });
    while (!place.entered) {
        std::this_thread::yield();
    }
    provider.reset();
    EXPECT_FALSE(is_reused(address, definition()));
    place.leave = true;
    runner.join();
    EXPECT_TRUE(is_reused(address, definition()));
}

TEST_F(callbacks, do_not_use_context_after_unregistration) {
    const eventlog::dynamic_provider provider(definition());
    std::atomic<bool> stop{false};
    std::jthread runner([&] {
        while (!stop) {
            eventlog_provider_run_callbacks(provider.handle());
        }
    });
    // A late use of the context is a use after free, or a race, under sanitizers; without them it
    // finds another number.
    constexpr std::uint64_t alive = 0x11fe;
    static std::atomic<std::uint64_t> late{0};
    late = 0;
    for (int i = 0; i < 1000; ++i) {
        auto context = std::make_unique<std::uint64_t>(alive);
        eventlog_provider_on_listeners_changed(
            provider.handle(),
            [](void* found, unsigned /*listeners*/) {
                late += *static_cast<const std::uint64_t*>(found) == alive ? 0 : 1;
            },
            context.get());
        while (!eventlog_provider_on_listeners_changed(provider.handle(), nullptr, nullptr)) {
            std::this_thread::yield();
        }
        *context = 0;
    }
    stop = true;
    EXPECT_EQ(late, 0U);
}

TEST_F(callbacks, are_reset_when_handle_is_reused) {
    const eventlog_provider* withdrawn = nullptr;
    {
        const eventlog::dynamic_provider first(definition());
        withdrawn = first.handle();
        eventlog_provider_on_listeners_changed(first.handle(), changes[0], contexts.data());
    }
    std::optional<eventlog::dynamic_provider> next;
    for (int i = 0; i < 100 && (!next || next->handle() != withdrawn); ++i) {
        next.emplace(definition());
    }
    const eventlog::dynamic_provider& second = *next;
    ASSERT_EQ(second.handle(), withdrawn);
    const event_listener listener("callbacks_test:*");
    second.emit(0);
    eventlog_provider_run_callbacks(second.handle());
    EXPECT_EQ(calls, 0U);
}

/// A callback that forks when it is called first. The child tries to run callbacks in it.
struct forking {
    const eventlog::dynamic_provider* provider = nullptr;
    pid_t child = -1;
    int depth = 0;
    int depth_max = 0;
    int calls = 0;

    static void run(void* context, unsigned /*listeners*/) {
        auto& self = *static_cast<forking*>(context);
        self.depth_max = std::max(self.depth_max, ++self.depth);
        if (++self.calls == 1) {
            self.child = ::fork();
            if (self.child == 0) {
                self.provider->run_callbacks();
            }
        }
        --self.depth;
    }
};

TEST_F(callbacks, do_not_run_inside_one_that_has_forked) {
    const eventlog::dynamic_provider provider(definition());
    forking place{&provider};
    EXPECT_TRUE(eventlog_provider_on_listeners_changed(provider.handle(), forking::run, &place));
    provider.run_callbacks();
    if (place.child == 0) {
        const bool ran_alone = place.depth_max == 1 && place.calls == 1;
        // The child is another process, whose listeners the callback does not know yet.
        provider.run_callbacks();
        ::_exit(ran_alone && place.calls == 2 ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(place.child, &status, 0), place.child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(place.calls, 1);
}

}  // namespace
