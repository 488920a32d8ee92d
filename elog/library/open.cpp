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
#include "capture/recording_route.hpp"
#include "convert_errors.hpp"
#include "file_source.hpp"
#include "live_source.hpp"

namespace elog {
namespace {

/// The route before the first colon, and the pattern behind it.
struct live_address {
    recording_route route;
    std::string pattern;
};

std::optional<live_address> parse_live(const std::string& address) {
    const std::size_t colon = address.find(':');
    if (colon == std::string::npos) {
        return std::nullopt;
    }
    const auto route = find_route(std::string_view(address).substr(0, colon));
    return route ? std::optional(live_address{*route, address.substr(colon + 1)}) : std::nullopt;
}

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
    const std::optional<live_address> live = parse_live(address);
    if (!live) {
        check_file_options(address, options);
        return std::make_unique<library::file_source>(address, std::move(options));
    }
    check_live_options(address, options);
    if (!live->pattern.empty()) {
        options.events.push_back(live->pattern);
    }
    return std::make_unique<library::live_source>(live->route, std::move(options));
}

}  // namespace

source open(const std::string& address, open_options options) {
    return library::convert_errors(
        [&] { return source(open_by_address(address, std::move(options))); });
}

}  // namespace elog
