// SPDX-License-Identifier: MIT
//
// Narrowing patterns by a predicate: they keep each event that can match, and add none.
#include "predicate/narrowed_patterns.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "predicate/record_filter.hpp"
#include "random_source.hpp"
#include "record_builder.hpp"

namespace {

namespace core = eventlog::core;
using eventlog::test::random_source;
using eventlog::test::record_builder;
using eventlog::test::test_record;

constexpr std::string_view schema = R"(
provider shop {
    keyword fast = 0
    event order error [fast] { bytes: u32 }
    event order_late warn { bytes: u32 }
    event paid info session { session: u64  bytes: u32 }
    event packed verbose session [fast] { session: u64 }
    event seen trace { event: u32 }
}
)";

elog::event_patterns patterns_of(const std::vector<std::string>& texts) {
    elog::event_patterns made;
    for (const std::string& text : texts) {
        made.add(text);
    }
    return made;
}

/// The narrowed patterns and processes, each with a space after it; empty: unchanged.
std::string narrowed(const std::vector<std::string>& texts, std::string_view predicate) {
    const auto made = elog::narrow(patterns_of(texts), elog::predicate("--where", predicate));
    std::string all = made ? made->patterns.packed() : "";
    std::replace(all.begin(), all.end(), '\0', ' ');
    return all;
}

TEST(narrowed_patterns, take_level_limit_from_predicate) {
    EXPECT_EQ(narrowed({"shop"}, "level <= warn"), "shop:*@warn ");
    EXPECT_EQ(narrowed({"shop"}, "level < warn"), "shop:*@error ");
    EXPECT_EQ(narrowed({"shop"}, "level <= debug"), "shop:*@verbose ");
    EXPECT_EQ(narrowed({"shop"}, "warn >= level && bytes > 5"), "shop:*@warn ");
    EXPECT_EQ(narrowed({"shop", "net:a@error/fast"}, "level == info"),
              "shop:*@info net:a@error/fast ");
    EXPECT_EQ(narrowed({"shop"}, "level <= error || level <= info"), "shop:*@info ");
}

TEST(narrowed_patterns, take_events_from_predicate) {
    EXPECT_EQ(narrowed({"shop"}, "event == \"order\""), "shop:order ");
    EXPECT_EQ(narrowed({"shop"}, "event ~ \"shop:order*\" && bytes > 5"), "shop:order* ");
    EXPECT_EQ(narrowed({"*:order*", "net:close"}, "event == \"order_late\""), "*:order_late ");
    EXPECT_EQ(narrowed({"shop"}, "event == \"order\" || event == \"paid\" && bytes > 5"),
              "shop:order shop:paid ");
    EXPECT_EQ(narrowed({"shop:or*"}, "event ~ \"*late\""), "shop:or* ");
}

TEST(narrowed_patterns, take_processes_and_sessions_from_predicate) {
    EXPECT_EQ(narrowed({"shop"}, "pid == 7 || pid == 8"), "shop:* =7 =8 ");
    EXPECT_EQ(narrowed({"shop"}, "session == 3"), "shop:*# ");
    elog::event_patterns chosen = patterns_of({"shop"});
    chosen.add_process("nginx*");
    chosen.add_session(5);
    EXPECT_FALSE(elog::narrow(chosen, elog::predicate("--where", "pid == 7 && session == 5")));
}

TEST(narrowed_patterns, stay_unchanged_if_predicate_implies_nothing) {
    for (const char* text :
         {"bytes > 5", "level >= warn", "level != warn", "level <= warn || bytes > 5",
          "!(level <= warn)", "event != \"order\"", "event !~ \"o*\"", R"(event ~ "o\*")",
          ".level <= 5", "pid > 5", "pid == 0", "comm == \"nginx\"", "event == \"no such*\"",
          "event == \"none\""}) {
        EXPECT_EQ(narrowed({"shop:order"}, text), "") << text;
    }
}

TEST(narrowed_patterns, stay_unchanged_if_too_long_for_subscription) {
    std::string text = "event == \"e\"";
    for (int i = 0; i < 70; ++i) {
        text += fmt::format(" || event == \"e{}\"", i);
    }
    EXPECT_EQ(narrowed({"shop"}, text), "");
    text = "event == \"e\"";
    for (int i = 0; i < 60; ++i) {
        text += fmt::format(" || event == \"a_name_that_is_as_long_as_some_are_{}\"", i);
    }
    EXPECT_EQ(narrowed({"shop"}, text), "");
    EXPECT_EQ(narrowed({"shop"}, "event == \"" + std::string(64, 'e') + "\""), "");
}

TEST(narrowed_patterns, keep_session_mark) {
    elog::event_patterns both = patterns_of({"shop", "*:seen#"});
    both.add_session(5);
    EXPECT_FALSE(elog::narrow(both, elog::predicate("--where", "event == \"order\"")));
    EXPECT_TRUE(elog::narrow(both, elog::predicate("--where", "event == \"seen\"")));
}

TEST(narrowed_patterns, report_whether_fields_are_tested) {
    for (const char* text :
         {"level <= warn", "level == debug", "pid == 5 && event ~ \"o*\" || !(cpu == 1)"}) {
        EXPECT_TRUE(elog::uses_only_built_ins(elog::predicate("--where", text))) << text;
    }
    for (const char* text : {"bytes > 5", "level <= warn && .level == 5", "lit"}) {
        EXPECT_FALSE(elog::uses_only_built_ins(elog::predicate("--where", text))) << text;
    }
}

std::string random_atom(random_source& random) {
    static const std::vector<std::string> names{"order",  "order_late", "paid",
                                                "packed", "seen",       "none"};
    static const std::vector<std::string> globs{"order*", "*a*", "p???", "*", "shop:*d", "x*"};
    static const std::vector<std::string> levels{"error", "warn", "info", "verbose", "trace"};
    static const std::vector<std::string> comparisons{"==", "!=", "<", "<=", ">", ">="};
    const std::string& level = random.pick(levels);
    switch (random.below(8)) {
        case 0:
            return "level " + random.pick(comparisons) + ' ' + level;
        case 1:
            return level + ' ' + random.pick(comparisons) + " level";
        case 2:
            return "event == \"" + random.pick(names) + '"';
        case 3:
            return "event ~ \"" + random.pick(globs) + '"';
        case 4:
            return fmt::format("pid == {}", random.below(3) + 7);
        case 5:
            return fmt::format("session == {}", random.below(3));
        case 6:
            return fmt::format("bytes > {}", random.below(2) * 50);
        default:
            return "event !~ \"" + random.pick(globs) + '"';
    }
}

std::string random_predicate(random_source& random, unsigned depth) {
    if (depth == 0 || random.below(4) == 0) {
        return random_atom(random);
    }
    const std::string left = random_predicate(random, depth - 1);
    if (random.below(8) == 0) {
        return "!(" + left + ")";
    }
    return fmt::format("({} {} {})", left, random.below(3) != 0 ? "&&" : "||",
                       random_predicate(random, depth - 1));
}

elog::event_patterns random_patterns(random_source& random) {
    static const std::vector<std::string> rules{"shop",      "*:order*",       "shop:p*@info",
                                                "shop/fast", "shop:*@verbose", "*:*e*#",
                                                "shop:seen", "shop:order_late"};
    elog::event_patterns made;
    const std::uint64_t count = random.below(3) + 1;
    for (std::uint64_t i = 0; i < count; ++i) {
        made.add(random.pick(rules));
    }
    if (random.below(4) == 0) {
        made.add_process(static_cast<std::uint32_t>(random.below(3) + 7));
    }
    if (random.below(4) == 0) {
        made.add_session(random.below(3));
    }
    return made;
}

/// The decision of a producer before it emits.
bool wants(const elog::event_patterns& patterns, const elog::provider_instance& provider,
           std::size_t event, std::uint64_t session) {
    core::schema_reader reader;
    core::error_text ignored;
    EXPECT_TRUE(reader.open(provider.schema.binary, ignored));
    const std::string packed = patterns.packed();
    bool wanted = false;
    core::for_each_wanted(reader, packed, [&](std::uint16_t id, core::verdict found) {
        const std::vector<std::uint64_t>& sessions = patterns.sessions();
        wanted = wanted || (id == event && (found == core::verdict::wanted ||
                                            std::find(sessions.begin(), sessions.end(), session) !=
                                                sessions.end()));
    });
    return wanted && core::wants_process(packed, provider.pid, provider.process);
}

TEST(narrowed_patterns, include_all_matches_of_random_predicates) {
    random_source random(4);
    int narrower = 0;
    int matched = 0;
    for (int round = 0; round < 3000; ++round) {
        const std::string text = random_predicate(random, 3);
        const elog::event_patterns before = random_patterns(random);
        const elog::predicate wanted("--where", text);
        const auto made = elog::narrow(before, wanted);
        const elog::event_patterns& after = made ? made->patterns : before;
        const record_builder shop(schema, "shop", static_cast<std::uint32_t>(random.below(3) + 7));
        elog::record_filter filter(elog::predicate("--where", text), 0);
        filter.add(shop.provider());
        for (std::size_t i = 0; i < shop.provider().schema.events.size(); ++i) {
            const elog::event_schema& event = shop.provider().schema.events[i];
            test_record record = shop.record(event.name);
            const std::uint64_t session = random.below(3);
            if (event.session_bound) {
                record.set("session", session);
            }
            const bool matches = filter.matches(record.view(), record_builder::clock());
            const bool was_wanted = wants(before, shop.provider(), i, session);
            const bool is_wanted = wants(after, shop.provider(), i, session);
            EXPECT_TRUE(is_wanted || !was_wanted || !matches) << text << ": " << event.name;
            EXPECT_TRUE(was_wanted || !is_wanted) << text << ": " << event.name;
            narrower += was_wanted && !is_wanted ? 1 : 0;
            matched += was_wanted && matches ? 1 : 0;
        }
    }
    EXPECT_GT(narrower, 500);
    EXPECT_GT(matched, 500);
}

}  // namespace
