// SPDX-License-Identifier: MIT
//
// Events that programs lost before they were attached, as a recorder finds them in process files.
#include "memory/unattached_losses.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "listener.hpp"
#include "process_files.hpp"
#include "scratch.hpp"
#include "two_event_provider.hpp"

namespace {

using eventlog::dynamic_provider;
using eventlog::test::check_in_child;
using eventlog::test::definition_of;
using eventlog::test::event_listener;
using eventlog::test::no_descriptors;
using eventlog::test::process_file_path;
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
    return {where, listener.source().slot(), listener.source().region().header.serial};
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

}  // namespace
