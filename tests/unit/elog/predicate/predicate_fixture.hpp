// SPDX-License-Identifier: MIT
//
// The fixture of the tests of predicates: a provider with a field of every kind, and a record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "predicate/predicate.hpp"
#include "predicate/record_filter.hpp"
#include "record_builder.hpp"

namespace predicate_test {

using eventlog::test::record_builder;
using eventlog::test::test_record;

inline constexpr std::string_view network_schema = R"(
provider net {
    enum state : u8 { closed = 0, connecting = 1, connected = 2 }
    flags bits : u32 { fin = 1, syn = 2, ack = 0x10 }
    event packet warn {
        bytes: u32 format byte_size
        left: i64
        took: i64 format duration
        waited: u32 unit "ms"
        share: f64
        small: f32
        state: state
        flags: bits
        good: bool
        tag: char
        why: text
        peer: ip4
        far: ip6
        hardware: mac
        label: char[8] format characters
        values: i16[3]
        raw: bytes
        error: i32 format error_number
        at: i64 format realtime
        peer_port: u16
        limit: u32
        maybe: u32?
        maybe_why: text?
        level: u16
    }
    event other info { name: text  bytes: u64  size: f64 }
    event nothing error {}
}
)";

class predicates : public ::testing::Test {
  protected:
    record_builder net{network_schema, "nginx: worker", 4242};

    /// Whether a record matches; fails the test if the predicate is rejected.
    [[nodiscard]] bool matches(std::string_view text, const test_record& record) const {
        elog::record_filter filter(elog::predicate("--where", text), 1'600'000'000'000'000'000);
        filter.add(net.provider());
        filter.check_names();
        return filter.matches(record.view(), record_builder::clock());
    }

    [[nodiscard]] std::string rejection(std::string_view text) const {
        try {
            elog::record_filter filter(elog::predicate("--where", text), 0);
            filter.add(net.provider());
            filter.check_names();
        } catch (const elog::user_error& error) {
            return error.what();
        }
        return {};
    }

    [[nodiscard]] test_record packet() const {
        test_record made = net.record("packet");
        made.set("bytes", std::uint64_t{1500});
        made.set("left", std::int64_t{-7});
        made.set("took", std::int64_t{2'500'000});
        made.set("waited", std::uint64_t{100});
        made.set("share", 0.1);
        made.set("small", 0.1F);
        made.set("state", std::uint64_t{2});
        made.set("flags", std::uint64_t{0x12});
        made.set("good", std::uint64_t{1});
        made.set("tag", std::uint64_t{'x'});
        made.set_text("why", "timeout");
        made.set_bytes("peer", {10, 1, 2, 3});
        made.set_bytes("far", {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
        made.set_bytes("hardware", {0, 0x16, 0x3e, 0xaa, 0xbb, 0xcc});
        made.set_bytes("label", {'e', 't', 'h', '0', 0, 'x', 0, 0});
        made.set_bytes("values", {1, 0, 0xfe, 0xff, 3, 0});
        made.set("error", std::int64_t{-2});
        made.set("at", std::int64_t{1'600'000'000'000'000'000});
        made.set("peer_port", std::uint64_t{443});
        made.set("limit", std::uint64_t{1500});
        made.set("level", std::uint64_t{9});
        return made;
    }

    void expect_match(std::string_view text) const { EXPECT_TRUE(matches(text, packet())) << text; }
    void expect_no_match(std::string_view text) const {
        EXPECT_FALSE(matches(text, packet())) << text;
    }
    void expect_rejection(std::string_view text, std::size_t column, std::string_view part) const {
        const std::string said = rejection(text);
        EXPECT_TRUE(said.starts_with("--where, column " + std::to_string(column) + ": "))
            << text << "\n"
            << said;
        EXPECT_NE(said.find(part), std::string::npos) << text << "\n" << said;
        EXPECT_TRUE(said.ends_with('.') || said.ends_with('?') || said.ends_with("elog list"))
            << said;
    }
};

}  // namespace predicate_test
