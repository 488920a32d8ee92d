// SPDX-License-Identifier: MIT
//
// Opens a source by its address.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <elog/source.hpp>

#include "base/user_error.hpp"
#include "convert_errors.hpp"
#include "file_source.hpp"
#include "live_source.hpp"

namespace elog {
namespace {

constexpr std::string_view memory_address = "memory:";

/// A selection that a source ignored would return wrong records.
void check_file_options(const std::string& path, const open_options& options) {
    if (!options.events.empty() || !options.sessions.empty() || !options.pids.empty() ||
        !options.process_names.empty() || options.max_rate != 0) {
        throw user_error("events, sessions, pids, process_names and max_rate select events of "
                         "running programs, and {} is a file: select its records with where.",
                         path);
    }
}

void check_live_options(const std::string& address, const open_options& options) {
    if (options.from || options.to) {
        throw user_error("from and to select a part of a file, and {} is events from now on: leave "
                         "them out.",
                         address);
    }
}

std::unique_ptr<library::source_state> open_by_address(const std::string& address,
                                                       open_options options) {
    if (!address.starts_with(memory_address)) {
        check_file_options(address, options);
        return std::make_unique<library::file_source>(address, std::move(options));
    }
    check_live_options(address, options);
    if (address.size() > memory_address.size()) {
        options.events.push_back(address.substr(memory_address.size()));
    }
    return std::make_unique<library::live_source>(std::move(options));
}

}  // namespace

source open(const std::string& address, open_options options) {
    return library::convert_errors(
        [&] { return source(open_by_address(address, std::move(options))); });
}

}  // namespace elog
