// SPDX-License-Identifier: MIT
//
// The memory for the schemas of a hostile file, whose many small events and fields take far more of
// it than their bytes: below 8 times the largest size of the schemas in a file.
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "build_kind.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/file_repair.hpp"
#include "file/file_writer.hpp"
#include "run_in_child.hpp"
#include "schema/schema_binary.hpp"
#include "schema/schema_text.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;

constexpr std::size_t factor_max = 8;

/// A schema of almost the largest size, of small events with small fields.
elog::provider_schema large_schema() {
    std::string text = "provider p {\n";
    constexpr int events = 400;
    for (int event = 0; event < events; ++event) {
        text += fmt::format("event e{} {{\n", event);
        for (int field = 0; field < 100; ++field) {
            text += fmt::format("f{}: u8\n", field);
        }
        text += "}\n";
    }
    return elog::parse_schema_text("x", text + "}\n").schema;
}

/// With different names, because equal schemas are there once.
void write_file(const std::string& path) {
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 1);
    writer.write_clock({1, 1, 1});
    elog::provider_schema schema = large_schema();
    std::size_t size = 0;
    for (std::uint32_t id = 0; size < elog::schemas_size_max; ++id) {
        elog::provider_instance provider;
        provider.id = id;
        provider.process = "hostile";
        schema.name = fmt::format("p{}", id);
        elog::write_binary(schema);
        provider.schema = elog::provider_schema::parse(schema.binary);
        size += schema.binary.size();
        writer.write_provider(provider);
    }
    writer.write_end();
}

std::size_t peak_kilobytes() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return static_cast<std::size_t>(used.ru_maxrss);
}

/// What the work adds to the peak of a process, relative to the largest size of schemas.
template <class Work>
int factor_of(const Work& work) {
    return test::run_in_child([&] {
        const std::size_t before = peak_kilobytes();
        work();
        return static_cast<int>((peak_kilobytes() - before) * 1024 / elog::schemas_size_max);
    });
}

TEST(schema_memory, is_below_a_multiple_of_the_size) {
    if (test::has_address_sanitizer || test::has_thread_sanitizer) {
        GTEST_SKIP() << "A sanitizer needs memory of its own.";
    }
    const std::string path = test::scratch_directory() + "/schemas.elog";
    const std::string to = test::scratch_directory() + "/schemas_repaired.elog";
    ASSERT_EQ(test::run_in_child([&] { return write_file(path), 0; }), 0);
    const auto expect_bounded = [](int factor) {
        EXPECT_GE(factor, 0);
        EXPECT_LT(factor, static_cast<int>(factor_max));
    };
    expect_bounded(factor_of([&] {
        const elog::file_reader file(path);
        EXPECT_FALSE(file.providers().empty());
    }));
    expect_bounded(factor_of([&] { static_cast<void>(elog::check_file(path)); }));
    expect_bounded(factor_of([&] { static_cast<void>(elog::repair_file(path, to)); }));
}

}  // namespace
