// SPDX-License-Identifier: MIT
//
// Events that programs lost before they were attached, as a recorder finds them in process files.
#include "memory/unattached_losses.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "detached_recorder.hpp"
#include "listener.hpp"
#include "memory/recording.hpp"
#include "process_files.hpp"
#include "scoped_environment.hpp"
#include "scratch.hpp"
#include "shm/subscription_file.hpp"
#include "two_event_provider.hpp"

namespace {

using eventlog::dynamic_provider;
using eventlog::test::check_in_child;
using eventlog::test::definition_of;
using eventlog::test::ending;
using eventlog::test::event_listener;
using eventlog::test::no_descriptors;
using eventlog::test::process_file_path;
using eventlog::test::short_program;
namespace core = eventlog::core;

void lose(const dynamic_provider& provider, int count) {
    const no_descriptors closed;
    for (int i = 0; i < count; ++i) {
        EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
    }
}

std::uint64_t sum_of(const elog::unattached_losses& losses) {
    std::uint64_t sum = 0;
    for (const auto& [who, loss] : losses.all()) {
        sum += loss.count;
    }
    return sum;
}

elog::unattached_losses losses_of(const core::directory& where, event_listener& listener) {
    return {where, listener.source().slot(), listener.source().region().header};
}

void open_directory(core::directory& where, const std::string& path) {
    EXPECT_EQ(::setenv("EVENTLOG_DIR", path.c_str(), 1), 0);
    core::error_text error;
    const core::directory_path named = core::current_directory();
    EXPECT_TRUE(where.open(named, core::if_missing::create, error)) << error.text().c_str();
    EXPECT_EQ(::setenv("EVENTLOG_DIR", eventlog::test::eventlog_directory().c_str(), 1), 0);
}

/// As of two plugins with the same provider.
void check_provider_published_twice() {
    const dynamic_provider one(definition_of("lossy_twice"));
    const dynamic_provider other(definition_of("lossy_twice"));
    event_listener listener("lossy_twice:first");
    core::directory where;
    open_directory(where, eventlog::test::eventlog_directory());
    elog::unattached_losses losses = losses_of(where, listener);
    lose(one, 3);
    losses.read();
    EXPECT_EQ(sum_of(losses), 3U);
    lose(other, 2);
    losses.read();
    losses.read();
    EXPECT_EQ(sum_of(losses), 5U);
    EXPECT_EQ(losses.all().size(), 1U);
}

TEST(unattached_losses, add_up_for_a_provider_that_is_published_twice) {
    check_in_child(check_provider_published_twice);
}

/// As when a program executes another one: the file of that has the same name.
void check_replaced_file() {
    const dynamic_provider one(definition_of("lossy_replaced"));
    event_listener listener("lossy_replaced:first");
    const std::string path = eventlog::test::scratch_directory() + "/replaced";
    core::directory where;
    open_directory(where, path);
    elog::unattached_losses losses = losses_of(where, listener);
    const std::string name = path + "/processes/1.1";
    lose(one, 2);
    std::filesystem::copy_file(process_file_path(::getpid()), name);
    losses.find_processes();
    lose(one, 3);
    std::filesystem::copy_file(process_file_path(::getpid()), path + "/next");
    std::filesystem::rename(path + "/next", name);
    losses.read();
    EXPECT_EQ(sum_of(losses), 2U + 5U);
    std::filesystem::remove_all(path);
}

TEST(unattached_losses, include_those_of_a_file_that_replaces_another) {
    check_in_child(check_replaced_file);
}

std::size_t number_of_process_files() {
    const std::filesystem::directory_iterator files(eventlog::test::eventlog_directory() +
                                                    "/processes");
    return static_cast<std::size_t>(std::distance(files, {}));
}

constexpr ending endings[] = {ending::regular, ending::without_descriptors, ending::killed};

void check_programs_that_have_ended() {
    core::directory where;
    open_directory(where, eventlog::test::eventlog_directory());
    core::remove_dead_processes(where);
    const std::size_t before = number_of_process_files();
    {
        std::vector<std::unique_ptr<short_program>> programs;
        for (const char* name : {"lossy_shortly", "lossy_other"}) {
            for (std::size_t i = 0; i < std::size(endings); ++i) {
                programs.push_back(std::make_unique<short_program>(name));
            }
        }
        event_listener listener("lossy_shortly:first");
        elog::unattached_losses losses = losses_of(where, listener);
        for (std::size_t i = 0; i < programs.size(); ++i) {
            programs[i]->lose(3, endings[i % std::size(endings)]);
        }
        core::remove_dead_processes(where);
        EXPECT_EQ(number_of_process_files(), before + 3);
        losses.read();
        EXPECT_EQ(sum_of(losses), 9U);
        EXPECT_EQ(losses.all().size(), 3U);
        EXPECT_FALSE(losses.may_be_incomplete());
        // No other subscription has lost them.
        event_listener later("lossy_shortly:first");
        elog::unattached_losses of_later = losses_of(where, later);
        of_later.read();
        EXPECT_EQ(sum_of(of_later), 0U);
    }
    // Their subscription has ended.
    EXPECT_EQ(number_of_process_files(), before);
}

TEST(unattached_losses, stay_when_the_program_has_ended) {
    check_in_child(check_programs_that_have_ended);
}

/// A program keeps the counters of a dead one by a write into its file.
void check_small_files() {
    core::directory where;
    open_directory(where, eventlog::test::eventlog_directory());
    core::remove_dead_processes(where);
    short_program program("lossy_small_files");
    event_listener listener("lossy_small_files:first");
    elog::unattached_losses losses = losses_of(where, listener);
    program.lose(3, ending::killed);
    struct rlimit limit {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct rlimit none { 0, limit.rlim_max };
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
    core::remove_dead_processes(where);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    losses.read();
    EXPECT_EQ(sum_of(losses), 3U);
}

TEST(unattached_losses, limit_of_file_sizes_does_not_end_the_program_that_keeps_them) {
    check_in_child(check_small_files);
}

/// As of a plugin that is unloaded.
void check_withdrawn_provider() {
    core::directory where;
    open_directory(where, eventlog::test::eventlog_directory());
    const dynamic_provider stays(definition_of("lossy_plugin_stays"));
    std::optional<dynamic_provider> loaded[3];
    for (std::optional<dynamic_provider>& one : loaded) {
        one.emplace(definition_of("lossy_plugin"));
    }
    event_listener listener("lossy_plugin*:first");
    elog::unattached_losses losses = losses_of(where, listener);
    for (std::optional<dynamic_provider>& one : loaded) {
        lose(*one, 2);
        one.reset();
    }
    losses.read();
    EXPECT_EQ(sum_of(losses), 6U);
    EXPECT_EQ(losses.all().size(), 1U);
    EXPECT_FALSE(eventlog::test::find_published(::getpid(), "lossy_plugin"));
    EXPECT_TRUE(eventlog::test::find_published(::getpid(), "lossy_plugin_stays"));
}

TEST(unattached_losses, stay_when_the_provider_is_withdrawn) {
    check_in_child(check_withdrawn_provider);
}

/// Of more providers than have entries of their own.
void check_others() {
    const eventlog::test::scoped_environment_variable limit("EVENTLOG_TEST_LOSSES_MAX", "2");
    core::directory where;
    open_directory(where, eventlog::test::eventlog_directory());
    const dynamic_provider all[] = {
        dynamic_provider(definition_of("lossy_many_a")),
        dynamic_provider(definition_of("lossy_many_b")),
        dynamic_provider(definition_of("lossy_many_c")),
        dynamic_provider(definition_of("lossy_many_d")),
    };
    event_listener listener("lossy_many*:first");
    elog::unattached_losses losses = losses_of(where, listener);
    for (std::uint64_t turn = 1; turn <= 3; ++turn) {
        for (const dynamic_provider& one : all) {
            lose(one, 5);
        }
        losses.read();
        EXPECT_EQ(sum_of(losses), 20 * turn);
        EXPECT_EQ(losses.all().size(), 3U);
        const elog::unattached_loss& others = losses.all().begin()->second;
        EXPECT_EQ(others.process, "other processes");
        EXPECT_EQ(others.provider, "");
        EXPECT_EQ(others.count, 10 * turn);
    }
}

TEST(unattached_losses, of_too_many_providers_have_a_sum) {
    check_in_child(check_others);
}

void check_others_of_a_replaced_file() {
    const eventlog::test::scoped_environment_variable limit("EVENTLOG_TEST_LOSSES_MAX", "1");
    const dynamic_provider one(definition_of("lossy_first"));
    const dynamic_provider other(definition_of("lossy_second"));
    event_listener listener("lossy_*:first");
    const std::string path = eventlog::test::scratch_directory() + "/replaced_many";
    core::directory where;
    open_directory(where, path);
    elog::unattached_losses losses = losses_of(where, listener);
    const std::string name = path + "/processes/1.1";
    lose(one, 2);
    lose(other, 3);
    std::filesystem::copy_file(process_file_path(::getpid()), name);
    losses.find_processes();
    // All at once, so that they have different inodes.
    std::filesystem::copy_file(process_file_path(::getpid()), path + "/next");
    std::filesystem::copy_file(process_file_path(::getpid()), path + "/last");
    std::filesystem::rename(path + "/next", name);
    losses.find_processes();  // reads the replaced file a last time
    losses.read();
    EXPECT_EQ(sum_of(losses), 2U + 3U + 5U);
    std::filesystem::remove(name);
    losses.read();
    std::filesystem::rename(path + "/last", name);
    losses.read();
    EXPECT_EQ(sum_of(losses), 2U + 3U + 5U + 5U);
    std::filesystem::remove_all(path);
}

TEST(unattached_losses, of_too_many_providers_stay_when_their_files_are_closed) {
    check_in_child(check_others_of_a_replaced_file);
}

/// The flight recorder has no process that reads the losses while programs run.
void check_flight_recorder() {
    short_program one("lossy_flight");
    short_program other("lossy_flight");
    eventlog::test::detached_recorder recorder("lossy_flight:first");
    one.lose(2, ending::regular);
    other.lose(2, ending::killed);
    elog::unattached_losses losses = recorder.subscription().unattached();
    losses.read();
    EXPECT_EQ(sum_of(losses), 4U);
    // As in elog flight snapshot.
    eventlog::test::number_sink sink;
    elog::recording process(recorder.subscription().region(), sink,
                            recorder.subscription().unattached());
    const elog::recording_summary summary = process.snapshot();
    EXPECT_EQ(summary.unattached, 4U);
    EXPECT_EQ(summary.lost, 4U);
    EXPECT_EQ(summary.lossy_providers.size(), 2U);
}

TEST(unattached_losses, of_a_flight_recorder_stay) {
    check_in_child(check_flight_recorder);
}

}  // namespace
