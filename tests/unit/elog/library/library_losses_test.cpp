// SPDX-License-Identifier: MIT
//
// Losses that libelog reports: of programs that were not attached, and of those in files.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <elog/elog.hpp>

#include "file/file_writer.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"
#include "two_event_provider.hpp"

namespace {

namespace test = eventlog::test;
using test::ending;

struct reported {
    std::uint64_t count = 0;
    elog::loss_reason reason = elog::loss_reason::full;
    std::string provider;

    friend bool operator==(const reported&, const reported&) = default;
};

using reports = std::vector<reported>;

/// Reads a source until its end.
std::uint64_t drain(elog::source& source) {
    source.stop();
    while (source.get()) {
    }
    return source.totals().lost;
}

auto add_to(reports& found) {
    return [&found](const elog::loss& missing) {
        found.push_back({missing.count, missing.reason, std::string(missing.provider)});
    };
}

void check_programs() {
    for (const ending how : {ending::regular, ending::without_descriptors, ending::killed}) {
        SCOPED_TRACE(static_cast<int>(how));
        reports found;
        test::short_program one("library_lossy");
        test::short_program other("library_other");
        elog::source source = elog::open("memory:library_lossy", {.on_loss = add_to(found)});
        one.lose(3, how);
        other.lose(4, how);
        EXPECT_EQ(drain(source), 3U);
        EXPECT_EQ(found, reports({{3, elog::loss_reason::unattached, "library_lossy"}}));
    }
    // A successor in the slot has lost nothing.
    elog::source source = elog::open("memory:library_lossy");
    EXPECT_EQ(drain(source), 0U);
}

TEST(library_losses, include_unattached_events_of_programs_that_have_ended) {
    test::check_in_child(check_programs);
}

/// A process and its child.
void check_child() {
    reports found;
    const eventlog::dynamic_provider one = test::make("library_forks");
    test::short_program child("library_forks");
    elog::source source = elog::open("memory:library_forks", {.on_loss = add_to(found)});
    child.lose(1, ending::killed);
    {
        const test::no_descriptors closed;
        EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
        EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    }
    EXPECT_EQ(drain(source), 3U);
    EXPECT_EQ(found, reports({{2, elog::loss_reason::unattached, "library_forks"},
                              {1, elog::loss_reason::unattached, "library_forks"}}));
}

TEST(library_losses, include_unattached_events_of_a_child) {
    test::check_in_child(check_child);
}

TEST(library_losses, of_a_file_have_reason_and_provider) {
    const std::string path = test::scratch_directory() + "/reasons.elog";
    {
        elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, test::sample_rings);
        writer.write_clock({1, 1, 1});
        writer.write_provider(test::mark_provider());
        elog::loss_report loss = elog::provider_loss(0, 9, 2, 3);
        loss.unattached = 4;
        loss.refused = 5;
        loss.no_memory = 6;  // of the nine, which rings count
        writer.write_loss(loss);
        loss = elog::provider_loss(7, 0, 0, 0);
        loss.unattached = 8;
        loss.provider = "never_attached";
        loss.process = "early";
        writer.write_loss(loss);
        writer.write_end();
    }
    reports found;
    elog::source source = elog::open(path, {.on_loss = add_to(found)});
    while (source.get()) {
    }
    EXPECT_EQ(found, reports({{2, elog::loss_reason::too_large, "file_test"},
                              {3, elog::loss_reason::busy, "file_test"},
                              {4, elog::loss_reason::unattached, "file_test"},
                              {5, elog::loss_reason::refused, "file_test"},
                              {8, elog::loss_reason::unattached, "never_attached"}}));
    EXPECT_EQ(source.totals().lost, 22U);
}

}  // namespace
