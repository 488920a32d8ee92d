// SPDX-License-Identifier: MIT
//
// Providers that are defined and unregistered at run time: many, equal ones, across forks, and with
// threads that use old handles.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.h>

#include "build_kind.hpp"
#include "listener.hpp"
#include "provider/definition.hpp"
#include "schema/schema.hpp"
#include "scratch.hpp"

namespace {

using eventlog::core::built_definition;
using eventlog::test::event_listener;

const eventlog_field_definition count_fields[] = {
    {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_64},
    {.name = "text", .type = EVENTLOG_TYPE_TEXT}};
const eventlog_event_definition count_events[] = {
    {.name = "count", .fields = count_fields, .field_count = 2}};

eventlog_provider* define(const eventlog_definition& definition) {
    std::array<char, EVENTLOG_TEXT_SIZE> text{};
    eventlog_provider* provider = nullptr;
    EXPECT_EQ(eventlog_provider_create(&definition, &provider, text.data(), text.size()),
              EVENTLOG_ERROR_NONE)
        << text.data();
    EXPECT_EQ(eventlog_provider_status(provider, text.data(), text.size()), EVENTLOG_STATUS_OK)
        << text.data();
    return provider;
}

eventlog_provider* define_counter(const char* name) {
    return define(
        {EVENTLOG_DEFINITION_SIZES, .name = name, .events = count_events, .event_count = 1});
}

eventlog_error emit_count(eventlog_provider* provider, std::uint64_t number) {
    const eventlog_value values[] = {eventlog_unsigned(number), eventlog_text("text")};
    return eventlog_emit(provider, 0, values, 2);
}

TEST(run_time_definitions, deliver_all_1024_events) {
    std::vector<std::string> names;
    names.reserve(1024);
    std::vector<eventlog_event_definition> events;
    for (int i = 0; i < 1024; ++i) {
        names.push_back("event_" + std::to_string(i));
        events.push_back({.name = names.back().c_str(), .fields = count_fields, .field_count = 2});
    }
    eventlog_provider* provider = define({EVENTLOG_DEFINITION_SIZES, .name = "large_dynamic",
                                          .events = events.data(), .event_count = 1024});
    event_listener listener("large_dynamic:*", {1U << 20U, 4});
    for (std::uint32_t i = 0; i < 1024; ++i) {
        EXPECT_TRUE(eventlog_enabled(provider, i));
        const eventlog_value values[] = {eventlog_unsigned(i), eventlog_text("")};
        EXPECT_EQ(eventlog_emit(provider, i, values, 2), EVENTLOG_ERROR_NONE);
    }
    listener.finish();
    ASSERT_EQ(listener.records().size(), 1024U);
    std::vector<bool> seen(1024);
    for (const auto& record : listener.records()) {
        const auto number = std::get<std::uint64_t>(listener.field(record, "number"));
        EXPECT_EQ(listener.event_name(record), "event_" + std::to_string(number));
        seen.at(number) = true;
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 1024);
    eventlog_provider_destroy(provider);
}

TEST(run_time_definitions, with_same_name_are_separate_instances) {
    eventlog_provider* first = define_counter("twins");
    eventlog_provider* second = define_counter("twins");
    EXPECT_NE(first, second);
    event_listener listener("twins:*");
    EXPECT_EQ(emit_count(first, 1), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(emit_count(second, 2), EVENTLOG_ERROR_NONE);
    eventlog_provider_destroy(first);
    EXPECT_FALSE(eventlog_enabled(first, 0));
    EXPECT_TRUE(eventlog_enabled(second, 0));
    EXPECT_EQ(emit_count(second, 3), EVENTLOG_ERROR_NONE);
    listener.finish();
    ASSERT_EQ(listener.records().size(), 3U);
    EXPECT_NE(listener.records()[0].header.provider, listener.records()[1].header.provider);
    eventlog_provider_destroy(second);
}

TEST(run_time_definitions, are_received_by_earlier_subscriptions) {
    event_listener listener("later_*:*");
    eventlog_provider* provider = define_counter("later_defined");
    EXPECT_EQ(emit_count(provider, 1), EVENTLOG_ERROR_NONE);
    listener.poll();
    EXPECT_EQ(listener.records().size(), 1U);
    eventlog_provider_destroy(provider);
}

TEST(run_time_definitions, accept_prebuilt_payloads) {
    eventlog_provider* provider = define_counter("ready_payload");
    event_listener listener("ready_payload:*");
    struct {
        std::uint64_t number = 12;
        std::uint32_t text = 5U << 16U | 0U;  // after this word
        char characters[8] = "four";
        char padding[4] = {};
    } payload;
    eventlog_emit_raw(provider, 0, &payload, 17);
    const eventlog_part pieces[] = {{&payload, 12}, {"more", 5}};
    eventlog_emit_raw_parts(provider, 0, pieces, 2, 0);
    listener.finish();
    ASSERT_EQ(listener.records().size(), 2U);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "number")), 12U);
    EXPECT_EQ(std::get<std::string_view>(listener.field(listener.records()[0], "text")), "four");
    EXPECT_EQ(std::get<std::string_view>(listener.field(listener.records()[1], "text")), "more");
    eventlog_provider_destroy(provider);
}

TEST(run_time_definitions, work_in_forked_child_with_its_own_pid) {
    eventlog_provider* provider = define_counter("forked_dynamic");
    event_listener listener("forked_dynamic:*");
    EXPECT_EQ(emit_count(provider, 1), EVENTLOG_ERROR_NONE);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const bool fine =
            eventlog_enabled(provider, 0) && emit_count(provider, 2) == EVENTLOG_ERROR_NONE;
        eventlog_provider_destroy(provider);
        ::_exit(fine && emit_count(provider, 3) == EVENTLOG_ERROR_NOT_DEFINED ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(emit_count(provider, 4), EVENTLOG_ERROR_NONE);
    listener.finish();
    ASSERT_EQ(listener.records().size(), 3U);
    for (const auto& record : listener.records()) {
        const bool from_child = std::get<std::uint64_t>(listener.field(record, "number")) == 2;
        EXPECT_EQ(listener.providers().at(record.header.provider).pid,
                  static_cast<std::uint32_t>(from_child ? child : ::getpid()));
    }
    eventlog_provider_destroy(provider);
}

TEST(run_time_definitions, unregister_while_threads_emit_and_query) {
    constexpr int rounds = 50;
    std::atomic<eventlog_provider*> current{define_counter("short_lived")};
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> accepted{0};
    event_listener listener("short_lived:*", {1U << 20U, 4});
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            while (!stop) {
                // The provider is usually unregistered between the load and the emit.
                eventlog_provider* provider = current.load();
                static_cast<void>(eventlog_enabled(provider, 0));
                const eventlog_error result = emit_count(provider, 1);
                EXPECT_TRUE(result == EVENTLOG_ERROR_NONE || result == EVENTLOG_ERROR_NOT_DEFINED);
                if (result == EVENTLOG_ERROR_NONE) {
                    ++accepted;
                    // Leaves the listener time to read what three threads emit.
                    std::this_thread::sleep_for(std::chrono::microseconds{50});
                }
            }
        });
    }
    for (int i = 0; i < rounds; ++i) {
        eventlog_provider_destroy(current.load());
        // Possibly the handle of a former one: an equal definition is accepted.
        current = define_counter("short_lived");
        listener.poll();
    }
    // The last provider stays until its event is received.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{30};
    while (listener.totals().read == 0 && std::chrono::steady_clock::now() < deadline) {
        listener.poll();
    }
    stop = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
    eventlog_provider_destroy(current.load());
    listener.finish();
    EXPECT_GT(listener.totals().read, 0U);
    EXPECT_LE(listener.totals().read + listener.totals().lost + listener.lost_by_providers(),
              accepted.load());
    for (const auto& record : listener.records()) {
        ASSERT_EQ(std::get<std::string_view>(listener.field(record, "text")), "text");
    }
}

TEST(run_time_definitions, reuse_a_handle_late) {
    eventlog_provider* const withdrawn = define_counter("withdrawn_handle");
    eventlog_provider_destroy(withdrawn);
    for (int i = 0; i < 3; ++i) {
        eventlog_provider* const next = define_counter("next_handle");
        EXPECT_NE(next, withdrawn);
        EXPECT_FALSE(eventlog_enabled(withdrawn, 0));
        EXPECT_EQ(emit_count(withdrawn, 1), EVENTLOG_ERROR_NOT_DEFINED);
        eventlog_provider_destroy(next);
    }
}

std::size_t resident_kib() {
    rusage usage{};
    EXPECT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
    return static_cast<std::size_t>(usage.ru_maxrss);
}

std::size_t mappings() {
    std::size_t count = 0;
    FILE* maps = std::fopen("/proc/self/maps", "r");
    for (int c = std::fgetc(maps); c != EOF; c = std::fgetc(maps)) {
        count += c == '\n' ? 1 : 0;
    }
    static_cast<void>(std::fclose(maps));
    return count;
}

TEST(run_time_definitions, free_their_memory) {
    std::vector<std::string> names(5000);
    std::vector<eventlog_value_definition> values;
    for (std::string& name : names) {
        name = "a_value_with_a_long_name_" + std::to_string(values.size());
        values.push_back({name.c_str(), static_cast<std::int64_t>(values.size())});
    }
    const eventlog_enumeration_definition enumeration{"values", values.data(), 5000, false};
    const eventlog_field_definition fields[] = {
        {.name = "field", .type = EVENTLOG_TYPE_UNSIGNED_32, .enumeration = &enumeration}};
    const eventlog_event_definition events[] = {
        {.name = "event", .fields = fields, .field_count = 1}};
    const eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = "returned",
                                         .events = events, .event_count = 1};
    // As many as the library keeps before it reuses the first.
    for (int i = 0; i < 8; ++i) {
        eventlog_provider_destroy(define(definition));
    }
    const std::size_t memory = resident_kib();
    const std::size_t maps = mappings();
    for (int i = 0; i < 300; ++i) {
        eventlog_provider_destroy(define(definition));
    }
    // Each schema has 200 KB. AddressSanitizer keeps freed memory in mappings of its own for a
    // while, and reports leaks itself.
    if (!eventlog::test::has_address_sanitizer) {
        EXPECT_LT(resident_kib(), memory + 20'000);
        EXPECT_LE(mappings(), maps + 2);
    }
}

eventlog_provider* interrupted_provider = nullptr;

TEST(run_time_definitions, accept_values_in_signal_handlers) {
    interrupted_provider = define_counter("interrupted");
    event_listener listener("interrupted:*");
    struct sigaction action {};
    action.sa_handler = [](int) { static_cast<void>(emit_count(interrupted_provider, 2)); };
    struct sigaction before {};
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
    EXPECT_EQ(emit_count(interrupted_provider, 1), EVENTLOG_ERROR_NONE);
    ASSERT_EQ(::raise(SIGUSR1), 0);
    ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
    listener.finish();
    EXPECT_EQ(listener.records().size(), 2U);
    eventlog_provider_destroy(interrupted_provider);
}

/// A random definition, valid or not.
class chance_definition {
  public:
    explicit chance_definition(std::uint32_t seed) : random_(seed) {
        names_.reserve(4096);
        const std::uint32_t keyword_count = below(4);
        for (std::uint32_t i = 0; i < keyword_count; ++i) {
            keywords_.push_back({name(), below(66)});
        }
        for (eventlog_value_definition& value : values_) {
            value = {name(), static_cast<std::int64_t>(random_()) - 1000};
        }
        for (eventlog_enumeration_definition& enumeration : enumerations_) {
            enumeration = {name(), values_.data(), below(9), below(2) == 0};
        }
        const std::uint32_t event_count = 1 + below(5);
        fields_.resize(event_count);
        for (std::vector<eventlog_field_definition>& fields : fields_) {
            add_event(fields);
        }
        all_ = {EVENTLOG_DEFINITION_SIZES,      .name = name(),
                .description = text(),          .keywords = keywords_.data(),
                .keyword_count = keyword_count, .events = events_.data(),
                .event_count = event_count};
    }

    [[nodiscard]] const eventlog_definition& all() const { return all_; }

  private:
    std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

    /// Sometimes invalid or already used.
    const char* name() {
        static constexpr const char* bad[] = {"", "1st", "a b", nullptr};
        const std::uint32_t dice = below(400);
        if (dice < std::size(bad)) {
            return bad[dice];
        }
        const std::size_t length = 1 + below(12) + (dice == 10 ? 60 : 0);
        names_.push_back(std::string(length, static_cast<char>('a' + below(26))) +
                         (dice == 11 ? "" : "_" + std::to_string(names_.size() % 100)));
        return names_.back().c_str();
    }
    const char* text() {
        if (below(3) == 0) {
            return nullptr;
        }
        names_.emplace_back(below(257), 'x');
        return names_.back().c_str();
    }

    void add_event(std::vector<eventlog_field_definition>& fields) {
        const std::uint32_t field_count = below(40) == 0 ? 95 + below(8) : below(12);
        for (std::uint32_t i = 0; i < field_count; ++i) {
            const std::uint32_t type = below(100) == 0 ? below(20) : 1 + below(14);
            const bool variable = type >= EVENTLOG_TYPE_TEXT && below(100) != 0;
            const bool is_number = type >= EVENTLOG_TYPE_SIGNED_8 && type <= EVENTLOG_TYPE_FLOAT_64;
            fields.push_back(
                {.name = name(),
                 .type = type,
                 .count = variable        ? below(2)
                          : below(4) == 0 ? below(300)
                                          : 1,
                 .format = below(10) == 0 ? below(12) : 0,
                 .optional = below(4) == 0,
                 .enumeration =
                     below(8) == 0 && type > 2 && type < 11 ? &enumerations_[below(3)] : nullptr,
                 .unit = below(5) == 0 && (is_number || below(20) == 0) ? text() : nullptr,
                 .description = below(5) == 0 ? text() : nullptr});
        }
        events_.push_back({.name = name(),
                           .description = text(),
                           .when = text(),
                           .level = below(50) == 0 ? below(9) : below(6),
                           .kind = below(50) == 0 ? below(9) : below(4),
                           .keywords = below(30) == 0 ? 1U : 0U,
                           .session_bound = below(3) == 0,
                           .truncates = below(2) == 0,
                           .fields = fields.data(),
                           .field_count = field_count});
    }

    std::minstd_rand random_;
    std::vector<std::string> names_;
    std::vector<eventlog_keyword_definition> keywords_;
    std::array<eventlog_value_definition, 8> values_{};
    std::array<eventlog_enumeration_definition, 3> enumerations_{};
    std::vector<std::vector<eventlog_field_definition>> fields_;
    std::vector<eventlog_event_definition> events_;
    eventlog_definition all_{};
};

/// Every byte of the fixed part belongs to one field; widths decrease; fields of equal width are in
/// declared order.
void check_layout(const eventlog::core::event_description& event,
                  const std::vector<eventlog::core::field_description>& fields) {
    std::vector<int> users(event.fixed_size);
    std::size_t last_width = 8;
    const auto in_payload = [&] {
        std::vector<const eventlog::core::field_description*> order;
        for (const auto& field : fields) {
            order.push_back(&field);
        }
        std::stable_sort(order.begin(), order.end(),
                         [](auto* a, auto* b) { return a->offset < b->offset; });
        return order;
    }();
    const eventlog::core::field_description* before = nullptr;
    for (const auto* field : in_payload) {
        const std::size_t width = eventlog::size_of(field->type);
        EXPECT_LE(width, last_width);
        EXPECT_EQ(field->offset % width, 0U);
        if (before != nullptr && width == last_width) {
            EXPECT_LT(before, field);  // elements of one vector: in declared order
        }
        before = field;
        last_width = width;
        for (std::size_t i = 0; i < width * field->count; ++i) {
            ++users.at(field->offset + i);
        }
        if (field->presence != eventlog::schema_format::no_index) {
            ++users.at(field->presence);
        }
    }
    EXPECT_EQ(std::count(users.begin(), users.end(), 1), event.fixed_size);
}

void check_schema(const eventlog_definition& definition, const built_definition& built) {
    eventlog::core::schema_reader schema;
    eventlog::core::error_text error;
    ASSERT_TRUE(schema.open(built.schema, error)) << error.text().c_str();
    EXPECT_EQ(schema.provider(), definition.name);
    EXPECT_EQ(schema.event_count(), definition.event_count);
    EXPECT_EQ(schema.size(), built.schema.size());
    eventlog::core::event_description event;
    while (schema.next_event(event)) {
        const eventlog_event_definition& said = definition.events[event.id];
        EXPECT_EQ(event.name, said.name);
        EXPECT_EQ(event.when, said.when == nullptr ? "" : said.when);
        EXPECT_EQ(static_cast<std::uint32_t>(event.severity), said.level == 0 ? 3 : said.level);
        EXPECT_EQ(event.field_count, said.field_count + (said.session_bound ? 1U : 0U));
        EXPECT_EQ(event.truncates, said.truncates);
        std::vector<eventlog::core::field_description> fields;
        eventlog::core::field_description field;
        while (schema.next_field(field)) {
            fields.push_back(field);
        }
        check_layout(event, fields);
        for (std::size_t i = said.session_bound ? 1 : 0; i < fields.size(); ++i) {
            const auto& said_field = said.fields[i - (said.session_bound ? 1 : 0)];
            EXPECT_EQ(fields[i].name, said_field.name);
            EXPECT_EQ(fields[i].count, said_field.count == 0 ? 1 : said_field.count);
            EXPECT_EQ(fields[i].presence != eventlog::schema_format::no_index, said_field.optional);
            EXPECT_EQ(fields[i].enumeration != eventlog::schema_format::no_index,
                      said_field.enumeration != nullptr);
            // The offsets used for emitting are the same.
            EXPECT_EQ(built.events[event.id].fields[i].offset, fields[i].offset);
            EXPECT_EQ(built.events[event.id].fields[i].presence, fields[i].presence);
            EXPECT_EQ(built.events[event.id].fields[i].name, fields[i].name);
        }
        EXPECT_EQ(built.events[event.id].fixed_size, event.fixed_size);
    }
}

TEST(run_time_definitions, random_definitions_are_rejected_or_readable) {
    int accepted = 0;
    int refused = 0;
    for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
        const chance_definition made(seed);
        eventlog::core::definition_error error;
        const built_definition* built = nullptr;
        eventlog_error code = eventlog::core::check_definition(made.all(), error);
        if (code == EVENTLOG_ERROR_NONE) {
            code = eventlog::core::build_definition(made.all(), built, error);
        }
        std::array<char, EVENTLOG_TEXT_SIZE> text{};
        error.copy_to(text.data(), text.size());
        if (code == EVENTLOG_ERROR_NONE) {
            ++accepted;
            check_schema(made.all(), *built);
            EXPECT_STREQ(text.data(), "");
        } else {
            ++refused;
            EXPECT_EQ(built, nullptr);
            EXPECT_EQ(std::string(text.data()).back(), '.') << text.data();
        }
        std::free(const_cast<built_definition*>(built));
        ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    }
    EXPECT_GT(accepted, 300);
    EXPECT_GT(refused, 300);
}

}  // namespace
