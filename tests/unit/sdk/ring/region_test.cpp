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
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "base/user_error.hpp"
#include "listener.hpp"
#include "ring/rseq.hpp"

namespace {

using namespace eventlog::core;
using eventlog::test::listener;

struct noise {
    std::uint64_t number;
};
using region_test = eventlog::provider<"region_test", noise>;

bool is_accepted(const eventlog_region& header, std::uint64_t size) {
    region_geometry geometry;
    error_text error;
    return check_region(header, size, geometry, error);
}

TEST(region, header_of_a_real_one_is_accepted) {
    listener ears("region_test:*");
    const eventlog_region header = ears.source().header();
    EXPECT_TRUE(is_accepted(header, header.total_size));
}

TEST(region, file_that_is_too_short_is_refused) {
    listener ears("region_test:*");
    const eventlog_region header = ears.source().header();
    EXPECT_FALSE(is_accepted(header, header.total_size - 1));
}

TEST(region, header_whose_serial_means_nothing_or_nobody_is_refused) {
    listener ears("region_test:*");
    eventlog_region header = ears.source().header();
    const std::uint64_t size = header.total_size;
    header.serial = 1;
    EXPECT_TRUE(is_accepted(header, size));
    header.serial = 0;
    EXPECT_FALSE(is_accepted(header, size));
    header.serial = UINT64_MAX;
    EXPECT_FALSE(is_accepted(header, size));
}

TEST(region, header_with_any_wrong_number_in_its_geometry_is_refused) {
    listener ears("region_test:*");
    const eventlog_region sound = ears.source().header();
    // Words from the magic to total_size, but for features (12), serial (16, 20) and clock (24).
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
            // A longer or shorter filter is no wrong geometry, within its bounds.
            const bool filter = at == 44 && word <= EVENTLOG_FILTER_SIZE_MAX;
            EXPECT_EQ(check_region(header, sound.total_size, geometry, error), filter)
                << at << " ^ " << flip;
        }
    }
}

TEST(region, header_with_a_feature_that_is_not_known_is_refused) {
    listener ears("region_test:*");
    eventlog_region header = ears.source().header();
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

TEST(region, header_of_a_standing_subscription_has_a_sound_name_and_others_none_or_a_sound_one) {
    listener ears("region_test:*");
    eventlog_region header = ears.source().header();
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
        // One that does not stand yet, or not any more, has its name, too.
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

/// The whole region, mapped as a hostile program would.
class mapped_region {
  public:
    explicit mapped_region(listener& ears) : size_(ears.source().geometry().total_size) {
        void* mapped = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED,
                              ears.source().file().get(), 0);
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

TEST_P(region_in_mode, scribbled_over_by_a_hostile_program_harms_neither_reader_nor_writer) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 8; ++round) {
        listener ears("region_test:*", {128U << 10U, 2, GetParam()});
        mapped_region region(ears);
        region_test::emit(noise{0});
        const region_geometry& geometry = ears.source().geometry();
        const std::size_t rings = geometry.rings_offset / 8;
        const std::size_t tables = geometry.providers_offset / 8;
        const std::size_t first_buffer = geometry.buffers_offset / 8;
        for (int i = 0; i < 1000; ++i) {
            const std::uint64_t value = i % 3 == 0   ? random()
                                        : i % 3 == 1 ? random() % 4096
                                                     : UINT64_MAX - random() % 64;
            // Control words and descriptors above all, then records, then the provider table.
            region.store(rings + random() % (tables - rings), value);
            region.store(first_buffer + random() % 4096, value);
            if (i % 50 == 0) {
                region.store(tables + random() % 64, value);
            }
            region_test::emit(noise{static_cast<std::uint64_t>(i)});
            if (i % 20 == 0) {
                ears.poll();
                ears.forget_records();
            }
        }
        ears.finish();
    }
}

INSTANTIATE_TEST_SUITE_P(modes, region_in_mode, ::testing::Bool(), [](const auto& each) {
    return std::string(each.param ? "overwrite" : "discard");
});

TEST(region, cut_short_is_an_error_of_the_reader_and_not_its_death) {
    listener ears("region_test:*");
    region_test::emit(noise{1});
    const region_geometry geometry = ears.source().geometry();
    ears.source().end();
    // The head stays; the records are gone.
    ASSERT_EQ(::ftruncate(ears.source().file().get(), static_cast<off_t>(geometry.buffers_offset)),
              0);
    EXPECT_THROW(ears.poll(), elog::user_error);
}

TEST(records, are_taken_only_as_far_as_they_are_whole_and_sound) {
    std::vector<std::uint8_t> bytes(64);
    const auto set_size = [&](std::uint32_t size) { std::memcpy(bytes.data(), &size, 4); };
    for (const std::uint32_t size : {0U, 23U, 65U, 0x10001U, 0xffffffffU}) {
        set_size(size);
        EXPECT_EQ(elog::check_records(bytes).count, 0U) << size;
    }
    set_size(64);
    EXPECT_EQ(elog::check_records(bytes).count, 1U);
    EXPECT_EQ(elog::check_records(std::span(bytes).first(63)).count, 0U);
    set_size(24);
    const elog::checked_records found = elog::check_records(bytes);
    EXPECT_EQ(found.count, 1U);
    EXPECT_EQ(found.size, 24U);
    EXPECT_TRUE(found.damaged);
}

/// Bytes of memory that the region has.
std::uint64_t memory_of(listener& ears) {
    struct stat status {};
    EXPECT_EQ(::fstat(ears.source().file().get(), &status), 0);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

/// Numbers of entries that nobody has reserved: 2 MiB of holes.
void claim_all_entries(listener& ears) {
    const std::uint32_t count = EVENTLOG_PROVIDERS_MAX - 10;
    ASSERT_EQ(::pwrite(ears.source().file().get(), &count, sizeof count,
                       offsetof(eventlog_region, provider_count)),
              static_cast<ssize_t>(sizeof count));
}

TEST(region, entry_that_has_no_memory_is_not_touched_by_the_reader) {
    listener ears("region_test:*");
    claim_all_entries(ears);
    const std::uint64_t before = memory_of(ears);
    ears.poll();
    ears.finish();
    EXPECT_EQ(memory_of(ears), before);
}

TEST(region, entry_that_has_no_memory_is_not_touched_by_a_program_that_attaches) {
    listener ears("region_test:*");
    claim_all_entries(ears);
    const std::uint64_t before = memory_of(ears);
    region_test::emit(noise{1});
    ears.poll();
    ASSERT_EQ(ears.records().size(), 1U);
    EXPECT_EQ(ears.providers().size(), 1U);
    // A page for its entry, and one for its schema; and what it writes to without sequences.
    const region_geometry& geometry = ears.source().geometry();
    const std::uint64_t ring =
        rseq_available() ? 0 : std::uint64_t{geometry.buffer_count} * geometry.buffer_size;
    EXPECT_LE(memory_of(ears),
              before + ring + 2 * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace
