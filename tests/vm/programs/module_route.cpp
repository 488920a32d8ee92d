// SPDX-License-Identifier: MIT
//
// Tests the route of a libeventlog provider through eventlog's module, as root: a module that is
// loaded late, a device without permission or room, and lost descriptors. The argument is the
// module, which is not loaded yet.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/dynamic_provider.hpp>
#include <eventlog/schema_format.hpp>

#include "device_client.h"
#include "record_stream.h"
#include "steps.hpp"

namespace {

constexpr const char* words_per_user = "/sys/module/eventlog/parameters/words_per_user";
constexpr const char* schema_pages_per_user =
    "/sys/module/eventlog/parameters/schema_pages_per_user";
constexpr const char* files_per_user = "/sys/module/eventlog/parameters/files_per_user";
constexpr const char* enable_item = TRACING "events/eventlog/moved_item/enable";
constexpr const char* enable_neighbor = TRACING "events/eventlog/neighbor_item/enable";
constexpr id_t ordinary = 1000;

const bool has_user_events = ::access(TRACING "user_events_data", F_OK) == 0;

constexpr eventlog_field_definition fields[] = {
    {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_32}};
constexpr eventlog_event_definition events[] = {
    {.name = "item", .fields = fields, .field_count = 1}};

eventlog_definition provider_called(const char* name) {
    return {EVENTLOG_DEFINITION_SIZES, .name = name, .events = events, .event_count = 1};
}

eventlog::route_status route_of(const eventlog::dynamic_provider& provider) {
    return provider.status().routes[EVENTLOG_ROUTE_USER_EVENTS];
}

bool status_has(const eventlog::dynamic_provider& provider, std::string_view text) {
    return std::string_view(route_of(provider).text.data()).find(text) != std::string_view::npos;
}

/// Whether the provider retries the route and succeeds.
bool is_tried_again(const eventlog::dynamic_provider& provider) {
    return wait_until([&] {
        eventlog_provider_run_callbacks(provider.handle());
        return route_of(provider).code == EVENTLOG_STATUS_OK;
    });
}

/// A device node without a module, as in containers or after unloading.
void follow_node_without_module() {
    constexpr unsigned misc = 10;
    constexpr unsigned unused = 250;
    step("a node is created",
         ::mknod("/dev/eventlog", S_IFCHR | 0666U, ::makedev(misc, unused)) == 0);
    const eventlog::dynamic_provider provider(provider_called("deserted"));
    step("without the module the node is unusable",
         route_of(provider).code ==
             (has_user_events ? EVENTLOG_STATUS_OK : EVENTLOG_STATUS_NO_KERNEL_SUPPORT));
    step("it is removed", ::unlink("/dev/eventlog") == 0);
}

void follow_loading(const char* module) {
    const eventlog::dynamic_provider early(provider_called("early"));
    step("without the module the kernel's user_events are used",
         route_of(early).code ==
             (has_user_events ? EVENTLOG_STATUS_OK : EVENTLOG_STATUS_NO_KERNEL_SUPPORT));
    const std::string load = std::string("insmod ") + module;
    step("the module is loaded", std::system(load.c_str()) == 0);
    step("a provider without a route finds it", is_tried_again(early));
    step("a provider that uses user_events keeps them",
         status_has(early,
                    has_user_events ? "as user_events:eventlog_early_*" : "as eventlog:early_*"));
}

void expect_to_end_well(pid_t child) {
    int status = -1;
    step("the child succeeds", ::waitpid(child, &status, 0) == child && status == 0);
}

void follow_listening(const eventlog::dynamic_provider& provider) {
    step("the module is preferred", status_has(provider, "as eventlog:moved_*"));
    step("there is no listener at first", !provider.enabled(0));
    set_file(enable_item, "1");
    step("a listener starts", provider.enabled(0));
    provider.emit(0, 1U);
    step("the event is written", route_of(provider).counters.written == 1);
    static_cast<void>(std::fflush(stdout));
    const pid_t child = ::fork();
    if (child == 0) {
        step("the child's event is enabled", provider.enabled(0));
        provider.emit(0, 2U);
        step("its event is written", route_of(provider).counters.written == 1);
        ::_exit(0);
    }
    expect_to_end_well(child);
    set_file(enable_item, "0");
    step("the listener stops", !provider.enabled(0));
    step("the trace has both",
         trace_contains("moved_item: number=1") && trace_contains("moved_item: number=2"));
}

void drop_privileges() {
    step("privileges are dropped", ::setegid(ordinary) == 0 && ::seteuid(ordinary) == 0);
}

void close_all() {
    for (int file = 3; file < 1024; ++file) {
        static_cast<void>(::close(file));
    }
    // The library checks its descriptor again after a tick of its clock.
    ::usleep(50'000);
}

/// Whether the module lists the provider as published by the process.
bool is_enabled_word_set(int reader, pid_t process) {
    eventlog_provider_query query{};
    query.size = sizeof query;
    while (next_provider(reader, &query) == 0) {
        if (std::string_view(query.name) == "moved" &&
            query.pid == static_cast<std::uint32_t>(process)) {
            return query.schema_size > eventlog::schema_format::header_size;
        }
    }
    return false;
}

/// Subscribes through the device, without tracing.
void follow_subscribing(const eventlog::dynamic_provider& provider) {
    subscription_request all{};
    const int reader = subscribe_or_exit(&all);
    step("a subscription begins", provider.enabled(0));
    provider.emit(0, 7U);
    std::array<unsigned char, 1024> bytes{};
    const auto read_record = [&] {
        const ssize_t size = ::read(reader, bytes.data(), bytes.size());
        return first_record(bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    };
    const stream_item own = read_record();
    step("the event is read", own.event != 0);
    step("as it was emitted", own.size == 4 &&
                                  own.thread == static_cast<std::uint32_t>(::getpid()) &&
                                  item_value(&own) == 7);
    step("its provider is listed", is_enabled_word_set(reader, ::getpid()));
    static_cast<void>(std::fflush(stdout));
    const pid_t child = ::fork();
    if (child == 0) {
        step("a child's event is enabled, too", provider.enabled(0));
        step("its provider is listed beside its parent's",
             is_enabled_word_set(reader, ::getpid()) && is_enabled_word_set(reader, ::getppid()));
        provider.emit(0, 8U);
        ::_exit(0);
    }
    expect_to_end_well(child);
    const std::uint32_t own_event = own.event;
    const stream_item other = read_record();
    step("as a separate provider", item_value(&other) == 8 && other.event != own_event);
    step("the child's provider is listed until its end",
         !is_enabled_word_set(reader, child) && is_enabled_word_set(reader, ::getpid()));
    static_cast<void>(::close(reader));
    step("the gate closes with the subscription", !provider.enabled(0));
}

/// A child that shares its parent's gate and may not open the device.
void follow_child_without_fork(const eventlog::dynamic_provider& provider) {
    set_file(enable_item, "1");
    static_cast<void>(std::fflush(stdout));
    const long child = ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (child == 0) {
        close_all();
        drop_privileges();
        provider.emit(0, 5U);
        static_cast<void>(std::fflush(stdout));
        ::_exit(0);
    }
    expect_to_end_well(static_cast<pid_t>(child));
    step("the child does not change the parent's gate", provider.enabled(0));
    set_file(enable_item, "0");
    step("it closes without a listener", !provider.enabled(0));
}

/// A child that cannot reach the device. Its children keep its file open after it has lost the
/// descriptor.
void run_without_device(const eventlog::dynamic_provider& provider) {
    step("the device is hidden", ::chroot("/sys") == 0);
    const char* const enable = enable_item + std::string_view("/sys").size();
    const pid_t child = ::fork();
    if (child == 0) {
        step("an open descriptor is kept", route_of(provider).code == EVENTLOG_STATUS_OK);
        ::_exit(0);
    }
    expect_to_end_well(child);
    const pid_t keeper = ::fork();
    if (keeper == 0) {
        ::pause();
        ::_exit(0);
    }
    close_all();
    for (std::uint32_t times = 0; times < 2; ++times) {
        set_file(enable, "1");
        step("the module opens the gate", provider.enabled(0));
        step("the provider closes it when it cannot write", wait_until([&] {
                 provider.emit(0, 6U);
                 return !provider.enabled(0);
             }));
        set_file(enable, "0");
    }
    step("its child ends", ::kill(keeper, SIGKILL) == 0 && ::waitpid(keeper, nullptr, 0) == keeper);
    static_cast<void>(std::fflush(stdout));
    ::_exit(0);
}

void follow_hidden_device(const eventlog::dynamic_provider& provider) {
    static_cast<void>(std::fflush(stdout));
    const pid_t child = ::fork();
    if (child == 0) {
        run_without_device(provider);
    }
    expect_to_end_well(child);
}

/// Closes all descriptors like a daemon. The module sets the bits of a closed file.
void lose_descriptor(const eventlog::dynamic_provider& provider) {
    close_all();
    step("the gate is open", provider.enabled(0));
}

/// Checks a provider without a listener that cannot write.
void expect_silence(const eventlog::dynamic_provider& provider) {
    const std::uint64_t lost = route_of(provider).counters.lost_unattached;
    for (std::uint32_t number = 0; number < 3; ++number) {
        provider.emit(0, number);
    }
    step("the gate is closed", !provider.enabled(0));
    step("at most the event that noticed it is lost",
         route_of(provider).counters.lost_unattached - lost <= 1);
}

void expect_return(const eventlog::dynamic_provider& provider) {
    step("the route is retried and opens", is_tried_again(provider));
    set_file(enable_item, "1");
    step("the gate opens", provider.enabled(0));
    const std::uint64_t before = route_of(provider).counters.written;
    provider.emit(0, 3U);
    step("an event is written", route_of(provider).counters.written == before + 1);
    set_file(enable_item, "0");
    step("the gate closes", !provider.enabled(0));
}

void restore_privileges() {
    step("privileges are restored", ::seteuid(0) == 0 && ::setegid(0) == 0);
}

void follow_lost_descriptor(const eventlog::dynamic_provider& provider) {
    const std::uint64_t lost = route_of(provider).counters.lost_unattached;
    lose_descriptor(provider);
    provider.emit(0, 4U);
    step("a permitted device is opened again", !provider.enabled(0));
    step("and nothing is lost", route_of(provider).counters.lost_unattached == lost);

    drop_privileges();
    lose_descriptor(provider);
    expect_silence(provider);
    step("the status names the permission",
         status_has(provider, "/dev/eventlog cannot be opened (Permission denied)"));
    restore_privileges();
    expect_return(provider);

    // Root would use user_events instead, on kernels that have them.
    step("all users may open the device", ::chmod("/dev/eventlog", 0666) == 0);
    set_file(files_per_user, "0");
    drop_privileges();
    lose_descriptor(provider);
    expect_silence(provider);
    step("the status names the limits of files",
         status_has(provider, "or files_per_user or files_max in"));
    restore_privileges();
    set_file(files_per_user, "4096");
    step("the mode is restored", ::chmod("/dev/eventlog", 0660) == 0);
    expect_return(provider);

    set_file(words_per_user, "0");
    lose_descriptor(provider);
    expect_silence(provider);
    step("the status names the limit of words",
         status_has(provider, "as many as the module eventlog allows"));
    set_file(words_per_user, "65536");
    expect_return(provider);
}

/// The module's number of the last published provider.
std::uint32_t last_published(int file) {
    eventlog_provider_query query{};
    query.size = sizeof query;
    while (next_provider(file, &query) == 0) {
    }
    return query.provider;
}

/// A provider whose schema exceeds the limit is published when the limit permits.
void publish_when_there_is_room() {
    set_file(schema_pages_per_user, "0");
    const eventlog::dynamic_provider late(provider_called("late"));
    step("the status reports that", status_has(late, "device cannot receive provider late"));
    subscription_request all{};
    const int reader = subscribe_or_exit(&all);
    step("it has no listener", !late.enabled(0));
    set_file(schema_pages_per_user, "4096");
    step("it is published with a higher limit", wait_until([&] {
             eventlog_provider_run_callbacks(late.handle());
             return late.enabled(0);
         }));
    step("the status reports the events", status_has(late, "as eventlog:late_*"));
    static_cast<void>(::close(reader));
}

/// Retries of an event do not publish the provider again: each publication uses an entry in the
/// tables of all subscriptions.
void keep_index_of_removed_events() {
    constexpr eventlog_event_definition two[] = {
        {.name = "first", .fields = fields, .field_count = 1},
        {.name = "second", .fields = fields, .field_count = 1}};
    const eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = "scarce", .events = two,
                                         .event_count = 2};
    // The number of words that this user has depends on processes that ended before.
    std::optional<eventlog::dynamic_provider> held;
    for (int words = 1; words < 20 && !(held && status_has(*held, "1 of 2 events of")); ++words) {
        held.reset();
        set_file(words_per_user, std::to_string(words).c_str());
        static_cast<void>(held.emplace(definition));
    }
    const eventlog::dynamic_provider& scarce = *held;
    step("one of two has a word", status_has(scarce, "1 of 2 events of provider scarce"));
    subscription_request all{};
    const int reader = subscribe_or_exit(&all);
    const std::uint32_t number = last_published(reader);
    for (int tries = 0; tries < 25; ++tries) {
        ::usleep(100'000);
        eventlog_provider_run_callbacks(scarce.handle());
    }
    step("the provider is published once during retries", last_published(reader) == number);
    set_file(words_per_user, "65536");
    step("with a higher limit the other one has a word, too", is_tried_again(scarce));
    step("and is published to subscriptions", last_published(reader) > number && scarce.enabled(1));
    static_cast<void>(::close(reader));
}

/// The first provider to reopen the device receives the number of the other one's file.
void follow_lost_descriptors_of_two(const eventlog::dynamic_provider& provider) {
    const eventlog::dynamic_provider neighbor(provider_called("neighbor"));
    set_file(enable_item, "1");
    set_file(enable_neighbor, "1");
    lose_descriptor(neighbor);
    neighbor.emit(0, 101U);
    provider.emit(0, 102U);
    step("each writes its own events",
         trace_contains("neighbor_item: number=101") && trace_contains("moved_item: number=102"));
    step("and none of the other's", !trace_contains("neighbor_item: number=102"));
    set_file(enable_item, "0");
    set_file(enable_neighbor, "0");
    step("both gates close", !provider.enabled(0) && !neighbor.enabled(0));
}

}  // namespace

int main(int argc, char** argv) {
    step("there is an argument", argc > 1);
    follow_node_without_module();
    follow_loading(argv[1]);
    {
        const eventlog::dynamic_provider provider(provider_called("moved"));
        follow_listening(provider);
        follow_subscribing(provider);
        keep_index_of_removed_events();
        publish_when_there_is_room();
        follow_child_without_fork(provider);
        follow_hidden_device(provider);
        follow_lost_descriptor(provider);
        follow_lost_descriptors_of_two(provider);
    }
    std::puts("ok: the whole route");
    return 0;
}
