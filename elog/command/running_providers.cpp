// SPDX-License-Identifier: MIT
#include "running_providers.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "directory.hpp"
#include "failure.hpp"
#include "provider_file.hpp"
#include "subscription_file.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

bool directory_exists() {
    struct stat status {};
    return ::lstat(core::current_directory().text.data(), &status) == 0 || errno != ENOENT;
}

}  // namespace

running_providers find_running_providers() {
    running_providers found;
    if (!directory_exists()) {
        return found;
    }
    core::directory where;
    core::error_text error;
    if (!where.open(core::current_directory(), core::if_missing::create, error)) {
        throw failure("{}", error.text());
    }
    {
        const core::directory_lock lock(where, core::directory_lock::policy::wait);
        core::remove_dead_subscriptions(where);
        core::remove_dead_providers(where);
    }
    core::folder_listing names(where.providers);
    while (const char* name = names.next()) {
        core::provider_file file;
        if (!file.open(where, name, error)) {
            found.complaints.emplace_back(error.text());
            continue;
        }
        std::vector<std::uint8_t> bytes(file.header().schema_size);
        if (!file.read_schema(bytes)) {
            continue;  // withdrawn just now
        }
        try {
            found.providers.push_back({0, file.header().pid, file.header().uid,
                                       static_cast<const char*>(file.header().process),
                                       provider_schema::parse(bytes)});
        } catch (const failure& damage) {
            found.complaints.push_back(fmt::format("{}: {}", name, damage.what()));
        }
    }
    std::sort(found.providers.begin(), found.providers.end(), [](const auto& a, const auto& b) {
        return std::tie(a.schema.name, a.process, a.pid) <
               std::tie(b.schema.name, b.process, b.pid);
    });
    return found;
}

}  // namespace elog
