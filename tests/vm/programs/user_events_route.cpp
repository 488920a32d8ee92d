// SPDX-License-Identifier: MIT
//
// Emits events of a libeventlog provider through user_events and prints how tracefs shows them, as
// root. The test compares the output.
//
// Kernels before Linux 6.4 have a page of status bits instead of writing to gates; code that
// differs for them depends on has_page.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/dynamic_provider.hpp>
#include <eventlog/eventlog.hpp>

#include "steps.hpp"
#include "user_events_abi.h"

namespace {

enum class color : std::uint16_t { red, green, blue };

struct sample {
    std::uint64_t number;
    std::string_view why;
    std::int32_t below;
    std::uint16_t port;
    color paint;
    bool yes;
    std::array<char, 8> tag;
    std::optional<std::uint32_t> maybe;
    double share;
};
struct word {
    std::string_view text;
};
struct in_session {
    std::uint32_t step;
};
struct silent {
    std::uint32_t number;
};
struct empty {};

using traced = eventlog::provider<"traced", sample, word, in_session, silent, empty>;

}  // namespace

template <>
inline constexpr eventlog::event_traits eventlog::traits_of<in_session>{.session_bound = true};

namespace {

const bool has_page = kernel_has_status_page();

eventlog::route_status route() {
    return traced::status().routes[EVENTLOG_ROUTE_USER_EVENTS];
}

void emit_sample(std::uint64_t number) {
    const std::string why = "reason " + std::to_string(number % 7);
    traced::emit(sample{number,
                        why,
                        -static_cast<std::int32_t>(number % 1000),
                        static_cast<std::uint16_t>(number),
                        static_cast<color>(number % 3),
                        number % 2 == 0,
                        {'t', 'a', 'g'},
                        number % 5 == 0 ? std::optional<std::uint32_t>{} : 7U,
                        0.5});
}

void show_trace(const char* title) {
    FILE* file = std::fopen(TRACING "trace", "r");
    std::array<char, 16384> line{};
    std::printf("trace %s\n", title);
    while (file != nullptr && std::fgets(line.data(), line.size(), file) != nullptr) {
        if (line[0] != '#') {
            static_cast<void>(std::fputs(line.data(), stdout));
        }
    }
    std::printf("end of trace\n");
    if (file != nullptr) {
        static_cast<void>(std::fclose(file));
    }
    clear_trace();
}

/// Prints the kernel's format of an event.
void show_format(const std::string& name) {
    const std::string path = EVENTS + name + "/format";
    FILE* const file = std::fopen(path.c_str(), "r");
    std::array<char, 1024> line{};
    while (file != nullptr && std::fgets(line.data(), line.size(), file) != nullptr) {
        std::printf("format %s", line.data());
    }
    if (file != nullptr) {
        static_cast<void>(std::fclose(file));
    }
    std::printf("\n");
}

void show_formats() {
    for (const char* event : {"sample", "word", "in_session", "silent", "empty"}) {
        show_format(name_of(std::string("traced_") + event));
    }
}

void check_fields() {
    step("the route can be used", route().code == EVENTLOG_OK);
    std::printf("status: %s\n", route().text.data());
    step("there is no listener at first", !traced::enabled<sample>());
    emit_sample(1);
    const std::string too_large(4044, 'x');
    traced::emit(word{too_large});
    step("events without a listener are not counted",
         route().counters.written == 0 && route().counters.lost_too_large == 0);
    traced::emit_lazily([] {
        step("a lazy event without a listener is not created", false);
        return silent{0};
    });
    show_formats();

    set_event_enabled("traced_sample", true);
    step("the kernel opens the gate", wait_until([] { return traced::enabled<sample>(); }));
    step("of that event only", !traced::enabled<silent>());
    for (const std::uint64_t number : {10U, 11U, 12U}) {
        emit_sample(number);
    }
    traced::emit(silent{1});
    step("all events are counted", route().counters.written == 3);
    show_trace("fields");

    set_event_enabled("traced_in_session", true);
    {
        eventlog::session<traced> session(4711);
        session.emit(in_session{3});
    }
    set_event_enabled("traced_in_session", false);
    show_trace("session");

    set_event_enabled("traced_empty", true);
    step("its gate is open, too", wait_until([] { return traced::enabled<empty>(); }));
    traced::emit(empty{});
    bool made = false;
    traced::emit_lazily([&] {
        made = true;
        return empty{};
    });
    step("a lazy event with a listener is created", made);
    set_event_enabled("traced_empty", false);
    step("an event without fields is written", route().counters.lost_refused == 0);
    show_trace("empty");
}

void check_many() {
    const std::uint64_t before = route().counters.written;
    for (std::uint64_t number = 0; number < 10'000; ++number) {
        emit_sample(number);
    }
    step("ten thousand are counted", route().counters.written - before == 10'000);
    show_trace("many");
}

void check_end_of_listening() {
    const std::uint64_t before = route().counters.written;
    set_event_enabled("traced_sample", false);
    step("the kernel closes the gate", wait_until([] { return !traced::enabled<sample>(); }));
    emit_sample(77);
    step("no further event is counted", route().counters.written == before);
    show_trace("nothing");
}

void check_sizes() {
    set_event_enabled("traced_word", true);
    // The word of 4 bytes, the text and its NUL: 4048 bytes. The test checks that each arrives.
    for (const char letter : {'x', 'y', 'z'}) {
        const std::string largest(4043, letter);
        traced::emit(word{largest});
    }
    step("the largest events of ftrace are written", route().counters.lost_too_large == 0);
    const std::string too_large(4044, 'x');
    traced::emit(word{too_large});
    step("a byte more is refused, and counted", route().counters.lost_too_large == 1);
    traced::emit(word{""});
    traced::emit(word{"a word"});
    set_event_enabled("traced_word", false);
    show_trace("sizes");
}

void check_fork() {
    set_event_enabled("traced_silent", true);
    static_cast<void>(std::fflush(stdout));
    const pid_t child = ::fork();
    if (child == 0) {
        step("the child's gate is open", wait_until([] { return traced::enabled<silent>(); }));
        step("the child has counted nothing", route().counters.written == 0);
        traced::emit(silent{100});
        step("the child counts", route().counters.written == 1);
        std::exit(0);
    }
    int status = -1;
    step("the child ends well", ::waitpid(child, &status, 0) == child && status == 0);
    step("the parent's gate is still open", traced::enabled<silent>());
    traced::emit(silent{101});
    set_event_enabled("traced_silent", false);
    step("the parent's gate is closed", wait_until([] { return !traced::enabled<silent>(); }));
    show_trace("fork");
}

/// Removes an event on kernels with a page, which requires that the event has no users.
void remove_event(std::string_view name) {
    const std::string removal = "-:user_events/" + std::string(name);
    const int file = ::open(TRACING "dynamic_events", O_WRONLY | O_APPEND);
    bool removed = false;
    step("it can be removed", wait_until([&] {
             removed = removed || ::write(file, removal.data(), removal.size()) ==
                                      static_cast<ssize_t>(removal.size());
             return removed;
         }));
    static_cast<void>(::close(file));
}

/// Checks that the event is removed after its last user, by the test on kernels with a page.
void expect_removed(std::string_view name) {
    if (has_page) {
        remove_event(name);
    }
    const std::string path = EVENTS + std::string(name);
    step("the event is removed", wait_until([&] { return ::access(path.c_str(), F_OK) != 0; }));
}

/// Tests a second version of the provider in the same process, whose event has other fields.
void check_versions() {
    const std::string own = name_of("traced_silent");
    std::string other_event;
    std::string other = TRACING "events/user_events_multi/enable";
    const eventlog_field_definition fields[] = {
        {.name = "code", .type = EVENTLOG_TYPE_UNSIGNED_32}};
    const eventlog_event_definition events[] = {
        {.name = "silent", .fields = fields, .field_count = 1}};
    {
        const eventlog::dynamic_provider version(
            {EVENTLOG_DEFINITION_SIZES, .name = "traced", .events = events, .event_count = 1});
        const eventlog::route_status status = version.status().routes[EVENTLOG_ROUTE_USER_EVENTS];
        step("the other version can be offered, too", status.code == EVENTLOG_OK);
        // Now two events have names that begin like this.
        std::string names = names_of("eventlog_traced_silent");
        if (has_page) {
            names.erase(names.find(own), own.size() + 1);
            names.pop_back();
            other_event = names;
            other = EVENTS + names + "/enable";
            show_format(names);
        }
        set_file(other.c_str(), "1");
        step("its gate is open", wait_until([&] { return version.enabled(0); }));
        step("the first version's is not", !traced::enabled<silent>());
        version.emit(0, 300U);
        set_file(other.c_str(), "0");
        show_trace("versions");
    }
    if (has_page) {
        expect_removed(other_event);
    } else {
        step("it is removed with its provider",
             wait_until([&] { return ::access(other.c_str(), F_OK) != 0; }));
    }
    step("the first version stays", ::access((EVENTS + own).c_str(), F_OK) == 0);
}

constexpr eventlog_field_definition late_fields[] = {
    {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_32}};
constexpr eventlog_event_definition late_events[] = {
    {.name = "event", .fields = late_fields, .field_count = 1}};
constexpr eventlog_definition late{EVENTLOG_DEFINITION_SIZES, .name = "late", .events = late_events,
                                   .event_count = 1};

eventlog::route_status route_of(const eventlog::dynamic_provider& provider) {
    return provider.status().routes[EVENTLOG_ROUTE_USER_EVENTS];
}

eventlog::dynamic_provider define(const char* name, const char* event_name) {
    const eventlog_event_definition event = {
        .name = event_name, .fields = late_fields, .field_count = 1};
    return eventlog::dynamic_provider(
        {EVENTLOG_DEFINITION_SIZES, .name = name, .events = &event, .event_count = 1});
}

/// Tests the longest names, and two providers whose events have the same name in tracefs.
void check_names() {
    const std::string provider_name(63, 'p');
    const std::string event_name(63, 'e');
    std::string longest;
    std::string shared;
    {
        const eventlog::dynamic_provider provider =
            define(provider_name.c_str(), event_name.c_str());
        step("the longest names can be offered", route_of(provider).code == EVENTLOG_OK);
        const std::string both = provider_name + "_" + event_name;
        longest = name_of(both);
        show_format(longest);
        set_event_enabled(both, true);
        step("its gate is open", wait_until([&] { return provider.enabled(0); }));
        provider.emit(0, 500U);
        show_trace("longest names");
        set_event_enabled(both, false);

        const eventlog::dynamic_provider first = define("left", "right_end");
        const eventlog::dynamic_provider second = define("left_right", "end");
        shared = name_of("left_right_end");
        show_format(shared);
        step("two events have one name", names_of("eventlog_left_right_end") == shared + " ");
        set_event_enabled("left_right_end", true);
        step("both gates are open",
             wait_until([&] { return first.enabled(0) && second.enabled(0); }));
        first.emit(0, 501U);
        second.emit(0, 502U);
        show_trace("shared name");
        set_event_enabled("left_right_end", false);
    }
    expect_removed(longest);
    expect_removed(shared);
}

/// Whether the provider retries the route and succeeds.
bool is_tried_again(const eventlog::dynamic_provider& provider) {
    return wait_until([&] {
        eventlog_provider_poll(provider.handle());
        return route_of(provider).code == EVENTLOG_OK;
    });
}

/// Registers events until the kernel's page has no free bit, or lowers the kernel's limit.
void fill_event_table() {
    if (!has_page) {
        set_file(USER_EVENTS_MAX, "1");
        return;
    }
    // Several descriptors: each event of a descriptor makes its next registration slower.
    constexpr unsigned some = 256;
    int error = 0;
    for (unsigned first = 0; error == 0; first += some) {
        const int data = ::open(TRACING "user_events_data", O_RDWR);
        for (unsigned i = first; i < first + some && error == 0; ++i) {
            const std::string description = "filler_" + std::to_string(i) + " u32 number";
            std::uint32_t index = 0;
            error = register_directly(data, description.c_str(), nullptr, &index) ? 0 : errno;
        }
        static_cast<void>(::close(data));
    }
    step("the page is full", error == EMFILE);
    step("the first bit is not an event's",
         file_contains(TRACING "user_events_status", "Active: 32767"));
}

/// Tests the route while the kernel has its maximum number of events.
void check_limit() {
    fill_event_table();
    std::string name;
    {
        const eventlog::dynamic_provider provider(late);
        step("the eventlog directory can still be used", provider.status().code == EVENTLOG_OK);
        step("there are too many events", route_of(provider).code == EVENTLOG_INCOMPLETE);
        std::printf("limit: %s\n", route_of(provider).text.data());
        step("its gate is closed", !provider.enabled(0));
        if (has_page) {
            remove_event("filler_0");
        } else {
            set_file(USER_EVENTS_MAX, "32768");
        }
        step("the event is registered below the limit", is_tried_again(provider));
        name = name_of("late_event");
    }
    expect_removed(name);
}

/// Runs as an ordinary user, which cannot publish in root's directory either.
[[noreturn]] void run_as_user(int ready, int allowed) {
    step("the user is an ordinary one", ::setgid(1000) == 0 && ::setuid(1000) == 0);
    const eventlog::dynamic_provider provider(late);
    step("the directory is not the user's", provider.status().code == EVENTLOG_NO_DIRECTORY);
    step("user_events are not permitted either", route_of(provider).code == EVENTLOG_NO_PERMISSION);
    std::printf("permission: %s\n", route_of(provider).text.data());
    char byte = 'r';
    step("the child waits", ::write(ready, &byte, 1) == 1 && ::read(allowed, &byte, 1) == 1);
    step("the route opens when it is permitted", is_tried_again(provider));
    step("root is asked to enable the event", ::write(ready, &byte, 1) == 1);
    step("the gate is open without a file", wait_until([&] { return provider.enabled(0); }));
    provider.emit(0, 400U);
    step("the event is written", route_of(provider).counters.written == 1);
    static_cast<void>(std::fflush(stdout));
    ::_exit(0);  // without clean-up: the kernel must release everything
}

void check_permission() {
    std::array<int, 2> ready{};
    std::array<int, 2> allowed{};
    step("there are pipes", ::pipe(ready.data()) == 0 && ::pipe(allowed.data()) == 0);
    static_cast<void>(std::fflush(stdout));
    const pid_t child = ::fork();
    if (child == 0) {
        run_as_user(ready[1], allowed[0]);
    }
    static_cast<void>(::close(ready[1]));
    char byte = 0;
    step("the child has been refused", ::read(ready[0], &byte, 1) == 1);
    step("root allows it", ::chmod(TRACING, 0711) == 0 &&
                               ::chmod(TRACING "user_events_data", 0666) == 0 &&
                               ::chmod(TRACING "user_events_status", 0644) == 0 &&
                               ::write(allowed[1], &byte, 1) == 1);
    step("the child's route is open", ::read(ready[0], &byte, 1) == 1);
    const std::string name = name_of("late_event");
    show_format(name);
    set_event_enabled("late_event", true);
    int status = -1;
    step("the child ends well", ::waitpid(child, &status, 0) == child && status == 0);
    // While the event is enabled: afterwards it is removed, and its records are unreadable.
    show_trace("permission");
    set_event_enabled("late_event", false);
    expect_removed(name);
}

void close_all_descriptors() {
    for (int file = 3; file < 1024; ++file) {
        static_cast<void>(::close(file));
    }
}

/// Tests a daemon that closes all descriptors and then opens its own files.
void check_lost_descriptor() {
    set_event_enabled("traced_silent", true);
    close_all_descriptors();
    const int own = ::open("/tmp/own", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    // The daemon uses all numbers that the library's descriptor can have had.
    for (int file = own + 1; file < 1000; ++file) {
        static_cast<void>(::dup2(own, file));
    }
    const std::uint64_t before = route().counters.written;
    // The library checks its descriptor again after a tick of its clock.
    ::usleep(50'000);
    traced::emit(silent{200});
    step("a new descriptor is opened", route().counters.written == before + 1);
    struct stat status {};
    step("nothing is written to the program's file",
         ::fstat(own, &status) == 0 && status.st_size == 0);
    step("the route can still be used", route().code == EVENTLOG_OK);
    set_event_enabled("traced_silent", false);
    step("the gate still closes", wait_until([] { return !traced::enabled<silent>(); }));
    show_trace("descriptor");
}

struct echo {
    std::uint32_t number;
};
using neighbor = eventlog::provider<"neighbor", echo>;

/// The first provider to reopen its file receives the number of the other provider's file.
void check_lost_descriptors_of_two() {
    set_event_enabled("traced_silent", true);
    set_event_enabled("neighbor_echo", true);
    // After the first round they have the lowest two numbers.
    for (std::uint32_t round = 0; round < 3; ++round) {
        close_all_descriptors();
        ::usleep(50'000);
        if (round == 1) {
            traced::emit(silent{round});
            neighbor::emit(echo{round});
        } else {
            neighbor::emit(echo{round});
            traced::emit(silent{round});
        }
    }
    show_format(name_of("neighbor_echo"));
    show_trace("descriptors of two");
    set_event_enabled("traced_silent", false);
    set_event_enabled("neighbor_echo", false);
    step("both gates close",
         wait_until([] { return !traced::enabled<silent>() && !neighbor::enabled<echo>(); }));
}

}  // namespace

int main() {
    set_file(TRACING "buffer_size_kb", "16384");
    clear_trace();
    check_fields();
    check_many();
    check_end_of_listening();
    check_sizes();
    check_fork();
    check_versions();
    check_names();
    check_permission();
    check_limit();
    check_lost_descriptor();
    check_lost_descriptors_of_two();
    return 0;
}
