// SPDX-License-Identifier: MIT
//
// Tests batches of events, read through the device of eventlog's module, which is loaded, and
// through tracefs, as root.
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
#include <eventlog/kernel_batch.hpp>

#include "device_client.h"
#include "record_stream.h"
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
    stream_item head{};
    std::uint64_t number = 0;
};

/// Reads all records, in their order.
std::vector<record> read_records(int reader) {
    std::vector<record> found;
    std::vector<std::uint8_t> bytes(1U << 20U);
    ssize_t size = 0;
    while ((size = ::read(reader, bytes.data(), bytes.size())) > 0) {
        record_stream stream{bytes.data(), static_cast<std::size_t>(size), 0, 0, false};
        for (stream_item item{}; next_item(&stream, &item);) {
            if (item.is_run && item.run.lost + item.run.overwritten != 0) {
                step("nothing is lost", false);
            }
            if (!item.is_run) {
                found.push_back({item, item_value(&item)});
            }
        }
        if (stream.damaged) {
            step("records are whole", false);
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

/// A provider, and a subscription to it only.
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

/// The number of write calls of this process.
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
    eventlog::kernel_batch<4096> batch;
    const std::uint64_t before = now();
    orders.emit(1);
    orders.emit(2);
    const std::uint64_t between = now();
    step("events in a batch are not readable", read_numbers(orders.reader()).empty());
    step("they are not counted", orders.counters().written == 0);
    ::usleep(20'000);
    batch.flush();
    const std::vector<record> found = read_records(orders.reader());
    step("a flush writes them", found.size() == 2 && found[0].number == 1 && found[1].number == 2);
    step("the records have the times of their emits",
         before <= found[0].head.time && found[0].head.time <= found[1].head.time &&
             found[1].head.time <= between);
    step("the times are marked as custom", found[0].head.flags == EVENTLOG_RECORD_CUSTOM_TIME);
    step("the records have the thread",
         found[0].head.thread == static_cast<std::uint32_t>(::gettid()));
    step("the flush counts them", orders.counters().written == 2);
    batch.flush();
    step("each event is written once",
         read_numbers(orders.reader()).empty() && orders.counters().written == 2);
}

void follow_fullness() {
    const enabled_provider orders("orders");
    constexpr std::uint64_t many = 20'000;
    numbers found;
    const long long writes = count_writes();
    {
        eventlog::kernel_batch batch;
        for (std::uint64_t number = 0; number < many; ++number) {
            orders.emit(number);
            if (number % 512 == 0) {
                const auto some = read_numbers(orders.reader());
                found.insert(found.end(), some.begin(), some.end());
            }
        }
        const auto some = read_numbers(orders.reader());
        found.insert(found.end(), some.begin(), some.end());
        step("a full batch is written", !found.empty() && found.size() < many);
    }
    const auto rest = read_numbers(orders.reader());
    found.insert(found.end(), rest.begin(), rest.end());
    step("and the rest at its end", found == from_to(0, many));
    step("all events are counted", orders.counters().written == many);
    step("a write has hundreds of events", writes > 0 && count_writes() - writes < 40);
}

void follow_kinds_of_ends() {
    const enabled_provider orders("orders");
    const enabled_provider bills("bills");
    std::array<char, 8192> room{};
    step("a batch begins", eventlog_kernel_batch_begin(room.data(), room.size()));
    step("a thread has at most one", !eventlog_kernel_batch_begin(room.data(), room.size()));
    orders.emit(1);
    bills.emit(2);
    step("an event of another provider writes the batch",
         read_numbers(orders.reader()) == numbers{1} && read_numbers(bills.reader()).empty());
    eventlog_provider_run_callbacks(orders.provider().handle());
    step("a poll of the first provider does not", read_numbers(bills.reader()).empty());
    eventlog_provider_run_callbacks(bills.provider().handle());
    step("a poll of the batch's provider does", read_numbers(bills.reader()) == numbers{2});
    bills.emit(3, std::string(4000, 'x'));
    bills.emit(4, std::string(4000, 'x'));
    bills.emit(5, std::string(4000, 'x'));
    step("an event that does not fit writes the batch first",
         read_numbers(bills.reader()) == (numbers{3, 4}));
    {
        const eventlog::kernel_batch inner;
        bills.emit(6);
    }
    step("a batch within a batch is flushed at its end",
         read_numbers(bills.reader()) == (numbers{5, 6}));
    bills.emit(9);
    eventlog_kernel_batch_end();
    step("so is the outer batch", read_numbers(bills.reader()) == numbers{9});
    bills.emit(10);
    step("afterwards events are written at once", read_numbers(bills.reader()) == numbers{10});
    step("too little memory is rejected", !eventlog_kernel_batch_begin(room.data(), 64));
}

void follow_withdrawal() {
    subscription_request wish{};
    wish.provider = "brief";
    const int reader = subscribe_or_exit(&wish);
    const eventlog::kernel_batch<4096> batch;
    {
        const eventlog::dynamic_provider brief(provider_called("brief"));
        brief.emit(0, std::uint64_t{1}, "words");
    }
    step("unregistering a provider writes its events", read_numbers(reader) == numbers{1});
    static_cast<void>(::close(reader));
}

/// Another thread than the batch's unregisters the provider: its events are lost, and are never
/// written for another provider.
void check_unregister_by_other_thread() {
    std::optional<eventlog::dynamic_provider> first(std::in_place, provider_called("first"));
    subscription_request wish{};
    const int reader = subscribe_or_exit(&wish);
    std::barrier<> in_step(2);
    std::thread worker([&] {
        eventlog::kernel_batch<4096> batch;
        first->emit(0, std::uint64_t{1}, "words");
        in_step.arrive_and_wait();
        in_step.arrive_and_wait();
        batch.flush();
    });
    in_step.arrive_and_wait();
    first.reset();
    const eventlog::dynamic_provider second(provider_called("second"));
    step("the next provider is enabled", second.enabled(0));
    in_step.arrive_and_wait();
    worker.join();
    step("it has no events of the previous provider", read_numbers(reader).empty());
    step("and no losses of it",
         second.status().routes[EVENTLOG_ROUTE_USER_EVENTS].counters.lost_unattached == 0);
    second.emit(0, std::uint64_t{2}, "words");
    step("its own events are written", read_numbers(reader) == numbers{2});
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

/// Signal handlers that emit while the batch is in use, and while it is not.
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
        const eventlog::kernel_batch<4096> batch;
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
    step("no event of the batch is lost by handlers", own == from_to(0, emitted));
    step("no event of handlers is lost",
         others == from_to(of_handlers, of_handlers + static_cast<std::uint64_t>(interruptions)));
    step("each is counted", orders.counters().written == own.size() + others.size());
}

void check_rejection() {
    const enabled_provider orders("orders");
    const eventlog::kernel_batch<4096> batch;
    orders.emit(1);
    // Shorter than its fields.
    const std::array<std::uint32_t, 2> little{};
    eventlog_emit_raw(orders.provider().handle(), 0, little.data(), sizeof little[0]);
    orders.emit(2);
    // A text outside the payload.
    const std::array<std::uint32_t, 4> outside{3, 0, 100U << 16U, 0};
    eventlog_emit_raw(orders.provider().handle(), 0, outside.data(), 12);
    orders.emit(4);
    eventlog_kernel_batch_flush();
    step("a rejected event does not affect other events",
         read_numbers(orders.reader()) == (numbers{1, 2, 4}));
    step("rejected events are counted",
         orders.counters().written == 3 && orders.counters().lost_refused == 2);
}

void follow_child() {
    const enabled_provider orders("orders");
    eventlog::kernel_batch<4096> batch;
    orders.emit(1);
    static_cast<void>(std::fflush(stdout));
    const pid_t child = ::fork();
    if (child == 0) {
        orders.emit(2);
        batch.flush();
        ::_exit(orders.counters().written == 1 ? 0 : 1);
    }
    int status = -1;
    step("a child has a separate batch", ::waitpid(child, &status, 0) == child && status == 0);
    step("the child's batch has the child's events only",
         read_numbers(orders.reader()) == numbers{2});
    batch.flush();
    step("the parent's batch has the parent's events", read_numbers(orders.reader()) == numbers{1});
}

/// Closes descriptors like a daemon.
void close_other_descriptors(int kept) {
    for (int file = 700; file < 1024; ++file) {
        if (file != kept) {
            static_cast<void>(::close(file));
        }
    }
}

void follow_lost_descriptor() {
    const enabled_provider orders("orders");
    eventlog::kernel_batch<4096> batch;
    orders.emit(1);
    close_other_descriptors(orders.reader());
    batch.flush();
    step("events without a descriptor are counted", orders.counters().lost_unattached == 1);
    orders.emit(2);
    batch.flush();
    orders.emit(3);
    batch.flush();
    step("later events use a new descriptor", read_numbers(orders.reader()) == (numbers{2, 3}));
    orders.emit(4);
    close_other_descriptors(orders.reader());
    orders.emit(5, std::string(4000, 'x'));
    batch.flush();
    step("so does the event that notices the loss", read_numbers(orders.reader()) == numbers{5});
    const eventlog_counters counters = orders.counters();
    step("all events are counted",
         counters.written == 3 && counters.lost_unattached == 2 && counters.lost_refused == 0);
}

void follow_tracing() {
    const enabled_provider orders("orders");
    clear_trace();
    set_file(enable_item, "1");
    {
        const eventlog::kernel_batch<4096> batch;
        orders.emit(71, "first");
        orders.emit(72, "second");
    }
    step("the trace has them, too", trace_contains("number=71") && trace_contains("number=72"));
    step("and the subscription", read_numbers(orders.reader()) == (numbers{71, 72}));
    set_file(enable_item, "0");
}

}  // namespace

int main() {
    // The steps compare the order of the records. The device reads the buffers one after another,
    // so a thread that moves to another CPU between two batches has its records out of order.
    step("the program stays on one CPU", run_on(0));
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
