// SPDX-License-Identifier: MIT
//
// Events that programs lose on their way to the kernel, as a recorder finds them in process files.
#include "capture/program_losses.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "listener.hpp"
#include "process_files.hpp"
#include "provider/counters.hpp"
#include "record/recording_summary.hpp"
#include "shm/directory.hpp"
#include "shm/process_file.hpp"
#include "two_event_provider.hpp"

namespace {

using eventlog::dynamic_provider;
using eventlog::test::check_in_child;
using eventlog::test::definition_of;
using eventlog::test::event_listener;
namespace core = eventlog::core;

constexpr const char* selected = "kernel_lossy:*";

/// As the library does when the kernel rejects a write.
void lose(const dynamic_provider& provider, core::route_counter reason, std::uint64_t count) {
    core::count(*provider.handle(), reason, EVENTLOG_COUNTERS_USER_EVENTS, count);
}
constexpr core::route_counter too_large = &eventlog_route_counters::lost_too_large;
constexpr core::route_counter refused = &eventlog_route_counters::lost_refused;

elog::event_patterns patterns_of(const char* pattern) {
    elog::event_patterns patterns;
    patterns.add(pattern);
    return patterns;
}

/// A provider with counters of its own, which one without listeners has not.
struct lossy_provider {
    explicit lossy_provider(const char* name)
        : provider(definition_of(name)), listener(std::string(name) + ":first") {
        EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
    }

    dynamic_provider provider;
    event_listener listener;
};

std::uint64_t lost_in(const elog::program_losses& losses) {
    elog::recording_summary summary;
    losses.add_to(summary, true);
    return summary.lost;
}

void check_reports() {
    const lossy_provider one("kernel_lossy");
    const lossy_provider other("kernel_other");
    const elog::event_patterns patterns = patterns_of(selected);
    lose(one.provider, too_large, 100);
    elog::program_losses losses(patterns, {});
    lose(one.provider, too_large, 3);
    lose(one.provider, refused, 2);
    lose(other.provider, refused, 7);
    losses.end();
    const std::vector<elog::loss_report> reports = losses.reports();
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].too_large, 3U);
    EXPECT_EQ(reports[0].refused, 2U);
    EXPECT_EQ(reports[0].provider, "kernel_lossy");
    EXPECT_EQ(reports[0].pid, static_cast<std::uint32_t>(::getpid()));
    elog::recording_summary summary;
    losses.add_to(summary, true);
    EXPECT_EQ(summary.lost, 5U);
    EXPECT_EQ(summary.lossy_providers.size(), 1U);
    EXPECT_FALSE(summary.has_impossible_counts || summary.has_unread_losses);
}

TEST(program_losses, are_those_of_selected_providers_since_the_begin) {
    check_in_child(check_reports);
}

void check_processes() {
    const lossy_provider one("kernel_lossy");
    const elog::event_patterns patterns = patterns_of(selected);
    const auto own = static_cast<std::uint32_t>(::getpid());
    elog::program_losses with(patterns,
                              [=](std::uint32_t pid, const std::string&) { return pid == own; });
    elog::program_losses without(patterns,
                                 [=](std::uint32_t pid, const std::string&) { return pid != own; });
    lose(one.provider, refused, 4);
    with.end();
    without.end();
    EXPECT_EQ(lost_in(with), 4U);
    EXPECT_EQ(lost_in(without), 0U);
}

TEST(program_losses, are_those_of_selected_processes) {
    check_in_child(check_processes);
}

void check_impossible() {
    const lossy_provider one("kernel_lossy");
    const elog::event_patterns patterns = patterns_of(selected);
    elog::program_losses losses(patterns, {});
    lose(one.provider, refused, UINT64_MAX / 2);
    lose(one.provider, too_large, 1);
    losses.end();
    elog::recording_summary summary;
    losses.add_to(summary, true);
    EXPECT_EQ(summary.lost, 1U);
    EXPECT_TRUE(summary.has_impossible_counts);
}

TEST(program_losses, leave_out_impossible_counts) {
    check_in_child(check_impossible);
}

void check_overwritten() {
    const lossy_provider one("kernel_lossy");
    const elog::event_patterns patterns = patterns_of(selected);
    elog::program_losses losses(patterns, {});
    lose(one.provider, refused, 3);
    losses.end();
    lose(one.provider, refused, UINT64_MAX / 2);
    losses.end();
    elog::recording_summary summary;
    losses.add_to(summary, true);
    EXPECT_EQ(summary.refused, 3U);
    EXPECT_EQ(summary.lost, 3U);
    EXPECT_TRUE(summary.has_impossible_counts);
}

TEST(program_losses, keep_the_last_possible_count) {
    check_in_child(check_overwritten);
}

/// As when a program executes another one: the file of that has the same name.
void check_replaced_file() {
    const lossy_provider one("kernel_lossy");
    const elog::event_patterns patterns = patterns_of(selected);
    elog::program_losses losses(patterns, {});
    const std::string own = eventlog::test::process_file_path(::getpid());
    const std::string name = std::filesystem::path(own).parent_path() / "1.1";
    lose(one.provider, refused, 2);
    std::filesystem::copy_file(own, name);
    losses.end();
    EXPECT_EQ(lost_in(losses), 2U + 2U);
    lose(one.provider, refused, 3);
    std::filesystem::copy_file(own, name + ".next");
    std::filesystem::rename(name + ".next", name);
    losses.end();
    EXPECT_EQ(lost_in(losses), 5U + 2U + 5U);
    std::filesystem::remove(name);
}

TEST(program_losses, include_those_of_a_file_that_replaces_another) {
    check_in_child(check_replaced_file);
}

/// A program that begins, loses events and ends. Returns its process.
pid_t run_program(std::uint64_t count, bool is_killed) {
    const pid_t child = ::fork();
    if (child == 0) {
        std::optional<dynamic_provider> provider(definition_of("kernel_lossy"));
        static_cast<void>(provider->emit(0));  // maps its own counters
        lose(*provider, refused, count);
        if (is_killed) {
            static_cast<void>(::raise(SIGKILL));
        }
        provider.reset();
        ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return child;
}

/// Whether a provider of the ended program has left its counters.
bool has_kept_counters(pid_t program) {
    const std::string path = eventlog::test::process_file_path(program);
    core::directory where;
    core::error_text error;
    const core::directory_path named = core::current_directory();
    core::process_file file;
    if (path.empty() || !where.open(named, core::if_missing::fail, error) ||
        !file.open(where, path.substr(path.rfind('/') + 1).c_str(), error)) {
        return false;
    }
    bool found = false;
    for (core::published_provider each(file, core::published_provider::which::with_counted);
         each.next();) {
        found = found || each.entry().state == EVENTLOG_PUBLISHED_COUNTED;
    }
    return found;
}

void check_ended_programs() {
    const event_listener listener("kernel_lossy:first");
    const elog::event_patterns patterns = patterns_of(selected);
    EXPECT_FALSE(has_kept_counters(run_program(5, false)));
    std::vector<pid_t> ended;
    {
        elog::program_losses losses(patterns, {});
        ended = {run_program(3, false), run_program(4, true)};
        EXPECT_TRUE(has_kept_counters(ended[0]));
        losses.end();
        EXPECT_EQ(lost_in(losses), 7U);
        EXPECT_EQ(losses.reports().size(), 2U);
    }
    for (const pid_t each : ended) {
        EXPECT_EQ(eventlog::test::process_file_path(each), "");
    }
}

TEST(program_losses, include_programs_that_end_meanwhile) {
    check_in_child(check_ended_programs);
}

}  // namespace
