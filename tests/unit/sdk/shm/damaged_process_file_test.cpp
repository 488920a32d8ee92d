// SPDX-License-Identifier: MIT
//
// Damaged and hostile process files, as other processes read and change them.
#include <linux/eventlog.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "process_files.hpp"
#include "scratch.hpp"
#include "shm/directory.hpp"
#include "shm/process_file.hpp"
#include "shm/process_file_layout.hpp"

namespace {

using eventlog::dynamic_provider;
using eventlog::test::process_file_path;
namespace core = eventlog::core;

const eventlog_event_definition events[] = {{.name = "first"}, {.name = "second"}};

dynamic_provider make(const char* name) {
    return dynamic_provider(
        {EVENTLOG_DEFINITION_SIZES, .name = name, .events = events, .event_count = 2});
}

/// A copy of this process's file with a change.
class damaged_file : public ::testing::Test {
  protected:
    void SetUp() override {
        std::ifstream file(process_file_path(::getpid()), std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), {});
        ASSERT_GE(bytes.size(), EVENTLOG_PROCESS_HEADER_SIZE);
    }
    void TearDown() override { std::filesystem::remove(path()); }

    static std::string path() {
        return eventlog::test::eventlog_directory() + "/processes/0.damaged";
    }
    template <class Struct>
    Struct& at(std::size_t offset) {
        return *reinterpret_cast<Struct*>(bytes.data() + offset);
    }
    eventlog_directory_block& block() {
        return at<eventlog_directory_block>(EVENTLOG_PROCESS_DIRECTORY_OFFSET);
    }
    eventlog_published_provider& entry() {
        return at<eventlog_published_provider>(EVENTLOG_PROCESS_DIRECTORY_OFFSET +
                                               sizeof(eventlog_directory_block));
    }
    struct result {
        bool is_open = false;
        std::uint32_t found = 0;
        std::uint32_t damaged = 0;
    };
    result read() {
        std::ofstream(path(), std::ios::binary) << bytes;
        core::directory where;
        core::error_text error;
        const core::directory_path named = core::current_directory();
        EXPECT_TRUE(where.open(named, core::if_missing::fail, error));
        core::process_file file;
        result found;
        found.is_open = file.open(where, "0.damaged", error);
        if (found.is_open) {
            core::published_provider provider(file);
            while (provider.next()) {
                ++found.found;
            }
            found.damaged = provider.damaged();
        }
        return found;
    }

    dynamic_provider one = make("damaged_one");
    dynamic_provider other = make("damaged_other");
    std::string bytes;
};

TEST_F(damaged_file, unchanged_copy_has_all_providers) {
    const result found = read();
    EXPECT_TRUE(found.is_open);
    EXPECT_GE(found.found, 2U);
    EXPECT_EQ(found.damaged, 0U);
}

TEST_F(damaged_file, wrong_header_is_rejected) {
    const std::string good = bytes;
    const auto change = [&](auto&& damage) {
        bytes = good;
        damage(at<eventlog_process_file>(0));
        EXPECT_FALSE(read().is_open);
    };
    change([](eventlog_process_file& header) { header.magic ^= 1; });
    change([](eventlog_process_file& header) { ++header.version; });
    change([](eventlog_process_file& header) { header.shared_gate_offset = 0; });
    change([](eventlog_process_file& header) { header.shared_gate_offset += 8; });
    change([](eventlog_process_file& header) { header.shared_gate_offset = UINT64_MAX - 4095; });
    bytes = good.substr(0, EVENTLOG_PROCESS_HEADER_SIZE - 1);
    EXPECT_FALSE(read().is_open);
}

TEST_F(damaged_file, wrong_entries_are_skipped_and_counted) {
    const std::uint32_t all = read().found;
    const std::string good = bytes;
    const auto change = [&](auto&& damage) {
        bytes = good;
        damage(entry());
        const result found = read();
        EXPECT_EQ(found.found, all - 1);
        EXPECT_EQ(found.damaged, 1U);
    };
    ASSERT_EQ(entry().state, EVENTLOG_PUBLISHED_READY);
    change([](eventlog_published_provider& entry) { entry.event_count = 0; });
    change([](eventlog_published_provider& entry) { entry.event_count = EVENTLOG_EVENTS_MAX + 1; });
    change([](eventlog_published_provider& entry) { entry.schema_size = UINT32_MAX; });
    change([](eventlog_published_provider& entry) { entry.schema_offset = UINT64_MAX; });
    change([](eventlog_published_provider& entry) { entry.gate_offset += 8; });
    change([](eventlog_published_provider& entry) { entry.gate_offset = 0; });
    change([&](eventlog_published_provider& entry) {
        entry.gate_offset = good.size() / EVENTLOG_GATE_SIZE * EVENTLOG_GATE_SIZE;
    });
}

TEST_F(damaged_file, overlapping_schemas_are_bounded) {
    bytes.resize(std::size_t{3} * EVENTLOG_SCHEMA_SIZE_MAX);
    for (std::uint32_t i = 0; i < block().capacity; ++i) {
        eventlog_published_provider& each = (&entry())[i];
        each = entry();
        each.schema_offset = EVENTLOG_PROCESS_HEADER_SIZE;
        each.schema_size = EVENTLOG_SCHEMA_SIZE_MAX;
    }
    block().used = block().capacity;
    block().next_offset = 0;  // other tests of this process have published more providers
    const result found = read();
    EXPECT_GE(found.found, 1U);
    EXPECT_LE(found.found, 4U);
    EXPECT_EQ(found.found + found.damaged, block().capacity);
}

TEST_F(damaged_file, random_changes_are_harmless) {
    const std::string good = bytes;
    std::minstd_rand random(7);  // the same changes in each run
    for (int trial = 0; trial < 300; ++trial) {
        bytes = good;
        for (std::uint32_t i = 1 + random() % 8; i != 0; --i) {
            bytes[random() % EVENTLOG_PROCESS_HEADER_SIZE] = static_cast<char>(random());
        }
        std::ofstream(path(), std::ios::binary) << bytes;
        core::directory where;
        core::error_text error;
        const core::directory_path named = core::current_directory();
        ASSERT_TRUE(where.open(named, core::if_missing::fail, error));
        core::process_file file;
        if (!file.open(where, "0.damaged", error)) {
            continue;
        }
        for (core::published_provider each(file); each.next();) {
            ASSERT_LE(each.entry().event_count, EVENTLOG_EVENTS_MAX);
            std::vector<std::uint8_t> schema(each.entry().schema_size);
            std::vector<std::uint32_t> gate(each.entry().event_count);
            eventlog_counters_page counters{};
            static_cast<void>(each.read_schema(schema));
            static_cast<void>(each.read_gate(gate));
            static_cast<void>(each.read_counters(counters));
            static_cast<void>(each.set_bit(0, 15));
            each.notify();
            each.detach_slot(15);
        }
    }
}

TEST_F(damaged_file, wrong_chain_of_blocks_ends) {
    const std::string good = bytes;
    const auto fill = [&] {
        bytes = good;
        block().used = block().capacity;
    };
    fill();
    block().next_offset = EVENTLOG_PROCESS_DIRECTORY_OFFSET;  // a circle
    EXPECT_TRUE(read().is_open);
    fill();
    block().next_offset = UINT64_MAX - 8;
    EXPECT_GE(read().damaged, 1U);
    fill();
    block().used = UINT32_MAX;
    EXPECT_EQ(read().found, 0U);
    EXPECT_EQ(read().damaged, 1U);
    fill();
    block().capacity = UINT32_MAX;
    block().used = UINT32_MAX;
    EXPECT_EQ(read().found, 0U);
    EXPECT_EQ(read().damaged, 1U);
    // Blocks without entries would be followed through the whole file.
    fill();
    const std::size_t behind = bytes.size();
    block().next_offset = behind;
    bytes.resize(behind + sizeof(eventlog_directory_block));
    at<eventlog_directory_block>(behind) = {0, 0, 0, {}};
    EXPECT_EQ(read().damaged, 1U);
}

}  // namespace
