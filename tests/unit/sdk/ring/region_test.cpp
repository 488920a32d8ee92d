// SPDX-License-Identifier: MIT
//
// Neither side of a region trusts the other.
#include "ring/region.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "base/user_error.hpp"
#include "listener.hpp"
#include "ring/rseq.hpp"

namespace {

using namespace eventlog::core;
using eventlog::test::event_listener;

struct noise {
    std::uint64_t number;
};
using region_test = eventlog::provider<"region_test", noise>;

bool is_accepted(const eventlog_region& header, std::uint64_t size) {
    region_geometry geometry;
    error_text error;
    return check_region(header, size, geometry, error);
}

TEST(region, valid_header_is_accepted) {
    event_listener listener("region_test:*");
    const eventlog_region header = listener.source().header();
    EXPECT_TRUE(is_accepted(header, header.total_size));
}

TEST(region, short_file_is_rejected) {
    event_listener listener("region_test:*");
    const eventlog_region header = listener.source().header();
    EXPECT_FALSE(is_accepted(header, header.total_size - 1));
}

TEST(region, header_with_invalid_serial_is_rejected) {
    event_listener listener("region_test:*");
    eventlog_region header = listener.source().header();
    const std::uint64_t size = header.total_size;
    header.serial = 1;
    EXPECT_TRUE(is_accepted(header, size));
    header.serial = 0;
    EXPECT_FALSE(is_accepted(header, size));
    header.serial = UINT64_MAX;
    EXPECT_FALSE(is_accepted(header, size));
}

TEST(region, header_with_wrong_geometry_is_rejected) {
    event_listener listener("region_test:*");
    const eventlog_region sound = listener.source().header();
    // Words from the magic to total_size, except features (12), serial (16, 20) and clock (24).
    for (std::size_t at = 0; at < 96; at += 4) {
        if (at == 12 || at == 16 || at == 20 || at == 24) {
            continue;
        }
        for (const std::uint32_t flip : {1U, 2U, 0x80U, 0x10000U, 0x80000000U}) {
            eventlog_region header = sound;
            std::uint32_t word = 0;
            std::memcpy(&word, reinterpret_cast<char*>(&header) + at, sizeof word);
            word ^= flip;
            std::memcpy(reinterpret_cast<char*>(&header) + at, &word, sizeof word);
            region_geometry geometry;
            error_text error;
            // A longer or shorter filter within its bounds is a valid geometry.
            const bool filter = at == 44 && word <= EVENTLOG_FILTER_SIZE_MAX;
            EXPECT_EQ(check_region(header, sound.total_size, geometry, error), filter)
                << at << " ^ " << flip;
        }
    }
}

TEST(region, header_with_unknown_feature_is_rejected) {
    event_listener listener("region_test:*");
    eventlog_region header = listener.source().header();
    for (unsigned bit = 0; bit < 32; ++bit) {
        header.features = 1U << bit;
        std::memset(header.name, 0, sizeof header.name);
        if (header.features == EVENTLOG_FEATURE_DETACHED) {
            std::memcpy(header.name, "flight", 6);
        }
        EXPECT_EQ(is_accepted(header, header.total_size),
                  (header.features & EVENTLOG_FEATURES) != 0)
            << bit;
    }
}

TEST(region, header_name_is_validated) {
    event_listener listener("region_test:*");
    eventlog_region header = listener.source().header();
    const auto is_accepted_as = [&](std::uint32_t features, std::string_view name) {
        header.features = features;
        std::memset(header.name, 0, sizeof header.name);
        std::memcpy(header.name, name.data(), name.size());
        return is_accepted(header, header.total_size);
    };
    EXPECT_TRUE(is_accepted_as(0, ""));
    const std::uint32_t standing = EVENTLOG_FEATURE_DETACHED;
    for (const std::string_view name :
         {"flight", "a", "A-1_.b", "1234567890123456789012345678901"}) {
        // A recorder that is starting or ending has its name as well.
        EXPECT_TRUE(is_accepted_as(0, name)) << name;
        EXPECT_TRUE(is_accepted_as(standing, name)) << name;
        EXPECT_TRUE(is_accepted_as(standing | EVENTLOG_FEATURE_OVERWRITE, name)) << name;
    }
    for (const std::string_view name : {"", ".", "..", "-a", "a b", "a/b", "a\x1b", "\xc3\xa4",
                                        "12345678901234567890123456789012"}) {
        EXPECT_FALSE(is_accepted_as(standing, name)) << name;
        EXPECT_EQ(is_accepted_as(0, name), name.empty()) << name;
    }
}

/// The whole region, mapped as by a hostile program.
class mapped_region {
  public:
    explicit mapped_region(event_listener& listener)
        : size_(listener.source().geometry().total_size) {
        void* mapped = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED,
                              listener.source().file().get(), 0);
        EXPECT_NE(mapped, MAP_FAILED);
        words_ = static_cast<__u64*>(mapped);
    }
    ~mapped_region() { ::munmap(words_, size_); }
    mapped_region(const mapped_region&) = delete;
    mapped_region& operator=(const mapped_region&) = delete;

    [[nodiscard]] std::size_t words() const { return size_ / sizeof(__u64); }
    void store(std::size_t index, std::uint64_t value) {
        shared(words_[index]).store(value, std::memory_order_relaxed);
    }

  private:
    __u64* words_ = nullptr;
    std::size_t size_;
};

class region_in_mode : public ::testing::TestWithParam<bool> {};

TEST_P(region_in_mode, corrupted_region_does_not_harm_reader_or_writer) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 8; ++round) {
        event_listener listener("region_test:*", {128U << 10U, 2, GetParam()});
        mapped_region region(listener);
        region_test::emit(noise{0});
        const region_geometry& geometry = listener.source().geometry();
        const std::size_t rings = geometry.rings_offset / 8;
        const std::size_t tables = geometry.providers_offset / 8;
        const std::size_t first_buffer = geometry.buffers_offset / 8;
        for (int i = 0; i < 1000; ++i) {
            const std::uint64_t value = i % 3 == 0   ? random()
                                        : i % 3 == 1 ? random() % 4096
                                                     : UINT64_MAX - random() % 64;
            // Mostly control words and descriptors, then records, then the provider table.
            region.store(rings + random() % (tables - rings), value);
            region.store(first_buffer + random() % 4096, value);
            if (i % 50 == 0) {
                region.store(tables + random() % 64, value);
            }
            region_test::emit(noise{static_cast<std::uint64_t>(i)});
            if (i % 20 == 0) {
                listener.poll();
                listener.clear_records();
            }
        }
        listener.finish();
    }
}

INSTANTIATE_TEST_SUITE_P(modes, region_in_mode, ::testing::Bool(), [](const auto& each) {
    return std::string(each.param ? "overwrite" : "discard");
});

TEST(region, truncated_is_a_reader_error) {
    event_listener listener("region_test:*");
    region_test::emit(noise{1});
    const region_geometry geometry = listener.source().geometry();
    listener.source().end();
    // The header stays; the records are gone.
    ASSERT_EQ(
        ::ftruncate(listener.source().file().get(), static_cast<off_t>(geometry.buffers_offset)),
        0);
    EXPECT_THROW(listener.poll(), elog::user_error);
}

/// Bytes of memory allocated to the region.
std::uint64_t memory_of(event_listener& listener) {
    struct stat status {};
    EXPECT_EQ(::fstat(listener.source().file().get(), &status), 0);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

/// Claims entry numbers without storing entries: 2 MiB of holes.
void claim_all_entries(event_listener& listener) {
    const std::uint32_t count = EVENTLOG_PROVIDERS_MAX - 10;
    ASSERT_EQ(::pwrite(listener.source().file().get(), &count, sizeof count,
                       offsetof(eventlog_region, provider_count)),
              static_cast<ssize_t>(sizeof count));
}

TEST(region, unallocated_entry_is_not_touched_by_reader) {
    event_listener listener("region_test:*");
    claim_all_entries(listener);
    const std::uint64_t before = memory_of(listener);
    listener.poll();
    listener.finish();
    EXPECT_EQ(memory_of(listener), before);
}

TEST(region, unallocated_entry_is_not_touched_on_attach) {
    event_listener listener("region_test:*");
    claim_all_entries(listener);
    const std::uint64_t before = memory_of(listener);
    region_test::emit(noise{1});
    listener.poll();
    ASSERT_EQ(listener.records().size(), 1U);
    EXPECT_EQ(listener.providers().size(), 1U);
    // A page for its entry and one for its schema; without sequences, also the shared ring.
    const region_geometry& geometry = listener.source().geometry();
    const std::uint64_t ring =
        rseq_available() ? 0 : std::uint64_t{geometry.buffer_count} * geometry.buffer_size;
    EXPECT_LE(memory_of(listener),
              before + ring + 2 * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace
