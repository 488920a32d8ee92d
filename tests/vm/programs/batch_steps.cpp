// SPDX-License-Identifier: MIT
//
// What becomes of events in a lane, by who reads them through the device of eventlog's module,
// which is loaded, and through tracefs. As root.
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <eventlog/dynamic_provider.hpp>
#include <eventlog/lane.hpp>

#include "device_client.h"
#include "steps.hpp"

namespace {

constexpr const char* enable_item = TRACING "events/eventlog/orders_item/enable";

constexpr eventlog_field_definition fields[] = {
    {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_64},
    {.name = "text", .type = EVENTLOG_TYPE_TEXT}};
constexpr eventlog_event_definition events[] = {
    {.name = "item", .fields = fields, .field_count = 2}};

eventlog_definition provider_called(const char* name) {
    return {EVENTLOG_DEFINITION_SIZES, .name = name, .events = events, .event_count = 1};
}

std::uint64_t now() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(time.tv_nsec);
}

struct record {
    eventlog_record head{};
    std::uint64_t number = 0;
};

/// All that there is, in the order in which it is handed out.
std::vector<record> read_records(int reader) {
    std::vector<record> found;
    std::vector<std::uint8_t> bytes(1U << 20U);
    ssize_t size = 0;
    while ((size = ::read(reader, bytes.data(), bytes.size())) > 0) {
        for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
            record& next = found.emplace_back();
            std::memcpy(&next.head, &bytes[at], sizeof next.head);
            if (next.head.provider == EVENTLOG_LOST_PROVIDER) {
                step("nothing is lost", false);
            }
            std::memcpy(&next.number, &bytes[at + sizeof next.head], sizeof next.number);
            at += (std::size_t{next.head.size} + 7) / 8 * 8;
        }
    }
    return found;
}

using numbers = std::vector<std::uint64_t>;

numbers read_numbers(int reader) {
    numbers found;
    for (const record& each : read_records(reader)) {
        found.push_back(each.number);
    }
    return found;
}

numbers from_to(std::uint64_t first, std::uint64_t end) {
    numbers all;
    for (; first < end; ++first) {
        all.push_back(first);
    }
    return all;
}

/// A provider, and somebody who hears it alone.
class enabled_provider {
  public:
    explicit enabled_provider(const char* name) : provider_(provider_called(name)) {
        subscription_request wish{};
        wish.provider = name;
        reader_ = subscribe_or_exit(&wish);
    }
    ~enabled_provider() { static_cast<void>(::close(reader_)); }
    enabled_provider(const enabled_provider&) = delete;
    enabled_provider& operator=(const enabled_provider&) = delete;

    void emit(std::uint64_t number, std::string_view text = "some words") const {
        provider_.emit(0, number, text);
    }
    [[nodiscard]] eventlog_counters counters() const {
        return provider_.status().routes[EVENTLOG_ROUTE_USER_EVENTS].counters;
    }
    [[nodiscard]] int reader() const { return reader_; }
    [[nodiscard]] const eventlog::dynamic_provider& provider() const { return provider_; }

  private:
    eventlog::dynamic_provider provider_;
    int reader_ = -1;
};

/// How many calls that write this process has made.
long long count_writes() {
    long long count = -1;
    FILE* const file = std::fopen("/proc/self/io", "r");
    char line[80];
    while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr) {
        static_cast<void>(std::sscanf(line, "syscw: %lld", &count));
    }
    if (file != nullptr) {
        static_cast<void>(std::fclose(file));
    }
    return count;
}

void follow_flush() {
    const enabled_provider orders("orders");
    eventlog::lane<4096> lane;
    const std::uint64_t before = now();
    orders.emit(1);
    orders.emit(2);
    const std::uint64_t between = now();
    step("what is in a lane nobody sees", read_numbers(orders.reader()).empty());
    step("nor is it counted", orders.counters().written == 0);
    ::usleep(20'000);
    lane.flush();
    const std::vector<record> found = read_records(orders.reader());
    step("until it is flushed", found.size() == 2 && found[0].number == 1 && found[1].number == 2);
    step("with the times at which it was emitted", before <= found[0].head.time &&
                                                       found[0].head.time <= found[1].head.time &&
                                                       found[1].head.time <= between);
    step("which are marked", found[0].head.flags == EVENTLOG_RECORD_CUSTOM_TIME);
    step("by its thread", found[0].head.thread == static_cast<std::uint32_t>(::gettid()));
    step("then it is counted", orders.counters().written == 2);
    lane.flush();
    step("once", read_numbers(orders.reader()).empty() && orders.counters().written == 2);
}

void follow_fullness() {
    const enabled_provider orders("orders");
    constexpr std::uint64_t many = 20'000;
    numbers found;
    const long long writes = count_writes();
    {
        eventlog::lane lane;
        for (std::uint64_t number = 0; number < many; ++number) {
            orders.emit(number);
            if (number % 512 == 0) {
                const auto some = read_numbers(orders.reader());
                found.insert(found.end(), some.begin(), some.end());
            }
        }
        const auto some = read_numbers(orders.reader());
        found.insert(found.end(), some.begin(), some.end());
        step("a full lane is written", !found.empty() && found.size() < many);
    }
    const auto rest = read_numbers(orders.reader());
    found.insert(found.end(), rest.begin(), rest.end());
    step("and the rest where it ends", found == from_to(0, many));
    step("all of it is counted", orders.counters().written == many);
    step("a write is for hundreds", writes > 0 && count_writes() - writes < 40);
}

void follow_kinds_of_ends() {
    const enabled_provider orders("orders");
    const enabled_provider bills("bills");
    std::array<char, 8192> room{};
    step("a lane begins", eventlog_lane_begin(room.data(), room.size()));
    step("a thread has one", !eventlog_lane_begin(room.data(), room.size()));
    orders.emit(1);
    bills.emit(2);
    step("another provider's event has it written",
         read_numbers(orders.reader()) == numbers{1} && read_numbers(bills.reader()).empty());
    eventlog_provider_poll(orders.provider().handle());
    step("not that one's poll", read_numbers(bills.reader()).empty());
    eventlog_provider_poll(bills.provider().handle());
    step("but its own", read_numbers(bills.reader()) == numbers{2});
    bills.emit(3, std::string(4000, 'x'));
    bills.emit(4, std::string(4000, 'x'));
    bills.emit(5, std::string(4000, 'x'));
    step("one that has no room waits for room", read_numbers(bills.reader()) == (numbers{3, 4}));
    {
        const eventlog::lane inner;
        bills.emit(6);
    }
    step("a lane within a lane is flushed where it ends",
         read_numbers(bills.reader()) == (numbers{5, 6}));
    bills.emit(9);
    eventlog_lane_end();
    step("and so it is where the lane ends", read_numbers(bills.reader()) == numbers{9});
    bills.emit(10);
    step("behind it events go at once", read_numbers(bills.reader()) == numbers{10});
    step("too little room is none", !eventlog_lane_begin(room.data(), 64));
}

void follow_withdrawal() {
    subscription_request wish{};
    wish.provider = "brief";
    const int reader = subscribe_or_exit(&wish);
    const eventlog::lane<4096> lane;
    {
        const eventlog::dynamic_provider brief(provider_called("brief"));
        brief.emit(0, std::uint64_t{1}, "words");
    }
    step("a provider that is withdrawn has its events written", read_numbers(reader) == numbers{1});
    static_cast<void>(::close(reader));
}

/// By a thread other than that whose lane has its events: these are gone, and never another's.
void check_unregister_by_other_thread() {
    std::optional<eventlog::dynamic_provider> first(std::in_place, provider_called("first"));
    subscription_request wish{};
    const int reader = subscribe_or_exit(&wish);
    std::barrier<> in_step(2);
    std::thread worker([&] {
        eventlog::lane<4096> lane;
        first->emit(0, std::uint64_t{1}, "words");
        in_step.arrive_and_wait();
        in_step.arrive_and_wait();
        lane.flush();
    });
    in_step.arrive_and_wait();
    first.reset();
    const eventlog::dynamic_provider second(provider_called("second"));
    step("the next provider is heard", second.enabled(0));
    in_step.arrive_and_wait();
    worker.join();
    step("what was another provider's is not the next one's", read_numbers(reader).empty());
    step("nor are its counts",
         second.status().routes[EVENTLOG_ROUTE_USER_EVENTS].counters.lost_unattached == 0);
    second.emit(0, std::uint64_t{2}, "words");
    step("whose own events come", read_numbers(reader) == numbers{2});
    static_cast<void>(::close(reader));
}

const enabled_provider* interrupted = nullptr;
volatile std::sig_atomic_t interruptions = 0;
constexpr std::uint64_t of_handlers = 1'000'000;

void emit_in_handler(int /*signal*/) {
    interrupted->emit(of_handlers + static_cast<std::uint64_t>(interruptions));
    interruptions = interruptions + 1;
}

void set_timer(long microseconds) {
    const itimerval every{{0, microseconds}, {0, microseconds}};
    step("a timer is set", ::setitimer(ITIMER_REAL, &every, nullptr) == 0);
}

/// Handlers that come while the lane is used, and while it is not.
void follow_handlers() {
    const enabled_provider orders("orders");
    interrupted = &orders;
    step("signals are handled", std::signal(SIGALRM, emit_in_handler) != SIG_ERR);
    std::uint64_t emitted = 0;
    numbers own;
    numbers others;
    const auto read = [&] {
        for (const std::uint64_t number : read_numbers(orders.reader())) {
            (number < of_handlers ? own : others).push_back(number);
        }
    };
    set_timer(1000);
    {
        const eventlog::lane<4096> lane;
        for (; interruptions < 200; ++emitted) {
            orders.emit(emitted);
            if (emitted % 512 == 0) {
                read();
            }
        }
    }
    set_timer(0);
    read();
    std::sort(others.begin(), others.end());
    step("handlers take nothing from a lane", own == from_to(0, emitted));
    step("nor it from them",
         others == from_to(of_handlers, of_handlers + static_cast<std::uint64_t>(interruptions)));
    step("each is counted", orders.counters().written == own.size() + others.size());
}

void check_rejection() {
    const enabled_provider orders("orders");
    const eventlog::lane<4096> lane;
    orders.emit(1);
    // Shorter than its fields.
    const std::array<std::uint32_t, 2> little{};
    eventlog_emit(orders.provider().handle(), 0, little.data(), sizeof little[0]);
    orders.emit(2);
    // Whose text lies outside.
    const std::array<std::uint32_t, 4> outside{3, 0, 100U << 16U, 0};
    eventlog_emit(orders.provider().handle(), 0, outside.data(), 12);
    orders.emit(4);
    eventlog_lane_flush();
    step("what the kernel does not take keeps no other away",
         read_numbers(orders.reader()) == (numbers{1, 2, 4}));
    step("and is counted", orders.counters().written == 3 && orders.counters().lost_refused == 2);
}

void follow_child() {
    const enabled_provider orders("orders");
    eventlog::lane<4096> lane;
    orders.emit(1);
    static_cast<void>(std::fflush(stdout));
    const pid_t child = ::fork();
    if (child == 0) {
        orders.emit(2);
        lane.flush();
        ::_exit(orders.counters().written == 1 ? 0 : 1);
    }
    int status = -1;
    step("a child has a lane of its own", ::waitpid(child, &status, 0) == child && status == 0);
    step("which has its events alone", read_numbers(orders.reader()) == numbers{2});
    lane.flush();
    step("and its parent's has the parent's", read_numbers(orders.reader()) == numbers{1});
}

/// As daemons do.
void close_other_descriptors(int kept) {
    for (int file = 700; file < 1024; ++file) {
        if (file != kept) {
            static_cast<void>(::close(file));
        }
    }
}

void follow_lost_descriptor() {
    const enabled_provider orders("orders");
    eventlog::lane<4096> lane;
    orders.emit(1);
    close_other_descriptors(orders.reader());
    lane.flush();
    step("what has lost its way is counted", orders.counters().lost_unattached == 1);
    orders.emit(2);
    lane.flush();
    orders.emit(3);
    lane.flush();
    step("later events find another", read_numbers(orders.reader()) == (numbers{2, 3}));
    orders.emit(4);
    close_other_descriptors(orders.reader());
    orders.emit(5, std::string(4000, 'x'));
    lane.flush();
    step("so does the one that finds out", read_numbers(orders.reader()) == numbers{5});
    const eventlog_counters counters = orders.counters();
    step("none is missing in the counts",
         counters.written == 3 && counters.lost_unattached == 2 && counters.lost_refused == 0);
}

void follow_tracing() {
    const enabled_provider orders("orders");
    clear_trace();
    set_file(enable_item, "1");
    {
        const eventlog::lane<4096> lane;
        orders.emit(71, "first");
        orders.emit(72, "second");
    }
    step("tracing gets them, too", trace_contains("number=71") && trace_contains("number=72"));
    step("and who subscribes", read_numbers(orders.reader()) == (numbers{71, 72}));
    set_file(enable_item, "0");
}

}  // namespace

int main() {
    follow_flush();
    follow_fullness();
    follow_kinds_of_ends();
    follow_withdrawal();
    check_unregister_by_other_thread();
    follow_handlers();
    check_rejection();
    follow_child();
    follow_lost_descriptor();
    follow_tracing();
    return 0;
}
